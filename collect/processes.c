/* processes.c - files of /proc/PID, and pidfds, read and understood. */
#include "collect/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- one process -------------------------------------------------------------------------------------- */

bool process_exists(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

bool process_is_zombie(uint32_t pid)
{
    struct fp_proc_stat stat;
    return fp_proc_stat((pid_t)pid, &stat) && stat.ended;
}

bool process_has_fixed_addresses(uint32_t pid)
{
    static char randomized[16]; /* read once: later there may be no descriptor for it */
    char text[16];
    if (randomized[0] == '\0')
        (void)fp_file_begin("/proc/sys/kernel/randomize_va_space", randomized, sizeof randomized);
    if (randomized[0] == '0')
        return true;
    return fp_proc_read((pid_t)pid, "personality", text, sizeof text) &&
           (strtoull(text, NULL, 16) & ADDR_NO_RANDOMIZE) != 0;
}

/* ---- other pid namespaces ------------------------------------------------------------------------------
 *
 * A process of a pid namespace below ours knows its own id only, which means another process here, or none. /proc/PID/status
 * lists the ids of a process in every namespace from this one down to its own. */

/* The id in the innermost namespace; 0 when that is ours, or cannot be told. */
static uint32_t innermost_id(const char *status)
{
    const char *at = strstr(status, "\nNSpid:\t");
    const char *end = at != NULL ? strchr(at + 1, '\n') : NULL;
    const char *first = end != NULL ? strchr(at, '\t') : NULL;
    const char *last = first != NULL ? memrchr(first, '\t', (size_t)(end - first)) : NULL;
    return last != first ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

static bool is_in_namespace(uint32_t pid, uint64_t namespace)
{
    char path[40];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%u/ns/pid", pid); /* fits */
    return stat(path, &status) == 0 && status.st_ino == namespace;
}

uint32_t process_find_foreign(const struct collect_segment *segment, const struct seg_slot *slot,
                              uint32_t *ret_parent)
{
    DIR *processes = opendir("/proc");
    uint32_t pid = 0;
    char status[4096];
    while ((pid = (uint32_t)fp_proc_next(processes)) != 0)
        if (fp_proc_read((pid_t)pid, "status", status, sizeof status) &&
            innermost_id(status) == slot->inner_pid &&
            (slot->pid_namespace != 0 ? is_in_namespace(pid, slot->pid_namespace)
                                      : mapped_look(segment, pid, slot->map_address) == MAPPED_YES))
            break;
    if (processes != NULL)
        (void)closedir(processes); /* only read */
    uint64_t parent;
    if (pid != 0 && fp_proc_number(status, "\nPPid:", 10, &parent))
        *ret_parent = (uint32_t)parent;
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
    const bool is_it = name != NULL && last != NULL && strncmp(last, name, strlen(name)) == 0 &&
                       (last[strlen(name)] == '\0' || last[strlen(name)] == ' '); /* " (deleted)" */
    return is_it ? MAPPED_YES : MAPPED_NO;
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

/* A forked child has the segment where its parent has it, and attaches at its first call. */
static bool maps_some_image(const struct collector *collector, uint32_t pid)
{
    uint64_t looked = 0;
    for (size_t i = 0; i < collector->image_count; i++) {
        const uint64_t address = collector->images[i]->map_address;
        if (address != looked && mapped_look(collector->images[i]->segment, pid, address) == MAPPED_YES)
            return true;
        looked = address;
    }
    return false;
}

/* A lease for writing is given only on a file that nobody else has open, and what is mapped is open (fcntl(2)). It is given
 * back at once: whoever opens the file meanwhile waits that long. */
static bool nobody_maps(const struct collector *collector)
{
    bool nobody = true;
    for (uint32_t i = 0; nobody && i < collector->segment_count; i++) {
        const int fd = collector->segments[i].file.fd;
        nobody = fcntl(fd, F_SETLEASE, F_WRLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
    }
    return nobody;
}

bool mapped_unattached_remain(const struct collector *collector)
{
    DIR *processes = nobody_maps(collector) ? NULL : opendir("/proc");
    uint32_t pid = 0;
    bool found = false;
    if (processes == NULL)
        return false;
    while (!found && (pid = (uint32_t)fp_proc_next(processes)) != 0)
        found = pid != (uint32_t)getpid() && maps_some_image(collector, pid);
    (void)closedir(processes); /* only read */
    return found;
}

/* ---- times ------------------------------------------------------------------------------------------- */

/* Both clocks go on while the machine sleeps. */
uint64_t look_age_ns(uint64_t start_ticks)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* cannot fail: Linux has it */
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                   tick_ns = fp_proc_tick_ns();
    const uint64_t began_ns = start_ticks < UINT64_MAX / tick_ns ? start_ticks * tick_ns : UINT64_MAX;
    return now_ns > began_ns ? now_ns - began_ns : 0;
}

/* ---- the machine ------------------------------------------------------------------------------------- */

/* The least quota of a group and those that it is in: "QUOTA PERIOD" or "max PERIOD", in one file or a file each. Changes the path. */
static uint64_t quota_along(const char *root, char *group, bool second)
{
    static const char *const FIRST[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    char path[4400], text[64];
    uint64_t least = FP_USAGE_UNKNOWN;
    for (char *rest, *slash = group + strlen(group); slash != NULL; slash = strrchr(group, '/')) {
        *slash = text[0] = '\0';
        for (unsigned i = 0; i < (second ? 1u : 2u); i++) {
            (void)snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, second ? "" : "/cpu", group,
                           second ? "cpu.max" : FIRST[i]); /* a longer one is not found */
            (void)fp_file_begin(path, text + strlen(text), sizeof text / 2);
        }
        const uint64_t quota_us = strtoull(text, &rest, 10), period_us = strtoull(rest, NULL, 10);
        if (quota_us > 0 && quota_us < UINT64_MAX / 1000 && period_us > 0 &&
            quota_us * 1000 / period_us < least)
            least = quota_us * 1000 / period_us;
    }
    return least;
}

uint64_t proc_quota_milli(const char *root, char *groups)
{
    uint64_t least = FP_USAGE_UNKNOWN;
    for (char *next, *line = strtok_r(groups, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next)) {
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *names = *group = ',';
        const char *cpu = strstr(names, ",cpu,");
        const bool second = group == names + 1;
        const uint64_t quota = second || (cpu != NULL && cpu < group) ? quota_along(root, group + 1, second)
                                                                      : FP_USAGE_UNKNOWN;
        least = quota < least ? quota : least;
    }
    return least;
}

void look_at_machine(uint32_t pid, struct fp_machine *ret_machine)
{
    static struct fp_machine
        known;                /* libc reads files for it, and later there may be no descriptor for them */
    static char groups[4096]; /* of the process that was looked at last */
    char text[sizeof groups];
    struct utsname host;
    if (known.processors == 0) {
        known.processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
        known.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
        known.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * known.page_bytes;
        known.huge_pages = known.overcommit = FP_USAGE_UNKNOWN;
        (void)fp_file_begin("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
        for (uint64_t i = 0; fp_huge_pages_name(i) != NULL; i++) { /* "always [madvise] never" */
            const char *bracket = strchr(text, '['), *name = fp_huge_pages_name(i);
            if (bracket != NULL && strncmp(bracket + 1, name, strlen(name)) == 0)
                known.huge_pages = i;
        }
        if (fp_file_begin("/proc/sys/vm/overcommit_memory", text, sizeof text))
            known.overcommit = strtoull(text, NULL, 10);
        if (uname(&host) == 0)
            (void)snprintf(known.kernel, sizeof known.kernel, "%s", host.release); /* a longer one is cut */
    }
    (void)fp_proc_read((pid_t)pid, "cgroup", text, sizeof text);
    if (groups[0] == '\0' || strcmp(groups, text) != 0) {
        memcpy(groups, text, strlen(text) + 1);
        known.quota_milli = proc_quota_milli("", text);
    }
    *ret_machine = known;
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* PIDFD_GET_INFO of Linux 6.13, with the member that tells the end from 6.15 on: older headers have neither. */
struct pidfd_facts {
    uint64_t mask, control_group;
    uint32_t ids[11];
    int32_t wait_status;
};

_Static_assert(sizeof(struct pidfd_facts) == 64, "the first version of the kernel's struct");

#define PIDFD_FACTS     _IOWR(0xff, 11, struct pidfd_facts)
#define PIDFD_FACTS_END (UINT64_C(1) << 3)

bool look_at_end(int pidfd, int *ret_wait_status)
{
    struct pidfd_facts facts = {.mask = PIDFD_FACTS_END};
    if (pidfd < 0 || ioctl(pidfd, PIDFD_FACTS, &facts) != 0 || (facts.mask & PIDFD_FACTS_END) == 0)
        return false;
    *ret_wait_status = facts.wait_status;
    return true;
}
