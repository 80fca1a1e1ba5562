/* proc.h - a process in /proc: its state and times, its memory, its mappings.
 *
 * Names and mappings are of any content: other users choose them. A figure that is not told is 0. */
#ifndef MALLAB_FOOTPRINT_BASE_PROC_H
#define MALLAB_FOOTPRINT_BASE_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* fp_file_begin - the first bytes of a file, at most size - 1, as text. Returns false, with "", where it cannot be opened.
 * fp_proc_read - likewise of /proc/PID/NAME. */
bool fp_file_begin(const char *path, char *ret_text, size_t size);
bool fp_proc_read(pid_t pid, const char *name, char *ret_text, size_t size);

/* fp_proc_number - the number behind a name ("\nVmRSS:") in such a text, and hexadecimal digits where base is 16. No libc but for
 * strings: the recorder asks it too.
 * Returns  false: the name is not there; the number is 0 then. */
static inline bool fp_proc_number(const char *text, const char *name, unsigned base, uint64_t *ret_number)
{
    const char *at = strstr(text, name);
    *ret_number = 0;
    if (at == NULL)
        return false;
    for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
        ;
    for (; (*at >= '0' && *at <= '9') || (base == 16 && *at >= 'a' && *at <= 'f'); at++)
        *ret_number = *ret_number * base + (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return true;
}

/* /proc/PID/stat. Times are in steps of a clock tick, 10 ms, rounded down. */
struct fp_proc_stat {
    char state;           /* as proc(5) has it: 'S' waits for an event, 'T' is stopped by a signal */
    bool ended;           /* nobody has waited for it yet: the figures are its last */
    uint32_t parent;      /* its process id */
    uint64_t start_ticks; /* clock ticks from boot to its start */
    uint64_t user_ns, system_ns, faults_minor, faults_major;
    uint64_t children_ns; /* of both kinds, of children that it waited for */
    int wait_status;      /* of one that has ended, as wait(2) has it; 0 also where we may not know */
};

/* fp_proc_stat - false: there is no such process, or it does not let us look.
 * fp_proc_tick_ns - the length of a clock tick. */
bool fp_proc_stat(pid_t pid, struct fp_proc_stat *ret_stat);
uint64_t fp_proc_tick_ns(void);

/* /proc/PID/status: bytes of memory, of which kernels before 4.5 tell the first two only. */
struct fp_proc_status {
    uint64_t peak, rss, anon, file, shared;
    unsigned affinity; /* processors that it may use */
};

/* fp_proc_status - false: there is no such process, or it has no memory, as a zombie and a thread of the kernel's. */
bool fp_proc_status(pid_t pid, struct fp_proc_status *ret_status);

/* fp_proc_maps - whether a process has a file mapped whose path has one of these in it (the other may be NULL): 1, 0; -1: that cannot
 * be told. */
int fp_proc_maps(pid_t pid, const char *part, const char *other);

/* fp_proc_next - the next process in a listing of /proc, NULL is an empty one; 0: there is none. */
pid_t fp_proc_next(DIR *processes);

#define FP_BOOT_BYTES 64

/* fp_proc_boot - what tells this boot of the machine from others; "": it is not told. Returns ret_boot. */
char *fp_proc_boot(char ret_boot[FP_BOOT_BYTES]);

#endif
