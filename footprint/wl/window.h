/* window.h - the part that writer and reader of workloads share: columns, shapes as ops, ids.
 *
 * Private to footprint/. docs/format.md, "Window block", is the specification. */
#ifndef MALLAB_FOOTPRINT_WL_WINDOW_H
#define MALLAB_FOOTPRINT_WL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/blockio.h"
#include "footprint/wl/workload.h"

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

enum window_column {
    WINDOW_FACTS = 0,
    WINDOW_SHAPES,
    WINDOW_SHAPE_LOW,
    WINDOW_SHAPE_HIGH,
    WINDOW_RUNS,
    WINDOW_IDS,
    WINDOW_LITERALS,
    WINDOW_WAITS,
    WINDOW_TIMES,
    WINDOW_COLUMNS_PLAIN,                /* that every window has */
    WINDOW_SITES = WINDOW_COLUMNS_PLAIN, /* by op, where ops have sites */
    WINDOW_COLUMNS,
};

#define SUMMARY_COLUMNS 3u /* numbers, threads, notes: docs/format.md, "Summary and footer" */

/* clang-format off */
/* The numbers of the summary in the order in which they are stored; then those of ops by call. */
#define SUMMARY_NUMBERS(X)                                                                                   \
    X(ops) X(windows) X(duration_ns) X(requested_bytes) X(live_bytes_peak) X(live_objects_peak)              \
    X(live_bytes_end) X(live_objects_end) X(largest_size) X(id_max) X(window_ops_max) X(thread_count)        \
    X(threads_at_once_max)
/* clang-format on */

#define TOUCHED_COLUMNS   2u
#define TOUCHED_BLOCK_MAX 65536u /* shares of a block */

/* wl_touched_scratch_bytes - what the columns of a block of so many shares can hold at the most. */
static inline size_t wl_touched_scratch_bytes(uint32_t count)
{
    return (size_t)count * (VARINT_BYTES_MAX + 1);
}

/* Header flag: the dictionary of shapes begins anew with this window. */
#define WINDOW_FLAG_RESET 1u

#define WINDOW_SHAPES_MAX  65536u
#define WINDOW_HISTORY     131072u /* ids of the newest ops, to which the column of ids refers */
#define WINDOW_WAITERS_MAX 64u     /* threads of a window that may leave out waits that follow from others */
#define WINDOW_SIZE_MAX    (UINT64_C(1) << 48)

/* Codes of the column of ids: 0 a literal follows, 1 NULL, d + 1 the id of the op d ops ago. */
enum { ID_LITERAL = 0, ID_NULL = 1 };

/* Bit of a stored shape's call byte: a realloc of NULL. */
#define SHAPE_FRESH 0x80u

/* Footer of a workload: magic, u64 offset of the summary block, u64 XXH64 of these 16 bytes. */
#define WORKLOAD_FOOTER_BYTES 24u
#define WORKLOAD_FOOTER_MAGIC "MALLABWE"

/* wl_footer_make - the footer for a summary block at offset. */
void wl_footer_make(uint64_t offset, uint8_t footer[WORKLOAD_FOOTER_BYTES]);

/* window_has_time - whether an op has a recorded time, by its index, and need not be noted. */
static inline bool window_has_time(uint32_t op)
{
    return op % WL_TIME_STRIDE == 0;
}

/* shape_to_op - the op of a shape as wl_encode.c normalises it, id 0. fresh: a realloc of NULL. Returns false when
 * the shape is not normalised: this is how the reader checks what a file says. */
bool shape_to_op(const struct fp_shape *shape, bool fresh, struct wl_op *ret_op);

/* ---- ids ---------------------------------------------------------------------------------------------
 *
 * Which object id an allocation gets: one rule, followed by the writer and found again by the reader.
 *
 * Private to footprint/. docs/format.md, "Object ids", states the rule:
 *   1. the id that this thread released last in this window and that is not yet taken again,
 *   2. else the top of the pool of ids released in earlier windows,
 *   3. else the next id never used.
 * At a window's end the lists of the threads that released in it, in the order of their first
 * release, go on top of the pool. So an id never changes threads within a window, and reuse needs no wait.
 *
 * Storage is the caller's, because the reader may not use malloc. */

#define IDS_LIVE UINT32_MAX

struct ids_thread {
    uint32_t head, tail; /* list of released ids, newest first; head 0: empty */
    uint32_t touched;    /* number of the window, plus 1, in which the thread is on the touched list */
};

struct ids {
    uint32_t *next;    /* by id: IDS_LIVE, or the next released id, 0 at a list's end */
    uint32_t capacity; /* highest id that next has room for */
    uint32_t used;     /* highest id given out so far */
    uint32_t pool;
    uint32_t window;
    struct ids_thread *threads;
    uint32_t *touched; /* room for as many as there are threads */
    uint32_t touched_count;
};

/* ids_pop, ids_push - ids_take and ids_give by the lists `own` of a thread, which may be a copy while the thread alone has its
 * turn: then they are stored back, and ids_touch tells of a release. */
static inline uint32_t ids_pop(struct ids *ids, struct ids_thread *own)
{
    uint32_t id = own->head;
    if (id != 0) {
        own->head = ids->next[id];
    } else if (ids->pool != 0) {
        id = ids->pool;
        ids->pool = ids->next[id];
    } else {
        if (ids->used >= ids->capacity)
            return 0;
        id = ++ids->used;
    }
    ids->next[id] = IDS_LIVE;
    return id;
}

static inline void ids_push(struct ids *ids, struct ids_thread *own, uint32_t id)
{
    if (own->head == 0)
        own->tail = id;
    ids->next[id] = own->head;
    own->head = id;
}

/* ids_touch - a thread releases in this window. */
static inline void ids_touch(struct ids *ids, uint32_t thread)
{
    struct ids_thread *own = &ids->threads[thread];
    if (own->touched == ids->window + 1)
        return;
    own->touched = ids->window + 1;
    ids->touched[ids->touched_count++] = thread;
}

/* ids_take - an id for an allocation by thread; 0 when all are in use up to the capacity. */
static inline uint32_t ids_take(struct ids *ids, uint32_t thread)
{
    return ids_pop(ids, &ids->threads[thread]);
}

static inline bool ids_is_live(const struct ids *ids, uint32_t id)
{
    return id != 0 && id <= ids->used && ids->next[id] == IDS_LIVE;
}

/* ids_give - a release; the id must be live. */
static inline void ids_give(struct ids *ids, uint32_t thread, uint32_t id)
{
    ids_touch(ids, thread);
    ids_push(ids, &ids->threads[thread], id);
}

/* ids_end_window - move what was released to the pool. */
static inline void ids_end_window(struct ids *ids)
{
    for (uint32_t i = 0; i < ids->touched_count; i++) {
        struct ids_thread *own = &ids->threads[ids->touched[i]];
        if (own->head == 0)
            continue;
        ids->next[own->tail] = ids->pool;
        ids->pool = own->head;
        own->head = 0;
    }
    ids->touched_count = 0;
    ids->window++;
}

#endif
