/* hyperfine_runs.h - how long the processes of an experiment take as wholes: wall, user and system time of each candidate's replay,
 * measured by hyperfine, one call a run, in rounds of their own behind the experiment's, shuffled as those are.
 *
 * A whole process starts, reads and decodes the workload, replays it and prints; the allocator's calls are a part of it, and the
 * floor (`none`) has all of the rest. It stands beside our own figures as a check that needs no trust in our clock, and its
 * export is read by the scripts of hyperfine's users. It bears no verdict. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_HYPERFINE_RUNS_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_HYPERFINE_RUNS_H

#include <jansson.h>

#include "results/measure/result/result.h"

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"

struct res_whole_request {
    const struct res_experiment
        *experiment;       /* finished: its seed, options and entries, those that failed left out */
    const char *hyperfine; /* path of the program */
    const char *directory; /* for its result of each run, and what it says */
    void (*progress)(void *context, const struct res_workload *workload, const char *entry, size_t runs_done,
                     size_t runs_all); /* before each run; may be NULL */
    void *context;
};

/* res_whole_run - run the rounds; adds `whole_process` to each candidate and to the floor of a result of the same
 * experiment. ratio: median over rounds of the wall time over the baseline's in the same round, with its
 * bootstrap interval; null for baseline and floor. Rounds that a stop cut short are dropped.
 * Returns  false when options.stop ended it. */
bool res_whole_run(const struct res_whole_request *request, struct res_result *result);

/* res_whole_export - what is in a result, as hyperfine writes it with --export-json (seconds; `parameters` name workload and
 * candidate). A new reference; NULL where the result has none. */
json_t *res_whole_export(const struct res_result *result);

#endif
