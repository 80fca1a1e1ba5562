/* complete_budget.c - what a budget on the command line may be of: metrics, and candidates with a colon behind. The limit is
 * left to the user: its '<' must be quoted, which the user's quotes do. */
#include <stdlib.h>
#include <string.h>

#include "cli/complete/complete.h"
#include "cli/options/choice.h"
#include "results/measure/base/support.h"
#include "results/measure/figures/metric.h"

static void offer_metrics(const char *typed, const char *stem)
{
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
        cli_complete_offer(typed, stem, res_metric_name((enum res_metric)metric),
                           res_metric_unit_name((enum res_metric)metric));
}

static void offer_candidates(const char *typed, const char *stem)
{
    struct res_registry registry = {0};
    if (cli_registry_load(NULL, &registry) == CLI_DONE) {
        for (size_t i = 0; i < registry.candidate_count; i++) {
            const struct res_candidate *candidate = registry.candidates[i];
            char *word = res_printf("%s:", candidate->name);
            cli_complete_offer(typed, stem, word, candidate->description);
            free(word);
        }
    }
    res_registry_release(&registry);
}

void cli_complete_budget(const char *before, const char *word)
{
    const char *comma = strrchr(word, ','), *item = comma != NULL ? comma + 1 : word;
    const char *colon = strchr(item, ':'), *typed = colon != NULL ? colon + 1 : item;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    if (strchr(item, '<') == NULL) {
        offer_metrics(typed, stem);
        if (colon == NULL)
            offer_candidates(typed, stem);
    }
    printf(":nospace\n:files ini\n");
    free(stem);
}
