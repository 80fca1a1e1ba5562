/* tally.h - what a process that is being recorded has done so far, block by block.
 *
 *   sum    figures that all processes of a recording add to
 *   tally  one process: its lanes, and what is live in it
 *
 * Blocks of one lane come in their order, those of different lanes in any. */
#ifndef MALLAB_CONVERT_VIEW_TALLY_H
#define MALLAB_CONVERT_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/survey_counts.h"
#include "convert/ops/live_table.h"
#include "footprint/fp/footprint.h"

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

struct conv_tally_sum {
    uint64_t events;
    uint64_t events_by_call[CONV_CALLS];           /* marks that are no calls too, outside `events` */
    uint64_t class_allocations[CONV_SIZE_CLASSES]; /* and resizes, by requested size */
    uint64_t lost_calls;                           /* that gap marks say are missing */
    uint64_t last_time_ns;                         /* newest stamp, since recording began */
    struct conv_live_sum live;
};

/* A realloc between its two marks. */
struct conv_tally_pending {
    uint64_t address, bytes;
    bool known; /* an object ended by it */
};

struct conv_tally_lane {
    uint64_t events, events_before; /* before: whatever conv_tally_mark saw */
    uint64_t epoch;                 /* of the newest mark */
    uint64_t sequence;              /* of the next block */
    struct conv_tally_pending *pending;
    uint32_t pending_count;
    uint32_t thread_id; /* 0 until known */
    bool seen;          /* a block of it came */
    bool exited;
};

struct conv_tally {
    struct conv_tally_sum *sum; /* borrowed */
    struct conv_balance balance;
    struct conv_tally_lane *lanes;
    uint32_t lane_count; /* highest number + 1 */
    size_t lane_capacity;
    uint32_t threads, threads_exited;
    uint64_t events, events_before;
    uint64_t lost_calls;
    bool ended;
};

/* conv_tally_init - nothing done yet.
 * sum      borrowed until the release.
 * Returns  false: no memory. conv_tally_release accepts it in either case. */
bool conv_tally_init(struct conv_tally *tally, struct conv_tally_sum *sum);
void conv_tally_release(struct conv_tally *tally);

/* conv_tally_block - take the next block of a lane; borrowed. Returns FP_OK or FP_ERR_MEMORY. */
enum fp_status conv_tally_block(struct conv_tally *tally, const struct fp_block *block);

/* conv_tally_end - the process has ended and all of it was taken: what was live in it is taken from the sum, and only
 * figures are kept; balance.bytes and balance.objects tell what it left. Returns FP_OK or FP_ERR_MEMORY. */
enum fp_status conv_tally_end(struct conv_tally *tally);

/* conv_tally_mark - an interval begins: events_before become events, of the process and its lanes. */
void conv_tally_mark(struct conv_tally *tally);

#endif
