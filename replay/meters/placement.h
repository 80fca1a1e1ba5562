/* placement.h - where an allocator puts live objects: what the program's own code will find there, as no
 * replay executes that code. The pass executes the ops as a time pass does; nothing is timed.
 *
 *   moment    the end of a window: the measured ops are cut in REP_PLACEMENT_MOMENTS + 1 equal parts, and
 *             each cut has the first window's end behind it. One more: where live bytes are highest
 *   visited   live objects of 1 .. REP_SMALL_BYTES requested bytes. Larger ones have pages to themselves
 *   walk      a visit of each of these objects by its first byte: thread after thread of those that
 *             allocated them, the oldest object of a thread first
 *   age       of two objects of one thread the one allocated first is older. A resized object keeps its
 *             age: to the program it is the same one. Its thread is the one that allocated it
 *   TLB       a simulated one: REP_TLB_ENTRIES pages whose translation is at hand, any page in any entry
 *             (fully associative), the least recently used one replaced
 *   miss      a visit whose page is not at hand in the TLB, in the second of two walks in a row. The first
 *             only fills it, so what fits into the TLB misses nothing
 *   next      of two visits in a row: whether both are in one page, and how far apart they are
 *   cover     pages and lines that hold at least one byte of a visited object
 *
 * Deterministic for an allocator that is: the kernel moves mappings by whole pages only. With several
 * threads the allocator's choices may follow who came first. */
#ifndef MALLAB_REPLAY_METERS_PLACEMENT_H
#define MALLAB_REPLAY_METERS_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/base/objects.h"
#include "replay/base/storage.h" /* REP_CACHE_LINE, REP_PAGE_BYTES */

#define REP_PLACEMENT_MOMENTS 16u
#define REP_DISTANCES         65u /* [0]: 0 bytes; [k]: 2^(k-1) .. 2^k - 1 */

/* ---- ages: followed op by op outside of timed code -------------------------------------------- */

/* A ring for each thread, through an end that is no object: nodes 1 .. id_max are object ids, the end of
 * thread t is id_max + 1 + t. */
struct rep_ages {
    uint32_t *older, *younger; /* by node */
    uint32_t *sizes;           /* by id: bytes requested plus one, at most UINT32_MAX; 0: not live */
    uint32_t id_max, thread_count;
    uint64_t objects; /* live */
};

/* rep_ages_init - map room for a workload's ids and threads. Returns false when it does not fit. */
bool rep_ages_init(struct rep_ages *ages, const struct wl_summary *summary);

/* rep_ages_follow - take a whole window into account, in the recorded order. */
void rep_ages_follow(struct rep_ages *ages, const struct wl_window *window);

/* rep_ages_oldest / rep_ages_next - walk a thread's objects; 0: none is left. */
uint32_t rep_ages_oldest(const struct rep_ages *ages, uint32_t thread);
uint32_t rep_ages_next(const struct rep_ages *ages, uint32_t id);

/* ---- the TLB -------------------------------------------------------------------------------- */

#define REP_TLB_ENTRIES 64u

struct rep_tlb {
    uint64_t pages[REP_TLB_ENTRIES]; /* the most recently used one first */
    uint32_t count;
};

/* rep_tlb_visit - translate an address within page number `page` (address / page size).
 * tlb       zeroed before the first visit: empty.
 * Returns   true when the page was at hand; afterwards it is, as the most recently used one. */
bool rep_tlb_visit(struct rep_tlb *tlb, uint64_t page);

/* rep_tlb_earlier - note a visit that came before all those noted so far. From a walk's end towards its
 * begin this fills the TLB as the whole walk would have.
 * Returns   false when it is full: what came still earlier is replaced by now. */
bool rep_tlb_earlier(struct rep_tlb *tlb, uint64_t page);

/* ---- cover ---------------------------------------------------------------------------------- */

/* The largest object that shares pages with others in every size-class scheme: half a page. */
#define REP_SMALL_BYTES 2048u

/* An object in one word, so that sorting by address moves words: address, then size less one. Addresses
 * end below 2^53: 47 bits on x86-64, at most 52 on aarch64. */
#define REP_COVER_SIZE_BITS 11

static inline uint64_t rep_cover_key(const void *object, uint32_t bytes)
{
    return (uint64_t)(uintptr_t)object << REP_COVER_SIZE_BITS | (bytes - 1);
}

static inline uint64_t rep_cover_address(uint64_t key)
{
    return key >> REP_COVER_SIZE_BITS;
}

/* rep_cover_count - distinct pages and lines that hold at least one byte of any of the objects. Takes
 * time linear in count; calls no malloc.
 * keys      by rep_cover_key, in any order; sorted by address afterwards. No two objects overlap.
 * scratch   room for as many. */
void rep_cover_count(uint64_t *keys, uint64_t *scratch, size_t count, uint64_t *ret_pages,
                     uint64_t *ret_lines);

/* ---- the pass ------------------------------------------------------------------------------- */

/* Figures of one moment, or their sums over several. */
struct rep_placement_sample {
    bool taken;
    uint64_t ops, time_ns;   /* executed so far, inherited ones included; recorded */
    uint64_t live_objects;   /* of all sizes */
    uint64_t objects, bytes; /* visited; as requested */
    uint64_t tlb_misses;
    uint64_t next, next_same_page; /* pairs of visits, and of those in one page */
    uint64_t next_distance[REP_DISTANCES];
    uint64_t pages, lines;
};

struct rep_placement {
    void *const *slots; /* by object id */
    struct rep_ages ages;
    struct rep_alignment alignment; /* looked at in passing, in every window */
    uint64_t *keys, *scratch;       /* of the objects visited */
    uint64_t visited_max;
    uint64_t first_op, step_ops; /* of what is measured; between two moments */
    uint64_t peak_live_bytes;
    struct rep_placement_sample moments[REP_PLACEMENT_MOMENTS];
    uint32_t moment_count;
    struct rep_placement_sample peak;
};

/* rep_placement_init - map all that the pass takes (32 bytes an object id), before the first op.
 * untimed   ops at the begin that are not measured.
 * Returns   false when it does not fit. */
bool rep_placement_init(struct rep_placement *placement, const struct wl_summary *summary, uint64_t untimed,
                        void *const *slots);

/* rep_placement_window - a window is over and all threads rest: follow it, and look if this is a moment. */
void rep_placement_window(struct rep_placement *placement, const struct wl_window *window);

/* rep_placement_total - the sum over the moments without the peak's; not taken if nothing was visited. */
struct rep_placement_sample rep_placement_total(const struct rep_placement *placement);

/* rep_placement_distance - the least 2^k bytes that half of the pairs' distances lie below; 0: no pairs. */
uint64_t rep_placement_distance(const struct rep_placement_sample *sample);

#endif
