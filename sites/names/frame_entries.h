/* frame_entries.h - where functions begin and end, by .eh_frame: also those of a stripped file.
 *
 * Hostile bytes: every offset is checked against the file. 64-bit little-endian files with the sorted table that linkers
 * make (.eh_frame_hdr); of others nothing is found. */
#ifndef MALLAB_SITES_NAMES_FRAME_ENTRIES_H
#define MALLAB_SITES_NAMES_FRAME_ENTRIES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_SEGMENTS_MAX 32u

/* Borrows the bytes of the file, as long as the elf is open. Zeroes have no entries. */
struct frame_entries {
    const uint8_t *bytes;
    struct {
        uint64_t address, offset, size;
    } segments[FRAME_SEGMENTS_MAX];
    size_t segment_count;
    const uint8_t
        *table; /* pairs of words: where a function begins, and its entry; relative to header_address */
    uint64_t header_address;
    size_t count;
};

/* frame_entries_open - find the table. Where there is none ret has no entries. */
void frame_entries_open(Elf *elf, struct frame_entries *ret);

/* frame_entries_find - the begin of the function that covers an address. Returns false: none does. */
bool frame_entries_find(const struct frame_entries *entries, uint64_t address, uint64_t *ret_start);

#endif
