/* complete_candidates.c - candidates, and behind '+' their settings, as -a takes them. */
#include <stdlib.h>
#include <string.h>

#include "cli/complete/complete.h"
#include "cli/options/choice.h"
#include "footprint/base/places.h"
#include "results/measure/base/support.h"

/* Looked for by name only: probing every library would take longer than people wait for a completion. */
static bool can_run(const struct res_candidate *candidate)
{
    char *name = res_printf("mallab-replay-%s", candidate->replay);
    char *program = res_own_program(name);
    const bool found = program != NULL;
    free(program);
    free(name);
    return found;
}

/* Whether an item of the comma-separated list stands there already. */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *item = list; item != NULL; item = strchr(item, ',')) {
        item += *item == ',';
        if (strncmp(item, name, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
    }
    return false;
}

/* "narenas=", and once that is typed its values. */
static void offer_settings(const char *before, const char *word, const struct res_candidate *candidate)
{
    const char *typed = strrchr(word, '+') + 1;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    const char *equals = strchr(typed, '=');
    for (size_t i = 0; i < candidate->range_count; i++) {
        const struct res_range *range = &candidate->ranges[i];
        const size_t length = strlen(range->setting);
        char *name = res_printf("%s=", range->setting);
        if (equals == NULL)
            cli_complete_offer(typed, stem, name, range->text);
        else if ((size_t)(equals - typed) == length && strncmp(typed, range->setting, length) == 0)
            for (size_t k = 0; k < range->value_count; k++) {
                char *whole = res_printf("%s%s", name, range->values[k]);
                cli_complete_offer(typed, stem, whole, NULL);
                free(whole);
            }
        free(name);
    }
    free(stem);
}

void cli_complete_candidates(const char *before, const char *word, bool list)
{
    struct res_registry registry = {0};
    const char *comma = list ? strrchr(word, ',') : NULL;
    const char *typed = comma != NULL ? comma + 1 : word;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    char *others = res_strndup(word, comma != NULL ? (size_t)(comma - word) : 0);
    if (cli_registry_load(NULL, &registry) == CLI_DONE) {
        const char *plus = strchr(typed, '+');
        char *base = plus != NULL ? res_strndup(typed, (size_t)(plus - typed)) : res_strdup("");
        const struct res_candidate *candidate = res_registry_find(&registry, base);
        for (size_t i = 0; i < registry.candidate_count; i++) {
            const struct res_candidate *one = registry.candidates[i];
            if (can_run(one) && strcmp(one->name, "none") != 0 && !is_listed(others, one->name))
                cli_complete_offer(typed, stem, one->name, one->description);
        }
        if (candidate != NULL)
            offer_settings(stem, typed, candidate);
        free(base);
    }
    printf(":nospace\n:files so\n");
    free(stem);
    free(others);
    res_registry_release(&registry);
}
