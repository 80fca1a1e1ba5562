/* waste.h - resident memory beyond what the program asked for, as far as the allocator tells.
 *
 *   rounding   usable less requested bytes, summed over the live objects (malloc_usable_size)
 *   cached     free memory that the allocator counts as its own, resident or not: in thread caches, bins,
 *              free runs and pages
 *   metadata   what it needs for its own books, by its own count
 *   rest       resident less live, rounding, cached and metadata: what nobody names. Negative where
 *              objects or cached memory are not resident
 *
 * Of cached and metadata what it counted before the first op is taken off, as of resident. Where that
 * leaves less than 0 it is unknown: memory that was free then has been handed out since (small heaps).
 *
 * Two samples, both outside of timed code: at the end of the window at whose end live bytes are highest,
 * and at the end of the run. (The peak itself lies within a window, where threads do not rest; and at the
 * end of that window a tenth of it may be live.) */
#ifndef MALLAB_REPLAY_METERS_WASTE_H
#define MALLAB_REPLAY_METERS_WASTE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/objects.h"

#define REP_WASTE_STATISTICS_MAX 12u
#define REP_WASTE_UNKNOWN        INT64_MIN

struct rep_waste_sample {
    bool taken;
    uint64_t ops;     /* executed before it */
    uint64_t time_ns; /* recorded */
    uint64_t live_bytes, live_objects, resident_bytes;
    /* REP_WASTE_UNKNOWN where the allocator does not tell. */
    int64_t usable_bytes, rounding_bytes, cached_bytes, metadata_bytes, rest_bytes, huge_page_bytes;
    /* The allocator's own names. */
    struct {
        const char *name;
        uint64_t bytes;
    } statistics[REP_WASTE_STATISTICS_MAX];
    uint32_t statistic_count;
};

struct rep_waste {
    const char *kind;               /* of proof, see allocator_proof.h */
    void **slots;                   /* by object id */
    struct rep_live live;           /* of what was executed */
    uint64_t highest_live_bytes;    /* over the ends of windows */
    struct rep_waste_sample before; /* the first op: only what the allocator counts */
    struct rep_waste_sample peak, end;
};

/* rep_waste_init - before the first op: look for the highest live bytes, map what following the objects takes, ask the
 * allocator what it counts. False when that cannot be had. */
bool rep_waste_init(struct rep_waste *waste, struct wl_reader *reader, const char *kind, void **slots);

/* rep_waste_follow - at rest, a window or a slice was executed. Returns whether live bytes are highest now. */
bool rep_waste_follow(struct rep_waste *waste, const struct wl_window *window);

/* rep_waste_sample - at rest, after `ops` ops. resident_bytes: at this moment; time_ns: recorded. */
void rep_waste_sample(struct rep_waste *waste, struct rep_waste_sample *ret_sample, uint64_t ops,
                      uint64_t time_ns, uint64_t resident_bytes);

#endif
