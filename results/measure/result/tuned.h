/* tuned.h - what a search for settings found: the key `tune` of a result (result.h), whose workload is the confirmation.
 *
 *   row    the default, or a finalist, as a confirmation saw it: figures against the default, and what to paste
 *   front  the rows that nothing beats; beaten: the others
 *   point  everything that was to be tried, with each sample of the search */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_TUNED_H
#define MALLAB_RESULTS_MEASURE_RESULT_TUNED_H

#include "results/measure/result/result.h"

enum res_tune_state {
    RES_TUNE_UNTRIED = 0, /* the budget ended before */
    RES_TUNE_ALIVE,       /* tried, and nothing against it */
    RES_TUNE_FAILED,      /* a run of it did: why */
    RES_TUNE_DOMINATED,   /* another is better by time and memory, beyond the noise */
    RES_TUNE_OUTRANKED,   /* others did better when the field was halved, or a part of its settings as well */
    RES_TUNE_FINALIST,
    RES_TUNE_SIMPLIFIED, /* of older results: a part of its settings did as well */
    RES_TUNE_STATES,
};

enum res_tune_memory {
    RES_TUNE_PEAK = 0,
    RES_TUNE_MEAN,
    RES_TUNE_END,
    RES_TUNE_IDLE,
};

/* One figure of a row. */
struct res_tuned_figure {
    struct res_difference difference; /* to the default; NAN of the default */
    double p;                         /* of it (significance.h) */
    double value;                     /* ns per op, or bytes */
};

struct res_tuned_row {
    char *name, *allocator;
    bool is_default;
    struct res_pairs settings, environment;
    char *paste;   /* variables as a shell takes them; "" where it has none */
    char *library; /* to be loaded first; NULL: the program has it already */
    struct res_tuned_figure time, memory;
    json_t *rest;
};

struct res_tuned_point {
    char *name, *allocator;
    struct res_pairs settings;
    int state;    /* enum res_tune_state */
    char *failed; /* why; NULL: it did not */
    double time_ratio, memory_ratio;
    double *time_ratios, *memory_ratios;
    size_t time_count, memory_count;
    json_t *rest;
};

struct res_tuned {
    bool confirmed, stopped;
    int memory;     /* enum res_tune_memory */
    char *standard; /* the default's name */
    struct res_texts allocators;
    struct res_result_workload workload; /* only what tells what it is */
    uint64_t seed, budget_ns, search_ns, confirmation_ns, runs, declared, confirmation_rounds;
    double p_needed, least_difference;
    double noise_time, noise_memory;
    struct res_tuned_row *front, *beaten;
    size_t front_count, beaten_count;
    uint64_t counts[RES_TUNE_STATES]; /* of points in each state */
    double *default_ns_per_op, *default_bytes;
    size_t default_time_count, default_memory_count;
    struct res_tuned_point *points;
    size_t point_count;
    json_t *rest;
};

extern const struct res_described RES_TUNED, RES_TUNED_ROW, RES_TUNED_POINT;

/* res_tuned_memory - "peak", "mean", "end" or "idle": the resident memory that counts. */
const char *res_tuned_memory(const struct res_tuned *tuned);

/* res_tuned_defect - why it cannot be shown; NULL: it can. */
const char *res_tuned_defect(const struct res_tuned *tuned);

#endif
