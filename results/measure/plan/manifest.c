/* manifest.c - see manifest.h: read within bounds, line by line; written by the same tables. */
#include "results/measure/plan/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/label.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"
#include "results/measure/candidate/candidates.h"

#define BYTES_MAX      (UINT64_C(512) << 20) /* RES_PLAN_ROWS_MAX rows of usual length */
#define TEXT_MAX       4096u                 /* bytes of a fact or a candidate's column */
#define PATH_BYTES_MAX 255u                  /* of a workload's path */
#define ROW_BYTES      20u                   /* of a row at least: its digest has 16 digits */
#define SHARES_OFF     1e-6                  /* by which the shares' sum may miss 1, as they are rounded */
#define COUNT_MAX      (UINT64_C(1) << 53)   /* a whole number in every JSON reader */
#define COLUMNS        "id\tlabel\tworkload\tfile_digest\tblock\trounds\tseed\tthreads\tshare\n"

/* ---- facts of the whole plan ------------------------------------------------------------------- */

enum fact_kind { FACT_TEXT, FACT_COUNT, FACT_TRUTH };

static const struct fact {
    const char *key;
    enum fact_kind kind;
    size_t at;
    uint64_t most; /* of a count */
} FACTS[] = {
    {"mallab", FACT_TEXT, offsetof(struct res_plan, mallab_version), 0},
    {"baseline", FACT_TEXT, offsetof(struct res_plan, baseline), 0},
    {"machine", FACT_TEXT, offsetof(struct res_plan, machine), 0},
    {"weights", FACT_TEXT, offsetof(struct res_plan, weights), 0},
    {"selection", FACT_TEXT, offsetof(struct res_plan, selection), 0},
    {"touch", FACT_TEXT, offsetof(struct res_plan, touch), 0},
    {"memory_rounds", FACT_COUNT, offsetof(struct res_plan, memory_rounds), 1000},
    {"idle_ms", FACT_COUNT, offsetof(struct res_plan, idle_ms), 86400000},
    {"seed", FACT_COUNT, offsetof(struct res_plan, seed), COUNT_MAX},
    {"load_percent", FACT_COUNT, offsetof(struct res_plan, load_percent), 100},
    {"all_hosts", FACT_TRUTH, offsetof(struct res_plan, all_hosts), 0},
};
#define FACT_COUNT_ALL (sizeof FACTS / sizeof FACTS[0])

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_plain(const char *text, size_t most)
{
    const size_t length = strlen(text);
    if (length > most)
        return false;
    char *plain = res_text_plain(text);
    const bool same = strcmp(plain, text) == 0;
    free(plain);
    return same;
}

/* Digits and nothing else, up to `most`. */
static bool take_count(const char *text, uint64_t most, uint64_t *ret_count)
{
    uint64_t count = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        const uint64_t digit = (uint64_t)(unsigned char)*text - '0';
        if (digit > 9 || count > (most - digit) / 10 || digit > most)
            return false;
        count = 10 * count + digit;
    }
    *ret_count = count;
    return true;
}

static bool take_digest(const char *text, uint64_t *ret_digest)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *ret_digest = strtoull(text, NULL, 16);
    return true;
}

static bool take_share(const char *text, double *ret_share)
{
    char *end;
    const double share = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : NAN;
    if (!(share > 0 && share <= 1 + SHARES_OFF) || *end != '\0')
        return false;
    *ret_share = share;
    return true;
}

/* Below the directory, whoever wrote it: no part of the path is hidden, "." or "..". */
static bool leads_inside(const char *path)
{
    if (!is_plain(path, PATH_BYTES_MAX))
        return false;
    for (const char *part = path;; part++) {
        if (*part == '\0' || *part == '/' || *part == '.')
            return false;
        part = strchr(part, '/');
        if (part == NULL)
            return true;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    char *at; /* the rest of the text, which lines and columns are cut out of */
    uint64_t line, cells;
    bool told[FACT_COUNT_ALL];
    struct res_plan *plan;
    char *problem;
};

static bool refuse(struct reading *reading, const char *what)
{
    if (reading->problem == NULL)
        reading->problem = res_printf("line %" PRIu64 ": %s", reading->line, what);
    return false;
}

/* The next line, cut off; NULL: there is none. The last one has its end, or the file is torn. */
static char *next_line(struct reading *reading)
{
    char *line = reading->at, *end = strchr(line, '\n');
    reading->line++;
    if (end == NULL)
        return NULL;
    *end = '\0';
    reading->at = end + 1;
    return line;
}

/* Returns whether the line has so many columns. */
static bool cut(char *line, char **ret_columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ret_columns[i] = strsep(&line, "\t");
    return line == NULL && ret_columns[count - 1] != NULL;
}

static bool take_candidate(struct reading *reading, char *line)
{
    struct res_plan *plan = reading->plan;
    char *columns[8];
    if (!cut(line, columns, 8) || plan->candidate_count >= RES_CANDIDATES_MAX)
        return refuse(reading, "a candidate has 7 columns, and there are not too many");
    for (size_t i = 1; i < 8; i++)
        if (!is_plain(columns[i], TEXT_MAX))
            return refuse(reading, "not a plain text");
    if (*columns[1] == '\0' || *columns[2] == '\0')
        return refuse(reading, "a candidate has a name");
    for (size_t i = 0; i < plan->candidate_count; i++)
        if (strcmp(plan->candidates[i].name, columns[1]) == 0)
            return refuse(reading, "a candidate of this name stands above");
    plan->candidates = res_realloc(plan->candidates, plan->candidate_count + 1, sizeof *plan->candidates);
    plan->candidates[plan->candidate_count++] = (struct res_plan_candidate){
        .name = res_strdup(columns[1]),
        .word = res_strdup(columns[2]),
        .library = res_strdup(columns[3]),
        .version = res_strdup(columns[4]),
        .build = {.id = *columns[5] != '\0' ? res_strdup(columns[5]) : NULL,
                  .digest = *columns[6] != '\0' ? res_strdup(columns[6]) : NULL},
        .environment = res_strdup(columns[7]),
    };
    return true;
}

static bool take_fact(struct reading *reading, char *line)
{
    char *columns[2];
    if (strncmp(line, "candidate\t", strlen("candidate\t")) == 0)
        return take_candidate(reading, line);
    if (!cut(line, columns, 2))
        return refuse(reading, "not a key and its value");
    for (size_t i = 0; i < FACT_COUNT_ALL; i++) {
        char *to = (char *)reading->plan + FACTS[i].at;
        uint64_t truth;
        if (strcmp(FACTS[i].key, columns[0]) != 0)
            continue;
        if (reading->told[i])
            return refuse(reading, "a key that stands above");
        reading->told[i] = true;
        if (FACTS[i].kind == FACT_TEXT) {
            if (*columns[1] == '\0' || !is_plain(columns[1], TEXT_MAX))
                return refuse(reading, "not a plain text");
            *(char **)to = res_strdup(columns[1]);
        } else if (FACTS[i].kind == FACT_COUNT) {
            if (!take_count(columns[1], FACTS[i].most, (uint64_t *)(void *)to))
                return refuse(reading, "not a number within its bounds");
        } else {
            if (!take_count(columns[1], 1, &truth))
                return refuse(reading, "neither 0 nor 1");
            *(bool *)to = truth == 1;
        }
        return true;
    }
    return refuse(reading, "a key that this mallab does not know");
}

static bool take_row(struct reading *reading, char *line)
{
    struct res_plan *plan = reading->plan;
    struct res_plan_row row;
    uint64_t id;
    char *columns[9];
    if (!cut(line, columns, 9))
        return refuse(reading, "a row has 9 columns");
    if (!take_count(columns[0], COUNT_MAX, &id) || id != plan->row_count)
        return refuse(reading, "cells are numbered from 0 without gaps");
    if (!fp_label_is_valid(columns[1]))
        return refuse(reading, "not a label, which is " FP_LABEL_TAKES);
    if (!leads_inside(columns[2]))
        return refuse(reading, "not a path of a workload inside the plan's directory");
    if (!take_digest(columns[3], &row.file_digest))
        return refuse(reading, "not a digest");
    if (!take_count(columns[4], RES_PLAN_BLOCKS_MAX - 1, &row.block) ||
        !take_count(columns[5], 1000, &row.rounds) || row.rounds == 0 ||
        !take_count(columns[6], COUNT_MAX, &row.seed) || !take_count(columns[7], UINT32_MAX, &row.threads) ||
        !take_share(columns[8], &row.share))
        return refuse(reading, "not a number within its bounds");
    row.label = res_strdup(columns[1]);
    row.workload = res_strdup(columns[2]);
    plan->rows[plan->row_count++] = row;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct res_plan_row *one = *(const struct res_plan_row *const *)a;
    const struct res_plan_row *other = *(const struct res_plan_row *const *)b;
    const int labels = strcmp(one->label, other->label);
    if (labels != 0)
        return labels;
    if (one->file_digest != other->file_digest)
        return one->file_digest < other->file_digest ? -1 : 1;
    return one->block < other->block ? -1 : one->block > other->block;
}

/* A workload's rows agree, no block is there twice, and what the workloads count for is 1. */
static bool check_rows(struct reading *reading)
{
    const struct res_plan *plan = reading->plan;
    const struct res_plan_row **sorted = res_calloc(plan->row_count + 1, sizeof(struct res_plan_row *));
    bool agree = true;
    double sum = 0;
    for (size_t i = 0; i < plan->row_count; i++)
        sorted[i] = &plan->rows[i];
    qsort(sorted, plan->row_count, sizeof(struct res_plan_row *), by_key);
    for (size_t i = 0; i < plan->row_count; i++) {
        const bool more = i > 0 && res_plan_same_workload(sorted[i - 1], sorted[i]);
        if (!more)
            sum += sorted[i]->share;
        else if (sorted[i - 1]->share != sorted[i]->share || sorted[i - 1]->block == sorted[i]->block ||
                 strcmp(sorted[i - 1]->workload, sorted[i]->workload) != 0)
            agree = false;
    }
    free(sorted);
    if (!agree)
        return refuse(reading, "rows of one workload do not agree");
    if (!(fabs(sum - 1) <= SHARES_OFF))
        return refuse(reading, "the workloads' shares do not sum to 1");
    return true;
}

/* words: with blanks between them. */
static bool is_one_of(const char *text, const char *words)
{
    const size_t length = strlen(text);
    for (const char *word = words; *word != '\0'; word += strcspn(word, " "), word += *word == ' ')
        if (strcspn(word, " ") == length && strncmp(word, text, length) == 0)
            return true;
    return false;
}

static bool check_facts(struct reading *reading)
{
    const struct res_plan *plan = reading->plan;
    for (size_t i = 0; i < FACT_COUNT_ALL; i++) {
        if (!reading->told[i]) {
            char *what = res_printf("there is no '%s' above", FACTS[i].key);
            (void)refuse(reading, what);
            free(what);
            return false;
        }
    }
    if (!is_one_of(plan->weights, "hosts cpu bytes file") || !is_one_of(plan->touch, "none page full"))
        return refuse(reading, "weights or touch above are none that this mallab knows");
    if (plan->candidate_count == 0 || strcmp(plan->candidates[0].name, plan->baseline) != 0)
        return refuse(reading, "the baseline is not the first candidate");
    return true;
}

static bool take_head(struct reading *reading)
{
    char *line = next_line(reading);
    if (line == NULL || strncmp(line, "mallab-plan/", strlen("mallab-plan/")) != 0)
        return refuse(reading, "it is no plan (no schema " RES_PLAN_SCHEMA ")");
    if (strcmp(line, RES_PLAN_SCHEMA) != 0)
        return refuse(reading, "it has another schema than " RES_PLAN_SCHEMA
                               ": read it with the mallab that wrote it");
    line = next_line(reading);
    if (line == NULL || strncmp(line, "cells\t", 6) != 0 ||
        !take_count(line + 6, RES_PLAN_ROWS_MAX, &reading->cells) || reading->cells == 0)
        return refuse(reading, "not the number of cells");
    return true;
}

static void set_digest(struct res_plan *plan, const char *facts, size_t length)
{
    const XXH128_hash_t hash = XXH3_128bits(facts, length);
    (void)snprintf(plan->digest, sizeof plan->digest, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
                   (uint64_t)hash.low64); /* fits */
}

static bool take_all(struct reading *reading, const char *original, const char *begin)
{
    struct res_plan *plan = reading->plan;
    char *line;
    if (!take_head(reading))
        return false;
    const size_t facts_at = (size_t)(reading->at - begin);
    while ((line = next_line(reading)) != NULL && strncmp(line, COLUMNS, strlen("id\t")) != 0)
        if (!take_fact(reading, line))
            return false;
    if (line == NULL || strncmp(line, COLUMNS, strlen(COLUMNS) - 1) != 0 ||
        strlen(line) != strlen(COLUMNS) - 1)
        return refuse(reading, "not the names of the columns");
    if (!check_facts(reading))
        return false;
    set_digest(plan, original + facts_at, (size_t)(reading->at - begin) - facts_at);
    if (reading->cells > strlen(reading->at) / ROW_BYTES)
        return refuse(reading, "it is cut off: there are fewer rows than cells");
    plan->rows = res_calloc(reading->cells, sizeof *plan->rows);
    while (plan->row_count < reading->cells) {
        line = next_line(reading);
        if (line == NULL)
            return refuse(reading, "it is cut off: there are fewer rows than cells");
        if (!take_row(reading, line))
            return false;
    }
    if (*reading->at != '\0')
        return refuse(reading, "there are more rows than cells");
    return check_rows(reading);
}

bool res_plan_parse(const char *text, size_t length, struct res_plan *ret_plan, char **ret_problem)
{
    *ret_plan = (struct res_plan){0};
    if (length > BYTES_MAX || memchr(text, '\0', length) != NULL) {
        *ret_problem = res_strdup("it is no plan: too long, or no text");
        return false;
    }
    char *copy = res_strndup(text, length);
    struct reading reading = {.at = copy, .plan = ret_plan};
    const bool read = take_all(&reading, text, copy);
    free(copy);
    if (!read) {
        res_plan_release(ret_plan);
        *ret_problem = reading.problem;
    }
    return read;
}

/* All of a file; NULL with ret_problem. */
static char *bytes_of(int fd, size_t *ret_length, char **ret_problem)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0 || (uint64_t)facts.st_size > BYTES_MAX) {
        *ret_problem = res_strdup("it is too long");
        return NULL;
    }
    char *bytes = res_calloc((size_t)facts.st_size + 1, 1);
    size_t length = 0;
    while (length < (size_t)facts.st_size) {
        const ssize_t count = read(fd, bytes + length, (size_t)facts.st_size - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            *ret_problem = res_strdup(strerror(errno));
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    if (*ret_problem != NULL) {
        free(bytes);
        return NULL;
    }
    *ret_length = length;
    return bytes;
}

static bool load_from(int directory, struct res_plan *ret_plan, char **ret_problem)
{
    struct fp_error error;
    size_t length = 0;
    char words[512];
    *ret_problem = NULL;
    const int fd = fp_trusted_open(directory, RES_PLAN_MANIFEST, S_IFREG, FP_TRUSTED_READ, &error);
    if (fd < 0) {
        *ret_problem = res_strdup(fp_error_text(&error, RES_PLAN_MANIFEST, words, sizeof words));
        return false;
    }
    char *bytes = bytes_of(fd, &length, ret_problem);
    (void)close(fd); /* only read from */
    const bool read = bytes != NULL && res_plan_parse(bytes, length, ret_plan, ret_problem);
    free(bytes);
    return read;
}

int res_plan_directory(const char *path, char **ret_problem)
{
    struct fp_error error;
    char words[4096 + 512];
    const int fd = fp_trusted_open(AT_FDCWD, path, S_IFDIR, FP_TRUSTED_READ, &error);
    if (fd < 0)
        *ret_problem = res_strdup(fp_error_text(&error, path, words, sizeof words));
    return fd;
}

bool res_plan_load(const char *directory, struct res_plan *ret_plan, int *ret_directory, char **ret_problem)
{
    const int fd = res_plan_directory(directory, ret_problem);
    *ret_plan = (struct res_plan){0};
    if (fd < 0)
        return false;
    const bool read = load_from(fd, ret_plan, ret_problem);
    if (read && ret_directory != NULL)
        *ret_directory = fd;
    else
        (void)close(fd); /* a directory */
    return read;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_facts(struct res_text *text, const struct res_plan *plan)
{
    for (size_t i = 0; i < FACT_COUNT_ALL; i++) {
        const char *from = (const char *)plan + FACTS[i].at;
        if (FACTS[i].kind == FACT_TEXT)
            res_text_printf(text, "%s\t%s\n", FACTS[i].key, *(const char *const *)(const void *)from);
        else if (FACTS[i].kind == FACT_COUNT)
            res_text_printf(text, "%s\t%" PRIu64 "\n", FACTS[i].key, *(const uint64_t *)(const void *)from);
        else
            res_text_printf(text, "%s\t%d\n", FACTS[i].key, *(const bool *)(const void *)from);
    }
    for (size_t i = 0; i < plan->candidate_count; i++) {
        const struct res_plan_candidate *one = &plan->candidates[i];
        res_text_printf(text, "candidate\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one->name, one->word, one->library,
                        one->version, one->build.id != NULL ? one->build.id : "",
                        one->build.digest != NULL ? one->build.digest : "", one->environment);
    }
    res_text_printf(text, COLUMNS);
}

char *res_plan_text(struct res_plan *plan)
{
    struct res_text text = {0};
    res_text_printf(&text, RES_PLAN_SCHEMA "\ncells\t%zu\n", plan->row_count);
    const size_t facts_at = text.length;
    put_facts(&text, plan);
    set_digest(plan, text.text + facts_at, text.length - facts_at);
    for (size_t i = 0; i < plan->row_count; i++) {
        const struct res_plan_row *row = &plan->rows[i];
        res_text_printf(
            &text, "%zu\t%s\t%s\t%016" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.17g\n",
            i, row->label, row->workload, row->file_digest, row->block, row->rounds, row->seed, row->threads,
            row->share);
    }
    return text.text;
}

bool res_plan_save(int directory, struct res_plan *plan, char **ret_problem)
{
    char *text = res_plan_text(plan);
    char *name = res_printf(RES_PLAN_MANIFEST ".%ld", (long)getpid());
    int error = 0;
    const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || !fp_write_all(fd, text, strlen(text)) || fsync(fd) != 0)
        error = errno;
    if (fd >= 0 && close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && renameat(directory, name, directory, RES_PLAN_MANIFEST) != 0)
        error = errno;
    if (error != 0 && fd >= 0)
        (void)unlinkat(directory, name, 0); /* a torn one: no manifest by its name */
    if (error != 0)
        *ret_problem = res_printf("cannot write '%s': %s", RES_PLAN_MANIFEST, strerror(error));
    free(name);
    free(text);
    return error == 0;
}

bool res_plan_same_workload(const struct res_plan_row *one, const struct res_plan_row *other)
{
    return one->file_digest == other->file_digest && strcmp(one->label, other->label) == 0;
}

void res_plan_release(struct res_plan *plan)
{
    for (size_t i = 0; i < FACT_COUNT_ALL; i++)
        if (FACTS[i].kind == FACT_TEXT)
            free(*(char **)(void *)((char *)plan + FACTS[i].at));
    for (size_t i = 0; i < plan->candidate_count; i++) {
        struct res_plan_candidate *one = &plan->candidates[i];
        free(one->name);
        free(one->word);
        free(one->library);
        free(one->version);
        free(one->environment);
        res_build_release(&one->build);
    }
    for (size_t i = 0; i < plan->row_count; i++) {
        free(plan->rows[i].label);
        free(plan->rows[i].workload);
    }
    free(plan->candidates);
    free(plan->rows);
    *plan = (struct res_plan){0};
}
