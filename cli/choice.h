/* choice.h - the candidates that a command line names. */
#ifndef MALLAB_CLI_CHOICE_H
#define MALLAB_CLI_CHOICE_H

#include "cli/cli.h"
#include "results/candidates.h"

/* cli_registry_load - read all candidates, with `none`; files left out are told on stderr.
 * Returns   CLI_DONE; CLI_FAILED when there is no directory of candidates, told on stderr. */
int cli_registry_load(const struct cli_verb *verb, struct res_registry *registry);

/* cli_candidate_named - a candidate by its name, or a library by its path (a word with '/'), resolved.
 * Returns   NULL when it is unknown or cannot be used: told on stderr, with the names that are known, and
 *           ret_code is CLI_MISUSE for a name, CLI_FAILED for a path. Valid until the registry is released. */
struct res_candidate *cli_candidate_named(const struct cli_verb *verb, struct res_registry *registry,
                                          const char *name, int *ret_code);

#endif
