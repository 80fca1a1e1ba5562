/* verbs.h - the verbs of `mallab`. */
#ifndef MALLAB_CLI_VERBS_VERBS_H
#define MALLAB_CLI_VERBS_VERBS_H

#include "cli/base/cli.h"

extern const struct cli_verb CLI_AB, CLI_RECORD, CLI_CONVERT, CLI_INFO, CLI_REPLAY, CLI_REPORT,
    CLI_ALLOCATORS, CLI_DOCTOR, CLI_HELP, CLI_TOP, CLI_CONFIRM, CLI_COMPARE, CLI_CHECK, CLI_SITES, CLI_LEAKS,
    CLI_FLAME, CLI_TUNE;

#endif
