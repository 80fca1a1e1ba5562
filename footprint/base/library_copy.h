/* library_copy.h - a library where every process of a recorded tree can read it: itself, or a copy made for the recording.
 *
 * A process that has changed its user cannot read what lies below a directory of mode 0700, as a home: its loader would say so
 * on its stderr, and it would go unrecorded. A copy lies in a directory of its own in memory or below /tmp, which all can
 * read and only we can write. Whoever makes it hands its directory's descriptor on to the collector: both hold a lock
 * (flock) by it as long as they live. It is removed by the last of them that finds it unused, and what killed ones left by
 * the next copy's maker: never while a process has it mapped or would load it, because its loader would complain.
 *
 * Used by mallab record and by the collector. */
#ifndef MALLAB_FOOTPRINT_BASE_LIBRARY_COPY_H
#define MALLAB_FOOTPRINT_BASE_LIBRARY_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* fp_library_is_for_all - whether any user can read and map a file: by the modes of it and of each directory above it.
 * path     without symbolic links on the way is not needed.
 * ret_why  what is in the way, for people: "'/root' is of mode 0700". */
bool fp_library_is_for_all(const char *path, char *ret_why, size_t size);

/* fp_library_copy_make - copy it, and remove the copies that killed ones left and nobody uses.
 * path      of the library; the copy has the same name.
 * ret_path  of the copy.
 * Returns   the descriptor of its directory, locked and close-on-exec; -1: there is no place where others could map it. */
int fp_library_copy_make(const char *path, char *ret_path, size_t size);

/* fp_library_copy_end - remove the copy unless a process uses it, and close the directory. directory: -1 does nothing. */
void fp_library_copy_end(int directory);

#endif
