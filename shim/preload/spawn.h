/* spawn.h - a collector of our own, under a plain LD_PRELOAD. */
#ifndef MALLAB_SHIM_PRELOAD_SPAWN_H
#define MALLAB_SHIM_PRELOAD_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

/* spawn_collector - start mallab-collect outside the program's sight and wait until it is ready.
 * name            the program's base name, for the output directory.
 * ret_path        receives the segment's path; ret_message the reason of a failure, for one line, or the directory
 *                 that was begun because the one named was taken; else "".
 * Returns         whether the segment is ready. */
bool spawn_collector(const char *name, char *ret_path, size_t path_size, char *ret_message,
                     size_t message_size);

#endif
