/* validation_json.c - a validation as JSON. */
#include "results/measure/validate/validation_json.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/measure/validate/reality_json.h"
#include "results/measure/validate/recordings_json.h"

void res_levels_set(json_t *object, const char *part, const struct res_levels *levels)
{
    const struct {
        const char *level;
        double bytes;
    } all[] = {{"peak", levels->peak_bytes}, {"mean", levels->mean_bytes}, {"end", levels->end_bytes}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s_bytes", all[i].level, part);
        json_object_set_new(object, key, res_json_whole(all[i].bytes));
    }
}

static void set_errors(json_t *object, const char *part, const struct res_levels *errors)
{
    const struct {
        const char *level;
        double error;
    } all[] = {{"peak", errors->peak_bytes}, {"mean", errors->mean_bytes}, {"end", errors->end_bytes}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", all[i].level, part);
        json_object_set_new(object, key, res_json_number(all[i].error));
    }
}

/* ---- samples -------------------------------------------------------------------------------- */

static json_t *timed_runs(const struct res_validation_entry *entry)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < entry->timed_count; i++)
        json_array_append_new(runs,
                              json_pack("{s:o, s:o, s:o}", "wall_ns", res_json_whole(entry->timed[i].wall_ns),
                                        "user_ns", res_json_whole(entry->timed[i].user_ns), "system_ns",
                                        res_json_whole(entry->timed[i].system_ns)));
    return runs;
}

static json_t *series_of(const struct res_image *image)
{
    json_t *times = json_array(), *bytes = json_array();
    for (size_t i = 0; i < image->series_count; i++) {
        json_array_append_new(times, json_integer((json_int_t)image->series[i].time_ns));
        json_array_append_new(bytes, json_integer((json_int_t)image->series[i].anonymous_bytes));
    }
    json_t *series = json_pack("{s:o, s:o}", "time_ns", times, "anonymous_bytes", bytes);
    json_t *rest = json_array();
    for (size_t i = 0; i < image->series_count && image->has_maps; i++)
        json_array_append_new(rest, json_integer((json_int_t)image->series[i].rest_bytes));
    json_object_set_new(series, "rest_bytes", image->has_maps ? rest : json_null());
    if (!image->has_maps)
        json_decref(rest);
    return series;
}

static json_t *sampled_run(const struct res_image *image, bool with_series)
{
    json_t *run = json_object();
    json_object_set_new(run, "peak_bytes", res_json_whole((double)image->peak_bytes));
    json_object_set_new(run, "mean_bytes", res_json_whole(image->mean_bytes));
    json_object_set_new(run, "end_bytes", res_json_whole((double)image->end_bytes));
    json_object_set_new(run, "anonymous_peak_bytes", res_json_whole((double)image->anonymous_peak_bytes));
    json_object_set_new(run, "anonymous_mean_bytes", res_json_whole(image->anonymous_mean_bytes));
    json_object_set_new(run, "anonymous_end_bytes", res_json_whole((double)image->anonymous_end_bytes));
    json_object_set_new(run, "cpu_ns", res_json_whole(image->cpu_ns));
    json_object_set_new(run, "duration_ns", res_json_whole((double)(image->end_ns - image->begin_ns)));
    if (image->has_maps) {
        json_object_set_new(run, "heap_peak_bytes", res_json_whole((double)image->heap_peak_bytes));
        json_object_set_new(run, "heap_mean_bytes", res_json_whole(image->heap_mean_bytes));
        json_object_set_new(run, "heap_end_bytes", res_json_whole((double)image->heap_end_bytes));
        json_object_set_new(run, "apart_at_peak_bytes", res_json_whole((double)image->apart_at_peak_bytes));
        json_object_set_new(run, "apart_peak_bytes", res_json_whole((double)image->apart_peak_bytes));
    }
    if (with_series)
        json_object_set_new(run, "series", series_of(image));
    return run;
}

static json_t *sampled_runs(const struct res_image *images, size_t count)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(runs,
                              sampled_run(&images[i], i == 0)); /* over time, one shows as well as all */
    return runs;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static json_t *real_object(const struct res_validation_entry *entry,
                           const struct res_validation_figures *figures)
{
    json_t *object = json_object();
    res_levels_set(object, "total", &figures->memory.real_total);
    res_levels_set(object, "heap", &figures->memory.real_heap);
    json_object_set_new(object, "ranges", res_reality_ranges(figures));
    json_object_set_new(object, "disturbed_by", res_json_number(figures->disturbed_by));
    json_object_set_new(object, "wall_ns", res_json_whole(figures->wall_ns));
    json_object_set_new(object, "cpu_ns", res_json_whole(figures->cpu_ns));
    json_object_set_new(object, "process_cpu_ns", res_json_whole(figures->process_cpu_ns));
    json_object_set_new(object, "time_difference_ns", res_json_whole(figures->time.real_ns));
    json_object_set_new(object, "time_ratio", res_json_number(figures->time.ratio));
    json_object_set_new(object, "time_ratio_low", res_json_number(figures->time.interval.low));
    json_object_set_new(object, "time_ratio_high", res_json_number(figures->time.interval.high));
    json_object_set_new(object, "time_verdict", json_string(res_verdict_name(figures->time.verdict)));
    json_object_set_new(object, "startup_total_bytes", res_json_whole(figures->startup_total_bytes));
    json_object_set_new(object, "startup_heap_bytes", res_json_whole(figures->startup_heap_bytes));
    json_object_set_new(object, "timed_runs", timed_runs(entry));
    json_object_set_new(object, "sampled_runs", sampled_runs(entry->images, entry->image_count));
    json_object_set_new(object, "mapped_runs", sampled_runs(entry->mapped, entry->mapped_count));
    return object;
}

static json_t *predicted_object(const struct res_validation *validation,
                                const struct res_validation_figures *figures, size_t place)
{
    json_t *object = json_object();
    res_levels_set(object, "total", &figures->memory.predicted_total);
    res_levels_set(object, "heap", &figures->memory.predicted_heap);
    json_object_set_new(object, "time_difference_ns", res_json_whole(figures->time.predicted_ns));
    json_object_set_new(object, "recordings", res_recordings_predicted(validation, figures, place));
    return object;
}

static json_t *error_object(const struct res_validation_figures *figures)
{
    json_t *object = json_object();
    set_errors(object, "total", &figures->memory.error_total);
    set_errors(object, "heap", &figures->memory.error_heap);
    json_object_set_new(object, "heap_is_small", json_boolean(figures->heap_is_small));
    json_object_set_new(object, "beyond_reality", res_reality_beyond(figures));
    json_object_set_new(object, "time_sign", json_string(res_sign_name(figures->time.sign)));
    json_object_set_new(
        object, "time_size",
        res_json_number(figures->time.sign == RES_SIGN_RIGHT || figures->time.sign == RES_SIGN_WRONG
                            ? figures->time.predicted_ns / figures->time.real_ns - 1
                            : NAN));
    return object;
}

static json_t *candidate_object(const struct res_validation *validation, const struct res_trial *trial,
                                const struct res_validation_figures *figures, size_t place)
{
    const struct res_validation_entry *entry = &validation->entries[place];
    const char *failed = entry->failed != NULL ? entry->failed : trial->entries[place].failed;
    json_t *object = json_object();
    json_object_set_new(object, "name", res_json_text(entry->candidate->name));
    json_object_set_new(object, "failed", res_json_text(failed));
    json_object_set_new(object, "real", real_object(entry, figures));
    json_object_set_new(object, "predicted", predicted_object(validation, figures, place));
    json_object_set_new(object, "error", error_object(figures));
    return object;
}

/* ---- bars ----------------------------------------------------------------------------------- */

static void add_within(double error, double bar, size_t *checked, size_t *met)
{
    if (!isfinite(error))
        return;
    (*checked)++;
    *met += fabs(error) <= bar;
}

static json_t *bar(size_t checked, size_t met)
{
    return json_pack("{s:I, s:I}", "checked", (json_int_t)checked, "met", (json_int_t)met);
}

/* is_one: what is predicted and what is compared are one process. Else no figure says how good a prediction is. */
static json_t *bars_object(const struct res_validation_figures *figures, size_t candidates, bool is_one)
{
    const size_t count = is_one ? candidates : 0;
    size_t checked[4] = {0}, met[4] = {0};
    struct res_fidelity *memory = res_calloc(count, sizeof *memory);
    for (size_t i = 0; i < count; i++) {
        memory[i] = figures[i].memory;
        add_within(memory[i].error_total.peak_bytes, RES_BAR_TOTAL, &checked[0], &met[0]);
        add_within(memory[i].error_heap.peak_bytes, RES_BAR_HEAP, &checked[1], &met[1]);
        checked[3] += figures[i].time.sign == RES_SIGN_RIGHT || figures[i].time.sign == RES_SIGN_WRONG;
        met[3] += figures[i].time.sign == RES_SIGN_RIGHT;
    }
    res_fidelity_order(memory, count, &checked[2], &met[2]);
    free(memory);
    json_t *bars = json_object();
    json_object_set_new(bars, "peak_total", bar(checked[0], met[0]));
    json_object_set_new(bars, "peak_heap", bar(checked[1], met[1]));
    json_object_set_new(bars, "memory_order", bar(checked[2], met[2]));
    json_object_set_new(bars, "time_sign", bar(checked[3], met[3]));
    return bars;
}

static json_t *command_array(char *const *arguments)
{
    json_t *array = json_array();
    for (size_t i = 0; arguments[i] != NULL; i++)
        json_array_append_new(array, res_json_text(arguments[i]));
    return array;
}

void res_validation_add(json_t *result, const struct res_validation *validation,
                        const struct res_trial *trial, uint64_t seed)
{
    const struct res_validation_options *options = &validation->options;
    const size_t count = options->candidate_count;
    struct res_validation_figures *figures = res_calloc(count, sizeof *figures);
    const bool is_one = validation->alike <= 1;
    json_t *candidates = json_array(), *about = json_object();
    for (size_t i = 0; i < count; i++) {
        figures[i] = res_validation_figures_of(validation, trial, i, seed);
        json_array_append_new(candidates, candidate_object(validation, trial, &figures[i], i));
    }
    json_object_set_new(about, "command", command_array(options->arguments));
    json_object_set_new(about, "process", res_json_text(options->process));
    json_object_set_new(about, "processes_alike", json_integer((json_int_t)validation->alike));
    json_object_set_new(about, "exit_code", json_integer(options->exit_code));
    json_object_set_new(about, "rounds", json_integer(validation->rounds));
    json_object_set_new(about, "stopped", json_boolean(validation->stopped));
    json_object_set_new(about, "timed_by", json_string(options->hyperfine != NULL ? "hyperfine" : "wait4"));
    json_object_set_new(about, "time_of", json_string(options->whole ? "command" : "process"));
    json_object_set_new(about, "heap_told_by", json_string(options->apart != NULL ? "mapping" : "name"));
    json_object_set_new(about, "step_ns", json_integer((json_int_t)options->step_ns));
    json_object_set_new(about, "bars", bars_object(figures, count, is_one));
    json_object_set_new(about, "within_reality", res_reality_within(figures, is_one ? count : 0));
    res_recordings_add_to(about, validation, trial->workload);
    json_object_set_new(about, "control_timed_runs", timed_runs(&validation->entries[count]));
    json_object_set_new(result, "validation", about);
    json_object_set_new(result, "candidates", candidates);
    free(figures);
}

/* ---- reading -------------------------------------------------------------------------------- */

const char *res_validation_check(const json_t *result)
{
    static const char *const bars[] = {"peak_total", "peak_heap", "memory_order", "time_sign"};
    const json_t *about = json_object_get(result, "validation");
    const json_t *candidates = json_object_get(result, "candidates");
    size_t index;
    json_t *candidate;
    if (about == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++) {
        const json_t *one = json_object_get(json_object_get(about, "bars"), bars[i]);
        if (!json_is_integer(json_object_get(one, "checked")) ||
            !json_is_integer(json_object_get(one, "met")))
            return "its validation lacks a bar";
    }
    if (json_array_size(candidates) == 0)
        return "its validation has no candidates";
    json_array_foreach(candidates, index, candidate)
    {
        if (!json_is_string(json_object_get(candidate, "name")) ||
            !json_is_object(json_object_get(candidate, "real")) ||
            !json_is_object(json_object_get(candidate, "predicted")) ||
            !json_is_object(json_object_get(candidate, "error")))
            return "a candidate of its validation lacks name, real, predicted or error";
    }
    return NULL;
}
