/* leaks_mark.h - what `mallab leaks` needs of a recording that goes on: fresh figures, whether it goes on, and the mark from
 * which on allocations are told of.
 *
 *   clock  nanoseconds since the recording began
 *   mark   a time of that clock, in DIR/leaks.mark: one number, decimal. It goes with the recording, whose directory must be
 *          ours to set it; whoever may read the recording reads it */
#ifndef MALLAB_CLI_VERBS_LEAKS_MARK_H
#define MALLAB_CLI_VERBS_LEAKS_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/cli.h"

/* cli_leaks_ask - have the collector write every call made so far.
 * path      a recording's directory, or its recording.json.
 * ret_problem  NULL, or one line: why it cannot be asked. The caller's to free.
 * Returns   the recording's clock; 0: it has ended, cannot be asked, or does not answer. */
uint64_t cli_leaks_ask(const char *path, char **ret_problem);

/* cli_leaks_end - whether nothing more is to come of a process: the recording has ended, its collector, or the process.
 * process_id  0: of none yet.
 * Returns     NULL: it goes on; else what has ended, for a line. The caller's to free. */
char *cli_leaks_end(const char *path, uint32_t process_id);

/* cli_leaks_mark_set - now, of a recording that goes on. cli_leaks_mark_remove - there is none then; none is no failure.
 * Returns   CLI_DONE, having told what holds from now on; else an exit code, told. */
int cli_leaks_mark_set(const struct cli_verb *verb, const char *path);
int cli_leaks_mark_remove(const struct cli_verb *verb, const char *path);

/* cli_leaks_mark_read - of what path leads to. ret_ns: 0: there is none.
 * Returns   CLI_DONE; else an exit code, told: it cannot be believed or is damaged. */
int cli_leaks_mark_read(const struct cli_verb *verb, const char *path, uint64_t *ret_ns);

#endif
