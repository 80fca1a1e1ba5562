/* complete.c - where on a command line the word stands, and what may stand there. */
#include "cli/complete/complete.h"

#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/import/formats.h"
#include "results/measure/base/support.h"

void cli_complete_offer(const char *typed, const char *before, const char *word, const char *description)
{
    if (strncmp(word, typed, strlen(typed)) == 0)
        printf("%s%s\t%s\n", before, word, description != NULL ? description : "");
}

static void offer_verbs(const char *typed)
{
    for (const struct cli_verb *const *verb = cli_verbs(); *verb != NULL; verb++)
        cli_complete_offer(typed, "", (*verb)->name, (*verb)->summary);
}

static void offer_words(const char *typed, const char *before, char *words)
{
    char *rest = words;
    const char *word;
    while ((word = strsep(&rest, " ")) != NULL) {
        if (*word != '\0')
            cli_complete_offer(typed, before, word, NULL);
    }
    free(words);
}

static void offer_formats(const char *typed, const char *before)
{
    char names[1024];
    struct res_text words = {0};
    for (const char *at = conv_from_names(names, sizeof names); *at != '\0';) {
        const size_t length = strcspn(at, ", ");
        if (length > 0 && strncmp(at, "or ", 3) != 0)
            res_text_printf(&words, "%.*s ", (int)length, at);
        at += length;
        at += strspn(at, ", ");
    }
    offer_words(typed, before, words.text != NULL ? words.text : res_strdup(""));
}

/* Whose values are words, and stand in the help. */
static bool is_enumerated(const char *value)
{
    static const char *const names[] = {"WHEN", "WHAT", "HOW", "FORMAT", "CLOCK", "SPEED", "FIGURE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(value, names[i]) == 0)
            return true;
    }
    return false;
}

/* before: what of the word is no part of the value, "--format=". */
static void offer_value(const struct cli_help_option *option, const char *before, const char *typed)
{
    const char *name = option->name, *value = option->value;
    if (strcmp(name, "--from") == 0)
        offer_formats(typed, before);
    else if (strncmp(name, "--allocator", 11) == 0 || strcmp(name, "-a") == 0 ||
             strcmp(name, "--baseline") == 0 || strcmp(name, "-b") == 0)
        cli_complete_candidates(before, typed, strcmp(value, "LIST") == 0);
    else if (strcmp(name, "--budget") == 0 && strcmp(value, "BUDGET") == 0)
        cli_complete_budget(before, typed);
    else if (strcmp(value, "DIR") == 0)
        printf(":directories\n");
    else if (strncmp(value, "FILE", 4) == 0 || strncmp(value, "OUT", 3) == 0 ||
             strstr(value, ".json") != NULL)
        printf(":files\n");
    else if (is_enumerated(value))
        offer_words(typed, before, cli_help_choices(option->description));
}

static const struct cli_help_option *find(const struct cli_help_options *options, const char *name,
                                          size_t length)
{
    for (size_t i = 0; i < options->count; i++) {
        if (strlen(options->list[i].name) == length && strncmp(options->list[i].name, name, length) == 0)
            return &options->list[i];
    }
    return NULL;
}

static void offer_options(const struct cli_help_options *options, const char *typed)
{
    for (size_t i = 0; i < options->count; i++)
        cli_complete_offer(typed, "", options->list[i].name, options->list[i].description);
}

/* What a verb takes besides options, from its usage. */
static void offer_operands(const struct cli_verb *verb, const char *help, const char *typed)
{
    char *usage = res_strndup(help, strcspn(help, "\n"));
    if (strcmp(verb->name, "help") == 0)
        offer_verbs(typed);
    else if (strstr(usage, "WORKLOAD|RECORDING") != NULL)
        printf(":files wl fp\n");
    else if (strstr(usage, "WORKLOAD") != NULL)
        printf(":files wl\n");
    else if (strstr(usage, "RESULT") != NULL || strstr(usage, ".json") != NULL)
        printf(":files json\n");
    else if (strstr(usage, " RECORDING") != NULL || strstr(usage, " DIR") != NULL)
        printf(":directories\n");
    else if (strstr(usage, " IN") != NULL)
        printf(":files wl fp\n");
    else if (strstr(usage, " FILE") != NULL)
        printf(":files wl fp json\n");
    free(usage);
}

static void complete_of(const struct cli_verb *verb, const char *help, int count, char **words)
{
    struct cli_help_options options;
    const char *typed = words[count - 1];
    const char *equals = strchr(typed, '=');
    const struct cli_help_option *option = NULL;
    bool command = false;
    cli_help_options_read(help, &options);
    for (int i = 0; i + 1 < count; i++) { /* an option's value is no option */
        const struct cli_help_option *one = option == NULL ? find(&options, words[i], strlen(words[i]))
                                                           : NULL;
        command |= option == NULL && strcmp(words[i], "--") == 0;
        option = one != NULL && one->value != NULL && !one->optional ? one : NULL;
    }
    if (command) {
        printf(":command\n");
    } else if (option != NULL) {
        offer_value(option, "", typed);
    } else if (strncmp(typed, "--", 2) == 0 && equals != NULL) {
        option = find(&options, typed, (size_t)(equals - typed));
        char *before = res_strndup(typed, (size_t)(equals - typed) + 1);
        if (option != NULL && option->value != NULL)
            offer_value(option, before, equals + 1);
        free(before);
    } else if (typed[0] == '-') {
        offer_options(&options, typed);
    } else {
        offer_operands(verb, help, typed);
    }
    cli_help_options_release(&options);
}

int cli_complete(int count, char **words)
{
    const struct cli_verb *verb = cli_verb_find(words[0]);
    if (count == 1) {
        offer_verbs(words[0]);
        cli_complete_offer(words[0], "", "--help", "print the list of verbs");
        cli_complete_offer(words[0], "", "--version", "print the version");
        return CLI_DONE;
    }
    if (verb == NULL)
        return CLI_DONE;
    char *help = cli_help_text(verb);
    complete_of(verb, help, count - 1, words + 1);
    free(help);
    return CLI_DONE;
}
