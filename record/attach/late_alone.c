/* late_alone.c - first looks at a few threads at a time, then the stop of all.
 *
 * Laws of this file: those of late_thread.h. */
#include "record/attach/late_alone.h"

#include "footprint/base/support.h"

#if defined(__x86_64__)

#include <errno.h>
#include <stdlib.h>

#include "footprint/base/clock.h"
#include "record/attach/late_frame.h"
#include "record/attach/late_stack.h"
#include "record/attach/late_thread.h"
#include "record/attach/late_wait.h"

#define ROUND_REST_NS 5000000
#define GLANCE_MOST   16u
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
        for (size_t i = before; i < all->count; i++) {
            const enum late_stop stop = late_thread_wait(&all->threads[i]);
            if (stop == LATE_STOP_BY_SIGNAL || stop == LATE_STOP_LATE ||
                (stop == LATE_STOP_GONE && all->threads[i].seized))
                return false;
        }
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

/* One whose call begins anew without loss, if there is one: in a sleep it would sleep longer. */
static struct late_thread *choose(const struct late_process *process, struct all *all)
{
    struct late_thread *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct late_thread *thread = &all->threads[i];
        if (!thread->stopped || late_wait_is_lost(process, &thread->registers))
            continue;
        const bool sleeps = (long)thread->registers.orig_rax >= 0 && (long)thread->registers.rax == -516;
        if (best == NULL || !sleeps)
            best = thread;
        if (!sleeps)
            break;
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
        late_rest(20000);
    }
    return true;
}

/* Look at a thread that was seized, and let it go. */
static bool glance(struct late_process *process, struct late_thread *thread, uint64_t restorer)
{
    const enum late_stop stop = late_thread_wait(thread);
    const bool is_clean = stop == LATE_STOP_DONE &&
                          late_stack_is_clean(process, &thread->registers, restorer);
    if (stop == LATE_STOP_DONE)
        late_wait_mend(process, thread->id, &thread->registers);
    late_thread_let_go(thread);
    return is_clean;
}

/* A few at a time, so that all are stopped at once seldom more than one time: those that are found outside of our library are not
 * looked at again, as nobody enters it by a slot any more. */
static bool glance_at_all(struct late_process *process, struct all *seen, uint64_t restorer,
                          struct late_cost *cost)
{
    static pid_t ids[LATE_THREADS_MOST];
    struct late_thread some[GLANCE_MOST];
    const size_t count = late_threads_list(process, ids, LATE_THREADS_MOST);
    bool clean = count > 0 && count < LATE_THREADS_MOST;
    for (size_t i = 0; i < count;) {
        const uint64_t begin = fp_now_ns();
        size_t taken = 0;
        for (; i < count && taken < GLANCE_MOST; i++) {
            some[taken] = (struct late_thread){.id = ids[i]};
            /* One that has ended, or is another tracer's, is seen when all are stopped. */
            taken += find(seen, ids[i]) == NULL && late_thread_seize(&some[taken]);
        }
        for (size_t k = 0; k < taken; k++) {
            const bool is_clean = glance(process, &some[k], restorer);
            if (is_clean && seen->count < LATE_THREADS_MOST)
                seen->threads[seen->count++] = some[k];
            clean = clean && is_clean;
        }
        cost->stopped_ns = fp_now_ns() - begin > cost->stopped_ns ? fp_now_ns() - begin : cost->stopped_ns;
    }
    return clean;
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
    do {
        if (late_process_ended(process) || !late_process_refresh(process))
            break;
        if (!glance_at_all(process, &seen, restorer, ret_cost)) {
            late_rest(ROUND_REST_NS);
            continue;
        }
        const uint64_t stopped_at = fp_now_ns();
        if (stop_all(process, &all) && late_process_refresh(process) && are_clean(process, &all, restorer))
            done = call_one(process, &all, call, restorer, is_done, data);
        let_all_go(process, &all);
        const uint64_t ns = fp_now_ns() - stopped_at;
        ret_cost->stopped_ns = ns > ret_cost->stopped_ns ? ns : ret_cost->stopped_ns;
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

#else

bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem)
{
    *ret_problem = res_strdup("calls into running programs are made on x86-64 only");
    return false;
}

#endif
