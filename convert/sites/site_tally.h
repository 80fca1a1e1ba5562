/* site_tally.h - the allocations of each call site, and their fate: a sink that counts and hands on. Private to convert/.
 *
 *   site     as a footprint numbers them (footprint/fp/fp_sites.h); 0 stands for all whose stack is not known
 *   peak     the moment when most bytes were live in the process: what each site had then
 *   soon     at most CONV_SOON_CALLS calls of the process lie between an object's allocation and its release
 *   end      the last event that was handed over; ages and quarters are of it
 *
 * A resize ends its object and makes another, of the site that resized. Memory: 24 bytes an object that is live, besides the
 * table of addresses, and about 500 bytes a site; both are counted against the bound of memory. */
#ifndef MALLAB_CONVERT_SITES_SITE_TALLY_H
#define MALLAB_CONVERT_SITES_SITE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/ops/track.h"
#include "convert/sites/sites.h"

/* An object that is live. */
struct conv_site_object {
    uint64_t birth_ns;
    uint64_t birth_call; /* number of the call among the process' */
    uint32_t counts;     /* of its site; the next free one in a slot that is free */
    uint32_t lane;       /* CONV_NO_LANE: the slot is free */
};

struct conv_site_tally {
    struct conv_sink next;
    struct conv_track track; /* the tag is an index into objects */
    struct conv_site_object *objects;
    size_t object_count, object_capacity;
    uint32_t free_object;
    uint32_t *of_site; /* by site: its counts + 1; 0: none yet */
    size_t site_capacity;
    struct conv_site_counts *counts;
    uint64_t *lives; /* as counts: at which peak its peak figures were taken last */
    size_t count, capacity, lives_capacity;
    uint64_t sample_bytes;       /* as in struct conv_sites; to be set before the first event */
    uint64_t allocations, bytes; /* of all sites, exactly; likewise at the end the next two */
    uint64_t left_objects, left_bytes;
    uint64_t calls, now_ns;
    uint64_t live_bytes, peak_bytes, peak_ns;
    uint64_t peaks; /* so many times there was more than ever */
};

/* conv_site_tally_init - nothing is alive. Returns false: no memory; conv_site_tally_release accepts it in either case. The
 * struct stays where it is until then. */
bool conv_site_tally_init(struct conv_site_tally *tally);
void conv_site_tally_release(struct conv_site_tally *tally);

/* conv_site_tally_sink - the tally as a sink, in front of next. Errors: FP_ERR_MEMORY, and next's. */
struct conv_sink conv_site_tally_sink(struct conv_site_tally *tally, struct conv_sink next);

/* conv_site_tally_end - at tally->now_ns what is live is looked at, object by object, and the counts are whole.
 * from_ns, until_ns  of the objects only those count as live that were made from the one on and before the other.
 * Returns            false: no memory. Sites are in their order then, and no event may follow. */
bool conv_site_tally_end(struct conv_site_tally *tally, uint64_t from_ns, uint64_t until_ns);

#endif
