/* late_thread.c - PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH.
 *
 * Laws of this file: late_thread.h has them. */
#include "record/attach/late_thread.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "footprint/base/clock.h"

size_t late_threads_list(const struct late_process *process, pid_t *ret_ids, size_t most)
{
    char path[64];
    size_t count = 0;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && count < most && (entry = readdir(tasks)) != NULL) {
        const pid_t id = (pid_t)atoi(entry->d_name);
        if (id > 0)
            ret_ids[count++] = id;
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

bool late_thread_seize(struct late_thread *thread)
{
    thread->since_ns = fp_now_ns();
    thread->seized = ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) == 0;
    return thread->seized && ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL) == 0;
}

static bool get_registers(struct late_thread *thread)
{
    thread->known = ptrace(PTRACE_GETREGS, thread->id, NULL, &thread->registers) == 0;
    return thread->known;
}

enum late_stop late_thread_look(struct late_thread *thread)
{
    const uint64_t now = fp_now_ns();
    for (;;) {
        int status;
        const pid_t got = waitpid(thread->id, &status, __WALL | WNOHANG);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0) {
            thread->since_ns = now;
            return LATE_STOP_LATE;
        }
        if (got != thread->id || !WIFSTOPPED(status)) {
            thread->seized = false;
            return LATE_STOP_GONE;
        }
        const int event = status >> 16, number = WSTOPSIG(status);
        thread->stopped = true;
        if (event == PTRACE_EVENT_STOP && number == SIGTRAP)
            return get_registers(thread) ? LATE_STOP_DONE : LATE_STOP_GONE;
        if (event == PTRACE_EVENT_STOP)
            return LATE_STOP_BY_SIGNAL; /* of the whole process, by SIGSTOP and its like */
        (void)ptrace(PTRACE_CONT, thread->id, NULL, (void *)(intptr_t)(event == 0 ? number : 0));
        thread->stopped = false;
    }
}

enum late_stop late_thread_wait(struct late_thread *thread)
{
    const uint64_t begin = fp_now_ns();
    for (unsigned looks = 0;; looks++) {
        const enum late_stop stop = late_thread_look(thread);
        if (stop != LATE_STOP_LATE || fp_now_ns() - begin > LATE_STOP_MOST_NS)
            return stop;
        late_rest(looks < 50 ? 10000 : 200000);
    }
}

void late_thread_let_go(struct late_thread *thread)
{
    while (thread->seized && !thread->stopped && late_thread_wait(thread) == LATE_STOP_LATE)
        ;
    if (thread->seized && thread->stopped)
        (void)ptrace(PTRACE_DETACH, thread->id, NULL, NULL);
    thread->seized = thread->stopped = false;
}

#endif
