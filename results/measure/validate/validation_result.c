/* validation_result.c - figures, runs, and how many of them met their bars. */
#include "results/measure/validate/validation_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/validate/fidelity.h"
#include "results/measure/validate/validation_figures.h"

/* ---- runs ------------------------------------------------------------------------------------ */

static struct res_timed *timed_runs(const struct res_validation_entry *entry, size_t *ret_count)
{
    struct res_timed *runs = res_calloc(entry->timed_count + 1, sizeof *runs);
    memcpy(runs, entry->timed, entry->timed_count * sizeof *runs);
    *ret_count = entry->timed_count;
    return runs;
}

static json_t *series_of(const struct res_image *image)
{
    json_t *times = json_array(), *bytes = json_array(), *rest = json_array();
    for (size_t i = 0; i < image->series_count; i++) {
        json_array_append_new(times, json_integer((json_int_t)image->series[i].time_ns));
        json_array_append_new(bytes, json_integer((json_int_t)image->series[i].anonymous_bytes));
        json_array_append_new(rest, json_integer((json_int_t)image->series[i].rest_bytes));
    }
    if (!image->has_maps) {
        json_decref(rest);
        rest = json_null();
    }
    return json_pack("{s:o, s:o, s:o}", "time_ns", times, "anonymous_bytes", bytes, "rest_bytes", rest);
}

static struct res_real_run *real_runs(const struct res_image *images, size_t count, size_t *ret_count)
{
    struct res_real_run *runs = res_calloc(count + 1, sizeof *runs);
    for (size_t i = 0; i < count; i++)
        runs[i] = images[i].run;
    if (count > 0) /* over time, one shows as well as all */
        runs[0].series = series_of(&images[0]);
    *ret_count = count;
    return runs;
}

static void fill_candidate(const struct res_validation *validation, const struct res_trial *trial,
                           size_t place, uint64_t seed, struct res_validated_candidate *ret)
{
    const struct res_validation_entry *entry = &validation->entries[place];
    const char *failed = entry->failed != NULL ? entry->failed : trial->entries[place].failed;
    res_validation_figures(validation, trial, place, seed, ret);
    ret->name = res_strdup(entry->candidate->name);
    ret->failed = failed != NULL ? res_strdup(failed) : NULL;
    ret->real.timed = timed_runs(entry, &ret->real.timed_count);
    ret->real.sampled = real_runs(entry->images, entry->image_count, &ret->real.sampled_count);
    ret->real.mapped = real_runs(entry->mapped, entry->mapped_count, &ret->real.mapped_count);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static void judge(struct res_bar *bar, double error, double most)
{
    bar->checked += isfinite(error);
    bar->met += isfinite(error) && fabs(error) <= most;
}

static void judge_candidate(struct res_validated *about, const struct res_validated_error *error)
{
    judge(&about->bars.peak_total, error->total.peak_bytes, RES_BAR_TOTAL);
    judge(&about->bars.peak_heap, error->heap.peak_bytes, RES_BAR_HEAP);
    about->bars.time_sign.checked += error->time_sign == RES_SIGN_RIGHT || error->time_sign == RES_SIGN_WRONG;
    about->bars.time_sign.met += error->time_sign == RES_SIGN_RIGHT;
    judge(&about->within.peak_total, error->total_beyond.peak_bytes, 0);
    judge(&about->within.mean_total, error->total_beyond.mean_bytes, 0);
    judge(&about->within.end_total, error->total_beyond.end_bytes, 0);
    judge(&about->within.peak_heap, error->heap_beyond.peak_bytes, 0);
    judge(&about->within.mean_heap, error->heap_beyond.mean_bytes, 0);
    judge(&about->within.end_heap, error->heap_beyond.end_bytes, 0);
}

/* Only where what is predicted and what is compared are one process: else no figure says how good a
 * prediction is. */
static void judge_all(struct res_validated *about, const struct res_validated_candidate *candidates,
                      size_t count)
{
    double *real = res_calloc(count + 1, sizeof *real), *predicted = res_calloc(count + 1, sizeof *real);
    for (size_t i = 0; i < count; i++) {
        judge_candidate(about, &candidates[i].error);
        real[i] = candidates[i].real.total.peak_bytes;
        predicted[i] = candidates[i].predicted.total.peak_bytes;
    }
    about->bars.memory_order = res_fidelity_order(real, predicted, count);
    free(real);
    free(predicted);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct res_validated *about_of(const struct res_validation *validation,
                                      const struct res_workload *workload)
{
    const struct res_validation_options *options = &validation->options;
    struct res_validated *about = res_calloc(1, sizeof *about);
    for (size_t i = 0; options->arguments[i] != NULL; i++)
        res_texts_add(&about->command, options->arguments[i]);
    about->process = res_strdup(options->process);
    about->processes_alike = validation->alike;
    about->exit_code = (uint64_t)options->exit_code;
    about->rounds = validation->rounds;
    about->stopped = validation->stopped;
    about->timed_by = options->hyperfine != NULL ? RES_TIMED_BY_HYPERFINE : RES_TIMED_BY_WAIT4;
    about->time_of = options->only_process ? RES_TIME_OF_COMMAND : RES_TIME_OF_PROCESS;
    about->heap_told_by = options->apart != NULL ? RES_HEAP_BY_MAPPING : RES_HEAP_BY_NAME;
    about->step_ns = options->step_ns;
    about->control_timed = timed_runs(&validation->entries[options->candidate_count],
                                      &about->control_timed_count);
    res_recordings_tell(&validation->further, workload, about);
    return about;
}

void res_validation_fill(const struct res_validation *validation, const struct res_trial *trial,
                         uint64_t seed, struct res_result *result)
{
    const size_t count = validation->options.candidate_count;
    result->validation = about_of(validation, trial->workload);
    result->validated = res_calloc(count, sizeof *result->validated);
    result->validated_count = count;
    for (size_t i = 0; i < count; i++)
        fill_candidate(validation, trial, i, seed, &result->validated[i]);
    if (validation->alike <= 1)
        judge_all(result->validation, result->validated, count);
}
