/* collect_mapped.c - which processes have the segment mapped, and where, as /proc/PID/map_files tells. */
#include "shim/collect/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum mapped look(const struct collect_segment *segment, uint32_t pid, uint64_t from, uint64_t to)
{
    char path[96], target[256];
    ssize_t length;
    (void)snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)from,
                   (unsigned long long)to); /* fits */
    length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return errno == ENOENT ? MAPPED_NO : MAPPED_UNKNOWN;
    target[length] = '\0';
    return strncmp(target, segment->path, strlen(segment->path)) == 0 ? MAPPED_YES : MAPPED_NO;
}

/* A process has what it may write apart from what it is told. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address)
{
    if (!segment->can_look)
        return MAPPED_UNKNOWN;
    return look(segment, pid, address + segment->view.shared_offset, address + segment->view.bytes);
}

bool mapped_is(const struct collect_segment *segment, uint32_t pid, uint64_t address)
{
    return mapped_look(segment, pid, address) == MAPPED_YES;
}

void mapped_test(struct collect_segment *segment)
{
    const uint64_t address = (uint64_t)(uintptr_t)segment->view.header; /* of one piece in us */
    segment->can_look = look(segment, (uint32_t)getpid(), address, address + segment->view.bytes) ==
                        MAPPED_YES;
}

bool mapped_anywhere(const struct collect_segment *segment, uint32_t pid)
{
    const char *name = strrchr(segment->path, '/'); /* its folder may have another path there */
    char path[32], line[512];
    bool found = false;
    FILE *maps;
    (void)snprintf(path, sizeof path, "/proc/%u/maps", pid); /* fits */
    maps = fopen(path, "re");
    if (maps == NULL || name == NULL)
        found = true; /* it cannot be told */
    while (!found && fgets(line, sizeof line, maps) != NULL)
        found = strstr(line, name) != NULL;
    if (maps != NULL)
        (void)fclose(maps); /* only read */
    return found;
}

/* A forked child has the segment where its parent has it, and attaches at its first call. */
static bool maps_some_image(const struct collector *collector, uint32_t pid)
{
    uint64_t looked = 0;
    for (size_t i = 0; i < collector->image_count; i++) {
        const struct collect_image *image = collector->images[i];
        if (image->map_address == looked)
            continue;
        looked = image->map_address;
        if (mapped_look(&collector->segment, pid, looked) == MAPPED_YES)
            return true;
    }
    return false;
}

/* A lease for writing is given only on a file that nobody else has open, and what is mapped is open (fcntl(2)). It is given
 * back at once: whoever opens the file meanwhile waits that long. */
static bool nobody_maps(int fd)
{
    return fcntl(fd, F_SETLEASE, F_WRLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
}

bool mapped_unattached_remain(struct collector *collector)
{
    DIR *processes = nobody_maps(collector->segment.file.fd) ? NULL : opendir("/proc");
    const struct dirent *entry;
    bool found = false;
    if (processes == NULL)
        return false;
    while (!found && (entry = readdir(processes)) != NULL) {
        const unsigned long pid = strtoul(entry->d_name, NULL, 10);
        if (pid != 0 && pid != (unsigned long)getpid())
            found = maps_some_image(collector, (uint32_t)pid);
    }
    (void)closedir(processes); /* only read */
    return found;
}
