/* progress.c - how far, how fast, how long still. */
#include "cli/base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/support.h"

#include "footprint/base/clock.h"
#include "footprint/base/words.h"

#define FIRST_AFTER_NS UINT64_C(1000000000)
#define STEP_NS        UINT64_C(100000000)

void cli_progress_begin(struct cli_progress *progress, bool quiet)
{
    *progress = (struct cli_progress){
        .enabled = !quiet && isatty(STDERR_FILENO) == 1,
        .begin_ns = fp_now_ns(),
    };
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
