/* run.h - one replay of one workload by one candidate, in a fresh process with a clean environment. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_RUN_H
#define MALLAB_RESULTS_MEASURE_RUN_RUN_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/run/control_group.h"

#define RES_NO_ANSWER      "gave no answer" /* so begins the reason of a run that was stopped for its time */
#define RES_RUN_OUTPUT_MAX (512u * 1024u * 1024u) /* bytes of JSON that a run may print */

/* One process of a group (member_runs.h); strings borrowed. */
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

/* What a start of a program costs under a candidate before it calls malloc (start_costs.h): medians over starts. */
struct res_start_cost {
    uint64_t starts; /* that these are of; 0: not known, and all else is NAN */
    double cpu_ns;
    double more_cpu_ns; /* than under the baseline, in the same round; of the baseline 0 */
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
 * ret_names   set to the settings that it knows, a line each; "" when it tells none. The caller's to free in every case.
 * ret_wrong   set to one line, the caller's to free, when a setting is wrong; else to NULL.
 * Returns     false with ret_reason set when the allocator could not be asked at all. */
bool res_run_settings(const struct res_candidate *candidate, char **ret_names, char **ret_wrong,
                      char **ret_reason);

/* res_run_parse - what res_run_once does with the output. Takes over nothing.
 * Returns  true with ret_run filled, false with ret_reason set. */
bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason);
void res_run_release(struct res_run *run);

#endif
