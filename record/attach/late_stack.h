/* late_stack.h - where a stopped thread stands: what its stack leads through, and whether a function may be called there.
 *
 *   whole     the walk came by rules to the frame that has no caller
 *   safe      no frame but those that start a thread or main lies in libc, the loader or an allocator; or the innermost ones are
 *             libc's wrapper of a system call that waits and holds no lock of libc's
 *   clean     no frame is the recorder's
 *
 * x86-64. */
#ifndef MALLAB_RECORD_ATTACH_LATE_STACK_H
#define MALLAB_RECORD_ATTACH_LATE_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "record/attach/late_process.h"

enum late_place {
    LATE_PLACE_SAFE = 0,
    LATE_PLACE_LIBC,     /* within libc, the loader or an allocator */
    LATE_PLACE_RECORDER, /* within our library */
    LATE_PLACE_UNKNOWN, /* code without a table of frames, a signal's handler, another stack than a thread's own */
    LATE_PLACE_NARROW, /* too little room on its stack */
};

/* late_place_words - for people. Static. */
const char *late_place_words(enum late_place place);

/* late_stack_place - where a function might be called. The process's mappings are as late_process_refresh read them. */
enum late_place late_stack_place(struct late_process *process, const struct user_regs_struct *registers);

/* late_stack_is_clean - whether it is certain that the thread is not in our library, nor comes back into it.
 * restorer   to where libc's signal handlers return. */
bool late_stack_is_clean(struct late_process *process, const struct user_regs_struct *registers,
                         uint64_t restorer);

#endif
