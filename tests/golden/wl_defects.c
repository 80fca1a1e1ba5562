/* wl_defects.c - damaged workloads: their frame, windows and meta data. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

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

/* Behind the times of the 16th ops: an op's distance to the noted one before, and its time's. */
static size_t noted(struct image *image, const char *what, size_t bytes)
{
    uint8_t times[16] = {0};
    memcpy(times + 3, what, bytes);
    return first_window(image, WINDOW_TIMES, times, 3 + bytes);
}

static size_t noted_beyond_ops(struct image *image)
{
    return noted(image, "\50\0", 2);
}

static size_t noted_twice(struct image *image)
{
    return noted(image, "\5\0\0\1", 4);
}

static size_t noted_has_a_time(struct image *image)
{
    return noted(image, "\20\0", 2);
}

static size_t noted_beyond_next(struct image *image)
{
    return noted(image, "\5\1", 2);
}

static size_t facts_overflow(struct image *image)
{
    return image_add_to_number(image, image_find_block(image, BLOCK_WINDOW, 0), WINDOW_FACTS, 0,
                               UINT64_MAX / 2) +
           HEADER;
}

static size_t facts_live_objects(struct image *image)
{
    return image_add_to_number(image, image_find_block(image, BLOCK_WINDOW, 1), WINDOW_FACTS, 2, 1) + HEADER;
}

/* ---- meta data ------------------------------------------------------------------------------ */

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

#define THREADS "threads.wl"
#define PAUSES  "pauses.wl"

const struct defect WL_DEFECTS[] = {
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
    {"noted-beyond-ops.wl", PAUSES, "window", FP_ERR_CORRUPT, noted_beyond_ops},
    {"noted-twice.wl", PAUSES, "window", FP_ERR_CORRUPT, noted_twice},
    {"noted-has-a-time.wl", PAUSES, "window", FP_ERR_CORRUPT, noted_has_a_time},
    {"noted-beyond-next.wl", PAUSES, "window", FP_ERR_CORRUPT, noted_beyond_next},
    {"times-beyond-window.wl", THREADS, "window", FP_ERR_CORRUPT, times_beyond_window},
    {"facts-overflow.wl", THREADS, "window", FP_ERR_CORRUPT, facts_overflow},
    {"facts-live-objects.wl", THREADS, "window", FP_ERR_CORRUPT, facts_live_objects},
    {0},
};
