/* bytes.h - little-endian words, varints and zigzag, with bounds; a buffer that grows.
 *
 * A varint holds 7 bits a byte, least significant first, 0x80 on all but the last: at most 10 bytes
 * for 64 bits. A cursor reads from a byte range; when the range ends inside a value, or a varint is
 * longer than its value needs room for, `bad` is set and every further read yields 0: callers check
 * once at the end of a column. */
#ifndef MALLAB_FOOTPRINT_BASE_BYTES_H
#define MALLAB_FOOTPRINT_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_BYTES_MAX 10u

static inline void put_u16(uint8_t *at, uint16_t value)
{
    value = htole16(value);
    memcpy(at, &value, sizeof value);
}

static inline void put_u32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static inline void put_u64(uint8_t *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return le16toh(value);
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static inline uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

/* put_varint - write value at `at`, which has room for VARINT_BYTES_MAX; returns the next free byte. */
static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* put_short_varint - put_varint without a branch, for up to 21 bits. Distances are long and short at random: a processor would guess
 * the number of bytes wrong half of the time. Needs room for four bytes. */
static inline uint8_t *put_short_varint(uint8_t *at, uint32_t value)
{
    static const uint32_t CONTINUED[3] = {0, 0x80, 0x8080};
    const uint32_t more = (value > 0x7f) + (value > 0x3fff);
    /* Adding moves the bits from the 7th and from the 14th up by one. */
    put_u32(at, (value + (value & ~0x7fu) + 2 * (value & ~0x3fffu)) | CONTINUED[more]);
    return at + 1 + more;
}

static inline uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

/* get_varint_slow - values of two bytes and more, and the end of the range. */
uint64_t get_varint_slow(struct cursor *cursor);

static inline uint64_t get_varint(struct cursor *cursor)
{
    if (__builtin_expect(cursor->at < cursor->end && *cursor->at < 0x80, 1))
        return *cursor->at++;
    return get_varint_slow(cursor);
}

static inline uint8_t get_byte(struct cursor *cursor)
{
    if (__builtin_expect(cursor->at < cursor->end, 1))
        return *cursor->at++;
    cursor->bad = true;
    return 0;
}

/* cursor_done - the whole range was read and nothing was amiss. */
static inline bool cursor_done(const struct cursor *cursor)
{
    return !cursor->bad && cursor->at == cursor->end;
}

/* A growing byte buffer; zeroes are an empty one.
 * bytes_reserve - make capacity at least so much. False: no memory, and nothing changed. */
struct bytes {
    uint8_t *at;
    size_t size, capacity;
};

bool bytes_reserve(struct bytes *bytes, size_t capacity);
void bytes_release(struct bytes *bytes);

#endif
