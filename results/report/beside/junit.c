/* junit.c - a check as JUnit's XML, as the schema of Jenkins takes it. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/report/beside/beside.h"

/* res_text_plain has taken out what XML 1.0 cannot hold: control characters and malformed UTF-8. */
static void add_xml(struct res_text *text, const char *words)
{
    char *plain = res_text_plain(words);
    for (const char *byte = plain; *byte != '\0'; byte++) {
        const char *entity = *byte == '&'   ? "&amp;"
                             : *byte == '<' ? "&lt;"
                             : *byte == '>' ? "&gt;"
                             : *byte == '"' ? "&quot;"
                                            : NULL;
        res_text_add(text, entity != NULL ? entity : byte, entity != NULL ? strlen(entity) : 1);
    }
    free(plain);
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
    char *seen = res_finding_seen(finding);
    char *message = res_printf("%s %s, limit %s: %s%s%s", finding->metric, seen, res_finding_limit(finding),
                               finding->word, *finding->reason != '\0' ? ", " : "", finding->reason);
    res_text_printf(text, "    <testcase classname=\"");
    add_xml(text, finding->workload);
    res_text_printf(text, "\" name=\"");
    add_xml(text, finding->candidate);
    res_text_printf(text, ": ");
    add_xml(text, finding->rule.text);
    res_text_printf(text, "\">\n");
    if (mark != MARK_PASSED) {
        res_text_printf(text, "      <%s message=\"", mark == MARK_FAILED ? "failure" : "skipped");
        add_xml(text, message);
        res_text_printf(text, "\"/>\n");
    }
    res_text_printf(text, "      <system-out>");
    add_xml(text, message);
    res_text_printf(text, "</system-out>\n    </testcase>\n");
    free(message);
    free(seen);
}

static void add_properties(struct res_text *text, const struct res_texts *changed)
{
    if (changed->count > 0)
        res_text_printf(text, "    <properties>\n");
    for (size_t i = 0; i < changed->count; i++) {
        res_text_printf(text, "      <property name=\"changed since then\" value=\"");
        add_xml(text, changed->items[i]);
        res_text_printf(text, "\"/>\n");
    }
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
        for (end = first + 1; end < check->finding_count; end++)
            if (strcmp(check->findings[end].workload, check->findings[first].workload) != 0)
                break;
        res_text_printf(&text, "  <testsuite name=\"");
        add_xml(&text, check->findings[first].workload);
        res_text_printf(&text, "\"");
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
