/* wl_decode.c - columns of a window -> ops, runs, waits, times. */
#include "footprint/wl/wl_reader.h"

#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/record.h"
#include "footprint/fp/site_model.h"

void wl_decode_reset(struct wl_decoder *decoder)
{
    struct ids *ids = &decoder->ids;
    memset(ids->next, 0, ((size_t)ids->capacity + 1) * sizeof *ids->next);
    memset(ids->threads, 0, (size_t)decoder->thread_count * sizeof *ids->threads);
    ids->used = 0;
    ids->pool = 0;
    ids->window = 0;
    ids->touched_count = 0;
    memset(decoder->history, 0, WINDOW_HISTORY * sizeof *decoder->history);
    memset(decoder->touched, 0, ((size_t)ids->capacity + 1) * sizeof *decoder->touched);
    decoder->waits_tag = 0;
    memset(decoder->waits_threads, 0, (size_t)decoder->thread_count * sizeof *decoder->waits_threads);
    memset(decoder->thread_ops, 0, (size_t)decoder->thread_count * sizeof *decoder->thread_ops);
    decoder->last_literal = 0;
    decoder->shape_count = 0;
    decoder->live_objects = 0;
    decoder->end_units = 0;
    decoder->refused = 0;
}

static bool decode_shapes(struct wl_decoder *decoder, const struct block_header *header,
                          const struct column columns[WINDOW_COLUMNS])
{
    struct cursor cursor = column_cursor(&columns[WINDOW_SHAPES]);
    if ((header->flags & WINDOW_FLAG_RESET) != 0)
        decoder->shape_count = 0;
    while (cursor.at < cursor.end) {
        const uint8_t call = get_byte(&cursor);
        struct fp_shape shape = {.call = call & (uint8_t)~SHAPE_FRESH};
        const bool fresh = (call & SHAPE_FRESH) != 0;
        const enum fp_call_kind kind = fresh ? FP_KIND_ALLOCATE : fp_call_kind_of(shape.call);
        if (decoder->shape_count == WINDOW_SHAPES_MAX)
            return false;
        shape.size = get_varint(&cursor);
        shape.extra = get_varint(&cursor);
        if (cursor.bad || !shape_to_op(&shape, fresh, &decoder->shapes[decoder->shape_count]) ||
            (kind != FP_KIND_RELEASE && fp_shape_bytes(&shape) > decoder->summary->largest_size))
            return false;
        if (decoder->site_shapes != NULL)
            decoder->site_shapes[decoder->shape_count] = shape;
        decoder->kinds[decoder->shape_count++] = (uint8_t)kind;
    }
    return true;
}

/* Tells whether the summary, by which replay starts and ends threads, has these ops of a thread in this window. */
static bool count_run(struct wl_decoder *decoder, uint32_t thread, uint64_t length, uint64_t window)
{
    const struct wl_thread *known = &decoder->summary->threads[thread];
    if (window < known->first_window || window > known->last_window ||
        length > known->ops - decoder->thread_ops[thread])
        return false;
    decoder->thread_ops[thread] += length;
    return true;
}

static bool decode_runs(struct wl_decoder *decoder, const struct block_header *header,
                        const struct column *column, uint32_t *ret_count)
{
    struct cursor cursor = column_cursor(column);
    uint32_t ops = 0;
    uint32_t count = 0;
    while (ops < header->count) {
        const uint64_t thread = get_varint(&cursor);
        const uint64_t length = get_varint(&cursor);
        if (cursor.bad || thread >= decoder->thread_count || length == 0 || length > header->count - ops ||
            !count_run(decoder, (uint32_t)thread, length, header->sequence))
            return false;
        decoder->runs[count++] = (struct wl_run){(uint32_t)thread, (uint32_t)length};
        ops += (uint32_t)length;
    }
    *ret_count = count;
    return cursor_done(&cursor);
}

/* The loop over a run's ops works with these copies: the compiler need not fear that its stores change them. */
struct run_cursor {
    struct cursor codes, literals;
    struct ids ids;
    uint32_t last_literal;
    uint64_t live_objects;
};

/* The id that an op on an existing object names; IDS_LIVE when the file is damaged. The history before the first op is 0. */
static inline uint32_t decode_id(struct run_cursor *at, const uint32_t *history, uint64_t op_number)
{
    const uint64_t code = get_varint(&at->codes);
    uint32_t id;
    if (likely(code > ID_NULL)) {
        if (unlikely(code - 1 >= WINDOW_HISTORY))
            return IDS_LIVE;
        id = history[(op_number - (code - 1)) % WINDOW_HISTORY];
    } else if (code == ID_NULL) {
        return at->codes.bad ? IDS_LIVE : 0;
    } else {
        at->last_literal += (uint32_t)unzigzag(get_varint(&at->literals));
        id = at->last_literal;
    }
    return likely(ids_is_live(&at->ids, id)) ? id : IDS_LIVE;
}

/* Returns the first op of the run that cannot be, or the run's end. */
static inline uint32_t decode_run(const struct wl_decoder *decoder, const struct column *columns,
                                  struct run_cursor *run_cursor, const struct wl_run *run, uint64_t first_op,
                                  uint32_t first)
{
    struct run_cursor at = *run_cursor;
    struct ids_thread own = at.ids.threads[run->thread];
    const uint8_t *low = columns[WINDOW_SHAPE_LOW].bytes;
    const uint8_t *high = columns[WINDOW_SHAPE_HIGH].size > 0 ? columns[WINDOW_SHAPE_HIGH].bytes : NULL;
    const struct wl_op *const shapes = decoder->shapes;
    const uint8_t *const kinds = decoder->kinds;
    uint32_t *const history = decoder->history;
    struct wl_op *const ops = decoder->ops;
    const uint32_t shape_count = decoder->shape_count, end = first + run->op_count;
    uint32_t given = 0, i;
    for (i = first; i < end; i++) {
        const uint32_t shape = low[i] | (high != NULL ? (uint32_t)high[i] << 8 : 0);
        uint32_t id;
        if (unlikely(shape >= shape_count))
            break;
        if (kinds[shape] == FP_KIND_ALLOCATE) {
            id = ids_pop(&at.ids, &own);
            if (unlikely(id == 0))
                break;
            at.live_objects++;
        } else {
            id = decode_id(&at, history, first_op + i);
            if (unlikely(id == IDS_LIVE || (id == 0 && kinds[shape] != FP_KIND_RELEASE)))
                break;
            if (id != 0 && kinds[shape] == FP_KIND_RELEASE) {
                ids_push(&at.ids, &own, id);
                given++;
            }
        }
        history[(first_op + i) % WINDOW_HISTORY] = id;
        ops[i] = shapes[shape];
        ops[i].id = id;
    }
    at.live_objects -= given;
    at.ids.threads[run->thread] = own;
    if (given > 0)
        ids_touch(&at.ids, run->thread);
    *run_cursor = at;
    return i;
}

static bool decode_ops(struct wl_decoder *decoder, const struct block_header *header,
                       const struct column *columns, uint32_t run_count)
{
    struct run_cursor at = {.codes = column_cursor(&columns[WINDOW_IDS]),
                            .literals = column_cursor(&columns[WINDOW_LITERALS]),
                            .ids = decoder->ids,
                            .last_literal = decoder->last_literal,
                            .live_objects = decoder->live_objects};
    uint32_t first = 0;
    const size_t high = columns[WINDOW_SHAPE_HIGH].size;
    if (columns[WINDOW_SHAPE_LOW].size != header->count || (high != 0 && high != header->count))
        return false;
    for (uint32_t i = 0; i < run_count; i++) {
        const struct wl_run *run = &decoder->runs[i];
        const uint32_t done = decode_run(decoder, columns, &at, run, header->base, first);
        if (done != first + run->op_count) {
            decoder->refused = done + 1;
            return false;
        }
        first = done;
    }
    ids_end_window(&at.ids);
    decoder->ids = at.ids;
    decoder->last_literal = at.last_literal;
    decoder->live_objects = at.live_objects;
    return cursor_done(&at.codes) && cursor_done(&at.literals);
}

static bool decode_waits(struct wl_decoder *decoder, const struct block_header *header,
                         const struct column *column, uint32_t *ret_count)
{
    struct cursor cursor = column_cursor(column);
    uint64_t op = 0;
    uint32_t count = 0;
    while (cursor.at < cursor.end) {
        const uint64_t step = get_varint(&cursor);
        const uint64_t back = get_varint(&cursor);
        if (cursor.bad || step >= header->count || (count > 0 && step == 0))
            return false;
        op += step;
        if (op >= header->count || back == 0 || back > op)
            return false;
        decoder->waits[count++] = (struct wl_wait){(uint32_t)op, (uint32_t)(op - back)};
    }
    *ret_count = count;
    return true;
}

/* ---- whether the waits keep threads from racing for an object ----------------------------------
 *
 * Replay runs the threads of a window in parallel and hands each call the pointer that the op before it left: a
 * file whose waits are missing would have it free what another thread is just allocating. */

/* A thread's number among those of the window, in the order of their first runs. */
static uint32_t local_of(struct wl_decoder *decoder, uint32_t thread, uint32_t *count)
{
    struct wl_waits_thread *known = &decoder->waits_threads[thread];
    if (known->window != decoder->ids.window) {
        known->window = decoder->ids.window; /* counted up before each window is checked, so never 0 */
        known->local = (*count)++;
        if (known->local < WINDOW_WAITERS_MAX) {
            memset(decoder->known[known->local], 0, sizeof decoder->known[0]);
            for (uint32_t i = 0; i < WINDOW_WAITERS_MAX; i++)
                decoder->known[i][known->local] = 0;
        }
    }
    return known->local;
}

/* Tells whether op `i`, which names an object that op `before` named last, is held back until that has finished. */
static bool is_ordered(const struct wl_decoder *decoder, uint32_t local, uint32_t before,
                       const struct wl_wait *wait)
{
    const uint32_t other = decoder->locals[before];
    if (other == local)
        return true;
    if (wait != NULL && decoder->locals[wait->on] == other && wait->on >= before)
        return true;
    return local < WINDOW_WAITERS_MAX && other < WINDOW_WAITERS_MAX && decoder->known[local][other] > before;
}

#define TOUCHED_AHEAD 16u /* ops: about a memory latency */

static bool check_run(struct wl_decoder *decoder, const struct wl_run *run, uint32_t local, uint32_t first,
                      const struct wl_window *window, const struct wl_wait **wait)
{
    const struct wl_wait *const waits_end = window->waits + window->wait_count;
    const uint32_t tag = decoder->waits_tag << 16;
    for (uint32_t i = first; i < first + run->op_count; i++) {
        const struct wl_wait *own = NULL;
        uint32_t *touched = &decoder->touched[decoder->ops[i].id];
        if (i + TOUCHED_AHEAD < window->op_count)
            __builtin_prefetch(&decoder->touched[decoder->ops[i + TOUCHED_AHEAD].id], 1);
        decoder->locals[i] = (uint16_t)local;
        if (*wait < waits_end && (*wait)->op == i) {
            const uint32_t other = decoder->locals[(*wait)->on];
            own = (*wait)++;
            if (other == local) {
                decoder->refused = i + 1;
                return false;
            }
            if (local < WINDOW_WAITERS_MAX && other < WINDOW_WAITERS_MAX &&
                decoder->known[local][other] <= own->on)
                decoder->known[local][other] = own->on + 1;
        }
        if (decoder->ops[i].id == 0)
            continue;
        if ((*touched & 0xffff0000u) == tag && !is_ordered(decoder, local, *touched & 0xffff, own)) {
            decoder->refused = i + 1;
            return false;
        }
        *touched = tag | i;
    }
    return true;
}

/* Tells whether every op on an object comes after the op before it on the same object: by its thread's own order, by its wait,
 * or by an earlier wait of its thread for that op's thread. To be called after ids_end_window. */
static bool waits_hold(struct wl_decoder *decoder, const struct wl_window *window)
{
    const struct wl_wait *wait = window->waits;
    uint32_t threads = 0;
    uint32_t first = 0;
    bool hold = true;
    if (window->run_count <= 1)
        return window->wait_count == 0;
    /* Notes of earlier windows are known by their tag, so the table is cleared once in 65,535 windows. */
    if (++decoder->waits_tag > 0xffff) {
        memset(decoder->touched, 0, ((size_t)decoder->ids.capacity + 1) * sizeof *decoder->touched);
        decoder->waits_tag = 1;
    }
    for (uint32_t i = 0; i < window->run_count && hold; i++) {
        const uint32_t local = local_of(decoder, window->runs[i].thread, &threads);
        hold = check_run(decoder, &window->runs[i], local, first, window, &wait);
        first += window->runs[i].op_count;
    }
    return hold;
}

/* ---- times ------------------------------------------------------------------------------------- */

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
        if (window_has_time(noted->op) ||
            !is_in_place(decoder, window->time_count, end_units * FP_TIME_UNIT_NS, noted))
            return false;
        window->noted_count++;
    }
    if (op + 1 != header->count && !window_has_time(header->count - 1))
        decoder->noted[window->noted_count++] = (struct wl_noted){header->count - 1,
                                                                  end_units * FP_TIME_UNIT_NS};
    return true;
}

/* The times and noted ops of a window whose op and time counts are set. */
static bool decode_times(struct wl_decoder *decoder, const struct block_header *header,
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

/* ---- a window ---------------------------------------------------------------------------------- */

enum fp_status wl_decode_window(struct wl_decoder *decoder, const struct block_header *header,
                                const struct column columns[WINDOW_COLUMNS], struct wl_window *ret_window,
                                const char **ret_what)
{
    struct cursor facts = column_cursor(&columns[WINDOW_FACTS]);
    const uint64_t length = get_varint(&facts);
    const uint64_t end_units = header->base_time + length;
    struct wl_window window = {
        .facts =
            {
                .first_op = header->base,
                .start_ns = header->base_time * FP_TIME_UNIT_NS,
                .end_ns = end_units * FP_TIME_UNIT_NS,
                .live_bytes = get_varint(&facts),
                .live_objects = get_varint(&facts),
                .live_bytes_peak = get_varint(&facts),
            },
        .op_count = header->count,
        .time_count = (header->count + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE,
        .ops = decoder->ops,
        .runs = decoder->runs,
        .waits = decoder->waits,
        .times_ns = decoder->times_ns,
        .noted = decoder->noted,
    };
    *ret_what = "facts of a window are damaged";
    if (!cursor_done(&facts) || end_units < length || end_units > UINT64_MAX / FP_TIME_UNIT_NS ||
        header->base_time < decoder->end_units || window.facts.end_ns > decoder->summary->duration_ns ||
        window.facts.live_bytes > window.facts.live_bytes_peak ||
        window.facts.live_bytes_peak > decoder->summary->live_bytes_peak)
        return FP_ERR_CORRUPT;
    decoder->end_units = end_units;
    *ret_what = "shapes of a window are damaged";
    if (!decode_shapes(decoder, header, columns))
        return FP_ERR_CORRUPT;
    *ret_what = "thread runs of a window are damaged";
    if (!decode_runs(decoder, header, &columns[WINDOW_RUNS], &window.run_count))
        return FP_ERR_CORRUPT;
    *ret_what = "ops of a window are damaged";
    if (!decode_ops(decoder, header, columns, window.run_count))
        return FP_ERR_CORRUPT;
    *ret_what = "live objects of a window are not those of its ops";
    if (window.facts.live_objects != decoder->live_objects ||
        decoder->live_objects > decoder->summary->live_objects_peak)
        return FP_ERR_CORRUPT;
    *ret_what = "waits of a window are damaged";
    if (!decode_waits(decoder, header, &columns[WINDOW_WAITS], &window.wait_count))
        return FP_ERR_CORRUPT;
    *ret_what = "waits of a window let threads race for an object";
    if (!waits_hold(decoder, &window))
        return FP_ERR_CORRUPT;
    *ret_what = "times of a window are damaged";
    if (!decode_times(decoder, header, &columns[WINDOW_TIMES], end_units, &window))
        return FP_ERR_CORRUPT;
    *ret_what = "sites of a window are damaged";
    if (decoder->site_shapes != NULL) {
        const struct column *high = &columns[WINDOW_SHAPE_HIGH];
        const struct site_calls calls = {decoder->site_shapes, columns[WINDOW_SHAPE_LOW].bytes,
                                         high->size > 0 ? high->bytes : NULL, header->count};
        if (header->sequence == 0)
            site_model_begin(decoder->site_model);
        if (!site_column_get(decoder->site_model, calls, &columns[WINDOW_SITES], decoder->site_end,
                             decoder->sites))
            return FP_ERR_CORRUPT;
        window.sites = decoder->sites;
    }
    *ret_window = window;
    return FP_OK;
}
