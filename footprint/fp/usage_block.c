/* usage_block.c - the text of a usage, and the series behind it. */
#include "footprint/fp/usage_block.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/meta.h"

#define KIB 1024u

/* ---- series ------------------------------------------------------------------------------------- */

static uint64_t kib(uint64_t bytes)
{
    return bytes / KIB;
}

/* Times and processor time never fall; memory does. */
static enum fp_status put_series(const struct fp_usage *usage, struct bytes *series)
{
    struct fp_usage_point before = {0};
    if (!bytes_reserve(series, USAGE_SERIES_BYTES_MAX))
        return FP_ERR_MEMORY;
    uint8_t *at = series->at;
    for (uint32_t i = 0; i < usage->point_count; i++) {
        const struct fp_usage_point *point = &usage->points[i];
        at = put_varint(at, point->time_ns / FP_TIME_UNIT_NS - before.time_ns / FP_TIME_UNIT_NS);
        at = put_varint(at, zigzag((int64_t)(kib(point->rss_bytes) - kib(before.rss_bytes))));
        at = put_varint(at, zigzag((int64_t)(kib(point->rss_anon_bytes) - kib(before.rss_anon_bytes))));
        at = put_varint(at, point->cpu_ns / FP_TIME_UNIT_NS - before.cpu_ns / FP_TIME_UNIT_NS);
        before = *point;
    }
    series->size = (size_t)(at - series->at);
    return FP_OK;
}

/* Returns false where a sum would pass what the numbers of a usage may be. */
static bool step(uint64_t *sum, int64_t by)
{
    int64_t next;
    if (__builtin_add_overflow((int64_t)*sum, by, &next) || next < 0 || (uint64_t)next > INT64_MAX / KIB)
        return false;
    *sum = (uint64_t)next;
    return true;
}

static bool rise(uint64_t *sum, uint64_t by)
{
    return by <= INT64_MAX && step(sum, (int64_t)by);
}

static bool get_series(const struct column *series, struct fp_usage *usage)
{
    struct cursor cursor = column_cursor(series);
    uint64_t time = 0, rss = 0, anon = 0, cpu = 0;
    for (uint32_t i = 0; i < usage->point_count; i++) {
        if (!rise(&time, get_varint(&cursor)) || !step(&rss, unzigzag(get_varint(&cursor))) ||
            !step(&anon, unzigzag(get_varint(&cursor))) || !rise(&cpu, get_varint(&cursor)))
            return false;
        usage->points[i] = (struct fp_usage_point){.time_ns = time * FP_TIME_UNIT_NS,
                                                   .rss_bytes = rss * KIB,
                                                   .rss_anon_bytes = anon * KIB,
                                                   .cpu_ns = cpu * FP_TIME_UNIT_NS};
    }
    return cursor_done(&cursor);
}

/* ---- both --------------------------------------------------------------------------------------- */

enum fp_status usage_encode(const struct fp_usage *usage, struct bytes *text, struct bytes *series,
                            struct block_header *ret_header, struct column ret_columns[USAGE_COLUMNS])
{
    if (usage->point_count > FP_USAGE_POINTS_MAX)
        return FP_ERR_LIMIT;
    struct fp_usage_texts texts;
    fp_usage_tell(usage, &texts);
    enum fp_status status = meta_encode(texts.items, texts.count, text);
    if (status == FP_OK)
        status = put_series(usage, series);
    if (status != FP_OK)
        return status;
    *ret_header = (struct block_header){.type = BLOCK_USAGE, .count = usage->point_count};
    ret_columns[USAGE_TEXT] = (struct column){text->at, text->size};
    ret_columns[USAGE_SERIES] = (struct column){series->at, series->size};
    return FP_OK;
}

enum fp_status usage_decode(const struct block_header *header, char *text, size_t text_size,
                            const struct column *series, struct fp_usage *ret_usage, const char **ret_what)
{
    struct fp_meta meta[META_COUNT_MAX];
    struct fp_usage usage;
    size_t count;
    fp_usage_init(&usage);
    *ret_what = "the usage block is damaged";
    if (header->count > FP_USAGE_POINTS_MAX || !meta_parse(text, text_size, meta, &count))
        return FP_ERR_CORRUPT;
    for (size_t i = 0; i < count; i++)
        if (!fp_usage_take(&usage, meta[i].key, meta[i].value))
            return FP_ERR_CORRUPT;
    usage.point_count = header->count;
    usage.points = header->count > 0 ? calloc(header->count, sizeof *usage.points) : NULL;
    if (header->count > 0 && usage.points == NULL) {
        *ret_what = "no memory for a usage";
        return FP_ERR_MEMORY;
    }
    if (!get_series(series, &usage)) {
        fp_usage_release(&usage);
        return FP_ERR_CORRUPT;
    }
    *ret_usage = usage;
    return FP_OK;
}
