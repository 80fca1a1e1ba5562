/* top_text.c - a frame of `mallab top` as text: a head of facts, then tables in two columns.
 *
 *   calls    | sizes
 *   threads  | processes
 *
 * Everything fits 80 columns; on a narrower page the tables stand one below the other. What does not fit into the lines
 * is left out by rank, and the table's title says so. */
#include "cli/top/top_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/describe/describe.h"
#include "cli/top/top_page.h"
#include "footprint/base/words.h"

#define COLUMNS_MAX  256
#define LEFT_COLUMNS 38 /* of the tables on the left, the gap included */
#define ROWS_MAX     200
#define ROWS_LEAST   2

/* ---- tables --------------------------------------------------------------------------------- */

/* Lines of a table, its title first. */
struct table {
    char **rows;
    size_t count;
    size_t wanted; /* that there would be without a bound */
};

static void table_add(struct table *table, char *row)
{
    table->rows = res_realloc(table->rows, table->count + 1, sizeof *table->rows);
    table->rows[table->count++] = row;
}

static void table_release(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->rows[i]);
    free(table->rows);
    *table = (struct table){0};
}

/* "8 of 14 sizes" when some are left out. */
static const char *title_of(const char *name, const char *names, size_t shown, size_t all, char *ret_text,
                            size_t size)
{
    if (shown < all)
        snprintf(ret_text, size, "%zu of %zu %s", shown, all, names);
    else
        snprintf(ret_text, size, "%s", name);
    return ret_text;
}

/* The `most` numbers of highest weight, back in the order of their numbers. weight 0: not there. */
static size_t choose(const double *weights, unsigned count, size_t most, unsigned *ret_numbers,
                     size_t *ret_all)
{
    size_t chosen = 0;
    *ret_all = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t above = 0;
        if (weights[i] <= 0)
            continue;
        ++*ret_all;
        for (unsigned k = 0; k < count; k++)
            above += weights[k] > weights[i] || (weights[k] == weights[i] && k < i);
        if (above < most)
            ret_numbers[chosen++] = i;
    }
    return chosen;
}

static size_t calls_table(const struct conv_view *view, const struct cli_top_moment *moment, size_t rows,
                          struct table *ret_table)
{
    double weights[FP_CALL_COUNT] = {0};
    unsigned calls[FP_CALL_COUNT];
    size_t all;
    char title[64], count[32], rate[32];
    for (unsigned call = 1; call < FP_CALL_COUNT; call++)
        weights[call] = (double)view->sum.events_by_call[call];
    const size_t chosen = choose(weights, FP_CALL_COUNT, rows, calls, &all);
    if (ret_table == NULL)
        return all;
    table_add(ret_table,
              res_printf("%-18.18s%9s%9s", title_of("call", "calls", chosen, all, title, sizeof title),
                         "count", "/s"));
    for (size_t i = 0; i < chosen; i++)
        table_add(ret_table, res_printf("%-18.18s%9s%9s", fp_call_name(calls[i]),
                                        top_number((double)view->sum.events_by_call[calls[i]], count),
                                        top_rate(moment, view->sum.events_by_call[calls[i]],
                                                 view->sum_before.events_by_call[calls[i]], rate)));
    return all;
}

static size_t sizes_table(const struct conv_view *view, const struct cli_top_moment *moment, size_t rows,
                          struct table *ret_table)
{
    /* When nothing is live any more, what was left is what is of interest. */
    const bool over = view->sum.live.objects == 0 && view->left.objects > 0;
    const struct conv_live_sum *live = over ? &view->left : &view->sum.live;
    double weights[CONV_SIZE_CLASSES];
    unsigned classes[CONV_SIZE_CLASSES];
    size_t all;
    char title[64], label[40], objects[32], bytes[32], rate[32];
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        const uint64_t count = view->sum.class_allocations[i];
        weights[i] = (double)live->class_bytes[i] + (count > 0 ? 1 : 0) +
                     (double)(count - view->sum_before.class_allocations[i]);
    }
    const size_t chosen = choose(weights, CONV_SIZE_CLASSES, rows, classes, &all);
    if (ret_table == NULL)
        return all;
    table_add(ret_table,
              res_printf("%-14s%9s%9s%9s", title_of("size", "sizes", chosen, all, title, sizeof title),
                         "objects", over ? "left" : "live", "allocs/s"));
    for (size_t i = 0; i < chosen; i++) {
        const unsigned k = classes[i];
        table_add(ret_table, res_printf("%-14s%9s%9s%9s", cli_class_label(k, label, sizeof label),
                                        top_number((double)live->class_objects[k], objects),
                                        fp_text_bytes((double)live->class_bytes[k], bytes),
                                        top_rate(moment, view->sum.class_allocations[k],
                                                 view->sum_before.class_allocations[k], rate)));
    }
    return all;
}

static void threads_table(const struct conv_view *view, const struct cli_top_moment *moment, size_t rows,
                          size_t all, struct table *ret_table)
{
    struct cli_top_thread *threads = res_calloc(rows + 1, sizeof *threads);
    const size_t count = cli_top_threads(view, threads, rows);
    char title[64], events[32], rate[32], lane_name[32];
    table_add(ret_table,
              res_printf("%-18.18s%9s%9s", title_of("thread", "threads", count, all, title, sizeof title),
                         "events", "/s"));
    for (size_t i = 0; i < count; i++) {
        const struct conv_tally_lane *lane = &threads[i].process->tally.lanes[threads[i].lane];
        snprintf(lane_name, sizeof lane_name, "%u, %u", threads[i].process->process_id, threads[i].lane);
        table_add(ret_table, res_printf("%-18.18s%9s%9s", lane_name, top_number((double)lane->events, events),
                                        lane->exited && lane->events == lane->events_before
                                            ? "ended"
                                            : top_rate(moment, lane->events, lane->events_before, rate)));
    }
    free(threads);
}

static void processes_table(const struct conv_view *view, const struct cli_top_moment *moment, size_t rows,
                            struct table *ret_table)
{
    const struct conv_view_process **processes = res_calloc(rows + 1, sizeof(*processes));
    const size_t count = cli_top_processes(view, processes, rows);
    char title[64], bytes[32], rate[32];
    table_add(ret_table,
              res_printf("%-23s%9s%9s",
                         title_of("process", "processes", count, view->process_count, title, sizeof title),
                         "live", "events/s"));
    for (size_t i = 0; i < count; i++) {
        const struct conv_tally *tally = &processes[i]->tally;
        char *name = res_text_plain(processes[i]->name);
        table_add(ret_table,
                  res_printf("%-8u%-15.14s%9s%9s", processes[i]->process_id, name,
                             tally->ended ? "ended" : fp_text_bytes((double)tally->balance.bytes, bytes),
                             top_rate(moment, tally->events, tally->events_before, rate)));
        free(name);
    }
    free(processes);
}

static void put_tables(struct top_page *page, struct table *left, struct table *right)
{
    const size_t rows = left->count > right->count ? left->count : right->count;
    top_page_put(page, "%s", "");
    for (size_t i = 0; i < rows; i++)
        top_page_put(page, "%-*s%s", LEFT_COLUMNS, i < left->count ? left->rows[i] : "",
                     i < right->count ? right->rows[i] : "");
    table_release(left);
    table_release(right);
}

static size_t at_most(size_t value, size_t most)
{
    return value < most ? value : most;
}

/* One below the other: each takes an empty line, a title, and its share of what is left. */
static void put_stacked(struct top_page *page, const struct conv_view *view,
                        const struct cli_top_moment *moment, const size_t wanted[4])
{
    for (size_t i = 0; i < 4; i++) {
        const size_t share = page->lines_left / (4 - i);
        struct table table = {0};
        if (wanted[i] == 0 || share < 2 + ROWS_LEAST)
            continue;
        const size_t rows = at_most(wanted[i], share - 2);
        if (i == 0)
            (void)calls_table(view, moment, rows, &table);
        else if (i == 1)
            (void)sizes_table(view, moment, rows, &table);
        else if (i == 2)
            threads_table(view, moment, rows, wanted[i], &table);
        else
            processes_table(view, moment, rows, &table);
        top_page_put(page, "%s", "");
        for (size_t row = 0; row < table.count; row++)
            top_page_put(page, "%s", table.rows[row]);
        table_release(&table);
    }
}

static void put_side_by_side(struct top_page *page, const struct conv_view *view,
                             const struct cli_top_moment *moment, const size_t wanted[4])
{
    struct table left = {0}, right = {0};
    /* Each pair of tables takes an empty line and a title; where there is little room, there is only the first. */
    const bool both = page->lines_left >= 2 * (2 + ROWS_LEAST);
    const size_t taken = both ? 4 : 2, rows = page->lines_left > taken ? page->lines_left - taken : 0;
    const size_t upper_wanted = wanted[0] > wanted[1] ? wanted[0] : wanted[1];
    const size_t lower_wanted = at_most(wanted[2] > wanted[3] ? wanted[2] : wanted[3], ROWS_MAX);
    const size_t lower_least = both ? at_most(lower_wanted, rows / 3) : 0;
    const size_t upper = at_most(upper_wanted, rows - lower_least);
    const size_t lower = both ? at_most(lower_wanted, rows - upper) : 0;
    (void)calls_table(view, moment, upper, &left);
    (void)sizes_table(view, moment, upper, &right);
    put_tables(page, &left, &right);
    if (!both)
        return;
    threads_table(view, moment, lower, wanted[2], &left);
    if (wanted[3] > 0)
        processes_table(view, moment, lower, &right);
    put_tables(page, &left, &right);
}

void cli_top_text(const struct conv_view *view, const struct cli_top_moment *moment, unsigned lines,
                  unsigned columns, struct res_text *out)
{
    struct top_page page = {
        .out = out, .columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX, .lines_left = lines};
    const struct cli_top_numbers sums = cli_top_count(view);
    const size_t wanted[4] = {calls_table(view, moment, 0, NULL), sizes_table(view, moment, 0, NULL),
                              (size_t)sums.threads, view->process_count > 1 ? view->process_count : 0};
    top_head_put(&page, view, moment, &sums);
    if (top_page_is_narrow(&page))
        put_stacked(&page, view, moment, wanted);
    else
        put_side_by_side(&page, view, moment, wanted);
}
