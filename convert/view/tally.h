/* tally.h - what a process that is being recorded has done so far, block by block.
 *
 *   sum    figures that all processes of a recording add to
 *   tally  one process: its lanes, and what is live in it (balance.h)
 *
 * Blocks of one lane come in their order, those of different lanes in any. */
#ifndef MALLAB_CONVERT_VIEW_TALLY_H
#define MALLAB_CONVERT_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/ops/balance.h"
#include "footprint/fp/footprint.h"

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
