/* fleet_blocks.h - workloads of results are taken, and what a fleet needs of them is kept until it is finished (fleet.h), which joins them to hosts. */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_BLOCKS_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/result/result.h"
#include "results/measure/statistics/statistics.h"

/* What was asked of a fleet. */
struct res_fleet_asked {
    const char *const *candidates; /* names, the baseline first; borrowed for res_fleet_begin */
    size_t candidate_count;        /* 1 at least */
    int weights;                   /* enum res_fleet_weights */
    bool all_hosts;
};

/* One workload of a result; strings borrowed. */
struct res_fleet_cell {
    const char *label; /* of its host; NULL: none, and its digest alone is the key */
    double share;      /* of its host; NAN: by `weights`, of all hosts that come */
    uint64_t block;    /* those of one host have different ones */
};

enum res_fleet_taken {
    RES_FLEET_TAKEN = 0,
    RES_FLEET_DOUBLED, /* that block of that host is there already; the first one stays */
    RES_FLEET_REFUSED, /* another baseline, or no digest: ret_problem says so */
};

/* res_machine_kind - "model, 8 cpus, x86_64". The caller's to free. */
char *res_machine_kind(const struct res_machine *machine);

/* res_fleet_begin - a fleet without any. res_fleet_input_free - drop it; NULL is none. */
struct res_fleet_input *res_fleet_begin(const struct res_fleet_asked *asked);
void res_fleet_input_free(struct res_fleet_input *input);

/* res_fleet_take - one workload of a result, which may be released then. A candidate that the result has not counts as failed there, one that the
 * fleet has not is left out. The result has its verdicts (res_verdicts_fill).
 * ret_problem  one line, the caller's to free, where the cell is refused; untouched otherwise. */
enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_fleet_cell *cell,
                                    const struct res_result *result,
                                    const struct res_result_workload *workload, char **ret_problem);

/* ---- of what was taken ----------------------------------------------------------------- */

/* One candidate: ratios are of the time in malloc and of the heap. */
struct res_fleet_side {
    char *failed;
    struct res_logarithm time, peak; /* value NAN: there is none; error NAN: too few rounds for an interval */
    double files;                    /* bytes of files in memory beyond the baseline's */
    double starts_ns;                /* that starts of its processes take more than under the baseline */
    double mean_bytes;
};

struct res_fleet_block {
    char *label, *digest, *workload, *program, *machine, *no_trust_time,
        *no_trust_memory; /* label: "": none */
    uint64_t number;
    double share;                 /* NAN: not given */
    double calls_ns, cpu_ns;      /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, rss_bytes; /* likewise at the peak */
    struct res_fleet_side *sides; /* by candidate */
};

struct res_fleet_input {
    char **candidates;
    size_t candidate_count;
    int weights;
    bool all_hosts;
    struct res_fleet_block **blocks; /* by label, digest and number */
    size_t count, capacity;
};

/* res_block_name - what its host is called: its label, or the workload's name. */
const char *res_block_name(const struct res_fleet_block *block);

/* res_block_knows - whether it says how much memory, or CPU time, the process took. */
bool res_block_knows(const struct res_fleet_block *block, bool memory);

/* res_block_whole_bytes - of the process at its peak: no less than its heap. */
double res_block_whole_bytes(const struct res_fleet_block *block);

/* res_block_figure - a candidate's change of what the host's figures are of (enum res_fleet_of). The baseline's is exact. */
struct res_logarithm res_block_figure(const struct res_fleet_block *block, size_t candidate, bool memory,
                                      int of);

#endif
