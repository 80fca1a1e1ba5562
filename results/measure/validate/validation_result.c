/* validation_result.c - figures, runs, and how many of them met their bars. */
#include "results/measure/validate/validation_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/validate/fidelity.h"

/* ---- figures of one candidate ----------------------------------------------------------------- */

/* Images of runs, and where in them (struct res_image) the figure lies that is asked for. */
struct runs {
    const struct res_image *images;
    size_t count;
};

#define AT(member) offsetof(struct res_image, member)

static struct runs sampled_runs(const struct res_real *real)
{
    return (struct runs){real->sampled, real->sampled_count};
}

static struct runs mapped_runs(const struct res_real *real)
{
    return (struct runs){real->mapped, real->mapped_count};
}

/* A figure of each run. The caller's to free. */
static double *samples_of(struct runs runs, size_t at)
{
    double *samples = res_calloc(runs.count + 1, sizeof *samples);
    for (size_t i = 0; i < runs.count; i++)
        samples[i] = *(const double *)((const char *)&runs.images[i] + at);
    return samples;
}

/* Takes over the samples. */
static double median_taken(double *samples, size_t count)
{
    const double median = count > 0 ? res_median(samples, count) : NAN;
    free(samples);
    return median;
}

static double median_of(struct runs runs, size_t at)
{
    return median_taken(samples_of(runs, at), runs.count);
}

static double disturbed_by(const struct res_real *real)
{
    const struct runs sampled = sampled_runs(real), mapped = mapped_runs(real);
    double *alone = samples_of(sampled, AT(anonymous_peak_bytes)),
           *read = samples_of(mapped, AT(anonymous_peak_bytes));
    const double by = res_disturbed_by(alone, sampled.count, read, mapped.count,
                                       median_of(mapped, AT(apart_at_peak_bytes)));
    free(alone);
    free(read);
    return by;
}

/* Of the peak two bounds from below: fidelity.h. */
static double heap_of(const struct res_real *real)
{
    const struct runs sampled = sampled_runs(real), mapped = mapped_runs(real);
    const double anonymous = median_of(sampled, AT(anonymous_peak_bytes));
    if (fabs(disturbed_by(real)) > 0)
        return anonymous - median_of(mapped, AT(apart_at_peak_bytes));
    double *totals = samples_of(mapped, AT(peak_bytes)), *samples = samples_of(mapped, AT(heap_peak_bytes));
    const double seen = res_fidelity_sampled_peak(totals, samples, mapped.count);
    const double exact = anonymous - median_of(mapped, AT(apart_most_bytes));
    free(totals);
    free(samples);
    return exact > seen ? exact : seen;
}

/* ---- the rest, over time -------------------------------------------------------------------- */

static double rest_at(const struct res_moment *moment)
{
    return (double)(moment->resident_bytes - moment->heap_bytes);
}

/* Of the baseline's first mapped run the heap over time, or the rest. */
static struct res_course course_of(const struct res_real *baseline, bool heap)
{
    if (baseline->mapped_count == 0)
        return (struct res_course){0};
    const struct res_image *image = &baseline->mapped[0];
    double *at = res_calloc(image->series_count, sizeof *at),
           *bytes = res_calloc(image->series_count, sizeof *bytes);
    for (size_t i = 0; i < image->series_count; i++) {
        at[i] = (double)image->series[i].time_ns;
        bytes[i] = heap ? (double)image->series[i].heap_bytes : rest_at(&image->series[i]);
    }
    return (struct res_course){at, bytes, image->series_count};
}

/* The first run's of those that resident figures are of: they differ in nothing that matters here. */
static struct res_course course_of_replay(const struct res_trial *trial, const struct res_entry *entry)
{
    const bool memory = res_trial_has_memory(trial);
    if ((memory ? entry->memory_count : entry->run_count) == 0)
        return (struct res_course){0};
    const json_t *own = json_object_get((memory ? entry->memory_runs : entry->runs)[0].json, "samples"),
                 *resident = json_object_get(own, "resident_bytes"), *time = json_object_get(own, "time_ns");
    if (time == NULL)
        time = json_object_get(memory ? trial->memory_samples : trial->samples, "time_ns");
    const size_t count = json_array_size(time);
    if (count == 0 || json_array_size(resident) != count)
        return (struct res_course){0};
    double *at = res_calloc(count, sizeof *at), *bytes = res_calloc(count, sizeof *bytes);
    for (size_t i = 0; i < count; i++) {
        at[i] = json_number_value(json_array_get(time, i));
        bytes[i] = json_number_value(json_array_get(resident, i));
    }
    return (struct res_course){at, bytes, count};
}

/* Of the peak two bounds from below, as of the heap's. A sample that missed the total's peak tells
 * nothing of which part grew there: added to both, what was missed would count twice. */
static double rest_of(const struct res_real *baseline)
{
    double *peaks = res_calloc(baseline->mapped_count + 1, sizeof *peaks);
    for (size_t i = 0; i < baseline->mapped_count; i++) {
        const struct res_image *image = &baseline->mapped[i];
        for (size_t k = 0; k < image->series_count; k++)
            peaks[i] = fmax(peaks[i], rest_at(&image->series[k]));
    }
    const double highest = median_taken(peaks, baseline->mapped_count);
    const double less = median_of(sampled_runs(baseline), AT(peak_bytes)) - heap_of(baseline);
    return isnan(highest) ? NAN : fmax(highest, less);
}

/* What a process that never calls malloc holds, in each of those that were alive together. */
static double startup_of(const struct res_reality *reality, const struct res_real *real)
{
    const struct res_real *baseline = &reality->all[0];
    const size_t together = baseline->sampled_count > 0 ? baseline->sampled[0].together : 1;
    return real->startup_heap_bytes * (double)together;
}

/* What highest rest and highest replayed miss each other by. */
static double missed_of(const struct res_reality *reality, const struct res_course *baseline,
                        const struct res_course *replayed)
{
    const struct res_real *real = &reality->all[0];
    struct res_course rest = course_of(real, false), heap = course_of(real, true),
                      retimed = res_fidelity_retimed(&rest, &heap, baseline);
    const struct res_course *used = retimed.count > 0 ? &retimed : &rest;
    double heap_peak = 0; /* samples may have missed the real one's, which the replay has then */
    for (size_t i = 0; i < baseline->count; i++)
        heap_peak = fmax(heap_peak, baseline->bytes[i]);
    heap_peak = fmax(heap_of(real), heap_peak + startup_of(reality, real));
    const double most = rest_of(real) + heap_peak - median_of(sampled_runs(real), AT(peak_bytes));
    const double beyond = fmax(res_fidelity_missed(used, baseline) - fmax(most, 0), 0);
    const double missed = fmax(res_fidelity_missed(used, replayed) - beyond, 0);
    res_course_release(&rest);
    res_course_release(&heap);
    res_course_release(&retimed);
    return missed;
}

/* ---- what is predicted of memory ------------------------------------------------------------- */

/* The program's files are those of all mapped runs of the baseline. Of a group the first process has started, the others
 * were forked. */
static double brought_by(const struct res_reality *reality, const struct res_real *real)
{
    const struct res_real *baseline = &reality->all[0];
    if (isnan(real->startup_heap_bytes) || isnan(baseline->startup_heap_bytes))
        return NAN;
    struct res_files program = {0};
    for (size_t i = 0; i < baseline->mapped_count; i++)
        res_files_raise(&program, &baseline->mapped[i].files);
    const size_t together = baseline->sampled_count > 0 ? baseline->sampled[0].together : 1;
    return res_files_brought(&real->startup_files, &baseline->startup_files, &program) +
           (double)(together - 1) * res_files_brought(&real->forked_files, &baseline->forked_files, &program);
}

static void take_memory(const struct res_fidelity *memory, struct res_validated_candidate *ret)
{
    ret->real.total_peak_bytes = memory->real_total;
    ret->real.heap_peak_bytes = memory->real_heap;
    ret->predicted.total_peak_bytes = memory->predicted_total;
    ret->predicted.heap_peak_bytes = memory->predicted_heap;
    ret->error.heap_is_small = res_fidelity_is_small(memory);
    ret->error.total_peak = memory->error_total;
    /* Of a small one no figure says how good its prediction is. */
    ret->error.heap_peak = ret->error.heap_is_small ? NAN : memory->error_heap;
}

void res_validation_figures(const struct res_reality *reality, const struct res_trial *trial, size_t place,
                            uint64_t seed, struct res_validated_candidate *ret)
{
    const struct res_real *real = &reality->all[place];
    const struct res_figures replayed = res_figures_of(trial, &trial->entries[place], seed);
    struct res_course course = course_of_replay(trial, &trial->entries[place]),
                      course_base = course_of_replay(trial, &trial->entries[0]);
    res_described_init(&RES_VALIDATED_CANDIDATE, ret);
    ret->real.startup_heap_bytes = startup_of(reality, real);
    ret->real.startup_total_bytes = ret->real.startup_heap_bytes + brought_by(reality, real);
    ret->real.disturbed_by = disturbed_by(real);
    const struct res_fidelity_sample sample = {
        .total = median_of(sampled_runs(real), AT(peak_bytes)),
        .heap = heap_of(real),
        .replayed = replayed.peak_bytes,
        .startup_total = ret->real.startup_total_bytes,
        .startup_heap = ret->real.startup_heap_bytes,
        .missed = missed_of(reality, &course_base, &course),
    };
    const struct res_fidelity memory = res_fidelity_of(rest_of(&reality->all[0]), &sample);
    res_course_release(&course);
    res_course_release(&course_base);
    take_memory(&memory, ret);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Of all timed calls, by the figure that the experiment's verdict and advice are of. */
static double predicted_ns(const struct res_trial *trial, size_t place, uint64_t seed)
{
    const struct res_entry *entry = &trial->entries[0];
    const struct res_figures own = res_figures_of(trial, &trial->entries[place], seed),
                             baseline = res_figures_of(trial, entry, seed);
    if (entry->run_count == 0)
        return NAN;
    return res_figures_slower_ns(&own, &baseline) *
           (double)(entry->runs[0].ops - entry->runs[0].inherited_ops);
}

/* one: its pairs, of the baseline the control's. */
static void take_time(const struct res_confirmed *one, bool is_part, double predicted,
                      struct res_validated_candidate *ret)
{
    const struct res_confirmed_figure *time = &one->time;
    const double *runs = one->is_control ? time->baseline : time->own;
    const double cpu_ns = time->own_count > 0 ? res_median(runs, time->own_count) : NAN;
    *(is_part ? &ret->real.process_cpu_ns : &ret->real.cpu_ns) = cpu_ns;
    ret->predicted.time_difference_ns = one->is_control ? 0 : predicted;
    ret->real.time_difference_ns = one->is_control ? 0 : -one->saved_ns;
    ret->real.time_ratio = one->is_control ? 1 : time->ratio;
    if (!one->is_control)
        ret->real.time_interval = time->interval;
    ret->real.time_verdict = one->is_control ? RES_UNDECIDED : one->time_verdict;
    ret->error.time_sign = one->is_control
                               ? RES_SIGN_NOISE
                               : (int)res_fidelity_sign(predicted, time->ratio, one->time_verdict);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct res_real_run *real_runs(struct runs runs, size_t *ret_count)
{
    struct res_real_run *made = res_calloc(runs.count + 1, sizeof *made);
    for (size_t i = 0; i < runs.count; i++) {
        const struct res_image *image = &runs.images[i];
        made[i] = (struct res_real_run){
            .peak_bytes = image->peak_bytes,
            .anonymous_peak_bytes = image->anonymous_peak_bytes,
            .cpu_ns = image->cpu_ns,
            .heap_peak_bytes = image->heap_peak_bytes,
            .apart_at_peak_bytes = image->apart_at_peak_bytes,
            .apart_most_bytes = image->apart_most_bytes,
        };
    }
    *ret_count = runs.count;
    return made;
}

static void fill_candidate(const struct res_reality *reality, const struct res_trial *trial, size_t place,
                           uint64_t seed, const struct res_result *result,
                           struct res_validated_candidate *ret)
{
    const struct res_real *real = &reality->all[place];
    const struct res_confirmed *one = &result->confirmed[(place > 0 ? place : result->confirmed_count) - 1];
    const char *failed = one->failed != NULL ? one->failed : trial->entries[place].failed;
    res_validation_figures(reality, trial, place, seed, ret);
    ret->name = res_strdup(reality->options.candidates[place]->name);
    ret->failed = res_strdup(failed);
    take_time(one, reality->options.is_part, predicted_ns(trial, place, seed), ret);
    ret->real.sampled = real_runs(sampled_runs(real), &ret->real.sampled_count);
    ret->real.mapped = real_runs(mapped_runs(real), &ret->real.mapped_count);
}

/* ---- bars and advice ------------------------------------------------------------------------- */

static void judge(struct res_bar *bar, double error, double most)
{
    bar->checked += isfinite(error);
    bar->met += isfinite(error) && fabs(error) <= most;
}

/* Memory only where what is predicted and what is compared are one process or one group: else no figure says how good a
 * prediction is. */
static void judge_all(const struct res_reality *reality, const struct res_validated_candidate *candidates,
                      size_t count, struct res_validated *about)
{
    if (reality->alike > 1 && !reality->options.is_group)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct res_validated_error *error = &candidates[i].error;
        judge(&about->bars.peak_total, error->total_peak, RES_BAR_TOTAL);
        judge(&about->bars.peak_heap, error->heap_peak, RES_BAR_HEAP);
        about->bars.time_sign.checked += error->time_sign == RES_SIGN_RIGHT ||
                                         error->time_sign == RES_SIGN_WRONG;
        about->bars.time_sign.met += error->time_sign == RES_SIGN_RIGHT;
    }
}

static void take_advice(const struct res_saving *saving, const struct res_result *result, bool memory,
                        struct res_advised *ret)
{
    if (saving->candidate == NULL || saving->of_process < RES_SAVING_WORTH)
        return;
    const struct res_confirmed *one = res_confirmed_named(result->confirmed, result->confirmed_count,
                                                          saving->candidate);
    const int verdict = one == NULL ? RES_UNDECIDED : memory ? one->peak_verdict : one->time_verdict;
    ret->candidate = res_strdup(saving->candidate);
    ret->of_process = saving->of_process;
    ret->shown = verdict == RES_LESS   ? RES_ADVICE_RIGHT
                 : verdict == RES_MORE ? RES_ADVICE_WRONG
                                       : RES_ADVICE_NOT_SHOWN;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct res_validated *about_of(const struct res_reality *reality, const struct res_workload *workload,
                                      const struct res_result *result)
{
    const struct res_reality_options *options = &reality->options;
    const struct res_confirm_command *command = options->command;
    const struct res_program_verdict *verdict = result->verdict;
    struct res_validated *about = res_calloc(1, sizeof *about);
    res_described_init(&RES_VALIDATED, about);
    for (size_t i = 0; command->arguments[i] != NULL; i++)
        res_texts_add(&about->command, command->arguments[i]);
    about->process = res_strdup(options->process);
    about->group_processes = workload->member_count;
    about->processes_alike = reality->alike;
    about->exit_code = (uint64_t)command->exit_code;
    about->rounds = result->confirmed[result->confirmed_count - 1].runs;
    about->stopped = result->confirmation->stopped;
    about->timed_by = command->hyperfine != NULL ? RES_TIMED_BY_HYPERFINE : RES_TIMED_BY_WAIT4;
    about->time_of = options->is_part ? RES_TIME_OF_PROCESS : RES_TIME_OF_COMMAND;
    about->heap_told_by = options->apart != NULL ? RES_HEAP_BY_MAPPING : RES_HEAP_BY_NAME;
    about->step_ns = options->step_ns;
    if (verdict != NULL) {
        take_advice(&verdict->time, result, false, &about->advice.time);
        take_advice(&verdict->peak, result, true, &about->advice.peak);
    }
    return about;
}

void res_validation_fill(const struct res_reality *reality, const struct res_trial *trial, uint64_t seed,
                         struct res_result *result)
{
    const size_t count = reality->options.candidate_count;
    result->validation = about_of(reality, trial->workload, result);
    result->validated = res_calloc(count, sizeof *result->validated);
    result->validated_count = count;
    for (size_t i = 0; i < count; i++)
        fill_candidate(reality, trial, i, seed, result, &result->validated[i]);
    judge_all(reality, result->validated, count, result->validation);
}
