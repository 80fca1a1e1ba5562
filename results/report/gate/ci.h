/* ci.h - what a check (budget_check.h) tells people and the services that run it.
 *
 *   JUnit        XML that GitLab, Jenkins and others show as tests: one test suite a workload, one test case a finding
 *   annotations  lines that GitHub shows at the run: "::error title=...::..."
 *   benchmark    [{name, unit, value, range, extra}], smaller is better: what benchmark-tracking actions keep and draw
 *
 * Names come from the result and may hold anything: every form escapes them. Same check, same bytes. What is returned is the
 * caller's to free. */
#ifndef MALLAB_RESULTS_REPORT_GATE_CI_H
#define MALLAB_RESULTS_REPORT_GATE_CI_H

#include <stdbool.h>

#include "results/measure/result/result.h"
#include "results/report/gate/budget_check.h"
#include "results/report/table/table.h"

/* How inconclusive findings are taken. */
enum res_doubt { RES_DOUBT_TOLD, RES_DOUBT_PASSES, RES_DOUBT_FAILS };

/* res_check_document - what changed since then, a table for each workload, the verdict. style NULL: Markdown, for a comment on a change,
 * with what the figures rest on to be opened. */
char *res_check_document(const struct res_check *check, const struct res_style *style);

/* res_check_junit - as the schema of Jenkins takes it. Over is a failure; inconclusive is skipped, or a failure with RES_DOUBT_FAILS, or passes with
 * RES_DOUBT_PASSES; the reason is always there. */
char *res_check_junit(const struct res_check *check, enum res_doubt doubt);

/* res_check_github - over is ::error, inconclusive ::warning (::error with RES_DOUBT_FAILS, ::notice with _PASSES), then one
 * ::notice with the summary. */
char *res_check_github(const struct res_check *check, enum res_doubt doubt);

/* res_check_benchmark - every metric of every candidate of a result, whether it has a budget or not, and its ratio to the baseline. A new reference. */
json_t *res_check_benchmark(const struct res_result *result);

#endif
