/* bytes.c - the slow path of varint reading. */
#include "footprint/base/bytes.h"

uint64_t get_varint_slow(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        if (cursor->at == cursor->end)
            break;
        byte = *cursor->at++;
        if (shift == 63 && byte > 1)
            break; /* bits beyond the 64th */
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->bad = true;
    cursor->at = cursor->end;
    return 0;
}
