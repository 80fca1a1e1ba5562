/* test_cli_select.c - times as users write them; the progress line says share, rate and remaining time. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "unit/harness.h"

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
