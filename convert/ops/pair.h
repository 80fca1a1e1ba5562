/* pair.h - pair addresses with objects, and hand ops to a workload writer.
 *
 * Takes events in one legal order (or an illegal one: the rules of docs/order.md apply then)
 * and keeps the table of live objects, which is all that grows: with live objects and with lanes. */
#ifndef MALLAB_CONVERT_OPS_PAIR_H
#define MALLAB_CONVERT_OPS_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/ops/live_table.h"
#include "convert/ops/track.h"
#include "footprint/wl/workload.h"

#define NOT_ANNOUNCED UINT32_MAX /* a thread of which the writer was not told yet */

struct conv_pair {
    struct wl_writer *writer; /* NULL: count only */
    struct conv_namer namer;
    struct conv_survey *survey;
    struct conv_track track; /* the tag: the object's id; without a writer a number of the table */
    uint32_t *threads;       /* by lane: the writer's number, UINT32_MAX before it is announced */
    size_t lane_capacity;
    uint32_t thread;             /* of the event at hand */
    struct conv_pair_fast *fast; /* NULL until it is used */
    bool inheriting;             /* all ops so far are of objects that were there before */
    uint64_t gap_calls;          /* that gap marks say are missing */
    uint64_t last_time_ns;       /* highest seen: the order's time never decreases */
};

/* conv_pair_announce - tell the writer of a lane's thread. Returns FP_OK, FP_ERR_MEMORY, or the writer's. */
enum fp_status conv_pair_announce(struct conv_pair *pair, uint32_t lane);

/* conv_pair_thread - a lane's thread, announced to the writer. Returns as conv_pair_announce. */
static inline enum fp_status conv_pair_thread(struct conv_pair *pair, uint32_t lane, uint32_t *ret_thread)
{
    if (__builtin_expect(lane >= pair->lane_capacity || pair->threads[lane] == NOT_ANNOUNCED, 0)) {
        const enum fp_status status = conv_pair_announce(pair, lane);
        if (status != FP_OK)
            return status;
    }
    *ret_thread = pair->threads[lane];
    return FP_OK;
}

/* conv_pair_resident - FP_MARK_RESIDENT of a live object. What cannot be (a share of more than all, of an object that is
 * neither large nor middling) is passed over. Returns FP_OK, or the writer's. */
enum fp_status conv_pair_resident(struct conv_pair *pair, struct conv_object object, uint64_t share);

/* conv_pair_init - begin with no live objects.
 * writer   borrowed, may be NULL. namer.name may be NULL when writer is.
 * survey   borrowed; counts are added to it.
 * Returns  false: no memory. conv_pair_release accepts it in either case. */
bool conv_pair_init(struct conv_pair *pair, struct wl_writer *writer, struct conv_namer namer,
                    struct conv_survey *survey);
void conv_pair_release(struct conv_pair *pair);

/* conv_pair_sink - the pairing as a sink; its data is pair. Errors: FP_ERR_MEMORY, and the writer's. */
struct conv_sink conv_pair_sink(struct conv_pair *pair);

/* ---- kin ---------------------------------------------------------------------------------------------
 *
 * Objects that are used alike: of which no share is told, the share of others (docs/notes/format.md, "Shares of kin").
 *
 * Kin were made by the same kind of call and are of as many pages. The recorder tells the shares of large objects, but not of
 * all, and of middling ones by sample. */

/* conv_has_kin - whether an object of this call and so many bytes has kin: middling ones, and from calloc all of a page and
 * more. */
bool conv_has_kin(unsigned call, uint64_t bytes);

/* conv_tell_kin - tell the writer of an object with kin, which has just got its size by this call. Returns the writer's. */
enum fp_status conv_tell_kin(struct wl_writer *writer, unsigned call, struct conv_object object);

/* ---- the common case in one loop: marks of one lane become ops as they stand in their block ------------
 *
 * What is not plain is left to pair.c, whose rules these are: one workload, byte for byte, by either way. An object lives
 * in the table of live objects (live_table.h) or in pair_fast.c, so whoever looks at the table settles first. */

struct conv_pair_fast;

/* conv_pair_fast_take - the pairing's conv_sink.marks. pair->writer is not NULL.
 * Returns FP_OK, FP_ERR_MEMORY, and the writer's. */
enum fp_status conv_pair_fast_take(struct conv_pair *pair, const struct conv_slice *slice,
                                   uint32_t *ret_taken);

/* conv_pair_fast_settle - write into the table what is known here of addresses. */
void conv_pair_fast_settle(struct conv_pair *pair);

/* conv_pair_fast_end - after the last event, before the survey is read or the writer finished: settle, add what was counted
 * to both, and free. NULL (never begun) is fine. */
void conv_pair_fast_end(struct conv_pair *pair);

#endif
