/* wl_encode.c - shapes as ops, and their dictionary; recorded times: which are noted; a gathered window as columns of a block; the thread that packs it. */
#include "footprint/wl/wl_writer.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/base/process.h"
#include "footprint/fp/site_model.h"

/* ---- shapes ------------------------------------------------------------------------------------ */

/* Make a shape fit struct wl_op: alignment to a power of two (0 to 1), a large count folded into the size. Shapes of one op have one normal
 * form. Returns false where size or product reach WINDOW_SIZE_MAX or the call is none. */
static bool shape_normalise(struct fp_shape *shape)
{
    const enum fp_extra extra = fp_call_extra_of(shape->call);
    if (fp_call_kind_of(shape->call) == FP_KIND_NONE || fp_shape_bytes(shape) >= WINDOW_SIZE_MAX)
        return false;
    if (extra == FP_EXTRA_COUNT && shape->extra > UINT16_MAX) {
        shape->size *= shape->extra;
        shape->extra = 1;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if (shape->extra >= WINDOW_SIZE_MAX)
            return false;
        if (shape->extra == 0)
            shape->extra = 1; /* asks for nothing more, and is what an op says */
        while ((shape->extra & (shape->extra - 1)) != 0)
            shape->extra += shape->extra & -shape->extra; /* carries upwards: ends at the next power */
    } else if (extra == FP_EXTRA_NONE) {
        shape->extra = 0;
    }
    return true;
}

bool shape_to_op(const struct fp_shape *shape, bool fresh, struct wl_op *ret_op)
{
    const enum fp_extra extra = fp_call_extra_of(shape->call);
    struct fp_shape normal = *shape;
    struct wl_op op = {.call = shape->call, .align_log2 = fresh ? WL_OP_FRESH : 0, .size = shape->size};
    if (!shape_normalise(&normal) || normal.size != shape->size ||
        (fresh && fp_call_kind_of(shape->call) != FP_KIND_RESIZE))
        return false;
    if (normal.extra != shape->extra && !(extra == FP_EXTRA_ALIGNMENT && shape->extra == 0))
        return false;
    if (extra == FP_EXTRA_COUNT)
        op.count = (uint16_t)shape->extra;
    else if (extra == FP_EXTRA_ALIGNMENT)
        op.align_log2 |= (uint8_t)__builtin_ctzll(normal.extra);
    *ret_op = op;
    return true;
}

/* Neighbouring sizes of one call lie in neighbouring slots: a program's usual sizes then share a few cache lines. */
static uint32_t shape_slot(unsigned call, uint64_t size, uint64_t extra)
{
    const uint64_t high = (size >> 12) ^ extra << 20;
    const uint64_t slot = (size & 4095) / 8 + (size & 7) * 6151 + call * 521 +
                          (high * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    return (uint32_t)slot & (SHAPE_TABLE_SLOTS - 1);
}

/* Looked for as the caller gives it, then normalised: so no shape stands in the dictionary twice, and ops alone, without
 * their callers' words, lead to the same bytes. */
bool wl_put_shape_slow(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                       uint16_t *ret_index)
{
    struct fp_shape normal = {(uint8_t)(call & ~SHAPE_FRESH), size, extra};
    uint32_t slot = shape_slot(call, size, extra);
    uint32_t entry;
    while ((entry = writer->shape_table[slot]) != 0) {
        const struct fp_shape *known = &writer->shapes[entry - 1];
        if (known->size == size && known->extra == extra && known->call == call) {
            *ret_index = (uint16_t)(entry - 1);
            return true;
        }
        slot = (slot + 1) & (SHAPE_TABLE_SLOTS - 1);
    }
    if (!shape_normalise(&normal))
        return false;
    if (normal.size != size || normal.extra != extra)
        return wl_put_shape_slow(writer, call, normal.size, normal.extra,
                                 ret_index); /* normal: no third time */
    normal.call = (uint8_t)call;
    /* Room is certain: a window begins with a new dictionary when it might overflow this one. */
    writer->shapes[writer->shape_count++] = normal;
    *ret_index = (uint16_t)(writer->shape_count - 1);
    writer->shape_table[slot] = writer->shape_count;
    return true;
}

void wl_shapes_reset(struct wl_writer *writer)
{
    memset(writer->shape_table, 0, sizeof *writer->shape_table * SHAPE_TABLE_SLOTS);
    memset(writer->recent, 0, sizeof writer->recent);
    writer->shape_count = 0;
    writer->dictionary++;
}

/* ---- columns ------------------------------------------------------------------------------------ */

static void encode_facts(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_FACTS];
    uint8_t *at = column->at;
    at = put_varint(at, writer->now_ns / FP_TIME_UNIT_NS - writer->start_ns / FP_TIME_UNIT_NS);
    at = put_varint(at, writer->live_bytes);
    at = put_varint(at, writer->live_objects);
    at = put_varint(at, writer->live_peak);
    column->size = (size_t)(at - column->at);
}

static void encode_shapes(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_SHAPES];
    const bool wide = writer->shape_count > 256;
    uint8_t *at = column->at;
    for (uint32_t i = writer->shapes_before; i < writer->shape_count; i++)
        at = put_shape(at, &writer->shapes[i]);
    column->size = (size_t)(at - column->at);
    writer->columns[WINDOW_SHAPE_LOW].size = writer->op_count;
    writer->columns[WINDOW_SHAPE_HIGH].size = wide ? writer->op_count : 0;
}

static void encode_runs(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_RUNS];
    uint8_t *at = column->at;
    for (uint32_t i = 0, end; i < writer->op_count; i = end) {
        end = writer->local_count == 1 ? writer->op_count : i + 1;
        for (; end < writer->op_count && writer->op_threads[end] == writer->op_threads[i];)
            end++;
        at = put_varint(at, writer->op_threads[i]);
        at = put_varint(at, end - i);
    }
    column->size = (size_t)(at - column->at);
}

static void encode_waits(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_WAITS];
    uint8_t *at = column->at;
    uint32_t last = 0;
    for (uint32_t i = 0; i < writer->wait_count; i++) {
        at = put_varint(at, writer->waits[i].op - last);
        at = put_varint(at, writer->waits[i].op - writer->waits[i].on);
        last = writer->waits[i].op;
    }
    column->size = (size_t)(at - column->at);
}

static void encode_sites(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_SITES];
    const struct site_calls calls = {writer->shapes, writer->columns[WINDOW_SHAPE_LOW].at,
                                     writer->columns[WINDOW_SHAPE_HIGH].at, writer->op_count};
    if (writer->sites.stacks != NULL)
        column->size = (size_t)(site_column_put(writer->site_model, calls, writer->op_sites, column->at) -
                                column->at);
}

/* ---- times ------------------------------------------------------------------------------------- */

void wl_times_note(struct wl_writer *writer, uint32_t op, uint64_t time_ns)
{
    struct wl_noted *last = writer->noted_count > 0 ? &writer->noted[writer->noted_count - 1] : NULL;
    if (window_has_time(op))
        return;
    if (last != NULL && last->op == op) /* the op behind one pause is the one before the next */
        last->time_ns = time_ns;
    else
        writer->noted[writer->noted_count++] = (struct wl_noted){op, time_ns};
}

void wl_times_note_pause(struct wl_writer *writer, uint64_t before_ns)
{
    if (writer->op_count == 0) /* it lies between two windows, whose ends say so */
        return;
    wl_times_note(writer, writer->op_count - 1, before_ns);
    wl_times_note(writer, writer->op_count, writer->now_ns);
}

static void encode_times(struct wl_writer *writer)
{
    struct bytes *column = &writer->columns[WINDOW_TIMES];
    const uint64_t start = writer->start_ns / FP_TIME_UNIT_NS, end = writer->now_ns / FP_TIME_UNIT_NS;
    uint8_t *at = column->at;
    uint64_t last = start;
    uint32_t last_op = 0;
    for (uint32_t i = 0; i * WL_TIME_STRIDE < writer->op_count; i++) {
        const uint64_t units = writer->times[i] / FP_TIME_UNIT_NS;
        at = put_varint(at, units - last);
        last = units;
    }
    last = start;
    for (uint32_t i = 0; i < writer->noted_count; i++) {
        const struct wl_noted *noted = &writer->noted[i];
        const uint64_t units = noted->time_ns / FP_TIME_UNIT_NS;
        if (noted->op + 1 == writer->op_count && units == end)
            break; /* a reader takes that for granted */
        at = put_varint(at, noted->op - last_op);
        at = put_varint(at, units - last);
        last_op = noted->op;
        last = units;
    }
    column->size = (size_t)(at - column->at);
}

/* ---- packing ---------------------------------------------------------------------------------- */

/* The thread that packs windows. From `work` to `done` all below is its own, as are the writer's file, context and packed bytes. */
struct wl_pack {
    pthread_t thread;
    sem_t work, done;
    bool stopping;
    enum fp_status status;
    struct wl_writer *writer;
    struct block_header header;
    struct bytes columns[WINDOW_COLUMNS];
};

/* The work itself: compress and append. */
static enum fp_status pack_window(struct wl_writer *writer, struct block_header *header,
                                  const struct bytes columns[WINDOW_COLUMNS])
{
    struct column raw[WINDOW_COLUMNS];
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        raw[i] = (struct column){columns[i].at, columns[i].size};
    return wl_put_block(writer, header, raw, header->column_count, "cannot pack a window");
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ; /* a signal came */
}

static void *serve(void *data)
{
    struct wl_pack *pack = data;
    for (;;) {
        wait_for(&pack->work);
        if (pack->stopping)
            return NULL;
        pack->status = pack_window(pack->writer, &pack->header, pack->columns);
        (void)sem_post(&pack->done); /* it is 0 */
    }
}

static void pack_free(struct wl_pack *pack)
{
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        bytes_release(&pack->columns[i]);
    (void)sem_destroy(&pack->work); /* nobody waits */
    (void)sem_destroy(&pack->done);
    free(pack);
}

struct wl_pack *wl_pack_start(struct wl_writer *writer)
{
    struct wl_pack *pack = calloc(1, sizeof *pack);
    bool whole = pack != NULL && sem_init(&pack->work, 0, 0) == 0 && sem_init(&pack->done, 0, 1) == 0;
    for (int i = 0; i < WINDOW_COLUMNS && whole; i++)
        whole = bytes_reserve(&pack->columns[i], writer->columns[i].capacity);
    if (!whole) {
        if (pack != NULL)
            pack_free(pack);
        return NULL;
    }
    pack->writer = writer;
    if (fp_helper_start(&pack->thread, serve, pack))
        return pack;
    pack_free(pack);
    return NULL;
}

/* Give a window away. The writer's columns become others, of the same capacity and any contents.
 * Returns   FP_OK, or what an earlier window ended with: nothing is taken any more then. */
static enum fp_status hand_over(struct wl_writer *writer, const struct block_header *header)
{
    struct wl_pack *pack = writer->pack;
    wait_for(&pack->done);
    if (pack->status != FP_OK) {
        (void)sem_post(&pack->done); /* as it was */
        return pack->status;
    }
    for (int i = 0; i < WINDOW_COLUMNS; i++) {
        const struct bytes given = writer->columns[i];
        writer->columns[i] = pack->columns[i];
        pack->columns[i] = given;
    }
    pack->header = *header;
    (void)sem_post(&pack->work); /* it is 0 */
    return FP_OK;
}

enum fp_status wl_pack_wait(struct wl_pack *pack)
{
    if (pack == NULL)
        return FP_OK;
    wait_for(&pack->done);
    (void)sem_post(&pack->done); /* as it was */
    return pack->status;
}

void wl_pack_stop(struct wl_pack *pack)
{
    if (pack == NULL)
        return;
    wait_for(&pack->done); /* whoever asks was told by wl_pack_wait */
    pack->stopping = true;
    (void)sem_post(&pack->work);            /* it is 0 */
    (void)pthread_join(pack->thread, NULL); /* it is ours and joinable */
    pack_free(pack);
}

static enum fp_status write_window(struct wl_writer *writer)
{
    struct block_header header = {
        .type = BLOCK_WINDOW,
        .column_count = writer->sites.stacks != NULL ? WINDOW_COLUMNS : WINDOW_COLUMNS_PLAIN,
        .flags = writer->shapes_reset ? WINDOW_FLAG_RESET : 0,
        .count = writer->op_count,
        .sequence = writer->summary.windows,
        .base = writer->summary.ops - writer->op_count,
        .base_time = writer->start_ns / FP_TIME_UNIT_NS,
    };
    enum fp_status status;
    wl_writer_end_run(writer);
    writer->ready_thread = WL_NO_THREAD;
    if (writer->live_peak > writer->summary.live_bytes_peak)
        writer->summary.live_bytes_peak = writer->live_peak;
    encode_facts(writer);
    encode_sites(writer);
    encode_shapes(writer);
    encode_runs(writer);
    encode_waits(writer);
    encode_times(writer);
    status = writer->pack != NULL ? hand_over(writer, &header)
                                  : pack_window(writer, &header, writer->columns);
    if (status != FP_OK)
        return status;
    writer->columns[WINDOW_IDS].size = 0;
    writer->columns[WINDOW_LITERALS].size = 0;
    if (writer->op_count > writer->summary.window_ops_max)
        writer->summary.window_ops_max = writer->op_count;
    writer->summary.windows++;
    ids_end_window(&writer->ids);
    if (writer->summary.ops - writer->aged_at >= WL_AGE_EVERY)
        wl_writer_age(writer);
    writer->op_count = 0;
    return FP_OK;
}

enum fp_status wl_window_flush(struct wl_writer *writer)
{
    if (writer->broken == FP_OK)
        writer->broken = write_window(writer);
    return writer->broken;
}
