/* patience.h - how long a program waits for a collector that does not work.
 *
 *   heartbeat  the collector's clock in the segment, stepped in every round and after every block: some 10 ms apart
 *   silence    the time since the last heartbeat: the collector is stopped, blocked by its disk, starved, or dead
 *
 * Waiting for a collector that works is the user's choice (--on-full); a silent one would delay the program for nothing
 * that can be foreseen. So a silence is waited for once, PATIENCE_NS from its begin; then calls are lost and counted,
 * without any wait, until the heartbeat steps. Each further silence that a process gave up on halves its patience: a
 * disk that hangs again and again costs a program 2 s of its life and LATE_NS each time, not PATIENCE_NS each time. */
#ifndef MALLAB_SHIM_PRELOAD_PATIENCE_H
#define MALLAB_SHIM_PRELOAD_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* patience_collector_is_gone - whether the collector is dead, or silent for longer than this process waits for it. Steps
 * the process's count of silences: for slow paths that can do without an answer only. */
bool patience_collector_is_gone(void);

/* patience_is_given_up - whether the present silence was given up on already. patience_give_up - give up on the silence that
 * began with this heartbeat. patience_ns - how long this process waits in the next one. Without a system call. */
bool patience_is_given_up(void);
void patience_give_up(uint64_t heartbeat);
uint64_t patience_ns(void);

#endif
