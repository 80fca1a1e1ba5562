/* proc.h - numbers that the kernel tells in /proc. */
#ifndef MALLAB_REPLAY_BASE_PROC_H
#define MALLAB_REPLAY_BASE_PROC_H

#include <stdint.h>

/* rep_proc_number - the number behind the first `key` of a file, "VmHWM:" of /proc/self/status, in the file's unit (kB).
 * Without the allocator; within the first 4 KiB.
 * Returns  it; `otherwise` when the file cannot be read or does not have it. */
uint64_t rep_proc_number(const char *path, const char *key, uint64_t otherwise);

#endif
