/* budget_limit.h - what stands behind "<=" in a budget. Private to results/. */
#ifndef MALLAB_RESULTS_REPORT_GATE_BUDGET_LIMIT_H
#define MALLAB_RESULTS_REPORT_GATE_BUDGET_LIMIT_H

#include "results/report/gate/budget.h"

#define RES_BLANKS " \t\r"

/* A part of the text that is read; not terminated. */
struct res_span {
    const char *begin;
    size_t length;
};

/* res_span_trimmed - without the blanks at both ends. */
struct res_span res_span_trimmed(const char *begin, size_t length);

/* res_limit_take - "+3%", "512MiB", "25ns" to a rule's limit, in the base unit of its metric or as a ratio.
 * rule     its metric is set; relative and limit are, also where the text is none.
 * Returns  false when it is no limit of that metric, or beyond what a rule can hold. */
bool res_limit_take(struct res_span text, struct res_rule *rule);

/* res_limit_examples - of limits of a metric, for messages. */
const char *res_limit_examples(enum res_metric metric);

#endif
