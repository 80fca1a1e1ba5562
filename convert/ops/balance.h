/* balance.h - the live objects of a process whose threads' events are seen out of order.
 *
 * Whoever reads a recording while it is written gets blocks of its threads as they are written, not as things
 * happened: a release may be seen before its allocation, and an allocation where the release before it has not been
 * seen. What is live follows all the same as soon as everything was seen:
 *
 *   newest   the event of the highest epoch at an address: an allocation, then an object is live there; or a release.
 *            Within a lane the later one is the newer
 *   balance  allocations less releases seen at an address. It decides where several lanes' events are of the newest
 *            epoch, as each address is allocated and released in turn
 *   note     what is kept of an address: of one that holds no object, until nothing older can come any more
 *
 * With a single lane the result is that of convert/ops/pair.c at every event. Memory follows live objects, and what happens
 * within the epochs by which lanes are read apart. */
#ifndef MALLAB_CONVERT_OPS_BALANCE_H
#define MALLAB_CONVERT_OPS_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/survey_counts.h"
#include "convert/ops/live_table.h"

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
    struct conv_live_table table; /* address -> number of a note, and the bytes of its newest allocation */
    struct conv_balance_note *notes;
    uint32_t note_count, note_spare;
    size_t note_capacity;
    size_t vacant, vacant_most; /* notes of addresses without an object; how many may pile up */
    bool alone;              /* set by the caller: events of one lane only, so that nothing older can come */
    uint64_t bytes, objects; /* live in this process */
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

/* conv_balance_settle - every event of an epoch below `horizon` has been seen. When notes of vacant addresses are many,
 * those are dropped that nothing older can come to; cheap, to be called often. */
void conv_balance_settle(struct conv_balance *balance, uint64_t horizon);

#endif
