/* wl_writer.h - a workload being written: the ops of one window, and what goes on from window to window.
 *
 * Private to footprint/, but for the put of an op, which convert/ops/pair_fast.c has inline. wl_writer.c fills a window;
 * wl_encode.c has the shapes, turns it into a block and packs that; wl_tail.c ends the file. */
#ifndef MALLAB_FOOTPRINT_WL_WL_WRITER_H
#define MALLAB_FOOTPRINT_WL_WL_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "footprint/wl/wl_file.h"

struct thread_state {
    struct wl_thread facts;
    uint32_t local_window; /* window number + 1 for which local is valid */
    uint32_t local;        /* number within the window */
};

#define WL_NO_THREAD UINT32_MAX

/* Numbers of ops are kept in 32 bits, for which no two may be further apart than that: every so many ops, what was
 * last named longer ago is noted as if it had been so long ago. Both are far beyond WINDOW_HISTORY. */
#define WL_AGE_EVERY (UINT64_C(1) << 30)
#define WL_AGE_MAX   (UINT32_C(1) << 31)

/* The shapes of the newest ops, to be found by a single look. */
#define SHAPE_RECENT_BITS      9
#define SHAPE_RECENT_EXTRA_MAX (UINT64_C(1) << 56)

#define SHAPE_TABLE_SLOTS (UINT32_C(1) << 17) /* twice WINDOW_SHAPES_MAX */

struct shape_recent {
    uint64_t size, key; /* call and, above it, extra; 0: empty */
    uint16_t index;     /* in the dictionary */
};

/* The sites of a writer. */
struct wl_site_numbers {
    const struct fp_sites *stacks; /* the caller's; NULL: no op has a site */
    char *program;                 /* name of the module without a path */
    uint32_t *own;                 /* by number of the caller's: the workload's; 0: none yet */
    uint32_t *given; /* by number of the workload, from FP_SITE_FIRST on: which of the caller's it is */
    uint32_t count;  /* of those */
};

struct wl_writer {
    struct wl_file file;
    struct wl_pack *pack; /* NULL: windows are packed in place */
    ZSTD_CCtx *context;
    int level;
    uint32_t window_ops;

    /* the window being gathered */
    uint32_t *op_threads;
    struct wl_wait *waits;
    uint64_t *times;
    struct wl_noted *noted;
    uint32_t op_count, wait_count, local_count, noted_count;
    uint32_t ready_thread; /* whose op may come without further ado; WL_NO_THREAD: nobody's */
    uint32_t run_begin;    /* first of its ops that its facts do not count yet */
    uint64_t start_ns, live_peak;
    uint32_t shapes_before; /* size of the dictionary when the window began */
    bool shapes_reset;
    uint32_t known[WINDOW_WAITERS_MAX]
                  [WINDOW_WAITERS_MAX]; /* [waiter][other]: ops of other, as index + 1, known done */

    /* the workload so far */
    struct wl_summary summary;
    struct thread_state *threads;
    size_t threads_capacity, ids_capacity,
        ids_touched_capacity; /* of threads and of both in ids, by thread */
    struct ids ids;
    uint64_t id_bytes; /* of the arrays by id, as counted (memory_bound.h) */
    uint32_t *last_op; /* by id: number of the newest op on it, low 32 bits */
    uint64_t aged_at;  /* ops, when wl_writer_age was run last */
    uint64_t now_ns;
    uint64_t live_bytes, live_objects;
    struct wl_site_numbers sites;
    uint32_t next_site;      /* wl_writer_site, as the caller numbers it */
    struct fp_shape *shapes; /* dictionary, normalised; .call may carry SHAPE_FRESH */
    uint32_t shape_count;
    uint32_t *op_sites; /* of the window's ops, as the workload numbers them; NULL: no op has one */
    struct site_model *site_model;
    uint32_t dictionary;   /* counts the times that it began anew */
    uint32_t *shape_table; /* SHAPE_TABLE_SLOTS; hash -> index + 1 */
    struct shape_recent recent[1u << SHAPE_RECENT_BITS];
    uint32_t last_literal;
    struct bytes columns[WINDOW_COLUMNS];
    struct bytes packed;
    uint64_t pause_ns;          /* options.pause_ns; UINT64_MAX where that is 0 */
    bool note_next;             /* wl_writer_note_time */
    struct wl_touched *touched; /* as told, until the end */
    size_t touched_count, touched_capacity;
    size_t touched_as;             /* of those: shares that kin has */
    struct bytes notes;            /* meta text that belongs to the summary */
    size_t meta_count, meta_bytes; /* of both texts together */
    enum fp_status broken;         /* a window that could not be written: nothing may follow it */
};

/* wl_writer_age - see WL_AGE_EVERY. */
void wl_writer_age(struct wl_writer *writer);

/* wl_writer_end_run - count the ops that one thread made in a row. */
static inline void wl_writer_end_run(struct wl_writer *writer)
{
    struct wl_thread *facts;
    if (writer->ready_thread == WL_NO_THREAD || writer->op_count == writer->run_begin)
        return;
    facts = &writer->threads[writer->ready_thread].facts;
    facts->ops += writer->op_count - writer->run_begin;
    facts->last_window = writer->summary.windows;
    writer->run_begin = writer->op_count;
}

/* wl_writer_fail - note why the writer failed, in its file's error. Returns status. */
enum fp_status wl_writer_fail(struct wl_writer *writer, enum fp_status status, const char *what);

/* wl_put_block - pack a block and append it; `what` says what could not be packed. Not while a window may be being written.
 * Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_LIMIT. */
enum fp_status wl_put_block(struct wl_writer *writer, struct block_header *header,
                            const struct column *columns, unsigned column_count, const char *what);

/* ---- wl_encode.c: a gathered window as columns of a block, compressed and written ------------------
 *
 * Windows are packed on another processor, in their order, while the next one is gathered: one at a time, whoever gathers faster
 * waits. What is written is the same with the other thread as without. */

struct wl_pack;

/* wl_window_flush - encode and append the window, and make room for the next. After a failure the window is still
 * there and may be in the file in part: the workload ends here, and every further call returns the same. */
enum fp_status wl_window_flush(struct wl_writer *writer);

/* wl_shapes_reset - begin the dictionary anew. */
void wl_shapes_reset(struct wl_writer *writer);

/* wl_put_shape_slow - wl_put_shape for a shape that was not used of late. */
bool wl_put_shape_slow(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                       uint16_t *ret_index);

/* wl_pack_start - begin to serve a writer, whose file is the other thread's from a flush to wl_pack_wait.
 * Returns   NULL when there is one processor, or no memory or thread to be had: pack in place then. */
struct wl_pack *wl_pack_start(struct wl_writer *writer);

/* wl_pack_wait - until all that was taken is written. Returns FP_OK, or what the first failure was; the file's error
 * says more. NULL is FP_OK. */
enum fp_status wl_pack_wait(struct wl_pack *pack);

/* wl_pack_stop - wait, end the thread, free; NULL is accepted. */
void wl_pack_stop(struct wl_pack *pack);

/* ---- wl_sites.c: who allocated (docs/format.md, "Sites of a workload") --------------------------------
 *
 * A writer is given the stacks of a footprint, or of another workload. Its own numbers are given out when an op first has a site,
 * callers before those they call; so nodes that no op needs are left out, and the blocks follow the windows. */

#define WL_MODULE_NONE UINT16_MAX /* number of the module of what lies in none; FP_MODULES_MAX is lower */

/* wl_sites_begin - take the stacks, which last as long as the writer. program: NULL: not known. Returns false: no memory.
 * wl_sites_end accepts it in either case. */
bool wl_sites_begin(struct wl_site_numbers *numbers, const struct fp_sites *stacks, const char *program);
void wl_sites_end(struct wl_site_numbers *numbers);

/* wl_sites_number - the workload's number of a site of the caller's, whatever that is. */
uint32_t wl_sites_number(struct wl_site_numbers *numbers, uint32_t site);

/* wl_sites_put - append the blocks of stacks and modules. Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_sites_put(struct wl_writer *writer);

/* ---- recorded times of a window's ops -------------------------------------------------------
 *
 * Each 16th op has a time. Between them those are noted that a pause lies between: spread evenly, they would come up to its whole
 * length too early or too late. */

#define WL_NOTED_BYTES_MAX (3u + VARINT_BYTES_MAX) /* of an op's gap and its time */

/* wl_times_note - the op of this index, the newest or the next, was at that time. */
void wl_times_note(struct wl_writer *writer, uint32_t op, uint64_t time_ns);

/* wl_times_note_pause - a pause lies between the newest op, at before_ns, and the next, at writer->now_ns. */
void wl_times_note_pause(struct wl_writer *writer, uint64_t before_ns);

/* ---- append ops to a workload in a loop of one's own.
 *
 * What wl_writer_allocate and its like (workload.h) do for one op, in the pieces that it consists of, for whoever has
 * many ops of one thread and can spare most of the checks: convert/ops/pair_fast.c. The rules:
 *
 *   ready    wl_put_ready(writer, thread) has returned FP_OK, and since then no op of another thread and no flush came
 *   shape    an index that wl_put_shape gave, of the present dictionary (writer->dictionary)
 *   time     wl_put_time before each op; writer->now_ns is the last op's when the window is flushed
 *   room     before each allocation wl_put_room_for_ids; op_count below window_ops: when it is reached,
 *            wl_window_flush, and ready anew
 *   counts   wl_put_calls and wl_put_request, at the latest before wl_writer_finish
 *   objects  ids named are live, and their bytes are what they were given */

/* wl_put_ready - what the first op of a window, of a thread after another's, or after a failure needs besides.
 * now_ns is that op's. Returns FP_OK; FP_ERR_ARGUMENT (no such thread), or what broke the writer. */
enum fp_status wl_put_ready(struct wl_writer *writer, uint32_t thread);

/* wl_put_wait - note that the op about to be put must wait for op `on` of the window, unless that is known. */
void wl_put_wait(struct wl_writer *writer, uint32_t thread, uint32_t on);

/* wl_put_more_ids - room for so many ids that were never used. False: no memory, or beyond the format's limit. */
bool wl_put_more_ids(struct wl_writer *writer, uint32_t count);

static inline bool wl_put_room_for_ids(struct wl_writer *writer, uint32_t count)
{
    return likely(writer->ids.capacity - writer->ids.used >= count) || wl_put_more_ids(writer, count);
}

/* wl_put_shape - the index of a shape in the dictionary, which it joins when it is new.
 * call      with SHAPE_FRESH for a realloc of NULL.
 * Returns   false for a shape that the format cannot hold. */
static inline bool wl_put_shape(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                                uint16_t *ret_index)
{
    const uint64_t key = call | extra << 8;
    struct shape_recent *recent =
        &writer->recent[((size ^ key << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SHAPE_RECENT_BITS)];
    if (likely(recent->key == key && recent->size == size && extra < SHAPE_RECENT_EXTRA_MAX)) {
        *ret_index = recent->index;
        return true;
    }
    if (!wl_put_shape_slow(writer, call, size, extra, ret_index))
        return false;
    if (extra < SHAPE_RECENT_EXTRA_MAX)
        *recent = (struct shape_recent){size, key, *ret_index};
    return true;
}

/* wl_put_site - the next op, one that gives an object its size, is of that site, as the caller of the writer numbers it. */
static inline void wl_put_site(struct wl_writer *writer, uint32_t site)
{
    if (unlikely(writer->op_sites != NULL))
        writer->op_sites[writer->op_count] = wl_sites_number(&writer->sites, site);
}

/* wl_put_wants_time - whether the next op is one whose time is stored. */
static inline bool wl_put_wants_time(const struct wl_writer *writer)
{
    return writer->op_count % WL_TIME_STRIDE == 0;
}

static inline void wl_put_time(struct wl_writer *writer, uint64_t now_ns)
{
    if (wl_put_wants_time(writer))
        writer->times[writer->op_count / WL_TIME_STRIDE] = now_ns;
}

/* wl_put_pause - where a pause ends with the next op, note the times of both ends of it. Called when the op's time is
 * writer->now_ns, and its thread is ready.
 * before_ns  time of the op before. */
static inline void wl_put_pause(struct wl_writer *writer, uint64_t before_ns)
{
    if (unlikely(writer->now_ns - before_ns >= writer->pause_ns))
        wl_times_note_pause(writer, before_ns);
}

/* wl_put_calls - count so many ops of a call. */
static inline void wl_put_calls(struct wl_writer *writer, unsigned call, uint64_t count)
{
    writer->summary.ops_by_call[call] += count;
}

/* wl_put_live - what is live now, and was at the most. */
static inline void wl_put_live(const struct wl_writer *writer, uint64_t *ret_bytes, uint64_t *ret_bytes_peak,
                               uint64_t *ret_objects, uint64_t *ret_objects_peak)
{
    const uint64_t before = writer->summary.live_bytes_peak; /* of the windows that are written */
    *ret_bytes = writer->live_bytes;
    *ret_bytes_peak = writer->live_peak > before ? writer->live_peak : before;
    *ret_objects = writer->live_objects;
    *ret_objects_peak = writer->summary.live_objects_peak;
}

/* wl_put_request - count so many allocations or resizes of a shape. */
static inline void wl_put_request(struct wl_writer *writer, const struct fp_shape *shape, uint64_t count)
{
    struct wl_summary *summary = &writer->summary;
    const uint64_t bytes = fp_shape_bytes(shape);
    uint64_t all;
    if (__builtin_mul_overflow(bytes, count, &all) ||
        __builtin_add_overflow(summary->requested_bytes, all, &summary->requested_bytes))
        summary->requested_bytes = UINT64_MAX;
    if (bytes > summary->largest_size)
        summary->largest_size = bytes;
}

/* ---- private: what the ops below have in common ----------------------------------------------- */

static inline void put_op(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id)
{
    const uint32_t op = writer->op_count;
    writer->op_threads[op] = thread;
    writer->columns[WINDOW_SHAPE_LOW].at[op] = (uint8_t)shape;
    writer->columns[WINDOW_SHAPE_HIGH].at[op] = (uint8_t)(shape >> 8);
    writer->last_op[id] = (uint32_t)writer->summary.ops; /* of id 0 nobody asks */
    writer->summary.ops++;
    writer->op_count = op + 1;
}

/* Name an existing object in the columns, and wait for whoever touched it last. */
static inline void put_reference(struct wl_writer *writer, uint32_t thread, uint32_t id)
{
    struct bytes *ids = &writer->columns[WINDOW_IDS];
    const uint32_t distance = (uint32_t)writer->summary.ops - writer->last_op[id];
    if (likely(distance < WINDOW_HISTORY)) {
        ids->size = (size_t)(put_short_varint(ids->at + ids->size, distance + 1) - ids->at);
        if (writer->local_count > 1 && distance <= writer->op_count)
            wl_put_wait(writer, thread, writer->op_count - distance);
    } else {
        struct bytes *literals = &writer->columns[WINDOW_LITERALS];
        const int64_t delta = (int64_t)id - (int64_t)writer->last_literal;
        ids->at[ids->size++] = ID_LITERAL;
        literals->size = (size_t)(put_varint(literals->at + literals->size, zigzag(delta)) - literals->at);
        writer->last_literal = id;
    }
}

static inline void put_more_bytes(struct wl_writer *writer, uint64_t bytes)
{
    writer->live_bytes += bytes;
    if (writer->live_bytes > writer->live_peak)
        writer->live_peak = writer->live_bytes;
}

/* ---- ops --------------------------------------------------------------------------------------- */

/* wl_put_allocate - returns the object's id. */
static inline uint32_t wl_put_allocate(struct wl_writer *writer, uint32_t thread, uint16_t shape,
                                       uint64_t bytes)
{
    const uint32_t id = ids_take(&writer->ids, thread);
    put_more_bytes(writer, bytes);
    if (++writer->live_objects > writer->summary.live_objects_peak)
        writer->summary.live_objects_peak = writer->live_objects;
    put_op(writer, thread, shape, id);
    return id;
}

static inline void wl_put_resize(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id,
                                 uint64_t old_bytes, uint64_t bytes)
{
    put_reference(writer, thread, id);
    writer->live_bytes -= old_bytes;
    put_more_bytes(writer, bytes);
    put_op(writer, thread, shape, id);
}

static inline void wl_put_release(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id,
                                  uint64_t bytes)
{
    put_reference(writer, thread, id);
    ids_give(&writer->ids, thread, id);
    writer->live_bytes -= bytes;
    writer->live_objects--;
    put_op(writer, thread, shape, id);
}

static inline void wl_put_release_of_null(struct wl_writer *writer, uint32_t thread, uint16_t shape)
{
    struct bytes *ids = &writer->columns[WINDOW_IDS];
    ids->at[ids->size++] = ID_NULL;
    put_op(writer, thread, shape, 0);
}

#endif
