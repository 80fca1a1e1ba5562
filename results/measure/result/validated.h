/* validated.h - what a validation adds to a result: the real program beside what replays predict of it.
 *
 *   validated  how the real runs were made, how many predictions met their bars, and what became of the advice: `validation`
 *              of the JSON
 *   candidate  one candidate's real figures, their prediction and its errors: one of `candidates`
 *   total      resident memory of the process, all kinds; heap: the allocator's part of it. Of a group: of its processes
 *              that are alive together
 *
 * Members are described by the rows of validated.c. What each figure means: fidelity.h. Results of before have more:
 * means and ends, ranges, several recordings; these are kept as they are and not shown. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_VALIDATED_H
#define MALLAB_RESULTS_MEASURE_RESULT_VALIDATED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"
#include "results/measure/statistics/statistics.h"

/* One run of what was recorded, watched from outside. The heap's figures are NAN where its mappings were not read. */
struct res_real_run {
    double peak_bytes, anonymous_peak_bytes, heap_peak_bytes;
    double apart_at_peak_bytes; /* anonymous memory that is not the heap's: smaps.h */
    double apart_most_bytes;    /* the same at any moment, at most; INFINITY: not known */
    double cpu_ns;              /* user and system of its own threads, since its exec */
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
    double total_peak_bytes, heap_peak_bytes;
    double disturbed_by; /* fidelity.h; 0: not */
    double cpu_ns, process_cpu_ns;
    double time_difference_ns, time_ratio; /* processor time, against the baseline */
    struct res_interval time_interval;     /* 95 % of that ratio */
    int time_verdict;                      /* enum res_verdict */
    double startup_total_bytes, startup_heap_bytes;
    struct res_real_run *sampled, *mapped;
    size_t sampled_count, mapped_count;
    json_t *rest;
};

struct res_validated_prediction {
    double total_peak_bytes, heap_peak_bytes, time_difference_ns;
    json_t *rest;
};

/* Predicted over real, less 1. */
struct res_validated_error {
    double total_peak, heap_peak;
    bool heap_is_small; /* its error is left out then */
    int time_sign;      /* enum res_sign */
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

/* What was advised by the replays alone, and whether the program itself shows it. */
struct res_advised {
    char *candidate;   /* NULL: nobody */
    double of_process; /* the share that it was to save */
    int shown;         /* enum res_shown_advice */
};

enum res_shown_advice {
    RES_ADVICE_NONE = 0,      /* there was none */
    RES_ADVICE_NOT_SHOWN = 1, /* no difference beyond the noise */
    RES_ADVICE_RIGHT = 2,
    RES_ADVICE_WRONG = 3, /* the contrary is shown */
};

extern const char *const RES_ADVICE_SHOWN[]; /* "none", "not shown", "right", "wrong" */

struct res_validated {
    struct res_texts command;
    char *process;
    uint64_t group_processes; /* of the group that was predicted and compared; 0: one process */
    uint64_t processes_alike, exit_code, rounds, step_ns;
    bool stopped;
    int timed_by, time_of, heap_told_by; /* the enums below */
    struct {
        struct res_bar peak_total, peak_heap, time_sign;
    } bars;
    struct {
        struct res_advised time, peak;
    } advice;
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
