/* late_call.c - the thread that makes a call: one that waits, else one that runs.
 *
 * Laws of this file: those of late_process.h. */
#include "record/attach/late_process.h"

#include "footprint/base/support.h"

#if defined(__x86_64__)

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "footprint/base/process.h"

#define ROUND_REST_NS 5000000

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
static bool is_still_so(struct attempt *attempt, const struct late_thread *thread)
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
    struct late_thread thread = {.id = id};
    bool called = false;
    if (!late_thread_seize(&thread)) {
        attempt->refused = errno != ESRCH;
        attempt->error = errno;
        return false;
    }
    const enum late_stop stop = late_thread_wait(&thread);
    attempt->is_stopped = stop == LATE_STOP_BY_SIGNAL;
    if (stop == LATE_STOP_DONE) {
        attempt->place = late_stack_place(attempt->process, &thread.registers);
        attempt->waits = !late_wait_hears_all(attempt->process, id, &thread.registers);
        called = attempt->place == LATE_PLACE_SAFE && !attempt->waits && is_still_so(attempt, &thread) &&
                 late_frame_begin(attempt->process, &thread, attempt->call, attempt->restorer);
        if (!called)
            late_wait_mend(attempt->process, thread.id, &thread.registers);
    }
    late_thread_let_go(&thread);
    const uint64_t ns = stop == LATE_STOP_DONE ? fp_now_ns() - thread.since_ns : 0;
    attempt->cost->looks++;
    if (called || ns > attempt->cost->stopped_ns)
        attempt->cost->stopped_ns = ns;
    return called;
}

static bool try_all(struct attempt *attempt, unsigned round)
{
    static pid_t threads[LATE_THREADS_MOST];
    const size_t count = late_threads_list(attempt->process, threads, LATE_THREADS_MOST);
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
