/* test_cli_option_table - rows to settings, to a list, to help and to a man page. */
#include <getopt.h>
#include <stddef.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "harness.h"

struct inner {
    bool plain;
    const char *word;
};

struct settings {
    bool flag;
    int set, choice;
    uint64_t count, size_bytes, duration_ns;
    const char *text, *maybe;
    struct inner inner;
};

static int take_maybe(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    *(const char **)at = value != NULL ? value : "nothing";
    return -1;
}

static bool animal(size_t number, const char **ret_word, const char **ret_meaning)
{
    static const char *const animals[][2] = {{"cat", "it purrs"}, {"dog", "it barks"}};
    if (number >= 2)
        return false;
    *ret_word = animals[number][0];
    *ret_meaning = animals[number][1];
    return true;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option INNER[] = {
    {.name = "plain", .how = CLI_FLAG, .at = offsetof(struct inner, plain), .help = "plain"},
    {.name = "word", .argument = "ANIMAL", .how = CLI_WORD, .at = offsetof(struct inner, word), .values = animal,
     .lists = true, .help = "one of:"},
    {0},
};

static const struct cli_option OPTIONS[] = {
    {.heading = "first"},
    {.name = "flag", .letter = 'f', .how = CLI_FLAG, .at = AT(flag), .help = "a flag"},
    {.name = "set", .how = CLI_SET, .least = 7, .at = AT(set), .help = "sets 7"},
    {.name = "choice", .argument = "WHAT", .how = CLI_CHOICE, .at = AT(choice), .words = "a bc d",
     .help = "a, bc or d"},
    {.name = "count", .letter = 'n', .argument = "N", .how = CLI_COUNT, .at = AT(count), .least = 2, .most = 9,
     .help = "a number of things that is told in more words than stand on one line of eighty columns [2]"},
    {.name = "size-of-what-there-is", .argument = "SIZE", .how = CLI_SIZE, .at = AT(size_bytes), .help = "a size"},
    {.name = "time", .argument = "T", .how = CLI_DURATION, .at = AT(duration_ns), .zero = true, .least = 5000,
     .help = "a time"},
    {.name = "text", .argument = "WORDS", .how = CLI_TEXT, .at = AT(text), .help = "a text"},
    {.name = "maybe", .argument = "[LIST]", .how = CLI_CALL, .at = AT(maybe), .take = take_maybe, .help = "maybe"},
    {.heading = "second"},
    {.group = INNER, .at = AT(inner), .help = "as it is here"},
    {0},
};
/* clang-format on */

static const struct cli_verb VERB = {
    .name = "x",
    .usage = "[OPTION...] FILE\n[OPTION...] DIR",
    .purpose = "Does it.",
    .options = OPTIONS,
    .notes = "A note.",
    .examples = "mallab x a\nmallab x b",
    .exit_codes = "0 done",
    .takes_any = true,
};

/* A command line with blanks between its words. Strings in settings and operands last until the next call. */
static int taken(const struct cli_verb *verb, const char *line, struct settings *settings,
                 struct cli_operands *operands)
{
    static char copy[256];
    static char *words[32];
    char *rest = copy;
    int count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    while ((words[count] = strsep(&rest, " ")) != NULL)
        count++;
    *settings = (struct settings){0};
    *operands = (struct cli_operands){0};
    optind = 0;
    return cli_options_take(verb, count, words, settings, operands);
}

TEST(every_kind_of_value)
{
    struct settings settings;
    struct cli_operands operands;
    CHECK(taken(&VERB,
                "x -f --set --choice=bc -n 9 --size-of-what-there-is=2K --time 1ms --text -f --maybe=1,2 "
                "--plain --word dog "
                "operand",
                &settings, &operands) == -1);
    CHECK(settings.flag && settings.inner.plain);
    CHECK_U64(settings.set, 7);
    CHECK_U64(settings.choice, 1);
    CHECK_U64(settings.count, 9);
    CHECK_U64(settings.size_bytes, 2048);
    CHECK_U64(settings.duration_ns, 1000000);
    CHECK_STR(settings.text, "-f");
    CHECK_STR(settings.maybe, "1,2");
    CHECK_STR(settings.inner.word, "dog");
    CHECK_U64(operands.count, 1);
    CHECK_STR(operands.words[0], "operand");
    CHECK(taken(&VERB, "x --maybe --time=0", &settings, &operands) == -1);
    CHECK_STR(settings.maybe, "nothing");
}

TEST(wrong_values_are_misuse_and_change_nothing)
{
    static const char *const wrong[] = {
        "--choice=b", "--choice=",  "--count=1",  "--count=10",     "--count=x", "--time=4us", "--time=x",
        "--word=",    "--word=cow", "--flag=yes", "--nosuchoption", "-Z",        "--text"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct settings settings;
        struct cli_operands operands;
        char line[64];
        snprintf(line, sizeof line, "x %s", wrong[i]);
        if (taken(&VERB, line, &settings, &operands) != CLI_MISUSE)
            HARNESS_FAIL("'%s' was taken", wrong[i]);
        CHECK(settings.count == 0 && settings.duration_ns == 0 && settings.choice == 0 && !settings.flag);
    }
}

TEST(where_the_command_stands)
{
    struct settings settings;
    struct cli_operands operands;
    struct cli_verb verb = VERB;
    verb.command_at = CLI_COMMAND_IS_OPERANDS;
    CHECK(taken(&verb, "x -f ls --set", &settings, &operands) == -1);
    CHECK(settings.flag && settings.set == 0 && operands.count == 0);
    CHECK_STR(operands.command[1], "--set");
    verb.command_at = CLI_COMMAND_BEHIND_DASHES;
    CHECK(taken(&verb, "x file -f -- ls --set", &settings, &operands) == -1);
    CHECK(settings.flag && settings.set == 0 && operands.count == 1);
    CHECK_STR(operands.command[0], "ls");
    CHECK(taken(&verb, "x file --", &settings, &operands) == -1 && operands.command == NULL);
}

TEST(as_many_operands_as_it_takes)
{
    struct settings settings;
    struct cli_operands operands;
    struct cli_verb verb = VERB;
    verb.takes_any = false;
    CHECK(taken(&verb, "x -f", &settings, &operands) == -1);
    CHECK(taken(&verb, "x file", &settings, &operands) == CLI_MISUSE);
    verb.operand = "file";
    CHECK(taken(&verb, "x", &settings, &operands) == CLI_MISUSE);
    CHECK(taken(&verb, "x file -f", &settings, &operands) == -1);
    CHECK(taken(&verb, "x file file", &settings, &operands) == CLI_MISUSE);
}

TEST(the_list_has_groups_and_help)
{
    struct cli_option rows[CLI_OPTIONS_MAX];
    const size_t count = cli_option_list(&VERB, rows);
    CHECK_U64(count, 13);
    CHECK_STR(rows[10].name, "plain");
    CHECK_STR(rows[10].help, "as it is here");
    CHECK_U64(rows[10].at, AT(inner.plain));
    CHECK_STR(rows[12].name, "help");
}

TEST(help_and_man_page)
{
    char *help = cli_option_help(&VERB, true), *roff = cli_option_roff(&VERB);
    CHECK_STR(help, "usage: mallab x [OPTION...] FILE\n"
                    "       mallab x [OPTION...] DIR\n"
                    "\n"
                    "Does it.\n"
                    "\n"
                    "first\n"
                    "  -f, --flag             a flag\n"
                    "      --set              sets 7\n"
                    "      --choice WHAT      a, bc or d\n"
                    "  -n, --count N          a number of things that is told in more words than\n"
                    "                         stand on one line of eighty columns [2]\n"
                    "      --size-of-what-there-is SIZE\n"
                    "                         a size\n"
                    "      --time T           a time\n"
                    "      --text WORDS       a text\n"
                    "      --maybe[=LIST]     maybe\n"
                    "\n"
                    "second\n"
                    "      --plain            as it is here\n"
                    "      --word ANIMAL      one of:\n"
                    "                         cat        it purrs\n"
                    "                         dog        it barks\n"
                    "  -h, --help             print this help\n"
                    "\n"
                    "A note.\n"
                    "\n"
                    "example: mallab x a\n"
                    "         mallab x b\n"
                    "exit codes: 0 done\n");
    CHECK(strstr(roff, ".SS First\n.TP\n.BR \\-f \", \" \\-\\-flag\nA flag.\n") != NULL);
    CHECK(strstr(roff, ".BR \\-\\-maybe [=\\fILIST\\fR]\nMaybe.\n") != NULL);
    CHECK(strstr(roff, ".BR \\-\\-text \" \\fIWORDS\\fR\"\n") != NULL);
    free(help);
    free(roff);
}
