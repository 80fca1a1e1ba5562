/* whole_program.c - `mallab` with all of its verbs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/choice.h"
#include "cli/options/complete.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/figures/figures.h"

static const struct cli_verb *const VERBS[] = {
    &CLI_AB,     &CLI_RECORD,  &CLI_TOP,        &CLI_CONVERT, &CLI_INFO,  &CLI_REPLAY,
    &CLI_REPORT, &CLI_CONFIRM, &CLI_TUNE,       &CLI_COMPARE, &CLI_CHECK, &CLI_SITES,
    &CLI_LEAKS,  &CLI_FLAME,   &CLI_ALLOCATORS, &CLI_DOCTOR,  &CLI_HELP,  NULL,
};

/* ---- completion of candidates and budgets ------------------------------------------------------------------- */

/* Looked for by name only: probing every library would take longer than people wait for a
 * completion. */
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
        const struct res_variable *range = &candidate->ranges[i];
        const size_t length = strlen(range->name);
        char *name = res_printf("%s=", range->name), *value;
        if (equals == NULL)
            cli_offer(typed, stem, name, range->value);
        else if ((size_t)(equals - typed) == length && strncmp(typed, range->name, length) == 0)
            for (size_t k = 0; (value = res_range_value(range, k)) != NULL; k++) {
                char *whole = res_printf("%s%s", name, value);
                free(value);
                cli_offer(typed, stem, whole, NULL);
                free(whole);
            }
        free(name);
    }
    free(stem);
}

/* Candidates for a list as of -a, of which the last one is `word`; list: several between commas. */
static void offer_candidates(const char *before, const char *word, bool list)
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
                cli_offer(typed, stem, one->name, one->description);
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

/* The figures that a budget names; its limit is left to the user, who has to quote its '<'. */
static void offer_budget(const char *before, const char *word)
{
    const char *comma = strrchr(word, ','), *item = comma != NULL ? comma + 1 : word;
    const char *colon = strchr(item, ':'), *typed = colon != NULL ? colon + 1 : item;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    for (int metric = 0; strchr(item, '<') == NULL && metric < RES_METRIC_COUNT; metric++)
        cli_offer(typed, stem, res_metric_name((enum res_metric)metric),
                  res_metric_unit_name((enum res_metric)metric));
    printf(":nospace\n:files ini\n");
    free(stem);
}

static void offer_measured(enum cli_offer kind, const char *before, const char *typed)
{
    if (kind == CLI_OFFER_BUDGET)
        offer_budget(before, typed);
    else
        offer_candidates(before, typed, kind == CLI_OFFER_CANDIDATES);
}

/* ---- the program ------------------------------------------------------------------------------ */

/* We may be run by ourselves, to look at a library. */
static int answer_probe(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], RES_LIBRARY_PROBE) == 0 ? res_library_answer(argv[2]) : -1;
}

const struct cli_program CLI_PROGRAM = {
    .verbs = VERBS,
    .purpose = "Record what a program asks of malloc, replay it on other allocators, and say\n"
               "which one serves it best.",
    .example = "mallab ab -- sqlite3 :memory: 'SELECT 1'",
    .begin = answer_probe,
    .offer = offer_measured,
};
