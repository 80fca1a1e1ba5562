/* ci_github.c - a check as GitHub's workflow commands, which it shows as annotations of the run. */
#include <stdlib.h>

#include "results/measure/base/support.h"
#include "results/report/gate/ci.h"

/* A '%' would begin an escape. Line ends cannot be there: res_text_plain. */
static void add_escaped(struct res_text *text, const char *words)
{
    char *plain = res_text_plain(words);
    for (const char *byte = plain; *byte != '\0'; byte++)
        res_text_add(text, *byte == '%' ? "%25" : byte, *byte == '%' ? 3 : 1);
    free(plain);
}

static const char *command_of(const struct res_finding *finding, enum res_doubt doubt)
{
    if (finding->outcome == RES_OVER || doubt == RES_DOUBT_FAILS)
        return "error";
    return doubt == RES_DOUBT_PASSES ? "notice" : "warning";
}

char *res_check_github(const struct res_check *check, enum res_doubt doubt)
{
    struct res_text text = {0};
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (finding->outcome == RES_WITHIN)
            continue;
        char *seen = res_finding_seen(finding);
        char *words = res_printf("%s on %s: %s %s, limit %s%s%s", finding->candidate, finding->workload,
                                 res_metric_name(finding->rule->metric), seen, res_finding_limit(finding),
                                 *finding->reason != '\0' ? "; " : "", finding->reason);
        res_text_printf(&text, "::%s title=mallab check%%3A %s::", command_of(finding, doubt),
                        finding->outcome == RES_OVER ? "over budget" : "inconclusive");
        add_escaped(&text, words);
        res_text_printf(&text, "\n");
        free(words);
        free(seen);
    }
    char *summary = res_check_summary(check);
    res_text_printf(&text, "::notice title=mallab check::");
    add_escaped(&text, summary);
    res_text_printf(&text, "\n");
    free(summary);
    return text.text;
}
