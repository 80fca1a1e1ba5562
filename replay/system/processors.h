/* processors.h - the processors that the allocator is told of in place of ours: those of the machine of the recording, or of one that
 * was asked about. An allocator sizes itself by them, at the latest when its first thread allocates.
 *
 *   told    by a variable of this process's environment, which is there before any library is initialised. A program that
 *           is not told what it should be begins anew with it
 *   usable  in the mask of affinity; glibc and jemalloc count these
 *   online  in the machine
 *
 * served_processors.c answers by them where a library asks the C library. What the C library asks itself, malloc's limit of arenas, is set. */
#ifndef MALLAB_REPLAY_SYSTEM_PROCESSORS_H
#define MALLAB_REPLAY_SYSTEM_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/fp/usage.h"

struct rep_told {
    unsigned usable, online; /* both 0: nothing is told, the machine is this one */
};

/* rep_told - what this process is told. By any thread, at any time; calls no malloc. */
struct rep_told rep_told(void);

/* rep_tell - see that the allocator is told. Call it before anything else was done: where the environment does not say so, this
 * program is executed anew. Nothing is done where this machine has as many, and told.usable is 0.
 * arguments  of main.
 * Returns    false, with errno set, where the program could not be executed. */
bool rep_tell(struct rep_told told, char **arguments);

#endif
