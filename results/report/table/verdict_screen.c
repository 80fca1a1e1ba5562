/* verdict_screen.c - a workload on one screen of 14 lines: what was replayed, its candidates, the verdict. */
#include "results/report/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

#define NO_TRUST "not trustworthy"
#define LESS     "less than " /* "< " for want of room */
#define FAULTS   " with faults"
#define TOUCHES                                                                                              \
    0.1 /* of replays' processor time, in the kernel: with less, functions of malloc take the most of it */
#define LARGE_FACTOR 10.0
#define LONG_NAME    12u /* a longer baseline is called so in headings */

/* ---- what was replayed ----------------------------------------------------------------------- */

char *res_verdict_head(const struct res_result_workload *workload)
{
    const struct res_runs_on *runs_on = workload->runs_on;
    const char *version = runs_on != NULL && runs_on->version != NULL ? runs_on->version : "";
    const uint64_t made_before = workload->inherited_ops < workload->ops ? workload->inherited_ops : 0;
    const uint64_t calls = workload->ops - made_before;
    struct res_text words = {0};
    res_text_printf(&words, "%s call%s, %s thread%s", FP_GROUPED(calls), calls == 1 ? "" : "s",
                    FP_GROUPED(workload->threads), workload->threads == 1 ? "" : "s");
    if (workload->duration_ns > 0)
        res_text_printf(&words, ", %s", RES_DURATION((double)workload->duration_ns));
    res_text_printf(&words, ", at most %s", FP_BYTES((double)workload->live_peak_bytes));
    if (runs_on != NULL && runs_on->name != NULL)
        res_text_printf(&words, ", on %s%s%.*s", runs_on->name, runs_on->version != NULL ? " " : "",
                        (int)strcspn(version, "-"), version); /* not "5.3.0-0-g54eaed1d8b56" */
    return words.text;
}

/* "36 of ", "36 us of " before "356 ms" */
static void add_before(struct res_text *words, const char *part, const char *joint, const char *whole)
{
    const size_t unit = strcspn(part, " ");
    const bool same = strcmp(part + unit, whole + strcspn(whole, " ")) == 0;
    res_text_printf(words, "%.*s%s", same ? (int)unit : (int)strlen(part), part, joint);
}

/* "36 of 340-520 ms CPU (7-11 %)", "36 of 356 ms CPU (about 10 % with faults)": the kernel makes new pages in calls, and behind them. */
static void add_time_share(struct res_text *words, const struct res_result *result,
                           const struct res_result_workload *workload)
{
    const struct res_cpu cpu = res_process_cpu(result, workload);
    const struct res_result_entry *recorded = res_recorded_entry(workload);
    const double calls_ns = res_calls_ns(workload, recorded);
    const bool is_range = strcmp(RES_DURATION(cpu.least_ns), RES_DURATION(cpu.most_ns)) != 0;
    add_before(words, RES_DURATION(calls_ns), " of ", RES_DURATION(is_range ? cpu.least_ns : cpu.ns));
    if (is_range)
        add_before(words, RES_DURATION(cpu.least_ns), "-", RES_DURATION(cpu.most_ns));
    res_text_printf(words, "%s CPU (", RES_DURATION(is_range ? cpu.most_ns : cpu.ns));
    if (workload->no_trust_time != NULL && workload->share_time > 1)
        res_text_printf(words, "%s", NO_TRUST);
    else
        res_notes_add_time_share(words, workload, workload->share_time);
    res_text_printf(words, recorded->kernel_share > TOUCHES ? FAULTS ")" : ")");
}

/* Shortens a line that is too long. */
static void leave_out(struct res_text *words, const char *part, const char *instead)
{
    char *at;
    while (res_text_columns(words->text) > RES_SCREEN_COLUMNS && (at = strstr(words->text, part)) != NULL) {
        const size_t length = strlen(instead);
        memcpy(at, instead, length);
        memmove(at + length, at + strlen(part), strlen(at + strlen(part)) + 1);
    }
}

static char *unknown_share(const struct res_result_workload *workload)
{
    const bool is_whole = res_whole_process(workload) != NULL;
    const char *name = workload->runs_on != NULL ? workload->runs_on->name : NULL;
    const struct res_result_entry *own = name != NULL ? res_result_entry_named(workload, name) : NULL;
    if (is_whole && res_recorded_entry(workload) == NULL && name != NULL)
        return res_printf("malloc's share is unknown: %s, which it ran on, %s", name,
                          own == NULL ? "was not replayed"
                          : own->failure != NULL && res_failure_is_death(own->failure->cause)
                              ? "died in its replay"
                              : "failed in its replay");
    return res_strdup(workload->process != NULL && !is_whole
                          ? "malloc's share is unknown: only a part of the run is recorded"
                      : workload->runs_on != NULL /* it was recorded by a collector that reads it */
                          ? "malloc's share is unknown: the program was too short"
                          : "malloc's share is unknown: it was not recorded");
}

char *res_verdict_share(const struct res_result *result, const struct res_result_workload *workload)
{
    struct res_text words = {0};
    const bool has_time = isfinite(workload->share_time), has_memory = isfinite(workload->share_memory);
    if (!has_time && !has_memory)
        return unknown_share(workload);
    res_text_printf(&words, has_time ? "malloc takes " : "malloc's heap takes ");
    if (has_time)
        add_time_share(&words, result, workload);
    if (has_memory) {
        const double rss = workload->process->rss_peak_bytes;
        const struct res_bytes_unit unit = res_bytes_unit_of(rss);
        const char *heap = RES_IN_UNIT(workload->share_memory * rss, unit);
        res_text_printf(&words, "%s%s", has_time ? " and " : "", heap);
        if (workload->no_trust_memory != NULL) /* why is said below, with what it cannot be a part of */
            res_text_printf(&words, " %s (%s)", unit.name, NO_TRUST);
        else
            res_text_printf(&words, " of %s %s (%s)", RES_IN_UNIT(rss, unit), unit.name,
                            RES_SHARE(workload->share_memory));
    }
    leave_out(&words, " and ", ", ");
    leave_out(&words, LESS, "<");
    leave_out(&words, "about ", "");
    leave_out(&words, "malloc takes ", "malloc: ");
    leave_out(&words, FAULTS, "");
    return words.text;
}

static void add_head(struct res_text *text, const struct res_result *result,
                     const struct res_result_workload *workload)
{
    RES_FREED char *title = res_notes_title(workload), *head = res_verdict_head(workload);
    RES_FREED char *whole = res_printf("%s: %s", title, head),
                   *line = res_lines_clauses(whole, RES_SCREEN_COLUMNS);
    RES_FREED char *share = res_verdict_share(result, workload);
    res_text_printf(text, "%s\n%s\n", line, share);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* "62 % less (51-71)", "2.8x (2.7-2.9)" */
static char *change_words(const struct res_difference *time)
{
    const double percent = 100 * fabs(time->ratio - 1);
    const bool less = time->ratio < 1;
    const double low = 100 * (less ? 1 - time->interval.high : time->interval.low - 1);
    const double high = 100 * (less ? 1 - time->interval.low : time->interval.high - 1);
    struct res_text words = {0};
    if (time->ratio >= 2) {
        res_text_printf(&words, "%.1fx", time->ratio);
        if (isfinite(low) && isfinite(high))
            res_text_printf(&words, " (%.1f-%.1f)", time->interval.low, time->interval.high);
        return words.text;
    }
    res_text_printf(&words, percent < 9.95 ? "%.1f %% %s" : "%.0f %% %s", percent, less ? "less" : "more");
    if (isfinite(low) && isfinite(high) && round(low) < round(high))
        res_text_printf(&words, " (%.0f-%.0f)", low, high);
    return words.text;
}

static void add_time(struct res_grid *grid, const struct res_result_workload *workload,
                     const struct res_result_entry *entry)
{
    const struct res_difference *time = &entry->figures.time;
    const char *cause = entry->failure != NULL ? entry->failure->cause : NULL;
    const struct res_runs_on *runs_on = workload->runs_on;
    if (entry->failed != NULL) {
        res_grid_add(grid, "-");
        res_grid_add(grid, res_failure_is_death(cause) ? "died" : "failed");
        res_grid_role(grid, RES_ROLE_BAD);
        return;
    }
    res_grid_add(grid, RES_NS(entry->figures.steady_ns_per_op));
    if (entry == workload->candidates) {
        res_grid_add(grid, runs_on != NULL && runs_on->name != NULL && strcmp(runs_on->name, entry->name) == 0
                               ? "runs now"
                               : "baseline");
    } else if (time->verdict == RES_LESS || time->verdict == RES_MORE) {
        res_grid_own(grid, change_words(time));
        res_grid_role(grid, res_cell_role_large(RES_TIME_VERDICTS[time->verdict], time->ratio));
    } else {
        res_grid_add(grid, res_verdict_shown(time->verdict, time->interval.low, time->interval.high));
    }
}

/* A factor says nothing where the baseline holds next to nothing. */
static void add_change(struct res_text *words, const char *which, double ratio, double more_bytes)
{
    if (ratio < 2)
        res_text_printf(words, "%s %+.0f %%", which, 100 * (ratio - 1));
    else if (ratio < LARGE_FACTOR)
        res_text_printf(words, "%s %.1fx", which, ratio);
    else
        res_text_printf(words, "%s +%s", which, FP_BYTES(more_bytes));
}

/* "peak -33 %, rest -71 %": what is shown. */
static void add_memory_change(struct res_grid *grid, const struct res_result_workload *workload,
                              const struct res_result_entry *entry)
{
    const struct res_result_entry *baseline = &workload->candidates[0];
    const struct res_difference held = entry->figures.peak;
    const double saved = res_rest_saved(workload, entry);
    const double rest = baseline->figures.idle_bytes;
    const double peak = entry->figures.peak_bytes - baseline->figures.peak_bytes;
    const bool is_little = res_is_little_memory(workload, peak);
    const bool differs = held.verdict == RES_LESS || held.verdict == RES_MORE;
    const bool is_shown = differs && !is_little;
    struct res_text words = {0};
    if (entry == baseline || entry->failed != NULL) {
        res_grid_add(grid, "");
        return;
    }
    if (is_shown)
        add_change(&words, "peak", held.ratio, peak);
    if (workload->live == RES_LIVE_FROM_MIDDLE) {
        res_grid_add(grid, "not known");
        return;
    }
    if (isfinite(saved) && rest > 0 && !res_is_little_memory(workload, saved))
        add_change(&words, is_shown ? ", rest" : "rest", 1 - saved / rest, -saved);
    if (words.text != NULL)
        res_grid_add(grid, words.text);
    else if (entry->resident_clock == RES_CLOCK_RECORDED && !entry->predicted)
        res_grid_add(grid, "not predicted");
    else if (differs)
        res_grid_add(grid, "does not matter");
    else
        res_grid_add(grid, res_verdict_shown(held.verdict, held.interval.low, held.interval.high));
    if (is_shown)
        res_grid_role(grid, res_cell_role_large(RES_MEMORY_VERDICTS[held.verdict], held.ratio));
    free(words.text);
}

/* Adds bytes in the table's unit, with one digit behind the point: large parts count here. */
static void add_bytes(struct res_grid *grid, double bytes, struct res_bytes_unit unit)
{
    const double shown = bytes / unit.bytes;
    if (isfinite(shown))
        res_grid_own(grid, res_printf(shown < 999.5 ? "%.1f" : "%.0f", shown));
    else
        res_grid_add(grid, "-");
}

void res_verdict_grid(struct res_grid *grid, const struct res_result *result,
                      const struct res_result_workload *workload)
{
    const bool rests = res_rests(workload);
    double largest = 0;
    for (size_t i = 0; i < workload->candidate_count; i++)
        largest = fmax(largest, workload->candidates[i].figures.peak_bytes);
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    const bool is_short = strlen(result->baseline) <= LONG_NAME;
    RES_FREED char *against = res_printf("against %s", is_short ? result->baseline : "baseline");
    RES_FREED char *heap = res_printf("heap, %s%s%s", unit.name,
                                      workload->candidate_count > 1 ? ", start in peak" : "",
                                      workload->candidate_count > 1 && rests ? " and rest" : "");
    struct res_column columns[] = {
        {.heading = "", .own_line = true},
        {.heading = "ns/op", .group = "time in malloc", .right = true, .gap = 2},
        {.heading = against, .group = "time in malloc", .gap = 2},
        {.heading = "start", .group = heap, .right = true, .gap = 2},
        {.heading = "peak", .group = heap, .right = true, .gap = 1},
        {.heading = "rest", .group = heap, .right = true, .gap = 1},
        {.heading = against, .group = heap, .gap = 2},
    };
    const size_t count = sizeof columns / sizeof columns[0];
    if (!rests)
        columns[count - 2] = columns[count - 1];
    res_grid_begin(grid, columns, rests ? count : count - 1);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        res_grid_add(grid, entry->name);
        add_time(grid, workload, entry);
        add_bytes(grid, entry->figures.own_start_bytes, unit);
        add_bytes(grid, entry->figures.peak_bytes, unit);
        if (rests)
            add_bytes(grid, entry->figures.idle_bytes, unit);
        add_memory_change(grid, workload, entry);
    }
}

void res_verdict_screen(struct res_document *document, const struct res_result *result,
                        const struct res_result_workload *workload)
{
    struct res_grid grid;
    add_head(&document->text, result, workload);
    res_verdict_grid(&grid, result, workload);
    res_document_screen(document, "Candidates", &grid);
    res_notes_screen(&document->text, workload->notes, workload->note_count, result->asked.command,
                     document->style->details);
}

/* ---- a confirmation: what ran, and a row for each candidate ---------------------------------- */

/* A service is named by the command that starts it. The caller's to free. */
char *res_confirm_ran(const struct res_confirmation *about)
{
    struct res_text line = {0};
    if (about->start != NULL)
        return res_printf("a service: %s", about->start);
    for (size_t i = 0; i < about->command.count; i++)
        res_shell_word(&line, about->command.items[i]);
    return line.text != NULL ? line.text : res_strdup("a program");
}

static const char *counts_words(const struct res_confirmation *about)
{
    return about->start != NULL ? "time is processor time of all its processes, peak that of all together"
                                : "time is processor time of all its processes, peak that of the largest";
}

/* The command that ran; on a screen that is not asked for details as much of it as one line holds. */
static void add_confirm_head(struct res_document *document, const struct res_confirmation *about)
{
    const struct res_style *style = document->style;
    RES_FREED char *ran = res_confirm_ran(about), *plain = res_text_plain(ran);
    RES_FREED char *cut = res_lines_cut(plain, strlen(plain), RES_SCREEN_COLUMNS - 3);
    if (style->form != RES_FORM_TEXT)
        res_document_heading(document, style->form == RES_FORM_HTML ? 2 : 3, "%s", plain);
    else if (style->details || res_text_columns(plain) <= RES_SCREEN_COLUMNS)
        res_lines_wrap(&document->text, plain, 0);
    else
        res_text_printf(&document->text, "%s...\n", cut);
    if (style->form == RES_FORM_TEXT)
        res_text_printf(&document->text, "%s\n\n", counts_words(about));
    else if (style->form == RES_FORM_HTML)
        res_document_line(document, "%s", counts_words(about));
}

/* ---- the table ------------------------------------------------------------------------------- */

/* "-12.3% [-15.0 -9.1]", "not shown [-4.0 +7.1]". */
static void add_confirmed_change(struct res_grid *grid, const struct res_confirmed_figure *figure,
                                 enum res_verdict verdict, const char *const *words)
{
    const struct res_interval interval = figure->interval;
    const bool shown = verdict == RES_LESS || verdict == RES_MORE;
    const char *range = RES_INTERVAL(interval.low, interval.high);
    if (!isfinite(figure->ratio)) {
        res_grid_add(grid, "not measured");
        return;
    }
    res_grid_own(grid, res_printf("%s%s%s",
                                  shown ? RES_PERCENT(figure->ratio)
                                        : res_verdict_shown(verdict, interval.low, interval.high),
                                  *range != '\0' ? " " : "", range));
    if (shown)
        res_grid_role(grid, res_cell_role_large(words[verdict], figure->ratio));
}

static double own_median(const struct res_confirmed_figure *figure)
{
    return figure->own_count > 0 ? res_median(figure->own, figure->own_count) : NAN;
}

/* peak_bytes: of the baseline, of which runs for memory have no control. */
static void add_entry(struct res_grid *grid, const struct res_confirmed *one, double peak_bytes,
                      struct res_bytes_unit unit)
{
    const double own_ns = one->is_control ? one->time.baseline_median : own_median(&one->time);
    const char *instead = one->failed != NULL ? "failed" : one->is_control ? "baseline" : NULL;
    res_grid_add(grid, one->candidate);
    res_grid_add(grid, isfinite(own_ns) ? RES_DURATION(own_ns) : "-");
    if (instead != NULL)
        res_grid_add(grid, instead);
    else
        add_confirmed_change(grid, &one->time, one->time_verdict, RES_TIME_VERDICTS);
    res_grid_add(grid, FP_GROUPED(one->runs));
    res_grid_add(grid, RES_IN_UNIT(one->is_control ? peak_bytes : one->peak_bytes, unit));
    if (instead != NULL)
        res_grid_add(grid, "");
    else
        add_confirmed_change(grid, &one->peak, one->peak_verdict, RES_MEMORY_VERDICTS);
}

/* The baseline, which the control is, stands first. */
static void confirm_grid(struct res_grid *grid, const struct res_result *result)
{
    const double baseline = res_confirmed_baseline_bytes(result->confirmed, result->confirmed_count);
    double largest = 0;
    for (size_t i = 0; i < result->confirmed_count; i++)
        largest = fmax(largest,
                       fmax(result->confirmed[i].peak_bytes, result->confirmed[i].peak.baseline_median));
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    RES_FREED char *peak = res_printf("peak, %s", unit.name),
                   *against = res_printf("against %s", result->baseline);
    const struct res_column columns[] = {
        {.heading = ""},
        {.heading = "time", .right = true, .gap = 2},
        {.heading = against, .gap = 2},
        {.heading = "pairs", .right = true, .gap = 2},
        {.heading = peak, .right = true, .gap = 2},
        {.heading = against, .gap = 2},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (result->confirmed[i].is_control)
            add_entry(grid, &result->confirmed[i], baseline, unit);
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (!result->confirmed[i].is_control)
            add_entry(grid, &result->confirmed[i], baseline, unit);
}

void res_confirm_screen(struct res_document *document, const struct res_result *result)
{
    struct res_grid grid;
    add_confirm_head(document, result->confirmation);
    res_notes_lead(document, result->notes, result->note_count);
    confirm_grid(&grid, result);
    res_document_screen(document, "The program itself", &grid);
}

/* ---- the checks of `mallab doctor` for people ---- */

#define NAME_COLUMN  6  /* "bad   " */
#define FOUND_COLUMN 28 /* where words begin */

static const char *word_of(const json_t *check, const char *key)
{
    const char *text = json_string_value(json_object_get(check, key));
    return text != NULL ? text : "";
}

static void add_check(struct res_text *text, const json_t *check, const struct res_style *style)
{
    const char *state = word_of(check, "state");
    const enum res_role role = strcmp(state, "bad") == 0    ? RES_ROLE_BAD
                               : strcmp(state, "note") == 0 ? RES_ROLE_DOUBT
                                                            : RES_ROLE_GOOD;
    res_text_printf(text, "  %s%-*s%s%-*s", res_colour_begin(style, role), NAME_COLUMN, state,
                    res_colour_end(style, role), FOUND_COLUMN - NAME_COLUMN - 2, word_of(check, "name"));
    res_lines_wrap(text, word_of(check, "found"), FOUND_COLUMN);
    if (strcmp(state, "ok") == 0)
        return;
    res_text_printf(text, "%*s", FOUND_COLUMN, "");
    res_lines_wrap(text, word_of(check, "why"), FOUND_COLUMN);
    if (json_is_null(json_object_get(check, "remedy")))
        return;
    RES_FREED char *remedy = res_printf("-> %s", word_of(check, "remedy"));
    res_text_printf(text, "%*s", FOUND_COLUMN, "");
    res_lines_wrap(text, remedy, FOUND_COLUMN);
}

char *res_doctor_text(const struct res_doctor *doctor, const struct res_style *style, bool all)
{
    struct res_text text = {0};
    const char *area = "";
    size_t index;
    json_t *check;
    json_array_foreach(doctor->checks, index, check)
    {
        if (!all && strcmp(word_of(check, "state"), "ok") == 0)
            continue;
        if (strcmp(area, word_of(check, "area")) != 0) {
            area = word_of(check, "area");
            res_text_printf(&text, "%s%s\n", text.length > 0 ? "\n" : "", area);
        }
        add_check(&text, check, style);
    }
    if (text.length > 0)
        res_text_add(&text, "\n", 1);
    res_text_printf(&text, "%zu bad, %zu to note, %zu ok", doctor->count[RES_DOCTOR_BAD],
                    doctor->count[RES_DOCTOR_NOTE], doctor->count[RES_DOCTOR_OK]);
    res_text_printf(&text, "%s\n",
                    doctor->count[RES_DOCTOR_BAD] > 0 ? ": what is bad spoils figures or recordings" : "");
    return text.text;
}
