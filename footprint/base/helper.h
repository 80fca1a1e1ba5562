/* helper.h - a thread of our own beside the one that calls: to pack windows, to decode blocks ahead.
 *
 * What it does must be the same as without it, for it may not come to be. */
#ifndef MALLAB_FOOTPRINT_BASE_HELPER_H
#define MALLAB_FOOTPRINT_BASE_HELPER_H

#include <pthread.h>
#include <stdbool.h>

/* fp_helper_start - run serve(data) on a thread that takes no signals: those stay with the threads that the program
 * knows of.
 * ret_thread  joinable, by whoever called.
 * Returns     false where there is but one processor for us, or no thread to be had: nothing runs then. */
bool fp_helper_start(pthread_t *ret_thread, void *(*serve)(void *data), void *data);

/* fp_has_one_processor - whether this process may use but one. */
bool fp_has_one_processor(void);

#endif
