/* meters.h - the meters of a run, besides its timed code.
 *
 *   anonymous   resident memory that no file or shared mapping backs: resident less shared of
 *               /proc/self/statm
 *   start       anonymous memory when everything of the harness is mapped and no op has run; subtracted
 *               from every figure
 *   sample      anonymous less start, taken at a window's end while all threads rest
 *   window      of the workload; in a run that follows a clock, a slice or a rest (slices.h) */
#ifndef MALLAB_REPLAY_METERS_METERS_H
#define MALLAB_REPLAY_METERS_METERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "footprint/wl/workload.h"
#include "replay/base/objects.h"

struct rep_meters {
    /* One entry a window. */
    uint64_t *ticks;          /* of the allocator; the clock's unit */
    uint64_t *preempted_ns;   /* of these */
    uint64_t *resident_bytes; /* samples */
    uint64_t *live_bytes;     /* of the recording, at the same moment */
    uint64_t *time_ns;        /* recorded time of that moment */
    uint64_t window_count, window_max;
    uint64_t window_max_ns; /* recorded time of the longest: no thread is further ahead of another */

    uint64_t start_bytes;
    uint64_t start_file_bytes; /* pages of files in memory then */
    uint64_t peak_bytes;       /* the highest sample, or what the kernel saw between samples */
    bool peak_by_kernel;       /* the latter was higher */
    double mean_bytes;         /* over recorded time, changing evenly between samples; or over ops */
    bool mean_by_time;
    uint64_t end_bytes;
    uint64_t idle_bytes, idle_own_bytes;
    uint64_t wall_ns;
    uint64_t faults_minor, faults_major;
    uint64_t switches_voluntary, switches_involuntary;
    uint64_t user_ns, system_ns;
    uint64_t blocked_ns; /* of the timed runs: real.h */

    /* Figures under way. */
    int statm_fd;
    uint64_t page_bytes;
    uint64_t shared_bytes_max;
    bool kernel_peak_is_new;
    uint64_t last_ns, last_bytes; /* the last sample, and its recorded time */
    double weighted_sum, weight_ns;
    double op_sum, ops;
    uint64_t started_ns;
    struct rusage started;
    uint64_t paused_ns;
    struct rusage paused;
};

/* rep_meters_init - map room for so many windows and open what will be read.
 * Returns   false when it does not fit, or /proc is not there. */
bool rep_meters_init(struct rep_meters *meters, size_t windows);

/* rep_meters_start - the last thing before the first op: resets the kernel's peak, notes the start. */
void rep_meters_start(struct rep_meters *meters);

/* rep_meters_begin - the window that has passed is not measured: counters and the clock begin anew, and
 * memory goes on, as the allocator still holds it. */
void rep_meters_begin(struct rep_meters *meters);

/* rep_meters_window - sample at rest. Returns without a note after more windows than announced. */
void rep_meters_window(struct rep_meters *meters, const struct wl_window *window, uint64_t ticks,
                       uint64_t preempted_ns, uint64_t blocked_ns);

/* rep_meters_resident - a sample now, at rest: bytes. */
uint64_t rep_meters_resident(struct rep_meters *meters);

/* rep_meters_pause / rep_meters_resume - at rest: times, faults and switches leave out what is between. */
void rep_meters_pause(struct rep_meters *meters);
void rep_meters_resume(struct rep_meters *meters);

/* rep_meters_stop - the first thing after the last op: fills peak, mean, end and the counters. */
void rep_meters_stop(struct rep_meters *meters);

/* rep_meters_threads - threads of this process now; 0 when the kernel does not tell. */
unsigned rep_meters_threads(void);

/* rep_meters_idle - after rep_meters_stop and a rest (idle.h): fills idle_bytes and idle_own_bytes.
 * with_calls  by the harness. The program made none since the end, so what is resident beyond the end is
 *             the harness' (idle_own_bytes), no part of idle_bytes. What lies within stays in it. */
void rep_meters_idle(struct rep_meters *meters, bool with_calls);

/* ---- resident memory beyond what the program asked for, as far as the allocator tells.
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
