/* ci_table.c - a check for people: aligned text, and Markdown for a job's summary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/gate/ci.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"

char *res_finding_seen(const struct res_finding *finding)
{
    const struct res_estimate estimate = finding->estimate;
    char *seen = NULL;
    /* Of rounds, not of passes, which need fewer. */
    const bool few = finding->rounds < RES_ROUNDS_FOR_INTERVAL &&
                     (finding->rule->metric == RES_METRIC_TIME || finding->rule->metric == RES_METRIC_FAULTS);
    if (!isfinite(estimate.value))
        return res_strdup("-");
    if (finding->rule->relative) {
        char *percent = res_cell_percent(estimate.value);
        char *interval = few ? res_strdup("?")
                             : res_cell_interval(estimate.interval.low, estimate.interval.high);
        seen = res_printf("%s %s", percent, interval);
        free(percent);
        free(interval);
        return seen;
    }
    char *words[] = {res_metric_text(finding->rule->metric, estimate.value),
                     res_metric_text(finding->rule->metric, estimate.interval.low),
                     res_metric_text(finding->rule->metric, estimate.interval.high)};
    seen = res_printf("%s [%s to %s]", words[0], words[1], words[2]);
    for (size_t i = 0; i < 3; i++)
        free(words[i]);
    return seen;
}

const char *res_finding_limit(const struct res_finding *finding)
{
    return strstr(finding->rule->text, "<=") + 2;
}

char *res_check_summary(const struct res_check *check)
{
    static const char *const words[] = {"within budget", "over budget", "inconclusive"};
    return res_printf("%zu within, %zu over, %zu inconclusive: %s", check->counts[RES_WITHIN],
                      check->counts[RES_OVER], check->counts[RES_INCONCLUSIVE],
                      words[res_check_outcome(check)]);
}

/* What was taken out of the times of a workload, told once; NULL: nothing. first: its first finding. */
static char *bridge_words(const struct res_check *check, size_t first)
{
    for (size_t i = first; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (strcmp(finding->workload, check->findings[first].workload) != 0)
            break;
        if (!isfinite(finding->bridge_ratio) || finding->rule->metric != RES_METRIC_TIME ||
            finding->is_yardstick)
            continue;
        char *percent = res_cell_percent(finding->bridge_ratio);
        char *baseline = res_text_plain(check->baseline);
        char *words =
            finding->bridge == RES_BRIDGE_BASELINE
                ? res_printf(
                      "times are less what the machine moved by since then: %s, as the unchanged %s did",
                      percent, baseline)
                : res_printf("times are less what the machine moved by since then: %s, as the harness did; "
                             "allocators need not follow it, so that counts as noise, too",
                             percent);
        free(percent);
        free(baseline);
        return words;
    }
    return NULL;
}

static bool is_last_of_workload(const struct res_check *check, size_t at)
{
    return at + 1 == check->finding_count ||
           strcmp(check->findings[at].workload, check->findings[at + 1].workload) != 0;
}

/* ---- text ----------------------------------------------------------------------------------- */

enum { CELL_CANDIDATE, CELL_METRIC, CELL_SEEN, CELL_LIMIT, CELL_OUTCOME, CELL_COUNT };

struct line {
    char *cells[CELL_COUNT];
};

static struct line line_of(const struct res_finding *finding)
{
    return (struct line){{res_text_plain(finding->candidate),
                          res_strdup(res_metric_name(finding->rule->metric)), res_finding_seen(finding),
                          res_strdup(res_finding_limit(finding)),
                          res_strdup(res_outcome_name(finding->outcome))}};
}

static void line_release(struct line *line)
{
    for (size_t i = 0; i < CELL_COUNT; i++)
        free(line->cells[i]);
}

static const char *colour_of(enum res_outcome outcome)
{
    static const char *const colours[] = {"\033[32m", "\033[31m", "\033[33m"};
    return colours[outcome];
}

static void add_line(struct res_text *text, const struct line *line, const size_t *widths, const char *colour,
                     const char *reason)
{
    for (size_t i = 0; i < CELL_COUNT; i++) {
        const bool last = i + 1 == CELL_COUNT;
        res_text_printf(text, "  %s%s%s", last && colour != NULL ? colour : "", line->cells[i],
                        last && colour != NULL ? "\033[0m" : "");
        for (size_t at = res_text_columns(line->cells[i]); at < widths[i] && !last; at++)
            res_text_add(text, " ", 1);
    }
    res_text_printf(text, "%s%s\n", *reason != '\0' ? ": " : "", reason);
}

static void measure(const struct line *line, size_t *widths)
{
    for (size_t i = 0; i < CELL_COUNT; i++) {
        const size_t columns = res_text_columns(line->cells[i]);
        widths[i] = columns > widths[i] ? columns : widths[i];
    }
}

char *res_check_text(const struct res_check *check, const struct res_style *style)
{
    struct res_text text = {0};
    struct line head = {{res_strdup("candidate"), res_strdup("metric"), res_strdup("measured"),
                         res_strdup("limit"), res_strdup("outcome")}};
    struct line *lines = res_calloc(check->finding_count, sizeof *lines);
    size_t widths[CELL_COUNT] = {0}, first = 0;
    measure(&head, widths);
    for (size_t i = 0; i < check->finding_count; i++) {
        lines[i] = line_of(&check->findings[i]);
        measure(&lines[i], widths);
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (i == 0 || strcmp(finding->workload, check->findings[i - 1].workload) != 0) {
            char *workload = res_text_plain(finding->workload);
            char *baseline = res_text_plain(check->baseline);
            first = i;
            res_text_printf(&text, "%s%s, percentages against %s%s (95 %% intervals)\n", i > 0 ? "\n" : "",
                            workload, check->earlier ? "the earlier result" : baseline,
                            check->earlier ? "" : " of the same run");
            add_line(&text, &head, widths, NULL, "");
            free(workload);
            free(baseline);
        }
        add_line(&text, &lines[i], widths, style->colour ? colour_of(finding->outcome) : NULL,
                 finding->reason);
        char *words = is_last_of_workload(check, i) ? bridge_words(check, first) : NULL;
        if (words != NULL)
            res_text_printf(&text, "  (%s)\n", words);
        free(words);
    }
    char *summary = res_check_summary(check);
    res_text_printf(&text, "\n%s\n", summary);
    free(summary);
    for (size_t i = 0; i < check->finding_count; i++)
        line_release(&lines[i]);
    line_release(&head);
    free(lines);
    return text.text;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void md_cell(struct res_text *text, const char *words)
{
    res_text_printf(text, "| ");
    res_markdown_add(text, words);
    res_text_add(text, " ", 1);
}

char *res_check_markdown(const struct res_check *check)
{
    struct res_text text = {0};
    char *summary = res_check_summary(check);
    size_t first = 0;
    res_text_printf(&text, "## mallab check: %s\n", summary);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (i == 0 || strcmp(finding->workload, check->findings[i - 1].workload) != 0) {
            first = i;
            res_text_printf(&text, "\n### ");
            res_markdown_add(&text, finding->workload);
            res_text_printf(&text, "\n\n| candidate | metric | measured, against ");
            res_markdown_add(&text, check->earlier ? "the earlier result" : check->baseline);
            res_text_printf(&text, " (95 %%) | limit | outcome |\n| --- | --- | ---: | ---: | --- |\n");
        }
        char *seen = res_finding_seen(finding);
        char *outcome = finding->outcome == RES_WITHIN
                            ? res_strdup("within")
                            : res_printf("%s: %s", finding->outcome == RES_OVER ? "OVER" : "inconclusive",
                                         *finding->reason != '\0' ? finding->reason
                                                                  : "the whole interval is above");
        md_cell(&text, finding->candidate);
        md_cell(&text, res_metric_name(finding->rule->metric));
        md_cell(&text, seen);
        md_cell(&text, res_finding_limit(finding));
        md_cell(&text, outcome);
        res_text_printf(&text, "|\n");
        free(outcome);
        free(seen);
        if (is_last_of_workload(check, i)) {
            char *words = bridge_words(check, first);
            if (words != NULL) {
                res_text_printf(&text, "\n");
                res_markdown_add(&text, words);
                res_text_printf(&text, "\n");
            }
            free(words);
        }
    }
    free(summary);
    return text.text;
}
