/* confirmed.h - what a confirmation adds to a result: the program itself, run under the candidates that were advised.
 *
 *   pair       one run of a candidate beside one of the baseline, neighbours in time
 *   time       processor time of a run, user and system, of all its processes
 *   confirmed  one candidate's pairs, what they say of time and of the peak of memory: one of `confirmed` of the JSON
 *   control    the baseline beside itself in the same way: what it differs by is noise
 *
 * Members are described by the rows of confirmed.c. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_CONFIRMED_H
#define MALLAB_RESULTS_MEASURE_RESULT_CONFIRMED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"
#include "results/measure/statistics/statistics.h"

/* One figure of the pairs. Each list has a sample of each pair. */
struct res_confirmed_figure {
    double *baseline, *own;
    size_t baseline_count, own_count;
    double baseline_median;
    double ratio;
    struct res_interval interval; /* 95 % of that */
};

struct res_confirmed {
    char *candidate;
    bool is_control;
    char *failed; /* one line; NULL: it did not */
    uint64_t runs;
    struct res_confirmed_figure time, wall, peak;
    double saved_ns;                /* of the baseline's time; below 0: it takes more */
    double peak_bytes;              /* median */
    int time_verdict, peak_verdict; /* enum res_verdict */
    json_t *rest;
};

enum { RES_CONFIRMED_BY_HYPERFINE = 0, RES_CONFIRMED_BY_WAIT4 = 1, RES_CONFIRMED_SERVICE = 2 };

/* How they came about. */
struct res_confirmation {
    struct res_texts command;          /* not known of a service */
    char *start, *ready, *load, *stop; /* of a service; NULL: it is a command, or was not given */
    int timed_by;                      /* of the enum above */
    uint64_t runs, pairs_asked;        /* pairs_asked 0: as many as the time holds */
    double budget_ns, elapsed_ns, run_ns;
    bool stopped;
    json_t *rest;
};

extern const struct res_described RES_CONFIRMED, RES_CONFIRMATION;

/* res_confirmed_named - that of a candidate; NULL: it took no part. The control is no candidate. */
const struct res_confirmed *res_confirmed_named(const struct res_confirmed *all, size_t count,
                                                const char *name);

/* res_confirmed_baseline_bytes - the baseline's peak that is shown, of the last that has one: the control of a command has no
 * runs for memory. NAN: not known. */
double res_confirmed_baseline_bytes(const struct res_confirmed *all, size_t count);

#endif
