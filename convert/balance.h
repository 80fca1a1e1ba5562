/* balance.h - the live objects of a process whose threads' events are seen out of order.
 *
 * Whoever reads a recording while it is written gets blocks of its threads as they are written, not as things
 * happened: a release may be seen before its allocation, and an allocation where the release before it has not been
 * seen. What is live follows all the same as soon as everything was seen, because each address is allocated and
 * released in turn:
 *
 *   owed      releases seen at an address for which no allocation was: the allocation, when it comes, makes no object
 *   expected  allocations seen at an address whose release was not: the release, when it comes, ends no object
 *
 * Epochs (footprint.h) and the order within a lane tell most of the events that are older than what stands at an
 * address from those that are newer. With a single lane that is all of them, and the result is that of convert/pair.c.
 *
 * Memory follows live objects; debts that nothing settles are forgotten in time (conv_balance_forget). */
#ifndef MALLAB_CONVERT_BALANCE_H
#define MALLAB_CONVERT_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/convert.h"
#include "convert/live.h"

/* Figures of live objects, which several processes add to. */
struct conv_live_sum {
    uint64_t bytes, objects;
    uint64_t bytes_peak, objects_peak; /* see conv_live_sum_peak */
    uint64_t class_bytes[CONV_SIZE_CLASSES], class_objects[CONV_SIZE_CLASSES];
};

/* conv_live_sum_peak - compare what is live now with the peaks. Worth it only when the figures are those of one moment:
 * after every event of a single lane, else when every lane was read up to about the same time. */
void conv_live_sum_peak(struct conv_live_sum *sum);

/* Where and when something happened. */
struct conv_moment {
    uint64_t epoch; /* within a lane it does not decrease */
    uint32_t lane;
};

struct conv_balance_note;

struct conv_balance {
    struct conv_live table; /* address -> number of a note, and the bytes of a live object */
    struct conv_balance_note *notes;
    uint32_t note_count, note_capacity, note_spare;
    uint32_t indebted; /* notes with something owed or expected */
    uint32_t round;
    uint64_t bytes, objects;   /* live in this process */
    struct conv_live_sum *sum; /* borrowed */
};

/* conv_balance_init - begin with nothing live.
 * sum      borrowed until the release.
 * Returns  false: no memory. conv_balance_release accepts it in either case. */
bool conv_balance_init(struct conv_balance *balance, struct conv_live_sum *sum);

/* conv_balance_release - drop the table. What is live is taken from the sum; bytes and objects stay readable. */
void conv_balance_release(struct conv_balance *balance);

/* conv_balance_add - an allocation returned address. address and bytes are below 2^48, address is not 0; likewise
 * below. False: no memory. */
bool conv_balance_add(struct conv_balance *balance, uint64_t address, uint64_t bytes,
                      struct conv_moment moment);

/* conv_balance_remove - address was released.
 * ret_known  whether an object ended by that; ret_bytes: its size then.
 * Returns    false: no memory. */
bool conv_balance_remove(struct conv_balance *balance, uint64_t address, struct conv_moment moment,
                         bool *ret_known, uint64_t *ret_bytes);

/* conv_balance_restore - take back a conv_balance_remove, of a realloc that failed, with what it had told. What was
 * put at the address meanwhile stays. False: no memory. */
bool conv_balance_restore(struct conv_balance *balance, uint64_t address, bool known, uint64_t bytes,
                          struct conv_moment moment);

/* conv_balance_forget - everything written so far has been read. When debts are many, those that are older than a few
 * such rounds are dropped: releases of what was allocated before the recording began, calls that were lost. */
void conv_balance_forget(struct conv_balance *balance);

#endif
