/* result.h - the result of an experiment: what measuring fills, and everything else reads.
 *
 *   result    workloads, the machine, and what was asked for
 *   workload  one workload with all candidates, the first of which is the baseline; the baseline a second time (control);
 *             the replay without an allocator (floor)
 *   entry     one candidate, the control or the floor: its figures, and its runs with every sample
 *
 * Members are described by the tables of result_fields.c, which docs/results.md and the JSON schema come from: a figure
 * that cannot be had is NAN, a text that there is none of is NULL. Texts are plain. JSON exists at the file's edge only;
 * members of type json_t hold bulk that only the HTML page shows, and what another version wrote. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_RESULT_H
#define MALLAB_RESULTS_MEASURE_RESULT_RESULT_H

#include "results/measure/run/run.h"
#include "results/measure/statistics/statistics.h"

#define RES_SCHEMA "mallab-experiment/1"

/* A figure set against the baseline's. */
struct res_difference {
    double ratio;                 /* of steady times; of memory the trimmed mean of the paired ratios */
    struct res_interval interval; /* 95 % of that */
    double p_value;               /* whether times differ at all (steady.c); 0: not tested */
    double p_corrected;           /* the same for all candidates together (figures.h); 0: not done */
    enum res_verdict verdict;
    struct res_logarithm
        logarithm; /* that this is of, where it was judged here; freedom 0: it was told by a file */
};

struct res_figures {
    double steady_ns_per_op;           /* net (steady.c); a candidate's is the baseline's times its ratio */
    struct res_difference time;        /* of that */
    struct res_difference with_starts; /* in no file: the same with what its starts take (verdict.c) */
    double peak_bytes, mean_bytes, end_bytes,
        idle_bytes;          /* medians over rounds of resident, with own_start_bytes */
    double start_bytes;      /* likewise: held before the first op, by the harness too */
    double start_file_bytes; /* pages of files in memory then; NAN: not known */
    double own_start_bytes;  /* of start_bytes, the allocator's (figures.h); NAN: not known, in no other */
    struct res_difference peak;
    double given_back_share;               /* median over rounds */
    struct res_growth growth, live_growth; /* over the memory passes (growth.c) */
};

/* The failure of a run; counts that are not known are NAN. */
struct res_failure {
    char *cause, *call, *text; /* cause: "null", "limit", "oom", "crash", "check", "timeout", "thread" */
    double op, op_last, thread, size_bytes, rest_call;
    double live_bytes, live_objects, peak_bytes, limit_bytes, signal;
    json_t *rest;
};

/* The effects of a limit by control groups, over all runs of an entry. */
struct res_limited {
    uint64_t runs, runs_at_limit, at_limit_count_max;
    uint64_t peak_bytes_max; /* 0: not told */
};

struct res_call_figures {
    double count, mean_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns;
};

/* One latency pass. */
struct res_latency_pass {
    struct res_call_figures all;
    json_t *json; /* all of it */
};

/* Latency of single calls, medians over the latency passes. */
struct res_latency_figures {
    char *unavailable; /* why a pass failed; then there is nothing else */
    uint64_t passes;
    struct res_call_figures all;
    struct res_difference p99, p99_9; /* percentiles against the baseline's */
    struct res_latency_pass *runs;
    size_t run_count;
    json_t *rest;
};

/* A line for people, made once (results/report/notes) and printed by all: what the figures rest on, what is missing, what
 * to do. */
enum res_severity { RES_NOTE_INFO = 0, RES_NOTE_WARNING = 1, RES_NOTE_ADVICE = 2 };

struct res_note {
    int severity; /* enum res_severity */
    char *label;  /* a word or two: "advice", "basis" */
    char *text;
    char *detail; /* a command or variable to copy, on a line of its own; NULL: none */
    bool details; /* told only where details are asked for, and on the page */
};

struct res_result_entry {
    char *name, *version, *library;
    struct res_build build; /* of the library */
    struct res_pairs environment;
    char *failed; /* one line; NULL: it did not */
    struct res_failure *failure;
    struct res_limited *limit;
    json_t *check; /* likewise; NULL: there was no checking run */
    json_t *waste; /* as a run tells it; nothing reads it */
    struct res_figures figures;
    int resident_clock;       /* enum res_clock */
    uint64_t resident_rounds; /* that resident figures are of */
    bool predicted;           /* whether resident figures are what the program would have had */
    char *not_predicted_why;  /* of the first run of which it was said */
    struct res_latency_figures *latency;
    uint64_t warmup_ns;
    char *said; /* the allocator's first words on standard error, in its warm-up; NULL: none */
    struct res_start_cost start;
    struct res_run *runs; /* one for each round */
    size_t run_count;
    struct res_run *memory_runs; /* one for each memory pass */
    size_t memory_count;
    double faults_minor, blow_up, kernel_share;
    json_t *rest;
};

/* The recorded process's usage in all; NAN: not known. */
struct res_process {
    double cpu_user_ns, cpu_system_ns, faults_minor, faults_major, rss_peak_bytes, rss_anon_peak_bytes,
        ran_ns, brief_calls;
    struct res_growth growth;  /* beyond what was live, where it is shown */
    char *ended;               /* "exit 0", "signal 15", "exec", "running"; NULL: not known */
    struct fp_machine machine; /* that it ran on */
    char *kernel;              /* of that */
};

/* The allocator that served the recorded program. */
struct res_runs_on {
    char *name, *version, *how; /* how: as fp_runs_on_name has it */
};

/* The meaning of a figure of a workload, a fleet or a confirmation for the program (results/measure/figures/verdict.c). */
enum res_answer_kind {
    RES_ANSWER_NONE = 0,           /* there is no such figure */
    RES_ANSWER_NOTHING_TO_COMPARE, /* the baseline is alone */
    RES_ANSWER_DOES_NOT_MATTER,    /* all that could be saved is less than anybody wants */
    RES_ANSWER_NOT_TRUSTED,        /* the replay is not like the program in it */
    RES_ANSWER_NOT_KNOWN,          /* what was live is not known */
    RES_ANSWER_TOO_FEW,            /* rounds, or hosts */
    RES_ANSWER_ALL_WORSE,          /* every other candidate */
    RES_ANSWER_NONE_SHOWN,         /* to be better */
    RES_ANSWER_NOT_WORTH,          /* what is saved, or could be at most */
    RES_ANSWER_TAKE,               /* the candidate, by its replays */
    RES_ANSWER_CONFIRMED,          /* the program itself shows it */
    RES_ANSWER_REFUTED,            /* the program itself shows the contrary of its replays */
    RES_ANSWER_UNDECIDED, /* its replays say so, and the program does not show it, or was not tried and may lose as much */
    RES_ANSWER_TOO_DEAR,    /* what is saved, for what it takes more of the other figure */
    RES_ANSWER_STARTS_COST, /* the calls of the candidate save less than its starts take: saved is below 0 */
};
extern const char *const RES_ANSWERS[]; /* the words, NULL at the end */

struct res_answer {
    int kind;                     /* enum res_answer_kind */
    char *candidate;              /* whom it is about; NULL: nobody */
    double saved;                 /* ns, or bytes */
    double of_process, of_malloc; /* shares of the process, of its time in malloc or heap; NAN: not known */
    double may_hide; /* what noise may hide at most: of the process; of malloc where that is not known */
    double price;    /* of time in bytes at the peak, of memory a share of time; NAN: none worth a word */
};

/* The answer about the program. */
struct res_program_verdict {
    struct res_answer time, peak, rest;
};

enum res_clock { RES_CLOCK_REAL = 0, RES_CLOCK_RECORDED = 1 };

/* The objects that were live when the recording began and ended: whether memory figures are what they seem. */
enum res_live {
    RES_LIVE_KNOWN = 0,
    RES_LIVE_FROM_MIDDLE = 1, /* not known when it begins: lower bounds */
    RES_LIVE_PAUSED = 2,      /* inexact */
    RES_LIVE_LEFT_BEHIND = 3, /* merged processes ended and left much behind: upper bounds */
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
extern const char *const RES_ENDED[]; /* the words, NULL at the end */

struct res_result_workload {
    char *name, *program, *selection;
    char *label;        /* of the host that it was recorded on; NULL: none */
    uint64_t processes; /* 0: one, or not known */
    double events_share;
    uint64_t group_processes; /* that were replayed one by one, and summed; 0: one */
    char *digest;             /* of the calls executed */
    char *file_digest;
    uint64_t ops, inherited_ops, threads, duration_ns, live_peak_bytes;
    bool complete;
    char *incomplete_why;
    uint64_t lost_calls, left_out_calls, removed_calls;
    bool lost_known;
    int live; /* enum res_live */
    uint64_t rounds, memory_rounds;
    int stopped_by; /* enum res_ended; -1: not told */
    double stopped_width, stopped_until_width, stopped_elapsed_ns, stopped_time_budget_ns;
    uint64_t stopped_rounds_max;
    json_t *samples, *memory_samples;
    struct res_result_entry *candidates; /* the baseline first */
    size_t candidate_count;
    struct res_result_entry control;
    struct res_result_entry *floor; /* NULL: it was not there, and nothing was subtracted */
    struct res_process *process;    /* NULL: not recorded */
    struct res_runs_on *runs_on;    /* likewise */
    uint64_t unseen_frees; /* objects over which others were made: a part of the program freed them unseen */
    double share_time, share_memory;
    double share_time_low, share_time_high; /* by the runs of a confirmation; NAN: there is none */
    char *no_trust_time, *no_trust_memory;  /* why a figure here is no ground for advice; NULL: it is one */
    double good_for;
    struct res_program_verdict *verdict;
    struct res_note *notes; /* on this workload */
    size_t note_count;
    json_t *rest;
};

/* The machine that an experiment ran on. */
struct res_machine {
    char *name; /* $MALLAB_MACHINE */
    char *cpu, *architecture, *kernel, *libc, *transparent_huge_pages, *governor;
    struct res_build libc_build;
    double cpus, memory_bytes, page_bytes, load_1_minute;
    int virtual_machine; /* -1: not known */
    json_t *rest;
};

struct res_disturbance {
    char *kind, *when, *unit, *text, *remedy;
    double value;
};

/* A candidate of the default list, or one asked for, that is not on the machine. */
struct res_missing {
    char *name, *reason;
};

/* The program as its user gave it, for lines to paste. It is in no file: a result comes from anywhere, and is not to name commands
 * that others then run. All borrowed. */
struct res_asked {
    const char *command; /* for sh(1); NULL: not known */
    double run_ns;   /* what one run of the command took; 0 or NAN: not known; of these alone in the JSON */
    const char *cut; /* how the recording was ended before the program did so itself; NULL: it was not */
    const char *not_confirmed; /* why the program was not run again although that was asked for */
};

struct res_result {
    char *schema, *mallab_version, *baseline;
    char *label, *commit; /* what the user calls it; of the sources that it measured */
    uint64_t created_unix_ns;
    bool complete;
    char *incomplete_why;
    uint64_t rounds, rounds_asked, seed;
    uint64_t memory_rounds_asked, memory_idle_ms; /* RES_COUNT_ABSENT in older results */
    bool stopped, check, one_thread;
    uint64_t processors_asked; /* that allocators were told of; 0: those of each recording */
    uint64_t limit_bytes;      /* 0: none */
    char *limit_by, *limit_by_why;
    struct res_machine machine;
    struct res_disturbance *disturbances;
    size_t disturbance_count;
    struct res_missing *missing;
    size_t missing_count;
    struct res_result_workload *workloads;
    size_t workload_count;
    struct res_program_verdict *verdict; /* that of the workload, where there is one */
    struct res_note *notes;              /* on all of it */
    size_t note_count;
    struct res_confirmation *confirmation; /* NULL: the program itself was not run again */
    struct res_confirmed *confirmed;       /* the control last */
    size_t confirmed_count;
    struct res_fleet *fleet; /* what its workloads say together (fleet.h); NULL: it has one */
    struct res_asked asked;
    json_t *rest;
};

/* The tables (result_fields.c). */
extern const struct res_described RES_RESULT, RES_RESULT_WORKLOAD, RES_RESULT_ENTRY, RES_RESULT_FLOOR,
    RES_LATENCY, RES_FAILURE, RES_MACHINE, RES_NOTE, RES_PROGRAM_VERDICT;

/* res_result_load - the result that a file holds, "-" being standard input: read within bounds, and checked.
 * res_result_load_fd - likewise of a descriptor, which stays open.
 * only_rows    without what no row names (rest.c), in a third of the time: for figures of all of it, not to be written again
 * ret_is_other whether it is JSON and no result, as may well lie beside results
 * ret_problem  one line, the caller's to free, where false is returned. */
bool res_result_load(const char *path, struct res_result *ret_result, char **ret_problem);
bool res_result_load_fd(int fd, const char *path, bool only_rows, struct res_result *ret_result,
                        bool *ret_is_other, char **ret_problem);

/* res_result_read - the result that a JSON object holds, checked.
 * ret_problem  one line, the caller's to free, where false is returned. */
bool res_result_read(const json_t *json, struct res_result *ret_result, char **ret_problem);

/* res_result_names_apart - give workloads names of their own (lives.c); who reads a result has that done. */
void res_result_names_apart(struct res_result *result);

/* res_result_of_fleet - a result without workloads, of which a fleet is all that it says: so verbs that take a result take a directory of them,
 * too.
 * fleet  of the heap; the result's from now on. */
void res_result_of_fleet(struct res_fleet *fleet, struct res_result *ret_result);

/* res_result_is_fleet - whether it is one of these. */
static inline bool res_result_is_fleet(const struct res_result *result)
{
    return result->fleet != NULL && result->workload_count == 0;
}

/* res_result_write - the same as JSON. A new reference. */
json_t *res_result_write(const struct res_result *result);

void res_result_release(struct res_result *result);

/* res_result_entry_at - the candidates of a workload in their order, then its control, then its floor; NULL behind the last. */
struct res_result_entry *res_result_entry_at(struct res_result_workload *workload, size_t i);

/* res_workload_key - what tells whether two workloads are the same, beside the label of their host: the digest of the calls executed, which
 * another recording of the same calls has, too; where none ran, that of the file. NULL: neither is known. Borrowed. */
const char *res_workload_key(const struct res_result_workload *workload);

/* res_result_entry_named - a candidate of a workload by its name; NULL: there is none. */
const struct res_result_entry *res_result_entry_named(const struct res_result_workload *workload,
                                                      const char *name);

/* res_json_schema_of_file - the schema that a JSON file begins with, "mallab-check/1", the caller's to free; NULL when it is none of ours, or cannot be read. */
char *res_json_schema_of_file(const char *path);

/* res_json_remedy - what to do where a document with this schema does not serve: "name the recording". NULL: it has none. */
const char *res_json_remedy(const char *schema);

/* ---- fleet_result.c: what many workloads say together: types and rows. results/measure/fleet/fleet.h makes it.
 *   host    one workload of one host: its label and res_workload_key together are its key; names are for people
 *   twins   workloads of one key in one result, of several files, are hosts of their own: they ran beside each other
 *   again   of several results of one host the newest counts
 *   share   the weight of a host; those of all hosts add up to 1
 *   of      what figures are of: "process" (its CPU time, its resident peak) or "malloc" (time in malloc, its heap). The common figures are of
 *           one of both, and hosts without it are in none of them
 *   common  the share-weighted mean of the logarithms over hosts, with an interval from the spread between hosts (statistics.c)
 *
 * A ratio is candidate over baseline, below 1 better. What cannot be had is NAN. A change with n_eff below RES_FLEET_LEAST_EFFECTIVE has a ratio
 * and nothing else. */

#define RES_FLEET_SCHEMA "mallab-fleet/1"

#define RES_FLEET_LEAST_EFFECTIVE                                                                            \
    5.0 /* hosts of equal share: with fewer the spread is not known, and there is no verdict */

struct res_note;
struct res_program_verdict;

enum res_fleet_of { RES_FLEET_OF_PROCESS = 0, RES_FLEET_OF_MALLOC };
extern const char *const RES_FLEET_OF[]; /* the words, NULL at the end */

/* One candidate on one host. */
struct res_fleet_difference {
    double ratio, low, high; /* 95 % interval of this host alone */
    double error, freedom;   /* standard error of the logarithm, with its degrees of freedom */
    int verdict;             /* enum res_verdict; corrected for the number of hosts (res_holm) */
};

struct res_fleet_entry {
    char *failed; /* why; NULL: it did not */
    struct res_fleet_difference time, peak;
    double cpu_ns, peak_bytes;     /* of the process under it; of malloc where `of` says so */
    double files_bytes, starts_ns; /* in no file: of files in memory, and of starts, beyond the baseline's */
};

struct res_fleet_host {
    char *label, *workload, *file_digest;
    char *key;     /* res_workload_key */
    size_t twin;   /* how many of its key stand before it in its result */
    char *program; /* NULL: not known */
    char *machine; /* its kind: "model, 8 cpus, x86_64" */
    double share;
    uint64_t results;                  /* of it, of which the newest counts */
    double malloc_time, malloc_memory; /* part of its CPU time and peak that is malloc's; NAN: not known */
    int of_time, of_memory;            /* enum res_fleet_of */
    char *no_trust_time, *no_trust_memory; /* why these figures are in no common one; NULL: they are */
    struct res_fleet_entry *entries;       /* one for each candidate, in their order */
    size_t entry_count;
    /* In no file: */
    bool is_labelled;               /* else `label` is the workload's name */
    uint64_t created;               /* of the result */
    double calls_ns, cpu_ns;        /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, whole_bytes; /* likewise at the peak: the whole is no less than the heap */
};

/* All hosts together. */
struct res_fleet_change {
    double ratio, low, high;
    double p_corrected;                   /* of whether it is 1, for all candidates together (Holm) */
    double n_eff;                         /* hosts of equal share that say as much */
    int verdict;                          /* enum res_verdict */
    uint64_t workloads;                   /* that it is of */
    uint64_t less, more, same, undecided; /* hosts by verdict; `less` of time is faster */
};

/* A sum over hosts, of what was measured: what is to be expected of others is the mean's to say, which has an interval. */
struct res_fleet_total {
    double baseline, saved; /* ns or bytes, of as many hosts as were measured */
    double ratio;           /* of both sums */
    uint64_t workloads;
};

/* A host by name. */
struct res_fleet_named {
    char *label, *workload, *file_digest;
    double ratio, low, high;
    double p_value; /* one-sided, of a ratio above the limit of losers, corrected (res_holm) */
};

struct res_fleet_candidate {
    char *name;
    struct res_fleet_change time, peak;
    struct res_fleet_total cpu, peaks; /* sums of CPU time, of peaks */
    double largest_bytes;              /* the largest peak of a host */
    struct res_fleet_named *losers;    /* proven to be slower by more than loser_limit, the worst first */
    size_t loser_count;
    struct res_texts failed; /* labels of hosts on which it failed */
};

/* One that was expected, and is in no result. */
struct res_fleet_missing {
    char *label;
};

/* A kind in which results of one fleet differ: its values, the most frequent first. */
struct res_fleet_kind {
    char *value;
    uint64_t results;
    char *file; /* the first that has it */
};

struct res_fleet_mixed {
    char *what; /* "mallab", "jemalloc" */
    struct res_fleet_kind *kinds;
    size_t kind_count;
};

/* A file, or a workload of it, that is not in it. */
struct res_fleet_left {
    char *file, *why;
};

struct res_fleet {
    char *schema;         /* NULL inside a result */
    char *mallab_version; /* likewise */
    char *baseline;
    struct res_texts machines; /* kinds; more than one are compared with a warning */
    int of_time, of_memory;    /* enum res_fleet_of, of the common figures */
    double loser_limit;        /* a host that is slower by more loses; 0.01 is 1 % */
    uint64_t workloads;
    double n_eff;                           /* of all hosts */
    struct res_fleet_candidate *candidates; /* the baseline first, whose changes are NAN */
    size_t candidate_count;
    struct res_fleet_host *hosts; /* by label, then digest */
    size_t host_count;
    struct res_fleet_missing *missing;
    size_t missing_count;
    struct res_fleet_mixed *mixed;
    size_t mixed_count;
    struct res_fleet_left *left_out;
    size_t left_out_count;
    struct res_program_verdict *verdict; /* results/measure/figures/verdict.c */
    struct res_note *notes;
    size_t note_count;
    json_t *rest;
};

extern const struct res_described RES_FLEET, RES_FLEET_DOCUMENT, RES_FLEET_HOST, RES_FLEET_ENTRY,
    RES_FLEET_CANDIDATE, RES_FLEET_LEFT;

/* res_fleet_write - a fleet's document: it has the fleet as `fleet`, beside schema, version, what is missing, what is mixed and what is left
 * out. A new reference. */
json_t *res_fleet_write(const struct res_fleet *fleet);
void res_fleet_release(struct res_fleet *fleet);

/* ---- result.c: what a confirmation adds to a result: the program itself, run under the candidates that were advised.
 *   pair       one run of a candidate beside one of the baseline, neighbours in time
 *   time       processor time of a run, user and system, of all its processes
 *   confirmed  one candidate's pairs, what they say of time and of the peak of memory: one of `confirmed` of the JSON
 *   control    the baseline beside itself in the same way: what it differs by is noise
 *
 * Members are described by the rows of result.c. */

/* One figure of the pairs. Each list has a sample of each pair. */
struct res_confirmed_figure {
    double *baseline, *own;
    size_t baseline_count, own_count;
    double baseline_median;
    double ratio;
    struct res_interval interval; /* 95 % of that */
};

struct res_confirmed {
    char *candidate, *library; /* library: NULL: not known, of an older result */
    struct res_pairs environment;
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

/* The way that the runs came about. */
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

/* res_confirmed_named - the confirmation of a candidate; NULL: it took no part. The control is no candidate. */
const struct res_confirmed *res_confirmed_named(const struct res_confirmed *all, size_t count,
                                                const char *name);

/* res_confirmed_baseline_bytes - the baseline's peak that is shown, of the last that has one: the control of a command has no
 * runs for memory. NAN: not known. */
double res_confirmed_baseline_bytes(const struct res_confirmed *all, size_t count);

#endif
