/* late_call.c - the thread that makes a call: one that waits, else one that runs.
 *
 * Laws of this file: those of late_process.h. */
#include "record/attach/late_process.h"

#include "footprint/base/support.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "footprint/base/proc.h"
#include "footprint/base/process.h"

#define ROUND_REST_NS 5000000
#define STOP_MOST_NS  UINT64_C(1000000000)
#define THREADS_MOST  8192u

/* Threads stand still as long as we wait for a processor: so we go before others, where we may (root). Returns how it was. */
static int go_before(int priority)
{
    const int before = getpriority(PRIO_PROCESS, 0);
    (void)setpriority(PRIO_PROCESS, 0, priority);
    return before;
}

/* The address of libc's return from signals; 0: it was not found. */
static uint64_t restorer_of(const struct late_process *process)
{
    static const unsigned char CODE[] = {0x48, 0xc7, 0xc0, 15,  0,
                                         0,    0,    0x0f, 0x05}; /* mov $15, %rax; syscall */
    const struct late_module *libc = late_module_of_kind(process, LATE_LIBC);
    return libc != NULL ? late_module_bytes(process, libc, true, CODE, sizeof CODE) : 0;
}

/* ---- one thread: stopped, looked at, let go (ptrace(2)) ----------------------------------------- */

struct thread {
    pid_t id;
    bool seized, stopped;
    uint64_t since_ns; /* it stands still since then at the earliest: before, it may have been queued */
    struct user_regs_struct registers;
};

enum stop {
    STOP_DONE,
    STOP_GONE,      /* it has ended, or another tracer has it */
    STOP_BY_SIGNAL, /* of the whole process, by SIGSTOP and its like */
    STOP_LATE,      /* not within a second: some system calls cannot be interrupted */
};

static size_t list_threads(const struct late_process *process, pid_t *ret_ids)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
    DIR *tasks = opendir(path);
    for (pid_t id; count < THREADS_MOST && (id = fp_proc_next(tasks)) != 0; count++)
        ret_ids[count] = id;
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Takes a thread, and asks it to stop. Returns false where errno says why not. */
static bool seize(struct thread *thread)
{
    thread->since_ns = fp_now_ns();
    thread->seized = ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) == 0;
    return thread->seized && ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL) == 0;
}

static enum stop look(struct thread *thread)
{
    const uint64_t now = fp_now_ns();
    for (;;) {
        int status;
        const pid_t got = waitpid(thread->id, &status, __WALL | WNOHANG);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0) {
            thread->since_ns = now;
            return STOP_LATE;
        }
        if (got != thread->id || !WIFSTOPPED(status)) {
            thread->seized = false;
            return STOP_GONE;
        }
        const int event = status >> 16, number = WSTOPSIG(status);
        thread->stopped = true;
        if (event == PTRACE_EVENT_STOP && number == SIGTRAP)
            return ptrace(PTRACE_GETREGS, thread->id, NULL, &thread->registers) == 0 ? STOP_DONE : STOP_GONE;
        if (event == PTRACE_EVENT_STOP)
            return STOP_BY_SIGNAL;
        (void)ptrace(PTRACE_CONT, thread->id, NULL, (void *)(intptr_t)(event == 0 ? number : 0));
        thread->stopped = false;
    }
}

/* Waits until it stands still because of us; a signal that comes first is given to it. Its registers are known then. */
static enum stop wait_for_stop(struct thread *thread)
{
    const uint64_t begin = fp_now_ns();
    for (unsigned looks = 0;; looks++) {
        const enum stop stop = look(thread);
        if (stop != STOP_LATE || fp_now_ns() - begin > STOP_MOST_NS)
            return stop;
        late_rest(looks < 50 ? 10000 : 200000);
    }
}

/* It goes on, untraced. One that has not stopped yet would stay stopped: that is waited for, however long it takes. */
static void let_go(struct thread *thread)
{
    while (thread->seized && !thread->stopped && wait_for_stop(thread) == STOP_LATE)
        ;
    if (thread->seized && thread->stopped)
        (void)ptrace(PTRACE_DETACH, thread->id, NULL, NULL);
}

/* ---- which of them ------------------------------------------------------------------------------ */

/* A thread's prospects, from /proc, before a thread is stopped for a look. */
enum prospect { GOOD, FAIR, BAD };

static enum prospect prospect_of(const struct late_process *process, pid_t thread)
{
    struct user_regs_struct registers;
    unsigned frames;
    if (!late_wait_look(process, thread, &registers))
        return FAIR; /* it runs */
    return late_wait_may_call(process, &registers, &frames) ? GOOD : BAD;
}

struct attempt {
    struct late_process *process;
    const struct late_call *call;
    uint64_t restorer;
    struct late_cost *cost;
    enum late_spot place; /* of the last thread */
    bool waits;           /* the last thread, for a signal that it could miss */
    bool refused;         /* by the kernel, with this errno */
    bool is_stopped;      /* all of it, by a signal */
    int error;
};

/* It may have executed another program, or mapped other things, since we looked; from here on it does neither, or the
 * thread is gone. */
static bool is_still_so(struct attempt *attempt, const struct thread *thread)
{
    struct late_process *process = attempt->process;
    if (late_process_ended(process) || !late_process_refresh(process))
        return false;
    const struct late_mapping *function = late_mapping_of(process, attempt->call->function);
    const struct late_mapping *restorer = late_mapping_of(process, attempt->restorer);
    const enum late_kind kind = function != NULL && function->executable && function->module >= 0
                                    ? process->modules[function->module].kind
                                    : LATE_NEVER;
    return (kind == LATE_LIBC || kind == LATE_RECORDER) && restorer != NULL && restorer->executable &&
           late_stack_place(process, &thread->registers) == LATE_PLACE_SAFE;
}

/* Returns whether the thread makes the call. */
static bool try_thread(struct attempt *attempt, pid_t id)
{
    struct thread thread = {.id = id};
    bool called = false;
    if (!seize(&thread)) {
        attempt->refused = errno != ESRCH;
        attempt->error = errno;
        return false;
    }
    const enum stop stop = wait_for_stop(&thread);
    attempt->is_stopped = stop == STOP_BY_SIGNAL;
    if (stop == STOP_DONE) {
        attempt->place = late_stack_place(attempt->process, &thread.registers);
        attempt->waits = !late_wait_hears_all(attempt->process, id, &thread.registers);
        called = attempt->place == LATE_PLACE_SAFE && !attempt->waits && is_still_so(attempt, &thread) &&
                 late_frame_begin(attempt->process, id, &thread.registers, attempt->call, attempt->restorer);
        if (!called)
            late_wait_mend(attempt->process, thread.id, &thread.registers);
    }
    let_go(&thread);
    const uint64_t ns = stop == STOP_DONE ? fp_now_ns() - thread.since_ns : 0;
    attempt->cost->looks++;
    if (called || ns > attempt->cost->stopped_ns)
        attempt->cost->stopped_ns = ns;
    return called;
}

static bool try_all(struct attempt *attempt, unsigned round)
{
    static pid_t threads[THREADS_MOST];
    const size_t count = list_threads(attempt->process, threads);
    for (enum prospect wanted = GOOD; wanted <= FAIR; wanted++) {
        unsigned looks = 0;
        for (size_t i = 0; i < count && looks < 16; i++) {
            const pid_t id = threads[(i + round) % count];
            if (prospect_of(attempt->process, id) != wanted)
                continue;
            looks++;
            if (try_thread(attempt, id))
                return true;
            if (attempt->refused || attempt->is_stopped)
                return false;
        }
    }
    return false;
}

static char *why_not(const struct attempt *attempt, uint64_t within_ns)
{
    char time[32];
    const int pid = (int)attempt->process->pid;
    if (late_process_ended(attempt->process))
        return res_printf("process %d has ended", pid);
    if (attempt->refused)
        return res_printf(
            "process %d may not be traced: %s%s", pid, strerror(attempt->error),
            attempt->error == EPERM
                ? " (kernel.yama.ptrace_scope, a container without SYS_PTRACE, or another tracer)"
                : "");
    if (attempt->is_stopped)
        return res_printf("process %d is stopped (SIGSTOP): let it go on first", pid);
    res_text_duration((double)within_ns, time);
    if (attempt->cost->looks == 0)
        return res_printf(
            "nothing could be called in process %d for %s: its threads all waited for locks, or in system "
            "calls that are not begun anew",
            pid, time);
    if (attempt->waits)
        return res_printf(
            "nothing could be called in process %d for %s: it waits for a signal (pause, sigsuspend), and "
            "could miss it meanwhile: attach to a worker of it, or while it works",
            pid, time);
    return res_printf("nothing could be called in process %d for %s: the threads that were looked at %s", pid,
                      time, late_place_words(attempt->place));
}

bool late_call_safely(struct late_process *process, const struct late_call *call, uint64_t within_ns,
                      struct late_cost *ret_cost, char **ret_problem)
{
    const uint64_t begin = fp_now_ns();
    struct attempt attempt = {
        .process = process, .call = call, .cost = ret_cost, .restorer = restorer_of(process)};
    *ret_cost = (struct late_cost){0};
    *ret_problem = NULL;
    late_frames_prepare(process);
    if (attempt.restorer == 0) {
        *ret_problem = res_strdup("the C library's return from signals was not found");
        return false;
    }
    bool called = false;
    const int before = go_before(-20);
    for (unsigned round = 0;; round++) {
        if (late_process_ended(process) || !late_process_refresh(process))
            break;
        attempt.is_stopped = late_is_stopped(process->pid);
        called = !attempt.is_stopped && try_all(&attempt, round);
        if (called)
            break;
        if (attempt.refused || attempt.is_stopped || fp_now_ns() - begin > within_ns)
            break;
        late_rest(ROUND_REST_NS);
    }
    (void)go_before(before);
    if (!called)
        *ret_problem = why_not(&attempt, within_ns);
    return called;
}

#endif
