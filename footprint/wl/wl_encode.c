/* wl_encode.c - the dictionary of shapes; a gathered window as columns of a block; the thread that packs it. */
#include "footprint/wl/wl_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/base/process.h"

/* ---- shapes ------------------------------------------------------------------------------------ */

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

/* ---- packing ---------------------------------------------------------------------------------- */

/* The thread that packs windows. */
struct wl_pack {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below; file and job belong to the thread while `busy` */
    pthread_cond_t change;
    bool busy, stopping;
    enum fp_status status;
    struct wl_file *file;
    int level;
    struct block_header header;
    struct bytes columns[WINDOW_COLUMNS];
    ZSTD_CCtx *context;
    struct bytes packed;
};

/* The work itself: compress and append. */
static enum fp_status pack_window(struct wl_file *file, struct block_header *header,
                                  const struct bytes columns[WINDOW_COLUMNS], ZSTD_CCtx *context, int level,
                                  struct bytes *packed)
{
    struct column raw[WINDOW_COLUMNS];
    enum fp_status status;
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        raw[i] = (struct column){columns[i].at, columns[i].size};
    status = block_pack(header, raw, header->column_count, context, level, packed);
    if (status == FP_OK)
        return wl_file_append(file, packed->at, packed->size);
    file->error = fp_error_make(status, 0, file->bytes, "cannot pack a window");
    return status;
}

static void *serve(void *data)
{
    struct wl_pack *pack = data;
    pthread_mutex_lock(&pack->lock);
    for (;;) {
        enum fp_status status;
        while (!pack->busy && !pack->stopping)
            pthread_cond_wait(&pack->change, &pack->lock);
        if (!pack->busy)
            break;
        pthread_mutex_unlock(&pack->lock);
        status = pack_window(pack->file, &pack->header, pack->columns, pack->context, pack->level,
                             &pack->packed);
        pthread_mutex_lock(&pack->lock);
        if (pack->status == FP_OK)
            pack->status = status;
        pack->busy = false;
        pthread_cond_signal(&pack->change);
    }
    pthread_mutex_unlock(&pack->lock);
    return NULL;
}

static void pack_free(struct wl_pack *pack)
{
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        bytes_release(&pack->columns[i]);
    bytes_release(&pack->packed);
    ZSTD_freeCCtx(pack->context);
    free(pack);
}

struct wl_pack *wl_pack_start(struct wl_file *file, int level, const struct bytes columns[WINDOW_COLUMNS])
{
    struct wl_pack *pack = calloc(1, sizeof *pack);
    bool whole = true;
    if (pack == NULL)
        return NULL;
    pack->file = file;
    pack->level = level;
    for (int i = 0; i < WINDOW_COLUMNS && whole; i++)
        whole = bytes_reserve(&pack->columns[i], columns[i].capacity);
    pack->context = whole ? ZSTD_createCCtx() : NULL;
    if (pack->context != NULL) {
        pthread_mutex_init(&pack->lock, NULL);
        pthread_cond_init(&pack->change, NULL);
        if (fp_helper_start(&pack->thread, serve, pack))
            return pack;
        pthread_cond_destroy(&pack->change);
        pthread_mutex_destroy(&pack->lock);
    }
    pack_free(pack);
    return NULL;
}

static enum fp_status wait_locked(struct wl_pack *pack)
{
    while (pack->busy)
        pthread_cond_wait(&pack->change, &pack->lock);
    return pack->status;
}

/* Give a window away. columns become others, of the same capacity and any contents.
 * Returns   FP_OK, or what an earlier window ended with: nothing is taken any more then. */
static enum fp_status hand_over(struct wl_pack *pack, const struct block_header *header,
                                struct bytes columns[WINDOW_COLUMNS])
{
    enum fp_status status;
    pthread_mutex_lock(&pack->lock);
    status = wait_locked(pack);
    if (status == FP_OK) {
        for (int i = 0; i < WINDOW_COLUMNS; i++) {
            const struct bytes given = columns[i];
            columns[i] = pack->columns[i];
            pack->columns[i] = given;
        }
        pack->header = *header;
        pack->busy = true;
        pthread_cond_signal(&pack->change);
    }
    pthread_mutex_unlock(&pack->lock);
    return status;
}

enum fp_status wl_pack_wait(struct wl_pack *pack)
{
    enum fp_status status;
    if (pack == NULL)
        return FP_OK;
    pthread_mutex_lock(&pack->lock);
    status = wait_locked(pack);
    pthread_mutex_unlock(&pack->lock);
    return status;
}

void wl_pack_stop(struct wl_pack *pack)
{
    if (pack == NULL)
        return;
    pthread_mutex_lock(&pack->lock);
    (void)wait_locked(pack); /* whoever asks was told by wl_pack_wait */
    pack->stopping = true;
    pthread_cond_signal(&pack->change);
    pthread_mutex_unlock(&pack->lock);
    (void)pthread_join(pack->thread, NULL); /* it is ours and joinable */
    pthread_cond_destroy(&pack->change);
    pthread_mutex_destroy(&pack->lock);
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
    wl_sites_encode(writer);
    encode_shapes(writer);
    encode_runs(writer);
    encode_waits(writer);
    wl_times_encode(writer);
    status = writer->pack != NULL ? hand_over(writer->pack, &header, writer->columns)
                                  : pack_window(&writer->file, &header, writer->columns, writer->context,
                                                writer->level, &writer->packed);
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
