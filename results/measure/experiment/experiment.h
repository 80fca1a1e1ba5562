/* experiment.h - workloads x candidates x rounds: run them so that only the allocator differs, keep every sample.
 *
 *   entry     one column of an experiment: a candidate, the control, or the floor
 *   control   the baseline a second time in every round (A/A): what it differs by is noise
 *   floor     `none`, the replay without an allocator: the harness' own time, subtracted from all
 *   warm-up   one run of each entry before the first round, not counted: the first touch of memory that a virtual
 *             machine never used costs five times a later one, and files come into the page cache. The waste is
 *             split in it. Where there are memory passes it is the first of them
 *   check     where asked for, a run of each candidate before its warm-up that looks whether it keeps its promises
 *   round     every entry once, in an order drawn from the seed
 *   memory    another pass at the end of each of the first rounds: every entry but the floor once more, told recorded time
 *             (replay's --clock), because what an allocator gives back follows the clock. Resident figures are of it, times
 *             never are. Memory repeats better than time, so few rounds do. Workloads without recorded time have no such
 *             pass: their resident figures are of the runs that are timed. Of programs of one thread two such runs go on at a time
 *
 *   pass      behind the rounds, where asked for: runs that watch, which takes time, so nothing of them enters time or memory.
 *             Latency: each candidate, the control and the floor several times, shuffled. A run that fails here leaves the candidate's other figures as they are; its figures are
 *             "unavailable" with a reason
 *
 * One workload after the other. An entry that fails (it does not start, crashes, its proof fails, it executed other
 * ops than the others) is out for that workload, with the reason; the others go on.
 * Source: DESIGN.md, section 5. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_EXPERIMENT_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_EXPERIMENT_H

#include "results/measure/result/result.h"

/* A workload to replay; strings borrowed. */
struct res_workload {
    const char *name;  /* for people: the file's base name */
    char program[128]; /* recorded; "" when unknown */
    char label
        [FP_LABEL_BYTES]; /* of the host where; "": none. With file_digest the key of what was recorded */
    const char *path;
    const struct res_member
        *members;         /* of a group of processes, which is replayed one by one; each has its path */
    size_t member_count;  /* 0: it is one process, at path */
    uint64_t file_digest; /* wl_reader_info.digest */
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
        bool cxx_library;          /* it began with libstdc++ in any case */
        char ended[48];            /* as its recording says; "": not known */
        uint64_t brief_calls;      /* of threads that were over at once: how many of them overlap is chance */
        struct res_growth growth;  /* beyond what was live */
        struct fp_machine machine; /* where it ran; FP_USAGE_UNKNOWN: not known */
    } process;
    struct {
        char name[64], version[64], how[16]; /* "": not known */
    } runs_on;                               /* the allocator that served it */
};

/* A trial's need before it says enough: nothing; more rounds; more rounds with memory passes. */
enum res_need { RES_NEED_NOTHING, RES_NEED_ROUNDS, RES_NEED_PASSES };

struct res_options {
    const struct res_workload *workloads;
    size_t workload_count;
    const struct res_candidate *const *candidates; /* resolved and found; the first is the baseline */
    size_t candidate_count;                        /* > 0 */
    const struct res_missing *missing;             /* missing_count; may be NULL when 0 */
    size_t missing_count;
    const struct res_candidate *floor; /* found; NULL: nothing is subtracted, and the results say so */
    unsigned rounds;                   /* > 0; with until or time_budget_ns: at most */
    unsigned rounds_least; /* where time_budget_ns ends them, and of passes what does not fit is left out; 0:
                              RES_ROUNDS_FOR_VERDICT, and all of them are made */
    double until;          /* go on until every interval of time is narrower (trial_runs.c); 0: not asked */
    /* Looks instead of that, at a workload with its runs so far; NULL: none. */
    enum res_need (*decided)(void *context, struct res_result_workload *workload);
    uint64_t time_budget_ns; /* for the rounds of all workloads, warm-up included; 0: none */
    uint64_t seed;
    uint64_t timeout_ns;                       /* of one run; 0: none */
    uint64_t limit_bytes;                      /* of memory, for all entries but the floor; 0: none */
    const struct res_group_place *group_place; /* of control groups that limit; NULL: by RLIMIT_DATA */
    const char *limit_by_why; /* why not in control groups; NULL: they are, or it was asked so */
    bool check;               /* look whether each candidate keeps its promises before its warm-up */
    bool one_thread;          /* the ops of all threads on one */
    uint64_t processors;      /* that allocators are told of; 0: those of each recording */
    unsigned latency_passes;  /* behind the rounds; 0: none */
    unsigned memory_rounds;   /* that have a memory pass; 0: none */
    unsigned starts;          /* of true(1) under each candidate (start_costs.c); 0: none */
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

/* One column of a trial. */
struct res_entry {
    const struct res_candidate *candidate;
    bool is_control, is_floor;
    struct res_result_entry *told; /* its runs, and why it failed */
    uint64_t check_ns;             /* what the checking run took; 0: there was none */
    json_t *latency;               /* array of what its latency passes told; NULL: there was none */
    char *latency_failed;          /* one line; NULL: all of them ran */
};

/* One workload with all candidates, as it is being measured. */
struct res_trial {
    const struct res_workload *workload;
    struct res_result_workload *told; /* of the result: the runs of each finished round so far */
    struct res_entry *entries;        /* candidates in their order, then the control, then the floor */
    size_t entry_count;
    enum res_need need;  /* as options.decided said last */
    uint64_t elapsed_ns; /* of warm-up and rounds */
};

/* res_experiment_run - run it all, and make the result of it (result_making.c): figures of its samples, and every sample. What
 * options.stop leaves unfinished is dropped: `stopped` says so.
 * ret_result  always filled; release with res_result_release. */
void res_experiment_run(const struct res_options *options, struct res_result *ret_result);

/* res_experiment_more_runs - how many replays of a workload there are beside its rounds and their warm-up: for memory, checks, single
 * calls. */
size_t res_experiment_more_runs(const struct res_options *options, const struct res_workload *workload);

/* ---- result_making.c: what a result tells beside its samples.
 * res_result_begin - a result without workloads, of these options and this machine.
 * res_result_set_complete - `complete` and `incomplete_why`: false where it was stopped, or where one of its workloads comes
 *   of a recording that is not whole. */
void res_result_begin(const struct res_options *options, struct res_result *ret_result);
void res_result_set_complete(struct res_result *result);

/* res_trial_begin - a trial without runs, with the facts of its recording and the candidates: options and workload are borrowed until
 *   res_trial_end.
 * ret_told  filled; the caller's
 * res_trial_end - what is told beside the runs. */
void res_trial_begin(struct res_trial *ret_trial, const struct res_options *options,
                     const struct res_workload *workload, struct res_result_workload *ret_told);
void res_trial_end(struct res_trial *trial, const struct res_options *options);

/* ---- trial_runs.c: what a trial keeps of its runs: those of one digest, with samples that they share kept once. */

/* res_trial_entries - how many a trial has: candidates, control, and the floor where there is one. */
size_t res_trial_entries(const struct res_options *options);

/* res_entry_fail - it is out. reason: one line. failure: the same in numbers, as a run told it; NULL: it did not. */
void res_entry_fail(struct res_entry *entry, const char *reason, const json_t *failure);

/* res_trial_learn - from the warm-up's runs, one for each entry, what is the same in all later ones: the digest is the first's. */
void res_trial_learn(struct res_trial *trial, struct res_run *runs);

enum res_keep { RES_KEEP_NOTHING, RES_KEEP_TIME, RES_KEEP_MEMORY };

/* res_trial_keep - a pass is finished: its runs become the entries', or are released.
 * order  in which the entries ran
 * runs   by entry; without JSON where there was none */
void res_trial_keep(struct res_trial *trial, const size_t *order, struct res_run *runs, enum res_keep what);

/* ---- trial_runs.c: what is looked at behind the rounds (experiment.h has the words): latency. */

struct res_random;

#define RES_LATENCY_PASSES 3u /* enough for a median */
#define RES_NO_TIME_WHY    "no time was left (--time-budget)"

/* The maker of a pass's runs. Returns the run's JSON, borrowed until the next call, or NULL with
 * ret_reason set (the caller's to free) or, when the experiment was stopped, not set. */
struct res_passes_runner {
    const json_t *(*run)(void *context, struct res_entry *entry, char **ret_reason);
    void *context;
};

/* res_passes_latency - passes latency passes of the entries that have not failed, the control among them: what it differs by is the noise of a
 *   percentile.
 * Returns false when the experiment was stopped; what is not whole then is dropped. */
bool res_passes_latency(struct res_trial *trial, unsigned passes, struct res_random *random,
                        const struct res_passes_runner *runner);

/* res_passes_leave_out_latency - say of the passes that were asked for why there are none. */
void res_passes_leave_out_latency(struct res_trial *trial, const struct res_options *options,
                                  const char *why);

/* ---- start_costs.c: what a process pays for its allocator before it has called it: true(1), started under each candidate as
 * a program would be, interleaved. Every process image pays it, so a make of 500 compilers pays it 500 times.
 *
 * Loading, relocating and initialising the library is in it, and the pages that this touches: processor time as the kernel
 * counts it. What replays measure begins behind all that. */

/* res_start_costs - start it options->starts times under each, round by round, but for RES_STARTS_NS in all at most.
 * cxx_library  true(1) has libstdc++ loaded, too: what an allocator needs of it is no cost to a program that has it.
 * ret_costs  one for each candidate; all unknown where true(1) is not there, or ends otherwise under it. */
void res_start_costs(const struct res_options *options, bool cxx_library, struct res_start_cost *ret_costs);

/* res_start_costs_of - the medians of what was taken; rounds of both belong together. For tests.
 * cpu_ns  of each start. base: the baseline's, in the same rounds. */
struct res_start_samples {
    double *cpu_ns;
    size_t count;
};
struct res_start_cost res_start_costs_of(const struct res_start_samples *own,
                                         const struct res_start_samples *base);

/* ---- halving.c: the few of many candidates that are worth measuring well: successive halving.
 *   stage    one experiment of a few rounds over the candidates that are left, the baseline among them; what fails in it is out
 *   score    of a candidate in a stage: its time and its peak over the baseline's, 1 being as much; NAN: not known
 *   keep     the better half goes on to a stage of twice as many rounds. Half of those are the best in time, half the best in
 *            peak memory, since nobody says yet which one the program wants
 *
 * The best of a hundred tries looks better than it is: scores choose and are thrown away, and who is left is measured afresh.
 * Source  K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS (2016). */

struct res_halving {
    const struct res_options
        *options; /* of a stage but for rounds, seed and time; the baseline stands first; of one workload */
    size_t left;  /* how many are wanted beside the baseline, > 0 */
    uint64_t budget_ns; /* for all stages, each the same part of it; a stage makes one round at least */
    /* Called after a stage, with the options' context. failed: why, of each candidate, the baseline first; NULL: it did not. May be NULL. */
    void (*told)(void *context, size_t tried, size_t kept, unsigned rounds, const char *const *failed);
};

/* res_halving_run - narrow candidates down, in as many stages as it takes; options->stop ends them before.
 * candidates  *count of them, the baseline first; those that are left come to the front in their order. */
void res_halving_run(const struct res_halving *halving, const struct res_candidate **candidates,
                     size_t *count);

struct res_score {
    double time, peak;
};

/* res_halving_keep - which of count scores go on, into as many places of ret_kept; never one without any figure. Returns how many. */
size_t res_halving_keep(const struct res_score *scores, size_t count, size_t keep, bool *ret_kept);

/* ---- trial_runs.c: how long an experiment goes on: a number of rounds, until the intervals are narrow, or until its time is spent.
 *   width   of an interval of a ratio: its high end less its low end, as a share of the ratio
 *
 * Rounds are added until a difference of the size asked for is either shown or excluded: until each width is no more than that, so that one as large
 * is some four errors from 1; or the whole interval lies beyond twice that on one side. Else the width alone counts, whatever the interval holds. To stop as soon as a verdict falls would let noise choose its
 * moment: with a look after each round, a fair coin would be called unfair in far more than 5 % of the cases. The width says nothing about
 * where the interval lies; `scripts/bench verdict` shows that false verdicts stay below 5 % (docs/notes/statistics.md). */

#define RES_UNTIL_ROUNDS_LEAST                                                                               \
    16u /* for --resolve: where half of the rounds are disturbed, the test of 8 can call nothing different (steady.c) */
#define RES_UNTIL_ROUNDS_MAX 1000u /* where -n does not say */

/* res_until_width - the widest interval of time against the baseline of the candidates that have not failed; of the control where the baseline is
 * alone. NAN when there is none. workload: judged (figures.h). */
double res_until_width(const struct res_result_workload *workload);

/* res_until_ended - whether the trial's rounds are enough, looked at when a round is finished.
 * share_ns   of the time budget, this workload's; 0: none
 * elapsed_ns since this workload was begun
 * next_ns    what one more round would take, and what has to follow
 * Judges trial->told, and sets its `stopped_by` when they are: never before RES_ROUNDS_FOR_VERDICT rounds (or options->rounds_least), for the width with RES_UNTIL_ROUNDS_LEAST at
 * first and then when an eighth more rounds are there, because looking takes time too. */
bool res_until_ended(struct res_trial *trial, const struct res_options *options, uint64_t share_ns,
                     uint64_t elapsed_ns, uint64_t next_ns);

/* The time that the rounds of a workload will take: `least` of them in least_ns, and most_ns if they go on. */
struct res_until_plan {
    unsigned least;
    double least_ns, most_ns;
};

/* res_until_plan - what is to be expected once the warm-up told how long a round takes.
 * share_ns  of the time budget, this workload's; 0: none. Fewer rounds than RES_ROUNDS_FOR_VERDICT (or options->rounds_least) are not
 *           made, whatever it is. */
struct res_until_plan res_until_plan(const struct res_options *options, uint64_t share_ns, double round_ns);

#endif
