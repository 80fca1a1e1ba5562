/* test_shim_lane.c - what stands in the chunks after each way through the hooks, and what is counted as lost. */
#include <math.h>
#include <sys/resource.h>

#include "footprint/fp/columns.h"
#include "footprint/fp/fp_sites.h"
#include "shim/preload/lane_chunk.h"
#include "unit/lane_stage.h"

TEST(calls_become_records)
{
    allocate(FP_CALL_MALLOC, 0x7fff12345670, 100, 0);
    allocate(FP_CALL_CALLOC, 0x1000, 8, 12);
    allocate(FP_CALL_CALLOC, 0x2000, 8, 1);
    allocate(FP_CALL_MEMALIGN, 0x3000, (size_t)5 << 33, 64);
    allocate(FP_CALL_MALLOC, 0x4000, 0xffffffff, 0);
    allocate(FP_CALL_MALLOC, 0, (size_t)1 << 62, 0);
    release(0x1000);
    release(0);
    const struct seg_chunk_header *chunk = seg_chunk(&shim_segment, 0);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_OPEN));
    CHECK_U64(chunk->serial, 77);
    CHECK_U64(chunk->sequence, 0);
    const struct fp_block *block = decode(0);
    CHECK_U64(block->mark_count, 8);
    CHECK_U64(decoded_events, 8);
    check_mark(block, 0, FP_CALL_MALLOC, 0x7fff12345670, 100, 0);
    check_mark(block, 1, FP_CALL_CALLOC, 0x1000, 8, 12);
    check_mark(block, 2, FP_CALL_CALLOC, 0x2000, 8, 1);
    check_mark(block, 3, FP_CALL_MEMALIGN, 0x3000, (uint64_t)5 << 33, 64);
    check_mark(block, 4, FP_CALL_MALLOC, 0x4000, 0xffffffff, 0);
    check_mark(block, 5, FP_CALL_MALLOC, 0, UINT64_C(1) << 62, 0);
    check_mark(block, 6, FP_CALL_FREE, 0x1000, 0, 0);
    check_mark(block, 7, FP_CALL_FREE, 0, 0, 0);
}

static const unsigned long_calls[3] = {FP_CALL_MALLOC, FP_CALL_MEMALIGN, FP_CALL_CALLOC};

static uint64_t long_extra(uint64_t i)
{
    const uint64_t extras[3] = {0, i, i << 30};
    return extras[i % 3];
}

/* A record of any length may meet a group's or a chunk's end: none crosses it. Stamps of a lane that calls seldom leave room, too. */
TEST(long_records_at_boundaries)
{
    for (unsigned seldom = 0; seldom < 2; seldom++) {
        const size_t calls = seldom ? 4000 : 9000;
        uint32_t found = 0;
        set_up(0);
        shim_segment.fixed.seldom_ticks = seldom;
        for (size_t i = 0; i < calls; i++) {
            slot->epoch += i % (seldom ? 5 : 7) == 0; /* another lane's step: one word more */
            allocate(long_calls[i % 3], 16 * i + 16, i, long_extra(i));
        }
        CHECK_U64(shim_lane->seldom, seldom);
        for (uint32_t index = 0; index < CHUNKS && state_of(index) != 0; index++) {
            const struct fp_block *block = decode(index);
            for (uint32_t mark = 0; mark < block->mark_count; mark++, found++) {
                check_mark(block, mark, long_calls[found % 3], 16 * found + 16, found, long_extra(found));
                if (!seldom)
                    CHECK_U64(block->base_epoch + block->marks[mark].epoch, 2 + found / 7);
                if (block->shapes[block->marks[mark].shape].size != found)
                    return; /* one message is enough */
            }
        }
        CHECK_U64(found, calls);
    }
}

TEST(chunks_follow_each_other)
{
    for (uintptr_t i = 1; i <= 9000; i++)
        release(16 * i);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(state_of(1), own_word(SEG_CHUNK_FULL));
    CHECK_U64(state_of(2), own_word(SEG_CHUNK_OPEN));
    CHECK_U64(seg_chunk(&shim_segment, 2)->sequence, 2);
    CHECK_U64(decode(0)->mark_count + decode(1)->mark_count + decode(2)->mark_count, 9000);
}

static uint32_t sites_told(void)
{
    uint32_t told = 0;
    for (uint32_t index = 0; index < CHUNKS && state_of(index) != 0; index++) {
        const uint64_t *words = (const uint64_t *)seg_chunk(&shim_segment, index);
        for (uint32_t at = SEG_FIRST_WORD; at < SEG_CHUNK_WORDS && words[at] != 0;) {
            const unsigned code = words[at] & FP_RECORD_CODE_MASK;
            told += fp_record_is_of_sites(words[at]) && words[at + 1] == FP_CUT_MEMORY;
            at += code == FP_RECORD_STAMP || code == FP_RECORD_LONG ? 2 : 1;
        }
    }
    return told;
}

/* Of allocations that differ in size and call as many are recorded as their sizes tell, and the releases of those alone. A lane without
 * memory for stacks has a sample, too. Seeds are fixed. */
TEST(a_sample_has_its_share)
{
    static const struct {
        unsigned call;
        size_t size, extra;
    } calls[] = {{FP_CALL_MALLOC, 1000, 0},
                 {FP_CALL_CALLOC, 100, 10},
                 {FP_CALL_MALLOC, 40000, 0},
                 {FP_CALL_MEMALIGN, 1000, 64}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        const size_t bytes = calls[i].call == FP_CALL_CALLOC ? calls[i].size * calls[i].extra : calls[i].size;
        const double share = -expm1(-(double)bytes / 32768), expected = 7000 * share;
        uint32_t released = 0;
        set_up(SEG_FLAG_SITES);
        shim_chosen.mean = 32768;
        chosen_left = 0;
        release(16);
        shim_lane->random = 5 + i;
        for (uintptr_t k = 1; k <= 7000; k++) {
            if (k % 1000 == 0)
                slot->epoch++;
            if (!chosen_passes(bytes))
                allocate(calls[i].call, 4096 * k, calls[i].size, calls[i].extra);
            if (chosen_ends((void *)(4096 * k))) {
                release(4096 * k);
                released++;
            }
            CHECK(!chosen_ends((void *)(4096 * k)));
        }
        const double told = sites_told();
        CHECK_U64(told, released);
        if (fabs(told - expected) > 4 * sqrt(expected * (1 - share)))
            HARNESS_FAIL("%g of 7,000 are recorded, not %g", told, expected);
        chosen_forget();
    }
}

/* A resize begins another object: recorded behind one that was chosen, and with a site where it is chosen itself. */
TEST(resizes_of_a_sample)
{
    set_up(SEG_FLAG_SITES);
    shim_chosen.mean = 1 << 20;
    chosen_left = 100;
    release(16);
    allocate(FP_CALL_MALLOC, 0x1000, 100, 0);
    CHECK_U64(sites_told(), 1);
    CHECK(chosen_ends((void *)0x1000));
    chosen_left = 1000;
    allocate(FP_CALL_REALLOC, 0x2000, 300, 0);
    CHECK_U64(sites_told(), 1);
    CHECK_U64(chosen_left, 700);
    CHECK(chosen_ends((void *)0x2000)); /* its end is seen all the same */
    allocate(FP_CALL_REALLOC, 0x3000, 700, 0);
    CHECK_U64(sites_told(), 2);
    chosen_left = 1000;
    allocate(FP_CALL_MALLOC, 0x4000, 300, 0); /* nobody is to know */
    CHECK(!chosen_ends((void *)0x4000));
    CHECK_U64(sites_told(), 2);
    chosen_forget();
}

/* Where the table has no room an object is lost, and counted. */
TEST(a_full_bucket_loses_choices)
{
    set_up(SEG_FLAG_SITES);
    shim_chosen.mean = 1024;
    for (uintptr_t i = 0; i <= CHOSEN_WAYS; i++) {
        chosen_left = 1;
        allocate(FP_CALL_MALLOC, 0x10000 + i, 100, 0); /* of one bucket */
    }
    CHECK_U64(sites_told(), CHOSEN_WAYS);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 1);
    for (uintptr_t i = 0; i <= CHOSEN_WAYS; i++)
        CHECK_U64(chosen_ends((void *)(0x10000 + i)), i < CHOSEN_WAYS);
    CHECK_U64(shim_chosen.counts[chosen_bucket(0x10000)], 0);
    chosen_forget();
}

/* record.h: a stamp first in each chunk and in each group; groups are longer while a lane is alone. */
static void check_stamps(uint32_t index, uint32_t group_bytes)
{
    const char *chunk = (const char *)seg_chunk(&shim_segment, index);
    for (uint32_t at = SEG_CHUNK_HEADER; at < 1000 * 8; at += 8) {
        const unsigned code = *(const uint64_t *)(chunk + at) & FP_RECORD_CODE_MASK;
        const bool due = at == SEG_CHUNK_HEADER || at % group_bytes == 0;
        CHECK_U64(code == FP_RECORD_STAMP, due);
        if (due)
            at += 8; /* its clock */
    }
}

TEST(stamps_stand_where_they_should)
{
    release_times(1000, 16);
    struct lane *first = shim_lane;
    check_stamps(0, LANE_GROUP_ALONE);
    shim_lane = NULL; /* another thread */
    release_times(1000, 16);
    CHECK(shim_lane != first);
    check_stamps(1, LANE_GROUP_MANY);
    CHECK_U64(first->group_mask, LANE_GROUP_ALONE - 1);
    shim_lane = first;
    release_times(64, 16);
    CHECK_U64(first->group_mask, LANE_GROUP_MANY - 1); /* it has noticed that it is no longer alone */
}

/* A lane alone looks at the clock where the collector has stepped the epoch; when long went by, at each call from there on,
 * until they follow each other closely. seldom_ticks of 1: any time is long; of UINT64_MAX: none is. */
TEST(a_lane_that_calls_seldom_stamps_each_call)
{
    shim_segment.fixed.seldom_ticks = UINT64_MAX;
    release_times(10, 16);
    slot->epoch++;
    release(16);
    CHECK_U64(decode(0)->stamp_count, 1); /* it has looked, and it was not long */
    CHECK_U64(shim_lane->group_mask, LANE_GROUP_ALONE - 1);
    shim_segment.fixed.seldom_ticks = 1;
    release_times(5, 16);
    CHECK_U64(decode(0)->stamp_count, 1); /* nobody stepped: the fast path */
    slot->epoch++;
    release_times(6, 16);
    const struct fp_block *block = decode(0);
    CHECK_U64(block->mark_count, 22);
    CHECK_U64(block->stamp_count, 1 + 6);
    for (uint32_t i = 1; i < block->stamp_count; i++)
        CHECK_U64(block->stamps[i].mark, 15 + i);
    CHECK_U64(shim_lane->group_mask, 0);
    shim_segment.fixed.seldom_ticks = UINT64_MAX;
    release_times(64, 16);
    CHECK_U64(shim_lane->group_mask, LANE_GROUP_ALONE - 1);
    CHECK(!shim_lane->seldom);
    CHECK_U64(decode(0)->mark_count, 22 + 64);
}

TEST(epochs_step_with_several_lanes_only)
{
    shim_segment.fixed.bump_ticks = 0;
    release_times(1000, 16);
    CHECK_U64(slot->epoch, 1);
    shim_lane = NULL;
    release(16);
    CHECK_U64(slot->epoch, 2 + 1); /* the new lane's step, and its first stamp's */
    release_times(15 * 10, 16);
    CHECK(slot->epoch > 10);
    CHECK_U64(decode(1)->base_epoch, 3);
    slot->epoch += 100; /* somebody else's steps: the lane only remembers them */
    shim_segment.fixed.bump_ticks = UINT64_MAX;
    release_times(100, 16);
    CHECK_U64(shim_lane->seen_epoch, slot->epoch);
}

/* Where code of the allocator makes them; others come from a handler that interrupted it, and are recorded before its call. */
TEST(nested_calls_are_the_allocators_own)
{
    static const char code[2];
    struct lane *lane, *inner;
    shim_next.allocator = (struct boot_object){(uintptr_t)code, (uintptr_t)code + 1};
    CHECK_U64(turn_take(&lane, NULL), TURN_RECORD);
    CHECK_U64(turn_take(&inner, code), TURN_FORWARD);
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 0);
    CHECK_U64(turn_take(&inner, code + 1), TURN_RECORD);
    turn_allocated(inner, FP_CALL_MALLOC, (void *)32, 2, 0);
    CHECK_U64(lane_gate(lane), GATE_FORWARD);
    turn_allocated(lane, FP_CALL_MALLOC, (void *)16, 1, 0);
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 0);
    CHECK_U64(decode(0)->mark_count, 2);
    check_mark(decode(0), 0, FP_CALL_MALLOC, 32, 2, 0);
    check_mark(decode(0), 1, FP_CALL_MALLOC, 16, 1, 0);
    shim_next.allocator = (struct boot_object){0, 0};
}

/* Left wherever it is, a lane goes on: its next records are read, in chunks without a hole. */
TEST(a_call_that_is_left_leaves_no_trace)
{
    struct lane *lane;
    release(16);
    CHECK_U64(turn_take(&lane, NULL), TURN_RECORD);
    turn_left(); /* in the allocator */
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 1);
    turn_left(); /* and again, not in it */
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 1);
    lane_set_gate(lane, GATE_RECORD); /* all words of a record are in place, the cursor is before it */
    lane->cursor[1] = lane->cursor[2] = UINT64_MAX;
    lane->cursor[0] = fp_record_first(FP_RECORD_WIDE, FP_CALL_CALLOC, 4096);
    turn_left();
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 2);
    CHECK(lane->cursor[0] == 0 && lane->cursor[1] == 0 && lane->cursor[2] == 0);
    release(32);
    lane_set_gate(lane, GATE_RECORD); /* the chunk is as good as given away, but for its state */
    lane->cursor = NULL;
    turn_left();
    CHECK_U64(seg_chunk_state_of(shim_segment.states[0]), SEG_CHUNK_FULL);
    CHECK_U64(lane->sequence, 1);
    release(48);
    CHECK_U64(seg_chunk(&shim_segment, 1)->sequence, 1);
    lane_set_gate(lane, GATE_RECORD); /* it is ours, and says so, but the cursor is not set */
    lane->cursor = NULL;
    lane->sequence = 1;
    turn_left();
    CHECK_U64(seg_chunk_state_of(shim_segment.states[1]), SEG_CHUNK_FULL);
    CHECK_U64(lane->sequence, 2);
    shim_segment.states[2] = own_word(SEG_CHUNK_OPEN);
    lane_set_gate(lane, GATE_RECORD); /* claimed, and it does not say whose it is */
    lane->chunk = 2;
    seg_chunk(&shim_segment, 2)->sequence = 2;
    turn_left();
    CHECK_U64(shim_segment.states[2], SEG_CHUNK_FREE);
    release(64);
    CHECK_U64(seg_chunk(&shim_segment, 2)->sequence, 2);
    CHECK_U64(decode(0)->mark_count, 2);
    check_mark(decode(1), 0, FP_MARK_GAP, 0, 3, 0); /* where the next group begins */
}

/* A handler that allocates while a record is being stored: its call is lost, counted, and a gap is noted. */
TEST(handlers_calls_are_counted)
{
    struct lane *inner;
    release(16);
    lane_set_gate(shim_lane, GATE_RECORD);
    CHECK_U64(turn_take(&inner, NULL), TURN_FORWARD);
    CHECK_U64(turn_take(&inner, NULL), TURN_FORWARD);
    lane_set_gate(shim_lane, GATE_OPEN);
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 2);
    release_times(100, 32);
    const struct fp_block *block = decode(0);
    for (uint32_t mark = 0; mark < block->mark_count; mark++)
        if (block->shapes[block->marks[mark].shape].call == FP_MARK_GAP) {
            check_mark(block, mark, FP_MARK_GAP, 0, 2, 0);
            return;
        }
    CHECK(!"no gap was noted");
}

/* Never one without memory behind it. */
TEST(a_lane_takes_the_chunks_that_are_held)
{
    const uint32_t held = CHUNKS - 1;
    uint32_t calls = 0;
    set_up(SEG_FLAG_DROP);
    shim_segment.header->held = held;
    while (slot->lost[FP_LOSS_RING_FULL] == 0) {
        release(16);
        calls++;
    }
    CHECK_U64(state_of(held - 1), own_word(SEG_CHUNK_FULL));
    CHECK_U64(state_of(held), SEG_CHUNK_FREE);
    CHECK(calls > held * 3000);
}

/* A look passes over all chunks: a thread that finds none looks every few milliseconds. */
TEST(a_lane_without_a_chunk_does_not_look_at_each_call)
{
    for (uint32_t index = 0; index < CHUNKS; index++)
        shim_segment.states[index] = seg_chunk_word(SEG_CHUNK_OPEN, 5, index, 1); /* another's */
    shim_segment.header->starved = 1;
    shim_segment.fixed.seldom_ticks = UINT64_MAX / 16;
    release(16);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 1);
    CHECK_U64(slot->stalls, 1);
    shim_segment.states[3] = SEG_CHUNK_FREE;
    release(32);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 2);
    CHECK_U64(state_of(3), SEG_CHUNK_FREE);
    shim_segment.fixed.seldom_ticks = 0; /* the time has come */
    release(48);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 2);
    CHECK_U64(state_of(3), own_word(SEG_CHUNK_OPEN));
}

TEST(dropped_calls_leave_a_gap)
{
    struct lane *lane;
    set_up(SEG_FLAG_DROP);
    for (uint32_t index = 1; index < CHUNKS; index++)
        shim_segment.states[index] = seg_chunk_word(SEG_CHUNK_FULL, 9, 0, 0);
    release_times(5000, 16);
    CHECK_U64(decode(0)->mark_count + slot->lost[FP_LOSS_RING_FULL], 5000);
    CHECK_U64(turn_take(&lane, NULL), TURN_RECORD); /* half a realloc is no call */
    turn_done(turn_record(lane, FP_MARK_RESIZE_FROM, (void *)16, 0, 0));
    CHECK_U64(decode(0)->mark_count + slot->lost[FP_LOSS_RING_FULL], 5000);
    shim_segment.states[5] = SEG_CHUNK_FREE;
    memset(seg_chunk(&shim_segment, 5), 0, SEG_CHUNK_BYTES);
    release(48);
    CHECK_U64(decode(5)->mark_count, 2);
    check_mark(decode(5), 0, FP_MARK_GAP, 0, slot->lost[FP_LOSS_RING_FULL], 0);
    check_mark(decode(5), 1, FP_CALL_FREE, 48, 0, 0);
}

TEST(operators_name_the_call_that_serves_them)
{
    release(16);
    struct lane *lane = shim_lane;
    lane->as_call = FP_CALL_NEW_ALIGNED;
    lane->as_size = 100;
    lane->as_extra = 64;
    lane->as_frame = UINTPTR_MAX; /* we are below any operator's frame */
    lane_set_gate(lane, GATE_AS);
    allocate(FP_CALL_MALLOC, 0x10, 99, 0); /* too small to be the one */
    CHECK_U64(lane_gate(lane), GATE_AS);
    release(0x10);
    CHECK_U64(lane_gate(lane), GATE_AS);
    allocate(FP_CALL_ALIGNED_ALLOC, 0x40, 128, 64);
    CHECK_U64(lane_gate(lane), GATE_OPEN);
    allocate(FP_CALL_MALLOC, 0x80, 200, 0);
    check_mark(decode(0), 1, FP_CALL_MALLOC, 0x10, 99, 0);
    check_mark(decode(0), 2, FP_CALL_FREE, 0x10, 0, 0);
    check_mark(decode(0), 3, FP_CALL_NEW_ALIGNED, 0x40, 100, 64);
    check_mark(decode(0), 4, FP_CALL_MALLOC, 0x80, 200, 0);
}

TEST(an_operator_left_by_an_exception_has_failed)
{
    release(16);
    shim_lane->as_call = FP_CALL_NEW;
    shim_lane->as_size = 1000;
    shim_lane->as_extra = 0;
    lane_set_gate(shim_lane, GATE_AS);
    turn_operator_left(shim_lane);
    turn_operator_left(shim_lane); /* the outer of two nested ones: nothing more to say */
    turn_operator_left(NULL);
    CHECK_U64(lane_gate(shim_lane), GATE_OPEN);
    CHECK_U64(decode(0)->mark_count, 2);
    check_mark(decode(0), 1, FP_CALL_NEW, 0, 1000, 0);
}

/* What fork does to a lane (MADV_WIPEONFORK): the next record attaches anew. */
TEST(a_wiped_lane_attaches_again)
{
    release(16);
    struct lane *before = shim_lane;
    lane_close_chunk(before);
    memset(before, 0, sizeof *before);
    lane_forget_inherited();
    release(32);
    CHECK(shim_lane != before);
    CHECK_U64(shim_lane->number, 1);
    CHECK_U64(decode(1)->mark_count + decode(0)->mark_count, 2);
    memset(shim_lane, 0, sizeof *shim_lane);
    recording_is_on = false; /* a child that is not followed */
    release(48);
    CHECK(shim_lane == NULL);
}

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SANITIZER_TAKES_MEMORY true /* at any access of ours, and ends the program where it gets none */
#else
#define SANITIZER_TAKES_MEMORY false
#endif

TEST(calls_without_memory_for_a_lane_are_counted)
{
    struct lane *lane;
    struct rlimit limit;
    if (SANITIZER_TAKES_MEMORY || getenv("MALLAB_EMULATED") != NULL)
        return; /* the limit is not the emulator's, and it ends where it gets no memory */
    set_up(0);
    shim_process->state = PROCESS_ON;
    CHECK_U64((uint64_t)getrlimit(RLIMIT_AS, &limit), 0);
    CHECK_U64((uint64_t)setrlimit(RLIMIT_AS, &(struct rlimit){0, limit.rlim_max}), 0);
    while (lane_take() != NULL)
        ;
    CHECK_U64(turn_take(&lane, NULL), TURN_FORWARD);
    CHECK_U64((uint64_t)setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 1);
    shim_process->state = PROCESS_NEW;
    release(16);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL], 1);
}

TEST(stopped_recordings_take_nothing_more)
{
    shim_segment.header->stopped = 1;
    release(16);
    release(16);
    CHECK_U64(state_of(0), SEG_CHUNK_FREE);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL] + slot->lost[FP_LOSS_COLLECTOR], 0);
}

TEST(silences_are_waited_for_ever_shorter)
{
    const uint64_t second = UINT64_C(1000000000);
    shim_process->foreign = true; /* nobody to ask whether it is alive */
    CHECK(!patience_collector_is_gone());
    CHECK_U64(shim_process->silences, 0);
    shim_segment.header->heartbeat_ns = fp_now_ns() - second;
    CHECK(patience_collector_is_gone());
    CHECK(patience_collector_is_gone());
    CHECK_U64(shim_process->silences, 1); /* one silence, however often it is asked about */
    shim_segment.header->heartbeat_ns = fp_now_ns() + 1000 * second;
    CHECK(!patience_collector_is_gone());
    shim_segment.header->heartbeat_ns = fp_now_ns() - second / 2;
    CHECK(patience_collector_is_gone());
    CHECK_U64(shim_process->silences, 2);
    shim_process->silences = 1000;
    shim_segment.header->heartbeat_ns = fp_now_ns() - second / 10;
    CHECK(patience_collector_is_gone());
    shim_process->foreign = false;
    memset(shim_process, 0, sizeof *shim_process);
}
