/* bytes.c - the slow path of varint reading; the growing buffer. */
#include "footprint/base/bytes.h"

#include <stdlib.h>

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

bool bytes_reserve(struct bytes *bytes, size_t capacity)
{
    uint8_t *at;
    if (capacity <= bytes->capacity)
        return true;
    at = realloc(bytes->at, capacity);
    if (at == NULL)
        return false;
    bytes->at = at;
    bytes->capacity = capacity;
    return true;
}

void bytes_release(struct bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct bytes){0};
}
