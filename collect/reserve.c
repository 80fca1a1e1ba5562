/* reserve.c - disk space held back, and given back. */
#include "collect/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* If there is little free space, little is held: most of it is for what is recorded. */
#define SHARE_HELD 16u

#define TRAILERS_BYTES   262144u /* most of it for what btrfs sets aside for names while they are made */
#define LIST_BYTES       262144u /* of about 250 processes; more are asked for in time, if the disk has them */
#define TRAILERS_LEAST   16384u
#define LIST_LEAST       16384u
#define RENEW_WHEN_ABOVE (4u << 20)
#define LIST_BYTES_EACH  1024u /* what recording.json says of one process */

/* Blocks are written whole or not at all, and one of all its chunks takes up to 360 KB. */
#define SMALL_BLOCKS_BELOW (1u << 20)

uint64_t reserve_free_bytes(const struct collector *collector)
{
    struct statvfs space;
    return fstatvfs(collector->place.fd, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize
                                                      : UINT64_MAX;
}

uint32_t reserve_block_chunks(const struct collector *collector)
{
    return reserve_free_bytes(collector) < SMALL_BLOCKS_BELOW ? 1 : collect_block_chunks(collector);
}

/* A share of what is free, down to `least` and as much as there is, by halves. Returns how much that was; 0: not even so
 * little. */
static uint64_t hold_some(const struct collector *collector, int fd, uint64_t wanted, uint64_t least)
{
    const uint64_t share = reserve_free_bytes(collector) / SHARE_HELD;
    while (wanted > share && wanted > least)
        wanted /= 2;
    for (; wanted >= least; wanted /= 2)
        if (posix_fallocate(fd, 0, (off_t)wanted) == 0)
            return wanted;
    return 0;
}

static void hold_for_trailers(struct collector *collector)
{
    static const char NAME[] = "reserve";
    collector->reserve.fd = openat(collector->place.fd, NAME,
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (collector->reserve.fd < 0)
        return;
    (void)unlinkat(collector->place.fd, NAME, 0); /* it lives by its descriptor */
    if (hold_some(collector, collector->reserve.fd, TRAILERS_BYTES, TRAILERS_LEAST) == 0)
        reserve_release(collector); /* nothing to spare */
}

/* The list comes first, because it tells the losses: it makes good a trailer without room. */
bool reserve_hold(struct collector *collector)
{
    /* Not every file system has files without names: there the last recording.json takes its chance. */
    collector->reserve.list_fd = openat(collector->place.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    collector->reserve.list_bytes = collector->reserve.list_fd >= 0
                                        ? hold_some(collector, collector->reserve.list_fd, LIST_BYTES,
                                                    LIST_LEAST)
                                        : 0;
    if (collector->reserve.list_fd >= 0 && collector->reserve.list_bytes == 0) {
        errno = ENOSPC;
        return false;
    }
    hold_for_trailers(collector);
    return true;
}

void reserve_for_images(struct collector *collector)
{
    const uint64_t needed = collector->reserve.list_bytes / 2 +
                            collector->image_count * (uint64_t)LIST_BYTES_EACH;
    if (collector->reserve.list_fd < 0 || needed <= collector->reserve.list_bytes)
        return;
    /* Ask for twice as much, so that it is seldom asked for. Without room, what is held may have to
     * do. */
    const uint64_t wanted = 2 * needed;
    if (posix_fallocate(collector->reserve.list_fd, 0, (off_t)wanted) == 0)
        collector->reserve.list_bytes = wanted;
}

void reserve_renew(struct collector *collector)
{
    reserve_for_images(collector);
    if (collector->reserve.fd < 0 && reserve_free_bytes(collector) >= RENEW_WHEN_ABOVE)
        hold_for_trailers(collector);
}

void reserve_release(struct collector *collector)
{
    if (collector->reserve.fd < 0)
        return;
    (void)close(collector->reserve.fd); /* unlinked already: its blocks are free now */
    collector->reserve.fd = -1;
}

int reserve_take_list(struct collector *collector)
{
    const int fd = collector->reserve.list_fd;
    collector->reserve.list_fd = -1;
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
    return linkat(fd, "", collector->place.fd, name, AT_EMPTY_PATH) == 0 ||
           linkat(AT_FDCWD, path, collector->place.fd, name, AT_SYMLINK_FOLLOW) == 0;
}
