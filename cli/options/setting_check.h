/* setting_check.h - settings of an inline candidate ("jemalloc+narenas=1"), asked of the allocator before any work.
 *
 * Runs prove their settings too (replay/proof/settings.h), but the first run may come after a recording and a conversion. */
#ifndef MALLAB_CLI_OPTIONS_SETTING_CHECK_H
#define MALLAB_CLI_OPTIONS_SETTING_CHECK_H

#include "cli/base/cli.h"
#include "results/measure/candidate/candidates.h"

/* cli_setting_check - start the candidate's allocator once and let it confirm the settings.
 * candidate  resolved and found.
 * settings   the inline part of its name: "+narenas=1+tcache=false".
 * Returns    CLI_DONE; CLI_MISUSE when a setting is wrong, CLI_FAILED when the allocator cannot be asked; told on stderr,
 *            of a name that it does not have with the nearest one that it has. */
int cli_setting_check(const struct cli_verb *verb, const struct res_candidate *candidate,
                      const char *settings);

#endif
