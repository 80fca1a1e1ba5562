/* test_cli_options.c - sizes, durations and counts on the command line: units, and everything that is none. */
#include "cli/base/cli.h"
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
