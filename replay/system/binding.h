/* binding.h - which processors a run may use, and its priority.
 *
 *   no     where the kernel puts the threads [the default]
 *   auto   one thread to a processor: a run of one thread stays on the last of the processors available (the first
 *          serves most interrupts); of several threads, number N stays on the one of the place N modulo their count
 *   LIST   "0,2-3": the process keeps to these, and threads to all of them
 *
 * Set before the first op. The processors then available are as many as threads run at a time (run_threads.h). */
#ifndef MALLAB_REPLAY_SYSTEM_BINDING_H
#define MALLAB_REPLAY_SYSTEM_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#define REP_PROCESSORS_MAX 1024u

struct rep_binding {
    const char *how; /* "no", "auto", or the list */
    bool each;       /* threads are bound one by one */
    uint16_t processors[REP_PROCESSORS_MAX];
    unsigned count; /* of processors available, after a list */
    bool nice_asked;
    int nice;         /* asked for */
    int nice_refused; /* errno; 0: not */
};

/* rep_binding_parse - check a value of --pin. False: it is neither a word nor a list of numbers. */
bool rep_binding_parse(struct rep_binding *binding, const char *how);

/* rep_binding_apply - bind the process to the list, and set the priority.
 * threads   of the run at a time: 1 chooses for auto.
 * Returns   0; an errno when the list names no processor that this process may use. */
int rep_binding_apply(struct rep_binding *binding, bool one_thread);

/* rep_binding_thread - bind the calling thread, which has this number, where threads are bound one by one. */
void rep_binding_thread(const struct rep_binding *binding, uint32_t number);

#endif
