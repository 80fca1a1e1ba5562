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
    uint64_t blocked_ns; /* of the timed runs: ticks.h */

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

#endif
