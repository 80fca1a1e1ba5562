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
    double faults_minor, user_ns, system_ns, blocked_ns;
    char *threads_as;
    json_t *settings; /* each that was asked for, and what was found */
    char *said;       /* the first words of the allocator on standard error, on one line; owned; NULL: none */
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

#define RES_NO_ANSWER      "gave no answer" /* so begins the reason of a run that was stopped for its time */
#define RES_RUN_OUTPUT_MAX (512u * 1024u * 1024u) /* bytes of JSON that a run may print */

#endif
