/* relay.h - signals that are sent to `mallab record` and meant for the command that it records.
 *
 *   witness   a child of ours that takes signals and does nothing but remember them: what reached it too was sent to the
 *             whole process group, or to the whole control group, and so has reached the command by itself. Its comm and
 *             the first word of its command line are "signals"; it is in our process group, session and control group */
#ifndef MALLAB_RECORD_RELAY_H
#define MALLAB_RECORD_RELAY_H

#include <sys/types.h>

/* rec_relay_prepare - start the witness; before any descriptor is opened that somebody waits for the end of. Without one
 * (no process to be had) every signal counts as sent to us alone.
 * arguments   the command's, which the witness is shown with by ps(1), so that a pattern which finds the command by them
 *             finds both (pkill -f).
 * rec_relay_begin - from here on hand to the command what supervisors and containers stop, reload and rotate servers
 * with; one command at a time. What is ignored already, as under nohup, stays ignored. */
void rec_relay_prepare(char *const *arguments);
void rec_relay_begin(pid_t command);

/* rec_relay_pause - hand nothing on any more: the command has ended, and its number may become another's. */
void rec_relay_pause(void);

/* rec_relay_asked_to_end - the last SIGINT, SIGTERM or SIGHUP since rec_relay_prepare, to us or
 * to the group, but not from the command; 0: none. */
int rec_relay_asked_to_end(void);

/* rec_relay_end - dispositions as they were, and no witness any more; also after prepare alone. */
void rec_relay_end(void);

#endif
