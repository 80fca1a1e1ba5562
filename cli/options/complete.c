/* complete.c - completion of a command line from the verbs' rows. */
#include "cli/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

const struct cli_verb *cli_program_verb(const struct cli_program *program, const char *name)
{
    for (const struct cli_verb *const *verb = program->verbs; *verb != NULL; verb++) {
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    }
    return NULL;
}

void cli_offer(const char *typed, const char *before, const char *word, const char *description)
{
    if (strncmp(word, typed, strlen(typed)) == 0)
        printf("%s%s\t%s\n", before, word, description != NULL ? description : "");
}

static void offer_verbs(const struct cli_program *program, const char *typed)
{
    for (const struct cli_verb *const *verb = program->verbs; *verb != NULL; verb++)
        cli_offer(typed, "", (*verb)->name, (*verb)->summary);
}

/* before: what of the word is no part of the value, "--format=". */
static void offer_value(const struct cli_program *program, const struct cli_option *row, const char *before,
                        const char *typed)
{
    const char *argument = row->argument, *word, *meaning;
    size_t length;
    const bool in_brackets = argument[0] == '[';
    if (row->offer != CLI_OFFER_BY_NAME && program->offer != NULL)
        program->offer(row->offer, before, typed);
    else if (strcmp(argument, "DIR") == 0)
        printf(":directories\n");
    else if (strncmp(argument + in_brackets, "FILE", 4) == 0 || strcmp(argument, "OUT") == 0 ||
             strcmp(argument, "OLD") == 0 || strcmp(argument, "BUDGET") == 0)
        printf(":files\n");
    for (size_t i = 0; cli_option_value(row, i, &word, &length, &meaning); i++) {
        char *copy = res_strndup(word, length);
        cli_offer(typed, before, copy, meaning);
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
            cli_offer(typed, "", letter, row->help);
        char *name = res_printf("--%s", row->name);
        cli_offer(typed, "", name, row->help);
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

static void complete_word(const struct cli_program *program, const struct rows *rows, int count, char **words)
{
    const char *typed = words[count - 1];
    const char *equals = strchr(typed, '=');
    bool command;
    const struct cli_option *option = waiting(rows, count - 1, words, &command);
    if (command) {
        printf(":command\n");
    } else if (option != NULL) {
        offer_value(program, option, "", typed);
    } else if (strncmp(typed, "--", 2) == 0 && equals != NULL) {
        option = find(rows, typed, (size_t)(equals - typed));
        char *before = res_strndup(typed, (size_t)(equals - typed) + 1);
        if (option != NULL && option->argument != NULL)
            offer_value(program, option, before, equals + 1);
        free(before);
    } else if (typed[0] == '-') {
        offer_options(rows, typed);
    } else if (strcmp(rows->verb->name, "help") == 0) {
        offer_verbs(program, typed);
    } else if (rows->verb->completes != NULL) {
        printf("%s\n", rows->verb->completes);
    }
}

int cli_complete(const struct cli_program *program, int count, char **words)
{
    const struct cli_verb *verb = cli_program_verb(program, words[0]);
    if (count == 1) {
        offer_verbs(program, words[0]);
        cli_offer(words[0], "", "--help", "print the list of verbs");
        cli_offer(words[0], "", "--version", "print the version");
        return CLI_DONE;
    }
    if (verb == NULL)
        return CLI_DONE;
    struct rows rows = {.verb = verb};
    rows.count = cli_option_list(verb, rows.list);
    complete_word(program, &rows, count - 1, words + 1);
    return CLI_DONE;
}
