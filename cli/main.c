/* main.c - `mallab`: find the verb, run it, see that its answer reached stdout; its help, and what completes it. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/base/similar.h"
#include "cli/options/choice.h"
#include "cli/options/option_help.h"
#include "cli/options/option_table.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/measure/candidate/library.h"
#include "results/measure/figures/metric.h"

/* Hidden first words: */
#define CLI_ROFF     "--roff"     /* by which man pages are made */
#define CLI_COMPLETE "--complete" /* by which the shells' functions ask */

static const struct cli_verb *const VERBS[] = {
    &CLI_AB,      &CLI_RECORD,     &CLI_TOP,    &CLI_CONVERT,  &CLI_INFO,    &CLI_REPLAY,
    &CLI_REPORT,  &CLI_CONFIRM,    &CLI_TUNE,   &CLI_VALIDATE, &CLI_COMPARE, &CLI_CHECK,
    &CLI_SITES,   &CLI_LEAKS,      &CLI_FLAME,  &CLI_PACK,     &CLI_PLAN,    &CLI_CELL,
    &CLI_COLLECT, &CLI_ALLOCATORS, &CLI_DOCTOR, &CLI_HELP,     NULL,
};

static const struct cli_verb *find_verb(const char *name)
{
    for (const struct cli_verb *const *verb = VERBS; *verb != NULL; verb++) {
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    }
    return NULL;
}

/* In the name of `verb` (NULL: mallab), with the nearest one. Returns CLI_MISUSE. */
static int refuse_verb(const struct cli_verb *verb, const char *name)
{
    struct cli_similar similar = {0};
    for (const struct cli_verb *const *one = VERBS; *one != NULL; one++)
        cli_similar_offer(&similar, name, (*one)->name);
    if (name[0] == '-')
        return cli_misuse(verb, "unknown option '%s': a verb comes first", name);
    if (similar.word != NULL)
        return cli_misuse(verb, "unknown verb '%s': did you mean '%s'?", name, similar.word);
    return cli_misuse(verb, "unknown verb '%s'", name);
}

static void print_verbs(FILE *out)
{
    fprintf(out, "usage: mallab VERB [OPTION...] [ARGUMENT...]\n\n"
                 "Record what a program asks of malloc, replay it on other allocators, and say\n"
                 "which one serves it best.\n\n");
    for (const struct cli_verb *const *verb = VERBS; *verb != NULL; verb++)
        fprintf(out, "  %-12s%s\n", (*verb)->name, (*verb)->summary);
    fprintf(out, "\n  --version   print the version\n"
                 "  -h, --help  print this help\n"
                 "\n"
                 "example: mallab ab -- sqlite3 :memory: 'SELECT 1'\n"
                 "'mallab help VERB' and the man page mallab-VERB(1) tell more of each.\n");
}

static int run_help(int argc, char **argv)
{
    struct cli_operands operands;
    const int code = cli_options_take(&CLI_HELP, argc, argv, NULL, &operands);
    if (code >= 0)
        return code;
    if (operands.count > 1)
        return cli_misuse(&CLI_HELP, "one verb at a time");
    if (operands.count == 0) {
        print_verbs(stdout);
        return CLI_DONE;
    }
    const struct cli_verb *verb = find_verb(operands.words[0]);
    if (verb == NULL)
        return refuse_verb(&CLI_HELP, operands.words[0]);
    cli_put_own(cli_option_help(verb));
    return CLI_DONE;
}

const struct cli_verb CLI_HELP = {
    .name = "help",
    .summary = "print the help of a verb",
    .usage = "[VERB]",
    .purpose = "Print the help of a verb, or the list of verbs.",
    .examples = "mallab help ab",
    .exit_codes = "0 done, 2 misuse",
    .run = run_help,
};

/* ---- what may stand where on a command line, for the shells' completions (completion/) --------- */

/* Print a word, if it begins as `typed` does. before: what of the word on the command line is no
 * part of it, "--format=". */
static void offer(const char *typed, const char *before, const char *word, const char *description)
{
    if (strncmp(word, typed, strlen(typed)) == 0)
        printf("%s%s\t%s\n", before, word, description != NULL ? description : "");
}

static void offer_verbs(const char *typed)
{
    for (const struct cli_verb *const *verb = VERBS; *verb != NULL; verb++)
        offer(typed, "", (*verb)->name, (*verb)->summary);
}

/* ---- candidates and budgets ----------------------------------------------------------------- */

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
        const struct res_range *range = &candidate->ranges[i];
        const size_t length = strlen(range->setting);
        char *name = res_printf("%s=", range->setting);
        if (equals == NULL)
            offer(typed, stem, name, range->text);
        else if ((size_t)(equals - typed) == length && strncmp(typed, range->setting, length) == 0)
            for (size_t k = 0; k < range->value_count; k++) {
                char *whole = res_printf("%s%s", name, range->values[k]);
                offer(typed, stem, whole, NULL);
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
                offer(typed, stem, one->name, one->description);
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

static void offer_metrics(const char *typed, const char *stem)
{
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
        offer(typed, stem, res_metric_name((enum res_metric)metric),
              res_metric_unit_name((enum res_metric)metric));
}

static void offer_budget_candidates(const char *typed, const char *stem)
{
    struct res_registry registry = {0};
    if (cli_registry_load(NULL, &registry) == CLI_DONE) {
        for (size_t i = 0; i < registry.candidate_count; i++) {
            const struct res_candidate *candidate = registry.candidates[i];
            char *word = res_printf("%s:", candidate->name);
            offer(typed, stem, word, candidate->description);
            free(word);
        }
    }
    res_registry_release(&registry);
}

/* A budget names metrics, and candidates with a colon behind. The limit is left to the user, who
 * has to quote its '<'. */
static void offer_budget(const char *before, const char *word)
{
    const char *comma = strrchr(word, ','), *item = comma != NULL ? comma + 1 : word;
    const char *colon = strchr(item, ':'), *typed = colon != NULL ? colon + 1 : item;
    char *stem = res_printf("%s%.*s", before, (int)(typed - word), word);
    if (strchr(item, '<') == NULL) {
        offer_metrics(typed, stem);
        if (colon == NULL)
            offer_budget_candidates(typed, stem);
    }
    printf(":nospace\n:files ini\n");
    free(stem);
}

/* ---- options --------------------------------------------------------------------------------- */

/* before: what of the word is no part of the value, "--format=". */
static void offer_value(const struct cli_option *row, const char *before, const char *typed)
{
    const char *argument = row->argument, *word, *meaning;
    size_t length;
    const bool in_brackets = argument[0] == '[';
    if (row->offer == CLI_OFFER_CANDIDATE || row->offer == CLI_OFFER_CANDIDATES)
        offer_candidates(before, typed, row->offer == CLI_OFFER_CANDIDATES);
    else if (row->offer == CLI_OFFER_BUDGET)
        offer_budget(before, typed);
    else if (strcmp(argument, "DIR") == 0)
        printf(":directories\n");
    else if (strncmp(argument + in_brackets, "FILE", 4) == 0 || strcmp(argument, "OUT") == 0 ||
             strcmp(argument, "OLD") == 0)
        printf(":files\n");
    for (size_t i = 0; cli_option_value(row, i, &word, &length, &meaning); i++) {
        char *copy = res_strndup(word, length);
        offer(typed, before, copy, meaning);
        free(copy);
    }
}

/* A list of rows, with the verb that it is of. */
struct rows {
    const struct cli_verb *verb;
    struct cli_option list[CLI_OPTIONS_MAX];
    size_t count;
};

/* "--output" or "-o", length bytes of it; NULL: no such option. */
static const struct cli_option *find(const struct rows *rows, const char *word, size_t length)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct cli_option *row = &rows->list[i];
        if (row->letter != '\0' && length == 2 && word[0] == '-' && word[1] == row->letter)
            return row;
        if (row->name != NULL && length == strlen(row->name) + 2 && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, row->name, length - 2) == 0)
            return row;
    }
    return NULL;
}

static void offer_options(const struct rows *rows, const char *typed)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct cli_option *row = &rows->list[i];
        const char letter[] = {'-', row->letter, '\0'};
        if (row->name == NULL)
            continue;
        if (row->letter != '\0')
            offer(typed, "", letter, row->help);
        char *name = res_printf("--%s", row->name);
        offer(typed, "", name, row->help);
        free(name);
    }
}

/* The option whose value the word behind these is; NULL: it is a word of its own. ret_command: "--"
 * was among them. */
static const struct cli_option *waiting(const struct rows *rows, int count, char **words, bool *ret_command)
{
    const struct cli_option *option = NULL;
    *ret_command = false;
    for (int i = 0; i < count; i++) { /* an option's value is no option */
        const struct cli_option *one = option == NULL ? find(rows, words[i], strlen(words[i])) : NULL;
        *ret_command |= option == NULL && strcmp(words[i], "--") == 0;
        option = one != NULL && one->argument != NULL && one->argument[0] != '[' ? one : NULL;
    }
    return option;
}

static void complete_word(const struct rows *rows, int count, char **words)
{
    const char *typed = words[count - 1];
    const char *equals = strchr(typed, '=');
    bool command;
    const struct cli_option *option = waiting(rows, count - 1, words, &command);
    if (command) {
        printf(":command\n");
    } else if (option != NULL) {
        offer_value(option, "", typed);
    } else if (strncmp(typed, "--", 2) == 0 && equals != NULL) {
        option = find(rows, typed, (size_t)(equals - typed));
        char *before = res_strndup(typed, (size_t)(equals - typed) + 1);
        if (option != NULL && option->argument != NULL)
            offer_value(option, before, equals + 1);
        free(before);
    } else if (typed[0] == '-') {
        offer_options(rows, typed);
    } else if (strcmp(rows->verb->name, "help") == 0) {
        offer_verbs(typed);
    } else if (rows->verb->completes != NULL) {
        printf("%s\n", rows->verb->completes);
    }
}

/* Print what the last of these words may become, on a line each: the whole word, and after a tab what it is; and directives,
 * which begin with a colon:
 *   :files EXT...   files of these endings (all, where there are none) and directories
 *   :directories    directories
 *   :nospace        more may follow the word at once
 *   :command        a command line of its own begins behind the word '--'
 * Returns an exit code; nothing to offer is no failure. */
static int complete(int count, char **words)
{
    const struct cli_verb *verb = find_verb(words[0]);
    if (count == 1) {
        offer_verbs(words[0]);
        offer(words[0], "", "--help", "print the list of verbs");
        offer(words[0], "", "--version", "print the version");
        return CLI_DONE;
    }
    if (verb == NULL)
        return CLI_DONE;
    struct rows rows = {.verb = verb};
    rows.count = cli_option_list(verb, rows.list);
    complete_word(&rows, count - 1, words + 1);
    return CLI_DONE;
}

/* ---- the program ------------------------------------------------------------------------------ */

static int run_verb(int argc, char **argv)
{
    const struct cli_verb *verb = find_verb(argv[0]);
    if (verb == NULL)
        return refuse_verb(NULL, argv[0]);
    optind = 0; /* glibc: start anew, for another argv */
    return verb->run(argc, argv);
}

/* The options of a verb for its man page (docs/man/make_page.py). */
static int print_roff(const char *name)
{
    const struct cli_verb *verb = find_verb(name);
    if (verb == NULL)
        return refuse_verb(NULL, name);
    cli_put_own(cli_option_roff(verb));
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    int code;
    if (argc == 3 && strcmp(argv[1], RES_LIBRARY_PROBE) == 0)
        return res_library_answer(argv[2]);
    (void)setlocale(LC_CTYPE, ""); /* an unknown locale leaves "C", which is what we then print for */
    if (argc < 2) {
        print_verbs(stderr);
        code = CLI_MISUSE;
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_verbs(stdout);
        code = CLI_DONE;
    } else if (strcmp(argv[1], "--version") == 0) {
        printf("mallab " MALLAB_VERSION "\n");
        code = CLI_DONE;
    } else if (strcmp(argv[1], CLI_COMPLETE) == 0 && argc > 2) {
        code = complete(argc - 2, argv + 2);
    } else if (strcmp(argv[1], CLI_ROFF) == 0 && argc == 3) {
        code = print_roff(argv[2]);
    } else {
        code = run_verb(argc - 1, argv + 1);
    }
    return cli_stdout_end(code);
}
