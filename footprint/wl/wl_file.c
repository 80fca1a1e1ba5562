/* wl_file.c - no name or a temporary one, appending, the name in the end. */
#include "footprint/wl/wl_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/trusted.h"

static enum fp_status fail(struct wl_file *file, enum fp_status status, int sys_errno, const char *what)
{
    file->error = fp_error_make(status, sys_errno, file->bytes, what);
    return status;
}

#define DESCRIPTOR_PATH_BYTES 32u

/* The name by which a descriptor's file is linked to another. */
static void name_descriptor(int fd, char ret_path[DESCRIPTOR_PATH_BYTES])
{
    snprintf(ret_path, DESCRIPTOR_PATH_BYTES, "/proc/self/fd/%d", fd);
}

/* A file without a name in the directory of path; -1 where that cannot be, or could not be given a name later. */
static int create_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX], named[DESCRIPTOR_PATH_BYTES];
    const int length = slash != NULL
                           ? snprintf(directory, sizeof directory, "%.*s", (int)(slash - path) + 1, path)
                           : snprintf(directory, sizeof directory, ".");
    const int fd = length > 0 && (size_t)length < sizeof directory
                       ? open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644)
                       : -1;
    if (fd < 0)
        return -1;
    name_descriptor(fd, named);
    if (access(named, F_OK) == 0)
        return fd;
    (void)close(fd); /* nothing stands in it */
    return -1;
}

/* "PATH.PID.part". NULL: no memory. */
static char *temporary_of(const char *path)
{
    char *temporary;
    return asprintf(&temporary, "%s.%ld.part", path, (long)getpid()) >= 0 ? temporary : NULL;
}

/* A file without a name gets the temporary one. False with errno set. */
static bool name_it(struct wl_file *file)
{
    char named[DESCRIPTOR_PATH_BYTES];
    char *temporary = temporary_of(file->path);
    name_descriptor(file->fd, named);
    if (temporary != NULL && linkat(AT_FDCWD, named, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0) {
        file->temporary = temporary;
        return true;
    }
    free(temporary);
    return false;
}

enum fp_status wl_file_create(struct wl_file *file, const char *path, bool overwrite)
{
    enum fp_status status;
    *file = (struct wl_file){.fd = -1, .overwrite = overwrite};
    if (strcmp(path, "-") == 0) {
        file->fd = STDOUT_FILENO;
        return FP_OK;
    }
    status = fp_place(path, &file->path);
    if (status == FP_ERR_FOREIGN)
        return fail(file, FP_ERR_OPEN, 0, "is no regular file");
    if (status != FP_OK)
        return fail(file, status, errno, "cannot create");
    if (!overwrite && access(path, F_OK) == 0)
        return fail(file, FP_ERR_EXISTS, 0, "exists already");
    file->fd = create_nameless(file->path);
    if (file->fd >= 0)
        return FP_OK;
    file->temporary = temporary_of(file->path);
    if (file->temporary == NULL)
        return fail(file, FP_ERR_MEMORY, 0, "no memory for a name");
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file->fd < 0) {
        const int sys_errno = errno;
        free(file->temporary); /* not ours to remove */
        file->temporary = NULL;
        return fail(file, FP_ERR_OPEN, sys_errno, "cannot create");
    }
    return FP_OK;
}

void wl_file_adopt(struct wl_file *file, int descriptor)
{
    *file = (struct wl_file){.fd = descriptor};
}

enum fp_status wl_file_append(struct wl_file *file, const void *bytes, size_t size)
{
    if (!fp_write_all(file->fd, bytes, size))
        return fail(file, FP_ERR_WRITE, errno, "cannot write");
    file->bytes += size;
    return FP_OK;
}

enum fp_status wl_file_finish(struct wl_file *file)
{
    bool written;
    if (file->path == NULL) {
        file->fd = -1;
        return FP_OK;
    }
    written = fdatasync(file->fd) == 0;
    if (written && file->temporary == NULL && !name_it(file))
        return fail(file, errno == ENOMEM ? FP_ERR_MEMORY : FP_ERR_WRITE, errno, "cannot rename");
    written &= close(file->fd) == 0;
    file->fd = -1;
    if (!written)
        return fail(file, FP_ERR_WRITE, errno, "cannot write");
    if (!fp_place_take(file->temporary, file->path, file->overwrite))
        return errno == EEXIST ? fail(file, FP_ERR_EXISTS, 0, "exists already")
                               : fail(file, FP_ERR_WRITE, errno, "cannot rename");
    free(file->temporary);
    file->temporary = NULL;
    return FP_OK;
}

void wl_file_abandon(struct wl_file *file)
{
    if (file->path != NULL && file->fd >= 0)
        (void)close(file->fd); /* the file is about to go */
    if (file->temporary != NULL)
        (void)unlink(file->temporary); /* nothing more can be done about it */
    free(file->temporary);
    free(file->path);
    *file = (struct wl_file){.fd = -1};
}
