/* process_name.h - a recorded process by its program's name, where a user need not know its id. */
#ifndef MALLAB_RECORD_PROCESS_NAME_H
#define MALLAB_RECORD_PROCESS_NAME_H

#include <stdint.h>

struct cli_verb;

/* cli_process_named - of the processes of that name, the one with most calls so far.
 * recording  its directory.
 * ret_file   NULL, or for whoever looks at a process up to its end: only one that executed no other program counts then, since
 *            that one goes on under the same id. Its footprint's name, the caller's to free; NULL on failure.
 * Returns    CLI_DONE; CLI_FAILED, or CLI_UNREADABLE where it cannot be read, told on stderr with the names there are. */
int cli_process_named(const struct cli_verb *verb, const char *recording, const char *name,
                      uint32_t *ret_process_id, char **ret_file);

#endif
