/* fuzz_cfi.c - any bytes as the segment of a module that holds .eh_frame_hdr: cfi_find reads none but those, and ends. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "shim/sites/cfi.h"

#define HEADER_BYTES 12u /* of .eh_frame_hdr, before its table */

/* An .eh_frame_hdr with one entry, which leads to what stands behind it; so that random bytes are a CIE or FDE at once. */
static void try_behind_table(uint8_t *copy, const uint8_t *bytes, size_t size)
{
    static const uint8_t header[HEADER_BYTES + 8] = {1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 1, 0,
                                                     0, 0,    0, 0,    0, 0, 0, 0, 0, 0};
    memcpy(copy, header, sizeof header);
    memcpy(copy + sizeof header, bytes, size);
    const uint32_t first = sizeof header, address = 0;
    memcpy(copy + HEADER_BYTES, &address, 4);
    const struct cfi_segment segment = {(uintptr_t)copy, (uintptr_t)copy + sizeof header + size,
                                        (uintptr_t)copy};
    for (uint32_t fde = first; fde < first + size && fde < first + 64; fde += 4) {
        memcpy(copy + HEADER_BYTES + 4, &fde, 4);
        for (uintptr_t step = 0; step < 4; step++)
            FUZZ_CHECK(cfi_find(&segment, segment.start + step * 5) >> CFI_RULE_BITS == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + HEADER_BYTES + 8);
    if (copy == NULL)
        return 0;
    try_behind_table(copy, bytes, size);
    uint8_t *exact = malloc(size > 0 ? size : 1); /* whose end a sanitizer guards */
    if (exact != NULL) {
        memcpy(exact, bytes, size);
        const struct cfi_segment segment = {(uintptr_t)exact, (uintptr_t)exact + size, (uintptr_t)exact};
        for (uintptr_t step = 0; step <= size; step += 1 + size / 16)
            (void)cfi_find(&segment, segment.start + step);
    }
    free(exact);
    free(copy);
    return 0;
}
