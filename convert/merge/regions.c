/* regions.c - the table from a process' region to the common one. */
#include "convert/merge/regions.h"

#include <stdlib.h>

#include "convert/base/source.h"
#include "convert/ops/live_table.h"

#define FIRST_CAPACITY 256u
#define WITHIN_REGION  ((UINT64_C(1) << CONV_REGION_BITS) - 1)

bool conv_regions_init(struct conv_regions *regions)
{
    *regions = (struct conv_regions){.seed = conv_seed(), .mask = FIRST_CAPACITY - 1};
    regions->table = calloc(FIRST_CAPACITY, sizeof *regions->table);
    return regions->table != NULL;
}

void conv_regions_release(struct conv_regions *regions)
{
    free(regions->table);
    *regions = (struct conv_regions){0};
}

static struct conv_region *slot_of(const struct conv_regions *regions, uint32_t space, uint32_t number)
{
    size_t at = conv_mix((uint64_t)space << 32 | number, regions->seed) & regions->mask;
    while (regions->table[at].space != 0 &&
           (regions->table[at].space != space || regions->table[at].number != number))
        at = (at + 1) & regions->mask;
    return &regions->table[at];
}

static bool grow(struct conv_regions *regions)
{
    struct conv_region *old = regions->table;
    const size_t old_capacity = regions->mask + 1;
    struct conv_region *table = calloc(old_capacity * 2, sizeof *table);
    if (table == NULL)
        return false;
    regions->table = table;
    regions->mask = old_capacity * 2 - 1;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].space != 0)
            *slot_of(regions, old[i].space, old[i].number) = old[i];
    free(old);
    return true;
}

static bool is_address(uint64_t address)
{
    return address != 0 && address < CONV_ADDRESS_LIMIT;
}

static uint64_t common_of(const struct conv_region *region, uint64_t address)
{
    return (uint64_t)region->common << CONV_REGION_BITS | (address & WITHIN_REGION);
}

static bool is_at(const struct conv_region *region, uint32_t space, uint64_t address)
{
    return region->space == space + 1 && region->number == (uint32_t)(address >> CONV_REGION_BITS);
}

bool conv_regions_place(struct conv_regions *regions, uint32_t space, uint64_t address, uint64_t *ret_common)
{
    struct conv_region *slot;
    *ret_common = address;
    if (!is_address(address))
        return true;
    if (!is_at(&regions->last, space, address)) {
        const uint32_t number = (uint32_t)(address >> CONV_REGION_BITS);
        slot = slot_of(regions, space + 1, number);
        if (slot->space == 0) {
            if (regions->count == CONV_REGIONS_MAX)
                return false;
            if (regions->count * 2 >= regions->mask) {
                if (!grow(regions))
                    return false;
                slot = slot_of(regions, space + 1, number);
            }
            *slot = (struct conv_region){
                .space = space + 1, .number = number, .common = (uint32_t)++regions->count};
        }
        regions->last = *slot;
    }
    *ret_common = common_of(&regions->last, address);
    return true;
}

bool conv_regions_find(const struct conv_regions *regions, uint32_t space, uint64_t address,
                       uint64_t *ret_common)
{
    const struct conv_region *slot;
    if (!is_address(address))
        return false;
    slot = slot_of(regions, space + 1, (uint32_t)(address >> CONV_REGION_BITS));
    if (slot->space == 0)
        return false;
    *ret_common = common_of(slot, address);
    return true;
}
