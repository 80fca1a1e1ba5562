/* late_refuse.h - why the recorder may not be loaded into a running program. */
#ifndef MALLAB_RECORD_ATTACH_LATE_REFUSE_H
#define MALLAB_RECORD_ATTACH_LATE_REFUSE_H

#include "record/attach/late_process.h"

/* late_refuse - look whether a process can be attached to at all; its mappings are read on the way.
 * library  path of the library that is to be loaded.
 * Returns  one line, the caller's; NULL: nothing is in the way. */
char *late_refuse(struct late_process *process, const char *library);

/* late_status_id - the user or group of a process, by a line of its /proc/PID/status ("\nUid:"), where all four are the same. */
bool late_status_id(const char *status, const char *word, unsigned *ret_id);

/* late_is_ours - whether a process is our user's and group's, and has no rights beyond. */
bool late_is_ours(pid_t pid);

#endif
