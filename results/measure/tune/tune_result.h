/* tune_result.h - a search (tune_search.h) that replays a workload, and what it found as a result: an experiment's (its confirmation,
 * with every sample; without workloads where there is none) with one member more, `tune` (tuned.h). So all readers of results take it.
 *
 * A point becomes a candidate of the registry; its runs prove their settings like those of every candidate, so a setting that
 * does not take effect fails its point. The confirmation is an ordinary experiment: warm-up, rounds, memory passes, control. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_TUNE_RESULT_H
#define MALLAB_RESULTS_MEASURE_TUNE_TUNE_RESULT_H

#include "results/measure/experiment/result_making.h"
#include "results/measure/tune/tune_search.h"

struct res_tune_replays {
    /* Set by the caller; borrowed. */
    struct res_registry *registry;          /* gets a candidate for each point that is run */
    const char *const *program_directories; /* of res_candidate_resolve */
    const struct res_workload *workload;
    const struct res_candidate *const *bases; /* the space's; resolved and found */
    const struct res_candidate *floor;        /* NULL: nothing is subtracted */
    enum res_tune_memory memory;
    uint64_t seed;
    uint64_t budget_ns;
    const char *touch;
    uint64_t idle_ms; /* of rest in the confirmation, and in the search where memory is RES_TUNE_IDLE */
    bool one_thread;  /* likewise, for the result */
    const char *const *replay_options; /* NULL-terminated, or NULL */
    volatile sig_atomic_t *stop;
    /* Before runs: what is done, the share of the whole so far. May be NULL. */
    void (*progress)(void *context, const char *words, uint64_t done_ns, uint64_t all_ns);
    void *context;

    /* Its own. */
    uint64_t begin_ns, confirm_begin_ns;
    double floor_ns_per_op;
    bool floor_known;
    char *digest;                /* of the default's first run */
    uint64_t default_elapsed_ns; /* of that run */
    struct res_experiment confirmation;
    const struct res_candidate *compared[RES_TUNE_FINALISTS + 1];
    bool confirmed; /* confirmation holds an experiment */
};

/* res_tune_evaluator_of - an evaluator on replays, whose own part must be zero. End replays with res_tune_replays_release. */
struct res_tune_evaluator res_tune_evaluator_of(struct res_tune_replays *replays);
void res_tune_replays_release(struct res_tune_replays *replays);

/* res_tune_result - the whole. Release with res_result_release.
 * search   ended confirmed or stopped.
 * missing  as in res_result_of_experiment. */
void res_tune_result(const struct res_tune_search *search, struct res_tune_replays *replays,
                     const struct res_missing *missing, size_t missing_count, struct res_result *ret_result);

#endif
