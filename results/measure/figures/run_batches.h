/* run_batches.h - the times of an entry's runs as steady.h takes them: batch by batch, or each run as a batch where none were timed or not
 * the same ones in all runs. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_RUN_BATCHES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_RUN_BATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "results/measure/run/run.h"
#include "results/measure/statistics/steady.h"

struct res_run_batches {
    struct res_batches batches; /* times are the runs', which must stay */
    const uint64_t **rounds;
    uint64_t *whole;
    double ops; /* that its times are of; 0: not told */
};

/* res_run_batches_of - of runs in the order of their rounds. Without rounds when there are none, or when one has no time. Released by res_run_batches_release. */
struct res_run_batches res_run_batches_of(const struct res_run *runs, size_t count);
void res_run_batches_release(struct res_run_batches *batches);

#endif
