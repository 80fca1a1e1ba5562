/* workloads.h - inputs on the way to a workload, for the verbs. */
#ifndef MALLAB_CLI_VERBS_WORKLOADS_H
#define MALLAB_CLI_VERBS_WORKLOADS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "convert/convert.h"
#include "results/measure/experiment/experiment.h"

/* cli_say_other_kind - tell that a file is no workload but something known, and how it becomes one, or what reads it. */
void cli_say_other_kind(const struct cli_verb *verb, const char *path, enum conv_kind kind);

/* The settings of the conversions on the way. */
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

/* cli_group_read - the members in a directory, by name; a single file is no group, but a workload.
 * Returns  false, with nothing to release, when there is none or there are more than a group has. */
bool cli_group_read(const char *directory, struct cli_prepared *ret_prepared);

/* cli_group_make_room - before members are written: a group that is there already is removed, where `force` allows it, as
 * none of its members may stay. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_group_make_room(const struct cli_verb *verb, const char *directory, bool force);

/* cli_workload_facts - open a workload and read its summary. One without a call is refused.
 * input         what it was made of, for messages: `path` where it was given as it is.
 * ret_workload  name and path point into `path`.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr in the name of `verb`. */
int cli_workload_facts(const struct cli_verb *verb, const char *path, const char *input,
                       struct res_workload *ret_workload);

/* cli_prepared_facts - cli_workload_facts, of a group as of one. Its calls are added up; live bytes at the peak are those of
 * the members alive together.
 * prepared      its offset_ns are filled in; ret_workload borrows from it. */
int cli_prepared_facts(const struct cli_verb *verb, struct cli_prepared *prepared, const char *input,
                       struct res_workload *ret_workload);

#endif
