/* exec.h - what the files behind run_threads.h share: one run, its threads, and who may do what when.
 *
 *   run_threads.c   the run from its begin to its end, and the life of a thread
 *   run_windows.c   at rest: end a window, begin the next; and preparing the next beside the current one
 *   batons.c        who runs: parts that begin, threads that are made, a processor that nothing else needs
 *   execute.c       a part, op by op: the timed runs, and waiting for the ops of other threads
 *
 *   stand-by    an idle thread, chosen when a window begins, that may prepare the next
 *
 * A window is under way until `unfinished` is down to nothing: its parts, the opener while it starts them, and
 * preparing the next window. Whoever takes it there is the next opener, and alone. */
#ifndef MALLAB_REPLAY_EXEC_EXEC_H
#define MALLAB_REPLAY_EXEC_EXEC_H

#include <pthread.h>
#include <stdatomic.h>

#include "replay/base/digest.h"
#include "replay/base/storage.h"
#include "replay/base/watch.h"
#include "replay/exec/run_threads.h"

/* Where a thread waits to be told to go on: it belongs to one thread, which passes it; any other may open it. It holds one
 * signal: whoever signals must know that the last one was taken (a thread is signalled once a window). */
enum rep_signal {
    REP_GATE_SHUT = 0,
    REP_GATE_SLEEPING = 1, /* shut, and its thread sleeps in the kernel */
    REP_GATE_GO = 2,       /* execute the part that was assigned */
    REP_GATE_QUIT = 3,     /* end */
};

struct rep_gate {
    _Atomic uint32_t state; /* enum rep_signal */
};

enum thread_state {
    THREAD_UNBORN = 0, /* its first window has not opened */
    THREAD_ALIVE = 1,
    THREAD_ENDED = 2,
};

/* Lines that others write or poll stand apart from each other and from what only the thread itself uses. */
struct rep_thread {
    /* Written by the thread, read by those that wait for it. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t posted; /* ops of its part executed and published */
    _Atomic uint32_t sleepers;                        /* threads that sleep on `posted` */

    _Alignas(REP_CACHE_LINE) struct rep_gate gate;

    /* Set by the opener at rest. */
    _Alignas(REP_CACHE_LINE) struct rep_exec *exec;
    const struct rep_part *part; /* of the current window; NULL when it has none there */
    uint32_t number;
    void *stack;
    uint32_t stack_number;
    uint64_t ops_begun; /* of its parts, the current one's included */
    bool ends;          /* with its current part */

    /* Set by whoever starts its first part; read at rest. */
    enum thread_state state;
    pthread_t handle;

    /* The thread's own; read at rest. */
    bool baton;
    uint64_t ticks, runs; /* of the current window */
    uint64_t wait_ticks, waits_met, waits_slept;
    struct rep_digest digest;

    /* Where it is, for rep_exec_where: indexes in rep_plan.ops; at_count 0: in no op. */
    uint32_t at, at_count;
};

/* A window with its plan, and what preparing them took. */
struct rep_prepared {
    enum fp_status status; /* FP_OK, or why there is none */
    struct wl_window window;
    struct rep_plan plan;
    uint64_t ns, faults_minor, faults_major;
};

struct rep_exec {
    const struct rep_exec_options *options;
    struct rep_prepared prepared[2]; /* in turn the current window and the next */
    unsigned places;                 /* of them in use: 1 when nothing is prepared ahead */
    struct rep_prepared *now;        /* the current window */
    uint64_t prepared_count;         /* windows asked for so far */
    struct rep_thread *threads;      /* those of the workload, then one more: see `first` */
    struct rep_thread *first;   /* the process's first thread: the recorded main thread, or the one more */
    struct rep_thread *late;    /* ended as an opener: joined by the next opener */
    struct rep_thread *standby; /* NULL: no thread is idle in this window */
    uint32_t standby_from;      /* where to look for the next one */
    struct rep_stacks stacks;
    struct rep_pace *pace; /* NULL: none is kept */
    uint32_t batons;       /* that a window has */
    enum fp_status status;
    struct rep_exec_totals totals;

    /* All count within a window; each in its own line because every thread changes them. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t next_part;  /* the first part that no baton reached */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t unfinished; /* see above */
    _Atomic uint32_t asleep;                              /* threads sleeping in a wait */
    _Atomic bool ahead_taken;                             /* someone prepares the next window, or has */
};

/* ---- run_threads.c ------------------------------------------------------------------------------ */

/* rep_thread_main - what a created thread runs: part after part until its gate says QUIT or it ends. */
void *rep_thread_main(void *thread);

/* rep_thread_join - bury a thread that has ended, or is about to. By the opener, not by itself. */
void rep_thread_join(struct rep_exec *exec, struct rep_thread *thread);

/* ---- run_windows.c ------------------------------------------------------------------------------ */

/* rep_window_prepare - fetch and plan the window after those prepared so far, into its place. One thread at a
 * time: at rest, or whoever has taken exec->ahead_taken. */
void rep_window_prepare(struct rep_exec *exec);

/* rep_window_begin - make the window that was prepared last the current one.
 * Returns   false when there is none or it is no good: exec->status says why. */
bool rep_window_begin(struct rep_exec *exec);

/* rep_window_assign - give each thread its part, and those whose first window this is a stack. self: the opener.
 * Returns   false when the window contradicts the summary: exec->status says so. */
bool rep_window_assign(struct rep_exec *exec, struct rep_thread *self);

/* rep_window_close - end the window: bury the threads that ended in it, add up, and report. self: the opener. */
void rep_window_close(struct rep_exec *exec, struct rep_thread *self);

/* ---- batons.c ------------------------------------------------------------------------------- */

/* rep_gate_signal - leave GO or QUIT, and wake the gate's thread if it sleeps. What was written before is
 * seen by the thread after it passed. */
void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal);

/* rep_gate_pass - sleep until there is a signal, and take it. By the gate's own thread only. */
enum rep_signal rep_gate_pass(struct rep_gate *gate);

/* rep_futex_wait - sleep while *word is value; may return early. rep_futex_wake - wake up to count. */
void rep_futex_wait(_Atomic uint32_t *word, uint32_t value);
void rep_futex_wake(_Atomic uint32_t *word, int count);

/* rep_baton_start - hand the right to run to a thread whose part has not begun. Returns false when all have. */
bool rep_baton_start(struct rep_exec *exec);

/* rep_baton_standby - hand it to the stand-by, to prepare the next window. Returns false when there is none or
 * that is taken. */
bool rep_baton_standby(struct rep_exec *exec);

/* rep_ahead_take - whether the calling thread is now the one to prepare the next window. */
bool rep_ahead_take(struct rep_exec *exec);

/* rep_standby_choose - look for an idle thread. By the opener (self), once the parts are assigned. */
void rep_standby_choose(struct rep_exec *exec, struct rep_thread *self);

/* ---- execute.c ------------------------------------------------------------------------------ */

/* rep_execute_part - all of self's part, waits and posts included. */
void rep_execute_part(struct rep_exec *exec, struct rep_thread *self);

/* rep_execute_segment - its ops only: one timed run, or one for each step that keeps with the clock. */
void rep_execute_segment(struct rep_exec *exec, struct rep_thread *self, const struct rep_segment *segment);

#endif
