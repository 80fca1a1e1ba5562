/* validation_figures.c - from the samples of a validation to the figures of each candidate. */
#include <math.h>
#include <stdlib.h>

#include "results/measure/base/support.h"
#include "results/measure/figures/figures.h"
#include "results/measure/validate/disturbed.h"
#include "results/measure/validate/validation.h"

typedef double image_fn(const struct res_image *image);

/* clang-format off */
static double total_peak(const struct res_image *image) { return (double)image->peak_bytes; }
static double total_mean(const struct res_image *image) { return image->mean_bytes; }
static double total_end(const struct res_image *image) { return (double)image->end_bytes; }
static double heap_peak(const struct res_image *image) { return (double)image->heap_peak_bytes; }
static double heap_mean(const struct res_image *image) { return image->heap_mean_bytes; }
static double heap_end(const struct res_image *image) { return (double)image->heap_end_bytes; }
static double apart_peak(const struct res_image *image) { return (double)image->apart_peak_bytes; }
static double anonymous_peak(const struct res_image *image) { return (double)image->anonymous_peak_bytes; }
static double anonymous_mean(const struct res_image *image) { return image->anonymous_mean_bytes; }
static double anonymous_end(const struct res_image *image) { return (double)image->anonymous_end_bytes; }
static double apart_at_peak(const struct res_image *image) { return (double)image->apart_at_peak_bytes; }
static double apart_mean(const struct res_image *image) { return image->anonymous_mean_bytes - image->heap_mean_bytes; }
static double apart_end(const struct res_image *image) { return (double)image->anonymous_end_bytes - (double)image->heap_end_bytes; }
static double process_cpu(const struct res_image *image) { return image->cpu_ns; }
/* clang-format on */

/* A figure of each run. The caller's to free. */
static double *samples_of(const struct res_image *images, size_t count, image_fn *figure)
{
    double *samples = res_calloc(count + 1, sizeof *samples);
    for (size_t i = 0; i < count; i++)
        samples[i] = figure(&images[i]);
    return samples;
}

static double median_of(const struct res_image *images, size_t count, image_fn *figure)
{
    if (count == 0)
        return NAN;
    double *samples = samples_of(images, count, figure);
    const double median = res_median(samples, count);
    free(samples);
    return median;
}

static struct res_real_range range_of(const struct res_image *images, size_t count, image_fn *figure)
{
    double *samples = samples_of(images, count, figure);
    const struct res_real_range range = res_real_range_of(samples, count);
    free(samples);
    return range;
}

static struct res_real_ranges ranges_of(const struct res_image *images, size_t count, image_fn *peak,
                                        image_fn *mean, image_fn *end)
{
    return (struct res_real_ranges){range_of(images, count, peak), range_of(images, count, mean),
                                    range_of(images, count, end)};
}

static struct res_levels levels_of(const struct res_image *images, size_t count, image_fn *peak,
                                   image_fn *mean, image_fn *end)
{
    return (struct res_levels){median_of(images, count, peak), median_of(images, count, mean),
                               median_of(images, count, end)};
}

static struct res_levels totals_of(const struct res_validation_entry *entry)
{
    return levels_of(entry->images, entry->image_count, total_peak, total_mean, total_end);
}

static double sampled_heap_peak(const struct res_validation_entry *entry)
{
    double *totals = res_calloc(entry->mapped_count + 1, sizeof *totals),
           *samples = res_calloc(entry->mapped_count + 1, sizeof *samples);
    for (size_t i = 0; i < entry->mapped_count; i++) {
        const struct res_image *image = &entry->mapped[i];
        totals[i] = image->exact ? total_peak(image) : NAN;
        samples[i] = heap_peak(image);
    }
    const double peak = res_fidelity_sampled_peak(totals, samples, entry->mapped_count);
    free(totals);
    free(samples);
    return peak;
}

/* ---- disturbed ------------------------------------------------------------------------------ */

static double disturbed_by(const struct res_validation_entry *entry)
{
    double *alone = samples_of(entry->images, entry->image_count, anonymous_peak),
           *read = samples_of(entry->mapped, entry->mapped_count, anonymous_peak);
    const double by = res_disturbed_by(alone, entry->image_count, read, entry->mapped_count,
                                       median_of(entry->mapped, entry->mapped_count, apart_at_peak));
    free(alone);
    free(read);
    return by;
}

/* What is not the heap's (disturbed.h). */
static struct res_levels apart_of(const struct res_validation_entry *entry)
{
    return levels_of(entry->mapped, entry->mapped_count, apart_at_peak, apart_mean, apart_end);
}

static struct res_levels disturbed_heap(const struct res_validation_entry *entry)
{
    const struct res_levels apart = apart_of(entry),
                            all = levels_of(entry->images, entry->image_count, anonymous_peak, anonymous_mean,
                                            anonymous_end);
    return (struct res_levels){all.peak_bytes - apart.peak_bytes, all.mean_bytes - apart.mean_bytes,
                               all.end_bytes - apart.end_bytes};
}

static struct res_real_range less(struct res_real_range range, double bytes)
{
    return (struct res_real_range){range.low_bytes - bytes, range.high_bytes - bytes, range.runs};
}

/* Of each run the two bounds from below that the heap's peak has (fidelity.h). A run whose samples missed what was not the heap's
 * would have that for heap: so it is taken for at least as much as in the other runs. */
static struct res_real_ranges mapped_ranges(const struct res_validation_entry *entry)
{
    struct res_real_ranges ranges = ranges_of(entry->mapped, entry->mapped_count, heap_peak, heap_mean,
                                              heap_end);
    const double apart = median_of(entry->mapped, entry->mapped_count, apart_peak);
    double *peaks = samples_of(entry->mapped, entry->mapped_count, heap_peak);
    for (size_t i = 0; i < entry->mapped_count; i++) {
        const struct res_image *image = &entry->mapped[i];
        if (image->exact)
            peaks[i] = fmax(peaks[i], anonymous_peak(image) - fmax(apart_peak(image), apart));
    }
    ranges.peak = res_real_range_of(peaks, entry->mapped_count);
    free(peaks);
    return ranges;
}

static struct res_real_ranges heap_ranges_of(const struct res_validation_entry *entry)
{
    if (!(fabs(disturbed_by(entry)) > 0))
        return mapped_ranges(entry);
    const struct res_levels apart = apart_of(entry);
    const struct res_real_ranges all = ranges_of(entry->images, entry->image_count, anonymous_peak,
                                                 anonymous_mean, anonymous_end);
    return (struct res_real_ranges){less(all.peak, apart.peak_bytes), less(all.mean, apart.mean_bytes),
                                    less(all.end, apart.end_bytes)};
}

/* Of the peak two bounds from below: fidelity.h. */
static struct res_levels heap_of(const struct res_validation_entry *entry)
{
    if (fabs(disturbed_by(entry)) > 0)
        return disturbed_heap(entry);
    struct res_levels heap = levels_of(entry->mapped, entry->mapped_count, heap_peak, heap_mean, heap_end);
    heap.peak_bytes = sampled_heap_peak(entry);
    const double exact = median_of(entry->images, entry->image_count, anonymous_peak) -
                         median_of(entry->mapped, entry->mapped_count, apart_peak);
    if (exact > heap.peak_bytes)
        heap.peak_bytes = exact;
    return heap;
}

/* ---- the rest, over time -------------------------------------------------------------------- */

static struct res_course course_of_rest(const struct res_validation_entry *baseline)
{
    if (baseline->mapped_count == 0)
        return (struct res_course){0};
    const struct res_image *image = &baseline->mapped[0];
    double *at = res_calloc(image->series_count, sizeof *at),
           *bytes = res_calloc(image->series_count, sizeof *bytes);
    for (size_t i = 0; i < image->series_count; i++) {
        at[i] = (double)image->series[i].time_ns;
        bytes[i] = (double)image->series[i].rest_bytes;
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

/* Of the peak two bounds from below, as of the heap's. A sample that missed the total's peak tells nothing of which part grew
 * there: added to both, what was missed would count twice. */
static struct res_levels rest_of(const struct res_validation_entry *baseline)
{
    const struct res_levels total = totals_of(baseline), heap = heap_of(baseline);
    struct res_levels rest = {NAN, total.mean_bytes - heap.mean_bytes, total.end_bytes - heap.end_bytes};
    double *peaks = res_calloc(baseline->mapped_count, sizeof *peaks);
    for (size_t i = 0; i < baseline->mapped_count; i++) {
        const struct res_image *image = &baseline->mapped[i];
        double most = 0;
        for (size_t k = 0; k < image->series_count; k++)
            most = fmax(most, (double)image->series[k].rest_bytes);
        peaks[i] = most;
    }
    if (baseline->mapped_count > 0)
        rest.peak_bytes = fmax(res_median(peaks, baseline->mapped_count), total.peak_bytes - heap.peak_bytes);
    free(peaks);
    return rest;
}

/* ---- time ----------------------------------------------------------------------------------- */

static double cpu_of(const struct res_timed *timed)
{
    return timed->user_ns + timed->system_ns;
}

/* Processor time of each round, of the whole command. The caller's to free. */
static double *command_times(const struct res_validation_entry *entry)
{
    double *times = res_calloc(entry->timed_count, sizeof *times);
    for (size_t i = 0; i < entry->timed_count; i++)
        times[i] = cpu_of(&entry->timed[i]);
    return times;
}

static double *process_times(const struct res_validation_entry *entry)
{
    double *times = res_calloc(entry->image_count, sizeof *times);
    for (size_t i = 0; i < entry->image_count; i++)
        times[i] = process_cpu(&entry->images[i]);
    return times;
}

static size_t least(size_t left, size_t right)
{
    return left < right ? left : right;
}

static struct res_time_check check_time(const struct res_validation *validation, size_t place,
                                        double predicted, uint64_t seed)
{
    const bool whole = validation->options.whole;
    const struct res_validation_entry *entry = &validation->entries[place],
                                      *baseline = &validation->entries[0];
    const struct res_validation_entry *control = &validation->entries[validation->options.candidate_count];
    double *times = whole ? command_times(entry) : process_times(entry);
    double *base = whole ? command_times(baseline) : process_times(baseline);
    double *noise = whole ? command_times(control) : process_times(control);
    const size_t rounds = whole
                              ? least(control->timed_count, least(entry->timed_count, baseline->timed_count))
                              : least(control->image_count, least(entry->image_count, baseline->image_count));
    const struct res_time_check check = res_time_check_of(times, base, noise, rounds, predicted, seed);
    free(times);
    free(base);
    free(noise);
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

static double wall_of(const struct res_validation_entry *entry)
{
    double *samples = res_calloc(entry->timed_count, sizeof *samples);
    for (size_t i = 0; i < entry->timed_count; i++)
        samples[i] = entry->timed[i].wall_ns;
    const double median = entry->timed_count > 0 ? res_median(samples, entry->timed_count) : NAN;
    free(samples);
    return median;
}

static double cpu_median(const struct res_validation_entry *entry)
{
    double *samples = command_times(entry);
    const double median = entry->timed_count > 0 ? res_median(samples, entry->timed_count) : NAN;
    free(samples);
    return median;
}

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

/* From each recording by itself, and the median: what is real and what is not replayed is the same for all.
 * sample  what is real, startup, and what the first recording's replay came to. */
static void predict(const struct res_validation *validation, struct res_fidelity_sample sample, size_t place,
                    struct res_validation_figures *figures)
{
    const struct res_levels rest = rest_of(&validation->entries[0]);
    struct res_course course = course_of_rest(&validation->entries[0]);
    figures->recordings[figures->recording_count++] = res_fidelity_of(&rest, &sample);
    for (size_t i = 0; i < validation->further.count; i++) {
        const struct res_recording *recording = &validation->further.all[i];
        if (recording->left_out != NULL)
            continue;
        sample.replayed = res_recording_levels(&recording->entries[place]);
        sample.missed_bytes = res_fidelity_missed(&course, &recording->entries[place].course);
        figures->recordings[figures->recording_count++] = res_fidelity_of(&rest, &sample);
    }
    figures->memory = res_fidelity_median(figures->recordings, figures->recording_count);
    res_course_release(&course);
}

/* Of the first recording what highest rest and highest replayed miss each other by. */
static double missed_of(const struct res_validation *validation, const struct res_trial *trial, size_t place)
{
    struct res_course rest = course_of_rest(&validation->entries[0]),
                      replay = course_of_replay(trial, &trial->entries[place]);
    const double missed = res_fidelity_missed(&rest, &replay);
    res_course_release(&rest);
    res_course_release(&replay);
    return missed;
}

struct res_validation_figures res_validation_figures_of(const struct res_validation *validation,
                                                        const struct res_trial *trial, size_t place,
                                                        uint64_t seed)
{
    const struct res_validation_entry *entry = &validation->entries[place],
                                      *baseline = &validation->entries[0];
    const struct res_figures replayed = res_figures_of(trial, &trial->entries[place], seed);
    const struct res_figures replayed_base = res_figures_of(trial, &trial->entries[0], seed);
    struct res_validation_figures figures = {
        .wall_ns = wall_of(entry),
        .cpu_ns = cpu_median(entry),
        .process_cpu_ns = median_of(entry->images, entry->image_count, process_cpu),
        .startup_total_bytes = entry->startup_heap_bytes + brought_by(entry, baseline),
        .startup_heap_bytes = entry->startup_heap_bytes,
        .disturbed_by = disturbed_by(entry),
    };
    const struct res_fidelity_sample sample = {
        .total = totals_of(entry),
        .heap = heap_of(entry),
        .replayed = {replayed.peak_bytes, replayed.mean_bytes, replayed.end_bytes},
        .startup_total_bytes = figures.startup_total_bytes,
        .startup_heap_bytes = figures.startup_heap_bytes,
        .missed_bytes = missed_of(validation, trial, place),
    };
    predict(validation, sample, place, &figures);
    figures.total_range = ranges_of(entry->images, entry->image_count, total_peak, total_mean, total_end);
    figures.heap_range = heap_ranges_of(entry);
    figures.total_beyond = res_real_beyond_of(&figures.total_range, &figures.memory.predicted_total);
    figures.heap_beyond = res_real_beyond_of(&figures.heap_range, &figures.memory.predicted_heap);
    figures.heap_is_small = res_fidelity_is_small(&figures.memory);
    if (figures.heap_is_small) {
        res_fidelity_leave_heap(&figures.memory);
        figures.heap_beyond = (struct res_real_beyond){NAN, NAN, NAN};
    }
    figures.time = check_time(validation, place, predicted_ns(&replayed, &replayed_base, trial), seed);
    return figures;
}
