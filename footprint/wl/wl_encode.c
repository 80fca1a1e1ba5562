/* wl_encode.c - a gathered window as columns of a block. */
#include "footprint/base/bytes.h"
#include "footprint/wl/wl_times.h"
#include "footprint/wl/wl_writer.h"

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

static enum fp_status write_window(struct wl_writer *writer)
{
    struct block_header header = {
        .type = BLOCK_WINDOW,
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
    encode_shapes(writer);
    encode_runs(writer);
    encode_waits(writer);
    wl_times_encode(writer);
    status = writer->pack != NULL ? wl_pack_take(writer->pack, &header, writer->columns)
                                  : wl_pack_window(&writer->file, &header, writer->columns, writer->context,
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
