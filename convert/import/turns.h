/* turns.h - threads of a trace that take turns, and wait for each other's signals.
 *
 *   sync     a signal that is given once, by number; who waits for one that was given goes on at once
 *   ready    threads that can go on, first come, first served
 *
 * The order is repeatable: it follows from the calls below alone. Memory: about 16 bytes a thread, a bit a sync. */
#ifndef MALLAB_CONVERT_IMPORT_TURNS_H
#define MALLAB_CONVERT_IMPORT_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conv_turn_wait {
    uint64_t sync;
    uint32_t next; /* waiting thread of the same bucket */
};

struct conv_turns {
    uint32_t thread_count;
    uint32_t *ready, ready_begin, ready_count;
    struct conv_turn_wait *waits; /* by thread */
    uint32_t *buckets;            /* of waiting threads, by sync */
    size_t bucket_mask;
    uint64_t seed;
    uint8_t *given; /* a bit for each sync */
};

/* conv_turns_init - all threads are ready in the order of their numbers, from 0; no sync was given.
 * thread_count  1 at least.
 * sync_max      highest number of a sync.
 * Returns       false: no memory. conv_turns_release accepts it in either case, and a zeroed one. */
bool conv_turns_init(struct conv_turns *turns, uint32_t thread_count, uint64_t sync_max);
void conv_turns_release(struct conv_turns *turns);

/* conv_turns_next - whose turn it is: it is not ready any more. False: nobody is ready. */
bool conv_turns_next(struct conv_turns *turns, uint32_t *ret_thread);

/* conv_turns_again - a thread whose turn is over is ready for the next. */
void conv_turns_again(struct conv_turns *turns, uint32_t thread);

/* conv_turns_give - a sync is given: who waits for it is ready, the one that waited longest last. */
void conv_turns_give(struct conv_turns *turns, uint64_t sync);

/* conv_turns_wait - a thread waits. True: the sync was given already, the thread goes on. */
bool conv_turns_wait(struct conv_turns *turns, uint32_t thread, uint64_t sync);

#endif
