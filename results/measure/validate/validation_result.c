/* validation_result.c - figures, runs, and how many of them met their bars. */
#include "results/measure/validate/validation_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"
#include "results/measure/validate/fidelity.h"
#include "results/measure/validate/validation.h"

/* ---- figures of one candidate ----------------------------------------------------------------- */

/* Images of runs, and where in them (struct res_real_run) the levels or the figure lie that are
 * asked for. */
struct runs {
    const struct res_image *images;
    size_t count;
};

#define AT(member) offsetof(struct res_real_run, member)

static struct runs sampled_runs(const struct res_validation_entry *entry)
{
    return (struct runs){entry->images, entry->image_count};
}

static struct runs mapped_runs(const struct res_validation_entry *entry)
{
    return (struct runs){entry->mapped, entry->mapped_count};
}

static double figure_at(const struct res_image *image, size_t at)
{
    return *(const double *)((const char *)&image->run + at);
}

/* A figure of each run. The caller's to free. */
static double *samples_of(struct runs runs, size_t at)
{
    double *samples = res_calloc(runs.count + 1, sizeof *samples);
    for (size_t i = 0; i < runs.count; i++)
        samples[i] = figure_at(&runs.images[i], at);
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

static struct res_levels levels_of(struct runs runs, size_t at)
{
    return (struct res_levels){median_of(runs, at + offsetof(struct res_levels, peak_bytes)),
                               median_of(runs, at + offsetof(struct res_levels, mean_bytes)),
                               median_of(runs, at + offsetof(struct res_levels, end_bytes))};
}

static struct res_real_range range_of(struct runs runs, size_t at)
{
    double *samples = samples_of(runs, at);
    const struct res_real_range range = res_real_range_of(samples, runs.count);
    free(samples);
    return range;
}

static struct res_real_ranges ranges_of(struct runs runs, size_t at)
{
    return (struct res_real_ranges){range_of(runs, at + offsetof(struct res_levels, peak_bytes)),
                                    range_of(runs, at + offsetof(struct res_levels, mean_bytes)),
                                    range_of(runs, at + offsetof(struct res_levels, end_bytes))};
}

static struct res_levels less(struct res_levels left, struct res_levels right)
{
    return (struct res_levels){left.peak_bytes - right.peak_bytes, left.mean_bytes - right.mean_bytes,
                               left.end_bytes - right.end_bytes};
}

static double sampled_heap_peak(struct runs mapped)
{
    double *totals = samples_of(mapped, AT(total.peak_bytes)),
           *samples = samples_of(mapped, AT(heap.peak_bytes));
    const double peak = res_fidelity_sampled_peak(totals, samples, mapped.count);
    free(totals);
    free(samples);
    return peak;
}

/* ---- disturbed ------------------------------------------------------------------------------ */

static double disturbed_by(const struct res_validation_entry *entry)
{
    const struct runs sampled = sampled_runs(entry), mapped = mapped_runs(entry);
    double *alone = samples_of(sampled, AT(anonymous.peak_bytes)),
           *read = samples_of(mapped, AT(anonymous.peak_bytes));
    const double by = res_disturbed_by(alone, sampled.count, read, mapped.count,
                                       median_of(mapped, AT(apart_at_peak_bytes)));
    free(alone);
    free(read);
    return by;
}

static double median_between(struct runs runs, size_t at, size_t less_at)
{
    double *samples = samples_of(runs, at);
    for (size_t i = 0; i < runs.count; i++)
        samples[i] -= figure_at(&runs.images[i], less_at);
    return median_taken(samples, runs.count);
}

/* What is not the heap's (`apart` in fidelity.h). */
static struct res_levels apart_of(const struct res_validation_entry *entry)
{
    const struct runs mapped = mapped_runs(entry);
    return (struct res_levels){median_of(mapped, AT(apart_at_peak_bytes)),
                               median_between(mapped, AT(anonymous.mean_bytes), AT(heap.mean_bytes)),
                               median_between(mapped, AT(anonymous.end_bytes), AT(heap.end_bytes))};
}

static void lower(struct res_real_range *range, double bytes)
{
    range->low_bytes -= bytes;
    range->high_bytes -= bytes;
}

/* Of each run the two bounds from below that the heap's peak has (fidelity.h). A run whose samples
 * missed what was not the heap's would have that for heap: so it is taken for at least as much as
 * in the other runs. */
static struct res_real_ranges mapped_ranges(const struct res_validation_entry *entry)
{
    const struct runs mapped = mapped_runs(entry);
    struct res_real_ranges ranges = ranges_of(mapped, AT(heap));
    const double apart = median_of(mapped, AT(apart_most_bytes));
    double *peaks = samples_of(mapped, AT(heap.peak_bytes));
    for (size_t i = 0; i < mapped.count; i++) {
        const struct res_real_run *run = &mapped.images[i].run;
        peaks[i] = fmax(peaks[i], run->anonymous.peak_bytes - fmax(run->apart_most_bytes, apart));
    }
    ranges.peak = res_real_range_of(peaks, mapped.count);
    free(peaks);
    return ranges;
}

static struct res_real_ranges heap_ranges_of(const struct res_validation_entry *entry, double disturbed)
{
    if (!(fabs(disturbed) > 0))
        return mapped_ranges(entry);
    const struct res_levels apart = apart_of(entry);
    struct res_real_ranges ranges = ranges_of(sampled_runs(entry), AT(anonymous));
    lower(&ranges.peak, apart.peak_bytes);
    lower(&ranges.mean, apart.mean_bytes);
    lower(&ranges.end, apart.end_bytes);
    return ranges;
}

/* Of the peak two bounds from below: fidelity.h. */
static struct res_levels heap_of(const struct res_validation_entry *entry)
{
    const struct runs sampled = sampled_runs(entry), mapped = mapped_runs(entry);
    if (fabs(disturbed_by(entry)) > 0)
        return less(levels_of(sampled, AT(anonymous)), apart_of(entry));
    struct res_levels heap = levels_of(mapped, AT(heap));
    heap.peak_bytes = sampled_heap_peak(mapped);
    const double exact = median_of(sampled, AT(anonymous.peak_bytes)) -
                         median_of(mapped, AT(apart_most_bytes));
    if (exact > heap.peak_bytes)
        heap.peak_bytes = exact;
    return heap;
}

/* ---- the rest, over time -------------------------------------------------------------------- */

/* Of the baseline's first mapped run one part (in struct res_moment) over time. */
static struct res_course course_of(const struct res_validation_entry *baseline, size_t part)
{
    if (baseline->mapped_count == 0)
        return (struct res_course){0};
    const struct res_image *image = &baseline->mapped[0];
    double *at = res_calloc(image->series_count, sizeof *at),
           *bytes = res_calloc(image->series_count, sizeof *bytes);
    for (size_t i = 0; i < image->series_count; i++) {
        at[i] = (double)image->series[i].time_ns;
        bytes[i] = (double)*(const uint64_t *)((const char *)&image->series[i] + part);
    }
    return (struct res_course){at, bytes, image->series_count};
}

/* The first run's of those that resident figures are of: they differ in nothing that matters here. */
static struct res_course course_of_replay(const struct res_trial *trial, const struct res_entry *entry)
{
    const bool memory = res_trial_has_memory(trial);
    if ((memory ? entry->memory_count : entry->run_count) == 0)
        return (struct res_course){0};
    return res_course_of_run(memory ? &entry->memory_runs[0] : &entry->runs[0],
                             memory ? trial->memory_samples : trial->samples);
}

/* Of the peak two bounds from below, as of the heap's. A sample that missed the total's peak tells
 * nothing of which part grew there: added to both, what was missed would count twice. */
static struct res_levels rest_of(const struct res_validation_entry *baseline)
{
    const struct res_levels total = levels_of(sampled_runs(baseline), AT(total));
    struct res_levels rest = less(total, heap_of(baseline));
    double *peaks = res_calloc(baseline->mapped_count + 1, sizeof *peaks);
    for (size_t i = 0; i < baseline->mapped_count; i++) {
        const struct res_image *image = &baseline->mapped[i];
        for (size_t k = 0; k < image->series_count; k++)
            peaks[i] = fmax(peaks[i], (double)image->series[k].rest_bytes);
    }
    const double highest = median_taken(peaks, baseline->mapped_count);
    rest.peak_bytes = isnan(highest) ? NAN : fmax(highest, rest.peak_bytes);
    return rest;
}

/* What highest rest and highest replayed of a recording miss each other by.
 * baseline  its replay under the baseline. */
static double missed_of(const struct res_validation *validation, const struct res_course *baseline,
                        const struct res_course *replayed)
{
    const struct res_validation_entry *real = &validation->entries[0];
    struct res_course rest = course_of(real, offsetof(struct res_moment, rest_bytes)),
                      heap = course_of(real, offsetof(struct res_moment, heap_bytes)),
                      retimed = res_fidelity_retimed(&rest, &heap, baseline);
    const struct res_course *used = retimed.count > 0 ? &retimed : &rest;
    double heap_peak = 0; /* samples may have missed the real one's, which the replay has then */
    for (size_t i = 0; i < baseline->count; i++)
        heap_peak = fmax(heap_peak, baseline->bytes[i]);
    heap_peak = fmax(heap_of(real).peak_bytes, heap_peak + real->startup_heap_bytes);
    const double most = rest_of(real).peak_bytes + heap_peak -
                        levels_of(sampled_runs(real), AT(total)).peak_bytes;
    const double beyond = fmax(res_fidelity_missed(used, baseline) - fmax(most, 0), 0);
    const double missed = fmax(res_fidelity_missed(used, replayed) - beyond, 0);
    res_course_release(&rest);
    res_course_release(&heap);
    res_course_release(&retimed);
    return missed;
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Processor time of each round, of the whole command. The caller's to free. */
static double *command_times(const struct res_validation_entry *entry)
{
    double *times = res_calloc(entry->timed_count + 1, sizeof *times);
    for (size_t i = 0; i < entry->timed_count; i++)
        times[i] = entry->timed[i].user_ns + entry->timed[i].system_ns;
    return times;
}

static double wall_of(const struct res_validation_entry *entry)
{
    double *samples = res_calloc(entry->timed_count + 1, sizeof *samples);
    for (size_t i = 0; i < entry->timed_count; i++)
        samples[i] = entry->timed[i].wall_ns;
    return median_taken(samples, entry->timed_count);
}

static struct res_time_check check_time(const struct res_validation *validation, size_t place,
                                        double predicted, uint64_t seed)
{
    const struct res_validation_entry *entries[] = {
        &validation->entries[place], &validation->entries[0],
        &validation->entries[validation->options.candidate_count]};
    const bool whole = validation->options.only_process;
    double *times[3];
    size_t rounds = SIZE_MAX;
    for (size_t i = 0; i < 3; i++) {
        const size_t own = whole ? entries[i]->timed_count : entries[i]->image_count;
        times[i] = whole ? command_times(entries[i]) : samples_of(sampled_runs(entries[i]), AT(cpu_ns));
        rounds = own < rounds ? own : rounds;
    }
    const struct res_time_check check = res_time_check_of(times[0], times[1], times[2], rounds, predicted,
                                                          seed);
    for (size_t i = 0; i < 3; i++)
        free(times[i]);
    return check;
}

/* Of all timed calls, by the figure that the experiment's verdict and advice are of. */
static double predicted_ns(const struct res_figures *figures, const struct res_figures *baseline,
                           const struct res_trial *trial)
{
    const struct res_entry *entry = &trial->entries[0];
    if (entry->run_count == 0)
        return NAN;
    return res_figures_slower_ns(figures, baseline) *
           (double)(entry->runs[0].ops - entry->runs[0].inherited_ops);
}

static void fill_time(const struct res_time_check *check, struct res_validated_candidate *ret)
{
    const bool shown = check->sign == RES_SIGN_RIGHT || check->sign == RES_SIGN_WRONG;
    ret->real.time_difference_ns = check->real_ns;
    ret->real.time_ratio = check->ratio;
    ret->real.time_interval = check->interval;
    ret->real.time_verdict = (int)check->verdict;
    ret->predicted.time_difference_ns = check->predicted_ns;
    ret->error.time_sign = (int)check->sign;
    ret->error.time_size = shown ? check->predicted_ns / check->real_ns - 1 : NAN;
}

/* ---- what is predicted ----------------------------------------------------------------------- */

/* The program's files are those of all mapped runs of the baseline. */
static double brought_by(const struct res_validation_entry *entry,
                         const struct res_validation_entry *baseline)
{
    if (isnan(entry->startup_heap_bytes) || isnan(baseline->startup_heap_bytes))
        return NAN;
    struct res_files program = {0};
    for (size_t i = 0; i < baseline->mapped_count; i++)
        res_files_raise(&program, &baseline->mapped[i].files);
    return res_files_brought(&entry->startup_files, &baseline->startup_files, &program);
}

/* From each recording by itself, and the median: what is real and what is not replayed is the same
 * for all.
 * sample  what is real, startup, and what the first recording's replay came to. */
static struct res_fidelity predict(const struct res_validation *validation, struct res_fidelity_sample sample,
                                   size_t place, struct res_validated_prediction *ret)
{
    const struct res_levels rest = rest_of(&validation->entries[0]);
    struct res_fidelity all[RES_RECORDINGS_MAX];
    all[0] = res_fidelity_of(&rest, &sample);
    ret->recordings = res_calloc(RES_RECORDINGS_MAX, sizeof *ret->recordings);
    ret->recordings[0].number = 1;
    size_t count = 1;
    for (size_t i = 0; i < validation->further.count; i++) {
        const struct res_recording *recording = &validation->further.all[i];
        if (recording->left_out != NULL)
            continue;
        sample.replayed = res_recording_levels(&recording->entries[place]);
        sample.missed_bytes = missed_of(validation, &recording->entries[0].course,
                                        &recording->entries[place].course);
        all[count] = res_fidelity_of(&rest, &sample);
        res_recording_tell(recording, place, &ret->recordings[count++]);
    }
    for (size_t i = 0; i < count; i++) {
        ret->recordings[i].total = all[i].predicted_total;
        ret->recordings[i].heap = all[i].predicted_heap;
    }
    ret->recording_count = count;
    return res_fidelity_median(all, count);
}

static void fill_memory(const struct res_fidelity *memory, struct res_validated_candidate *ret)
{
    ret->real.total = memory->real_total;
    ret->real.heap = memory->real_heap;
    ret->predicted.total = memory->predicted_total;
    ret->predicted.heap = memory->predicted_heap;
    ret->error.total = memory->error_total;
    ret->error.heap = memory->error_heap;
    ret->error.total_beyond = res_real_beyond_of(&ret->real.total_range, &memory->predicted_total);
    ret->error.heap_beyond = res_real_beyond_of(&ret->real.heap_range, &memory->predicted_heap);
    ret->error.heap_is_small = res_fidelity_is_small(memory);
    if (ret->error.heap_is_small) /* no figure says how good its prediction is */
        ret->error.heap = ret->error.heap_beyond = (struct res_levels){NAN, NAN, NAN};
}

void res_validation_figures(const struct res_validation *validation, const struct res_trial *trial,
                            size_t place, uint64_t seed, struct res_validated_candidate *ret)
{
    const struct res_validation_entry *entry = &validation->entries[place],
                                      *baseline = &validation->entries[0];
    const struct res_figures replayed = res_figures_of(trial, &trial->entries[place], seed);
    const struct res_figures replayed_base = res_figures_of(trial, &trial->entries[0], seed);
    struct res_course course = course_of_replay(trial, &trial->entries[place]),
                      course_base = course_of_replay(trial, &trial->entries[0]);
    struct res_validated_real *real = &ret->real;
    res_described_init(&RES_VALIDATED_CANDIDATE, ret);
    real->wall_ns = wall_of(entry);
    real->cpu_ns = median_taken(command_times(entry), entry->timed_count);
    real->process_cpu_ns = median_of(sampled_runs(entry), AT(cpu_ns));
    real->startup_heap_bytes = entry->startup_heap_bytes;
    real->startup_total_bytes = entry->startup_heap_bytes + brought_by(entry, baseline);
    real->disturbed_by = disturbed_by(entry);
    real->total_range = ranges_of(sampled_runs(entry), AT(total));
    real->heap_range = heap_ranges_of(entry, real->disturbed_by);
    const struct res_fidelity_sample sample = {
        .total = levels_of(sampled_runs(entry), AT(total)),
        .heap = heap_of(entry),
        .replayed = {replayed.peak_bytes, replayed.mean_bytes, replayed.end_bytes},
        .startup_total_bytes = real->startup_total_bytes,
        .startup_heap_bytes = real->startup_heap_bytes,
        .missed_bytes = missed_of(validation, &course_base, &course),
    };
    const struct res_fidelity memory = predict(validation, sample, place, &ret->predicted);
    res_course_release(&course);
    res_course_release(&course_base);
    fill_memory(&memory, ret);
    const struct res_time_check check = check_time(validation, place,
                                                   predicted_ns(&replayed, &replayed_base, trial), seed);
    fill_time(&check, ret);
}

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
