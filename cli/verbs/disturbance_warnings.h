/* disturbance_warnings.h - what disturbs an experiment, on stderr: each cause once.
 *
 *   cause   what one remedy ends: a load, threads that wait and other programs' time are three signs of one */
#ifndef MALLAB_CLI_VERBS_DISTURBANCE_WARNINGS_H
#define MALLAB_CLI_VERBS_DISTURBANCE_WARNINGS_H

#include <stddef.h>

#include "cli/base/cli.h"
#include "cli/options/answer_options.h"
#include "results/measure/machine/disturbances.h"

/* cli_warn_of - tell the signs from that number on, unless it is to be quiet: those of one cause on one line. Of causes told
 * before it is only said that they went on, and how much: the remedy was told. The table's line `disturbed` and the JSON have
 * each.
 * from     0, or what the call before returned.
 * Returns  how many signs there are. */
size_t cli_warn_of(const struct cli_verb *verb, const struct cli_answer *answer,
                   const struct res_disturbances *disturbances, size_t from);

#endif
