/* wl_file.h - the file under a workload being written: without a name until it is whole, so that a killed writer leaves nothing;
 * where a file system has no files without names (O_TMPFILE), with a temporary one.
 *
 * Private to footprint/, convert/export/ and convert/pack/, whose files are to appear in the same way. */
#ifndef MALLAB_FOOTPRINT_WL_WL_FILE_H
#define MALLAB_FOOTPRINT_WL_WL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/status.h"

struct wl_file {
    int fd;
    bool overwrite;
    char *path;      /* NULL for standard output */
    char *temporary; /* NULL for standard output, for a file without a name, and after the end */
    uint64_t bytes;  /* appended so far */
    struct fp_error error;
};

/* wl_file_create - open a file without a name in PATH's directory, else "PATH.PID.part" exclusively; or standard output for "-".
 * error is filled on failure. */
enum fp_status wl_file_create(struct wl_file *file, const char *path, bool overwrite);

/* wl_file_adopt - write to a descriptor of the caller's, which stays open. */
void wl_file_adopt(struct wl_file *file, int descriptor);
enum fp_status wl_file_append(struct wl_file *file, const void *bytes, size_t size);

/* wl_file_finish - sync, close, give the file its name. Without overwrite an existing file stays. */
enum fp_status wl_file_finish(struct wl_file *file);

/* wl_file_abandon - close and remove what is unfinished; free the names. */
void wl_file_abandon(struct wl_file *file);

#endif
