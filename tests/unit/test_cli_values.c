/* test_cli_values.c - rows of options to settings, to a list, to help and to a man page; sizes, durations, counts and times as users write them, and
 * everything that is none; which word was meant by one that is nothing; what the progress line says. */
#include <fcntl.h>
#include <getopt.h>
#include <stddef.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "unit/harness.h"

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
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
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

TEST(help_and_rows)
{
    OWNED_TEXT *help = cli_option_help(&VERB, true), *rows = cli_option_rows(&VERB);
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
    CHECK(strstr(rows, "heading\tfirst\noption\tf\tflag\t\ta flag\n") != NULL);
    CHECK(strstr(rows, "option\t\tmaybe\t[LIST]\tmaybe\n") != NULL);
    CHECK(strstr(rows, "one of:\nvalue\tcat\tit purrs\nvalue\tdog\tit barks\n") != NULL);
}

static uint64_t size_of(const char *text)
{
    uint64_t bytes = 0; /* what is refused is left at 0, which no size is */
    CHECK(cli_parse_size(text, &bytes) == (bytes != 0));
    return bytes;
}

static uint64_t duration_of(const char *text)
{
    uint64_t ns = 0;
    CHECK(cli_parse_duration(text, &ns) == (ns != 0));
    return ns;
}

TEST(sizes_are_powers_of_1024)
{
    CHECK_U64(size_of("1"), 1);
    CHECK_U64(size_of("4096"), 4096);
    CHECK_U64(size_of("64K"), 65536);
    CHECK_U64(size_of("64k"), 65536);
    CHECK_U64(size_of("1.5M"), 1572864);
    CHECK_U64(size_of("2GiB"), UINT64_C(2147483648));
    CHECK_U64(size_of("1T"), UINT64_C(1) << 40);
    CHECK_U64(size_of("0.5K"), 512);
}

TEST(what_is_no_size_is_refused)
{
    static const char *const wrong[] = {"",         "0",
                                        "-1",       "+1",
                                        " 1",       "1 K",
                                        "K",        "1.K",
                                        ".5K",      "1KB2",
                                        "0x10",     "1e3",
                                        "inf",      "nan",
                                        "1..5",     "1,5K",
                                        "10P",      "0.1",
                                        "1Q",       "99999999999999999999",
                                        "9999999T", "1.0000000001K"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (size_of(wrong[i]) != 0)
            HARNESS_FAIL("'%s' was taken for a size", wrong[i]);
    }
}

TEST(durations_have_seconds_as_their_unit)
{
    CHECK_U64(duration_of("90"), UINT64_C(90000000000));
    CHECK_U64(duration_of("90s"), UINT64_C(90000000000));
    CHECK_U64(duration_of("1.5s"), UINT64_C(1500000000));
    CHECK_U64(duration_of("250ms"), 250000000);
    CHECK_U64(duration_of("7us"), 7000);
    CHECK_U64(duration_of("1ns"), 1);
    CHECK_U64(duration_of("5m"), UINT64_C(300000000000));
    CHECK_U64(duration_of("8h"), UINT64_C(28800000000000));
    CHECK_U64(duration_of("2d"), UINT64_C(172800000000000));
}

TEST(what_is_no_duration_is_refused)
{
    static const char *const wrong[] = {"",   "0",     "0s",         "-5s", "s",    "5 s",
                                        "5x", "1h30m", "999999999d", "1e9", "0.1ns"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        if (duration_of(wrong[i]) != 0)
            HARNESS_FAIL("'%s' was taken for a duration", wrong[i]);
    }
}

TEST(counts_stay_between_their_bounds)
{
    uint64_t count = 77;
    CHECK(cli_parse_count("1", 1, 10, &count));
    CHECK_U64(count, 1);
    CHECK(cli_parse_count("10", 1, 10, &count));
    CHECK_U64(count, 10);
    CHECK(!cli_parse_count("0", 1, 10, &count));
    CHECK(!cli_parse_count("11", 1, 10, &count));
    CHECK(!cli_parse_count("", 0, 10, &count));
    CHECK(!cli_parse_count("-1", 0, UINT64_MAX, &count));
    CHECK(!cli_parse_count("1x", 0, 10, &count));
    CHECK(!cli_parse_count("18446744073709551617", 0, UINT64_MAX, &count));
    CHECK_U64(count, 10);
}

static struct conv_when when_of(const char *text)
{
    struct conv_when when = {0};
    CHECK(cli_select_parse_when(text, &when));
    return when;
}

static void check_when(const char *text, unsigned kind, uint64_t value)
{
    CHECK_U64(when_of(text).kind, kind);
    CHECK_U64(when_of(text).value, value);
}

TEST(times)
{
    static const char *const wrong[] = {"",    "x",   "-1s",  "5%%",   "101%", "1e3",     "0x1",   "%",
                                        "1.%", "1 s", "50 %", "24:00", "3:60", "3:00:60", "3:00x", ":30"};
    struct conv_when when;
    check_when("0", CONV_WHEN_TIME, 0);
    check_when("90s", CONV_WHEN_TIME, UINT64_C(90000000000));
    check_when("1.5m", CONV_WHEN_TIME, UINT64_C(90000000000));
    check_when("17ns", CONV_WHEN_TIME, 17);
    check_when("25%", CONV_WHEN_SHARE, 250000);
    check_when("0.0001%", CONV_WHEN_SHARE, 1);
    check_when("12.5%", CONV_WHEN_SHARE, 125000);
    check_when("100%", CONV_WHEN_SHARE, CONV_SHARE_WHOLE);
    check_when("03:00", CONV_WHEN_CLOCK, 3 * 3600);
    check_when("23:59:58", CONV_WHEN_CLOCK, 86398);
    check_when("end", CONV_WHEN_SHARE, CONV_SHARE_WHOLE);
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        CHECK(!cli_select_parse_when(wrong[i], &when));
}

/* What the progress line says after ten seconds of made-up time. */
static const char *line_of(const char *unit, uint64_t count, uint64_t done, uint64_t total)
{
    static char text[256];
    char name[] = "/tmp/mallab-progress-XXXXXX";
    const int saved = dup(STDERR_FILENO), fd = mkstemp(name);
    struct cli_progress progress;
    cli_progress_begin(&progress, false);
    progress.enabled = true;
    progress.begin_ns -= UINT64_C(10000000000);
    unlink(name);
    fflush(stderr);
    dup2(fd, STDERR_FILENO);
    cli_progress_show(&progress, "convert", unit, count, done, total);
    cli_progress_end(&progress);
    dup2(saved, STDERR_FILENO);
    ssize_t size = pread(fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    close(fd);
    close(saved);
    return text;
}

TEST(progress_has_share_rate_and_remaining_time)
{
    const char *line = line_of("events", 20000000, 50, 200);
    CHECK(strncmp(line, "\rconvert, 25 %, ", 16) == 0);
    CHECK(strstr(line, "events/s, ") != NULL && strstr(line, " left\033[K") != NULL);
    line = line_of("events", 20000000, 50, 0); /* a pipe */
    CHECK(strstr(line, "%") == NULL && strstr(line, "left") == NULL && strstr(line, "events/s") != NULL);
    line = line_of(NULL, 0, 1, 4);
    CHECK(strstr(line, "/s") == NULL && strstr(line, "25 %") != NULL);
}

TEST(the_nearest_word)
{
    static const char *const verbs[] = {"record", "report", "replay", "ab"};
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"recrod", "record"},
                 {"reprot", "report"},
                 {"replya", "replay"},
                 {"an", "ab"},
                 {"nosuch", ""},
                 {"x", ""},
                 {"", ""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *meant = "";
        for (size_t k = COUNT_OF(verbs); k-- > 0;)
            if (cli_is_near(cases[i].typed, verbs[k]))
                meant = verbs[k];
        CHECK_STR(meant, cases[i].meant);
    }
}
