/* wl_defects.c - damaged workloads. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/bytes.h"
#include "footprint/window.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

/* Numbers of the summary's first column (docs/format.md, "Summary and footer"). */
enum {
    SUMMARY_OPS = 0,
    SUMMARY_WINDOWS = 1,
    SUMMARY_DURATION = 2,
    SUMMARY_LIVE_BYTES_PEAK = 4,
    SUMMARY_LIVE_OBJECTS_PEAK = 5,
    SUMMARY_LIVE_BYTES_END = 6,
    SUMMARY_LARGEST = 8,
    SUMMARY_ID_MAX = 9,
    SUMMARY_WINDOW_OPS = 10,
    SUMMARY_THREADS = 11,
    SUMMARY_AT_ONCE = 12,
    SUMMARY_CALLS = 13,
    SUMMARY_FIRST_CALL = 14,
};

static size_t summary_at(const struct image *image)
{
    return image_find_block(image, BLOCK_SUMMARY, 0);
}

/* Replace varint number `index` of a column by the old value plus `add`. Returns the block's offset. */
static size_t add_to_number(struct image *image, size_t at, unsigned column, unsigned index, uint64_t add)
{
    struct image_columns columns = {0};
    struct bytes old;
    struct bytes changed = {0};
    struct cursor cursor;
    uint8_t *end;
    if (!image_get_columns(image, at, &columns) ||
        !bytes_reserve(&changed, columns.columns[column].size + VARINT_BYTES_MAX))
        abort(); /* the base is a golden file */
    old = columns.columns[column];
    cursor = (struct cursor){old.at, old.at + old.size, false};
    for (end = changed.at; cursor.at < cursor.end; index--)
        end = put_varint(end, get_varint(&cursor) + (index == 0 ? add : 0));
    changed.size = (size_t)(end - changed.at);
    columns.columns[column] = changed;
    bytes_release(&old);
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
    return at;
}

static size_t add_to_summary(struct image *image, unsigned index, uint64_t add)
{
    const size_t at = summary_at(image);
    return add_to_number(image, at, 0, index, add);
}

static size_t add_to_thread(struct image *image, unsigned thread, unsigned field, uint64_t add)
{
    const size_t at = summary_at(image);
    return add_to_number(image, at, 1, thread * 5 + field, add);
}

/* ---- the frame ----------------------------------------------------------------------------- */

static size_t units(struct image *image)
{
    put_u32(image->bytes + 20, 8);
    image_seal_header(image);
    return 16;
}

static size_t cut_in_block(struct image *image)
{
    image->size = image_find_block(image, BLOCK_WINDOW, 2) + HEADER + 40;
    return image->size - WORKLOAD_FOOTER_BYTES;
}

static size_t no_footer(struct image *image)
{
    image->size -= WORKLOAD_FOOTER_BYTES;
    return image->size - WORKLOAD_FOOTER_BYTES;
}

static size_t bytes_after_footer(struct image *image)
{
    image_splice(image, image->size, 0, "more", 4);
    return image->size - WORKLOAD_FOOTER_BYTES;
}

static size_t footer_to(struct image *image, uint64_t offset)
{
    const size_t at = image->size - WORKLOAD_FOOTER_BYTES;
    put_u64(image->bytes + at + 8, offset);
    put_u64(image->bytes + at + 16, XXH64(image->bytes + at, 16, 0));
    return at + 8;
}

static size_t footer_outside(struct image *image)
{
    return footer_to(image, UINT64_MAX - 8);
}

static size_t footer_in_header(struct image *image)
{
    return footer_to(image, 8);
}

static size_t footer_in_window(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 2);
    (void)footer_to(image, at + 100);
    return at;
}

static size_t footer_at_window(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 2);
    (void)footer_to(image, at);
    return at;
}

static size_t window_u32(struct image *image, unsigned field, uint32_t value)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 2);
    put_u32(image->bytes + at + field, value);
    image_seal_block(image, at);
    return at;
}

static size_t window_without_ops(struct image *image)
{
    return window_u32(image, 12, 0);
}

static size_t window_beyond_limit(struct image *image)
{
    return window_u32(image, 12, WL_WINDOW_OPS_MAX + 1);
}

static size_t window_number(struct image *image)
{
    return window_u32(image, 24, 3);
}

static size_t window_missing(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 1);
    image_splice(image, at, image_find_block(image, BLOCK_WINDOW, 2) - at, NULL, 0);
    image_seal_footer(image);
    return at;
}

static size_t window_before_its_time(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 2);
    put_u64(image->bytes + at + 40, 0);
    image_seal_block(image, at);
    return at + HEADER;
}

static size_t payload_checksum(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 1);
    image->bytes[at + HEADER + 80] ^= 1;
    return at + HEADER;
}

static size_t block_header_checksum(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_WINDOW, 1);
    image->bytes[at + 30] ^= 1;
    return at;
}

static size_t column_beyond_payload(struct image *image)
{
    return defect_column_offset(image, defect_table(image, BLOCK_WINDOW, 1, WINDOW_IDS, 500, 0x7fffffff),
                                WINDOW_IDS);
}

static size_t column_raw_huge(struct image *image)
{
    return defect_column_offset(image, defect_table(image, BLOCK_WINDOW, 1, WINDOW_FACTS, UINT32_MAX, 3),
                                WINDOW_FACTS);
}

static size_t window_bomb(struct image *image)
{
    return defect_column_offset(
        image, defect_bomb(image, BLOCK_WINDOW, 1, WINDOW_WAITS, 64u << 20, 64u << 20), WINDOW_WAITS);
}

static size_t bomb_in_small_column(struct image *image)
{
    return defect_column_offset(image, defect_bomb(image, BLOCK_WINDOW, 1, WINDOW_WAITS, 4u << 20, 200),
                                WINDOW_WAITS);
}

static size_t stream_too_small(struct image *image)
{
    return defect_column_offset(image, defect_bomb(image, BLOCK_WINDOW, 1, WINDOW_SHAPE_LOW, 20, 64),
                                WINDOW_SHAPE_LOW);
}

static size_t summary_bomb(struct image *image)
{
    return defect_column_offset(image, defect_bomb(image, BLOCK_SUMMARY, 0, 1, 64u << 20, 64u << 20), 1);
}

static size_t meta_bomb(struct image *image)
{
    return defect_column_offset(image, defect_bomb(image, BLOCK_META, 0, 0, 1u << 20, 1u << 20), 0);
}

/* ---- ops of the first window --------------------------------------------------------------- */

static size_t first_window(struct image *image, unsigned column, const void *bytes, size_t size)
{
    return defect_column(image, BLOCK_WINDOW, 0, column, bytes, size) + HEADER;
}

/* Its ops become: one malloc, then frees named by codes and literals, then mallocs. */
static size_t frees(struct image *image, unsigned count, const uint8_t *codes, size_t code_bytes,
                    uint64_t literal)
{
    uint8_t literals[VARINT_BYTES_MAX];
    uint8_t low[64] = {0};
    memset(low + 1, 1, count);
    (void)first_window(image, WINDOW_SHAPES, "\1\10\0\5\0\0\3\10\0", 9); /* malloc 8, free, realloc 8 */
    (void)first_window(image, WINDOW_SHAPE_LOW, low, sizeof low);
    (void)first_window(image, WINDOW_LITERALS, literals,
                       literal == 0 ? 0 : (size_t)(put_varint(literals, literal) - literals));
    return first_window(image, WINDOW_IDS, codes, code_bytes);
}

static size_t id_released_twice(struct image *image)
{
    return frees(image, 2, (const uint8_t[]){2, 2}, 2, 0);
}

static size_t id_never_given(struct image *image)
{
    return frees(image, 1, (const uint8_t[]){0}, 1, 18); /* 9; only 1 is in use */
}

static size_t id_beyond_all(struct image *image)
{
    return frees(image, 1, (const uint8_t[]){0}, 1, UINT64_MAX - 1); /* 2^31 - 1, cut to 32 bits */
}

static size_t id_before_start(struct image *image)
{
    return frees(image, 1, (const uint8_t[]){7}, 1, 0);
}

static size_t id_beyond_history(struct image *image)
{
    uint8_t code[VARINT_BYTES_MAX];
    return frees(image, 1, code, (size_t)(put_varint(code, WINDOW_HISTORY + 1) - code), 0);
}

static size_t ids_left_over(struct image *image)
{
    return frees(image, 1, (const uint8_t[]){2, 1}, 2, 0);
}

static size_t resize_of_null(struct image *image)
{
    uint8_t low[64] = {0};
    (void)frees(image, 1, (const uint8_t[]){1}, 1, 0);
    low[1] = 2;
    return first_window(image, WINDOW_SHAPE_LOW, low, sizeof low);
}

static size_t shape_out_of_range(struct image *image)
{
    uint8_t low[64] = {0};
    low[63] = 200;
    return first_window(image, WINDOW_SHAPE_LOW, low, sizeof low);
}

static size_t shape_of_no_call(struct image *image)
{
    return first_window(image, WINDOW_SHAPES, "\x33\1\0", 3); /* a gap, which is no call */
}

static size_t shape_too_large(struct image *image)
{
    uint8_t shape[SHAPE_BYTES_MAX];
    const uint8_t *end = put_shape(shape, &(struct fp_shape){FP_CALL_MALLOC, UINT64_C(1) << 48, 0});
    return first_window(image, WINDOW_SHAPES, shape, (size_t)(end - shape));
}

static size_t shape_product_too_large(struct image *image)
{
    uint8_t shape[SHAPE_BYTES_MAX];
    const uint8_t *end = put_shape(shape, &(struct fp_shape){FP_CALL_CALLOC, UINT64_C(1) << 63, 6});
    return first_window(image, WINDOW_SHAPES, shape, (size_t)(end - shape));
}

static size_t alignment_no_power_of_two(struct image *image)
{
    return first_window(image, WINDOW_SHAPES, "\x0a\1\x18", 3); /* memalign to 24 */
}

static size_t fresh_malloc(struct image *image)
{
    return first_window(image, WINDOW_SHAPES, "\x81\1\0", 3);
}

static size_t thread_beyond_count(struct image *image)
{
    return first_window(image, WINDOW_RUNS, "\4\x40", 2);
}

static size_t run_too_long(struct image *image)
{
    return first_window(image, WINDOW_RUNS, "\0\x41", 2);
}

static size_t run_empty(struct image *image)
{
    return first_window(image, WINDOW_RUNS, "\0\0", 2);
}

/* All ops by thread 3, which the summary has begin later. */
static size_t run_before_thread_starts(struct image *image)
{
    return first_window(image, WINDOW_RUNS, "\3\x40", 2);
}

static size_t wait_forward(struct image *image)
{
    return first_window(image, WINDOW_WAITS, "\5\6", 2); /* op 5 for op -1 */
}

static size_t wait_for_itself(struct image *image)
{
    return first_window(image, WINDOW_WAITS, "\5\0", 2);
}

static size_t wait_beyond_window(struct image *image)
{
    return first_window(image, WINDOW_WAITS, "\x40\1", 2);
}

static size_t waits_without_end(struct image *image)
{
    uint8_t waits[256];
    for (unsigned i = 0; i < 128; i++) {
        waits[2 * i] = i == 0 ? 63 : 0;
        waits[2 * i + 1] = 1;
    }
    return first_window(image, WINDOW_WAITS, waits, sizeof waits);
}

static size_t waits_missing(struct image *image)
{
    return first_window(image, WINDOW_WAITS, "", 0);
}

static size_t wait_for_own_thread(struct image *image)
{
    return first_window(image, WINDOW_WAITS, "\1\1", 2); /* thread 0 makes the first nine ops */
}

static size_t times_beyond_window(struct image *image)
{
    uint8_t times[4 * VARINT_BYTES_MAX] = {0};
    const uint8_t *end = put_varint(times + 3, UINT64_MAX);
    return first_window(image, WINDOW_TIMES, times, (size_t)(end - times));
}

static size_t facts_overflow(struct image *image)
{
    return add_to_number(image, image_find_block(image, BLOCK_WINDOW, 0), WINDOW_FACTS, 0, UINT64_MAX / 2) +
           HEADER;
}

static size_t facts_live_objects(struct image *image)
{
    return add_to_number(image, image_find_block(image, BLOCK_WINDOW, 1), WINDOW_FACTS, 2, 1) + HEADER;
}

/* ---- the summary --------------------------------------------------------------------------- */

static size_t summary_more_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_OPS, 1);
}

static size_t summary_fewer_windows(struct image *image)
{
    return add_to_summary(image, SUMMARY_WINDOWS, UINT64_MAX);
}

static size_t summary_more_threads(struct image *image)
{
    return add_to_summary(image, SUMMARY_THREADS, 1);
}

static size_t summary_at_once(struct image *image)
{
    return add_to_summary(image, SUMMARY_AT_ONCE, 4);
}

static size_t summary_window_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_WINDOW_OPS, 1);
}

static size_t summary_calls_without_end(struct image *image)
{
    return add_to_summary(image, SUMMARY_CALLS, UINT64_C(1) << 60);
}

static size_t summary_call_counts(struct image *image)
{
    return add_to_summary(image, SUMMARY_FIRST_CALL + FP_CALL_FREE, 1);
}

static size_t id_max_huge(struct image *image)
{
    return add_to_summary(image, SUMMARY_ID_MAX, UINT64_C(1) << 40);
}

static size_t id_max_above_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_ID_MAX, 301);
}

static size_t header_more_threads(struct image *image)
{
    const size_t at = summary_at(image);
    put_u32(image->bytes + at + 12, WL_THREADS_MAX + 1);
    image_seal_block(image, at);
    return at;
}

static size_t second_main_thread(struct image *image)
{
    return add_to_thread(image, 0, 1, 1);
}

static size_t thread_beyond_windows(struct image *image)
{
    return add_to_thread(image, 3, 4, 1000);
}

static size_t thread_ops_sum(struct image *image)
{
    return add_to_thread(image, 2, 2, 1);
}

/* What follows agrees with itself; only the windows show the lie. Returns the offset of the window that does. */

static size_t refused_in(const struct image *image, unsigned window)
{
    return image_find_block(image, BLOCK_WINDOW, window) + HEADER;
}

static size_t thread_ops_moved(struct image *image)
{
    (void)add_to_thread(image, 0, 2, UINT64_MAX - 59); /* 60 fewer, which thread 1 gets */
    (void)add_to_thread(image, 1, 2, 60);
    return refused_in(image, 0);
}

static size_t id_max_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_OBJECTS_PEAK, UINT64_MAX - 3);
    (void)add_to_summary(image, SUMMARY_ID_MAX, UINT64_MAX - 6);
    return refused_in(image, 2); /* ids 23 to 33 are first given there */
}

static size_t largest_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LARGEST, UINT64_MAX);
    return refused_in(image, 4);
}

static size_t live_peak_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_BYTES_PEAK, UINT64_MAX);
    return refused_in(image, 4);
}

static size_t duration_too_short(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_DURATION, UINT64_MAX - 63);
    return refused_in(image, 4);
}

static size_t live_end_differs(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_BYTES_END, 1);
    return image_find_block(image, BLOCK_WINDOW, 4);
}

/* Notes that would make the meta text of both places too long together. */
static size_t notes_too_long(struct image *image)
{
    static uint8_t notes[META_BYTES_MAX - 8];
    memset(notes, 'n', sizeof notes);
    notes[4] = '=';
    notes[sizeof notes - 1] = '\n';
    return defect_bomb(image, BLOCK_SUMMARY, 0, 2, sizeof notes, sizeof notes);
}

static size_t meta_without_end(struct image *image)
{
    return defect_column(image, BLOCK_META, 0, 0, "program=scene", 13);
}

/* Shares of large objects: all gaps made 1 but one, so they are of op 4 and those behind it. */

static size_t touched_in_version_1(struct image *image)
{
    put_u16(image->bytes + 8, 1);
    image_seal_header(image);
    return image_find_block(image, BLOCK_TOUCHED, 0);
}

static size_t touched_gaps(struct image *image, unsigned at, uint8_t gap)
{
    uint8_t gaps[18] = {0};
    memset(gaps + 1, 1, sizeof gaps - 1);
    gaps[at] = gap;
    return defect_column(image, BLOCK_TOUCHED, 0, 0, gaps, sizeof gaps) + HEADER;
}

static size_t touched_twice(struct image *image)
{
    return touched_gaps(image, 3, 0);
}

static size_t touched_beyond_ops(struct image *image)
{
    return touched_gaps(image, 17, 100);
}

static size_t touched_too_few_shares(struct image *image)
{
    return defect_column(image, BLOCK_TOUCHED, 0, 1, "123", 3) + HEADER;
}

static size_t touched_of_release(struct image *image)
{
    (void)touched_gaps(image, 17, 6);
    return image_find_block(image, BLOCK_WINDOW, 2);
}

static size_t touched_out_of_order(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_TOUCHED, 0);
    image->bytes[at + 24] = 1; /* its sequence */
    image_seal_block(image, at);
    return at;
}

#define TOUCHED "v2-touched.wl"
#define THREADS "v1-threads.wl"

const struct defect WL_DEFECTS[] = {
    {"touched-in-version-1.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_in_version_1},
    {"touched-twice.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_twice},
    {"touched-beyond-ops.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_beyond_ops},
    {"touched-too-few-shares.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_too_few_shares},
    {"touched-of-release.wl", TOUCHED, "window", FP_ERR_CORRUPT, touched_of_release},
    {"touched-out-of-order.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_out_of_order},
    {"truncated-header.wl", THREADS, "open", FP_ERR_TRUNCATED, defect_truncated_header},
    {"foreign.wl", THREADS, "open", FP_ERR_FOREIGN, defect_foreign},
    {"newer-version.wl", THREADS, "open", FP_ERR_VERSION, defect_newer_version},
    {"header-checksum.wl", THREADS, "open", FP_ERR_CHECKSUM, defect_header_checksum},
    {"units.wl", THREADS, "open", FP_ERR_CORRUPT, units},
    {"cut-in-block.wl", THREADS, "open", FP_ERR_TRUNCATED, cut_in_block},
    {"no-footer.wl", THREADS, "open", FP_ERR_TRUNCATED, no_footer},
    {"bytes-after-footer.wl", THREADS, "open", FP_ERR_TRUNCATED, bytes_after_footer},
    {"footer-outside.wl", THREADS, "open", FP_ERR_CORRUPT, footer_outside},
    {"footer-in-header.wl", THREADS, "open", FP_ERR_CORRUPT, footer_in_header},
    {"footer-in-window.wl", THREADS, "open", FP_ERR_CORRUPT, footer_in_window},
    {"footer-at-window.wl", THREADS, "open", FP_ERR_CORRUPT, footer_at_window},
    {"window-without-ops.wl", THREADS, "open", FP_ERR_CORRUPT, window_without_ops},
    {"window-beyond-limit.wl", THREADS, "open", FP_ERR_CORRUPT, window_beyond_limit},
    {"window-number.wl", THREADS, "open", FP_ERR_CORRUPT, window_number},
    {"window-missing.wl", THREADS, "open", FP_ERR_CORRUPT, window_missing},
    {"window-before-its-time.wl", THREADS, "window", FP_ERR_CORRUPT, window_before_its_time},
    {"payload-checksum.wl", THREADS, "window", FP_ERR_CHECKSUM, payload_checksum},
    {"block-header-checksum.wl", THREADS, "open", FP_ERR_CHECKSUM, block_header_checksum},
    {"column-beyond-payload.wl", THREADS, "window", FP_ERR_CORRUPT, column_beyond_payload},
    {"column-raw-huge.wl", THREADS, "window", FP_ERR_CORRUPT, column_raw_huge},
    {"window-bomb.wl", THREADS, "window", FP_ERR_CORRUPT, window_bomb},
    {"bomb-in-small-column.wl", THREADS, "window", FP_ERR_CORRUPT, bomb_in_small_column},
    {"stream-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, stream_too_small},
    {"summary-bomb.wl", THREADS, "open", FP_ERR_CORRUPT, summary_bomb},
    {"meta-bomb.wl", THREADS, "open", FP_ERR_CORRUPT, meta_bomb},
    {"meta-without-equals.wl", THREADS, "open", FP_ERR_CORRUPT, defect_meta_without_equals},
    {"meta-without-end.wl", THREADS, "open", FP_ERR_CORRUPT, meta_without_end},
    {"notes-too-long.wl", THREADS, "open", FP_ERR_CORRUPT, notes_too_long},
    {"id-released-twice.wl", THREADS, "window", FP_ERR_CORRUPT, id_released_twice},
    {"id-never-given.wl", THREADS, "window", FP_ERR_CORRUPT, id_never_given},
    {"id-beyond-all.wl", THREADS, "window", FP_ERR_CORRUPT, id_beyond_all},
    {"id-before-start.wl", THREADS, "window", FP_ERR_CORRUPT, id_before_start},
    {"id-beyond-history.wl", THREADS, "window", FP_ERR_CORRUPT, id_beyond_history},
    {"ids-left-over.wl", THREADS, "window", FP_ERR_CORRUPT, ids_left_over},
    {"resize-of-null.wl", THREADS, "window", FP_ERR_CORRUPT, resize_of_null},
    {"shape-out-of-range.wl", THREADS, "window", FP_ERR_CORRUPT, shape_out_of_range},
    {"shape-of-no-call.wl", THREADS, "window", FP_ERR_CORRUPT, shape_of_no_call},
    {"shape-too-large.wl", THREADS, "window", FP_ERR_CORRUPT, shape_too_large},
    {"shape-product-too-large.wl", THREADS, "window", FP_ERR_CORRUPT, shape_product_too_large},
    {"alignment-no-power-of-two.wl", THREADS, "window", FP_ERR_CORRUPT, alignment_no_power_of_two},
    {"fresh-malloc.wl", THREADS, "window", FP_ERR_CORRUPT, fresh_malloc},
    {"thread-beyond-count.wl", THREADS, "window", FP_ERR_CORRUPT, thread_beyond_count},
    {"run-too-long.wl", THREADS, "window", FP_ERR_CORRUPT, run_too_long},
    {"run-empty.wl", THREADS, "window", FP_ERR_CORRUPT, run_empty},
    {"run-before-thread-starts.wl", THREADS, "window", FP_ERR_CORRUPT, run_before_thread_starts},
    {"wait-forward.wl", THREADS, "window", FP_ERR_CORRUPT, wait_forward},
    {"wait-for-itself.wl", THREADS, "window", FP_ERR_CORRUPT, wait_for_itself},
    {"wait-beyond-window.wl", THREADS, "window", FP_ERR_CORRUPT, wait_beyond_window},
    {"waits-without-end.wl", THREADS, "window", FP_ERR_CORRUPT, waits_without_end},
    {"waits-missing.wl", THREADS, "window", FP_ERR_CORRUPT, waits_missing},
    {"wait-for-own-thread.wl", THREADS, "window", FP_ERR_CORRUPT, wait_for_own_thread},
    {"times-beyond-window.wl", THREADS, "window", FP_ERR_CORRUPT, times_beyond_window},
    {"facts-overflow.wl", THREADS, "window", FP_ERR_CORRUPT, facts_overflow},
    {"facts-live-objects.wl", THREADS, "window", FP_ERR_CORRUPT, facts_live_objects},
    {"summary-more-ops.wl", THREADS, "open", FP_ERR_CORRUPT, summary_more_ops},
    {"summary-fewer-windows.wl", THREADS, "open", FP_ERR_CORRUPT, summary_fewer_windows},
    {"summary-more-threads.wl", THREADS, "open", FP_ERR_CORRUPT, summary_more_threads},
    {"summary-at-once.wl", THREADS, "open", FP_ERR_CORRUPT, summary_at_once},
    {"summary-window-ops.wl", THREADS, "open", FP_ERR_CORRUPT, summary_window_ops},
    {"summary-calls-without-end.wl", THREADS, "open", FP_ERR_CORRUPT, summary_calls_without_end},
    {"summary-call-counts.wl", THREADS, "open", FP_ERR_CORRUPT, summary_call_counts},
    {"id-max-huge.wl", THREADS, "open", FP_ERR_CORRUPT, id_max_huge},
    {"id-max-above-ops.wl", THREADS, "open", FP_ERR_CORRUPT, id_max_above_ops},
    {"header-more-threads.wl", THREADS, "open", FP_ERR_CORRUPT, header_more_threads},
    {"second-main-thread.wl", THREADS, "open", FP_ERR_CORRUPT, second_main_thread},
    {"thread-beyond-windows.wl", THREADS, "open", FP_ERR_CORRUPT, thread_beyond_windows},
    {"thread-ops-sum.wl", THREADS, "open", FP_ERR_CORRUPT, thread_ops_sum},
    {"thread-ops-moved.wl", THREADS, "window", FP_ERR_CORRUPT, thread_ops_moved},
    {"id-max-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, id_max_too_small},
    {"largest-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, largest_too_small},
    {"live-peak-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, live_peak_too_small},
    {"duration-too-short.wl", THREADS, "window", FP_ERR_CORRUPT, duration_too_short},
    {"live-end-differs.wl", THREADS, "window", FP_ERR_CORRUPT, live_end_differs},
    {0},
};
