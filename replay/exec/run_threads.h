/* run_threads.h - one run, its threads, and who may do what when: what run_threads.c and execute.c share.
 *
 *   stand-by   an idle thread, chosen when a window begins, that may prepare the next
 *   digest     what was executed, in 64 bits: the same for every candidate. Each recorded thread hashes
 *              its ops once they were executed, outside the timed part; the run's digest combines theirs
 *              by number. So it tells an op of a thread that was skipped, repeated or out of order, and
 *              does not depend on how threads interleave
 *
 * A window is under way until `unfinished` is down to nothing: its parts, the opener while it starts
 * them, and preparing the next window. Whoever takes it there is the next opener, and alone. */
#ifndef MALLAB_REPLAY_EXEC_RUN_THREADS_H
#define MALLAB_REPLAY_EXEC_RUN_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#define XXH_STATIC_LINKING_ONLY /* for the layout of XXH64_state_t: XXH64_createState would call malloc */
#include <xxhash.h>

#include "replay/base/own_process.h"
#include "replay/clock/real.h"
#include "replay/exec/exec.h"

struct rep_digest {
    XXH64_state_t state;
    uint64_t ops;
};

/* A place where a thread waits to be told to go on. It is passed by one thread, and any other may open
 * it. It holds one signal: a thread is signalled once a window. */
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

enum thread_end {
    THREAD_COMES = 0, /* whoever must wait for a thread's birth, or its end, sleeps on it */
    THREAD_GOES_ON = 1,
    THREAD_LEAVES =
        2, /* it has left its own function; what the C library does at a thread's end is under way */
    THREAD_JOINING = 3,
    THREAD_JOINED = 4,
};

/* Lines that others write or poll stand apart from each other and from what only the thread itself uses. */
struct rep_thread {
    /* Written by the thread, read by those that wait for it. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t posted; /* ops of its part executed and published */
    _Atomic uint32_t sleepers;                        /* threads that sleep on `posted` */
    _Atomic uint32_t end;                             /* enum thread_end */

    _Alignas(REP_CACHE_LINE) struct rep_gate gate;

    /* Set by the opener at rest. */
    _Alignas(REP_CACHE_LINE) struct rep_exec *exec;
    const struct rep_part *part; /* of the current window; NULL when it has none there */
    uint32_t number;
    void *stack;
    uint32_t stack_number;
    uint64_t ops_begun;         /* of its parts, the current one's included */
    bool ends;                  /* with its current part */
    bool newborn;               /* its current part is its first */
    uint32_t first_at, last_at; /* ops of the current window; set where a thread ends and one is born */

    /* Set by whoever starts its first part; read at rest. */
    enum thread_state state;
    pthread_t handle;
    uint64_t begun_ns; /* of its processor time: as its own function began; written by the thread */

    /* The thread's own; read at rest. */
    bool baton;
    uint64_t ticks, runs; /* of the current window */
    struct rep_presence presence;
    struct rep_absence absence; /* of the current window, waits for other threads left out */
    uint64_t wait_ticks, waits_met;
    struct rep_digest digest;

    /* The place of the thread, for rep_exec_where: indexes in rep_plan.ops; at_count 0: in no op. */
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
    uint32_t batons; /* that a window has */
    enum fp_status status;
    struct rep_exec_totals totals;
    void *(*thread_main)(void *thread); /* what a created thread runs */

    /* All count within a window; each in its own line because every thread changes them. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t next_part;  /* the first part that no baton reached */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t unfinished; /* see above */
    _Atomic uint64_t bearing_ns, ended_ns; /* processor time: of creating threads; of ended ones' functions */
    _Atomic uint32_t alive, alive_most;    /* threads born that have not ended; over the whole run */
    _Atomic bool ahead_taken;              /* someone prepares the next window, or has */
};

/* ---- which thread runs next; the gates at which threads wait, and the futex beneath ---- */

/* rep_gate_signal - leave GO or QUIT, and wake the gate's thread if it sleeps; it sees what was written before. */
void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal);

/* rep_gate_pass - sleep until there is a signal, and take it. By the gate's own thread only. */
enum rep_signal rep_gate_pass(struct rep_gate *gate);

/* rep_futex_wait - sleep while *word is value; may return early. rep_futex_wake - wake those who share a bit with it. */
#define REP_ANYONE UINT32_MAX
void rep_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits);
void rep_futex_wake(_Atomic uint32_t *word, uint32_t bits);

/* rep_baton_start - hand the right to run to a thread whose part has not begun. False: all have. */
bool rep_baton_start(struct rep_exec *exec);

/* rep_baton_standby - hand it to the stand-by, to prepare the next window. False when there is
 * none, or somebody prepares it already. */
bool rep_baton_standby(struct rep_exec *exec);

/* rep_ahead_take - whether the calling thread is now the one to prepare the next window. */
bool rep_ahead_take(struct rep_exec *exec);

/* rep_standby_choose - look for an idle thread. By the opener (self), once the parts are assigned. */
void rep_standby_choose(struct rep_exec *exec, struct rep_thread *self);

/* ---- a part, op by op: the timed runs, and waiting for the ops of other threads ---- */

/* rep_execute_part - all of self's part, waits and posts included. */
void rep_execute_part(struct rep_exec *exec, struct rep_thread *self);

/* rep_execute_segment - its ops only: one timed run, or one for each step that keeps with the clock. */
void rep_execute_segment(struct rep_exec *exec, struct rep_thread *self, const struct rep_segment *segment);

/* rep_digest_add - ops were executed. */
void rep_digest_add(struct rep_digest *digest, const struct wl_op *ops, size_t count);

#endif
