/* wl_times.c - recorded times of a window's ops: which are noted, how they are stored, and what lies between; shapes as ops. */

#include "footprint/base/bytes.h"
#include "footprint/fp/site_model.h"
#include "footprint/wl/wl_reader.h"
#include "footprint/wl/wl_writer.h"

/* ---- writing ------------------------------------------------------------------------------- */

static bool has_time_anyway(uint32_t op)
{
    return op % WL_TIME_STRIDE == 0;
}

void wl_times_note(struct wl_writer *writer, uint32_t op, uint64_t time_ns)
{
    struct wl_noted *last = writer->noted_count > 0 ? &writer->noted[writer->noted_count - 1] : NULL;
    if (has_time_anyway(op))
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

void wl_times_encode(struct wl_writer *writer)
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

/* ---- reading ------------------------------------------------------------------------------- */

/* Between the times of the 16th ops around it. */
static bool is_in_place(const struct wl_decoder *decoder, uint32_t time_count, uint64_t end_ns,
                        const struct wl_noted *noted)
{
    const uint32_t before = noted->op / WL_TIME_STRIDE;
    const uint64_t most = before + 1 < time_count ? decoder->times_ns[before + 1] : end_ns;
    return noted->time_ns >= decoder->times_ns[before] && noted->time_ns <= most;
}

static bool decode_noted(struct wl_decoder *decoder, const struct block_header *header, struct cursor *cursor,
                         uint64_t end_units, struct wl_window *window)
{
    uint64_t op = 0, units = header->base_time;
    while (cursor->at < cursor->end) {
        const uint64_t gap = get_varint(cursor);
        const uint64_t step = get_varint(cursor);
        struct wl_noted *noted = &decoder->noted[window->noted_count];
        if (cursor->bad || gap == 0 || gap >= header->count - op || step > end_units - units)
            return false;
        op += gap;
        units += step;
        *noted = (struct wl_noted){(uint32_t)op, units * FP_TIME_UNIT_NS};
        if (has_time_anyway(noted->op) ||
            !is_in_place(decoder, window->time_count, end_units * FP_TIME_UNIT_NS, noted))
            return false;
        window->noted_count++;
    }
    if (op + 1 != header->count && !has_time_anyway(header->count - 1))
        decoder->noted[window->noted_count++] = (struct wl_noted){header->count - 1,
                                                                  end_units * FP_TIME_UNIT_NS};
    return true;
}

bool wl_times_decode(struct wl_decoder *decoder, const struct block_header *header,
                     const struct column *column, uint64_t end_units, struct wl_window *window)
{
    struct cursor cursor = column_cursor(column);
    uint64_t units = header->base_time;
    for (uint32_t i = 0; i * WL_TIME_STRIDE < header->count; i++) {
        const uint64_t step = get_varint(&cursor);
        if (step > end_units - units)
            return false;
        units += step;
        decoder->times_ns[i] = units * FP_TIME_UNIT_NS;
    }
    if (!decode_noted(decoder, header, &cursor, end_units, window))
        return false;
    return cursor_done(&cursor);
}

/* ---- between ------------------------------------------------------------------------------- */

/* The first noted op behind `op`. */
static uint32_t noted_behind(const struct wl_window *window, uint32_t op)
{
    uint32_t low = 0, high = window->noted_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (window->noted[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t wl_window_time(const struct wl_window *window, uint32_t op)
{
    const uint32_t stride = op / WL_TIME_STRIDE, behind = noted_behind(window, op);
    const bool is_last = stride + 1 >= window->time_count;
    struct wl_noted from = {stride * WL_TIME_STRIDE, window->times_ns[stride]};
    struct wl_noted to = {is_last ? window->op_count : (stride + 1) * WL_TIME_STRIDE,
                          is_last ? window->facts.end_ns : window->times_ns[stride + 1]};
    if (behind > 0 && window->noted[behind - 1].op >= from.op)
        from = window->noted[behind - 1];
    if (behind < window->noted_count && window->noted[behind].op < to.op)
        to = window->noted[behind];
    if (to.time_ns <= from.time_ns)
        return from.time_ns;
    const uint64_t span_ns = to.time_ns - from.time_ns;
    const uint32_t past = op - from.op, width = to.op - from.op;
    return from.time_ns + span_ns / width * past + span_ns % width * past / width;
}

bool shape_normalise(struct fp_shape *shape)
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
    const enum fp_call_kind kind = fp_call_kind_of(shape->call);
    struct wl_op op = {.call = shape->call, .size = shape->size};
    if (kind == FP_KIND_NONE || fp_shape_bytes(shape) >= WINDOW_SIZE_MAX || (fresh && kind != FP_KIND_RESIZE))
        return false;
    if (extra == FP_EXTRA_COUNT) {
        if (shape->extra > UINT16_MAX)
            return false;
        op.count = (uint16_t)shape->extra;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if ((shape->extra & (shape->extra - 1)) != 0 || shape->extra >= WINDOW_SIZE_MAX)
            return false;
        op.align_log2 = shape->extra != 0 ? (uint8_t)__builtin_ctzll(shape->extra) : 0;
    } else if (shape->extra != 0) {
        return false;
    }
    if (fresh)
        op.align_log2 |= WL_OP_FRESH;
    *ret_op = op;
    return true;
}

size_t window_scratch_bytes(uint32_t op_count)
{
    /* shape 21 and a site of 16, low and high 2, run 4 + 3, id 3, literal 5, wait 3 + 3, a time of 10 for 16, noted 3 + 10, facts 5 of 10 */
    return (size_t)op_count * (SHAPE_BYTES_MAX + SITE_BYTES_MOST + 2 + 7 + 3 + 5 + 6 + 13) +
           ((size_t)op_count / WL_TIME_STRIDE + 1) * 10 + 5 * VARINT_BYTES_MAX + RANGE_TAIL_BYTES;
}
