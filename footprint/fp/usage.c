/* usage.c - the causes of loss; the parts of a usage by name; the text of a usage and the series behind it as a block. */
#include "footprint/fp/usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/blockio.h"

#define KIB               1024u
#define OF(member, which) #member, offsetof(struct fp_usage, member), 0, INT64_MAX, which
#define OF_MACHINE(member, least, most)                                                                      \
#member, offsetof(struct fp_usage, machine.member), least, most, FP_OF_MACHINE

/* Keys are stored. */
const struct fp_usage_number FP_USAGE_NUMBERS[] = {
    {OF(begin_ns, FP_LEAST)},
    {OF(end_ns, FP_MOST)},
    {OF(cpu_user_ns, FP_SUM)},
    {OF(cpu_system_ns, FP_SUM)},
    {OF(faults_minor, FP_SUM)},
    {OF(faults_major, FP_SUM)},
    {OF(cpu_age_ns, FP_MOST)},
    {OF(rss_peak_bytes, FP_SUM)},
    {OF(rss_anon_peak_bytes, FP_SUM)},
    {OF(rss_end_bytes, FP_SUM)},
    {OF(rss_anon_end_bytes, FP_SUM)},
    {OF(recorder_bytes, FP_SUM)},
    {OF(memory_age_ns, FP_MOST)},
    {OF(code, FP_OF_ONE)},
    {OF(cxx_library, FP_MOST)},
    {OF_MACHINE(processors, 1, FP_PROCESSORS_MAX)},
    {OF_MACHINE(affinity, 1, FP_PROCESSORS_MAX)},
    {OF_MACHINE(affinity_end, 1, FP_PROCESSORS_MAX)},
    {OF_MACHINE(quota_milli, 1, FP_PROCESSORS_MAX * 1000)},
    {OF_MACHINE(page_bytes, 4096, 1u << 24)},
    {OF_MACHINE(memory_bytes, 1, INT64_MAX)},
    {OF_MACHINE(huge_pages, 0, 2)},
    {OF_MACHINE(overcommit, 0, 2)},
};

const size_t FP_USAGE_NUMBER_COUNT = sizeof FP_USAGE_NUMBERS / sizeof FP_USAGE_NUMBERS[0];

const char *fp_huge_pages_name(uint64_t huge_pages)
{
    static const char *const NAMES[] = {"never", "madvise", "always"};
    return huge_pages <= 2 ? NAMES[huge_pages] : NULL;
}

static const char *const ENDS[FP_ENDED_COUNT] = {
    [FP_ENDED_UNKNOWN] = "unknown", [FP_ENDED_EXIT] = "exit",       [FP_ENDED_SIGNAL] = "signal",
    [FP_ENDED_EXEC] = "exec",       [FP_ENDED_RUNNING] = "running",
};

static const char *const ORIGINS[FP_RUNS_ON_COUNT] = {"unknown", "libc", "linked", "preloaded", "deepbind"};

const char *fp_ended_name(enum fp_ended ended)
{
    return (unsigned)ended < FP_ENDED_COUNT ? ENDS[ended] : NULL;
}

const char *fp_runs_on_name(enum fp_runs_on how)
{
    return (unsigned)how < FP_RUNS_ON_COUNT ? ORIGINS[how] : NULL;
}

void fp_usage_init(struct fp_usage *usage)
{
    *usage = (struct fp_usage){0};
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        *fp_usage_at(usage, &FP_USAGE_NUMBERS[i]) = FP_USAGE_UNKNOWN;
}

void fp_usage_release(struct fp_usage *usage)
{
    free(usage->points);
    usage->points = NULL;
    usage->point_count = 0;
}

uint64_t fp_usage_ran_ns(const struct fp_usage *usage)
{
    const bool is_known = usage->begin_ns != FP_USAGE_UNKNOWN && usage->end_ns != FP_USAGE_UNKNOWN;
    const uint64_t ran_ns = usage->end_ns > usage->begin_ns ? usage->end_ns - usage->begin_ns : 0;
    return is_known ? ran_ns : FP_USAGE_UNKNOWN;
}

uint64_t fp_usage_cpu_ns(const struct fp_usage *usage)
{
    if (usage->cpu_user_ns == FP_USAGE_UNKNOWN || usage->cpu_system_ns == FP_USAGE_UNKNOWN)
        return FP_USAGE_UNKNOWN;
    const uint64_t sum = usage->cpu_user_ns + usage->cpu_system_ns; /* each is below 2^63 */
    return sum <= INT64_MAX ? sum : INT64_MAX;
}

void fp_usage_tell(const struct fp_usage *usage, struct fp_usage_texts *ret_texts)
{
    struct fp_usage copy = *usage;
    const struct fp_meta words[] = {{"ended", fp_ended_name(usage->ended)},
                                    {"how", fp_runs_on_name(usage->runs_on)},
                                    {"allocator", usage->allocator},
                                    {"version", usage->version},
                                    {"library", usage->library},
                                    {"kernel", usage->machine.kernel}};
    size_t count = 0;
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++) {
        const uint64_t number = *fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]);
        char *const digits = ret_texts->digits[count];
        if (number > INT64_MAX)
            continue; /* not known */
        (void)snprintf(digits, sizeof ret_texts->digits[count], "%llu",
                       (unsigned long long)number); /* fits */
        ret_texts->items[count++] = (struct fp_meta){FP_USAGE_NUMBERS[i].key, digits};
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].value != NULL && words[i].value[0] != '\0')
            ret_texts->items[count++] = words[i];
    ret_texts->count = count;
}

void fp_usage_put(struct fp_usage *usage, const struct fp_usage_number *number, uint64_t value)
{
    if (value >= number->least && value <= number->most)
        *fp_usage_at(usage, number) = value;
}

static bool take_number(const char *value, struct fp_usage *usage, const struct fp_usage_number *number)
{
    char *end;
    errno = 0;
    const unsigned long long taken = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0')
        return false;
    if (errno == 0)
        fp_usage_put(usage, number, taken);
    return true;
}

bool fp_usage_take(struct fp_usage *usage, const char *key, const char *value)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } texts[] = {{"allocator", usage->allocator, sizeof usage->allocator},
                 {"version", usage->version, sizeof usage->version},
                 {"library", usage->library, sizeof usage->library},
                 {"kernel", usage->machine.kernel, sizeof usage->machine.kernel}};
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        if (strcmp(key, FP_USAGE_NUMBERS[i].key) == 0)
            return take_number(value, usage, &FP_USAGE_NUMBERS[i]);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(key, texts[i].key) == 0)
            (void)snprintf(texts[i].text, texts[i].size, "%s", value); /* a longer one is cut */
    for (unsigned i = 0; strcmp(key, "ended") == 0 && i < FP_ENDED_COUNT; i++)
        if (strcmp(value, ENDS[i]) == 0)
            usage->ended = (enum fp_ended)i;
    for (unsigned i = 0; strcmp(key, "how") == 0 && i < FP_RUNS_ON_COUNT; i++)
        if (strcmp(value, ORIGINS[i]) == 0)
            usage->runs_on = (enum fp_runs_on)i;
    return true;
}

/* ---- series ------------------------------------------------------------------------------------- */

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
        at = put_varint(at, zigzag((int64_t)(point->rss_bytes / KIB - before.rss_bytes / KIB)));
        at = put_varint(at, zigzag((int64_t)(point->rss_anon_bytes / KIB - before.rss_anon_bytes / KIB)));
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

/* ---- the block --------------------------------------------------------------------------------------- */

enum fp_status usage_encode(const struct fp_usage *usage, struct bytes *text, struct bytes *series,
                            struct block_header *ret_header, struct column *ret_columns)
{
    if (usage->point_count > FP_USAGE_POINTS_MAX)
        return FP_ERR_LIMIT;
    struct fp_usage_texts texts = {0};
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

/* ---- loss -------------------------------------------------------------------------------------------- */

const char *fp_loss_name(unsigned loss)
{
    static const char *const NAMES[FP_LOSS_COUNT] = {
        [FP_LOSS_RING_FULL] = "ring_full",       [FP_LOSS_REENTRANT] = "reentrant",
        [FP_LOSS_DISK_FULL] = "disk_full",       [FP_LOSS_SIZE_LIMIT] = "size_limit",
        [FP_LOSS_BEFORE_START] = "before_start", [FP_LOSS_COLLECTOR] = "collector",
        [FP_LOSS_CONFINED] = "confined",         [FP_LOSS_SPOILED] = "spoiled",
    };
    return loss < FP_LOSS_COUNT ? NAMES[loss] : NULL;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t fp_loss_sum(const uint64_t *lost)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        sum = add(sum, lost[i]);
    return sum;
}

void fp_loss_add(uint64_t *sum, const uint64_t *lost)
{
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        sum[i] = add(sum[i], lost[i]);
}
