/* fleet_result.h - what many workloads say together: types and rows. results/measure/fleet/fleet.h makes it.
 *
 *   host    one workload of one host: its label and the digest of its file together are its key; names are for people
 *   block   one result of a host: all candidates, measured at once. Blocks of one host are averaged
 *   share   the weight of a host; those of all hosts add up to 1
 *   of      what figures are of: "process" (its CPU time, its resident peak) or "malloc" (time in malloc, its heap). The common figures are of
 *           one of both, and hosts without it are in none of them
 *   common  the share-weighted mean of the logarithms over hosts, with an interval from the spread between hosts (many.h)
 *
 * A ratio is candidate over baseline, below 1 better. What cannot be had is NAN. A change with n_eff below RES_FLEET_LEAST_EFFECTIVE has a ratio
 * and nothing else, unless the hosts are all that there are. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_FLEET_RESULT_H
#define MALLAB_RESULTS_MEASURE_RESULT_FLEET_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"

#define RES_FLEET_SCHEMA "mallab-fleet/1"

#define RES_FLEET_LEAST_EFFECTIVE                                                                            \
    5.0 /* hosts of equal share: with fewer the spread is not known, and there is no verdict */
#define RES_FLEET_FEW_EFFECTIVE 30.0 /* with fewer a rare class of losers may be in none of them */

struct res_note;
struct res_program_verdict;

enum res_fleet_weights { RES_WEIGHTS_HOSTS = 0, RES_WEIGHTS_CPU, RES_WEIGHTS_BYTES, RES_WEIGHTS_FILE };
enum res_fleet_of { RES_FLEET_OF_PROCESS = 0, RES_FLEET_OF_MALLOC };
extern const char *const RES_FLEET_WEIGHTS[], *const RES_FLEET_OF[]; /* the words, NULL at the end */

/* One candidate on one host. */
struct res_fleet_difference {
    double ratio, low, high; /* 95 % interval of this host alone */
    double error, freedom;   /* standard error of the logarithm, with its degrees of freedom */
    int verdict;             /* enum res_verdict; corrected for the number of hosts (res_holm) */
};

struct res_fleet_entry {
    char *failed; /* why; NULL: it did not */
    struct res_fleet_difference time, peak;
    double cpu_ns, peak_bytes, mean_bytes; /* of the process under it; of malloc where `of` says so */
};

struct res_fleet_host {
    char *label, *workload, *file_digest;
    char *program; /* NULL: not known */
    char *machine; /* its kind: "model, 8 cpus, x86_64" */
    double share;
    uint64_t blocks;
    double malloc_time, malloc_memory; /* part of its CPU time and peak that is malloc's; NAN: not known */
    int of_time, of_memory;            /* enum res_fleet_of */
    char *no_trust_time, *no_trust_memory; /* why these figures are in no common one; NULL: they are */
    struct res_fleet_entry *entries;       /* one for each candidate, in their order */
    size_t entry_count;
};

/* All hosts together. */
struct res_fleet_change {
    double ratio, low, high;
    double p_corrected; /* of whether it is 1, for all candidates together (Holm) */
    double tau;         /* spread between hosts, of the logarithm, without the noise of their figures */
    double new_host_low, new_host_high;   /* where a host that was not measured typically lies */
    double n_eff;                         /* hosts of equal share that say as much */
    int verdict;                          /* enum res_verdict */
    uint64_t workloads;                   /* that it is of */
    uint64_t less, more, same, undecided; /* hosts by verdict; `less` of time is faster */
};

/* A sum over hosts. */
struct res_fleet_total {
    double baseline, saved; /* ns or bytes, of as many hosts as were measured */
    double ratio, low, high;
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
    struct res_fleet_total cpu, peaks, means; /* sums of CPU time, of peaks, of means */
    double largest_bytes;                     /* the largest peak of a host */
    struct res_fleet_named *losers; /* proven to be slower by more than loser_limit, the worst first */
    size_t loser_count;
    uint64_t doubtful;       /* hosts of which that is not excluded */
    struct res_texts failed; /* labels of hosts on which it failed */
};

/* One that was expected, and is in no result. */
struct res_fleet_missing {
    char *label;
};

/* What results of one fleet differ in: its values, the most frequent first. */
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
    int weights;               /* enum res_fleet_weights */
    bool all_hosts;         /* the hosts are the whole fleet: intervals are of their figures' noise alone */
    int of_time, of_memory; /* enum res_fleet_of, of the common figures */
    double loser_limit;     /* a host that is slower by more loses; 0.01 is 1 % */
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
    struct res_program_verdict *verdict; /* results/measure/figures/verdict.h */
    struct res_note *notes;
    size_t note_count;
    json_t *rest;
};

extern const struct res_described RES_FLEET, RES_FLEET_HOST, RES_FLEET_ENTRY, RES_FLEET_CANDIDATE,
    RES_FLEET_LEFT;

/* res_fleet_read - a fleet's document, checked: every host has an entry for each candidate. It has the fleet as `fleet`, beside schema, version,
 * what is missing, what is mixed and what is left out.
 * ret_problem  one line, the caller's to free, where false is returned. */
bool res_fleet_read(const json_t *json, struct res_fleet *ret_fleet, char **ret_problem);

/* res_fleet_write - the same as JSON. A new reference. */
json_t *res_fleet_write(const struct res_fleet *fleet);
void res_fleet_release(struct res_fleet *fleet);

#endif
