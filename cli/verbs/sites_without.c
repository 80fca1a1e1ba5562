/* sites_without.c - two workloads, an experiment, a table. */
#include "cli/verbs/sites_without.h"

#include <math.h>
#include <stdlib.h>

#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/options/choice.h"
#include "cli/verbs/convert_each.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/result_files.h"
#include "footprint/base/words.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"

enum { WITH, WITHOUT, BOTH };

struct measuring {
    const struct cli_verb *verb;
    const struct cli_sites *reading;
    struct cli_choice choice;
    char *paths[BOTH];
    struct res_workload workloads[BOTH];
    struct cli_progress progress;
};

/* ---- workloads ------------------------------------------------------------------------------- */

static int make_workload(struct measuring *measuring, const char *directory, unsigned which,
                         const struct conv_without *without)
{
    struct conv_options options = measuring->reading->convert;
    options.select.without = without;
    options.overwrite = true;
    measuring->paths[which] = res_printf("%s/%s.wl", directory, without != NULL ? "without" : "with");
    int code = cli_convert_file(measuring->verb, measuring->reading->path, measuring->paths[which], &options,
                                true, measuring->reading->answer.progress, NULL);
    if (code == CLI_DONE)
        code = cli_workload_facts(measuring->verb, measuring->paths[which], measuring->reading->path,
                                  &measuring->workloads[which]);
    measuring->workloads[which].name = without != NULL ? "without" : "with";
    return code;
}

static int make_workloads(struct measuring *measuring, const struct conv_without *without)
{
    const char *directory;
    int code = cli_work_directory(measuring->verb, NULL, &directory);
    if (code == CLI_DONE)
        code = make_workload(measuring, directory, WITH, NULL);
    return code == CLI_DONE ? make_workload(measuring, directory, WITHOUT, without) : code;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* How far two measurements of one allocator on one workload may lie apart: what the control differs from the baseline by, and
 * what its own rounds do. */
static double spread_of(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const double control = fabs(workload->control.figures.peak_bytes -
                                workload->candidates[0].figures.peak_bytes);
    const double own = 2 * entry->figures.peak_deviation;
    return isfinite(control) && control > own ? control : own;
}

static void add_bytes(struct res_grid *grid, double bytes, bool is_table)
{
    if (!is_table)
        res_grid_number(grid, bytes);
    else if (isfinite(bytes))
        res_grid_own(grid, res_printf("%s%s", bytes < 0 ? "-" : "", FP_BYTES((uint64_t)fabs(bytes))));
    else
        res_grid_add(grid, "-");
}

/* Returns false where nothing is shown to be saved. */
static bool add_row(struct res_grid *grid, const struct res_result *result, size_t number, bool is_table)
{
    const struct res_result_entry *with = &result->workloads[WITH].candidates[number],
                                  *without = &result->workloads[WITHOUT].candidates[number];
    const double saved = with->figures.peak_bytes - without->figures.peak_bytes;
    const double spread = spread_of(&result->workloads[WITH], with) +
                          spread_of(&result->workloads[WITHOUT], without);
    const bool ran = with->failed == NULL && without->failed == NULL;
    res_grid_add(grid, with->name);
    add_bytes(grid, with->failed == NULL ? with->figures.peak_bytes : NAN, is_table);
    add_bytes(grid, without->failed == NULL ? without->figures.peak_bytes : NAN, is_table);
    const bool is_shown = !ran || fabs(saved) > spread;
    if (is_table && !is_shown)
        res_grid_add(grid, "not shown");
    else
        add_bytes(grid, ran ? saved : NAN, is_table);
    add_bytes(grid, ran ? spread : NAN, is_table);
    return is_shown;
}

static char *table_of(const struct measuring *measuring, const struct cli_without *without,
                      const struct res_result *result, bool is_table)
{
    const struct res_column columns[] = {
        {.heading = "allocator"},
        {.heading = is_table ? "with" : "peak_bytes", .right = true, .gap = 2},
        {.heading = is_table ? "without" : "without_bytes", .right = true, .gap = 2},
        {.heading = is_table ? "saved" : "saved_bytes", .right = true, .gap = 2},
        {.heading = is_table ? "spread" : "spread_bytes", .right = true, .gap = 2},
    };
    const struct res_workload *both = measuring->workloads;
    const struct res_style style = {0};
    struct res_text text = {0};
    struct res_grid grid;
    size_t hidden = 0;
    res_grid_begin(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < result->workloads[WITH].candidate_count; i++)
        hidden += !add_row(&grid, result, i, is_table);
    if (!is_table) {
        res_grid_csv(&grid, &text);
    } else {
        char *words = res_text_plain(without->all), *program = res_text_plain(both[WITH].program);
        res_text_printf(&text, "%s: resident memory at its peak, with and without call sites of '%s'\n\n",
                        program[0] != '\0' ? program : "process", words);
        res_grid_text(&grid, &style, &text);
        res_text_printf(&text, "\n");
        res_lines_printf(&text, "asked for", "%s live at the peak with them, %s without",
                         FP_BYTES(both[WITH].live_peak_bytes), FP_BYTES(both[WITHOUT].live_peak_bytes));
        res_lines_printf(
            &text, "saved", "%smemory of earlier phases that the sites only used again stays",
            hidden > 0 ? "not shown: no more than the spread, by which replays of the same differ; " : "");
        free(words);
        free(program);
    }
    res_grid_release(&grid);
    return text.text;
}

/* ---- the experiment ------------------------------------------------------------------------------ */

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct measuring *measuring = context;
    char *words = res_printf("replaying %s them, %s", workload->name, entry);
    (void)round;
    cli_progress_show(&measuring->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static bool tell_failed(const struct measuring *measuring, const struct res_experiment *experiment)
{
    bool failed = false;
    for (size_t i = 0; i < experiment->trial_count; i++)
        for (size_t k = 0; k < experiment->trials[i].entry_count; k++) {
            const struct res_entry *entry = &experiment->trials[i].entries[k];
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(measuring->verb, "%s them: %s failed: %s", experiment->trials[i].workload->name,
                    entry->candidate->name, entry->failed);
        }
    return failed;
}

static int measure_both(struct measuring *measuring, const struct cli_measure *measure,
                        const struct cli_without *without)
{
    const struct cli_answer *answer = &measuring->reading->answer;
    const unsigned rounds = measure->rounds > 0 ? (unsigned)measure->rounds : RES_MEMORY_PASSES;
    const struct res_options options = {
        .workloads = measuring->workloads,
        .workload_count = BOTH,
        .candidates = measuring->choice.candidates,
        .candidate_count = measuring->choice.candidate_count,
        .rounds = rounds,
        .memory_rounds = rounds,
        .seed = measure->seed,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = measuring,
    };
    struct res_experiment experiment;
    int code = CLI_DONE;
    cli_progress_begin(&measuring->progress, answer->progress);
    res_experiment_run(&options, &experiment);
    cli_progress_end(&measuring->progress);
    const bool failed = tell_failed(measuring, &experiment);
    if (experiment.stopped || experiment.trial_count < BOTH) {
        cli_say(measuring->verb, "stopped before all replays were made: there is no result");
        code = CLI_FAILED;
    } else {
        struct res_result result;
        res_result_of_experiment(&experiment, measuring->choice.missing, measuring->choice.missing_count,
                                 &result);
        char *text = table_of(measuring, without, &result, answer->format != CLI_FORMAT_CSV);
        code = cli_answer_write(measuring->verb, answer, text);
        free(text);
        res_result_release(&result);
    }
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

int cli_sites_without(const struct cli_verb *verb, const struct cli_sites *reading,
                      const struct cli_measure *measure, struct cli_without *without)
{
    struct measuring measuring = {.verb = verb, .reading = reading};
    if (reading->answer.format == CLI_FORMAT_JSON)
        return cli_misuse(verb, "--without prints a table or CSV");
    if (cli_is_group(reading->path, &reading->convert))
        return cli_misuse(verb, "--without takes one process: choose it with --process PID");
    int code = cli_without_find(verb, reading, reading->answer.quiet, without);
    if (code == CLI_DONE)
        code = cli_choose(verb, measure->allocators, measure->baseline, &measuring.choice);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = make_workloads(&measuring, &without->without);
    }
    if (code == CLI_DONE)
        code = measure_both(&measuring, measure, without);
    cli_choice_release(&measuring.choice);
    for (unsigned i = 0; i < BOTH; i++)
        free(measuring.paths[i]);
    cli_stops_end();
    return code;
}
