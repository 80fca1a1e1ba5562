/* regions.h - one space of addresses for several processes. Private to convert/.
 *
 *   region   2^24 addresses of one process; it gets the next free region of the common space when it is first met
 *
 * Objects of different processes never meet, those of one keep their distances within a region, and pairing and filters
 * need not know that there are several processes. Memory follows the regions met, at most CONV_REGIONS_MAX. */
#ifndef MALLAB_CONVERT_MERGE_REGIONS_H
#define MALLAB_CONVERT_MERGE_REGIONS_H

#include "convert/ops/live_table.h"

#define CONV_REGION_BITS 24u
#define CONV_REGIONS_MAX                                                                                     \
    (1u << 22) /* 64 TiB of address space in which some object begins; the table takes 128 MiB */

struct conv_regions {
    struct conv_live_table
        table; /* number of a process plus 1, and of a region in it -> number in the common space, from 1 */
    uint64_t last_key; /* most calls of a process stay in one region */
    uint32_t last;
};

/* conv_regions_init - an empty space. False: no memory. */
bool conv_regions_init(struct conv_regions *regions);
void conv_regions_release(struct conv_regions *regions);

/* conv_regions_place - an address of a process in the common space. 0 and what is no address (2^48 and more) stay as they
 * are. space: number of the process, below 2^23.
 * Returns  false: no memory, or CONV_REGIONS_MAX is reached. */
bool conv_regions_place(struct conv_regions *regions, uint32_t space, uint64_t address, uint64_t *ret_common);

/* conv_regions_find - the same without making a region. False: the process has none there. */
bool conv_regions_find(const struct conv_regions *regions, uint32_t space, uint64_t address,
                       uint64_t *ret_common);

#endif
