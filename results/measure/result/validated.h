/* validated.h - what a validation adds to a result: the real program beside what replays predict of
 * it.
 *
 *   validated  how the real runs were made, and how many predictions met their bars: `validation`
 *              of the JSON
 *   candidate  one candidate's real figures, their prediction and its errors: one of `candidates`
 *   level      peak, mean over time, end; of resident memory
 *   total      resident memory of the process, all kinds; heap: the allocator's part of it
 *
 * Members are described by the rows of validated.c. What each figure means: fidelity.h. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_VALIDATED_H
#define MALLAB_RESULTS_MEASURE_RESULT_VALIDATED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"
#include "results/measure/statistics/statistics.h"

struct res_levels {
    double peak_bytes, mean_bytes, end_bytes;
};

/* Least and highest of one figure over the real runs of one candidate. */
struct res_real_range {
    double low_bytes, high_bytes; /* NAN: of no run */
    uint64_t runs;
};

struct res_real_ranges {
    struct res_real_range peak, mean, end;
};

/* One run of the whole command for its time. */
struct res_timed {
    double wall_ns, user_ns, system_ns;
    int exit_code; /* 128 + the signal that ended it; RES_SOME_SIGNAL (sampled.h): not known which. Not kept */
};

/* One run of the process that was recorded, watched from outside. The heap's figures are NAN where
 * its mappings were not read. */
struct res_real_run {
    struct res_levels total, anonymous, heap;
    double apart_at_peak_bytes, apart_peak_bytes; /* anonymous memory that is not the heap's: smaps.h */
    double apart_most_bytes;                      /* the same at any moment, at most; INFINITY: not known */
    double cpu_ns;                                /* user and system of its own threads, since its exec */
    double duration_ns;
    json_t *series;
    json_t *rest;
};

/* Whether reality shows the difference in time that was predicted. */
enum res_sign {
    RES_SIGN_UNKNOWN = 0, /* a figure is missing */
    RES_SIGN_NOISE = 1,   /* reality shows no difference beyond its noise, or has too few rounds to tell */
    RES_SIGN_RIGHT = 2,
    RES_SIGN_WRONG = 3,
};

extern const char *const RES_SIGNS[]; /* "unknown", "noise", "right", "wrong" */

struct res_validated_real {
    struct res_levels total, heap;
    struct res_real_ranges total_range, heap_range;
    double disturbed_by; /* fidelity.h; 0: not */
    double wall_ns, cpu_ns, process_cpu_ns;
    double time_difference_ns, time_ratio; /* processor time, against the baseline */
    struct res_interval time_interval;     /* 95 % of that ratio */
    int time_verdict;                      /* enum res_verdict */
    double startup_total_bytes, startup_heap_bytes;
    struct res_timed *timed;
    struct res_real_run *sampled, *mapped;
    size_t timed_count, sampled_count, mapped_count;
    json_t *rest;
};

/* What one recording predicts by itself. */
struct res_recording_prediction {
    uint64_t number; /* 1: the experiment's */
    struct res_levels total, heap;
    char *failed;               /* why this candidate did not replay it; NULL: it did */
    struct res_levels *replays; /* resident, of each pass; of the first recording they are with its runs */
    size_t replay_count;
};

struct res_validated_prediction {
    struct res_levels total, heap; /* medians over recordings */
    double time_difference_ns;
    struct res_recording_prediction *recordings;
    size_t recording_count;
    json_t *rest;
};

/* Predicted over real, less 1. */
struct res_validated_error {
    struct res_levels total, heap; /* shares, not bytes */
    bool heap_is_small;            /* its errors are left out then */
    struct res_levels total_beyond, heap_beyond;
    int time_sign; /* enum res_sign */
    double time_size;
    json_t *rest;
};

struct res_validated_candidate {
    char *name, *failed;
    struct res_validated_real real;
    struct res_validated_prediction predicted;
    struct res_validated_error error;
    json_t *rest;
};

/* How many predictions were judged by a bar, and how many of them met it. */
struct res_bar {
    uint64_t checked, met;
};

struct res_validated_recording {
    uint64_t number, ops, duration_ns, live_peak_bytes;
    char *left_out; /* NULL: it was not */
};

struct res_validated {
    struct res_texts command;
    char *process;
    uint64_t processes_alike, exit_code, rounds, step_ns;
    bool stopped;
    int timed_by, time_of, heap_told_by; /* the enums below */
    struct {
        struct res_bar peak_total, peak_heap, memory_order, time_sign;
    } bars;
    struct {
        struct res_bar peak_total, mean_total, end_total, peak_heap, mean_heap, end_heap;
    } within;
    uint64_t recordings, recordings_asked, recordings_left_out, ops_difference_max;
    bool recordings_stopped;
    struct res_validated_recording *recording_list;
    size_t recording_count;
    struct res_timed *control_timed;
    size_t control_timed_count;
    json_t *rest;
};

enum { RES_TIMED_BY_HYPERFINE = 0, RES_TIMED_BY_WAIT4 = 1 };
enum { RES_TIME_OF_COMMAND = 0, RES_TIME_OF_PROCESS = 1 };
enum { RES_HEAP_BY_MAPPING = 0, RES_HEAP_BY_NAME = 1 };

extern const char *const RES_TIMED_BY[]; /* "hyperfine", "wait4" */

/* res_validated_cpu_ns - the processor time that differences of a candidate are of: of the command, or of the process. */
double res_validated_cpu_ns(const struct res_validated *about, const struct res_validated_real *real);

extern const struct res_described RES_VALIDATED, RES_VALIDATED_CANDIDATE, RES_VALIDATED_REAL;

#endif
