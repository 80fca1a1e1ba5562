/* test_cli_values.c - sizes, durations, counts and times as users write them, and everything that is none; which word was meant by one that is
 * nothing; what the progress line says. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "unit/harness.h"

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
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
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
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
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

TEST(colour_is_one_of_three_words)
{
    bool colour = false;
    CHECK(cli_parse_color("always", &colour) && colour);
    CHECK(cli_parse_color("never", &colour) && !colour);
    CHECK(cli_parse_color("auto", &colour));
    CHECK(!cli_parse_color("yes", &colour));
    CHECK(!cli_parse_color("", &colour));
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
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!cli_select_parse_when(wrong[i], &when));
}

/* What the progress line says after ten seconds of made-up time. */
static const char *line_of(const char *unit, uint64_t count, uint64_t done, uint64_t total)
{
    static char text[256];
    char name[] = "/tmp/mallab-progress-XXXXXX";
    const int saved = dup(STDERR_FILENO), fd = mkstemp(name);
    struct cli_progress progress;
    ssize_t size;
    cli_progress_begin(&progress, false);
    progress.enabled = true;
    progress.begin_ns -= UINT64_C(10000000000);
    unlink(name);
    fflush(stderr);
    dup2(fd, STDERR_FILENO);
    cli_progress_show(&progress, "convert", unit, count, done, total);
    cli_progress_end(&progress);
    dup2(saved, STDERR_FILENO);
    size = pread(fd, text, sizeof text - 1, 0);
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

TEST(distances)
{
    static const struct {
        const char *word, *other;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"a", "", 1},
        {"", "abc", 3},
        {"record", "record", 0},
        {"recrod", "record", 1},
        {"recod", "record", 1},
        {"reecord", "record", 1},
        {"rexord", "record", 1},
        {"abcd", "badc", 2},
        {"kitten", "sitting", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_U64(cli_similarity(cases[i].word, cases[i].other), cases[i].distance);
        CHECK_U64(cli_similarity(cases[i].other, cases[i].word), cases[i].distance);
    }
    char many[CLI_SIMILAR_MAX + 2];
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    CHECK(cli_similarity(many, "a") == SIZE_MAX && cli_similarity("a", many) == SIZE_MAX);
    many[CLI_SIMILAR_MAX] = '\0';
    CHECK_U64(cli_similarity(many, many), 0);
}

TEST(the_nearest_word)
{
    static const char *const verbs[] = {"record", "report", "replay", "ab"};
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"recrod", "record"}, {"reprot", "report"}, {"replya", "replay"},
                 {"an", "ab"},         {"nosuch", ""},       {"x", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cli_similar similar = {0};
        for (size_t k = 0; k < sizeof verbs / sizeof verbs[0]; k++)
            cli_similar_offer(&similar, cases[i].typed, verbs[k]);
        CHECK_STR(similar.word != NULL ? similar.word : "", cases[i].meant);
    }
}
