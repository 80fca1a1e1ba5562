/* watch.h - calls of malloc's family that this process makes in a run, besides those that are replayed.
 *
 * none.c defines the family itself and notes every call here: so a run with `none` proves that the harness makes none.
 * With other allocators nobody notes anything, and the count is 0. */
#ifndef MALLAB_REPLAY_BASE_WATCH_H
#define MALLAB_REPLAY_BASE_WATCH_H

#include <stdint.h>

/* rep_watch - count from now on. rep_watch_count - how many were noted. */
void rep_watch(void);
uint64_t rep_watch_count(void);

/* rep_watch_note - a call is made; counted unless this thread pauses. */
void rep_watch_note(void);

/* rep_watch_pause / rep_watch_resume - bracket what the C library allocates for itself: pthread_create and pthread_join,
 * for the vector of thread-local storage. Per thread. */
void rep_watch_pause(void);
void rep_watch_resume(void);

#endif
