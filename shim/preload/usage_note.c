/* usage_note.c - a process's usage, told by itself: where it ends, nobody else can look in time.
 *
 * A process that a signal ends, or that calls the kernel past libc, tells nothing: of that the collector has its own looks
 * (collect_usage.c), and they are older.
 *
 * Laws of this file: note.h has them. _exit runs in signal handlers and in children that share their parent's memory. */
#include "shim/preload/note.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim/preload/confine.h"
#include "shim/shared/raw.h"

#define STATUS_BYTES 3072u

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec;
}

static void note_times(struct seg_usage *usage)
{
    struct rusage used;
    usage->at_ns = raw_now_ns();
    if (raw_call(SYS_getrusage, RUSAGE_SELF, (long)&used, 0, 0, 0, 0) != 0)
        return;
    usage->user_us = microseconds(&used.ru_utime);
    usage->system_us = microseconds(&used.ru_stime);
    usage->faults_minor = (uint64_t)used.ru_minflt;
    usage->faults_major = (uint64_t)used.ru_majflt;
}

static __attribute__((noinline)) void note_memory(struct seg_usage *usage)
{
    char status[STATUS_BYTES];
    (void)raw_own_status(status, sizeof status); /* else nothing is found there */
    (void)raw_number(status, "\nVmHWM:", 10, &usage->peak_kib);
    (void)raw_number(status, "\nVmRSS:", 10, &usage->rss_kib);
    (void)raw_number(status, "\nRssAnon:", 10, &usage->anon_kib);
    (void)raw_number(status, "\nRssFile:", 10, &usage->file_kib);
    (void)raw_number(status, "\nRssShmem:", 10, &usage->shared_kib);
}

void usage_begin(struct seg_slot *slot)
{
    struct seg_usage begin = {0};
    put_relaxed(&slot->usage_end, SEG_USAGE_NONE);
    if (confine_may_call()) {
        note_times(&begin);
        confine_called();
    }
    slot->begin = begin;
}

void usage_note(enum seg_usage_end end)
{
    struct seg_usage last = {0};
    if (shim_process == NULL || get_acquire(&shim_process->state) != PROCESS_ON || !confine_may_call())
        return;
    struct seg_slot *slot = shim_process->slot;
    /* Else it is a vfork's child, or the slot is another's by now: a serial is never used twice. */
    if (raw_getpid() == shim_process->pid && slot->serial == shim_process->serial) {
        put_release(&slot->usage_end, SEG_USAGE_NONE);
        if (end != SEG_USAGE_NONE) {
            note_times(&last);
            note_memory(&last);
            slot->end = last;
        }
        /* release: pairs with the acquire in collect_usage.c */
        put_release(&slot->usage_end, end);
    }
    confine_called();
}

/* ---- ends ------------------------------------------------------------------------------------------ */

__attribute__((destructor)) static void note_exit(void)
{
    usage_note(SEG_USAGE_EXIT);
}

static void (*next[2])(int);

/* Runs before main: dlsym is nothing for a signal handler. */
__attribute__((constructor)) static void resolve(void)
{
    *(void **)&next[0] = dlsym(RTLD_NEXT, "_exit");
    *(void **)&next[1] = dlsym(RTLD_NEXT, "_Exit");
}

static __attribute__((noreturn)) void leave(unsigned which, int code)
{
    usage_note(SEG_USAGE_EXIT);
    if (next[which] != NULL)
        next[which](code);
    for (;;) /* a constructor that exits before ours has run */
        (void)raw_call(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

/* Defines exits under other names for the compiler, which knows what these do. */
SHIM_EXPORT __attribute__((noreturn)) void shim_exit_now(int code) __asm__("_exit");
SHIM_EXPORT __attribute__((noreturn)) void shim_exit_standard(int code) __asm__("_Exit");

void shim_exit_now(int code)
{
    leave(0, code);
}

void shim_exit_standard(int code)
{
    leave(1, code);
}
