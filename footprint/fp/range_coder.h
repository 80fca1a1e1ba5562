/* range_coder.h - bits with the probabilities that they have turned out to have, as a column of bytes, and back.
 *
 * A column of sites is mostly guessed right, and what a right guess takes is a hundredth of a bit to a few tenths: whole bits, as
 * zstd's literals have, would be most of the column. docs/notes/format.md, "Coded sites", is the specification.
 *
 * Writing and reading run the same code, so that they cannot part: `reads` is a constant wherever these are inlined. */
#ifndef MALLAB_FOOTPRINT_FP_RANGE_CODER_H
#define MALLAB_FOOTPRINT_FP_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANGE_INLINE static inline __attribute__((always_inline))

#define RANGE_BITS       12u /* of a probability */
#define RANGE_HALF       (1u << (RANGE_BITS - 1))
#define RANGE_RATE       5u
#define RANGE_LEAST      (1u << 24)
#define RANGE_TAIL_BYTES 4u /* behind the last bit */
#define RANGE_TOP_BITS   3u /* of a number, below its highest one, which have probabilities */

/* A column: written at `at`, where the caller has made room, or read from there up to `end`. */
struct range_coder {
    uint32_t low; /* reading: the number that the column is, less what was left behind */
    uint32_t range;
    uint8_t *at;
    const uint8_t *from, *end;
    bool bad; /* it was read beyond its end; every bit is 0 or 1 by chance from then on */
};

/* range_write - begin a column in memory. range_end: finish it; returns the byte behind it.
 * range_read - begin to read one. range_done: whether it was read to its end, and nothing was amiss. */
static inline struct range_coder range_write(uint8_t *at)
{
    return (struct range_coder){.range = UINT32_MAX, .at = at};
}

static inline uint8_t *range_end(struct range_coder *coder)
{
    for (unsigned i = 0; i < RANGE_TAIL_BYTES; i++, coder->low <<= 8)
        *coder->at++ = (uint8_t)(coder->low >> 24);
    return coder->at;
}

static inline uint32_t range_next_byte(struct range_coder *coder)
{
    coder->bad |= coder->from == coder->end;
    return coder->from < coder->end ? *coder->from++ : 0;
}

static inline struct range_coder range_read(const uint8_t *from, size_t bytes)
{
    struct range_coder coder = {.range = UINT32_MAX, .from = from, .end = from + bytes};
    for (unsigned i = 0; i < RANGE_TAIL_BYTES; i++)
        coder.low = coder.low << 8 | range_next_byte(&coder);
    return coder;
}

static inline bool range_done(const struct range_coder *coder)
{
    return !coder->bad && coder->from == coder->end;
}

/* The part of the range up to `bound` is that of a bit that is set. */
RANGE_INLINE bool range_split(struct range_coder *coder, bool reads, uint32_t bound, bool bit)
{
    if (reads)
        bit = coder->low < bound;
    if (bit) {
        coder->range = bound;
    } else {
        coder->range -= bound;
        if (reads) {
            coder->low -= bound;
        } else {
            coder->low += bound;
            if (coder->low <
                bound) /* one is carried: the column as a number stays below 1, so it ends within it */
                for (uint8_t *before = coder->at - 1; ++*before == 0;)
                    before--;
        }
    }
    while (coder->range < RANGE_LEAST) {
        coder->range <<= 8;
        if (reads)
            coder->low = coder->low << 8 | range_next_byte(coder);
        else {
            *coder->at++ = (uint8_t)(coder->low >> 24);
            coder->low <<= 8;
        }
    }
    return bit;
}

/* range_bit - one bit. chance: of 2^RANGE_BITS, that it is set; brought up to date. Takes 7.1 bits at the most. */
RANGE_INLINE bool range_bit(struct range_coder *coder, bool reads, uint16_t *chance, bool bit)
{
    bit = range_split(coder, reads, (coder->range >> RANGE_BITS) * *chance, bit);
    if (bit)
        *chance += ((1u << RANGE_BITS) - *chance) >> RANGE_RATE;
    else
        *chance -= *chance >> RANGE_RATE;
    return bit;
}

/* Numbers: how many bits follow the highest one of the number and 1; then those. */
struct range_number {
    uint16_t length[64];                    /* a tree of 6 bits */
    uint16_t top[64][1u << RANGE_TOP_BITS]; /* by length, likewise */
};

/* range_begin - chances of an even half. */
static inline void range_begin(uint16_t *chances, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chances[i] = RANGE_HALF;
}

/* range_number - a number below 2^63; reads any up to 2^64 - 2 where the column is damaged. */
RANGE_INLINE uint64_t range_number(struct range_coder *coder, bool reads, struct range_number *model,
                                   uint64_t number)
{
    const uint64_t told = number + 1;
    unsigned length = reads ? 0 : 63u - (unsigned)__builtin_clzll(told), node = 1;
    for (unsigned i = 6; i-- > 0;)
        node = node << 1 | range_bit(coder, reads, &model->length[node], length >> i & 1);
    length = node & 63;
    uint64_t found = 1;
    node = 1;
    for (unsigned i = length; i-- > 0;) {
        const bool bit = !reads && (told >> i & 1) != 0;
        if (length - i <= RANGE_TOP_BITS) {
            const bool is = range_bit(coder, reads, &model->top[length][node], bit);
            node = node << 1 | is;
            found = found << 1 | is;
        } else {
            found = found << 1 | range_split(coder, reads, coder->range >> 1, bit);
        }
    }
    return found - 1;
}

#endif
