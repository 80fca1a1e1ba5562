/* proc.c - files of /proc/PID read and understood. */
#include "footprint/base/proc.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND_NS      UINT64_C(1000000000)
#define PROCESSORS_MAX 8192 /* the most that Linux can be built for */
#define STATUS_BYTES   8192 /* of /proc/PID/status: 1.5 KiB, more with many groups */

bool fp_file_begin(const char *path, char *ret_text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && length<size - 1; length += got> 0 ? (size_t)got : 0)
        got = read(fd, ret_text + length, size - 1 - length);
    if (fd >= 0)
        (void)close(fd); /* only read */
    ret_text[length] = '\0';
    return fd >= 0;
}

bool fp_proc_read(pid_t pid, const char *name, char *ret_text, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name); /* fits */
    return fp_file_begin(path, ret_text, size);
}

uint64_t fp_proc_tick_ns(void)
{
    static uint64_t known;
    if (known == 0) {
        const long ticks = sysconf(_SC_CLK_TCK);
        known = SECOND_NS / (ticks > 0 ? (uint64_t)ticks : 100);
    }
    return known;
}

/* Numbers of fields (proc(5)). Two are of children: their time as users, then as the system. */
enum { STATE = 3, PARENT, MINOR = 10, MAJOR = 12, USER = 14, SYSTEM, CHILDREN, START = 22, EXIT_CODE = 52 };

bool fp_proc_stat(pid_t pid, struct fp_proc_stat *ret_stat)
{
    char text[1024];
    uint64_t fields[EXIT_CODE + 1];
    (void)fp_proc_read(pid, "stat", text, sizeof text); /* an empty text has no ')' */
    const char *at = strrchr(text, ')');                /* behind the name, which may hold anything */
    if (at == NULL || at[1] != ' ')
        return false;
    at += 2;
    const char state = *at;
    for (unsigned field = STATE; field <= EXIT_CODE; field++) {
        if (at == NULL)
            return false;
        fields[field] = strtoull(at, NULL, 10);
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    *ret_stat = (struct fp_proc_stat){
        .state = state,
        .ended = state == 'Z' || state == 'X',
        .parent = (uint32_t)fields[PARENT],
        .start_ticks = fields[START],
        .user_ns = fields[USER] * fp_proc_tick_ns(),
        .system_ns = fields[SYSTEM] * fp_proc_tick_ns(),
        .faults_minor = fields[MINOR],
        .faults_major = fields[MAJOR],
        .children_ns = (fields[CHILDREN] + fields[CHILDREN + 1]) * fp_proc_tick_ns(),
        .wait_status = (int)fields[EXIT_CODE],
    };
    return true;
}

static bool bytes_of(const char *status, const char *line, uint64_t *ret_bytes)
{
    const bool told = fp_proc_number(status, line, 10, ret_bytes);
    *ret_bytes *= 1024;
    return told;
}

bool fp_proc_status(pid_t pid, struct fp_proc_status *ret_status)
{
    char text[STATUS_BYTES];
    struct fp_proc_status status;
    if (!fp_proc_read(pid, "status", text, sizeof text) || !bytes_of(text, "\nVmHWM:", &status.peak) ||
        !bytes_of(text, "\nVmRSS:", &status.rss))
        return false;
    (void)bytes_of(text, "\nRssAnon:", &status.anon);
    (void)bytes_of(text, "\nRssFile:", &status.file);
    (void)bytes_of(text, "\nRssShmem:", &status.shared);
    cpu_set_t allowed[PROCESSORS_MAX / CPU_SETSIZE];
    status.affinity = sched_getaffinity(pid, sizeof allowed, allowed) == 0
                          ? (unsigned)CPU_COUNT_S(sizeof allowed, allowed)
                          : 0;
    *ret_status = status;
    return true;
}

int fp_proc_maps(pid_t pid, const char *part, const char *other)
{
    char path[64], *line = NULL;
    size_t room = 0;
    int found = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid); /* fits */
    FILE *maps = fopen(path, "re");
    while (maps != NULL && found < 1 && getline(&line, &room, maps) > 0)
        found = strstr(line, part) != NULL || (other != NULL && strstr(line, other) != NULL);
    if (maps != NULL)
        (void)fclose(maps); /* only read */
    free(line);
    return found;
}

pid_t fp_proc_next(DIR *processes)
{
    const struct dirent *entry;
    pid_t pid = 0;
    while (pid <= 0 && processes != NULL && (entry = readdir(processes)) != NULL)
        pid = (pid_t)strtol(entry->d_name, NULL, 10);
    return pid > 0 ? pid : 0;
}

char *fp_proc_boot(char ret_boot[FP_BOOT_BYTES])
{
    (void)fp_file_begin("/proc/sys/kernel/random/boot_id", ret_boot, FP_BOOT_BYTES); /* stays empty */
    ret_boot[strcspn(ret_boot, "\n")] = '\0';
    return ret_boot;
}
