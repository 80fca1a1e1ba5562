/* segment_file.c - a segment's name, folder and lock. */
#include "footprint/base/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define PATTERN_DIGITS 16u

bool fp_segment_name_is_ours(const char *name)
{
    char begin[FP_SEGMENT_NAME_BYTES];
    const size_t length = (size_t)snprintf(begin, sizeof begin, "mallab-%u-", (unsigned)geteuid()); /* fits */
    return strncmp(name, begin, length) == 0 && strspn(name + length, "0123456789abcdef") == PATTERN_DIGITS &&
           strlen(name + length) == PATTERN_DIGITS;
}

bool fp_segment_name_make(char ret_name[FP_SEGMENT_NAME_BYTES])
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    return snprintf(ret_name, FP_SEGMENT_NAME_BYTES, "mallab-%u-%016llx", (unsigned)geteuid(),
                    (unsigned long long)number) < (int)FP_SEGMENT_NAME_BYTES;
}

/* Learn from a path which folder the segment is in and its name. False for a path that no collector of ours writes. */
static bool understand(const char *path, struct fp_segment_file *file)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash == NULL || !fp_segment_name_is_ours(slash + 1))
        return false;
    snprintf(file->name, sizeof file->name, "%s", slash + 1); /* fits: its length was checked */
    file->shared = (size_t)(slash - path) == strlen(FP_SEGMENT_FOLDER) &&
                   strncmp(path, FP_SEGMENT_FOLDER, strlen(FP_SEGMENT_FOLDER)) == 0;
    return true;
}

bool fp_segment_open(int recording_fd, const char *path, enum fp_trusted_use use,
                     struct fp_segment_file *ret_file, struct fp_error *ret_error)
{
    struct fp_segment_file file = {.folder_fd = -1, .fd = -1};
    struct fp_error error = fp_error_make(FP_ERR_FOREIGN, 0, 0, "is no segment of this user's");
    if (understand(path, &file)) {
        /* The system's folder may be reached through a link (/run/shm); ours is the directory at hand. */
        file.folder_fd = file.shared ? open(FP_SEGMENT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                     : fcntl(recording_fd, F_DUPFD_CLOEXEC, 0);
        if (file.folder_fd < 0)
            error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
        else
            file.fd = fp_trusted_open(file.folder_fd, file.name, S_IFREG, use, &error);
    }
    if (file.fd >= 0) {
        *ret_file = file;
        return true;
    }
    fp_segment_close(&file);
    if (ret_error != NULL)
        *ret_error = error;
    return false;
}

void fp_segment_close(struct fp_segment_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd); /* what was written is in memory */
    if (file->folder_fd >= 0)
        (void)close(file->folder_fd); /* only looked into */
    file->fd = file->folder_fd = -1;
}

bool fp_segment_is_held(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return true;
    (void)flock(fd, LOCK_UN); /* it was free, and is again */
    return false;
}

bool fp_segment_remove(const struct fp_segment_file *file)
{
    struct stat opened, named;
    return fp_segment_name_is_ours(file->name) && fstat(file->fd, &opened) == 0 &&
           fstatat(file->folder_fd, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
           unlinkat(file->folder_fd, file->name, 0) == 0;
}
