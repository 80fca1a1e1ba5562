/* regions.c - the table from a process' region to the common one. */
#include "convert/merge/regions.h"

#include "convert/base/source.h"

#define WITHIN_REGION ((UINT64_C(1) << CONV_REGION_BITS) - 1)

bool conv_regions_init(struct conv_regions *regions)
{
    *regions = (struct conv_regions){0};
    return conv_live_init(&regions->table);
}

void conv_regions_release(struct conv_regions *regions)
{
    conv_live_release(&regions->table);
    *regions = (struct conv_regions){0};
}

static bool is_address(uint64_t address)
{
    return address != 0 && address < CONV_ADDRESS_LIMIT;
}

/* Of a region among those of all processes; never 0. */
static uint64_t key_of(uint32_t space, uint64_t address)
{
    return ((uint64_t)space + 1) << CONV_REGION_BITS | address >> CONV_REGION_BITS;
}

static uint64_t common_of(uint32_t number, uint64_t address)
{
    return (uint64_t)number << CONV_REGION_BITS | (address & WITHIN_REGION);
}

bool conv_regions_place(struct conv_regions *regions, uint32_t space, uint64_t address, uint64_t *ret_common)
{
    const uint64_t key = key_of(space, address);
    *ret_common = address;
    if (!is_address(address))
        return true;
    if (key != regions->last_key) {
        struct conv_live_entry *entry = conv_live_place(&regions->table, key);
        if (!conv_live_is_empty(entry)) {
            regions->last = conv_live_object(entry).id;
        } else {
            const struct conv_object made = {.id = (uint32_t)regions->table.count + 1};
            if (regions->table.count == CONV_REGIONS_MAX ||
                !conv_live_insert_at(&regions->table, entry, key, made))
                return false;
            regions->last = made.id;
        }
        regions->last_key = key;
    }
    *ret_common = common_of(regions->last, address);
    return true;
}

bool conv_regions_find(const struct conv_regions *regions, uint32_t space, uint64_t address,
                       uint64_t *ret_common)
{
    const struct conv_live_entry *entry = is_address(address)
                                              ? conv_live_find(&regions->table, key_of(space, address))
                                              : NULL;
    if (entry == NULL)
        return false;
    *ret_common = common_of(conv_live_object(entry).id, address);
    return true;
}
