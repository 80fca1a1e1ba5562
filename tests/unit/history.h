/* history.h - recordings made up by tests: lanes of marks, kept in memory or written as a footprint.
 *
 * history_simulate plays a multi-threaded program against an allocator that hands out the address freed
 * last, with threads preempted between any two steps, and notes epochs as the shim does (docs/order.md). */
#ifndef MALLAB_TESTS_HISTORY_H
#define MALLAB_TESTS_HISTORY_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/order/lane_cursor.h"
#include "footprint/fp/footprint.h"
#include "unit/append_block.h"
#include "unit/random.h"

struct history_mark {
    uint64_t address;
    struct fp_shape shape;
    uint64_t epoch;
    uint64_t stamp_ns; /* UINT64_MAX: no stamp before this mark */
};

struct history_lane {
    struct history_mark *marks;
    size_t count, capacity;
    struct conv_block_note *notes;
    size_t note_count;
    size_t *starts; /* of blocks, one more than notes */
};

struct history {
    struct history_lane *lanes;
    uint32_t lane_count;
    size_t block_count;
    uint64_t random;
    uint64_t end_ns;
};

static inline uint64_t history_random(struct history *history)
{
    return test_random(&history->random);
}

static inline void history_init(struct history *history, uint32_t lane_count, uint64_t seed)
{
    *history = (struct history){.lane_count = lane_count, .random = seed << 32};
    history->lanes = calloc(lane_count, sizeof *history->lanes);
}

static inline void history_release(struct history *history)
{
    for (uint32_t i = 0; i < history->lane_count; i++) {
        free(history->lanes[i].marks);
        free(history->lanes[i].notes);
        free(history->lanes[i].starts);
    }
    free(history->lanes);
}

/* Append a mark; stamp_ns UINT64_MAX for none. */
static inline void history_add(struct history *history, uint32_t lane_number, unsigned call, uint64_t address,
                               uint64_t size, uint64_t epoch, uint64_t stamp_ns)
{
    struct history_lane *lane = &history->lanes[lane_number];
    if (lane->count == lane->capacity) {
        lane->capacity = lane->capacity * 2 + 64;
        lane->marks = realloc(lane->marks, lane->capacity * sizeof *lane->marks);
    }
    lane->marks[lane->count++] = (struct history_mark){.address = address,
                                                       .shape = {.call = (uint8_t)call, .size = size},
                                                       .epoch = epoch,
                                                       .stamp_ns = stamp_ns};
}

/* Cut lanes into blocks of 1 to marks_max marks. */
static inline void history_cut(struct history *history, size_t marks_max)
{
    for (uint32_t i = 0; i < history->lane_count; i++) {
        struct history_lane *lane = &history->lanes[i];
        size_t at = 0;
        lane->notes = calloc(lane->count + 1, sizeof *lane->notes);
        lane->starts = calloc(lane->count + 1, sizeof *lane->starts);
        while (at < lane->count) {
            const size_t left = lane->count - at;
            size_t size = 1 + history_random(history) % marks_max;
            uint64_t base = UINT64_MAX;
            if (size > left)
                size = left;
            for (size_t k = at; k < at + size; k++)
                base = lane->marks[k].epoch < base ? lane->marks[k].epoch : base;
            lane->notes[lane->note_count] = (struct conv_block_note){
                .index = (size_t)i << 32 | lane->note_count, .base_epoch = base};
            lane->starts[lane->note_count++] = at;
            at += size;
            history->block_count++;
        }
        lane->starts[lane->note_count] = at;
    }
}

static inline uint32_t history_shape(struct fp_shape *shapes, uint32_t *count, const struct fp_shape *shape)
{
    for (uint32_t i = *count; i-- > 0 && i + 64 > *count;)
        if (memcmp(&shapes[i].size, &shape->size, sizeof shape->size) == 0 && shapes[i].call == shape->call &&
            shapes[i].extra == shape->extra)
            return i;
    shapes[*count] = *shape;
    return (*count)++;
}

/* Fill a block from a lane's notes; buffer's arrays are grown as fp_reader_block does. */
static inline void history_block(const struct history *history, uint32_t lane_number, size_t nth,
                                 struct fp_block_buffer *buffer, struct fp_block *ret_block)
{
    const struct history_lane *lane = &history->lanes[lane_number];
    const size_t start = lane->starts[nth], count = lane->starts[nth + 1] - start;
    uint32_t shapes = 0, stamps = 0;
    if (buffer->marks_capacity < count) {
        buffer->marks = realloc(buffer->marks, count * sizeof *buffer->marks);
        buffer->shapes = realloc(buffer->shapes, count * sizeof *buffer->shapes);
        buffer->stamps = realloc(buffer->stamps, (count + 1) * sizeof *buffer->stamps);
        buffer->marks_capacity = buffer->shapes_capacity = count;
        buffer->stamps_capacity = count + 1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct history_mark *mark = &lane->marks[start + i];
        if (mark->stamp_ns != UINT64_MAX)
            buffer->stamps[stamps++] = (struct fp_stamp){.mark = (uint32_t)i, .time_ns = mark->stamp_ns};
        buffer->marks[i] = (struct fp_mark){.address = mark->address,
                                            .shape = history_shape(buffer->shapes, &shapes, &mark->shape),
                                            .epoch = (uint32_t)(mark->epoch - lane->notes[nth].base_epoch)};
    }
    *ret_block = (struct fp_block){.lane = lane_number,
                                   .sequence = nth,
                                   .base_epoch = lane->notes[nth].base_epoch,
                                   .mark_count = (uint32_t)count,
                                   .shape_count = shapes,
                                   .stamp_count = stamps,
                                   .marks = buffer->marks,
                                   .shapes = buffer->shapes,
                                   .stamps = buffer->stamps};
}

static inline const struct conv_block_note *history_notes(void *data, uint32_t lane, size_t *ret_count)
{
    const struct history *history = data;
    *ret_count = history->lanes[lane].note_count;
    return history->lanes[lane].notes;
}

static inline enum fp_status history_load(void *data, size_t index, struct fp_block_buffer *buffer,
                                          struct fp_block *ret_block)
{
    history_block(data, (uint32_t)(index >> 32), index & 0xffffffff, buffer, ret_block);
    return FP_OK;
}

/* The history as blocks in memory; it must have been cut. */
static inline struct conv_blocks history_blocks(struct history *history)
{
    return (struct conv_blocks){
        .data = history, .lane_count = history->lane_count, .notes = history_notes, .load = history_load};
}

/* Write the history as a footprint. trailer false: as a recorder that was killed leaves it. */
static inline enum fp_status history_write(const struct history *history, const char *path,
                                           uint32_t process_id, bool trailer)
{
    const struct fp_writer_options options = {.process_id = process_id, .start_unix_ns = 1000};
    const struct fp_meta meta[] = {{"program", "made-up"}, {"order", "epoch"}};
    struct fp_lane *lanes = calloc(history->lane_count, sizeof *lanes);
    const struct fp_trailer end = {
        .end_time_ns = history->end_ns, .lane_count = history->lane_count, .lanes = lanes};
    struct fp_block_buffer buffer = {0};
    struct fp_writer *writer = NULL;
    enum fp_status status = fp_writer_create(AT_FDCWD, path, &options, meta, 2, NULL, &writer);
    size_t written = 0;
    for (size_t nth = 0; status == FP_OK && written < history->block_count; nth++) {
        for (uint32_t lane = 0; lane < history->lane_count && status == FP_OK; lane++) {
            struct fp_block block;
            if (nth >= history->lanes[lane].note_count)
                continue;
            history_block(history, lane, nth, &buffer, &block);
            status = append_block(writer, &block);
            written++;
        }
    }
    for (uint32_t lane = 0; lane < history->lane_count; lane++)
        lanes[lane] = (struct fp_lane){
            .thread_id = process_id + lane, .is_main = lane == 0, .marks = history->lanes[lane].count};
    if (status == FP_OK && trailer)
        status = fp_writer_finish(writer, &end, NULL);
    else
        fp_writer_abandon(writer);
    fp_block_buffer_release(&buffer);
    free(lanes);
    return status;
}

/* ---- simulation ---------------------------------------------------------------------------- */

struct history_options {
    uint32_t threads;
    size_t events;         /* of each thread, about */
    uint32_t objects;      /* the program keeps about so many alive */
    uint32_t bump_every;   /* own events between stamps; 16 in the shim */
    uint64_t bump_ns;      /* least time between bumps of a thread; 1000 in the shim */
    uint32_t resize_share; /* of 100 calls */
    uint32_t sized_share;  /* of 100 releases: they state their object's size */
};

enum history_step { HISTORY_IDLE, HISTORY_ALLOCATED, HISTORY_RELEASING, HISTORY_RESIZING, HISTORY_RESIZED };

struct history_thread {
    enum history_step step;
    uint64_t address, new_address;
    uint64_t epoch; /* read and not yet recorded */
    uint64_t seen, seen_ns;
    size_t events;
};

struct history_heap {
    uint64_t *spare; /* freed last, on top */
    size_t spare_count;
    uint64_t fresh;  /* the next address never used */
    uint64_t *sizes; /* of what stands at HISTORY_BASE + 16 * index */
    uint64_t *live;  /* published: any thread may release it */
    size_t live_count;
    uint64_t word, now_ns;
};

#define HISTORY_BASE 0x10000u

static inline uint64_t *history_size(struct history_heap *heap, uint64_t address)
{
    return &heap->sizes[(address - HISTORY_BASE) / 16];
}

static inline uint64_t history_take(struct history_heap *heap)
{
    return heap->spare_count > 0 ? heap->spare[--heap->spare_count] : (heap->fresh += 16);
}

static inline uint64_t history_pick(struct history *history, struct history_heap *heap)
{
    const size_t at = history_random(history) % heap->live_count;
    const uint64_t address = heap->live[at];
    heap->live[at] = heap->live[--heap->live_count];
    return address;
}

static inline void history_record(struct history *history, const struct history_options *options,
                                  struct history_heap *heap, struct history_thread *thread, uint32_t lane,
                                  unsigned call, uint64_t address)
{
    uint64_t stamp = UINT64_MAX;
    uint64_t size = 0;
    if (call == FP_CALL_DELETE_SIZED)
        size = *history_size(heap, address);
    else if (call != FP_CALL_FREE)
        size = 16 + thread->events % 7 * 24;
    if (call == FP_CALL_MALLOC || call == FP_CALL_REALLOC)
        *history_size(heap, address) = size;
    if (thread->events++ % options->bump_every == 0) {
        stamp = heap->now_ns;
        if (thread->seen != heap->word) {
            thread->seen = heap->word;
            thread->seen_ns = heap->now_ns;
        } else if (heap->now_ns - thread->seen_ns >= options->bump_ns) {
            thread->seen = ++heap->word;
            thread->seen_ns = heap->now_ns;
        }
    }
    history_add(history, lane, call, address, size, thread->epoch, stamp);
}

/* One step of one thread: what lies between two places where it may be preempted. */
static inline void history_step(struct history *history, const struct history_options *options,
                                struct history_heap *heap, struct history_thread *thread, uint32_t lane)
{
    const uint64_t dice = history_random(history) % 100;
    switch (thread->step) {
    case HISTORY_IDLE:
        if (heap->live_count > 0 && dice < options->resize_share) {
            thread->address = history_pick(history, heap);
            thread->epoch = heap->word;
            thread->step = HISTORY_RESIZING;
            history_record(history, options, heap, thread, lane, FP_MARK_RESIZE_FROM, thread->address);
        } else if (heap->live_count > 0 &&
                   history_random(history) % (2 * (uint64_t)options->objects) < heap->live_count) {
            thread->address = history_pick(history, heap);
            thread->epoch = heap->word;
            thread->step = HISTORY_RELEASING;
            history_record(history, options, heap, thread, lane,
                           options->sized_share > 0 && options->sized_share > history_random(history) % 100
                               ? FP_CALL_DELETE_SIZED
                               : FP_CALL_FREE,
                           thread->address);
        } else {
            thread->address = history_take(heap);
            thread->step = HISTORY_ALLOCATED;
        }
        break;
    case HISTORY_ALLOCATED:
        thread->epoch = heap->word;
        history_record(history, options, heap, thread, lane, FP_CALL_MALLOC, thread->address);
        heap->live[heap->live_count++] = thread->address;
        thread->step = HISTORY_IDLE;
        break;
    case HISTORY_RELEASING:
        heap->spare[heap->spare_count++] = thread->address;
        thread->step = HISTORY_IDLE;
        break;
    case HISTORY_RESIZING:
        thread->new_address = thread->address;
        if (dice < 70) {
            thread->new_address = history_take(heap);
            heap->spare[heap->spare_count++] = thread->address;
        }
        thread->step = HISTORY_RESIZED;
        break;
    case HISTORY_RESIZED:
        thread->epoch = heap->word;
        history_record(history, options, heap, thread, lane, FP_CALL_REALLOC, thread->new_address);
        heap->live[heap->live_count++] = thread->new_address;
        thread->step = HISTORY_IDLE;
        break;
    }
}

static inline void history_simulate(struct history *history, const struct history_options *options)
{
    const size_t room = (size_t)options->threads * (options->events + 8);
    struct history_thread *threads = calloc(options->threads, sizeof *threads);
    struct history_heap heap = {.fresh = HISTORY_BASE, .word = 1, .now_ns = 100};
    size_t steps = room * 3;
    heap.spare = calloc(room, sizeof *heap.spare);
    heap.live = calloc(room, sizeof *heap.live);
    heap.sizes = calloc(room + 1, sizeof *heap.sizes);
    while (steps > 0) {
        const uint32_t lane = (uint32_t)(history_random(history) % options->threads);
        size_t slice = 1 + history_random(history) % 40;
        for (; slice > 0 && steps > 0; slice--, steps--) {
            heap.now_ns += 5 + history_random(history) % 20;
            if (threads[lane].events < options->events || threads[lane].step != HISTORY_IDLE)
                history_step(history, options, &heap, &threads[lane], lane);
        }
    }
    history->end_ns = heap.now_ns;
    free(heap.spare);
    free(heap.live);
    free(heap.sizes);
    free(threads);
}

#endif
