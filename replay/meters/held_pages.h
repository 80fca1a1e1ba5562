/* held_pages.h - what each live object holds of resident memory at one moment: its share of the pages that it lies on.
 *
 *   share   of a resident page: its bytes, among the live objects on it, in proportion to the bytes that each has there. So
 *           what nobody uses of a page goes with the objects that pin it, and shares add up to the pages. Bytes are as the
 *           allocator rounded them up (malloc_usable_size), where it tells, else as requested; one for an object of none
 *   file    one number of 64 bits for each object id of the workload, from 0 up. Before the run: the bytes requested of the
 *           object that is live then, plus one; 0: none is. Afterwards: what it holds, in REP_HELD_UNIT parts of a byte
 *
 * Who makes the file knows the workload; the replay follows no object. A page in a huge page counts as others do, by itself;
 * one in swap is not resident. Which pages are: /proc/self/pagemap. */
#ifndef MALLAB_REPLAY_METERS_HELD_PAGES_H
#define MALLAB_REPLAY_METERS_HELD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

#define REP_HELD_UNIT 256u

struct rep_held_object {
    uint64_t address;
    uint64_t bytes; /* above 0 */
    uint32_t id;
};

struct rep_held_sums {
    uint64_t pages_bytes;   /* resident pages with live objects */
    uint64_t swapped_bytes; /* pages with live objects that are in swap */
};

enum rep_page_state { REP_PAGE_ABSENT = 0, REP_PAGE_RESIDENT = 1, REP_PAGE_SWAPPED = 2 };

struct rep_held {
    uint64_t at_op; /* the moment: after so many ops */
    uint64_t *file; /* by id */
    uint32_t id_max;
    void *const *slots;            /* by id */
    size_t (*usable_size)(void *); /* NULL: the allocator has none */
    struct rep_held_object *objects, *scratch;
    size_t count;
    int pagemap_fd;
    uint64_t block[512]; /* of the page map, from page block_first on */
    uint64_t block_first, block_count;

    bool taken;
    uint64_t resident_bytes; /* as of a sample (meters.h) at that moment */
    struct rep_held_sums sums;
};

/* rep_held_init - map the file and what sharing out takes, before the first op. slots: by object id; borrowed.
 * Returns   false with ret_why set. */
bool rep_held_init(struct rep_held *held, int fd, uint64_t at_op, const struct wl_summary *summary,
                   void *const *slots, const char **ret_why);

/* rep_held_take - at rest, after at_op ops: fill the file. */
void rep_held_take(struct rep_held *held, uint64_t resident_bytes);

/* rep_held_share - share pages out. objects: by rising address.
 * state_of  of a page by its number, address / REP_PAGE_BYTES; asked of each once, by rising number.
 * ret_held  by id: is added to, in REP_HELD_UNIT parts of a byte. */
void rep_held_share(const struct rep_held_object *objects, size_t count,
                    enum rep_page_state (*state_of)(void *context, uint64_t page), void *context,
                    uint64_t *ret_held, struct rep_held_sums *ret_sums);

/* rep_held_sort - by rising address. scratch: room for as many. */
void rep_held_sort(struct rep_held_object *objects, struct rep_held_object *scratch, size_t count);

#endif
