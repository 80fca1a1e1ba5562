/* test_cli_complete - options and the words that they take, read from help texts. */
#include "cli/complete/complete.h"
#include "harness.h"

static const char HELP[] = "usage: mallab x [OPTION...] FILE\n"
                           "\n"
                           "Text - with a dash.\n"
                           "\n"
                           "how\n"
                           "  -a, --all LIST         names, between\n"
                           "                         commas [all]\n"
                           "      --each[=LIST]      each\n"
                           "      --stop, --start    pause, go on\n"
                           "      --color WHEN       auto, always or never [auto]\n"
                           "  -1                     one\n"
                           "\n"
                           "  - no option\n"
                           "example: mallab x -a\n";

TEST(options_of_a_help_text)
{
    static const struct {
        const char *name, *value, *description;
        bool optional;
    } expected[] = {
        {"-a", "LIST", "names, between commas [all]", false},
        {"--all", "LIST", "names, between commas [all]", false},
        {"--each", "LIST", "each", true},
        {"--stop", NULL, "pause, go on", false},
        {"--start", NULL, "pause, go on", false},
        {"--color", "WHEN", "auto, always or never [auto]", false},
        {"-1", NULL, "one", false},
    };
    struct cli_help_options options;
    cli_help_options_read(HELP, &options);
    CHECK_U64(options.count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < options.count && i < sizeof expected / sizeof expected[0]; i++) {
        CHECK_STR(options.list[i].name, expected[i].name);
        CHECK_STR(options.list[i].value != NULL ? options.list[i].value : "",
                  expected[i].value != NULL ? expected[i].value : "");
        CHECK_STR(options.list[i].description, expected[i].description);
        CHECK(options.list[i].optional == expected[i].optional);
    }
    cli_help_options_release(&options);
}

TEST(nothing_to_read)
{
    static const char *const texts[] = {"", "\n", "  -", "  --", "no options"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct cli_help_options options;
        cli_help_options_read(texts[i], &options);
        for (size_t k = 0; k < options.count; k++)
            CHECK(options.list[k].name[0] == '-');
        cli_help_options_release(&options);
    }
}

TEST(words_that_a_description_lists)
{
    static const struct {
        const char *description, *words;
    } cases[] = {
        {"auto, always or never [auto]", "auto always never"},
        {"auto, always or never, for tables [auto]", "auto always never"},
        {"table, md (Markdown), csv or json [table]", "table md csv json"},
        {"workload, text, csv, 2009, glibc-wl [workload]", "workload text csv 2009 glibc-wl"},
        {"what is written: none, page (a byte per page) or full [page]", "none page full"},
        {"when it is full: 'wait' for it, or 'drop' what comes [wait]", "wait drop"},
        {"one of 'mallab help convert' [found out]", ""},
        {"no; auto: each on its own; or 0,2-3 [no]", ""},
        {"a name", ""},
        {"(unclosed", ""},
        {"it's", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *words = cli_help_choices(cases[i].description);
        CHECK_STR(words, cases[i].words);
        free(words);
    }
}

RUN_TESTS(T(options_of_a_help_text), T(nothing_to_read), T(words_that_a_description_lists))
