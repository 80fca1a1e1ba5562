/* relay.h - signals that are sent to `mallab record` and meant for the command that it records. */
#ifndef MALLAB_CLI_RELAY_H
#define MALLAB_CLI_RELAY_H

#include <sys/types.h>

/* cli_relay_begin - from here on hand to the command what supervisors and containers stop, reload and rotate servers
 * with; one command at a time. What is ignored already, as under nohup, stays ignored. */
void cli_relay_begin(pid_t command);

/* cli_relay_pause - hand nothing on any more: the command has ended, and its number may become another's. */
void cli_relay_pause(void);

/* cli_relay_end - dispositions as they were. */
void cli_relay_end(void);

#endif
