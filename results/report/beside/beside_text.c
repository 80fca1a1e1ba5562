/* beside_text.c - findings as a document. */
#include <inttypes.h>

#include <stdlib.h>
#include <string.h>

#include "results/report/beside/beside.h"

#define TOLD_MOST 12u /* lines on what was compared */

/* ---- words of a finding ----------------------------------------------------------------------- */

/* "+4.1% [+3.6 +4.9]" or "61.2 MB [60.9 61.4]". */
static char *seen_words(const struct res_finding *finding)
{
    const struct res_estimate estimate = finding->estimate;
    /* Rounds are meant, not passes, which need fewer. */
    const bool few = finding->rounds < RES_ROUNDS_FOR_INTERVAL &&
                     (finding->rule.metric == RES_METRIC_TIME || finding->rule.metric == RES_METRIC_FAULTS);
    if (!isfinite(estimate.value))
        return res_strdup("-");
    if (finding->rule.relative && !isfinite(estimate.interval.high))
        return res_printf("%s ?", RES_PERCENT(estimate.value));
    if (finding->rule.relative)
        return res_printf("%s %s", RES_PERCENT(estimate.value),
                          few ? "?" : RES_INTERVAL(estimate.interval.low, estimate.interval.high));
    return res_printf("%s [%s to %s]", RES_METRIC(finding->rule.metric, estimate.value),
                      RES_METRIC(finding->rule.metric, estimate.interval.low),
                      RES_METRIC(finding->rule.metric, estimate.interval.high));
}

/* "+3%", "512MiB" as the budget has it. */
static const char *limit_words(const struct res_finding *finding)
{
    return finding->rule.text != NULL ? strstr(finding->rule.text, "<=") + 2 : "";
}

/* "2 within, 1 over, 0 inconclusive: over budget". */
static char *summary_words(const struct res_beside *check)
{
    static const char *const words[] = {"within budget", "over budget", "inconclusive"};
    return res_printf("%" PRIu64 " within, %" PRIu64 " over, %" PRIu64 " inconclusive: %s",
                      check->counts[RES_WITHIN], check->counts[RES_OVER], check->counts[RES_INCONCLUSIVE],
                      words[check->outcome]);
}

/* The words for what was taken out of a workload's times, told once; NULL: nothing. first: its first finding. */
static char *bridge_words(const struct res_beside *check, size_t first)
{
    for (size_t i = first; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (strcmp(finding->workload, check->findings[first].workload) != 0)
            break;
        if (!isfinite(finding->bridge_ratio) || finding->rule.metric != RES_METRIC_TIME ||
            finding->is_yardstick)
            continue;
        const char *percent = RES_PERCENT(finding->bridge_ratio);
        RES_FREED char *bridge = res_text_plain(finding->bridged_by != NULL ? finding->bridged_by : "");
        char *words = res_printf(
            "times are less what the machine moved by since then: %s, as the unchanged %s did", percent,
            bridge);
        return words;
    }
    return NULL;
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool is_check(const struct res_beside *beside)
{
    return beside->against != NULL;
}

static bool is_first_of_workload(const struct res_beside *beside, size_t at)
{
    return at == 0 || strcmp(beside->findings[at].workload, beside->findings[at - 1].workload) != 0;
}

static void grid_begin(struct res_grid *grid, const struct res_beside *beside)
{
    const bool check = is_check(beside);
    RES_FREED char *seen = check ? res_printf("measured, against %s (95 %%)",
                                              beside->then != NULL ? "the earlier result" : beside->baseline)
                                 : NULL;
    const struct res_column columns[] = {
        {.heading = "candidate", .own_line = true, .gap = 2},
        {.heading = "metric", .gap = 2},
        {.heading = "then", .right = true, .gap = 2, .hidden = check},
        {.heading = "now", .right = true, .gap = 2, .hidden = check},
        {.heading = "machine", .right = true, .gap = 2, .hidden = check},
        {.heading = check ? "measured" : "change (95 %)", .alone = seen, .gap = 2},
        {.heading = "limit", .gap = 2, .hidden = !check},
        {.heading = "resolves", .right = true, .gap = 2, .hidden = check},
        {.heading = check ? "outcome" : "verdict", .gap = 2, .open = check},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
}

/* "over: it crashed". Markdown has no colour, so what is over is loud there, and says why in any case. */
static char *outcome_words(const struct res_finding *finding, bool markdown)
{
    const bool loud = markdown && finding->outcome == RES_OVER;
    const char *outcome = loud ? "OVER" : finding->word;
    const char *reason = loud && *finding->reason == '\0' ? "the whole interval is above" : finding->reason;
    return *reason != '\0' ? res_printf("%s: %s", outcome, reason) : res_strdup(outcome);
}

static void add_row(struct res_grid *grid, const struct res_beside *beside, const struct res_finding *finding,
                    bool plain)
{
    const bool yardstick = finding->is_yardstick && !is_check(beside);
    res_grid_add(grid, finding->candidate);
    res_grid_add(grid, finding->metric);
    res_grid_add(grid, RES_METRIC(finding->rule.metric, finding->then));
    res_grid_add(grid, RES_METRIC(finding->rule.metric, finding->value));
    res_grid_add(grid, RES_PERCENT(yardstick ? finding->value / finding->then : finding->bridge_ratio));
    res_grid_own(grid, yardstick ? res_strdup("-") : seen_words(finding));
    res_grid_add(grid, limit_words(finding));
    res_grid_own(grid,
                 isnan(finding->resolves) ? res_strdup("-") : res_printf("%.1f%%", 100 * finding->resolves));
    if (is_check(beside))
        res_grid_own(grid, outcome_words(finding, plain));
    else
        res_grid_add(grid, yardstick ? "yardstick" : finding->reason != NULL ? "same bytes" : finding->word);
    if (!yardstick)
        res_grid_role(grid, res_cell_role(finding->word));
}

/* ---- around it -------------------------------------------------------------------------------- */

/* "abc123 (nightly)"; the result's file says neither: "-". */
static char *name_of(const struct res_result *result)
{
    const char *label = result->label, *commit = result->commit;
    if (commit == NULL || label == NULL)
        return res_strdup(commit != NULL ? commit : label != NULL ? label : "-");
    return res_printf("%s (%s)", commit, label);
}

/* Tells what is other than then, before any figure. */
static void add_changes(struct res_document *document, const struct res_beside *check)
{
    res_document_names(document, &check->changed_libraries, 0);
    if (check->then == NULL || !is_check(check))
        return;
    RES_FREED char *now = name_of(check->now), *then = name_of(check->then);
    if (strcmp(now, then) != 0)
        res_document_line(document, "since the base: %s -> %s", then, now);
    else if (check->changed_libraries.count == 0)
        res_document_line(document, "since the base: nothing that is known");
}

static void add_machine(struct res_document *document, const struct res_beside *check)
{
    const struct res_machine *machine = &check->now->machine;
    res_document_line(document, "commit: %s", check->now->commit != NULL ? check->now->commit : "not known");
    res_document_line(document, "machine: %s, Linux %s, mallab %s", machine->cpu != NULL ? machine->cpu : "?",
                      machine->kernel != NULL ? machine->kernel : "?", check->mallab_version);
    for (size_t i = 0; i < check->now->disturbance_count; i++)
        if (check->now->disturbances[i].text != NULL)
            res_document_line(document, "%s", check->now->disturbances[i].text);
}

/* Tells what was taken out of the change of times, and what could have been seen. */
static void add_explanation(struct res_document *document, const struct res_beside *comparison)
{
    const char *unchanged = NULL;
    bool any_same = false, any_resolved = false;
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const struct res_finding *finding = &comparison->findings[i];
        if (unchanged == NULL)
            unchanged = finding->is_yardstick ? finding->candidate : finding->bridged_by;
        any_same |= finding->reason != NULL;
        any_resolved |= isfinite(finding->resolves);
    }
    if (unchanged != NULL)
        res_document_line(
            document,
            "Times: %s is the same in both, so what it moved by is the machine's (yardstick), and is "
            "taken out of the others' change.",
            unchanged);
    else if (comparison->finding_count > 0)
        res_document_line(document,
                          "Times: no allocator is the same in both, so nothing tells what the machine "
                          "moved by, and none is judged.");
    if (any_same)
        res_document_line(document,
                          "Same bytes: the library is the same in both results, as are the calls and "
                          "the machine, so what it moved by is noise.");
    if (any_resolved)
        res_document_line(document, "Resolves: the least change that would have been shown, by the "
                                    "interval's width, the A/A controls and what the machine moved by "
                                    "unevenly.");
}

/* A value of a difference is JSON: an older mallab wrote none. */
static const char *recorded(const char *value)
{
    return strcmp(value, "null") != 0 ? value : "not recorded";
}

static void add_told(struct res_document *document, const struct res_beside *beside)
{
    for (size_t i = 0; i < beside->difference_count; i++) {
        const struct res_differing *one = &beside->differences[i];
        res_document_line(document, "%s differs: %s was %s, is %s", one->what, one->key, recorded(one->then),
                          recorded(one->now));
    }
    res_document_names(document, &beside->told, document->style->details ? 0 : TOLD_MOST);
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void add_title(struct res_document *document, const struct res_beside *beside, const char *workload)
{
    const struct res_result *then = beside->then;
    if (is_check(beside))
        res_document_heading(document, 3, "%s, percentages against %s%s (95 %% intervals)", workload,
                             then != NULL ? "the earlier result" : beside->baseline,
                             then != NULL ? "" : " of the same run");
    else
        res_document_heading(document, 3, "%s", workload);
}

char *res_beside_document(const struct res_beside *beside, const struct res_style *style)
{
    struct res_document document = {.style = style};
    struct res_grid grid;
    const bool plain = style->form != RES_FORM_TEXT;
    RES_FREED char *summary = is_check(beside) ? summary_words(beside) : NULL;
    if (summary != NULL && plain)
        res_document_heading(&document, 2, "mallab check: %s", summary);
    grid_begin(&grid, beside);
    add_changes(&document, beside);
    for (size_t at = 0, first = 0; at < beside->finding_count; first = at) {
        RES_FREED char *words = is_check(beside) ? bridge_words(beside, first) : NULL;
        add_title(&document, beside, beside->findings[at].workload);
        do
            add_row(&grid, beside, &beside->findings[at], plain);
        while (++at < beside->finding_count && !is_first_of_workload(beside, at));
        res_document_table(&document, "Figures", &grid);
        if (words != NULL)
            res_document_line(&document, "%s", words);
        res_document_gap(&document);
    }
    add_told(&document, beside);
    if (summary == NULL)
        add_explanation(&document, beside);
    else if (plain)
        add_machine(&document, beside);
    else
        res_document_line(&document, "%s", summary);
    res_grid_release(&grid);
    return res_document_end(&document);
}

/* ---- a check as JUnit's XML, as the schema of Jenkins takes it ---- */

/* res_text_plain has taken out what XML 1.0 cannot hold: control characters and malformed UTF-8. */
static void add_xml(struct res_text *text, const char *before, const char *words, const char *behind)
{
    RES_FREED char *plain = res_text_plain(words);
    res_text_printf(text, "%s", before);
    for (const char *byte = plain; *byte != '\0'; byte++) {
        const char *entity = *byte == '&'   ? "&amp;"
                             : *byte == '<' ? "&lt;"
                             : *byte == '>' ? "&gt;"
                             : *byte == '"' ? "&quot;"
                                            : NULL;
        res_text_add(text, entity != NULL ? entity : byte, entity != NULL ? strlen(entity) : 1);
    }
    res_text_printf(text, "%s", behind);
}

enum mark { MARK_PASSED, MARK_FAILED, MARK_SKIPPED };

static enum mark mark_of(const struct res_finding *finding, enum res_doubt doubt)
{
    if (finding->outcome == RES_WITHIN)
        return MARK_PASSED;
    if (finding->outcome == RES_OVER || doubt == RES_DOUBT_FAILS)
        return MARK_FAILED;
    return doubt == RES_DOUBT_PASSES ? MARK_PASSED : MARK_SKIPPED;
}

/* Marks of findings first .. end-1. */
static size_t marked(const struct res_beside *check, size_t first, size_t end, enum mark mark,
                     enum res_doubt doubt)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += mark_of(&check->findings[i], doubt) == mark;
    return count;
}

static void add_counts(struct res_text *text, const struct res_beside *check, size_t first, size_t end,
                       enum res_doubt doubt)
{
    res_text_printf(text, " tests=\"%zu\" failures=\"%zu\" errors=\"0\"", end - first,
                    marked(check, first, end, MARK_FAILED, doubt));
}

static void add_case(struct res_text *text, const struct res_finding *finding, enum res_doubt doubt)
{
    const enum mark mark = mark_of(finding, doubt);
    RES_FREED char *seen = seen_words(finding);
    RES_FREED char *message = res_printf("%s %s, limit %s: %s%s%s", finding->metric, seen,
                                         limit_words(finding), finding->word,
                                         *finding->reason != '\0' ? ", " : "", finding->reason);
    add_xml(text, "    <testcase classname=\"", finding->workload, "\" name=\"");
    add_xml(text, "", finding->candidate, ": ");
    add_xml(text, "", finding->rule.text, "\">\n");
    if (mark != MARK_PASSED)
        add_xml(text, mark == MARK_FAILED ? "      <failure message=\"" : "      <skipped message=\"",
                message, "\"/>\n");
    add_xml(text, "      <system-out>", message, "</system-out>\n    </testcase>\n");
}

static void add_properties(struct res_text *text, const struct res_texts *changed)
{
    if (changed->count > 0)
        res_text_printf(text, "    <properties>\n");
    for (size_t i = 0; i < changed->count; i++)
        add_xml(text, "      <property name=\"changed since then\" value=\"", changed->items[i], "\"/>\n");
    if (changed->count > 0)
        res_text_printf(text, "    </properties>\n");
}

char *res_check_junit(const struct res_beside *check, enum res_doubt doubt)
{
    struct res_text text = {0};
    res_text_printf(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mallab check\"");
    add_counts(&text, check, 0, check->finding_count, doubt);
    res_text_printf(&text, ">\n");
    for (size_t first = 0, end; first < check->finding_count; first = end) {
        end = first + 1;
        while (end < check->finding_count && !is_first_of_workload(check, end))
            end++;
        add_xml(&text, "  <testsuite name=\"", check->findings[first].workload, "\"");
        add_counts(&text, check, first, end, doubt);
        res_text_printf(&text, " skipped=\"%zu\">\n", marked(check, first, end, MARK_SKIPPED, doubt));
        add_properties(&text, &check->changed_libraries);
        for (size_t i = first; i < end; i++)
            add_case(&text, &check->findings[i], doubt);
        res_text_printf(&text, "  </testsuite>\n");
    }
    res_text_printf(&text, "</testsuites>\n");
    return text.text;
}
