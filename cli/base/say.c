/* say.c - messages, and the line that says how far long work is. */
#include "cli/base/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
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
