/* top_text.c - a frame of `mallab top` as text: a head of facts, then tables in two columns.
 *
 *   calls    | sizes
 *   threads  | processes
 *
 * Everything fits 80 columns; what does not fit into the lines is left out by rank, and the table's title says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/describe.h"
#include "cli/top.h"

#define COLUMNS_MAX  256
#define LEFT_COLUMNS 38 /* of the tables on the left, the gap included */
#define HEAD_COLUMNS 45 /* where the second fact of a line begins */
#define ROWS_MAX     200
#define ROWS_LEAST   2
#define NAME_BYTES   256

/* ---- numbers -------------------------------------------------------------------------------- */

/* In at most 8 characters: "999,999", "12.3 M". */
static const char *compact(double value, char *ret_text)
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    if (value < 999999.5)
        return res_text_grouped((unsigned long long)(value + 0.5), ret_text);
    while (value >= 999.5 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    snprintf(ret_text, 32,
             value < 9.995   ? "%.2f %c"
             : value < 99.95 ? "%.1f %c"
                             : "%.0f %c",
             value, units[unit]);
    return ret_text;
}

static const char *compact_rate(const struct cli_top_moment *moment, uint64_t now, uint64_t before,
                                char *ret_text)
{
    if (moment->catching_up) {
        snprintf(ret_text, 32, "-");
        return ret_text;
    }
    return compact(cli_top_per_second(moment, now, before), ret_text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

struct page {
    struct res_text *out;
    unsigned columns, lines_left;
};

/* Add a line, cut to the page's width: names of programs may be long, and may hold anything. */
static void put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct page *page, const char *format, ...)
{
    char *line = NULL;
    va_list list;
    size_t end = 0;
    if (page->lines_left == 0)
        return;
    page->lines_left--;
    va_start(list, format);
    const int length = vasprintf(&line, format, list);
    va_end(list);
    if (length < 0)
        return;
    for (unsigned column = 0; line[end] != '\0'; end++) {
        if (((unsigned char)line[end] & 0xc0) == 0x80)
            continue;
        if (column++ == page->columns)
            break;
    }
    while (end > 0 && line[end - 1] == ' ')
        end--;
    line[end] = '\0';
    res_text_printf(page->out, "%s\n", line);
    free(line);
}

/* Two facts in a line. */
static void put_facts(struct page *page, const char *left_name, const char *left, const char *right_name,
                      const char *right)
{
    put(page, "%-11s%-*s%-9s%s", left_name, HEAD_COLUMNS - 12, left, right_name, right);
}

/* ---- head ----------------------------------------------------------------------------------- */

const char *cli_top_state(const struct conv_view *view)
{
    return view->status.paused ? "paused" : conv_recording_state_name(view->status.state);
}

double cli_top_per_second(const struct cli_top_moment *moment, uint64_t now, uint64_t before)
{
    return now > before ? (double)(now - before) * 1e9 / (double)moment->interval_ns : 0.0;
}

static const char *state_words(const struct conv_view *view)
{
    switch (view->status.state) {
    case CONV_RECORDING_FINISHED:
        return "the recording has ended, after";
    case CONV_RECORDING_GOING_ON:
        return view->status.paused ? "paused, after" : "recording for";
    case CONV_RECORDING_ENDED_EARLY:
        return "the collector was killed, after";
    case CONV_RECORDING_COPIED:
        return "a copy, made after";
    case CONV_RECORDING_OUT_OF_SIGHT:
        return "out of sight, recording for";
    default:
        return "not known whether it goes on, after";
    }
}

static void put_title(struct page *page, const struct conv_view *view, const struct cli_top_moment *moment)
{
    char duration[32], interval[32], right[64];
    char *program = res_text_plain(cli_top_program(view));
    char *left = res_printf("%.30s: %s %s", *program != '\0' ? program : "nothing yet", state_words(view),
                            res_text_duration((double)moment->duration_ns, duration));
    if (moment->catching_up)
        snprintf(right, sizeof right, "catching up %u %%", moment->percent);
    else if (moment->is_first)
        snprintf(right, sizeof right, "/s: since the start");
    else
        snprintf(right, sizeof right, "/s: of %s", res_text_duration((double)moment->interval_ns, interval));
    put(page, "%-*s %s", 79 - (int)strlen(right), left, right);
    free(left);
    free(program);
}

static void put_lost(struct page *page, const struct conv_view *view)
{
    uint64_t lost[FP_LOSS_COUNT];
    struct res_text words = {0};
    char number[32];
    if (conv_view_lost(view, lost) == 0) {
        put(page, "%-11snone", "lost");
        return;
    }
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        if (lost[cause] > 0)
            res_text_printf(&words, "%s%s %s", words.length > 0 ? ", " : "", fp_loss_name(cause),
                            compact((double)lost[cause], number));
    put(page, "%-11s%s calls", "lost", words.text);
    free(words.text);
}

static void put_ring(struct page *page, const struct conv_view *view)
{
    const struct conv_view_status *status = &view->status;
    char left[64] = "not told", right[64] = "not told", number[32];
    if (status->ring_told)
        snprintf(left, sizeof left, "%llu of %llu chunks in use",
                 (unsigned long long)status->ring_chunks_used, (unsigned long long)status->ring_chunks_most);
    else if (!conv_view_goes_on(view))
        snprintf(left, sizeof left, "given back");
    if (status->told && status->stalls == 0)
        snprintf(right, sizeof right, "none");
    else if (status->told) {
        char count[32];
        snprintf(right, sizeof right, "%s, %s", compact((double)status->stalls, count),
                 res_text_duration((double)status->stall_ns, number));
    }
    put_facts(page, "ring", left, "stalls", right);
}

static void put_live(struct page *page, const struct conv_view *view)
{
    const struct conv_live_sum *live = &view->sum.live;
    char left[96], right[96], bytes[32], objects[32];
    snprintf(left, sizeof left, "%s in %s objects", res_text_bytes((double)live->bytes, bytes),
             compact((double)live->objects, objects));
    snprintf(right, sizeof right, "%s in %s", res_text_bytes((double)live->bytes_peak, bytes),
             compact((double)live->objects_peak, objects));
    put_facts(page, "live", left, "peak", right);
    if (view->left.objects > 0)
        put(page, "%-11s%s in %s objects, live when their processes ended", "left",
            res_text_bytes((double)view->left.bytes, bytes), compact((double)view->left.objects, objects));
}

static void put_head(struct page *page, const struct conv_view *view, const struct cli_top_moment *moment,
                     const struct cli_top_numbers *sums)
{
    char left[96], right[96], one[32], two[32];
    put_title(page, view, moment);
    if (view->status.why[0] != '\0' && view->status.state != CONV_RECORDING_GOING_ON) {
        char *why = res_text_plain(view->status.why);
        put(page, "%-11s%s", "note", why);
        free(why);
    }
    if (view->foreign > 0)
        put(page, "%-11sleft out: %zu files *.fp that are no footprints", "note", view->foreign);
    snprintf(left, sizeof left, "%s running, %s in all",
             res_text_grouped((unsigned long long)sums->processes_running, one),
             res_text_grouped((unsigned long long)view->process_count, two));
    snprintf(right, sizeof right, "%s running, %s in all",
             res_text_grouped((unsigned long long)sums->threads_running, one),
             res_text_grouped((unsigned long long)sums->threads, two));
    put_facts(page, "processes", left, "threads", right);
    snprintf(left, sizeof left, "%s, %s/s", compact((double)view->sum.events, one),
             compact_rate(moment, view->sum.events, view->sum_before.events, two));
    if (view->sum.events > 0 && !moment->catching_up)
        snprintf(right, sizeof right, "%s, %.2f bytes an event", res_text_bytes((double)view->bytes, one),
                 (double)view->bytes_written / (double)view->sum.events);
    else
        snprintf(right, sizeof right, "%s", res_text_bytes((double)view->bytes, one));
    put_facts(page, "events", left, "on disk", right);
    put_live(page, view);
    put_ring(page, view);
    put_lost(page, view);
}

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

/* "size, 8 of 14" when some are left out. */
static const char *title_of(const char *name, size_t shown, size_t all, char *ret_text, size_t size)
{
    if (shown < all)
        snprintf(ret_text, size, "%s, %zu of %zu", name, shown, all);
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
    table_add(ret_table, res_printf("%-18.18s%9s%9s", title_of("call", chosen, all, title, sizeof title),
                                    "count", "/s"));
    for (size_t i = 0; i < chosen; i++)
        table_add(ret_table, res_printf("%-18.18s%9s%9s", fp_call_name(calls[i]),
                                        compact((double)view->sum.events_by_call[calls[i]], count),
                                        compact_rate(moment, view->sum.events_by_call[calls[i]],
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
    table_add(ret_table, res_printf("%-14s%9s%9s%9s", title_of("size", chosen, all, title, sizeof title),
                                    "objects", over ? "left" : "live", "allocs/s"));
    for (size_t i = 0; i < chosen; i++) {
        const unsigned k = classes[i];
        table_add(ret_table, res_printf("%-14s%9s%9s%9s", cli_class_label(k, label, sizeof label),
                                        compact((double)live->class_objects[k], objects),
                                        res_text_bytes((double)live->class_bytes[k], bytes),
                                        compact_rate(moment, view->sum.class_allocations[k],
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
    table_add(ret_table, res_printf("%-18.18s%9s%9s", title_of("thread", count, all, title, sizeof title),
                                    "events", "/s"));
    for (size_t i = 0; i < count; i++) {
        const struct conv_tally_lane *lane = &threads[i].process->tally.lanes[threads[i].lane];
        snprintf(lane_name, sizeof lane_name, "%u, %u", threads[i].process->process_id, threads[i].lane);
        table_add(ret_table, res_printf("%-18.18s%9s%9s", lane_name, compact((double)lane->events, events),
                                        lane->exited && lane->events == lane->events_before
                                            ? "ended"
                                            : compact_rate(moment, lane->events, lane->events_before, rate)));
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
              res_printf("%-23s%9s%9s", title_of("process", count, view->process_count, title, sizeof title),
                         "live", "events/s"));
    for (size_t i = 0; i < count; i++) {
        const struct conv_tally *tally = &processes[i]->tally;
        char *name = res_text_plain(processes[i]->name);
        table_add(ret_table,
                  res_printf("%-8u%-15.14s%9s%9s", processes[i]->process_id, name,
                             tally->ended ? "ended" : res_text_bytes((double)tally->balance.bytes, bytes),
                             compact_rate(moment, tally->events, tally->events_before, rate)));
        free(name);
    }
    free(processes);
}

static void put_tables(struct page *page, struct table *left, struct table *right)
{
    const size_t rows = left->count > right->count ? left->count : right->count;
    put(page, "%s", "");
    for (size_t i = 0; i < rows; i++)
        put(page, "%-*s%s", LEFT_COLUMNS, i < left->count ? left->rows[i] : "",
            i < right->count ? right->rows[i] : "");
    table_release(left);
    table_release(right);
}

static size_t at_most(size_t value, size_t most)
{
    return value < most ? value : most;
}

void cli_top_text(const struct conv_view *view, const struct cli_top_moment *moment, unsigned lines,
                  unsigned columns, struct res_text *out)
{
    struct page page = {
        .out = out, .columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX, .lines_left = lines};
    const struct cli_top_numbers sums = cli_top_count(view);
    struct table left = {0}, right = {0};
    put_head(&page, view, moment, &sums);
    /* Each pair of tables takes an empty line and a title; where there is little room, there is only the first. */
    const bool both = page.lines_left >= 2 * (2 + ROWS_LEAST);
    const size_t taken = both ? 4 : 2, rows = page.lines_left > taken ? page.lines_left - taken : 0;
    const size_t calls = calls_table(view, moment, 0, NULL), sizes = sizes_table(view, moment, 0, NULL);
    const size_t threads = (size_t)sums.threads,
                 processes = view->process_count > 1 ? view->process_count : 0;
    const size_t upper_wanted = calls > sizes ? calls : sizes;
    const size_t lower_wanted = at_most(threads > processes ? threads : processes, ROWS_MAX);
    const size_t lower_least = both ? at_most(lower_wanted, rows / 3) : 0;
    const size_t upper = at_most(upper_wanted, rows - lower_least);
    const size_t lower = both ? at_most(lower_wanted, rows - upper) : 0;
    (void)calls_table(view, moment, upper, &left);
    (void)sizes_table(view, moment, upper, &right);
    put_tables(&page, &left, &right);
    if (!both)
        return;
    threads_table(view, moment, lower, threads, &left);
    if (processes > 0)
        processes_table(view, moment, lower, &right);
    put_tables(&page, &left, &right);
}
