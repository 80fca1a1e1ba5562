/* repair.c - a summary that agrees with whatever windows a fuzzer made. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "fuzz/target.h"

#define THREADS_MAX 1024u /* a summary of more is left alone */

struct totals {
    uint64_t ops, windows, window_ops_max;
    uint64_t live_bytes_end, live_objects_end;
    uint32_t thread_count;
    struct wl_thread threads[THREADS_MAX];
};

static struct cursor cursor_of(const struct bytes *column)
{
    return (struct cursor){column->at, column->at + column->size, false};
}

static void count_window(struct totals *totals, const struct image *image, size_t at)
{
    struct image_columns columns = {0};
    const uint64_t ops = get_u32(image->bytes + at + 12);
    struct cursor facts;
    struct cursor runs;
    if (ops > totals->window_ops_max)
        totals->window_ops_max = ops;
    if (image_get_columns(image, at, &columns) && columns.count >= WINDOW_COLUMNS_PLAIN) {
        facts = cursor_of(&columns.columns[WINDOW_FACTS]);
        runs = cursor_of(&columns.columns[WINDOW_RUNS]);
        (void)get_varint(&facts); /* the window's length in time */
        totals->live_bytes_end = get_varint(&facts);
        totals->live_objects_end = get_varint(&facts);
        while (runs.at < runs.end) {
            const uint64_t thread = get_varint(&runs);
            const uint64_t length = get_varint(&runs);
            if (runs.bad || thread >= totals->thread_count || length > ops)
                break;
            struct wl_thread *known = &totals->threads[thread];
            if (known->ops == 0)
                known->first_window = totals->windows;
            known->last_window = totals->windows;
            known->ops += length;
        }
    }
    totals->ops += ops;
    totals->windows++;
    image_columns_release(&columns);
}

/* Numbers as generous as the reader allows, but for those that it holds against the windows. */
static void put_numbers(const struct totals *totals, struct bytes *column)
{
    const uint64_t id_max = totals->ops < WL_IDS_MAX ? totals->ops : WL_IDS_MAX - 1;
    const uint64_t numbers[] = {
        totals->ops,
        totals->windows,
        UINT64_MAX, /* duration */
        0,          /* bytes requested */
        UINT64_MAX, /* peak of live bytes */
        id_max,     /* peak of live objects */
        totals->live_bytes_end,
        totals->live_objects_end,
        WINDOW_SIZE_MAX - 1, /* largest request */
        id_max,
        totals->window_ops_max,
        totals->thread_count,
        totals->thread_count, /* at once */
        1,                    /* one counter of calls */
        totals->ops,
    };
    uint8_t *at = column->at;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        at = put_varint(at, numbers[i]);
    column->size = (size_t)(at - column->at);
}

/* Thread ids and flags stay those of the file where it has them. */
static void put_threads(const struct totals *totals, struct bytes *column)
{
    struct bytes made = {0};
    struct cursor old = cursor_of(column);
    FUZZ_CHECK(bytes_reserve(&made, ((size_t)totals->thread_count * 5 + 1) * VARINT_BYTES_MAX));
    uint8_t *at = made.at;
    for (uint32_t i = 0; i < totals->thread_count; i++) {
        const struct wl_thread *thread = &totals->threads[i];
        at = put_varint(at, get_varint(&old));
        at = put_varint(at, get_varint(&old) & (i == 0 ? 3 : 2)); /* one main thread at most */
        for (unsigned field = 0; field < 3; field++)
            (void)get_varint(&old);
        at = put_varint(at, thread->ops);
        at = put_varint(at, thread->first_window);
        at = put_varint(at, thread->last_window);
    }
    made.size = (size_t)(at - made.at);
    bytes_release(column);
    *column = made;
}

void repair_summary(struct image *image)
{
    static struct totals totals;
    struct image_columns columns = {0};
    size_t summary = 0;
    memset(&totals, 0, sizeof totals);
    for (size_t at = image_next_block(image, 0); at != 0; at = image_next_block(image, at))
        summary = at;
    if (summary == 0 || image->bytes[summary + 4] != BLOCK_SUMMARY)
        return;
    totals.thread_count = get_u32(image->bytes + summary + 12);
    if (totals.thread_count <= THREADS_MAX && image_get_columns(image, summary, &columns) &&
        columns.count == SUMMARY_COLUMNS && bytes_reserve(&columns.columns[0], 15 * VARINT_BYTES_MAX)) {
        for (size_t at = image_next_block(image, 0); at != 0; at = image_next_block(image, at))
            if (image->bytes[at + 4] == BLOCK_WINDOW)
                count_window(&totals, image, at);
        put_numbers(&totals, &columns.columns[0]);
        put_threads(&totals, &columns.columns[1]);
        image_set_columns(image, summary, &columns);
    }
    image_columns_release(&columns);
}
