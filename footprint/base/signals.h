/* signals.h - the signals by which users, terminals and service managers end a program, and who takes them.
 *
 * A signal that is ignored when a program starts, as under nohup(1), stays ignored, whoever takes it. */
#ifndef MALLAB_FOOTPRINT_BASE_SIGNALS_H
#define MALLAB_FOOTPRINT_BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The ending signals, for an array's initializer. */
#define FP_ENDING_SIGNALS SIGINT, SIGTERM, SIGHUP
#define FP_ENDING_COUNT   3

/* fp_signal_is_ending - whether it is one of them. Async-signal-safe. */
bool fp_signal_is_ending(int number);

/* fp_signals_take - give each signal this action.
 * ret_former    count of them, as they were, for fp_signals_restore; may be NULL. */
void fp_signals_take(const int *numbers, size_t count, const struct sigaction *action,
                     struct sigaction *ret_former);
void fp_signals_restore(const int *numbers, size_t count, const struct sigaction *former);

/* fp_signals_set - a set of these signals. */
sigset_t fp_signals_set(const int *numbers, size_t count);

/* fp_end_by_signal - die of a signal, so that whoever waits for us sees that, without a core of ours. Returns where the signal
 * ends nobody. */
void fp_end_by_signal(int number);

/* ---- helpers -----------------------------------------------------------------------------------------
 *
 * A thread of our own beside the one that calls: to pack windows, to decode blocks ahead.
 *
 * What it does must be the same as without it, for it may not come to be. */

/* fp_helper_start - run serve(data) on a thread that takes no signals: those stay with the threads that the program
 * knows of.
 * ret_thread  joinable, by whoever called.
 * Returns     false where there is but one processor for us, or no thread to be had: nothing runs then. */
bool fp_helper_start(pthread_t *ret_thread, void *(*serve)(void *data), void *data);

/* fp_has_one_processor - whether this process may use but one. */
bool fp_has_one_processor(void);

#endif
