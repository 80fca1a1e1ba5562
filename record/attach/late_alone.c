/* late_alone.c - first looks at a few threads at a time, then the stop of all.
 *
 * Laws of this file: those of late_thread.h. */
#include "record/attach/late_call.h"

#include "footprint/base/support.h"

#if defined(__x86_64__)

#include <errno.h>
#include <stdlib.h>

#include "footprint/base/clock.h"
#include "record/attach/late_stack.h"
#include "record/attach/late_wait.h"

#define ROUND_REST_NS 5000000
#define LOOK_REST_NS  20000
#define CALL_REST_NS  200000 /* often enough; each look takes a processor that the call may be on */
#define CALL_MOST_NS  UINT64_C(1000000000) /* for the call to come to its end */

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

/* In turn, so that of each it is known since when it stands still. */
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

/* Until no thread is there that was not stopped: one that runs may make others. */
static bool stop_all(const struct late_process *process, struct all *all)
{
    static pid_t ids[LATE_THREADS_MOST];
    for (bool more = true; more;) {
        const size_t count = late_threads_list(process, ids, LATE_THREADS_MOST), before = all->count;
        more = false;
        if (count == LATE_THREADS_MOST)
            return false;
        for (size_t i = 0; i < count && all->count < LATE_THREADS_MOST; i++) {
            if (find(all, ids[i]) != NULL)
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

/* How little is lost where it makes the call: one that waits has the time, in a sleep it would sleep longer. */
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

static void note_stop(struct late_cost *cost, uint64_t since_ns)
{
    const uint64_t ns = fp_now_ns() - since_ns;
    cost->stopped_ns = ns > cost->stopped_ns ? ns : cost->stopped_ns;
}

/* Look at a thread that was seized, and let it go. Returns LATE_STOP_LATE where it has not stopped yet.
 * clean  set to false where it may be in our library. */
static enum late_stop glance(struct late_process *process, struct late_thread *thread, uint64_t restorer,
                             struct late_cost *cost, bool *clean)
{
    const enum late_stop stop = late_thread_look(thread);
    if (stop == LATE_STOP_LATE)
        return stop;
    *clean = stop == LATE_STOP_DONE && late_stack_is_clean(process, &thread->registers, restorer);
    if (stop == LATE_STOP_DONE)
        late_wait_mend(process, thread->id, &thread->registers);
    late_thread_let_go(thread);
    if (stop == LATE_STOP_DONE)
        note_stop(cost, thread->since_ns);
    return stop;
}

/* Each by itself, so that all are stopped at once seldom more than one time: those that are found outside of our library are not
 * looked at again, as nobody enters it by a slot any more. */
static bool glance_at_all(struct late_process *process, struct all *some, struct all *seen, uint64_t restorer,
                          struct late_cost *cost)
{
    static pid_t ids[LATE_THREADS_MOST];
    const size_t count = late_threads_list(process, ids, LATE_THREADS_MOST);
    const uint64_t begin = fp_now_ns();
    bool all_clean = count > 0 && count < LATE_THREADS_MOST;
    some->count = 0;
    for (size_t i = 0; i < count; i++) {
        some->threads[some->count] = (struct late_thread){.id = ids[i]};
        /* One that has ended, or is another tracer's, is seen when all are stopped. */
        some->count += find(seen, ids[i]) == NULL && late_thread_seize(&some->threads[some->count]);
    }
    for (bool waits = true; waits && fp_now_ns() - begin < LATE_STOP_MOST_NS;) {
        waits = false;
        for (size_t i = 0; i < some->count; i++) {
            bool clean = true;
            struct late_thread *thread = &some->threads[i];
            if (!thread->seized)
                continue;
            if (glance(process, thread, restorer, cost, &clean) == LATE_STOP_LATE)
                waits = true;
            else if (clean && seen->count < LATE_THREADS_MOST)
                seen->threads[seen->count++] = *thread;
            all_clean = all_clean && clean;
        }
        if (waits)
            late_rest(LOOK_REST_NS);
    }
    for (size_t i = 0; i < some->count; i++)
        all_clean = all_clean && !some->threads[i].seized;
    let_all_go(process, some);
    return all_clean;
}

bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem)
{
    const uint64_t begin = fp_now_ns(), restorer = late_call_restorer(process);
    struct all all = {.threads = res_calloc(LATE_THREADS_MOST, sizeof *all.threads)};
    struct all seen = {.threads = res_calloc(LATE_THREADS_MOST, sizeof *seen.threads)};
    bool done = false;
    *ret_cost = (struct late_cost){0};
    *ret_problem = NULL;
    late_frames_prepare(process);
    do {
        if (late_process_ended(process) || !late_process_refresh(process))
            break;
        if (!glance_at_all(process, &all, &seen, restorer, ret_cost)) {
            late_rest(ROUND_REST_NS);
            continue;
        }
        uint64_t since_ns = fp_now_ns();
        if (stop_all(process, &all) && late_process_refresh(process) && are_clean(process, &all, restorer))
            done = call_one(process, &all, call, restorer, is_done, data);
        for (size_t i = 0; i < all.count; i++)
            since_ns = all.threads[i].since_ns < since_ns ? all.threads[i].since_ns : since_ns;
        let_all_go(process, &all);
        note_stop(ret_cost, since_ns);
        ret_cost->looks++;
        if (!done)
            late_rest(ROUND_REST_NS);
    } while (!done && fp_now_ns() - begin < within_ns);
    free(all.threads);
    free(seen.threads);
    if (!done)
        *ret_problem = res_printf(
            late_process_ended(process)
                ? "process %d has ended"
                : "threads of process %d stayed within the recorder, or could not be stopped",
            (int)process->pid);
    return done;
}

#endif
