/* ci_table.c - a check for people: aligned text, and Markdown for a job's summary. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/report/gate/ci.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"

char *res_finding_seen(const struct res_finding *finding)
{
    const struct res_estimate estimate = finding->estimate;
    /* Of rounds, not of passes, which need fewer. */
    const bool few = finding->rounds < RES_ROUNDS_FOR_INTERVAL &&
                     (finding->rule.metric == RES_METRIC_TIME || finding->rule.metric == RES_METRIC_FAULTS);
    if (!isfinite(estimate.value))
        return res_strdup("-");
    if (finding->rule.relative)
        return res_printf("%s %s", RES_PERCENT(estimate.value),
                          few ? "?" : RES_INTERVAL(estimate.interval.low, estimate.interval.high));
    return res_printf("%s [%s to %s]", RES_METRIC(finding->rule.metric, estimate.value),
                      RES_METRIC(finding->rule.metric, estimate.interval.low),
                      RES_METRIC(finding->rule.metric, estimate.interval.high));
}

const char *res_finding_limit(const struct res_finding *finding)
{
    return strstr(finding->rule.text, "<=") + 2;
}

char *res_check_summary(const struct res_check *check)
{
    static const char *const words[] = {"within budget", "over budget", "inconclusive"};
    return res_printf("%" PRIu64 " within, %" PRIu64 " over, %" PRIu64 " inconclusive: %s",
                      check->counts[RES_WITHIN], check->counts[RES_OVER], check->counts[RES_INCONCLUSIVE],
                      words[check->outcome]);
}

/* What was taken out of the times of a workload, told once; NULL: nothing. first: its first finding. */
static char *bridge_words(const struct res_check *check, size_t first)
{
    for (size_t i = first; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (strcmp(finding->workload, check->findings[first].workload) != 0)
            break;
        if (!isfinite(finding->bridge_ratio) || finding->rule.metric != RES_METRIC_TIME ||
            finding->is_yardstick)
            continue;
        const char *percent = RES_PERCENT(finding->bridge_ratio);
        char *baseline = res_text_plain(check->baseline);
        char *words =
            finding->bridge == RES_BRIDGE_BASELINE
                ? res_printf(
                      "times are less what the machine moved by since then: %s, as the unchanged %s did",
                      percent, baseline)
                : res_printf("times are less what the machine moved by since then: %s, as the harness did; "
                             "allocators need not follow it, so that counts as noise, too",
                             percent);
        free(baseline);
        return words;
    }
    return NULL;
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool is_first_of_workload(const struct res_check *check, size_t at)
{
    return at == 0 || strcmp(check->findings[at].workload, check->findings[at - 1].workload) != 0;
}

static void grid_begin(struct res_grid *grid, const struct res_check *check)
{
    char *seen = res_printf("measured, against %s (95 %%)",
                            check->earlier ? "the earlier result" : check->baseline);
    const struct res_column columns[] = {
        {.heading = "candidate", .own_line = true, .gap = 2}, {.heading = "metric", .gap = 2},
        {.heading = "measured", .alone = seen, .gap = 2},     {.heading = "limit", .gap = 2},
        {.heading = "outcome", .gap = 2, .open = true},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    free(seen);
}

/* "over: it crashed". Markdown has no colour, so what is over is loud there, and says why in any case. */
static char *outcome_words(const struct res_finding *finding, bool markdown)
{
    const bool loud = markdown && finding->outcome == RES_OVER;
    const char *outcome = loud ? "OVER" : res_outcome_name(finding->outcome);
    const char *reason = loud && *finding->reason == '\0' ? "the whole interval is above" : finding->reason;
    return *reason != '\0' ? res_printf("%s: %s", outcome, reason) : res_strdup(outcome);
}

/* All findings of a workload, the first of which is at `first`. Returns where the next workload's begin. */
static size_t add_rows(struct res_grid *grid, const struct res_check *check, size_t first, bool markdown)
{
    size_t at = first;
    do {
        const struct res_finding *finding = &check->findings[at];
        res_grid_add(grid, finding->candidate);
        res_grid_add(grid, res_metric_name(finding->rule.metric));
        res_grid_own(grid, res_finding_seen(finding));
        res_grid_add(grid, res_finding_limit(finding));
        res_grid_own(grid, outcome_words(finding, markdown));
        res_grid_role(grid, res_cell_role(res_outcome_name(finding->outcome)));
    } while (++at < check->finding_count && !is_first_of_workload(check, at));
    return at;
}

char *res_check_text(const struct res_check *check, const struct res_style *style)
{
    struct res_text text = {0};
    struct res_grid grid;
    char *baseline = res_text_plain(check->baseline), *summary = res_check_summary(check);
    grid_begin(&grid, check);
    for (size_t at = 0, first = 0; at < check->finding_count; first = at) {
        char *workload = res_text_plain(check->findings[at].workload), *words = bridge_words(check, first);
        res_text_printf(&text, "%s%s, percentages against %s%s (95 %% intervals)\n", at > 0 ? "\n" : "",
                        workload, check->earlier ? "the earlier result" : baseline,
                        check->earlier ? "" : " of the same run");
        at = add_rows(&grid, check, first, false);
        res_grid_text(&grid, style, &text);
        if (words != NULL)
            res_text_printf(&text, "  (%s)\n", words);
        free(workload);
        free(words);
    }
    res_text_printf(&text, "\n%s\n", summary);
    res_grid_release(&grid);
    free(baseline);
    free(summary);
    return text.text;
}

char *res_check_markdown(const struct res_check *check)
{
    struct res_text text = {0};
    struct res_grid grid;
    char *summary = res_check_summary(check);
    grid_begin(&grid, check);
    res_text_printf(&text, "## mallab check: %s\n", summary);
    for (size_t at = 0, first = 0; at < check->finding_count; first = at) {
        char *words = bridge_words(check, first);
        res_text_printf(&text, "\n### ");
        res_markdown_add(&text, check->findings[first].workload);
        res_text_printf(&text, "\n\n");
        at = add_rows(&grid, check, first, true);
        res_grid_markdown(&grid, &text);
        if (words != NULL) {
            res_text_printf(&text, "\n");
            res_markdown_add(&text, words);
            res_text_printf(&text, "\n");
        }
        free(words);
    }
    res_grid_release(&grid);
    free(summary);
    return text.text;
}
