/* test_sites_sample.c - the recorder's sample of allocations, and what is estimated of it: distribution, independence, estimates
 * without bias, ranges that hold. Seeds are fixed: what passes once always does. */
#include <math.h>

#include "convert/sites/sites.h"
#include "footprint/fp/fp_sites.h"
#include "shim/preload/chosen.h"
#include "unit/harness.h"

/* How far a count of so many, each with that chance, is from what is to be expected, in standard deviations. */
static double deviation(double count, double tries, double chance)
{
    return fabs(count - tries * chance) / sqrt(tries * chance * (1 - chance));
}

/* Gaps are exponential as far as the logarithm is one, near both ends and between. */
TEST(the_logarithm_is_good)
{
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++) {
        uint64_t state = random, u = random + UINT64_C(0x9e3779b97f4a7c15);
        u = (u ^ u >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        u = (u ^ u >> 27) * UINT64_C(0x94d049bb133111eb);
        u = (u ^ u >> 31) | 1;
        const double expected = -log((double)u * 0x1p-64),
                     found = (double)sample_exponential(&state) / 0x1p31;
        if (fabs(found - expected) > 2e-6 * expected + 2e-9) {
            CHECK_U64(u, 0);
            break;
        }
        random = state;
    }
}

static uint64_t seed;

/* As the recorder does it (lane_sites.c). */
static bool choose(uint64_t bytes)
{
    if (chosen_left == 0)
        chosen_left = sample_gap(&seed, shim_chosen.mean);
    if (chosen_passes(bytes))
        return false;
    chosen_left = sample_gap(&seed, shim_chosen.mean);
    return true;
}

static void begin(uint64_t mean, uint64_t random)
{
    chosen_forget();
    shim_chosen.mean = mean;
    chosen_left = 0;
    seed = random;
}

TEST(each_allocation_is_chosen_for_itself)
{
    static const uint64_t sizes[] = {1, 48, 16, 1000, 16000, 16384, 40000, 1000000};
    enum { SIZES = COUNT_OF(sizes) };
    double tries = 0, found[SIZES] = {0}, both = 0, chance_of_both = 0;
    bool before = false;
    begin(65536, 3);
    for (int round = 0; round < 400000; round++, tries++) {
        for (size_t i = 0; i < SIZES; i++) {
            const bool takes = choose(sizes[i]);
            found[i] += takes;
            both += i > 0 && takes && before;
            chance_of_both += i > 0 ? conv_site_share(sizes[i], 65536) * conv_site_share(sizes[i - 1], 65536)
                                    : 0;
            before = takes;
        }
    }
    for (size_t i = 0; i < SIZES; i++)
        if (deviation(found[i], tries, conv_site_share(sizes[i], 65536)) > 4)
            HARNESS_FAIL("of %g allocations of %" PRIu64 " bytes %g are chosen", tries, sizes[i], found[i]);
    CHECK(fabs(both - chance_of_both) < 4 * sqrt(chance_of_both));
}

/* An operator's bytes count once, whether or not what serves it comes through malloc. */
TEST(what_hands_on_is_counted_once)
{
    begin(65536, 3);
    chosen_left = 1000;
    const uint64_t left = chosen_may_pass(100);
    CHECK_U64(left, 1000);
    CHECK(chosen_passes(100)); /* the malloc within it */
    chosen_passed(left, 100);
    CHECK_U64(chosen_left, 900);
    chosen_passed(chosen_may_pass(100), 100);
    CHECK_U64(chosen_left, 800);
    CHECK_U64(chosen_may_pass(800), 0);
    chosen_passed(0, 800);
    CHECK_U64(chosen_left, 800);
    begin(0, 3);
    CHECK_U64(chosen_may_pass(100), 0);
    CHECK(!chosen_passes(100) && chosen_ends(NULL));
}

/* ---- estimates ------------------------------------------------------------------------------- */

struct known {
    uint32_t site;
    uint64_t size, count;
    unsigned freed; /* each so many-th; 0: none */
    bool resizes;   /* the objects of the row before, of which none is live then */
};

static const struct known KNOWN[] = {{20, 48, 20000, 2, false},  {21, 1000, 1500, 3, false},
                                     {22, 100000, 30, 0, false}, {23, 20000, 100, 4, false},
                                     {24, 16, 300, 0, false},    {25, 3000, 900, 0, false},
                                     {26, 9000, 900, 0, true},   {27, 500, 900, 2, true}};

enum { SITES = COUNT_OF(KNOWN), SEEDS = 300 };
#define MEAN UINT64_C(16384)

static enum fp_status no_events(void *data, const struct conv_event *events, size_t count)
{
    return FP_OK;
}

/* former: what is resized; 0: nothing is. */
static enum fp_status hand_resize(const struct conv_sink *sink, unsigned call, uint64_t former,
                                  uint64_t address, uint64_t size, uint32_t site)
{
    const struct conv_event event = {
        .address = address, .old_address = former, .size = size, .call = call, .site = site};
    return sink->events(sink->data, &event, 1);
}

static enum fp_status hand(const struct conv_sink *sink, unsigned call, uint64_t address, uint64_t size,
                           uint32_t site)
{
    return hand_resize(sink, call, 0, address, size, site);
}

static double live_of(const struct known *known)
{
    const uint64_t freed = known < KNOWN + SITES - 1 && known[1].resizes ? known->count
                           : known->freed > 0 ? (known->count + known->freed - 1) / known->freed
                                              : 0;
    return (double)((known->count - freed) * known->size);
}

static void release(const struct conv_sink *sink, unsigned call, uint64_t address)
{
    if (chosen_ends((const void *)(uintptr_t)address))
        CHECK_U64(hand(sink, call, address, 0, 0), FP_OK);
}

/* One recording of the known program: of what is not chosen nothing. */
static void tell(uint64_t random, struct conv_site_tally *tally)
{
    const struct conv_sink sink = conv_site_tally_sink(tally, (struct conv_sink){.events = no_events});
    uint64_t address = 4096, before = 0, first = 0;
    begin(MEAN, random);
    for (size_t k = 0; k < SITES; k++) {
        before = first;
        first = address;
        for (uint64_t i = 0; i < KNOWN[k].count; i++, address += 4096) {
            const uint64_t former = before + i * 4096;
            const bool is_of_chosen = KNOWN[k].resizes && chosen_ends((const void *)(uintptr_t)former);
            const bool is_chosen = choose(KNOWN[k].size);
            if (is_of_chosen)
                CHECK_U64(hand(&sink, FP_MARK_RESIZE_FROM, former, 0, 0), FP_OK);
            if (is_chosen || is_of_chosen) {
                CHECK(chosen_add(address));
                CHECK_U64(hand_resize(&sink, KNOWN[k].resizes ? FP_CALL_REALLOC : FP_CALL_MALLOC,
                                      is_of_chosen ? former : 0, address, KNOWN[k].size,
                                      is_chosen ? KNOWN[k].site : FP_CUT_UNSAMPLED),
                          FP_OK);
            }
            if (KNOWN[k].freed > 0 && i % KNOWN[k].freed == 0)
                release(&sink, FP_CALL_FREE, address);
        }
    }
    CHECK(conv_site_tally_end(tally, 0, UINT64_MAX));
}

struct quality {
    double sum, told, held;
};

static void judge(struct quality *quality, double figure, const struct conv_site_basis *basis, double exact)
{
    const struct conv_site_range range = conv_site_range(figure, basis->samples, basis->bytes_variance);
    quality->sum += figure;
    quality->told += range.is_told;
    quality->held += range.is_told && range.low <= exact && exact <= range.high;
    CHECK(range.is_told || basis->samples < CONV_SAMPLES_LEAST);
}

/* variance: of one estimate of all bytes of a site. */
static void check_quality(const char *what, const struct quality *quality, double exact, double variance)
{
    const double error = sqrt(variance / SEEDS);
    if (fabs(quality->sum / SEEDS - exact) > 4 * error + 1e-3 * exact)
        HARNESS_FAIL("%s: the mean of estimates is %g, not %g +- %g", what, quality->sum / SEEDS, exact,
                     error);
    if (quality->told >= SEEDS / 2 && exact > 0 &&
        (quality->held / quality->told < 0.91 || quality->held / quality->told > 0.99))
        HARNESS_FAIL("%s: %g of %g ranges hold the figure", what, quality->held, quality->told);
}

TEST(estimates_have_no_bias_and_their_ranges_hold)
{
    struct quality made[SITES] = {0}, live[SITES] = {0}, all_made = {0}, all_live = {0};
    double exact_made = 0, exact_live = 0, variance_made = 0, variance_live = 0;
    for (uint64_t number = 1; number <= SEEDS; number++) {
        struct conv_site_counts all = {0};
        struct conv_site_tally tally;
        CHECK(conv_site_tally_init(&tally));
        tally.sample_bytes = MEAN;
        tell(number << 32, &tally);
        for (size_t i = 0; i < tally.count; i++) {
            const struct conv_site_counts *counts = &tally.counts[i];
            const size_t k = counts->site - KNOWN[0].site;
            if (counts->site == FP_CUT_UNSAMPLED) {
                CHECK(counts->bytes == 0 && counts->live_bytes == 0);
                continue;
            }
            all.bytes += counts->bytes;
            all.made.samples += counts->made.samples;
            all.made.bytes_variance += counts->made.bytes_variance;
            all.live_bytes += counts->live_bytes;
            all.live.samples += counts->live.samples;
            all.live.bytes_variance += counts->live.bytes_variance;
            judge(&made[k], counts->bytes, &counts->made, (double)(KNOWN[k].count * KNOWN[k].size));
            judge(&live[k], counts->live_bytes, &counts->live, live_of(&KNOWN[k]));
        }
        for (size_t k = 0; number == 1 && k < SITES; k++) {
            exact_made += (double)(KNOWN[k].count * KNOWN[k].size);
            exact_live += live_of(&KNOWN[k]);
        }
        judge(&all_made, all.bytes, &all.made, exact_made);
        judge(&all_live, all.live_bytes, &all.live, exact_live);
        CHECK(fabs(tally.live_bytes - all.live_bytes) < 1);
        conv_site_tally_release(&tally);
    }
    for (size_t k = 0; k < SITES; k++) {
        const double share = conv_site_share(KNOWN[k].size, MEAN), bytes = (double)KNOWN[k].size;
        const double variance = (1 - share) / share * bytes * bytes;
        char what[32];
        snprintf(what, sizeof what, "bytes of site %u", KNOWN[k].site);
        check_quality(what, &made[k], (double)KNOWN[k].count * bytes, (double)KNOWN[k].count * variance);
        snprintf(what, sizeof what, "live of site %u", KNOWN[k].site);
        check_quality(what, &live[k], live_of(&KNOWN[k]), live_of(&KNOWN[k]) / bytes * variance);
        variance_made += (double)KNOWN[k].count * variance;
        variance_live += live_of(&KNOWN[k]) / bytes * variance;
    }
    check_quality("bytes of all", &all_made, exact_made, variance_made);
    check_quality("live of all", &all_live, exact_live, variance_live);
}

/* A process that keeps as much for long: where its estimate is highest it is too high. */
TEST(the_peak_is_in_its_range)
{
    enum { LIVE = 5000, TURNS = 50000, SIZE = 1000 };
    unsigned held = 0;
    for (uint64_t number = 1; number <= SEEDS; number++) {
        OWNED(conv_site_tally) tally;
        CHECK(conv_site_tally_init(&tally));
        tally.sample_bytes = MEAN;
        const struct conv_sink sink = conv_site_tally_sink(&tally, (struct conv_sink){.events = no_events});
        begin(MEAN, number << 32);
        for (uint64_t i = 1; i <= TURNS; i++) {
            if (choose(SIZE) && chosen_add(4096 * i))
                CHECK_U64(hand(&sink, FP_CALL_MALLOC, 4096 * i, SIZE, 20), FP_OK);
            if (i >= LIVE)
                release(&sink, FP_CALL_FREE, 4096 * (i + 1 - LIVE));
        }
        CHECK(conv_site_tally_end(&tally, 0, UINT64_MAX) && tally.count == 1);
        const struct conv_site_range range = conv_site_peak_range(
            tally.counts[0].peak_bytes, tally.counts[0].peak.samples, tally.counts[0].peak.bytes_variance);
        held += range.low <= LIVE * SIZE && LIVE * SIZE <= range.high;
        CHECK(fabs(tally.peak_bytes - tally.counts[0].peak_bytes) < 1);
    }
    CHECK(held >= SEEDS * 95 / 100);
}

/* Nothing is an estimate where all have their stack. */
TEST(all_stacks_are_exact)
{
    OWNED(conv_site_tally) tally;
    CHECK(conv_site_tally_init(&tally));
    const struct conv_sink sink = conv_site_tally_sink(&tally, (struct conv_sink){.events = no_events});
    CHECK_U64(hand(&sink, FP_CALL_MALLOC, 16, 100, 20), FP_OK);
    CHECK_U64(hand(&sink, FP_CALL_MALLOC, 32, 200, FP_CUT_UNSAMPLED), FP_OK);
    CHECK_U64(hand(&sink, FP_CALL_FREE, 16, 0, 0), FP_OK);
    CHECK(conv_site_tally_end(&tally, 0, UINT64_MAX));
    CHECK_U64(tally.count, 2);
    CHECK_U64(tally.counts[0].live_bytes, 200); /* a site like others, where no sample was announced */
    CHECK_U64(tally.counts[1].bytes, 100);
    CHECK_U64(tally.counts[1].freed, 1);
    const struct conv_site_range range = conv_site_range(100, 1, tally.counts[1].made.bytes_variance);
    CHECK(range.is_told && range.low == 100 && range.high == 100);
}

TEST(ranges)
{
    struct conv_site_range range = conv_site_range(1000, 9, 1e5);
    CHECK(!range.is_told && range.low == 0 && fabs(range.high - 1000 / 9.0 * 17.085) < 1e-6);
    range = conv_site_range(0, 0, 0);
    CHECK(range.is_told && range.high == 0);
    range = conv_site_range(1000, 1, 100); /* one that could hardly be missed */
    CHECK(range.is_told && fabs(range.low - 980.4) < 1e-6);
    range = conv_site_range(100, 10, 1e6);
    CHECK(range.is_told && range.low == 0);
}

TEST(means_are_read)
{
    uint64_t mean;
    CHECK(fp_sample_parse("512K", &mean) && mean == 524288);
    CHECK(fp_sample_parse("65536", &mean) && mean == 65536);
    CHECK(fp_sample_parse("1g", &mean) && mean == FP_SAMPLE_MEAN_MOST);
    CHECK(fp_sample_parse("1", &mean) && mean == 0);
    CHECK(fp_sample_parse("yes", &mean) && mean == 0);
    CHECK(!fp_sample_parse("1023", &mean));
    CHECK(!fp_sample_parse("2G", &mean));
    CHECK(!fp_sample_parse("512KB", &mean));
    CHECK(!fp_sample_parse("-1", &mean));
    CHECK(!fp_sample_parse("99999999999999999999", &mean));
    CHECK_U64(fp_sample_mean(NULL), 0);
    CHECK_U64(fp_sample_mean("4096"), 4096);
    CHECK_U64(fp_sample_mean("4096000000000"), 0);
}
