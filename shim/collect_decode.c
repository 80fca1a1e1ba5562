/* collect_decode.c - records of a chunk to marks, shapes and stamps of a block. The collector's hot loop. */
#include "shim/collect.h"

#include <stdlib.h>
#include <string.h>

#define likely_true(condition) __builtin_expect(!!(condition), 1)

#define TABLE_BITS        17u /* twice FP_BLOCK_MARKS_MAX shapes */
#define TABLE_MASK        ((1u << TABLE_BITS) - 1)
#define GENERATION_LIMIT  0xffffu
#define RECORDS_PER_CHUNK (SEG_CHUNK_BYTES / FP_RECORD_BYTES)

_Static_assert(FP_BLOCK_MARKS_MAX <= 0x10000, "a shape's index has 16 bits in the dictionary");

bool decode_init(struct decode_block *block)
{
    memset(block, 0, sizeof *block);
    block->marks = malloc(FP_BLOCK_MARKS_MAX * sizeof *block->marks);
    block->shapes = malloc(FP_BLOCK_MARKS_MAX * sizeof *block->shapes);
    block->stamps = malloc((FP_BLOCK_MARKS_MAX + 1) * sizeof *block->stamps);
    block->table = calloc((size_t)TABLE_MASK + 1, sizeof *block->table);
    for (unsigned call = 0; call < 256; call++)
        block->is_mark[call] = fp_mark_is_valid(call);
    if (block->marks == NULL || block->shapes == NULL || block->stamps == NULL || block->table == NULL)
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
    memset(block, 0, sizeof *block);
}

void decode_clear(struct decode_block *block)
{
    block->mark_count = block->shape_count = block->stamp_count = 0;
    block->events = 0;
    /* Entries of former generations count as empty, so the table is wiped only once in 65535 blocks. */
    if (block->generation == GENERATION_LIMIT) {
        memset(block->table, 0, ((size_t)TABLE_MASK + 1) * sizeof *block->table);
        block->generation = 0;
    }
    block->generation++;
}

static inline uint32_t shape_index(struct decode_block *block, uint8_t call, uint64_t size, uint64_t extra)
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
    block->shapes[block->shape_count] = (struct fp_shape){call, size, extra};
    return block->shape_count++;
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

/* The extra of a record that came without FP_RECORD_WIDE. */
static inline uint64_t plain_extra(unsigned call)
{
    return call == FP_CALL_CALLOC || call == FP_CALL_REALLOCARRAY ? 1 : 0;
}

/* The record's epoch, completed by the lane's; nearly always no more than the low bits differ. */
static inline uint64_t whole_epoch(uint64_t newest, const struct fp_record *record)
{
    const uint64_t low40 = fp_record_epoch40(record), mask = (UINT64_C(1) << 40) - 1;
    if (likely_true((newest & mask) == low40))
        return newest;
    return fp_epoch_extend(newest, low40);
}

static inline void remember_wide(struct collect_lane *lane, const struct fp_record *record)
{
    lane->wide_pending = true;
    lane->wide_size = (record->word0 >> 16 & 0xffffffff) << 32;
    lane->wide_extra = record->word1;
}

uint32_t decode_chunk(struct decode_block *block, struct collect_lane *lane,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_records)
{
    const struct fp_record *records = (const struct fp_record *)chunk;
    struct fp_mark *marks = block->marks;
    uint32_t at = first != 0 ? first : SEG_CHUNK_HEADER / FP_RECORD_BYTES, next = 0;
    uint32_t mark_count =
        block->mark_count; /* in registers: stores to marks might alias the block's fields */
    uint64_t base_epoch = block->base_epoch, events = 0;

    for (; at < RECORDS_PER_CHUNK; at++) {
        const struct fp_record record = records[at];
        const unsigned call = fp_record_call(&record);
        uint64_t epoch, size, extra;
        if (!block->is_mark[call]) {
            if (record.word0 == 0) {
                /* The end; but a single hole, left by whatever killed one store, does not hide what follows. */
                if (at + 1 == RECORDS_PER_CHUNK || records[at + 1].word0 == 0)
                    break;
            } else if (call == FP_RECORD_STAMP) {
                lane->epoch = record.word0 >> 8;
                block->mark_count = mark_count;
                append_stamp(block, lane, clock_ns(clock, record.word1));
            } else if (call == FP_RECORD_WIDE) {
                remember_wide(lane, &record);
            } else {
                (*damaged)++;
            }
            continue;
        }
        epoch = whole_epoch(lane->epoch, &record);
        if (mark_count == 0)
            base_epoch = epoch;
        if (mark_count == FP_BLOCK_MARKS_MAX || epoch < base_epoch || epoch - base_epoch > UINT32_MAX) {
            next = at;
            break;
        }
        size = fp_record_size32(&record);
        extra = plain_extra(call);
        if (lane->wide_pending) {
            lane->wide_pending = false;
            if (call != FP_MARK_GAP) { /* then the wide record's own call was lost */
                size |= lane->wide_size;
                extra = lane->wide_extra;
            }
        }
        marks[mark_count++] = (struct fp_mark){fp_record_address(&record),
                                               shape_index(block, (uint8_t)call, size, extra),
                                               (uint32_t)(epoch - base_epoch)};
        events += call < FP_CALL_COUNT;
    }
    block->mark_count = mark_count;
    block->base_epoch = base_epoch;
    block->events += events;
    *ret_records = at;
    return next;
}
