/* test_sites_sample.c - the recorder's sample of allocations, and what is estimated of it: distribution, independence, estimates
 * without bias, ranges that hold. Seeds are fixed: what passes once always does. */
#include <math.h>

#include "convert/sites/site_tally.h"
#include "footprint/fp/fp_sites.h"
#include "shim/sites/sample.h"
#include "unit/harness.h"

/* How far a count of so many, each with that chance, is from what is to be expected, in standard deviations. */
static double deviation(double count, double tries, double chance)
{
    return fabs(count - tries * chance) / sqrt(tries * chance * (1 - chance));
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

#define DRAWS 1000000

TEST(gaps_are_exponential)
{
    double *draws = malloc(DRAWS * sizeof *draws), sum = 0, farthest = 0;
    uint64_t random = 1;
    for (size_t i = 0; i < DRAWS; i++)
        sum += draws[i] = (double)sample_exponential(&random) / 0x1p31;
    qsort(draws, DRAWS, sizeof *draws, by_value);
    for (size_t i = 0; i < DRAWS; i++) {
        const double expected = -expm1(-draws[i]);
        farthest = fmax(farthest,
                        fmax(fabs((double)i / DRAWS - expected), fabs((double)(i + 1) / DRAWS - expected)));
    }
    CHECK(fabs(sum / DRAWS - 1) < 3 / sqrt(DRAWS));
    CHECK(farthest < 1.63 / sqrt(DRAWS)); /* Kolmogorov and Smirnov, 1 % */
    free(draws);
}

/* The logarithm itself, near both ends and between. */
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

#define CHUNK_WORDS 8184u

/* Records as a lane stores them: of words that are none, of chunks that end. */
struct stage {
    struct sample sample;
    uintptr_t cursor, limit;
    uint64_t words;
};

static bool record(struct stage *stage, uint64_t bytes)
{
    const bool is_slow = bytes > 0 &&
                         (stage->cursor >= stage->limit || bytes >> stage->sample.large_bits != 0);
    const bool takes = is_slow && sample_takes(&stage->sample, stage->cursor, bytes);
    stage->words++;
    stage->cursor += stage->words % 7 == 0 ? 24 : 8;
    if (stage->words % CHUNK_WORDS == 0) {
        stage->cursor = 0x10000 * (1 + stage->words % 5);
        stage->sample.at = stage->limit = 0;
    }
    if (is_slow)
        stage->limit = sample_next(&stage->sample, stage->cursor);
    return takes;
}

TEST(each_allocation_is_sampled_for_itself)
{
    static const uint64_t sizes[] = {1, 48, 16, 1000, 16000, 16384, 40000, 1000000};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    struct stage stage = {.sample = sample_begin(65536, 3), .cursor = 0x10000};
    double tries = 0, found[SIZES] = {0}, both = 0, chance_of_both = 0;
    bool before = false;
    for (int round = 0; round < 400000; round++, tries++) {
        for (size_t i = 0; i < SIZES; i++) {
            const bool takes = record(&stage, sizes[i]);
            if (i % 3 == 1)
                (void)record(&stage, 0); /* a release */
            found[i] += takes;
            both += i > 0 && takes && before;
            chance_of_both += i > 0 ? conv_site_share(sizes[i], 65536) * conv_site_share(sizes[i - 1], 65536)
                                    : 0;
            before = takes;
        }
    }
    for (size_t i = 0; i < SIZES; i++)
        if (deviation(found[i], tries, conv_site_share(sizes[i], 65536)) > 4)
            HARNESS_FAIL("of %g allocations of %" PRIu64 " bytes %g are sampled", tries, sizes[i], found[i]);
    CHECK(fabs(both - chance_of_both) < 4 * sqrt(chance_of_both));
}

/* ---- estimates ------------------------------------------------------------------------------- */

struct known {
    uint32_t site;
    uint64_t size, count;
    unsigned freed; /* each so many-th; 0: none */
};

static const struct known KNOWN[] = {
    {20, 48, 20000, 2}, {21, 1000, 1500, 3}, {22, 100000, 30, 0}, {23, 20000, 100, 4}, {24, 16, 300, 0}};

enum { SITES = sizeof KNOWN / sizeof KNOWN[0], SEEDS = 300 };
#define MEAN UINT64_C(16384)

static enum fp_status no_events(void *data, const struct conv_event *events, size_t count)
{
    return FP_OK;
}

static enum fp_status hand(const struct conv_sink *sink, unsigned call, uint64_t address, uint64_t size,
                           uint32_t site)
{
    const struct conv_event event = {.address = address, .size = size, .call = call, .site = site};
    return sink->events(sink->data, &event, 1);
}

static double live_of(const struct known *known)
{
    const uint64_t freed = known->freed > 0 ? (known->count + known->freed - 1) / known->freed : 0;
    return (double)((known->count - freed) * known->size);
}

/* One recording of the known program. */
static void tell(uint64_t seed, struct conv_site_tally *tally)
{
    struct stage stage = {.sample = {.mean = MEAN, .random = seed}, .cursor = 0x10000};
    const struct conv_sink sink = conv_site_tally_sink(tally, (struct conv_sink){.events = no_events});
    uint64_t address = 16;
    for (size_t k = 0; k < SITES; k++) {
        for (uint64_t i = 0; i < KNOWN[k].count; i++, address += 16) {
            const uint32_t site = record(&stage, KNOWN[k].size) ? KNOWN[k].site : FP_CUT_UNSAMPLED;
            CHECK_U64(hand(&sink, FP_CALL_MALLOC, address, KNOWN[k].size, site), FP_OK);
            if (KNOWN[k].freed > 0 && i % KNOWN[k].freed == 0) {
                (void)record(&stage, 0);
                CHECK_U64(hand(&sink, FP_CALL_FREE, address, 0, 0), FP_OK);
            }
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
    if (quality->told >= SEEDS / 2 &&
        (quality->held / quality->told < 0.91 || quality->held / quality->told > 0.99))
        HARNESS_FAIL("%s: %g of %g ranges hold the figure", what, quality->held, quality->told);
}

TEST(estimates_have_no_bias_and_their_ranges_hold)
{
    struct quality made[SITES] = {0}, live[SITES] = {0};
    double exact_bytes = 0;
    for (size_t k = 0; k < SITES; k++)
        exact_bytes += (double)(KNOWN[k].count * KNOWN[k].size);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct conv_site_tally tally;
        CHECK(conv_site_tally_init(&tally));
        tally.sample_bytes = MEAN;
        tell(seed << 32, &tally);
        CHECK_U64(tally.bytes, exact_bytes); /* of the process: no estimate */
        for (size_t i = 0; i < tally.count; i++) {
            const struct conv_site_counts *counts = &tally.counts[i];
            const size_t k = counts->site - KNOWN[0].site;
            if (counts->site == FP_CUT_UNSAMPLED) {
                CHECK(counts->bytes == 0 && counts->live_bytes == 0);
                continue;
            }
            judge(&made[k], counts->bytes, &counts->made, (double)(KNOWN[k].count * KNOWN[k].size));
            judge(&live[k], counts->live_bytes, &counts->live, live_of(&KNOWN[k]));
        }
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
    }
}

/* Nothing is an estimate where all have their stack. */
TEST(all_stacks_are_exact)
{
    struct conv_site_tally tally;
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
    conv_site_tally_release(&tally);
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
