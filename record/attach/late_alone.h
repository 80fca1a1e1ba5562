/* late_alone.h - all threads of a running program stopped, and one of them made to call a function meanwhile. */
#ifndef MALLAB_RECORD_ATTACH_LATE_ALONE_H
#define MALLAB_RECORD_ATTACH_LATE_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/attach/late_call.h"

/* late_call_alone - stop all threads; where none is in our library let one make the call, wherever it is, while the others stay
 * stopped. For functions that make system calls only.
 * is_done      whether the function has come to its end, told of `data`.
 * within_ns    for so long it is tried.
 * ret_problem  why it was not called, the caller's; NULL on success.
 * Returns      whether the call was made to its end. */
bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem);

#endif
