/* manifest.h - a plan: many workloads cut into cells that any engine runs, as DIR/manifest.tsv holds it.
 *
 *   cell   one workload, all candidates, some rounds, on one node; its number is its place among the rows, from 0
 *   block  a repetition of a workload's cell with another seed. Blocks are the outer loop: block 0 of all workloads comes
 *          first, so that a plan done by half has measured each of them
 *   label  whose recording it is: a host (footprint/base/label.h). Label and file_digest together are the key of a workload; names are for people
 *   share  what the workload counts for; those of all workloads (not of all rows) sum to 1
 *
 *   mallab-plan/1
 *   cells<TAB>24
 *   KEY<TAB>VALUE           facts of the whole plan, each once
 *   candidate<TAB>NAME<TAB>WORD<TAB>LIBRARY<TAB>VERSION<TAB>BUILD ID<TAB>BUILD DIGEST<TAB>ENVIRONMENT
 *   id<TAB>label<TAB>workload<TAB>file_digest<TAB>block<TAB>rounds<TAB>seed<TAB>threads<TAB>share
 *   0<TAB>web-01<TAB>workloads/0123456789abcdef.wl<TAB>...
 *
 * Beside it: workloads/ with each workload once, named by its digest; cells/ with a result of each cell (cell_files.h).
 * The directory may be shared and the manifest comes from there: it is opened through the door (footprint/base/trusted.h),
 * each number has bounds, each text is plain, and no path leads out of the directory. */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_MANIFEST_H
#define MALLAB_RESULTS_MEASURE_PLAN_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/candidate/library_build.h"

#define RES_PLAN_SCHEMA     "mallab-plan/1"
#define RES_PLAN_MANIFEST   "manifest.tsv"
#define RES_PLAN_WORKLOADS  "workloads"
#define RES_PLAN_ANY        "any" /* machine kind: whatever it is */
#define RES_PLAN_ROWS_MAX   1000000u
#define RES_PLAN_BLOCKS_MAX 1000u

/* A candidate as the plan's machine had it; a node must have the same. Strings are its own; "": not known, or none. */
struct res_plan_candidate {
    char *name;
    char *word; /* what -a takes: the name, or the path of a library */
    char *library, *version;
    struct res_build build; /* NULL: not known */
    char *environment;      /* as a shell takes it (results/measure/base/shell_line.h) */
};

/* A cell. */
struct res_plan_row {
    char *label;
    char *workload; /* path relative to the plan's directory: a file, or a directory of a group's files */
    uint64_t file_digest;
    uint64_t block, rounds, seed, threads;
    double share;
};

struct res_plan {
    char *mallab_version, *baseline;
    char *machine;   /* the kind that nodes must be of (res_plan_machine_kind), or RES_PLAN_ANY */
    char *weights;   /* "hosts", "cpu", "bytes" or "file" */
    char *selection; /* "all", or which of how many, in words */
    char *touch;     /* as --touch has it */
    uint64_t memory_rounds, idle_ms, seed;
    uint64_t load_percent; /* a node of which others use more is too disturbed; 100: whatever they use */
    bool all_hosts;        /* the workloads are all that there are, no sample of them */
    struct res_plan_candidate *candidates; /* the baseline first */
    size_t candidate_count;
    struct res_plan_row *rows; /* by number */
    size_t row_count;
    char digest
        [33]; /* of all but the rows, in hexadecimal: more blocks leave it as it is. Set by reading and writing */
};

/* res_plan_parse - a manifest's text, length bytes, not terminated.
 * ret_problem  one line, the caller's to free, where false is returned; ret_plan is empty then. */
bool res_plan_parse(const char *text, size_t length, struct res_plan *ret_plan, char **ret_problem);

/* res_plan_directory - a plan's directory, through the door. Returns a descriptor, the caller's to close; -1 with ret_problem as
 *                  above.
 * res_plan_load - the plan in a directory.
 * ret_directory  its descriptor, the caller's to close; may be NULL.
 * ret_problem    as above. */
int res_plan_directory(const char *path, char **ret_problem);
bool res_plan_load(const char *directory, struct res_plan *ret_plan, int *ret_directory, char **ret_problem);

/* res_plan_text - the text of a manifest, and its digest into the plan. The caller's to free.
 * res_plan_save - write it into the directory, whole or not at all, in place of one that is there. Returns false with
 *                 ret_problem as above. */
char *res_plan_text(struct res_plan *plan);
bool res_plan_save(int directory, struct res_plan *plan, char **ret_problem);

void res_plan_release(struct res_plan *plan);

/* res_plan_same_workload - whether two rows are blocks of one workload. */
bool res_plan_same_workload(const struct res_plan_row *one, const struct res_plan_row *other);

#endif
