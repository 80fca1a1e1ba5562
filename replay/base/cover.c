/* cover.c - sort by address, then count where one object ends and the next begins. */
#include "replay/base/cover.h"

#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)

/* One pass of a radix sort from the lowest digit up: stable, from keys into ret_keys. */
static void sort_by_digit(const uint64_t *keys, uint64_t *ret_keys, size_t count, unsigned shift)
{
    static size_t places[DIGITS]; /* one thread at a time sorts */
    size_t place = 0;
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < count; i++)
        places[keys[i] >> shift & (DIGITS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        const size_t here = places[digit];
        places[digit] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        ret_keys[places[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
}

static void sort(uint64_t *keys, uint64_t *scratch, size_t count)
{
    uint64_t *from = keys, *to = scratch;
    uint64_t differing = 0; /* bits that are not the same in all keys: the other digits need no pass */
    for (size_t i = 0; i < count; i++)
        differing |= keys[i] ^ keys[0];
    for (unsigned shift = REP_COVER_SIZE_BITS; shift < 64; shift += DIGIT_BITS) {
        if ((differing >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(from, to, count, shift);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}

/* Units of unit_bytes each, by rising address. */
static uint64_t distinct(const uint64_t *keys, size_t count, uint64_t unit_bytes)
{
    uint64_t units = 0, last = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = rep_cover_address(keys[i]);
        const uint64_t size_less_one = keys[i] & ((1u << REP_COVER_SIZE_BITS) - 1);
        const uint64_t first_unit = begin / unit_bytes, last_unit = (begin + size_less_one) / unit_bytes;
        units += last_unit - first_unit + (first_unit != last);
        last = last_unit;
    }
    return units;
}

void rep_cover_count(uint64_t *keys, uint64_t *scratch, size_t count, uint64_t *ret_pages,
                     uint64_t *ret_lines)
{
    sort(keys, scratch, count);
    *ret_pages = distinct(keys, count, REP_PAGE_BYTES);
    *ret_lines = distinct(keys, count, REP_CACHE_LINE);
}
