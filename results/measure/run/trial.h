/* trial.h - one workload with all candidates, as it is being measured: what is asked for, and the samples so far.
 *
 * experiment.h has the words, and fills it; figures/ computes from it. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_TRIAL_H
#define MALLAB_RESULTS_MEASURE_RUN_TRIAL_H

#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/label.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/run/run.h"

/* What the passes of one entry brought. All zero: there were none. */
struct res_passes {
    json_t *latency;      /* array of the runs' `latency` objects; NULL: no pass */
    char *latency_failed; /* one line; NULL when all passes ran */
};

/* What is replayed; strings borrowed. */
struct res_workload {
    const char *name;  /* for people: the file's base name */
    char program[128]; /* recorded; "" when unknown */
    char label
        [FP_LABEL_BYTES]; /* of the host where; "": none. With file_digest the key of what was recorded */
    const char *path;
    const struct res_member
        *members;         /* of a group of processes, which is replayed one by one; each has its path */
    size_t member_count;  /* 0: it is one process, at path */
    uint64_t file_digest; /* wl_reader_digest */
    uint64_t ops;
    uint64_t duration_ns; /* recorded */
    uint64_t live_peak_bytes;
    uint32_t threads;
    uint64_t processes;  /* of the recording that this was one of; 0: not known, or the only one */
    double events_share; /* of all their events */
    char selection[512]; /* what of the recording it is, in words; "": all */
    bool complete;       /* whether the recording is */
    bool lost_known;     /* or more may be missing than lost_calls */
    uint64_t lost_calls;
    uint64_t left_out_calls; /* on objects that were made while nothing was recorded */
    uint64_t removed_calls;  /* in windows of the recording that --keep-windows has removed */
    char live[16];           /* "known", "from_middle", "paused": whether what was live is; "": known */
    char incomplete_why[256];
    uint64_t unseen_frees;     /* objects over which others were made */
    struct res_process_facts { /* of the recorded process; 0: not known */
        uint64_t cpu_user_ns, cpu_system_ns, faults_minor, faults_major, rss_peak_bytes, rss_anon_peak_bytes,
            ran_ns;
        char ended[48];       /* as its recording says; "": not known */
        uint64_t brief_calls; /* of threads that were over at once: how many of them overlap is chance */
    } process;
    struct {
        char name[64], version[64], how[16]; /* "": not known */
    } runs_on;                               /* the allocator that served it */
};

struct res_options {
    const struct res_workload *workloads;
    size_t workload_count;
    const struct res_candidate *const *candidates; /* resolved and found; the first is the baseline */
    size_t candidate_count;                        /* > 0 */
    const struct res_candidate *floor; /* found; NULL: nothing is subtracted, and the results say so */
    unsigned rounds;                   /* > 0; with until or time_budget_ns: at most */
    unsigned rounds_least; /* where time_budget_ns ends them, and of passes what does not fit is left out; 0:
                              RES_ROUNDS_FOR_VERDICT, and all of them are made */
    double until;          /* go on until every interval of time is narrower (until.h); 0: not asked */
    uint64_t time_budget_ns; /* for the rounds of all workloads, warm-up included; 0: none */
    uint64_t seed;
    uint64_t timeout_ns;                       /* of one run; 0: none */
    uint64_t limit_bytes;                      /* of memory, for all entries but the floor; 0: none */
    const struct res_group_place *group_place; /* of control groups that limit; NULL: by RLIMIT_DATA */
    const char *limit_by_why; /* why not in control groups; NULL: they are, or it was asked so */
    bool check;               /* look whether each candidate keeps its promises before its warm-up */
    bool one_thread;          /* the ops of all threads on one */
    unsigned latency_passes;  /* behind the rounds; 0: none */
    unsigned memory_rounds;   /* that have a memory pass; 0: none */
    unsigned starts;          /* of true(1) under each candidate (start_costs.h); 0: none */
    uint64_t idle_ms;         /* of rest in that pass, behind the last op */
    volatile sig_atomic_t *stop;
    void (*progress)(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                     size_t runs_done,
                     size_t runs_all); /* before each run; round 0 is the warm-up, RES_ROUND_PASS a
                                            run of a pass. May be NULL */
    void *context;
};

#define RES_ROUND_PASS     UINT_MAX
#define RES_STARTS         20u /* as many rounds of starts are made by default, within RES_STARTS_NS */
#define RES_STARTS_NS      UINT64_C(400000000)
#define RES_MEMORY_PASSES  3 /* that a memory pass takes by default: the fewest of which there is a verdict */
#define RES_MEMORY_REST_MS 60000 /* recorded time at the end of each, for what is left in memory then */

/* An entry of one workload. runs holds one run of each finished round, in the order of the rounds, or less when it
 * failed on the way. */
struct res_entry {
    const struct res_candidate *candidate;
    bool is_control, is_floor;
    struct res_run *runs;
    size_t run_count;
    struct res_run *memory_runs; /* likewise, of the memory pass */
    size_t memory_count;
    char *failed;       /* one line; NULL when it did not */
    json_t *failure;    /* the same in numbers, as the run told it; NULL when it did not */
    json_t *check;      /* of its checking run; NULL: there was none */
    json_t *waste;      /* of its warm-up, on the clock of the resident figures; NULL: not known */
    char *said;         /* what the allocator said in its warm-up (run.h); NULL: nothing */
    uint64_t warmup_ns; /* how long the warm-up took */
    uint64_t check_ns;  /* and the checking run; 0: none */
    struct res_start_cost start;
    struct res_passes passes;
};

/* What ended the rounds of a workload. */
enum res_ended {
    RES_ENDED_INTERRUPT = 0, /* by options.stop */
    RES_ENDED_ROUNDS,        /* as many as asked for */
    RES_ENDED_UNTIL,         /* intervals narrow enough */
    RES_ENDED_TIME_BUDGET,
    RES_ENDED_MAXIMUM, /* neither of both came true within options.rounds */
};

struct res_trial {
    const struct res_workload *workload;
    char *digest; /* of the ops executed, on which the runs agree; NULL when none ran */
    json_t *
        samples; /* what the samples of all timed runs share: times and live bytes of the windows; NULL: nothing */
    json_t *memory_samples;    /* likewise of memory passes, which sample over recorded time */
    struct res_entry *entries; /* candidates in their order, then the control, then the floor */
    size_t entry_count;
    size_t candidate_count;
    unsigned rounds;        /* finished */
    enum res_ended ended;   /* what ended them */
    uint64_t elapsed_ns;    /* of warm-up and rounds */
    unsigned memory_rounds; /* of them, with a memory pass that is finished too */
};

/* res_trial_control / res_trial_floor - these entries; NULL without a floor. */
static inline struct res_entry *res_trial_control(const struct res_trial *trial)
{
    return &trial->entries[trial->candidate_count];
}

static inline struct res_entry *res_trial_floor(const struct res_trial *trial)
{
    return trial->entry_count > trial->candidate_count + 1 ? &trial->entries[trial->candidate_count + 1]
                                                           : NULL;
}

#endif
