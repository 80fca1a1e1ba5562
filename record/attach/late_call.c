/* late_call.c - the thread that makes a call: one that waits, else one that runs; or any, while all others stand still.
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
#define LOOKS_MOST    20u
#define LOOK_REST_NS  20000
#define CALL_REST_NS  200000 /* often enough; each look takes a processor that the call may be on */
#define CALL_MOST_NS  UINT64_C(1000000000) /* for the call to come to its end */

/* Threads stand still as long as we wait for a processor: so we go before others, where we may (root). Returns how it was. */
static int go_before(int priority)
{
    const int before = getpriority(PRIO_PROCESS, 0);
    (void)setpriority(PRIO_PROCESS, 0, priority);
    return before;
}

uint64_t late_call_restorer(const struct late_process *process)
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
        .process = process, .call = call, .cost = ret_cost, .restorer = late_call_restorer(process)};
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

/* ---- all at once: first looks without a stop, then the stop ------------------------------------- */

struct all {
    struct late_thread *threads;
    size_t count;
};

static struct late_thread *find(struct all *all, pid_t id)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->threads[i].id == id)
            return &all->threads[i];
    return NULL;
}

/* Tells whether a thread waits where a stop would be seen, and outside of our library: it is looked at without one. As long as it waits its
 * stack stays; when it goes on it does not enter us, since no slot leads to us any more. */
static bool is_partway(struct late_process *process, pid_t id, uint64_t restorer)
{
    struct user_regs_struct before, after;
    return late_wait_look(process, id, &before) && late_wait_is_partway(&before) &&
           late_stack_is_clean(process, &before, restorer) && late_wait_look(process, id, &after) &&
           memcmp(&before, &after, sizeof before) == 0;
}

/* Waits for each in turn, so that of each it is known since when it stands still. */
static bool wait_for_all(struct all *all, size_t first)
{
    const uint64_t begin = fp_now_ns();
    for (bool some_run = true; some_run;) {
        some_run = false;
        for (size_t i = first; i < all->count; i++) {
            struct late_thread *thread = &all->threads[i];
            const enum late_stop stop = thread->seized && !thread->stopped ? late_thread_look(thread)
                                                                           : LATE_STOP_DONE;
            if (stop == LATE_STOP_BY_SIGNAL || (stop == LATE_STOP_GONE && thread->seized))
                return false;
            some_run = some_run || stop == LATE_STOP_LATE;
        }
        if (some_run && fp_now_ns() - begin > LATE_STOP_MOST_NS)
            return false;
        if (some_run)
            late_rest(LOOK_REST_NS);
    }
    return true;
}

/* Stops threads until none is there that was not stopped: one that runs may make others. */
static bool stop_all(struct late_process *process, struct all *all, uint64_t restorer)
{
    static pid_t ids[LATE_THREADS_MOST];
    for (bool more = true; more;) {
        const size_t count = late_threads_list(process, ids, LATE_THREADS_MOST), before = all->count;
        more = false;
        if (count == LATE_THREADS_MOST)
            return false;
        for (size_t i = 0; i < count && all->count < LATE_THREADS_MOST; i++) {
            if (find(all, ids[i]) != NULL || is_partway(process, ids[i], restorer))
                continue;
            struct late_thread *thread = &all->threads[all->count];
            *thread = (struct late_thread){.id = ids[i]};
            if (!late_thread_seize(thread)) {
                if (errno != ESRCH)
                    return false;
                continue;
            }
            all->count++;
            more = true;
        }
        if (!wait_for_all(all, before))
            return false;
    }
    return true;
}

/* First those that stand still. */
static void let_all_go(const struct late_process *process, struct all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!all->threads[i].stopped)
            continue;
        if (all->threads[i].known)
            late_wait_mend(process, all->threads[i].id, &all->threads[i].registers);
        late_thread_let_go(&all->threads[i]);
    }
    for (size_t i = 0; i < all->count; i++)
        late_thread_let_go(&all->threads[i]);
    all->count = 0;
}

/* Ranks a thread by how little is lost if it makes the call: one that waits has the time, in a sleep it would sleep longer. */
static unsigned worth(const struct late_thread *thread)
{
    const bool waits = (long)thread->registers.orig_rax >= 0;
    const bool sleeps = waits && (long)thread->registers.rax == -516;
    return sleeps ? 1 : waits ? 3 : 2;
}

/* One whose call begins anew without loss, if there is one. */
static struct late_thread *choose(const struct late_process *process, struct all *all)
{
    struct late_thread *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct late_thread *thread = &all->threads[i];
        if (thread->stopped && !late_wait_is_lost(process, &thread->registers) &&
            (best == NULL || worth(thread) > worth(best)))
            best = thread;
    }
    return best;
}

static bool are_clean(struct late_process *process, const struct all *all, uint64_t restorer)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->threads[i].stopped && !late_stack_is_clean(process, &all->threads[i].registers, restorer))
            return false;
    return true;
}

/* Returns whether the call was made to its end. */
static bool call_one(const struct late_process *process, struct all *all, const struct late_call *call,
                     uint64_t restorer, bool (*is_done)(void *data), void *data)
{
    struct late_thread *thread = choose(process, all);
    const uint64_t begin = fp_now_ns();
    if (thread == NULL || !late_frame_begin(process, thread, call, restorer))
        return false;
    late_thread_let_go(thread);
    while (!is_done(data)) {
        if (fp_now_ns() - begin > CALL_MOST_NS)
            return false; /* the others go on, and then so does it */
        late_rest(CALL_REST_NS);
    }
    return true;
}

/* Tells whether a thread may wait within our library, seen without a stop: all are stopped at once seldom more than one time. One that runs
 * leaves it soon, and nobody enters it by a slot any more. */
static bool some_wait_within(struct late_process *process, uint64_t restorer)
{
    static pid_t ids[LATE_THREADS_MOST];
    struct user_regs_struct registers;
    for (size_t i = late_threads_list(process, ids, LATE_THREADS_MOST); i-- > 0;)
        if (late_wait_look(process, ids[i], &registers) &&
            !late_stack_is_clean(process, &registers, restorer))
            return true;
    return false;
}

bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem)
{
    const uint64_t begin = fp_now_ns(), restorer = late_call_restorer(process);
    struct all all = {.threads = res_calloc(LATE_THREADS_MOST, sizeof *all.threads)};
    const int before = go_before(-20);
    bool done = false;
    unsigned rounds = 0;
    *ret_cost = (struct late_cost){0};
    *ret_problem = NULL;
    late_frames_prepare(process);
    do {
        done = is_done(data);
        if (done || late_process_ended(process) || !late_process_refresh(process))
            break;
        /* Without all registers it may seem so of one that does not. */
        if (++rounds % LOOKS_MOST != 0 && some_wait_within(process, restorer)) {
            late_rest(ROUND_REST_NS);
            continue;
        }
        uint64_t since_ns = fp_now_ns();
        if (stop_all(process, &all, restorer) && late_process_refresh(process) &&
            are_clean(process, &all, restorer))
            done = call_one(process, &all, call, restorer, is_done, data);
        for (size_t i = 0; i < all.count; i++)
            since_ns = all.threads[i].since_ns < since_ns ? all.threads[i].since_ns : since_ns;
        let_all_go(process, &all);
        since_ns = fp_now_ns() - since_ns;
        ret_cost->stopped_ns = since_ns > ret_cost->stopped_ns ? since_ns : ret_cost->stopped_ns;
        if (!done)
            late_rest(ROUND_REST_NS);
    } while (!done && fp_now_ns() - begin < within_ns);
    (void)go_before(before);
    free(all.threads);
    if (!done)
        *ret_problem = res_printf(
            late_process_ended(process)
                ? "process %d has ended"
                : "threads of process %d stayed within the recorder, or could not be stopped",
            (int)process->pid);
    return done;
}

#endif
