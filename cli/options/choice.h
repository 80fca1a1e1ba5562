/* choice.h - the candidates that a command line names. */
#ifndef MALLAB_CLI_OPTIONS_CHOICE_H
#define MALLAB_CLI_OPTIONS_CHOICE_H

#include "cli/base/cli.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/experiment/experiment.h"

/* Without a list, those of these take part that are installed. */
#define CLI_DEFAULT_LIST "glibc,jemalloc,tcmalloc,mimalloc"

/* cli_registry_load - read all candidates, with `none`; files left out are told on stderr.
 * Returns   CLI_DONE; CLI_FAILED when there is no directory of candidates, told on stderr. */
int cli_registry_load(const struct cli_verb *verb, struct res_registry *registry);

/* cli_candidate_named - a candidate by its name, or a library by its path (a word with '/'), or one of these with
 * settings (BASE+SETTING=VALUE, results/measure/candidate/variables.c); resolved.
 * Returns   NULL when it is unknown or cannot be used: told on stderr, with the names that are known, and
 *           ret_code is CLI_MISUSE for a name, CLI_FAILED for a path. Valid until the registry is released. */
struct res_candidate *cli_candidate_named(const struct cli_verb *verb, struct res_registry *registry,
                                          const char *name, int *ret_code);

/* The candidates that take part in an experiment. */
struct cli_choice {
    struct res_registry registry;            /* owns the candidates */
    const struct res_candidate **candidates; /* the baseline first */
    size_t candidate_count;
    const struct res_candidate *floor; /* NULL when mallab-replay-none is not there: then it is in missing */
    struct res_missing *missing;
    size_t missing_count;
};

/* cli_choose - the candidates of a list.
 * list      names and paths separated by commas; NULL: the default list, of which those take part that are here.
 * baseline  NULL: glibc when it is in the list, else the first. Added to the list when it is not in it.
 * Returns   CLI_DONE with at least one candidate; CLI_FAILED when one that was named is missing, or all are;
 *           CLI_MISUSE for an unknown name; told on stderr. End ret_choice with cli_choice_release in every case. */
int cli_choose(const struct cli_verb *verb, const char *list, const char *baseline,
               struct cli_choice *ret_choice);

/* cli_choice_common - what the recorded programs run on; NULL where that is not known of all, or not the same.
 * cli_choice_runs_on - where nobody named a baseline it is that one; added when it takes no part. Told where that changes the choice. */
const char *cli_choice_common(const struct res_workload *workloads, size_t count);
void cli_choice_runs_on(const struct cli_verb *verb, struct cli_choice *choice, const char *name);
void cli_choice_release(struct cli_choice *choice);

#endif
