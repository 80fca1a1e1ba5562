/* plan.c - see plan.h. */
#include "results/measure/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"

/* ---- weights --------------------------------------------------------------------------------- */

static int by_label(const void *a, const void *b)
{
    const struct res_plan_item *one = a, *other = b;
    const int labels = strcmp(one->label, other->label);
    if (labels != 0)
        return labels;
    return one->facts.file_digest < other->facts.file_digest   ? -1
           : one->facts.file_digest > other->facts.file_digest ? 1
                                                               : 0;
}

/* The number behind a label in a file of weights; NAN: it is not there, or none above 0. */
static double weight_in(const char *text, const char *label)
{
    const size_t length = strlen(label);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line == '#' || strncmp(line, label, length) != 0 || line[length] != '\t')
            continue;
        char *end;
        const char *number = line + length + 1;
        const double weight = *number >= '0' && *number <= '9' ? strtod(number, &end) : NAN;
        return weight > 0 && isfinite(weight) && (*end == '\n' || *end == '\r' || *end == '\0') ? weight
                                                                                                : NAN;
    }
    return NAN;
}

static double weight_of(const struct res_plan_item *item, const char *weights, const char *text)
{
    const struct res_process_facts *process = &item->facts.process;
    if (strcmp(weights, "cpu") == 0)
        return (double)process->cpu_user_ns + (double)process->cpu_system_ns;
    if (strcmp(weights, "bytes") == 0)
        return (double)(process->rss_peak_bytes > 0 ? process->rss_peak_bytes : item->facts.live_peak_bytes);
    return strcmp(weights, "file") == 0 ? weight_in(text, item->label) : 1;
}

static char *no_weight(const struct res_plan_item *item, const char *weights)
{
    char *label = res_text_plain(item->label);
    char *problem = strcmp(weights, "file") == 0
                        ? res_printf("the file of weights has no number above 0 for '%s' (a line: "
                                     "LABEL, a tab, NUMBER)",
                                     label)
                        : res_printf("of '%s' no %s is recorded: --weights hosts, or a file of them", label,
                                     strcmp(weights, "cpu") == 0 ? "CPU time" : "memory");
    free(label);
    return problem;
}

bool res_plan_weigh(struct res_plan_item *items, size_t count, const char *weights, const char *text,
                    char **ret_problem)
{
    const bool of_label = strcmp(weights, "hosts") == 0 || strcmp(weights, "file") == 0;
    double sum = 0;
    size_t end;
    qsort(items, count, sizeof *items, by_label);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(items[end].label, items[begin].label) == 0;)
            end++;
        for (size_t i = begin; i < end; i++) {
            items[i].share = weight_of(&items[i], weights, text) / (of_label ? (double)(end - begin) : 1);
            if (!(items[i].share > 0)) {
                *ret_problem = no_weight(&items[i], weights);
                return false;
            }
            sum += items[i].share;
        }
    }
    for (size_t i = 0; i < count; i++)
        items[i].share /= sum;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Another order of runs in each cell, which the plan's seed and the cell's number repeat. JSON holds 53 bits of it. */
static uint64_t seed_of(const struct res_plan *plan, size_t cell)
{
    struct res_random random = res_random_from(plan->seed + cell);
    return res_random_next(&random) >> 11;
}

static void add_row(struct res_plan *plan, const struct res_plan_row *like, uint64_t block)
{
    struct res_plan_row row = *like;
    row.label = res_strdup(like->label);
    row.workload = res_strdup(like->workload);
    row.block = block;
    row.seed = seed_of(plan, plan->row_count);
    plan->rows = res_realloc(plan->rows, plan->row_count + 1, sizeof *plan->rows);
    plan->rows[plan->row_count++] = row;
}

void res_plan_add(struct res_plan *plan, struct res_plan_item *items, size_t count, uint64_t blocks,
                  uint64_t rounds)
{
    qsort(items, count, sizeof *items, by_label);
    for (uint64_t block = 0; block < blocks; block++)
        for (size_t i = 0; i < count; i++)
            if (items[i].share > 0)
                add_row(plan,
                        &(struct res_plan_row){.label = items[i].label,
                                               .workload = items[i].workload,
                                               .file_digest = items[i].facts.file_digest,
                                               .rounds = rounds,
                                               .threads = items[i].facts.threads,
                                               .share = items[i].share},
                        block);
}

static bool is_wanted(const struct res_plan_row *row, const struct res_plan_wanted *wanted)
{
    return strcmp(row->label, wanted->label) == 0 &&
           (wanted->any_digest || row->file_digest == wanted->file_digest);
}

/* The last block of each workload that is wanted, by the first of its rows. Returns false where one names none. */
static bool find_wanted(const struct res_plan *plan, const struct res_plan_wanted *wanted, size_t count,
                        size_t *ret_rows, size_t *ret_count, char **ret_problem)
{
    for (size_t k = 0; k < count; k++) {
        bool found = false;
        for (size_t i = 0; i < plan->row_count; i++) {
            size_t place = 0;
            if (!is_wanted(&plan->rows[i], &wanted[k]))
                continue;
            found = true;
            while (place < *ret_count &&
                   !res_plan_same_workload(&plan->rows[ret_rows[place]], &plan->rows[i]))
                place++;
            *ret_count += place == *ret_count;
            ret_rows[place] = i;
        }
        if (!found) {
            char *label = res_text_plain(wanted[k].label);
            *ret_problem = res_printf("the plan has no workload of '%s'", label);
            free(label);
            return false;
        }
    }
    return true;
}

bool res_plan_again(struct res_plan *plan, const struct res_plan_wanted *wanted, size_t count,
                    uint64_t blocks, char **ret_problem)
{
    size_t *rows = res_calloc(plan->row_count + 1, sizeof *rows), row_count = 0;
    bool added = find_wanted(plan, wanted, count, rows, &row_count, ret_problem);
    for (size_t i = 0; i < row_count && added; i++) {
        added = plan->rows[rows[i]].block + blocks < RES_PLAN_BLOCKS_MAX &&
                row_count * blocks <= RES_PLAN_ROWS_MAX - plan->row_count;
        if (!added)
            *ret_problem = res_strdup("so many blocks are more than a plan has");
    }
    for (uint64_t block = 1; block <= blocks && added; block++)
        for (size_t i = 0; i < row_count; i++)
            add_row(plan, &plan->rows[rows[i]], plan->rows[rows[i]].block + block);
    free(rows);
    return added;
}

/* ---- what it is ------------------------------------------------------------------------------ */

static int rows_by_key(const void *a, const void *b)
{
    const struct res_plan_row *one = *(const struct res_plan_row *const *)a;
    const struct res_plan_row *other = *(const struct res_plan_row *const *)b;
    const int labels = strcmp(one->label, other->label);
    if (labels != 0)
        return labels;
    return one->file_digest < other->file_digest ? -1 : one->file_digest > other->file_digest;
}

/* The workloads' first rows by key; the caller's to free. */
static const struct res_plan_row **distinct(const struct res_plan *plan, size_t *ret_count)
{
    const struct res_plan_row **rows = res_calloc(plan->row_count + 1, sizeof(struct res_plan_row *));
    size_t count = 0;
    for (size_t i = 0; i < plan->row_count; i++)
        rows[i] = &plan->rows[i];
    qsort(rows, plan->row_count, sizeof(struct res_plan_row *), rows_by_key);
    for (size_t i = 0; i < plan->row_count; i++)
        if (count == 0 || !res_plan_same_workload(rows[count - 1], rows[i]))
            rows[count++] = rows[i];
    *ret_count = count;
    return rows;
}

double res_plan_n_eff(const struct res_plan *plan)
{
    size_t count;
    const struct res_plan_row **rows = distinct(plan, &count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += rows[i]->share * rows[i]->share;
    free(rows);
    return 1 / sum;
}

size_t res_plan_workloads(const struct res_plan *plan, size_t *ret_labels)
{
    size_t count;
    const struct res_plan_row **rows = distinct(plan, &count);
    *ret_labels = 0;
    for (size_t i = 0; i < count; i++)
        *ret_labels += i == 0 || strcmp(rows[i]->label, rows[i - 1]->label) != 0;
    free(rows);
    return count;
}
