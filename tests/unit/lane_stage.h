/* lane_stage.h - lanes and turns against a segment in ordinary memory, without a preload. Of one test program only: it has
 * the rest of the shim in it, as far as lanes need that. */
#ifndef MALLAB_TESTS_LANE_STAGE_H
#define MALLAB_TESTS_LANE_STAGE_H

#include <stdlib.h>
#include <unistd.h>

#include "collect/steps.h"
#include "shim/preload/attach.h"
#include "shim/preload/boot.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/turn.h"
#include "unit/columns_view.h"
#include "unit/harness.h"

#define CHUNKS 8u

/* ---- the rest of the shim, as far as lanes need it ------------------------------------------------- */

struct seg_view shim_segment;
struct shim_process *shim_process;
struct shim_next shim_next;
static bool recording_is_on;

bool attach_process(void)
{
    return recording_is_on;
}

bool attach_count_for_parent(uint64_t calls)
{
    return false;
}

bool boot_resolve(void)
{
    return true;
}

uint32_t attach_fork_begins(void)
{
    return 1;
}

void attach_fork_is_over(void)
{
}

void user_looks(struct lane *lane)
{
}

void user_follow(struct lane *lane)
{
}

/* ---- a segment ----------------------------------------------------------------------------------------- */

static struct seg_slot *slot;
static struct seg_slot_note *note;

static inline void set_up(uint32_t flags)
{
    const uint64_t bytes = seg_view_at(NULL, CHUNKS).bytes;
    if (shim_segment.header == NULL)
        shim_segment.header = aligned_alloc(SEG_CHUNK_BYTES, bytes);
    memset(shim_segment.header, 0, bytes);
    shim_segment = seg_view_at(shim_segment.header, CHUNKS);
    shim_segment.fixed.clock = SEG_CLOCK_MONOTONIC;
    shim_segment.fixed.flags = flags;
    shim_segment.header->held = CHUNKS;
    shim_segment.fixed.bump_ticks = UINT64_MAX;
    shim_segment.header->heartbeat_ns = UINT64_MAX / 2; /* never late */
    if (shim_process == NULL)
        shim_process = calloc(1, sizeof *shim_process);
    slot = &shim_segment.slots[3];
    slot->epoch = 1;
    note = &shim_segment.slot_notes[3];
    shim_process->slot = slot;
    shim_process->note = note;
    shim_process->lane_count = 0;
    shim_process->slot_index = 3;
    shim_process->serial = 77;
    lane_forget_inherited();
    shim_lane = NULL;
    recording_is_on = true;
}

BEFORE_EACH
{
    set_up(0);
}

static inline void allocate(unsigned call, uintptr_t address, size_t size, size_t extra)
{
    struct lane *lane;
    CHECK_U64(turn_take(&lane, NULL), TURN_RECORD);
    turn_allocated(lane, call, (void *)address, size, extra);
}

static inline void release(uintptr_t address)
{
    struct lane *lane;
    CHECK_U64(turn_take(&lane, NULL), TURN_RECORD);
    turn_done(turn_record(lane, FP_CALL_FREE, (void *)address, 0, 0));
}

static inline void release_times(unsigned times, uintptr_t address)
{
    for (unsigned i = 0; i < times; i++)
        release(address);
}

/* Of a full one without how many words it has. */
static inline uint64_t state_of(uint32_t index)
{
    const uint64_t word = shim_segment.states[index];
    const bool full = seg_chunk_state_of(word) == SEG_CHUNK_FULL;
    return full ? word & ((UINT64_C(1) << SEG_THREAD_SHIFT) - 1) : word;
}

/* The word of a chunk that is full, or that the calling thread has. */
static inline uint64_t own_word(enum seg_chunk_state state)
{
    return seg_chunk_word(state, 3, 0, state == SEG_CHUNK_FULL ? 0 : (uint32_t)gettid());
}

/* What the collector would read of a chunk. */
static uint32_t decoded_events;

static inline const struct fp_block *decode(uint32_t index)
{
    static struct fp_columns columns;
    static struct fp_block block;
    static struct collect_stream stream;
    const struct collect_clock clock = {.kind = SEG_CLOCK_MONOTONIC, .ns_per_tick = 1};
    uint64_t damaged = 0;
    uint32_t words;
    if (columns.memory == NULL)
        CHECK(fp_columns_init(&columns));
    fp_columns_clear(&columns);
    memset(&stream, 0, sizeof stream);
    CHECK_U64(decode_chunk(&columns, &stream, &clock, seg_chunk(&shim_segment, index), 0, &damaged, &words),
              0);
    CHECK_U64(damaged, 0);
    block = columns_view(&columns);
    decoded_events = fp_columns_events(&columns);
    return &block;
}

static inline void check_mark(const struct fp_block *block, uint32_t mark, unsigned call, uint64_t address,
                              uint64_t size, uint64_t extra)
{
    CHECK(mark < block->mark_count);
    if (mark >= block->mark_count)
        return;
    const struct fp_shape *shape = &block->shapes[block->marks[mark].shape];
    CHECK_U64(shape->call, call);
    CHECK_U64(block->marks[mark].address, address);
    CHECK_U64(shape->size, size);
    CHECK_U64(shape->extra, extra);
}

#endif
