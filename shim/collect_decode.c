/* collect_decode.c - a chunk's records into a block, with the clock read for its stamps. */
#include "shim/collect.h"

#include "footprint/records.h"

#define WORDS_PER_CHUNK (SEG_CHUNK_BYTES / (uint32_t)sizeof(uint64_t))

static void append_stamp(struct fp_columns *block, struct collect_lane *lane, uint64_t time_ns)
{
    if (time_ns < lane->time_ns)
        time_ns = lane->time_ns; /* a later anchor may have tilted the line a little */
    lane->time_ns = time_ns;
    fp_columns_stamp(block, time_ns);
}

uint32_t decode_chunk(struct fp_columns *block, struct collect_lane *lane, const struct collect_clock *clock,
                      const struct seg_chunk_header *chunk, uint32_t first, uint64_t *damaged,
                      uint32_t *ret_at)
{
    const uint64_t *words = (const uint64_t *)chunk;
    uint32_t at = first != 0 ? first : SEG_CHUNK_HEADER / (uint32_t)sizeof(uint64_t);
    enum fp_records_stop stop;
    while ((stop = fp_records_take(block, words, WORDS_PER_CHUNK, &at, &lane->epoch, damaged)) ==
           FP_RECORDS_STAMP) {
        lane->epoch = fp_record_epoch_of(words[at]);
        append_stamp(block, lane, clock_ns(clock, words[at + 1]));
        at += 2;
    }
    *ret_at = at;
    return stop == FP_RECORDS_FULL ? at : 0;
}

uint64_t chunk_calls(const struct seg_chunk_header *chunk, uint64_t written)
{
    const uint32_t first = SEG_CHUNK_HEADER / (uint32_t)sizeof(uint64_t);
    const uint32_t split = written < WORDS_PER_CHUNK ? (uint32_t)written : WORDS_PER_CHUNK;
    return fp_records_calls((const uint64_t *)chunk, WORDS_PER_CHUNK, split > first ? split : first);
}

void decode_epoch(struct collect_lane *lane, const struct seg_chunk_header *chunk, uint32_t end)
{
    const uint64_t *words = (const uint64_t *)chunk;
    uint32_t at = SEG_CHUNK_HEADER / (uint32_t)sizeof(uint64_t);
    while (at < end) {
        const unsigned code = words[at] & FP_RECORD_CODE_MASK;
        if (code == FP_RECORD_EPOCH || code == FP_RECORD_STAMP)
            lane->epoch = words[at] >> 4;
        at += code == FP_RECORD_WIDE ? 3 : code == FP_RECORD_LONG || code == FP_RECORD_STAMP ? 2 : 1;
    }
}
