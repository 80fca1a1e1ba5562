/* site_tally.c - events to counts of their sites. */
#include "convert/sites/sites.h"

#include <math.h>
#include <stdlib.h>

#include "convert/base/error.h"
#include "footprint/base/memory_bound.h"

#define PREFETCH_AHEAD 16u   /* events: more than a memory latency at 50 ns an event */
#define OVERDUE        0.999 /* of a site's freed objects */
#define FEW_FREED      100u  /* fewer do not say how long the others live */

/* ---- estimates --------------------------------------------------------------------------------------- */

#define WEIGHT_STEPS                                                                                         \
    1024 /* a weight is a multiple of 1 / so many: sums are exact, and nothing is left when all has gone */
#define NEARLY_ALL                                                                                           \
    0.05 /* a spread below this share of a figure says that nearly all objects of it are samples */
#define NORMAL_95 1.96

double conv_site_share(uint64_t bytes, uint64_t mean)
{
    return -expm1(-(double)fp_sample_counted(bytes) / (double)mean);
}

/* A figure rests on one more object, or, with -1, no longer on it. */
static void rest_on(struct conv_site_basis *basis, struct conv_site_weight weight, uint64_t bytes, int times)
{
    basis->samples += times;
    basis->objects_variance += times * weight.variance;
    basis->bytes_variance += times * weight.variance * (double)bytes * (double)bytes;
    if (basis->samples == 0)
        *basis = (struct conv_site_basis){0}; /* what rounding has left */
}

struct conv_site_range conv_site_range(double figure, double samples, double variance)
{
    /* The mean with which a Poisson variable has a chance of 1 in 40 to come out as 0, 1, 2 ..., or below. */
    static const double most[CONV_SAMPLES_LEAST] = {3.689,  5.572,  7.225,  8.767,  10.242,
                                                    11.668, 13.059, 14.423, 15.763, 17.085};
    const double spread = sqrt(variance > 0 ? variance : 0);
    if (spread == 0 || samples >= CONV_SAMPLES_LEAST || spread <= NEARLY_ALL * figure)
        return (struct conv_site_range){true, fmax(0, figure - NORMAL_95 * spread),
                                        figure + NORMAL_95 * spread};
    return (struct conv_site_range){false, 0,
                                    samples > 0 ? figure / samples * most[(unsigned)samples] : INFINITY};
}

struct conv_site_range conv_site_peak_range(double figure, double samples, double variance)
{
    struct conv_site_range range = conv_site_range(figure, samples, variance);
    if (range.is_told)
        range.low = fmax(0, range.low - (range.high - figure));
    return range;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static bool new_counts(struct conv_site_tally *tally, uint32_t site)
{
    if (!CONV_RESERVE_COUNTED(tally->counts, tally->capacity, tally->count + 1) ||
        !CONV_RESERVE_COUNTED(tally->lives, tally->lives_capacity, tally->count + 1))
        return false;
    tally->counts[tally->count] = (struct conv_site_counts){
        .site = site, .least_size = UINT64_MAX, .freed_soon = tally->sample_bytes != 0 ? NAN : 0};
    tally->lives[tally->count] = tally->peaks;
    tally->of_site[site] = (uint32_t)++tally->count;
    return true;
}

/* The number of a site's counts. False: no memory. */
static bool counts_of(struct conv_site_tally *tally, uint32_t site, uint32_t *ret_counts)
{
    const size_t before = tally->site_capacity;
    if (site >= before) {
        if (!CONV_RESERVE_COUNTED(tally->of_site, tally->site_capacity, (size_t)site + 1))
            return false;
        for (size_t i = before; i < tally->site_capacity; i++)
            tally->of_site[i] = 0;
    }
    if (tally->of_site[site] == 0 && !new_counts(tally, site))
        return false;
    *ret_counts = tally->of_site[site] - 1;
    return true;
}

/* An object that was not sampled, which a chosen one was resized to, counts for nothing. */
static struct conv_site_weight weight_of(const struct conv_site_tally *tally, uint32_t counts, uint64_t bytes)
{
    if (tally->sample_bytes == 0)
        return (struct conv_site_weight){1, 0};
    if (tally->counts[counts].site == FP_CUT_UNSAMPLED)
        return (struct conv_site_weight){0, 0};
    const double share = conv_site_share(bytes, tally->sample_bytes);
    const double objects = round(WEIGHT_STEPS / share) / WEIGHT_STEPS;
    return (struct conv_site_weight){objects, (1 - share) * objects * objects};
}

/* times: 1; -1 takes off again. */
static void add_live(struct conv_site_counts *counts, struct conv_site_weight weight, uint64_t bytes,
                     int times)
{
    counts->live_objects += times * weight.objects;
    counts->live_bytes += times * weight.objects * (double)bytes;
    rest_on(&counts->live, weight, bytes, times);
}

/* A site's live figures are about to change. What it had at the last peak is noted then, and not at the peak: nothing of it
 * has changed in between. */
static void keep_peak(struct conv_site_tally *tally, uint32_t number)
{
    struct conv_site_counts *counts = &tally->counts[number];
    if (tally->lives[number] == tally->peaks)
        return;
    tally->lives[number] = tally->peaks;
    counts->peak_bytes = counts->live_bytes;
    counts->peak_objects = counts->live_objects;
    counts->peak = counts->live;
}

/* ---- objects --------------------------------------------------------------------------------- */

static unsigned class_of(uint64_t ns)
{
    const unsigned class = ns > 0 ? 63u - (unsigned)__builtin_clzll(ns) : 0;
    return class < CONV_LIFE_CLASSES ? class : CONV_LIFE_CLASSES - 1;
}

/* An object is no more. */
static struct conv_site_counts *end_object(struct conv_site_tally *tally, struct conv_object object)
{
    const struct conv_site_object *ended = &tally->objects[object.id];
    struct conv_site_counts *counts = &tally->counts[ended->counts];
    const struct conv_site_weight weight = weight_of(tally, ended->counts, object.bytes);
    keep_peak(tally, ended->counts);
    add_live(counts, weight, object.bytes, -1);
    tally->live_bytes -= weight.objects * (double)object.bytes;
    conv_live_give_number(&tally->track.live, object.id);
    return counts;
}

/* lane: whose call it was. */
static void free_counted(struct conv_site_tally *tally, struct conv_object object, uint32_t lane)
{
    const struct conv_site_object ended = tally->objects[object.id];
    const double objects = weight_of(tally, ended.counts, object.bytes).objects;
    struct conv_site_counts *counts = end_object(tally, object);
    uint32_t *lives = &counts->lives[class_of(tally->now_ns - ended.birth_ns)];
    counts->freed += objects;
    counts->freed_soon += tally->calls - ended.birth_call <= CONV_SOON_CALLS ? objects : 0;
    counts->freed_elsewhere += lane != ended.lane ? objects : 0;
    *lives += objects < UINT32_MAX - *lives ? (uint32_t)objects : UINT32_MAX - *lives;
}

static void resize_counted(struct conv_site_tally *tally, struct conv_object object)
{
    const double objects = weight_of(tally, tally->objects[object.id].counts, object.bytes).objects;
    end_object(tally, object)->resized += objects;
}

static enum fp_status lost(void *data, struct conv_object object)
{
    (void)end_object(data, object);
    return FP_OK;
}

static enum fp_status begin_object(struct conv_site_tally *tally, const struct conv_event *event,
                                   const struct conv_track_step *step)
{
    uint32_t number, of;
    if (!counts_of(tally, event->site, &of) || !conv_live_take_number(&tally->track.live, &number) ||
        !CONV_RESERVE_COUNTED(tally->objects, tally->object_capacity, (size_t)number + 1))
        return FP_ERR_MEMORY;
    struct conv_site_counts *counts = &tally->counts[of];
    tally->objects[number] = (struct conv_site_object){
        .birth_ns = tally->now_ns, .birth_call = tally->calls, .counts = of, .lane = event->lane};
    const struct conv_site_weight weight = weight_of(tally, of, step->bytes);
    keep_peak(tally, of);
    counts->allocations += weight.objects;
    counts->bytes += weight.objects * (double)step->bytes;
    rest_on(&counts->made, weight, step->bytes, 1);
    add_live(counts, weight, step->bytes, 1);
    counts->least_size = step->bytes < counts->least_size ? step->bytes : counts->least_size;
    counts->most_size = step->bytes > counts->most_size ? step->bytes : counts->most_size;
    tally->live_bytes += weight.objects * (double)step->bytes;
    if (tally->live_bytes > tally->peak_bytes) {
        tally->peak_bytes = tally->live_bytes;
        tally->peak_ns = tally->now_ns;
        tally->peaks++;
    }
    return conv_live_insert(&tally->track.live, event->address, (struct conv_object){number, step->bytes})
               ? FP_OK
               : FP_ERR_MEMORY;
}

/* ---- events ---------------------------------------------------------------------------------- */

static enum fp_status take(struct conv_site_tally *tally, const struct conv_event *event)
{
    struct conv_track_step step;
    enum fp_status status;
    if (event->time_ns > tally->now_ns)
        tally->now_ns = event->time_ns;
    tally->calls += event->call < FP_CALL_COUNT;
    status = conv_track_take(&tally->track, event, &step);
    if (status != FP_OK)
        return status;
    if (step.evictee.id != 0)
        (void)end_object(tally, step.evictee);
    if (step.what == CONV_TRACK_GONE)
        free_counted(tally, step.object, event->lane);
    if (step.what == CONV_TRACK_MOVED)
        resize_counted(tally, step.object);
    if (step.what == CONV_TRACK_BORN || step.what == CONV_TRACK_MOVED)
        return begin_object(tally, event, &step);
    return FP_OK;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_site_tally *tally = data;
    for (size_t i = 0; i < count; i++) {
        conv_live_prefetch(&tally->track.live,
                           events[i + PREFETCH_AHEAD < count ? i + PREFETCH_AHEAD : i].address);
        const enum fp_status status = take(tally, &events[i]);
        if (status != FP_OK)
            return status;
    }
    return tally->next.events(tally->next.data, events, count);
}

static enum fp_status take_inherited(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_site_tally *tally = data;
    for (size_t i = 0; i < count; i++) {
        const enum fp_status status = take(tally, &objects[i]);
        if (status != FP_OK)
            return status;
    }
    tally->calls = 0;
    return tally->next.inherit(tally->next.data, objects, count);
}

struct conv_sink conv_site_tally_sink(struct conv_site_tally *tally, struct conv_sink next)
{
    tally->next = next;
    return (struct conv_sink){
        .data = tally, .events = take_events, .is_live = conv_pass_is_live, .inherit = take_inherited};
}

bool conv_site_tally_init(struct conv_site_tally *tally)
{
    *tally = (struct conv_site_tally){0};
    return conv_track_init(&tally->track, lost, tally);
}

void conv_site_tally_release(struct conv_site_tally *tally)
{
    conv_track_release(&tally->track);
    free(tally->objects);
    free(tally->of_site);
    free(tally->counts);
    free(tally->lives);
    fp_memory_give(tally->object_capacity * sizeof *tally->objects +
                   tally->site_capacity * sizeof *tally->of_site + tally->capacity * sizeof *tally->counts +
                   tally->lives_capacity * sizeof *tally->lives);
    *tally = (struct conv_site_tally){0};
}

/* ---- the end --------------------------------------------------------------------------------- */

uint64_t conv_site_life_ns(const struct conv_site_counts *counts, double share)
{
    uint64_t all = 0, below = 0;
    unsigned class = 0;
    for (unsigned i = 0; i < CONV_LIFE_CLASSES; i++)
        all += counts->lives[i];
    if (all == 0)
        return 0;
    while (class < CONV_LIFE_CLASSES - 1 && (double)(below += counts->lives[class]) < share * (double)all)
        class ++;
    return UINT64_C(2) << class;
}

/* Ages by which an object is older than the others of its site became. A site that frees all but never, or hardly any, has
 * no lifetimes to go by. */
static uint64_t overdue_ns(const struct conv_site_counts *counts)
{
    return counts->freed * counts->made.samples >= FEW_FREED * counts->allocations
               ? conv_site_life_ns(counts, OVERDUE)
               : UINT64_MAX;
}

/* An object that is live counts as such if it was made from the one time on and before the other. */
static void look_at(struct conv_site_tally *tally, struct conv_object object, uint64_t from_ns,
                    uint64_t until_ns, const uint64_t *overdue)
{
    const struct conv_site_object *live = &tally->objects[object.id];
    struct conv_site_counts *counts = &tally->counts[live->counts];
    const uint64_t age_ns = tally->now_ns - live->birth_ns;
    const double whole = (double)tally->now_ns + 1;
    const struct conv_site_weight weight = weight_of(tally, live->counts, object.bytes);
    const double bytes = weight.objects * (double)object.bytes;
    if (live->birth_ns < from_ns || live->birth_ns >= until_ns)
        return;
    add_live(counts, weight, object.bytes, 1);
    counts->quarter_bytes[(size_t)((double)live->birth_ns * CONV_SITE_QUARTERS / whole)] += bytes;
    counts->oldest_ns = age_ns > counts->oldest_ns ? age_ns : counts->oldest_ns;
    if (age_ns > overdue[live->counts])
        counts->overdue_bytes += bytes;
}

static int by_site(const void *left, const void *right)
{
    const struct conv_site_counts *a = left, *b = right;
    return (a->site > b->site) - (a->site < b->site);
}

bool conv_site_tally_end(struct conv_site_tally *tally, uint64_t from_ns, uint64_t until_ns)
{
    uint64_t *overdue = malloc((tally->count + 1) * sizeof *overdue);
    if (overdue == NULL || conv_track_settle(&tally->track) != FP_OK) {
        free(overdue);
        return false;
    }
    for (size_t i = 0; i < tally->count; i++) {
        struct conv_site_counts *counts = &tally->counts[i];
        keep_peak(tally, (uint32_t)i);
        overdue[i] = overdue_ns(counts);
        counts->live_objects = counts->live_bytes = 0;
        counts->live = (struct conv_site_basis){0};
    }
    for (size_t i = 0; i <= tally->track.live.mask; i++)
        if (tally->track.live.entries[i] != 0)
            look_at(tally, conv_live_object(&tally->track.live, &tally->track.live.entries[i]), from_ns,
                    until_ns, overdue);
    free(overdue);
    qsort(tally->counts, tally->count, sizeof *tally->counts, by_site);
    return true;
}
