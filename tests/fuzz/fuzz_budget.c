/* fuzz_budget.c - any bytes as a budget, as a command line and as a file: refused in one line that names the place, or rules with
 * limits that can be compared with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "results/report/beside/beside.h"

static void check_budget(const struct res_budget *budget, bool added, char *problem)
{
    FUZZ_CHECK(added == (problem == NULL));
    FUZZ_CHECK(problem == NULL || (*problem != '\0' && strchr(problem, '\n') == NULL));
    FUZZ_CHECK(!added || budget->rule_count > 0);
    FUZZ_CHECK(budget->rule_count <= RES_RULES_MAX);
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        const char *candidate = rule->candidate != NULL ? rule->candidate : "any";
        FUZZ_CHECK(isfinite(rule->limit) && (rule->relative ? rule->limit > 0 : rule->limit >= 0));
        FUZZ_CHECK(rule->metric < RES_METRIC_COUNT && strstr(rule->text, "<=") != NULL);
        FUZZ_CHECK(res_budget_find(budget, rule->metric, rule->relative, candidate) != NULL);
    }
    free(problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct res_budget line = {0}, file = {0};
    char *problem = NULL;
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    bool added = res_budget_add_text(&line, text, &problem);
    check_budget(&line, added, problem);
    problem = NULL;
    added = res_budget_add_file(&file, (const char *)bytes, size, &problem);
    check_budget(&file, added, problem);
    res_budget_release(&line);
    res_budget_release(&file);
    free(text);
    return 0;
}
