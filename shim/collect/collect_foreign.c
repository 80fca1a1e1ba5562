/* collect_foreign.c - processes of pid namespaces below ours: which of our process ids is theirs.
 *
 * Such a process knows its own id only, which means another process here, or none. /proc/PID/status lists the ids
 * of a process in every namespace from this one down to its own. */
#include "shim/collect/collect.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_status(uint32_t pid, char *ret_text, size_t size)
{
    char path[32];
    ssize_t got;
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%u/status", pid); /* fits */
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, ret_text, size - 1);
    (void)close(fd); /* only read */
    ret_text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The id in the innermost namespace; 0 when that is ours, or cannot be told. */
static uint32_t innermost_id(const char *status)
{
    const char *at = strstr(status, "\nNSpid:");
    const char *end = at != NULL ? strchr(at + 1, '\n') : NULL;
    const char *tab = NULL;
    int count = 0;
    for (at = at != NULL ? at + 1 : NULL; at != NULL && end != NULL && at < end; at++) {
        if (*at == '\t') {
            tab = at;
            count++;
        }
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

uint32_t foreign_find(const struct collector *collector, const struct seg_slot *slot, uint32_t *ret_parent)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    uint32_t found = 0;
    if (processes == NULL)
        return 0;
    while (found == 0 && (entry = readdir(processes)) != NULL) {
        const uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        char status[4096];
        const char *parent;
        if (pid == 0 || !read_status(pid, status, sizeof status) || innermost_id(status) != slot->inner_pid)
            continue;
        if (slot->pid_namespace != 0 ? !is_in_namespace(pid, slot->pid_namespace)
                                     : !mapped_is(&collector->segment, pid, slot->map_address))
            continue;
        found = pid;
        parent = strstr(status, "\nPPid:");
        if (parent != NULL)
            *ret_parent = (uint32_t)strtoul(parent + strlen("\nPPid:"), NULL, 10);
    }
    (void)closedir(processes); /* only read */
    return found;
}
