/* lane_record.c - room made for a record, with the stamp, epoch, gap or chunk that it needs before it.
 *
 * Laws of this file: those of turn.c. */

#include <errno.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"

uint64_t lane_clock(void)
{
    uint64_t told_by_collector;
    if (unlikely(confine_knows_time(&told_by_collector)))
        return told_by_collector;
#if defined(__x86_64__)
    if (likely(shim_segment.fixed.clock == SEG_CLOCK_TSC))
        return __rdtsc();
#endif
    if (likely(shim_next.clock_gettime != NULL)) {
        struct timespec now;
        const int saved = errno;
        const bool told = shim_next.clock_gettime(CLOCK_MONOTONIC, &now) == 0;
        errno = saved;
        if (told)
            return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    return raw_now_ns();
}

/* The collector's clock is late where others have read the processor's. */
static uint64_t read_clock_after(uint64_t before)
{
    const uint64_t now = lane_clock();
    return now > before ? now : before;
}

/* One word after its successors are in place: whoever sees it sees the whole record. */
static void store_first(struct lane *lane, uint64_t word, uint32_t words)
{
    __atomic_store_n(lane->cursor, word, __ATOMIC_RELEASE);
    lane->cursor += words;
}

static void store_stamp(struct lane *lane, uint64_t epoch, uint64_t clock)
{
    __atomic_store_n(lane->cursor + 1, clock, __ATOMIC_RELAXED);
    store_first(lane, fp_record_epoch(FP_RECORD_STAMP, epoch), 2);
    lane->epoch = epoch;
}

/* ---- lanes that call seldom -----------------------------------------------------------------
 *
 * Of a lane alone some 60 calls share one stamp, and converting spreads them evenly over the time between two. That is well
 * where calls are frequent, and wrong by tens of milliseconds where a program computes for long between a few of them: a free
 * right behind such a pause is then taken to lie in its middle, and what an allocator gives back by the clock moves with it.
 * Reading the clock costs such a program nothing that it would notice.
 *
 *   seldom   a lane that calls seldom: its last stamp was `seldom_ticks` old when it made the next one. It takes the slow
 *            path with every record. It stamps a record when seldom_ticks / SELDOM_STAMPS have passed since its last stamp,
 *            so it reads the clock at most SELDOM_STAMPS times in seldom_ticks. It stops being seldom when SELDOM_QUIT
 *            records follow each other faster than that
 *   noticed  at a group's end; and by a lane alone, whose groups are long, also where the collector has stepped the epoch
 *            since its last record (image_bump_epochs, every few milliseconds): a pause between two calls is noticed by the
 *            first call behind it, without anything new on the fast path */

#define SELDOM_STAMPS 25u /* so a stamp at most each 10 us */
#define SELDOM_QUIT   64u

static void leave_seldom(struct lane *lane)
{
    const bool alone = get_relaxed(&shim_process->lane_count) <= 1;
    lane->seldom = false;
    lane_set_groups(lane, (alone ? LANE_GROUP_ALONE : LANE_GROUP_MANY) - 1);
}

/* Tells whether the next record, which is to have this epoch, is to have a stamp of its own. */
static bool owes_stamp(struct lane *lane, uint64_t epoch)
{
    const uint64_t least = shim_segment.fixed.seldom_ticks;
    const bool stepped = epoch != lane->epoch && lane->group_mask == LANE_GROUP_ALONE - 1;
    if (likely(!lane->seldom && !stepped) || least == 0 || lane->stamp_clock == 0)
        return false;
    if (read_clock_after(lane->stamp_clock) - lane->stamp_clock >= least / SELDOM_STAMPS) {
        lane->seldom_close = 0; /* not by the stamps of groups, which closely following calls have too */
        return true;
    }
    if (lane->seldom && ++lane->seldom_close >= SELDOM_QUIT)
        leave_seldom(lane);
    return false;
}

/* The end of the present group, also in a lane that calls seldom, whose group_mask says another thing. */
static uintptr_t end_mask(const struct lane *lane)
{
    return lane->seldom ? LANE_GROUP_MANY - 1 : lane->group_mask;
}

/* docs/notes/order.md, "Stepping, in full": at most one step of the shared word per lane and bump_ticks, and none while the
 * process has a single thread. */
static void write_stamp(struct lane *lane)
{
    const uint64_t now = read_clock_after(lane->stamp_clock);
    uint64_t epoch = get_acquire(lane->epoch_word);
    if (get_relaxed(&shim_process->lane_count) > 1) {
        if (!lane->seldom)
            lane_set_groups(lane, LANE_GROUP_MANY - 1);
        if (epoch == lane->seen_epoch && now - lane->seen_clock >= shim_segment.fixed.bump_ticks) {
            epoch = add_acq_rel(lane->epoch_word, 1) + 1;
            lane->seen_clock = now;
        } else if (epoch != lane->seen_epoch) {
            lane->seen_clock = now;
        }
        lane->seen_epoch = epoch;
    }
    store_stamp(lane, epoch, now);
    lane->stamp_clock = now;
}

/* A stamp, and what it tells of how often this lane calls. */
static void write_timely(struct lane *lane)
{
    const uint64_t least = shim_segment.fixed.seldom_ticks, before = lane->stamp_clock;
    write_stamp(lane);
    if (lane->seldom || least == 0 || before == 0 || lane->stamp_clock - before < least)
        return;
    lane->seldom = true;
    lane->seldom_close = 0;
    lane_set_groups(lane, 0);
}

static void store_long(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    uint64_t *cursor = lane->cursor;
    if ((size | extra) >> 32 == 0 && call != FP_RECORD_MODULE) {
        __atomic_store_n(cursor + 1, size | extra << 32, __ATOMIC_RELAXED);
        store_first(lane, fp_record_first(FP_RECORD_LONG, call, address), 2);
        return;
    }
    __atomic_store_n(cursor + 1, size, __ATOMIC_RELAXED);
    __atomic_store_n(cursor + 2, extra, __ATOMIC_RELAXED);
    store_first(lane, fp_record_first(FP_RECORD_WIDE, call, address), 3);
}

/* Words of a record that is not short. */
static uint32_t words_of_long(unsigned call, uint64_t size, uint64_t extra)
{
    return (size | extra) >> 32 == 0 && call != FP_RECORD_MODULE ? 2 : 3;
}

/* A boundary is left behind: a chunk if need be, a stamp, and a gap where calls are missing before it. */
static bool begin_group(struct lane *lane, unsigned call)
{
    if (((uintptr_t)lane->cursor & (SEG_CHUNK_BYTES - 1)) == 0) {
        lane_close_chunk(lane);
        if (!lane_open_chunk(lane, call))
            return false;
    }
    write_timely(lane);
    if (unlikely(lane->gap_pending)) {
        store_long(lane, FP_MARK_GAP, 0, lane->lost_pending, lane->gap_lost ? 0 : FP_GAP_PAUSE);
        lane->lost_pending = 0;
        lane->gap_pending = false;
        lane->gap_lost = false;
    }
    return true;
}

/* Words from the cursor to the next multiple of mask + 1. */
static uint32_t words_left(const struct lane *lane, uintptr_t mask)
{
    const uintptr_t past = (uintptr_t)lane->cursor & mask;
    return (uint32_t)((mask + 1 - past) / sizeof(uint64_t));
}

static void fill_up(struct lane *lane, uintptr_t mask)
{
    while (((uintptr_t)lane->cursor & mask) != 0)
        store_first(lane, fp_record_epoch(FP_RECORD_EPOCH, lane->epoch), 1);
}

#define THREAD_WORDS 2u
#define SITE_WORDS   2u

void lane_begin_thread(struct lane *lane)
{
    const uintptr_t mask = LANE_GROUP_MANY - 1;
    while (((uintptr_t)lane->cursor & (SEG_CHUNK_BYTES - 1)) != 0) {
        if (words_left(lane, mask) == THREAD_WORDS) {
            /* At a group's end, so that the thread's first record has a stamp before it. */
            store_long(lane, FP_RECORD_THREAD, 0, lane->number, lane->thread_id);
            return;
        }
        store_first(lane, fp_record_epoch(FP_RECORD_EPOCH, lane->epoch), 1);
    }
    /* It is full: the next one's header says whose it is. */
}

_Static_assert(LANE_GROUP_MANY / sizeof(uint64_t) >= 2 + 2 * RECORD_WORDS_MOST + 1 + SITE_WORDS,
               "a stamp, a gap, an epoch, a site and a record fit one group");

/* The cut that a record of this epoch stands behind. The newest may be announced and not yet come to. */
static uint64_t cut_of(uint64_t epoch)
{
    const struct seg_slot_note *note = shim_process->note;
    /* acquire: the one before is stored first */
    uint64_t cut = get_acquire(&note->cut);
    if (unlikely(epoch < seg_cut_epoch(cut)))
        cut = get_relaxed(&note->cut_before);
    return cut != 0 ? cut : shim_process->first_cut;
}

/* Stand where a record of this epoch has to: behind a new cut begins another chunk.
 * Returns whether that may be recorded. What is told once, and needed when a pause is over, always is. */
static bool heed_cut(struct lane *lane, unsigned call, uint64_t epoch)
{
    const uint64_t cut = cut_of(epoch);
    if (unlikely(cut > lane->cut)) {
        lane_close_chunk(lane);
        lane->cut = cut;
    }
    if (likely(!(lane->cut & SEG_CUT_PAUSED)) || call == FP_RECORD_NODE || call == FP_RECORD_MODULE)
        return true;
    lane->gap_pending = true;
    return false;
}

/* Make the cursor point at room for a record of so many words, with the epoch that it is to have before it. */
static bool make_room(struct lane *lane, unsigned call, uint32_t words)
{
    bool owes = owes_stamp(lane, get_acquire(lane->epoch_word));
    for (;;) {
        const uint64_t epoch = get_acquire(lane->epoch_word);
        if (!heed_cut(lane, call, epoch))
            return false;
        if (((uintptr_t)lane->cursor & end_mask(lane)) == 0) {
            if (!begin_group(lane, call))
                return false;
            owes = false;
            continue; /* that took time, and may have stepped the epoch: see whether a cut was passed */
        }
        if (owes && words_left(lane, end_mask(lane)) >= 2 + words + 1) {
            write_timely(lane);
            owes = false;
            continue;
        }
        if (!owes && words_left(lane, end_mask(lane)) >= words + (epoch != lane->epoch)) {
            if (epoch != lane->epoch)
                store_first(lane, fp_record_epoch(FP_RECORD_EPOCH, epoch), 1);
            lane->epoch = epoch;
            return true;
        }
        fill_up(lane, end_mask(lane));
    }
}

/* The code of a record of one word; 0: it takes more. */
static unsigned code_of(unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    return extra == fp_record_extra(call) && fp_record_is_short(address, size) ? fp_record_code(call) : 0;
}

void lane_put_sited(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra,
                    uint32_t site)
{
    struct fp_site_predictor *predictor = site != 0 && lane->sites != NULL ? &lane->sites->predictor : NULL;
    const unsigned code = code_of(call, address, size, extra);
    uint32_t none = 0, *guess = predictor != NULL ? fp_site_guess(predictor, size) : &none;
    if (unlikely(code == 0 || *guess != site || ((uintptr_t)lane->cursor & lane->group_mask) == 0 ||
                 get_acquire(lane->epoch_word) != lane->epoch)) {
        const uint32_t words = code != 0 ? 1 : words_of_long(call, size, extra);
        /* A new chunk: the predictor begins anew; then there is room for the site, too. */
        if (!make_room(lane, call, words + (*guess == site ? 0 : SITE_WORDS)))
            return;
        guess = predictor != NULL ? fp_site_guess(predictor, size) : &none;
        if (*guess != site)
            store_long(lane, FP_RECORD_SITE, 0, site, 0);
    }
    if (predictor != NULL)
        fp_site_settle(predictor, guess, site);
    lane_prefetch(lane->cursor);
    if (code != 0)
        store_first(lane, fp_record_short(code, address, size), 1);
    else
        store_long(lane, call, address, size, extra);
}

void lane_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    lane_put_sited(lane, call, address, size, extra, 0);
}
