/* run.h - one replay of one workload by one candidate, in a fresh process with a clean environment. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_RUN_H
#define MALLAB_RESULTS_MEASURE_RUN_RUN_H

#include <limits.h>
#include <signal.h>

#include "footprint/base/words.h"
#include "footprint/fp/usage.h"
#include "results/measure/base/fields.h"
#include "results/measure/candidate/candidates.h"

/* One process of a group (member_runs.c); strings borrowed. */
struct res_member {
    const char *path, *name; /* of its workload; the name is for people */
    uint64_t offset_ns;      /* from time 0 of the group to time 0 of this workload */
    uint64_t begin_ns;       /* when its first call was, in the time of this workload */
};

struct res_run_request {
    const struct res_candidate *candidate; /* resolved and found */
    const char *workload;                  /* path; NULL: for res_run_settings */
    const struct res_member *members;      /* of a group, instead; looked at by res_run_workload alone */
    size_t member_count;                   /* 0: it is one process */
    uint64_t timeout_ns;                   /* 0: none */
    bool timeout_asked;                    /* by --timeout, which is told where the time is over */
    uint64_t limit_bytes;                  /* of memory; 0: none */
    const struct res_group_place
        *place;                    /* where each run has a control group of its own; NULL: RLIMIT_DATA */
    const struct res_group *group; /* for res_run_arguments: that of this run; NULL: none */
    bool check;                    /* whether the allocator keeps its promises, instead of measuring */
    bool waste;                    /* split what is resident */
    json_t **
        ret_failure; /* set when a run that failed said how in numbers (its `failed`), the caller's; may be NULL */
    const char *pass_option;     /* "--latency"; NULL: a time pass, or check */
    bool one_thread;             /* all ops on one */
    uint64_t processors;         /* that the allocator is told of; 0: of the recording */
    bool recorded_clock;         /* replay's --clock: the memory pass */
    uint64_t idle_ms;            /* replay's --idle-ms; 0: no rest */
    bool as_text;                /* for res_run_arguments: print for people, not JSON */
    volatile sig_atomic_t *stop; /* not 0: end the run; may be NULL */
};

enum res_run_state {
    RES_RUN_OK = 0,
    RES_RUN_FAILED = 1,
    RES_RUN_STOPPED = 2, /* by request->stop */
};

/* The cost of a program's start under a candidate before it calls malloc (start_costs.c): medians over starts. */
struct res_start_cost {
    uint64_t starts; /* that these are of; 0: not known, and all else is NAN */
    double cpu_ns;
    double more_cpu_ns; /* than under the baseline, in the same round; of the baseline 0 */
};

/* The bytes that memory grows by an hour (growth.c), with its range; bytes 0: none is shown. All NAN: it is not known. */
struct res_growth {
    double bytes, low, high;
};

/* Figures of a run; units in the names. The rows are RES_RUN's. */
struct res_run {
    json_t *json;                /* all that the run printed, less batch_ns; owned */
    char *digest;                /* of the ops executed; owned */
    uint64_t ops, inherited_ops; /* the latter untimed, and among the former */
    uint64_t round;              /* from 1; 0: it is of no round */
    double ns_per_op;   /* whole run, the harness' share included; NAN where the pass times no runs */
    uint64_t *batch_ns; /* owned; batch_count. NULL in such a pass */
    size_t batch_count;
    double resident_peak_bytes, resident_mean_bytes, resident_end_bytes;
    double resident_start_bytes;      /* before the first op: in none of the others; NAN in older results */
    double resident_start_file_bytes; /* pages of files in memory then; NAN likewise */
    double resident_idle_bytes;       /* NAN when there was no idle time */
    double live_end_bytes;            /* requested and not freed; NAN: not told */
    double idle_own_bytes;            /* what the rest's own objects added beyond the end; NAN: not told */
    double given_back_share;          /* NAN when nothing could be given back */
    char *not_predicted_why;          /* owned; NULL: its memory predicts the program's */
    struct res_growth growth, live_growth; /* of what is resident beyond what is live; of that */
    double faults_minor, user_ns, system_ns, blocked_ns, window_max_ns;
    char *threads_as;
    struct res_texts substituted; /* calls that the library lacks, made through another function of it */
    double own_threads_unseen, own_threads_lost; /* of the allocator, and its clock */
    json_t *settings;                            /* each that was asked for, and what was found */
    char *said; /* the first words of the allocator on standard error, on one line; owned; NULL: none */
    uint64_t elapsed_ns; /* of the process, from outside */
};

/* The rows of a run. */
extern const struct res_described RES_RUN;

/* res_run_environment - the environment of a run: this process's, less everything that steers an allocator or the
 * loader (LD_PRELOAD, LD_AUDIT, MALLOC_*, GLIBC_TUNABLES, MIMALLOC_*, TCMALLOC_*, ...), plus the candidate's.
 * candidate  NULL: of none, what all candidates' have in common.
 * Returns a NULL-terminated array, to be freed with res_strings_free. */
char **res_run_environment(const struct res_candidate *candidate);
void res_strings_free(char **strings);

/* res_last_line - the last line of what a program said, which is the cause where it failed: fit for a terminal. The caller's to free. */
char *res_last_line(const char *text, size_t length);

/* res_run_arguments - the command line of a run; extra is a NULL-terminated list or NULL. Freed as above. */
char **res_run_arguments(const struct res_run_request *request, const char *const *extra);

/* res_run_once - start it, collect what it prints, check it.
 * ret_run     filled on RES_RUN_OK; res_run_release drops it.
 * ret_reason  set to one line, the caller's to free, on RES_RUN_FAILED.
 * A run whose proof fails, that ends by a signal, exits with other than 0, prints no valid JSON or passes the
 * timeout has failed. */
enum res_run_state res_run_once(const struct res_run_request *request, struct res_run *ret_run,
                                char **ret_reason);

/* res_run_begin - start it; its strings stay borrowed until res_run_finish, which ends it in every case. Several may go on at once: what one prints
 *   waits until it is asked for, behind its last op.
 * res_run_finish - the rest of res_run_once, with a timeout that begins now. */
struct res_running *res_run_begin(const struct res_run_request *request);
enum res_run_state res_run_finish(struct res_running *running, uint64_t timeout_ns, struct res_run *ret_run,
                                  char **ret_reason);

/* res_failure_is_death - whether the allocator ended the run, or the kernel for its sake, which is what a memory limit is set
 * for; else something else went wrong. cause: of a failure; NULL: it did not fail. */
bool res_failure_is_death(const char *cause);

/* res_run_settings - let a candidate's allocator check the settings that it is given, without a workload.
 * candidate   resolved and found.
 * ret_wrong   set to one line, the caller's to free, when a setting is wrong; else to NULL.
 * Returns     false with ret_reason set when the allocator could not be asked at all. */
bool res_run_settings(const struct res_candidate *candidate, char **ret_wrong, char **ret_reason);

/* res_run_parse - what res_run_once does with the output. Takes over nothing.
 * Returns  true with ret_run filled, false with ret_reason set. */
bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason);
void res_run_release(struct res_run *run);

/* ---- member_runs.c: a run of a group of processes: a replay of each, one after the other, made one run.
 *   member   one process of the group, as a workload of its own
 *
 * What is counted or timed is added up, batches stand one behind the other, and time per call is all time over all calls.
 * Memory is that of the members alive together: each one's samples stand at its recorded time, its peak at its highest
 * sample, and they are summed. The end and the rest are of those members that were there at the end (lives.h), startup
 * memory of those alive at the peak. The digest is of the members' digests. A limit holds for each process by itself.
 * What belongs to one process alone (waste, latency) is not told. */

#define RES_GROUP_WHY "a group of processes is replayed: --process PID chooses one of them"

/* res_run_workload - res_run_once, of each of request->members where there are several.
 * A member that fails fails the run, and is named. */
enum res_run_state res_run_workload(const struct res_run_request *request, struct res_run *ret_run,
                                    char **ret_reason);

/* res_runs_merge - one run of the members' runs.
 * members   the same number, in the same order.
 * runs      count > 0; stay the caller's.
 * Returns   false with ret_reason set, the caller's to free, when they are no runs of one kind. */
bool res_runs_merge(const struct res_member *members, const struct res_run *runs, size_t count,
                    struct res_run *ret_run, char **ret_reason);

/* ---- control_group.c: a control group for one run (cgroups(7)): where it can be made, and how it is made, watched, removed.
 *   own group  that this process is in, as /proc/self/cgroup and /proc/self/mountinfo tell
 *   place      a directory below which groups that limit memory can be made
 *   lock       on a group's directory, for as long as whoever made it lives: what nobody locks is left over from a mallab that was
 *              killed, and the next one removes it
 *   notes      a page in which the run tells how far it came (replay/system/run_limit.h)
 *
 * Looked at in this order: what the user named; the own group; of version 2 also the group above it, because there a group that
 * switches a controller on for those below may hold no processes itself (the "no internal processes" rule). A group below the
 * own one can never have more than it may; one beside it can, up to what the one above may have. Nothing
 * that exists is changed: where the controller would have to be switched on, the reason says how.
 * Version 1 is looked for first: where both are mounted, the memory controller is with one of them only.
 *
 * The run joins by itself, and sets the limit when it has mapped what the harness needs (replay/system/run_limit.h). */

#define RES_GROUP_PATH_MAX 4096u

struct res_group_place {
    char *directory; /* owned; NULL: there is none */
    int version;     /* of the cgroup file system: 1 or 2 */
    char *why;       /* owned: why there is none, and the remedy; NULL where there is one */
};

/* res_group_place_find - look, and change nothing.
 * root   before /proc and all that is found in it: "" is this machine; borrowed
 * asked  the only directory to be considered; NULL: the order above
 * Returns whether there is a place. Either way the caller ends it with res_group_place_release. */
bool res_group_place_find(const char *root, const char *asked, struct res_group_place *ret_place);
void res_group_place_release(struct res_group_place *place);

/* res_group_own - the directory of the own group in the hierarchy that has the memory controller in version 1, or in
 * that of version 2. Texts of the kernel, in which anything may stand; lines that are no such lines are passed over.
 * cgroup, mounts  as /proc/self/cgroup and /proc/self/mountinfo
 * ret_directory   RES_GROUP_PATH_MAX bytes: absolute, below ret_mount, without ".."
 * ret_mount       likewise: where that file system is mounted
 * Returns  false when it is not mounted, or the own group is not below what is mounted (as seen from some containers). */
bool res_group_own(const char *cgroup, const char *mounts, int version, char *ret_directory, char *ret_mount);

struct rep_limit_notes;

struct res_group {
    char *directory; /* NULL: none */
    int version;
    int lock_fd;
    int notes_fd; /* not closed on exec: the run is to have it */
    struct rep_limit_notes *notes;
};

/* res_group_make - a new group without members, without swap, that dies as a whole.
 * ret_group  ended with res_group_remove.
 * ret_why    set to one line, the caller's, when it cannot be made.
 * Start nothing but the run before it is removed: what else is started would have the notes too. */
bool res_group_make(const struct res_group_place *place, struct res_group *ret_group, char **ret_why);

/* res_group_remove - when its members have ended. Where one lives on it stays, for the next mallab to remove. */
void res_group_remove(struct res_group *group);

/* res_group_killed - what is told of a run whose member was killed for want of memory, as `failure` (docs/notes/results.md).
 * limit_bytes  as asked for.
 * Returns      a new reference; NULL when none was killed. */
json_t *res_group_killed(const struct res_group *group, uint64_t limit_bytes);

/* res_group_try - whether it works here: remove what is left of mallabs that were killed, make a group, let a process join
 * it and end, remove it.
 * Returns NULL, or why it does not, with a remedy; the caller's. */
char *res_group_try(const struct res_group_place *place);

/* ---- a trial: one workload with all candidates, as it is being measured: what is asked for, and the samples so far.
 * experiment.h has the words, and fills it; figures/ computes from it. */

/* The outcome of one entry's passes. All zero: there were none. */
struct res_passes {
    json_t *latency;      /* array of the runs' `latency` objects; NULL: no pass */
    char *latency_failed; /* one line; NULL when all passes ran */
};

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

struct res_trial;
/* A trial's need before it says enough: nothing; more rounds; more rounds with memory passes. */
enum res_need { RES_NEED_NOTHING, RES_NEED_ROUNDS, RES_NEED_PASSES };

struct res_options {
    const struct res_workload *workloads;
    size_t workload_count;
    const struct res_candidate *const *candidates; /* resolved and found; the first is the baseline */
    size_t candidate_count;                        /* > 0 */
    const struct res_candidate *floor; /* found; NULL: nothing is subtracted, and the results say so */
    unsigned rounds;                   /* > 0; with until or time_budget_ns: at most */
    unsigned rounds_least; /* where time_budget_ns ends them, and of passes what does not fit is left out; 0:
                              RES_ROUNDS_FOR_VERDICT, and all of them are made */
    double until;          /* go on until every interval of time is narrower (trial_runs.c); 0: not asked */
    enum res_need (*decided)(void *context, struct res_trial *trial); /* looks instead of that; NULL: none */
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

/* The ends of a workload's rounds. */
enum res_ended {
    RES_ENDED_INTERRUPT = 0, /* by options.stop */
    RES_ENDED_ROUNDS,        /* as many as asked for */
    RES_ENDED_UNTIL,         /* intervals narrow enough */
    RES_ENDED_DECIDED,       /* options.decided says so */
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
    enum res_need need;     /* as options.decided said last */
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

#define RES_NO_ANSWER      "gave no answer" /* so begins the reason of a run that was stopped for its time */
#define RES_RUN_OUTPUT_MAX (512u * 1024u * 1024u) /* bytes of JSON that a run may print */

#endif
