/* collect_reserve.c - disk space held back from the start, so that a disk that others fill still takes the end.
 *
 * Two parts. One is given back to the file system when a trailer may need it: whoever is faster gets it. The other is
 * a file without a name that recording.json is written into and that gets its name then: blocks that nobody else can
 * have. So the losses of every process are told, also of those whose trailers found no room. */
#include "shim/collect.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRAILERS_BYTES  262144u /* most of it for what btrfs sets aside for names while they are made */
#define LIST_BYTES      262144u /* of about 600 processes; more are asked for in time, if the disk has them */
#define LIST_BYTES_EACH 512u    /* what recording.json says of one process: its names make up most of it */

static void hold_for_trailers(struct collector *collector)
{
    static const char NAME[] = "reserve";
    collector->reserve_fd = openat(collector->directory_fd, NAME,
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (collector->reserve_fd < 0)
        return;
    (void)unlinkat(collector->directory_fd, NAME, 0); /* it lives by its descriptor */
    if (posix_fallocate(collector->reserve_fd, 0, TRAILERS_BYTES) != 0)
        reserve_release(collector); /* the disk is full before we begin */
}

void reserve_hold(struct collector *collector)
{
    hold_for_trailers(collector);
    /* Not every file system has files without names: there the last recording.json takes its chance. */
    collector->list_fd = openat(collector->directory_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    collector->list_bytes = 0;
    reserve_for_images(collector);
}

void reserve_for_images(struct collector *collector)
{
    const uint64_t needed = LIST_BYTES / 2 + collector->image_count * (uint64_t)LIST_BYTES_EACH;
    if (collector->list_fd < 0 || needed <= collector->list_bytes)
        return;
    /* Twice at the next time, so that it is seldom asked for; without room, what is held may have to do. */
    const uint64_t wanted = collector->list_bytes == 0 ? LIST_BYTES : 2 * needed;
    if (posix_fallocate(collector->list_fd, 0, (off_t)wanted) == 0)
        collector->list_bytes = wanted;
}

void reserve_release(struct collector *collector)
{
    if (collector->reserve_fd < 0)
        return;
    (void)close(collector->reserve_fd); /* unlinked already: its blocks are free now */
    collector->reserve_fd = -1;
}

int reserve_take_list(struct collector *collector)
{
    const int fd = collector->list_fd;
    collector->list_fd = -1;
    return fd;
}

bool reserve_name_list(const struct collector *collector, int fd, const char *name)
{
    char path[64];
    const off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < 0 || ftruncate(fd, end) != 0)
        return false;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fits */
    /* The first way needs privileges on older kernels, the second /proc. */
    return linkat(fd, "", collector->directory_fd, name, AT_EMPTY_PATH) == 0 ||
           linkat(AT_FDCWD, path, collector->directory_fd, name, AT_SYMLINK_FOLLOW) == 0;
}
