/* say.c - words to the user and from it: messages, how far long work is, numbers, similar words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"

void cli_say(const struct cli_verb *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    res_say_list(verb != NULL ? verb->name : NULL, format, list);
    va_end(list);
}

int cli_misuse(const struct cli_verb *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    res_say_list(verb != NULL ? verb->name : NULL, format, list);
    va_end(list);
    if (verb == NULL || strcmp(verb->name, "help") == 0)
        fprintf(stderr, "'mallab help' lists the verbs\n");
    else
        fprintf(stderr, "'mallab help %s' says how it is used\n", verb->name);
    return CLI_MISUSE;
}

int cli_say_problem(const struct cli_verb *verb, char *problem)
{
    cli_say(verb, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

/* ---- progress --------------------------------------------------------------------------------- */

#define FIRST_AFTER_NS UINT64_C(1000000000)
#define STEP_NS        UINT64_C(100000000)

void cli_progress_begin(struct cli_progress *progress, bool quiet)
{
    *progress = (struct cli_progress){
        .enabled = !quiet && isatty(STDERR_FILENO) == 1,
        .begin_ns = fp_now_ns(),
    };
}

static void show_events(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    struct cli_progress *progress = data;
    cli_progress_show(progress, progress->what, "events", events, done, total);
}

void cli_progress_of(struct cli_progress *progress, const char *what, bool quiet,
                     struct conv_options *options)
{
    cli_progress_begin(progress, quiet);
    progress->what = what;
    options->progress = show_events;
    options->progress_data = progress;
}

void cli_progress_show(struct cli_progress *progress, const char *what, const char *unit, uint64_t count,
                       uint64_t done, uint64_t total)
{
    const uint64_t now = fp_now_ns();
    const uint64_t elapsed = now - progress->begin_ns;
    char remaining[32];
    struct res_text line = {0};
    if (!progress->enabled || elapsed < FIRST_AFTER_NS || now - progress->last_ns < STEP_NS)
        return;
    progress->last_ns = now;
    progress->shown = true;
    res_text_printf(&line, "%s", what);
    if (total > 0 && done <= total)
        res_text_printf(&line, ", %.0f %%", (double)done * 100 / (double)total);
    if (unit != NULL)
        res_text_printf(&line, ", %s %s/s", FP_GROUPED(((double)count * 1e9 / (double)elapsed)), unit);
    if (total > 0 && done > 0 && done <= total) {
        const double left_ns = (double)elapsed * (double)(total - done) / (double)done;
        res_text_printf(&line, ", %s left", res_text_duration(left_ns < 1e9 ? 1e9 : left_ns, remaining));
    }
    fprintf(stderr, "\r%s\033[K", line.text);
    fflush(stderr);
    free(line.text);
}

void cli_progress_end(struct cli_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}

/* ---- numbers of the command line, and the word that was probably meant -------------------------- */

/* Digits with at most one point among them; strtod alone would take "inf", "0x10" and blanks. */
static bool parse_decimal(const char *text, double *ret_value, const char **ret_rest)
{
    const size_t whole = strspn(text, "0123456789");
    const size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 1;
    char *rest;
    if (whole == 0 || whole > 18 || part == 0 || part > 9)
        return false;
    *ret_value = strtod(text, &rest);
    *ret_rest = rest;
    return rest == text + whole + (text[whole] == '.' ? 1 + part : 0);
}

struct unit {
    const char *name;
    double factor;
};

static bool parse_with_unit(const char *text, const struct unit *units, size_t unit_count,
                            uint64_t *ret_value)
{
    double value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest))
        return false;
    for (size_t i = 0; i < unit_count; i++) {
        if (strcasecmp(rest, units[i].name) == 0) {
            const double product = round(value * units[i].factor);
            if (product < 1 || product >= 9.2e18) /* what JSON and off_t hold */
                return false;
            *ret_value = (uint64_t)product;
            return true;
        }
    }
    return false;
}

bool cli_parse_size(const char *text, uint64_t *ret_bytes)
{
    static const struct unit units[] = {
        {"", 1},         {"B", 1},      {"K", 1024},     {"KiB", 1024}, {"M", 0x1p20},
        {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30}, {"T", 0x1p40}, {"TiB", 0x1p40},
    };
    return parse_with_unit(text, units, sizeof units / sizeof units[0], ret_bytes);
}

bool cli_parse_duration(const char *text, uint64_t *ret_ns)
{
    static const struct unit units[] = {
        {"", 1e9},   {"s", 1e9},    {"ms", 1e6},   {"us", 1e3},    {"ns", 1},
        {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9},
    };
    return parse_with_unit(text, units, sizeof units / sizeof units[0], ret_ns);
}

bool cli_parse_percent(const char *text, double *ret_share)
{
    double percent;
    const char *rest;
    if (!parse_decimal(text, &percent, &rest) || percent > 100 || strcmp(rest, "%") != 0)
        return false;
    *ret_share = percent / 100;
    return true;
}

bool cli_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret_count)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 19 || strspn(text, "0123456789") != length)
        return false;
    const uint64_t count = strtoull(text, NULL, 10);
    if (count < least || count > most)
        return false;
    *ret_count = count;
    return true;
}

uint64_t cli_draw_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)now.tv_sec;
    }
    return seed % 1000000000; /* short enough to be typed again */
}

/* ---- the word that was probably meant --------------------------------------------------------- */

bool cli_is_near(const char *typed, const char *offered)
{
    size_t begin = 0;
    while (typed[begin] != '\0' && typed[begin] == offered[begin])
        begin++;
    size_t own = strlen(typed + begin), other = strlen(offered + begin);
    while (own > 0 && other > 0 && typed[begin + own - 1] == offered[begin + other - 1]) {
        own--;
        other--;
    }
    return (own == other ? own <= 2 : own + other <= 2) && own < strlen(typed);
}
