/* collect_proc.c - files of /proc/PID read and understood. */
#include "shim/collect/collect_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

bool proc_read(const char *path, char *ret_text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, ret_text, size - 1) : -1;
    if (fd >= 0)
        (void)close(fd); /* only read */
    ret_text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool read_of(uint32_t pid, const char *name, char *ret_text, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%u/%s", pid, name); /* fits */
    return proc_read(path, ret_text, size);
}

/* ---- one process -------------------------------------------------------------------------------------- */

bool process_exists(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

/* Returns /proc/PID/stat from the state on, behind the name, which may hold anything. NULL where it
 * cannot be read. */
static const char *read_stat(uint32_t pid, char *text, size_t size)
{
    (void)read_of(pid, "stat", text, size); /* an empty text has no ')' */
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' ? end + 2 : NULL;
}

uint64_t process_start_ticks(uint32_t pid)
{
    char text[1024];
    const char *at = read_stat(pid, text, sizeof text);
    for (unsigned field = 3; at != NULL && field < 22; field++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

bool process_is_zombie(uint32_t pid)
{
    char text[256];
    const char *state = read_stat(pid, text, sizeof text);
    return state != NULL && (state[0] == 'Z' || state[0] == 'X');
}

bool process_has_fixed_addresses(uint32_t pid)
{
    static char randomized[16]; /* read once: later there may be no descriptor for it */
    char text[16];
    if (randomized[0] == '\0')
        (void)proc_read("/proc/sys/kernel/randomize_va_space", randomized, sizeof randomized);
    if (randomized[0] == '0')
        return true;
    return read_of(pid, "personality", text, sizeof text) &&
           (strtoull(text, NULL, 16) & ADDR_NO_RANDOMIZE) != 0;
}

/* ---- other pid namespaces ------------------------------------------------------------------------------
 *
 * A process of a pid namespace below ours knows its own id only, which means another process here, or none. /proc/PID/status
 * lists the ids of a process in every namespace from this one down to its own. */

/* The id in the innermost namespace; 0 when that is ours, or cannot be told. */
static uint32_t innermost_id(const char *status)
{
    const char *at = strstr(status, "\nNSpid:");
    const char *end = at != NULL ? strchr(at + 1, '\n') : NULL;
    const char *tab = NULL;
    int count = 0;
    for (at = at != NULL ? at + 1 : NULL; end != NULL && at < end; at++)
        if (*at == '\t') {
            tab = at;
            count++;
        }
    return count > 1 ? (uint32_t)strtoul(tab, NULL, 10) : 0;
}

static bool is_in_namespace(uint32_t pid, uint64_t namespace)
{
    char path[40];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%u/ns/pid", pid); /* fits */
    return stat(path, &status) == 0 && status.st_ino == namespace;
}

/* The next process in a listing of /proc; 0: there is none. */
static uint32_t next_process(DIR *processes)
{
    const struct dirent *entry;
    uint32_t pid = 0;
    while (pid == 0 && (entry = readdir(processes)) != NULL)
        pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
    return pid;
}

uint32_t process_find_foreign(const struct collect_segment *segment, const struct seg_slot *slot,
                              uint32_t *ret_parent)
{
    DIR *processes = opendir("/proc");
    uint32_t pid = 0;
    char status[4096];
    if (processes == NULL)
        return 0;
    while ((pid = next_process(processes)) != 0)
        if (read_of(pid, "status", status, sizeof status) && innermost_id(status) == slot->inner_pid &&
            (slot->pid_namespace != 0 ? is_in_namespace(pid, slot->pid_namespace)
                                      : mapped_look(segment, pid, slot->map_address) == MAPPED_YES))
            break;
    (void)closedir(processes); /* only read */
    const char *parent = pid != 0 ? strstr(status, "\nPPid:") : NULL;
    if (parent != NULL)
        *ret_parent = (uint32_t)strtoul(parent + strlen("\nPPid:"), NULL, 10);
    return pid;
}

/* ---- mappings ------------------------------------------------------------------------------------------ */

static enum mapped look(const struct collect_segment *segment, uint32_t pid, uint64_t from, uint64_t to)
{
    const char *name = strrchr(segment->path, '/'); /* its folder has another path in another root */
    char path[96], target[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)from,
                   (unsigned long long)to); /* fits */
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return errno == ENOENT ? MAPPED_NO : MAPPED_UNKNOWN;
    target[length] = '\0';
    const char *last = strrchr(target, '/');
    return name != NULL && last != NULL && strncmp(last, name, strlen(name)) == 0 ? MAPPED_YES : MAPPED_NO;
}

/* A process has what it may write apart from what it is told. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address)
{
    if (!segment->can_look)
        return MAPPED_UNKNOWN;
    return look(segment, pid, address + segment->view.shared_offset, address + segment->view.bytes);
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
    (void)snprintf(path, sizeof path, "/proc/%u/maps", pid); /* fits */
    FILE *maps = fopen(path, "re");
    bool found = maps == NULL || name == NULL; /* it cannot be told */
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
        const uint64_t address = collector->images[i]->map_address;
        if (address != looked && mapped_look(&collector->segment, pid, address) == MAPPED_YES)
            return true;
        looked = address;
    }
    return false;
}

/* A lease for writing is given only on a file that nobody else has open, and what is mapped is open (fcntl(2)). It is given
 * back at once: whoever opens the file meanwhile waits that long. */
static bool nobody_maps(int fd)
{
    return fcntl(fd, F_SETLEASE, F_WRLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
}

bool mapped_unattached_remain(const struct collector *collector)
{
    DIR *processes = nobody_maps(collector->segment.file.fd) ? NULL : opendir("/proc");
    uint32_t pid = 0;
    bool found = false;
    if (processes == NULL)
        return false;
    while (!found && (pid = next_process(processes)) != 0)
        found = pid != (uint32_t)getpid() && maps_some_image(collector, pid);
    (void)closedir(processes); /* only read */
    return found;
}
