/* decode.c - records to columns. */
#include "collect/steps.h"

#define THREAD_WORDS 2u

static void append_stamp(struct fp_columns *block, struct collect_stream *stream, uint64_t time_ns)
{
    if (time_ns < stream->time_ns)
        time_ns = stream->time_ns; /* a later anchor may have tilted the line a little */
    stream->time_ns = time_ns;
    fp_columns_stamp(block, time_ns);
}

bool decode_thread_at(const struct seg_chunk_header *chunk, uint32_t at, struct decode_thread *ret_thread)
{
    const uint64_t *words = (const uint64_t *)chunk;
    if (at + THREAD_WORDS > SEG_CHUNK_WORDS || !fp_record_is_thread(words[at]))
        return false;
    *ret_thread = (struct decode_thread){(uint32_t)words[at + 1], (uint32_t)(words[at + 1] >> 32)};
    return true;
}

uint32_t decode_chunk(struct fp_columns *block, struct collect_stream *stream,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_at)
{
    const uint64_t *words = (const uint64_t *)chunk;
    uint32_t at = first != 0 ? first : SEG_FIRST_WORD;
    enum fp_records_stop stop;
    struct decode_thread thread;
    const bool begins = first == 0 || decode_thread_at(chunk, at, &thread);
    if (decode_thread_at(chunk, at, &thread))
        at += THREAD_WORDS;
    if (begins && stream->sites != NULL)
        fp_site_decoder_begin(stream->sites);
    fp_columns_take_sites(block, stream->sites);
    while ((stop = fp_records_take(block, words, SEG_CHUNK_WORDS, &at, &stream->epoch, damaged)) ==
           FP_RECORDS_STAMP) {
        stream->epoch = fp_record_epoch_of(words[at]);
        append_stamp(block, stream, clock_ns(clock, words[at + 1]));
        at += 2;
    }
    *ret_at = at;
    return stop == FP_RECORDS_END ? 0 : at;
}

uint64_t decode_calls(const struct seg_chunk_header *chunk, uint64_t written)
{
    const uint32_t split = written < SEG_CHUNK_WORDS ? (uint32_t)written : SEG_CHUNK_WORDS;
    return fp_records_calls((const uint64_t *)chunk, SEG_CHUNK_WORDS,
                            split > SEG_FIRST_WORD ? split : SEG_FIRST_WORD);
}

struct decode_thread decode_skip(const struct seg_chunk_header *chunk, uint32_t end,
                                 struct fp_site_decoder *sites, uint64_t *ret_epoch)
{
    const uint64_t *words = (const uint64_t *)chunk;
    struct decode_thread thread = {chunk->lane, chunk->thread_id};
    uint32_t at = SEG_FIRST_WORD;
    if (sites != NULL)
        fp_site_decoder_begin(sites);
    while (at < end) {
        const unsigned code = words[at] & FP_RECORD_CODE_MASK;
        if (code == FP_RECORD_EPOCH || code == FP_RECORD_STAMP)
            *ret_epoch = fp_record_epoch_of(words[at]);
        const uint32_t length = fp_record_words(words[at]);
        const bool is_thread = decode_thread_at(chunk, at, &thread); /* most are none */
        if (sites != NULL && is_thread)
            fp_site_decoder_begin(sites);
        else if (sites != NULL && length <= SEG_CHUNK_WORDS - at)
            fp_site_decoder_skip(sites, words + at);
        at += length;
    }
    if (end > 0)
        (void)decode_thread_at(chunk, end, &thread); /* it begins there */
    return thread;
}
