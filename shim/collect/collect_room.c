/* collect_room.c - whether there is so much memory that the whole segment can be had at once, for nobody to miss it.
 *
 * What limits shared memory: the file system that it lies in, the machine, and the control groups that we are in, of which
 * a container sees its own as the topmost (cgroups(7)). */
#include "shim/collect/collect.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define AMPLE_TIMES      8u /* the segment's size is to be free so many times over */
#define AMPLE_TIMES_FILE 4u /* in its file system, of which few others take much */

static bool read_number(const char *path, uint64_t *ret_number)
{
    unsigned long long number;
    FILE *file = fopen(path, "re");
    bool read;
    if (file == NULL)
        return false;
    read = fscanf(file, "%llu", &number) == 1; /* "max" is none */
    (void)fclose(file);                        /* only read */
    if (read)
        *ret_number = number;
    return read;
}

static uint64_t machine_free_bytes(void)
{
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && kilobytes == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "MemAvailable: %llu", &kilobytes); /* another line leaves it 0 */
    if (file != NULL)
        (void)fclose(file); /* only read */
    return (uint64_t)kilobytes * 1024;
}

/* From our group up to the topmost one that is seen. */
static bool groups_have(const char *root, char *group, const char *limit_name, const char *used_name,
                        uint64_t bytes)
{
    for (;;) {
        char path[1024];
        uint64_t limit, used = 0;
        char *slash = strrchr(group, '/');
        (void)snprintf(path, sizeof path, "%s%s/%s", root, group, limit_name); /* cut, it is not there */
        if (read_number(path, &limit)) {
            (void)snprintf(path, sizeof path, "%s%s/%s", root, group, used_name);
            (void)read_number(path, &used); /* none of it, where it cannot be told */
            if (limit < used || limit - used < bytes)
                return false;
        }
        if (slash == NULL)
            return true;
        *slash = '\0';
    }
}

static bool control_groups_have(uint64_t bytes)
{
    char line[512];
    bool have = true;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && have && fgets(line, sizeof line, file) != NULL) {
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;
        line[strcspn(line, "\n")] = '\0';
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (names[1] == '\0')
            have = groups_have("/sys/fs/cgroup", group, "memory.max", "memory.current", bytes);
        else if (strcmp(names + 1, "memory") == 0)
            have = groups_have("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                               "memory.usage_in_bytes", bytes);
    }
    if (file != NULL)
        (void)fclose(file); /* only read */
    return have;
}

bool room_is_ample(int fd, uint64_t bytes)
{
    struct statvfs space;
    return bytes <= UINT64_MAX / AMPLE_TIMES && fstatvfs(fd, &space) == 0 &&
           (uint64_t)space.f_bavail * space.f_frsize >= AMPLE_TIMES_FILE * bytes &&
           machine_free_bytes() >= AMPLE_TIMES * bytes && control_groups_have(AMPLE_TIMES * bytes);
}
