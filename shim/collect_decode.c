/* collect_decode.c - records of a chunk to marks, shapes and stamps of a block. The collector's hot loop. */
#include "shim/collect.h"

#include <stdlib.h>
#include <string.h>

#define likely_true(condition)   __builtin_expect(!!(condition), 1)
#define unlikely_true(condition) __builtin_expect(!!(condition), 0)

#define DIRECT_ENTRIES   (((size_t)FP_RECORD_CODE_MASK + 1) << FP_RECORD_SHORT_SIZE_BITS)
#define TABLE_BITS       17u /* twice FP_BLOCK_MARKS_MAX shapes */
#define TABLE_MASK       ((1u << TABLE_BITS) - 1)
#define GENERATION_LIMIT 0xffffu
#define WORDS_PER_CHUNK  (SEG_CHUNK_BYTES / (uint32_t)sizeof(uint64_t))

_Static_assert(FP_BLOCK_MARKS_MAX <= 0x10000, "a shape's index has 16 bits in the dictionary");

bool decode_init(struct decode_block *block)
{
    memset(block, 0, sizeof *block);
    block->marks = malloc(FP_BLOCK_MARKS_MAX * sizeof *block->marks);
    block->shapes = malloc(FP_BLOCK_MARKS_MAX * sizeof *block->shapes);
    block->stamps = malloc((FP_BLOCK_MARKS_MAX + 1) * sizeof *block->stamps);
    block->table = calloc((size_t)TABLE_MASK + 1, sizeof *block->table);
    block->direct = calloc(DIRECT_ENTRIES, sizeof *block->direct);
    for (unsigned call = 0; call < 256; call++)
        block->is_mark[call] = fp_mark_is_valid(call);
    for (unsigned call = 0; call < 64; call++) {
        const unsigned code = fp_record_code(call);
        block->short_calls[code] = code != 0 ? (uint8_t)call : 0;
        block->short_extras[code] = code != 0 ? (uint8_t)fp_record_extra(call) : 0;
    }
    if (block->marks == NULL || block->shapes == NULL || block->stamps == NULL || block->table == NULL ||
        block->direct == NULL)
        return false;
    decode_clear(block);
    return true;
}

void decode_release(struct decode_block *block)
{
    free(block->marks);
    free(block->shapes);
    free(block->stamps);
    free(block->table);
    free(block->direct);
    memset(block, 0, sizeof *block);
}

void decode_clear(struct decode_block *block)
{
    block->mark_count = block->shape_count = block->stamp_count = 0;
    block->events = 0;
    /* Entries of former generations count as empty, so the tables are wiped only once in 65535 blocks. */
    if (block->generation == GENERATION_LIMIT) {
        memset(block->table, 0, ((size_t)TABLE_MASK + 1) * sizeof *block->table);
        memset(block->direct, 0, DIRECT_ENTRIES * sizeof *block->direct);
        block->generation = 0;
    }
    block->generation++;
}

static uint32_t new_shape(struct decode_block *block, uint8_t call, uint64_t size, uint64_t extra)
{
    block->shapes[block->shape_count] = (struct fp_shape){call, size, extra};
    return block->shape_count++;
}

/* The shape of a record of one word. Its code and size are the place in the table: neighbouring sizes share lines of
 * the cache, where a hash would scatter them. */
static inline uint32_t direct_index(struct decode_block *block, unsigned code, uint64_t size)
{
    uint32_t *entry = &block->direct[(size_t)code << FP_RECORD_SHORT_SIZE_BITS | size];
    if (unlikely_true(*entry >> 16 != block->generation))
        *entry = block->generation << 16 |
                 new_shape(block, block->short_calls[code], size, block->short_extras[code]);
    return *entry & 0xffff;
}

static uint32_t shape_index(struct decode_block *block, uint8_t call, uint64_t size, uint64_t extra)
{
    const uint64_t mixed = (size * 64 + call + extra * UINT64_C(0x632be59bd9b4e019)) *
                           UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> (64 - TABLE_BITS));
    for (;; at = (at + 1) & TABLE_MASK) {
        const uint32_t entry = block->table[at];
        struct fp_shape *shape;
        if (entry >> 16 != block->generation)
            break;
        shape = &block->shapes[entry & 0xffff];
        if (shape->size == size && shape->call == call && shape->extra == extra)
            return entry & 0xffff;
    }
    block->table[at] = block->generation << 16 | block->shape_count;
    return new_shape(block, call, size, extra);
}

static void append_stamp(struct decode_block *block, struct collect_lane *lane, uint64_t time_ns)
{
    if (time_ns < lane->time_ns)
        time_ns = lane->time_ns; /* a later anchor may have tilted the line a little */
    lane->time_ns = time_ns;
    /* Two stamps before one mark (a wide record stood between): the later one tells more. */
    if (block->stamp_count > 0 && block->stamps[block->stamp_count - 1].mark == block->mark_count)
        block->stamp_count--;
    block->stamps[block->stamp_count++] = (struct fp_stamp){block->mark_count, time_ns};
}

/* A record's address and shape. Returns the words it took; 0: it is no record. */
static inline uint32_t decode_call(struct decode_block *block, const uint64_t *words, uint32_t left,
                                   uint64_t *ret_address, uint32_t *ret_shape)
{
    const uint64_t first = words[0];
    const unsigned code = first & FP_RECORD_CODE_MASK;
    uint32_t taken = 0;
    uint64_t size = 0, extra = 0;
    uint8_t call;
    if (likely_true(block->short_calls[code] != 0)) {
        *ret_address = first & ((UINT64_C(1) << FP_RECORD_ADDRESS_BITS) - 1) & ~(uint64_t)FP_RECORD_CODE_MASK;
        *ret_shape = direct_index(block, code, first >> FP_RECORD_ADDRESS_BITS);
        return 1;
    }
    call = (uint8_t)(first >> 4);
    if (code == FP_RECORD_LONG && left >= 2) {
        size = words[1] & 0xffffffff;
        extra = words[1] >> 32;
        taken = 2;
    } else if (code == FP_RECORD_WIDE && left >= 3) {
        size = words[1];
        extra = words[2];
        taken = 3;
    }
    if (taken == 0 || !block->is_mark[call])
        return 0;
    *ret_address = first >> 16;
    /* A shape has one number in a block, whatever record it came by. */
    *ret_shape = fp_record_code(call) != 0 && extra == fp_record_extra(call) &&
                         size >> FP_RECORD_SHORT_SIZE_BITS == 0
                     ? direct_index(block, fp_record_code(call), size)
                     : shape_index(block, call, size, extra);
    return taken;
}

uint32_t decode_chunk(struct decode_block *block, struct collect_lane *lane,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_at)
{
    const uint64_t *words = (const uint64_t *)chunk;
    struct fp_mark *marks = block->marks;
    uint32_t at = first != 0 ? first : SEG_CHUNK_HEADER / (uint32_t)sizeof(uint64_t), next = 0;
    uint32_t mark_count =
        block->mark_count; /* in registers: stores to marks might alias the block's fields */
    uint64_t base_epoch = block->base_epoch, events = 0;

    /* acquire: the chunk may still be its writer's, who stores a record's first word last (release) */
    while (at < WORDS_PER_CHUNK && __atomic_load_n(&words[at], __ATOMIC_ACQUIRE) != 0) {
        const unsigned code = words[at] & FP_RECORD_CODE_MASK;
        uint64_t address;
        uint32_t shape, taken;
        if (code == FP_RECORD_EPOCH || (code == FP_RECORD_STAMP && at + 1 < WORDS_PER_CHUNK)) {
            lane->epoch = words[at++] >> 4;
            if (code == FP_RECORD_STAMP) {
                block->mark_count = mark_count;
                append_stamp(block, lane, clock_ns(clock, words[at++]));
            }
            continue;
        }
        if (mark_count == 0)
            base_epoch = lane->epoch;
        if (mark_count == FP_BLOCK_MARKS_MAX || lane->epoch < base_epoch ||
            lane->epoch - base_epoch > UINT32_MAX) {
            next = at;
            break;
        }
        taken = decode_call(block, words + at, WORDS_PER_CHUNK - at, &address, &shape);
        if (taken == 0) {
            (*damaged)++;
            at++;
            continue;
        }
        marks[mark_count++] = (struct fp_mark){address, shape, (uint32_t)(lane->epoch - base_epoch)};
        events += block->shapes[shape].call < FP_CALL_COUNT;
        at += taken;
    }
    block->mark_count = mark_count;
    block->base_epoch = base_epoch;
    block->events += events;
    *ret_at = at;
    return next;
}
