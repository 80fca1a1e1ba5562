/* Shows: the waits that the writer stores are enough, with few threads and with more than it keeps account of, and
 * none is too many: a file from which any one is taken is refused, because its threads could race. */
#include <unistd.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "footprint/wl/workload.h"
#include "golden/patch.h"
#include "unit/harness.h"
#include "unit/random.h"

static char directory[] = "/tmp/mallab-test-XXXXXX";
static char path[64];
static uint64_t random_state = 3;

static uint64_t random_next(void)
{
    return test_random(&random_state);
}

static void prepare(void)
{
    static bool made;
    if (!made && mkdtemp(directory) == NULL)
        abort();
    made = true;
    snprintf(path, sizeof path, "%s/waits.wl", directory);
}

/* Threads that hand objects to each other all the time. */
static void write_busy(uint32_t threads, uint32_t window_ops, uint32_t ops)
{
    const struct wl_writer_options options = {.window_ops = window_ops};
    static const struct fp_shape allocate = {FP_CALL_MALLOC, 64, 0}, resize = {FP_CALL_REALLOC, 64, 0},
                                 release = {FP_CALL_FREE, 0, 0};
    static uint32_t live[64];
    struct wl_writer *writer = NULL;
    uint32_t live_count = 0;
    uint32_t thread;
    prepare();
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    for (uint32_t i = 0; i < threads; i++)
        CHECK_U64(wl_writer_thread(writer, i + 1, i == 0, &thread), FP_OK);
    for (uint32_t i = 0; i < ops; i++) {
        const uint64_t choice = random_next() % 3;
        const uint32_t victim = live_count > 0 ? (uint32_t)(random_next() % live_count) : 0;
        enum fp_status status;
        thread = (uint32_t)(random_next() % threads);
        if (live_count == 0 || (choice == 0 && live_count < 64))
            status = wl_writer_allocate(writer, thread, &allocate, 0, &live[live_count++]);
        else if (choice == 1)
            status = wl_writer_resize(writer, thread, &resize, 0, live[victim], 64);
        else {
            status = wl_writer_release(writer, thread, &release, 0, live[victim], 64);
            live[victim] = live[--live_count];
        }
        CHECK_U64(status, FP_OK);
    }
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, NULL), FP_OK);
}

static enum fp_status read_all(const char **ret_what, uint64_t *ret_waits)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    enum fp_status status;
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    for (*ret_waits = 0; (status = wl_reader_next(reader, &window)) == FP_OK;)
        *ret_waits += window.wait_count;
    *ret_what = status != FP_END ? wl_reader_error(reader)->what : "";
    wl_reader_close(reader);
    return status;
}

TEST(what_the_writer_stores_is_enough)
{
    static const uint32_t threads[] = {2, 5, 63, 64, 65, 66, 200, 1000};
    static const uint32_t windows[] = {2, 100, 5000, 65536};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
            const char *what;
            uint64_t waits;
            write_busy(threads[t], windows[w], 20000);
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
    write_busy(3, 2, 150000);
    CHECK_U64(read_all(&what, &waits), FP_END);
    CHECK(waits > 500);
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
    struct image whole = {0};
    struct image image = {0};
    struct image_columns columns = {0};
    const char *what;
    uint64_t waits;
    uint64_t unused;
    size_t at;
    write_busy(5, 200, 200);
    CHECK_U64(read_all(&what, &waits), FP_END);
    CHECK(waits > 20);
    CHECK(image_load(&whole, path));
    at = image_find_block(&whole, BLOCK_WINDOW, 0);
    for (uint32_t i = 0; i < waits; i++) {
        image_set(&image, whole.bytes, whole.size);
        CHECK(image_get_columns(&image, at, &columns));
        remove_wait(&columns.columns[WINDOW_WAITS], i);
        image_set_columns(&image, at, &columns);
        CHECK(image_store(&image, path));
        CHECK_U64(read_all(&what, &unused), FP_ERR_CORRUPT);
        CHECK_STR(what, "waits of a window let threads race for an object");
    }
    image_columns_release(&columns);
    image_release(&image);
    image_release(&whole);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}
