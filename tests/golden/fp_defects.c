/* fp_defects.c - damaged footprints. */
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/marks.h"
#include "footprint/fp/sites_block.h"
#include "footprint/fp/usage.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

static size_t cut_in_block(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 3);
    image->size = at + HEADER + 20;
    return at;
}

static size_t cut_in_block_header(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 2);
    image->size = at + 30;
    return at;
}

static size_t no_trailer(struct image *image)
{
    return image->size = image_find_block(image, BLOCK_TRAILER, 0);
}

static size_t empty_file(struct image *image)
{
    return image->size = 0;
}

static size_t unit_of_time(struct image *image)
{
    put_u32(image->bytes + 20, 1);
    image_seal_header(image);
    return 20;
}

static size_t payload_checksum(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    image->bytes[at + HEADER + 70] ^= 4;
    return at + HEADER;
}

static size_t block_header_checksum(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    image->bytes[at + 33] ^= 4;
    return at;
}

static size_t block_magic(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    memset(image->bytes + at, 0, 4);
    return at;
}

/* Change a field of a marks block's header and seal it. */
static size_t header_u32(struct image *image, unsigned field, uint32_t value)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    put_u32(image->bytes + at + field, value);
    image_seal_block(image, at);
    return at;
}

static size_t payload_beyond_limit(struct image *image)
{
    return header_u32(image, 16, (16u << 20) + 1);
}

static size_t marks_beyond_limit(struct image *image)
{
    return header_u32(image, 12, FP_BLOCK_MARKS_MAX + 1);
}

static size_t no_marks(struct image *image)
{
    return header_u32(image, 12, 0);
}

static size_t lane_beyond_limit(struct image *image)
{
    return header_u32(image, 8, FP_LANES_MAX);
}

static size_t columns_beyond_limit(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    put_u16(image->bytes + at + 6, BLOCK_COLUMNS_MAX + 1);
    image_seal_block(image, at);
    return at;
}

static size_t too_few_columns(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    put_u16(image->bytes + at + 6, MARKS_COLUMNS - 1);
    image_seal_block(image, at);
    return at + HEADER;
}

static size_t count_above_columns(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    return header_u32(image, 12, get_u32(image->bytes + at + 12) + 1) + HEADER;
}

static size_t column_beyond_payload(struct image *image)
{
    const size_t at = defect_table(image, BLOCK_MARKS, 1, MARKS_EPOCH, 100, 1000000);
    return defect_column_offset(image, at, MARKS_EPOCH);
}

static size_t column_stored_above_raw(struct image *image)
{
    const size_t at = defect_table(image, BLOCK_MARKS, 1, MARKS_SHAPES, 8, 9);
    return defect_column_offset(image, at, MARKS_SHAPES);
}

static size_t column_raw_huge(struct image *image)
{
    const size_t at = defect_table(image, BLOCK_MARKS, 1, MARKS_SHAPES, UINT32_MAX, 8);
    return defect_column_offset(image, at, MARKS_SHAPES);
}

/* The stream is larger than its table entry: the decompressor must stop at the entry. */
static size_t bomb_in_small_column(struct image *image)
{
    const size_t at = defect_bomb(image, BLOCK_MARKS, 1, MARKS_LITERAL, 4u << 20, 200);
    return defect_column_offset(image, at, MARKS_LITERAL);
}

/* The table tells the truth about 64 MiB: more than a block of so few marks can hold. */
static size_t bomb_told(struct image *image)
{
    const size_t at = defect_bomb(image, BLOCK_MARKS, 1, MARKS_LITERAL, 64u << 20, 64u << 20);
    return defect_column_offset(image, at, MARKS_LITERAL);
}

/* The reverse: the stream holds less than the table says. */
static size_t stream_too_small(struct image *image)
{
    const size_t at = defect_bomb(image, BLOCK_MARKS, 1, MARKS_SHAPE_LOW, 13, 31);
    return defect_column_offset(image, at, MARKS_SHAPE_LOW);
}

static size_t trailer_bomb(struct image *image)
{
    const size_t at = defect_bomb(image, BLOCK_TRAILER, 0, 0, 64u << 20, 64u << 20);
    return defect_column_offset(image, at, 0);
}

static size_t meta_bomb(struct image *image)
{
    const size_t at = defect_bomb(image, BLOCK_META, 0, 0, 1u << 20, 1u << 20);
    return defect_column_offset(image, at, 0);
}

/* Change one byte or more within a column of the second marks block. */
static size_t change_column(struct image *image, unsigned column, size_t index, const void *bytes,
                            size_t size)
{
    struct image_columns columns = {0};
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    if (image_get_columns(image, at, &columns)) {
        memcpy(columns.columns[column].at + index, bytes, size);
        image_set_columns(image, at, &columns);
    }
    image_columns_release(&columns);
    return at + HEADER;
}

static size_t distance_before_start(struct image *image)
{
    return change_column(image, MARKS_ADDRESS, 0, "\x02", 1); /* the first mark: one before it */
}

static size_t shape_out_of_range(struct image *image)
{
    return change_column(image, MARKS_SHAPE_LOW, 5, "\xc8", 1);
}

static size_t shape_of_no_call(struct image *image)
{
    return change_column(image, MARKS_SHAPES, 0, "\x28", 1); /* 40: neither call nor mark */
}

/* Replace a whole column; every value in it is one byte but for the last. */
static size_t last_value(struct image *image, unsigned column, uint64_t value, size_t count)
{
    uint8_t bytes[256] = {0};
    const uint8_t *end = put_varint(bytes + count - 1, value);
    return defect_column(image, BLOCK_MARKS, 1, column, bytes, (size_t)(end - bytes)) + HEADER;
}

static uint32_t second_block_marks(const struct image *image)
{
    return get_u32(image->bytes + image_find_block(image, BLOCK_MARKS, 1) + 12);
}

static size_t epoch_overflow(struct image *image)
{
    return last_value(image, MARKS_EPOCH, UINT64_C(1) << 32, second_block_marks(image));
}

/* 5 forward, then 2^64 - 3 forward, which would be 3 back. */
static size_t epoch_decreases(struct image *image)
{
    uint8_t bytes[256] = {5};
    const uint8_t *end = put_varint(bytes + second_block_marks(image) - 1, UINT64_MAX - 2);
    return defect_column(image, BLOCK_MARKS, 1, MARKS_EPOCH, bytes, (size_t)(end - bytes)) + HEADER;
}

static size_t epoch_base_overflow(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MARKS, 1);
    put_u64(image->bytes + at + 32, UINT64_MAX - 1);
    image_seal_block(image, at);
    return at + HEADER;
}

static size_t stamps_of(struct image *image, uint64_t gap, uint64_t time)
{
    uint8_t gaps[VARINT_BYTES_MAX + 1] = {5};
    uint8_t times[VARINT_BYTES_MAX + 1] = {5};
    const size_t gap_bytes = (size_t)(put_varint(gaps + 1, gap) - gaps);
    const size_t time_bytes = (size_t)(put_varint(times + 1, time) - times);
    (void)defect_column(image, BLOCK_MARKS, 1, MARKS_STAMP_GAP, gaps, gap_bytes);
    return defect_column(image, BLOCK_MARKS, 1, MARKS_STAMP_TIME, times, time_bytes) + HEADER;
}

static size_t stamp_beyond_block(struct image *image)
{
    return stamps_of(image, 1000, 0);
}

static size_t stamp_goes_back(struct image *image)
{
    return stamps_of(image, UINT64_MAX - 2, 0);
}

static size_t stamp_time_goes_back(struct image *image)
{
    return stamps_of(image, 1, UINT64_MAX - 2);
}

static size_t varint_too_long(struct image *image)
{
    uint8_t bytes[256] = {0};
    const size_t count = second_block_marks(image);
    memset(bytes + count - 1, 0xff, 12);
    return defect_column(image, BLOCK_MARKS, 1, MARKS_EPOCH, bytes, count + 11) + HEADER;
}

static size_t literal_left_over(struct image *image)
{
    return last_value(image, MARKS_LITERAL, 0, 200);
}

static size_t trailer_with_fewer_lanes(struct image *image)
{
    /* end 0; no causes of loss; one lane: thread 1, main, no marks */
    const size_t at = defect_column(image, BLOCK_TRAILER, 0, 0, "\0\0\1\1\1\0", 6);
    put_u32(image->bytes + at + 12, 1);
    image_seal_block(image, at);
    return at;
}

static size_t trailer_lanes_beyond_limit(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_TRAILER, 0);
    put_u32(image->bytes + at + 12, FP_LANES_MAX + 1);
    image_seal_block(image, at);
    return at;
}

/* 2^64 - 1 causes of loss. */
static size_t trailer_losses_without_end(struct image *image)
{
    uint8_t bytes[1 + VARINT_BYTES_MAX] = {0};
    (void)put_varint(bytes + 1, UINT64_MAX);
    return defect_column(image, BLOCK_TRAILER, 0, 0, bytes, sizeof bytes);
}

static size_t bytes_after_trailer(struct image *image)
{
    const size_t end = image->size;
    image_splice(image, end, 0, "more", 4);
    return end;
}

static size_t second_meta(struct image *image)
{
    const size_t first = image_find_block(image, BLOCK_META, 0);
    const size_t at = image_find_block(image, BLOCK_MARKS, 0);
    uint8_t copy[1024];
    memcpy(copy, image->bytes + first, at - first);
    image_splice(image, at, 0, copy, at - first);
    return at;
}

/* The second usage block of the file: the first has nothing in its columns. */
static size_t usage_no_number(struct image *image)
{
    static const char text[] = "cpu_user_ns=12 ms\n";
    return defect_column(image, BLOCK_USAGE, 1, USAGE_TEXT, text, sizeof text - 1);
}

static size_t usage_below_zero(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_USAGE, 1);
    static const uint8_t point[] = {1, 1, 0, 0}; /* one KiB less than none */
    put_u32(image->bytes + at + 12, 1);
    return defect_column(image, BLOCK_USAGE, 1, USAGE_SERIES, point, sizeof point);
}

static size_t usage_beyond_limit(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_USAGE, 1);
    put_u32(image->bytes + at + 12, FP_USAGE_POINTS_MAX + 1);
    image_seal_block(image, at);
    return at;
}

static size_t coded_sites_cut(struct image *image)
{
    return defect_coded(image, BLOCK_MARKS, MARKS_SITES, true) + HEADER;
}

static size_t coded_sites_too_many(struct image *image)
{
    return defect_coded(image, BLOCK_MARKS, MARKS_SITES, false) + HEADER;
}

static size_t coded_nodes_cut(struct image *image)
{
    return defect_coded(image, BLOCK_SITES, 0, true);
}

static size_t coded_nodes_too_many(struct image *image)
{
    return defect_coded(image, BLOCK_SITES, 0, false);
}

/* Whatever this is, it is no tree of nodes. */
static size_t coded_nodes_of_noise(struct image *image)
{
    static const uint8_t noise[] = {0x12, 0xf3, 0x9a, 0x57, 0x01, 0xbc, 0xfe,
                                    0xe1, 0x20, 0x44, 0x8d, 0x90, 0x33, 0xc7};
    return defect_column(image, BLOCK_SITES, 0, 0, noise, sizeof noise);
}

static size_t nodes_beyond_limit(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_SITES, 0);
    put_u32(image->bytes + at + 12, FP_SITES_BLOCK_MAX + 1);
    image_seal_block(image, at);
    return at;
}

/* start 1, no bytes long. */
static size_t module_of_no_length(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MODULES, 0);
    put_u32(image->bytes + at + 12, 1);
    return defect_column(image, BLOCK_MODULES, 0, 0, "\x01\x00\x00\x00\x00\x00", 6);
}

static size_t module_path_beyond_column(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MODULES, 0);
    put_u32(image->bytes + at + 12, 1);
    return defect_column(image, BLOCK_MODULES, 0, 0, "\x01\x01\x00\x00\x00\x09", 6);
}

static size_t module_path_with_escape(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MODULES, 0);
    put_u32(image->bytes + at + 12, 1);
    return defect_column(image, BLOCK_MODULES, 0, 0, "\x01\x01\x00\x00\x00\x02\x1b[", 8);
}

#define SITES "sites.fp"
#define USAGE "usage.fp"
#define LANES "lanes.fp"

const struct defect FP_DEFECTS[] = {
    {"truncated-header.fp", LANES, "open", FP_ERR_TRUNCATED, defect_truncated_header},
    {"empty-file.fp", LANES, "open", FP_ERR_FOREIGN, empty_file},
    {"foreign.fp", LANES, "open", FP_ERR_FOREIGN, defect_foreign},
    {"newer-version.fp", LANES, "open", FP_ERR_VERSION, defect_newer_version},
    {"header-checksum.fp", LANES, "open", FP_ERR_CHECKSUM, defect_header_checksum},
    {"unit-of-time.fp", LANES, "open", FP_ERR_CORRUPT, unit_of_time},
    {"meta-without-equals.fp", LANES, "tail", FP_ERR_CORRUPT, defect_meta_without_equals},
    {"meta-bomb.fp", LANES, "tail", FP_ERR_CORRUPT, meta_bomb},
    {"second-meta.fp", LANES, "tail", FP_ERR_CORRUPT, second_meta},
    {"usage-no-number.fp", USAGE, "tail", FP_ERR_CORRUPT, usage_no_number},
    {"usage-below-zero.fp", USAGE, "tail", FP_ERR_CORRUPT, usage_below_zero},
    {"usage-beyond-limit.fp", USAGE, "tail", FP_ERR_CORRUPT, usage_beyond_limit},
    {"coded-sites-cut.fp", SITES, "block", FP_ERR_CORRUPT, coded_sites_cut},
    {"coded-sites-too-many.fp", SITES, "block", FP_ERR_CORRUPT, coded_sites_too_many},
    {"coded-nodes-cut.fp", SITES, "tail", FP_ERR_CORRUPT, coded_nodes_cut},
    {"coded-nodes-too-many.fp", SITES, "tail", FP_ERR_CORRUPT, coded_nodes_too_many},
    {"coded-nodes-of-noise.fp", SITES, "tail", FP_ERR_CORRUPT, coded_nodes_of_noise},
    {"nodes-beyond-limit.fp", SITES, "tail", FP_ERR_CORRUPT, nodes_beyond_limit},
    {"module-of-no-length.fp", SITES, "tail", FP_ERR_CORRUPT, module_of_no_length},
    {"module-path-beyond-column.fp", SITES, "tail", FP_ERR_CORRUPT, module_path_beyond_column},
    {"module-path-with-escape.fp", SITES, "tail", FP_ERR_CORRUPT, module_path_with_escape},
    {"cut-in-block.fp", LANES, "tail", FP_ERR_TRUNCATED, cut_in_block},
    {"cut-in-block-header.fp", LANES, "tail", FP_ERR_TRUNCATED, cut_in_block_header},
    {"no-trailer.fp", LANES, "tail", FP_ERR_TRUNCATED, no_trailer},
    {"block-magic.fp", LANES, "tail", FP_ERR_CORRUPT, block_magic},
    {"block-header-checksum.fp", LANES, "tail", FP_ERR_CHECKSUM, block_header_checksum},
    {"payload-checksum.fp", LANES, "block", FP_ERR_CHECKSUM, payload_checksum},
    {"payload-beyond-limit.fp", LANES, "tail", FP_ERR_CORRUPT, payload_beyond_limit},
    {"columns-beyond-limit.fp", LANES, "tail", FP_ERR_CORRUPT, columns_beyond_limit},
    {"marks-beyond-limit.fp", LANES, "tail", FP_ERR_CORRUPT, marks_beyond_limit},
    {"no-marks.fp", LANES, "tail", FP_ERR_CORRUPT, no_marks},
    {"lane-beyond-limit.fp", LANES, "tail", FP_ERR_CORRUPT, lane_beyond_limit},
    {"too-few-columns.fp", LANES, "block", FP_ERR_CORRUPT, too_few_columns},
    {"count-above-columns.fp", LANES, "block", FP_ERR_CORRUPT, count_above_columns},
    {"column-beyond-payload.fp", LANES, "block", FP_ERR_CORRUPT, column_beyond_payload},
    {"column-stored-above-raw.fp", LANES, "block", FP_ERR_CORRUPT, column_stored_above_raw},
    {"column-raw-huge.fp", LANES, "block", FP_ERR_CORRUPT, column_raw_huge},
    {"bomb-in-small-column.fp", LANES, "block", FP_ERR_CORRUPT, bomb_in_small_column},
    {"bomb-told.fp", LANES, "block", FP_ERR_CORRUPT, bomb_told},
    {"stream-too-small.fp", LANES, "block", FP_ERR_CORRUPT, stream_too_small},
    {"distance-before-start.fp", LANES, "block", FP_ERR_CORRUPT, distance_before_start},
    {"shape-out-of-range.fp", LANES, "block", FP_ERR_CORRUPT, shape_out_of_range},
    {"shape-of-no-call.fp", LANES, "block", FP_ERR_CORRUPT, shape_of_no_call},
    {"epoch-overflow.fp", LANES, "block", FP_ERR_CORRUPT, epoch_overflow},
    {"epoch-decreases.fp", LANES, "block", FP_ERR_CORRUPT, epoch_decreases},
    {"epoch-base-overflow.fp", LANES, "block", FP_ERR_CORRUPT, epoch_base_overflow},
    {"stamp-beyond-block.fp", LANES, "block", FP_ERR_CORRUPT, stamp_beyond_block},
    {"stamp-goes-back.fp", LANES, "block", FP_ERR_CORRUPT, stamp_goes_back},
    {"stamp-time-goes-back.fp", LANES, "block", FP_ERR_CORRUPT, stamp_time_goes_back},
    {"varint-too-long.fp", LANES, "block", FP_ERR_CORRUPT, varint_too_long},
    {"literal-left-over.fp", LANES, "block", FP_ERR_CORRUPT, literal_left_over},
    {"trailer-with-fewer-lanes.fp", LANES, "tail", FP_ERR_CORRUPT, trailer_with_fewer_lanes},
    {"trailer-lanes-beyond-limit.fp", LANES, "tail", FP_ERR_CORRUPT, trailer_lanes_beyond_limit},
    {"trailer-losses-without-end.fp", LANES, "tail", FP_ERR_CORRUPT, trailer_losses_without_end},
    {"trailer-bomb.fp", LANES, "tail", FP_ERR_CORRUPT, trailer_bomb},
    {"bytes-after-trailer.fp", LANES, "tail", FP_ERR_CORRUPT, bytes_after_trailer},
    {0},
};
