/* Shows: the waits that the writer stores are enough, with few threads and with more than it keeps account of, and
 * none is too many: a file from which any one is taken is refused, because its threads could race. */
#include <unistd.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "footprint/wl/workload.h"
#include "golden/patch.h"
#include "unit/busy.h"
#include "unit/readers.h"
#include "unit/scratch.h"

#define PATH scratch_path("waits.wl")

static enum fp_status read_all(const char **ret_what, uint64_t *ret_waits)
{
    struct wl_window window;
    enum fp_status status;
    WL_READER *reader = wl_opened(PATH);
    for (*ret_waits = 0; (status = wl_reader_next(reader, &window)) == FP_OK;)
        *ret_waits += window.wait_count;
    *ret_what = status != FP_END ? wl_reader_error(reader)->what : "";
    return status;
}

TEST(what_the_writer_stores_is_enough)
{
    static const uint32_t threads[] = {2, 5, 63, 64, 65, 66, 200, 1000};
    static const uint32_t windows[] = {2, 100, 5000, 65536};
    for (size_t t = 0; t < COUNT_OF(threads); t++) {
        for (size_t w = 0; w < COUNT_OF(windows); w++) {
            const char *what;
            uint64_t waits;
            write_busy(PATH, threads[t], windows[w], 20000);
            CHECK_U64(read_all(&what, &waits), FP_END);
            CHECK(waits > 0);
        }
    }
}

/* The notes about touched objects are tagged by window, with 16 bits: more windows than that. */
TEST(many_windows_keep_their_notes_apart)
{
    const char *what;
    uint64_t waits;
    write_busy(PATH, 3, 2, 150000);
    CHECK_U64(read_all(&what, &waits), FP_END);
    CHECK(waits > 100);
}

/* Take wait number `index` out of the column: the step of the next one grows by the step of the lost one. */
static void remove_wait(struct bytes *column, uint32_t index)
{
    struct cursor cursor = {column->at, column->at + column->size, false};
    uint8_t *end = column->at; /* what is written is never longer than what was read */
    uint64_t carried = 0;
    for (uint32_t i = 0; cursor.at < cursor.end; i++) {
        const uint64_t step = get_varint(&cursor);
        const uint64_t back = get_varint(&cursor);
        uint8_t pair[2 * VARINT_BYTES_MAX];
        if (i == index) {
            carried = step;
            continue;
        }
        uint8_t *const pair_end = put_varint(put_varint(pair, step + carried), back);
        memmove(end, pair, (size_t)(pair_end - pair));
        end += pair_end - pair;
        carried = 0;
    }
    column->size = (size_t)(end - column->at);
}

TEST(no_wait_can_be_left_out)
{
    OWNED(image) whole = {0};
    OWNED(image) image = {0};
    OWNED(image_columns) columns = {0};
    const char *what;
    uint64_t waits;
    uint64_t unused;
    write_busy(PATH, 5, 200, 200);
    CHECK_U64(read_all(&what, &waits), FP_END);
    CHECK(waits > 20);
    CHECK(image_load(&whole, PATH));
    size_t at = image_find_block(&whole, BLOCK_WINDOW, 0);
    for (uint32_t i = 0; i < waits; i++) {
        image_set(&image, whole.bytes, whole.size);
        CHECK(image_get_columns(&image, at, &columns));
        remove_wait(&columns.columns[WINDOW_WAITS], i);
        image_set_columns(&image, at, &columns);
        CHECK(image_store(&image, PATH));
        CHECK_U64(read_all(&what, &unused), FP_ERR_CORRUPT);
        CHECK_STR(what, "waits of a window let threads race for an object");
    }
}
