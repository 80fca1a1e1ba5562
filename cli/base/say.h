/* say.h - messages on stderr, in the name of a verb. */
#ifndef MALLAB_CLI_BASE_SAY_H
#define MALLAB_CLI_BASE_SAY_H

#include "cli/base/cli.h"

/* cli_say - "mallab VERB: ..." and a newline on stderr; verb NULL: "mallab: ...". */
void cli_say(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_misuse - the same, then the hint. Returns CLI_MISUSE. */
int cli_misuse(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_say_problem - the same of words that are freed then. Returns CLI_FAILED. */
int cli_say_problem(const struct cli_verb *verb, char *problem);

#endif
