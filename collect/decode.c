/* decode.c - records to columns; and the clock that their stamps are read by: chosen, calibrated, anchored, converted. */
#include "collect/steps.h"

#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

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

/* ---- the clock ----------------------------------------------------------------------------------------- */

#define CALIBRATION_NS 2000000u /* long enough for 1e-4; anchors of the recording itself refine it */

/* The TSC serves where the kernel has it for a clock: at one rate, and in all sleep states. */
static enum seg_clock choose_clock(void)
{
#if defined(__x86_64__)
    char names[256];
    (void)fp_file_begin("/sys/devices/system/clocksource/clocksource0/available_clocksource", names,
                        sizeof names);
    if (strstr(names, "tsc") != NULL)
        return SEG_CLOCK_TSC;
#endif
    return SEG_CLOCK_MONOTONIC;
}

static uint64_t read_raw(enum seg_clock kind)
{
#if defined(__x86_64__)
    if (kind == SEG_CLOCK_TSC)
        return __rdtsc();
#endif
    return fp_now_ns();
}

/* Both clocks at one moment: of a few tries the one with the least time between its two readings. */
static void read_both(enum seg_clock kind, uint64_t *ret_ticks, uint64_t *ret_ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        const uint64_t before = read_raw(kind);
        const uint64_t ns = fp_now_ns();
        const uint64_t after = read_raw(kind);
        if (after - before >= best)
            continue;
        best = after - before;
        *ret_ticks = before + (after - before) / 2;
        *ret_ns = ns;
    }
}

/* The line goes through the two anchors. Where they are one, it stays as it was. */
static void lay_line(struct collect_clock *clock)
{
    if (clock->last_ticks > clock->first_ticks && clock->last_ns > clock->first_ns)
        clock->ns_per_tick = (double)(clock->last_ns - clock->first_ns) /
                             (double)(clock->last_ticks - clock->first_ticks);
}

void clock_start(struct collect_clock *clock, bool no_tsc)
{
    struct timespec wall;
    clock->kind = no_tsc ? SEG_CLOCK_MONOTONIC : choose_clock();
    clock->ns_per_tick = 1;
    read_both(clock->kind, &clock->first_ticks, &clock->first_ns);
    (void)clock_gettime(CLOCK_REALTIME, &wall); /* cannot fail for this clock */
    clock->start_unix_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    clock->last_ticks = clock->first_ticks;
    clock->last_ns = clock->first_ns;
    if (clock->kind != SEG_CLOCK_TSC)
        return;
    while (fp_now_ns() - clock->first_ns < CALIBRATION_NS) {
        const struct timespec rest = {0, CALIBRATION_NS / 4};
        (void)nanosleep(&rest, NULL); /* woken early: the loop goes on */
    }
    clock_anchor(clock);
}

void clock_anchor(struct collect_clock *clock)
{
    if (clock->kind != SEG_CLOCK_TSC)
        return;
    read_both(clock->kind, &clock->last_ticks, &clock->last_ns);
    lay_line(clock);
}

void clock_share(const struct collect_clock *clock, struct seg_header *segment)
{
    put_relaxed(&segment->clock_last_ticks, clock->last_ticks);
    put_relaxed(&segment->clock_last_ns, clock->last_ns);
}

void clock_resume(struct collect_clock *clock, const struct seg_header *segment)
{
    *clock = (struct collect_clock){.kind = (enum seg_clock)segment->fixed.clock,
                                    .first_ticks = segment->fixed.clock_first_ticks,
                                    .first_ns = segment->fixed.clock_first_ns,
                                    .last_ticks = get_relaxed(&segment->clock_last_ticks),
                                    .last_ns = get_relaxed(&segment->clock_last_ns),
                                    .ns_per_tick = 1,
                                    .start_unix_ns = segment->fixed.clock_start_unix_ns};
    lay_line(clock);
}

uint64_t clock_ns(const struct collect_clock *clock, uint64_t raw)
{
    if (raw <= clock->first_ticks)
        return 0;
    /* Count from the nearer anchor, so that the double's 53 bits hold a short distance. */
    if (raw >= clock->last_ticks)
        return clock->last_ns - clock->first_ns +
               (uint64_t)((double)(raw - clock->last_ticks) * clock->ns_per_tick);
    return (uint64_t)((double)(raw - clock->first_ticks) * clock->ns_per_tick);
}
