/* whole_program.c - `mallab` with all of its verbs. */
#include <stdio.h>
#include <string.h>

#include "cli/verbs/verbs.h"

static const struct cli_verb *const VERBS[] = {
    &CLI_AB,     &CLI_RECORD,  &CLI_TOP,        &CLI_CONVERT, &CLI_INFO,  &CLI_REPLAY,
    &CLI_REPORT, &CLI_CONFIRM, &CLI_TUNE,       &CLI_COMPARE, &CLI_CHECK, &CLI_SITES,
    &CLI_LEAKS,  &CLI_FLAME,   &CLI_ALLOCATORS, &CLI_DOCTOR,  &CLI_HELP,  NULL,
};

/* ---- completion of candidates ------------------------------------------------------------------- */

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

/* Tells whether an item of the comma-separated list stands there already. */
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

/* Candidates for a list as of -a, of which the last one is `word`, or for one alone. */
static void offer_candidates(enum cli_offer kind, const char *before, const char *word)
{
    struct res_registry registry = {0};
    const char *comma = kind == CLI_OFFER_CANDIDATES ? strrchr(word, ',') : NULL;
    const char *typed = comma != NULL ? comma + 1 : word;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    char *others = res_strndup(word, comma != NULL ? (size_t)(comma - word) : 0);
    if (cli_registry_load(NULL, &registry) == CLI_DONE) {
        for (size_t i = 0; i < registry.candidate_count; i++) {
            const struct res_candidate *one = registry.candidates[i];
            if (can_run(one) && strcmp(one->name, "none") != 0 && !is_listed(others, one->name))
                cli_offer(typed, stem, one->name, one->description);
        }
    }
    printf(":nospace\n:files so\n");
    free(stem);
    free(others);
    res_registry_release(&registry);
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
    .offer = offer_candidates,
};
