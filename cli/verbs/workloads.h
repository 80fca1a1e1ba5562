/* workloads.h - what the verbs do with inputs on the way to a workload. */
#ifndef MALLAB_CLI_VERBS_WORKLOADS_H
#define MALLAB_CLI_VERBS_WORKLOADS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"
#include "results/measure/experiment/experiment.h"

/* cli_say_other_kind - tell that a file is no workload but something known, and how it becomes one, or what reads it. */
void cli_say_other_kind(const struct cli_verb *verb, const char *path, enum conv_kind kind);

/* How inputs are converted on the way. */
struct cli_prepare {
    const char *directory;              /* where the workloads go */
    const struct conv_options *convert; /* what is selected; `overwrite` is set from force */
    bool force;                         /* existing ones may be replaced */
    bool quiet;                         /* no summary */
    bool no_progress;
};

/* A workload that can be replayed. */
struct cli_prepared {
    char *path;                 /* the file; of a group the directory that its members' files lie in */
    struct res_member *members; /* of a group, by name; paths and names are the struct's own */
    size_t member_count;        /* 0: it is one process */
};

/* cli_workload_prepare - a workload as it is, also a directory of several that are a group; anything else converted first.
 * number        of the input on this command line, from 0: keeps names apart.
 * ret_prepared  filled on CLI_DONE; end it with cli_prepared_release, which accepts a zeroed one.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr. */
int cli_workload_prepare(const struct cli_verb *verb, const struct cli_prepare *prepare, const char *input,
                         size_t number, struct cli_prepared *ret_prepared);
void cli_prepared_release(struct cli_prepared *prepared);

/* cli_prepared_facts - cli_workload_facts, of a group as of one. Its calls are added up; live bytes at the peak are those of
 * the members alive together.
 * prepared      its offset_ns are filled in; ret_workload borrows from it. */
int cli_prepared_facts(const struct cli_verb *verb, struct cli_prepared *prepared, const char *input,
                       struct res_workload *ret_workload);

#endif
