/* metric.c - samples out of a result, and the logarithms of their ratios. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"

#define REMEDY_RUN      "'mallab ab' again: each run has it"
#define REMEDY_LATENCY  "'mallab ab --latency'"
#define REMEDY_IDLE     "'mallab ab' with a rest at the end of its memory passes ('mallab help ab')"
#define IN_RUN(member)  offsetof(struct res_run, member)
#define IN_PASS(member) offsetof(struct res_latency_pass, member)

const struct res_metric_row RES_METRICS[RES_METRIC_COUNT] = {
    [RES_METRIC_TIME] = {"time", "ns/op", RES_UNIT_NS, RES_OF_RUNS, IN_RUN(ns_per_op), REMEDY_RUN},
    [RES_METRIC_P99] = {"p99", "ns", RES_UNIT_NS, RES_OF_PASSES, IN_PASS(all.p99_ns), REMEDY_LATENCY},
    [RES_METRIC_P99_9] = {"p99.9", "ns", RES_UNIT_NS, RES_OF_PASSES, IN_PASS(all.p99_9_ns), REMEDY_LATENCY},
    [RES_METRIC_RSS_PEAK] = {"rss-peak", "bytes", RES_UNIT_BYTES, RES_OF_MEMORY_RUNS,
                             IN_RUN(resident_peak_bytes), REMEDY_RUN},
    [RES_METRIC_RSS_MEAN] = {"rss-mean", "bytes", RES_UNIT_BYTES, RES_OF_MEMORY_RUNS,
                             IN_RUN(resident_mean_bytes), REMEDY_RUN},
    [RES_METRIC_RSS_END] = {"rss-end", "bytes", RES_UNIT_BYTES, RES_OF_MEMORY_RUNS,
                            IN_RUN(resident_end_bytes), REMEDY_RUN},
    [RES_METRIC_RSS_IDLE] = {"rss-idle", "bytes", RES_UNIT_BYTES, RES_OF_MEMORY_RUNS,
                             IN_RUN(resident_idle_bytes), REMEDY_IDLE},
    [RES_METRIC_GROWTH] = {"growth", "bytes/h", RES_UNIT_BYTES, RES_OF_MEMORY_RUNS, IN_RUN(growth.bytes),
                           "'mallab ab' on a recording of ten minutes or more"},
    [RES_METRIC_FAULTS] = {"faults", "faults", RES_UNIT_COUNT, RES_OF_RUNS, IN_RUN(faults_minor), REMEDY_RUN},
};

bool res_metric_from(const char *name, size_t length, enum res_metric *ret_metric)
{
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++) {
        if (strlen(RES_METRICS[metric].name) == length &&
            strncmp(RES_METRICS[metric].name, name, length) == 0) {
            *ret_metric = (enum res_metric)metric;
            return true;
        }
    }
    return false;
}

char *res_metric_names(void)
{
    struct res_text names = {0};
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
        res_text_printf(&names, "%s%s", metric > 0 ? ", " : "", RES_METRICS[metric].name);
    return names.text;
}

const char *res_metric_words(enum res_metric metric, double value, char *room)
{
    if (isfinite(value) && RES_METRICS[metric].unit == RES_UNIT_BYTES)
        return fp_text_bytes(value, room);
    if (RES_METRICS[metric].unit == RES_UNIT_COUNT && fabs(value) < 1e15)
        return res_number_words(fmax(value, 0), room);
    (void)res_ns_words(value, room); /* a huge one fills it */
    return isfinite(value) ? strncat(room, " ns", RES_WORDS - 1 - strlen(room)) : room;
}

/* ---- batches of runs --- */

#define NS_MOST     1e18 /* of a run; more is none */
#define OPS_UNKNOWN 1e6  /* of a result that does not tell */

struct res_run_batches res_run_batches_of(const struct res_run *runs, size_t count)
{
    struct res_run_batches found = {0};
    if (count == 0)
        return found;
    size_t cut = runs[0].batch_count;
    for (size_t i = 0; i < count; i++)
        cut = runs[i].batch_count == cut ? cut : 0;
    found.ops = (double)runs[0].ops - (double)runs[0].inherited_ops;
    if (!(found.ops > 0))
        found.ops = cut > 0 ? 0 : OPS_UNKNOWN;
    found.rounds = res_calloc(count, sizeof *found.rounds);
    found.whole = res_calloc(count, sizeof *found.whole);
    found.batches = (struct res_batches){found.rounds, count, cut > 0 ? cut : 1, NULL};
    for (size_t i = 0; i < count; i++) {
        const double ops = (double)runs[i].ops - (double)runs[i].inherited_ops;
        const double ns = runs[i].ns_per_op * (ops > 0 ? ops : OPS_UNKNOWN);
        const bool has_time = ns >= 0 && ns < NS_MOST;
        found.whole[i] = has_time ? (uint64_t)llround(ns) : 0;
        found.rounds[i] = cut > 0 ? runs[i].batch_ns : &found.whole[i];
        if (cut == 0 && !has_time)
            found.batches.round_count = 0;
    }
    return found;
}

void res_run_batches_release(struct res_run_batches *batches)
{
    free(batches->rounds);
    free(batches->whole);
    *batches = (struct res_run_batches){0};
}

/* ---- samples -------------------------------------------------------------------------------- */

/* The runs of an entry that a metric is of: `count` structs of `size` bytes each. */
struct samples {
    const char *first;
    size_t count, size;
    bool of_passes;
};

static struct samples samples_of(const struct res_result_entry *entry, enum res_metric metric)
{
    const struct res_latency_figures *latency = entry->latency;
    if (RES_METRICS[metric].source == RES_OF_PASSES)
        return (struct samples){latency != NULL ? (const char *)latency->runs : NULL,
                                latency != NULL ? latency->run_count : 0, sizeof *latency->runs, true};
    if (RES_METRICS[metric].source == RES_OF_MEMORY_RUNS && entry->memory_count > 0)
        return (struct samples){(const char *)entry->memory_runs, entry->memory_count,
                                sizeof *entry->memory_runs, true};
    return (struct samples){(const char *)entry->runs, entry->run_count, sizeof *entry->runs, false};
}

static struct res_series series_from(const struct res_result_entry *entry, enum res_metric metric,
                                     double less)
{
    struct res_series series = {0};
    if (entry == NULL)
        return series;
    const struct samples samples = samples_of(entry, metric);
    series.of_passes = samples.of_passes;
    if (samples.count == 0 || samples.count > RES_SERIES_MAX || entry->failed != NULL)
        return series;
    series.values = res_calloc(samples.count, sizeof *series.values);
    series.count = samples.count;
    for (size_t i = 0; i < samples.count; i++) {
        const char *run = samples.first + i * samples.size;
        series.values[i] = *(const double *)(const void *)(run + RES_METRICS[metric].offset) - less;
        if (!isfinite(series.values[i])) {
            res_series_release(&series);
            break;
        }
    }
    return series;
}

bool res_series_has_time(const struct res_series *series)
{
    return series->time.batches.round_count > 0;
}

double res_series_steady_ns(const struct res_series *series)
{
    return series->ops > 0 ? res_steady_net_ns(&series->time.batches, &series->floor.batches) / series->ops
                           : NAN;
}

const struct res_result_entry *res_linked_entry(const struct res_result_workload *workload)
{
    const struct res_runs_on *runs_on = workload->runs_on;
    const bool is_linked = runs_on != NULL && runs_on->name != NULL && runs_on->how != NULL &&
                           strcmp(runs_on->how, "linked") == 0;
    return is_linked ? res_result_entry_named(workload, runs_on->name) : NULL;
}

double res_ratio_of(double other, double base)
{
    if (other < 0 || base < 0)
        return NAN;
    if (base > 0)
        return other / base;
    return other > 0 ? NAN : 1;
}

static struct res_logarithm logarithm_of_times(const struct res_series *series, const struct res_series *base)
{
    const bool is_baseline = series->control.batches.round_count > 0;
    const struct res_steady_sides sides = {
        .other = &series->time.batches,
        .base = base != NULL ? &base->time.batches : NULL,
        .control = base != NULL && !series->is_control && !is_baseline ? &base->control.batches : NULL,
        .floor = &series->floor.batches,
    };
    struct res_logarithm found = res_steady_logarithm(&sides);
    if (base == NULL && isfinite(series->ns_per_op))
        found.value = log(series->ns_per_op);
    return found;
}

struct res_logarithm res_series_logarithm(const struct res_series *series, const struct res_series *base)
{
    const size_t count = base == NULL || series->count < base->count ? series->count : base->count;
    if (res_series_has_time(series) && (base == NULL || res_series_has_time(base)))
        return logarithm_of_times(series, base);
    RES_FREED double *ratios = res_calloc(count + 1, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = base == NULL ? series->values[i] : res_ratio_of(series->values[i], base->values[i]);
    return res_trimmed_logarithm(ratios, count);
}

struct res_logarithm res_series_across(const struct res_series *now, const struct res_series *then)
{
    const struct res_logarithm one = res_series_logarithm(now, NULL);
    const struct res_logarithm other = res_series_logarithm(then, NULL);
    struct res_logarithm difference = res_logarithms_difference(one, other);
    if (one.value == other.value) /* also of 0 over 0 */
        difference.value = 0;
    return difference;
}

struct res_series res_series_of(const struct res_result_workload *workload,
                                const struct res_result_entry *entry, enum res_metric metric)
{
    const struct res_result_entry *floor = workload != NULL ? workload->floor : NULL;
    const bool is_resident = RES_METRICS[metric].source == RES_OF_MEMORY_RUNS && metric != RES_METRIC_GROWTH;
    const double less = is_resident && entry != NULL ? -res_held_start(entry) : 0;
    struct res_series series = series_from(entry, metric, less);
    if (metric == RES_METRIC_TIME && series.count > 0) {
        series.time = res_run_batches_of(entry->runs, entry->run_count);
        series.ops = series.time.ops > 0 ? series.time.ops
                     : workload != NULL  ? (double)workload->ops - (double)workload->inherited_ops
                                         : NAN;
        if (floor != NULL && floor != entry && floor->failed == NULL)
            series.floor = res_run_batches_of(floor->runs, floor->run_count);
        series.is_control = workload != NULL && entry == &workload->control;
        if (workload != NULL && workload->candidate_count > 0 && entry == &workload->candidates[0] &&
            workload->control.failed == NULL)
            series.control = res_run_batches_of(workload->control.runs, workload->control.run_count);
        series.ns_per_op = entry->figures.steady_ns_per_op;
    }
    return series;
}

double res_metric_value(const struct res_result_workload *workload, const struct res_result_entry *entry,
                        enum res_metric metric)
{
    struct res_series series = res_series_of(workload, entry, metric);
    const double value = res_series_has_time(&series) ? series.ns_per_op
                         : series.count > 0           ? res_median(series.values, series.count)
                                                      : NAN;
    res_series_release(&series);
    return value;
}

void res_series_release(struct res_series *series)
{
    res_run_batches_release(&series->time);
    res_run_batches_release(&series->floor);
    res_run_batches_release(&series->control);
    free(series->values);
    *series = (struct res_series){.of_passes = series->of_passes};
}

size_t res_series_rounds_needed(const struct res_series *series)
{
    return series->of_passes ? RES_ROUNDS_OF_PASSES : RES_ROUNDS_FOR_VERDICT;
}

/* ---- of single calls, over the latency passes ------------------------------------------------ */

/* The median over the passes that have the figure at this offset, or the largest. */
static double over(const struct res_latency_figures *latency, size_t offset, bool largest)
{
    RES_FREED double *values = res_calloc(latency->run_count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < latency->run_count; i++) {
        const double value = *(const double *)(const void *)((const char *)&latency->runs[i].all + offset);
        if (isfinite(value))
            values[count++] = value;
    }
    return count > 0 ? res_quantile(values, count, largest ? 1 : 0.5) : NAN;
}

#define AT(member) offsetof(struct res_call_figures, member)

static void fill(const struct res_latency_figures *latency, struct res_call_figures *ret_figures)
{
    static const size_t MEDIANS[] = {AT(count),  AT(mean_ns), AT(p50_ns),
                                     AT(p90_ns), AT(p99_ns),  AT(p99_9_ns)};
    for (size_t i = 0; i < sizeof MEDIANS / sizeof MEDIANS[0]; i++)
        *(double *)(void *)((char *)ret_figures + MEDIANS[i]) = over(latency, MEDIANS[i], false);
    ret_figures->max_ns = over(latency, AT(max_ns), true);
}

struct res_latency_figures *res_latency_read(const json_t *array, const char *failed)
{
    if (array == NULL)
        return NULL;
    struct res_latency_figures *figures = res_calloc(1, sizeof *figures);
    json_t *runs = failed == NULL ? json_pack("{s:O}", "runs", array) : json_object();
    RES_FREED char *problem = NULL;
    if (!res_described_read(&RES_LATENCY, runs, figures, &problem))
        res_described_init(&RES_LATENCY, figures);
    json_decref(runs);
    figures->unavailable = failed != NULL ? res_text_plain(failed) : NULL;
    return figures;
}

void res_latency_measure(struct res_result_entry *entry)
{
    struct res_latency_figures *latency = entry->latency, figures;
    if (latency == NULL || latency->unavailable != NULL || latency->run_count == 0)
        return;
    res_described_init(&RES_LATENCY, &figures);
    figures.runs = latency->runs;
    figures.passes = figures.run_count = latency->run_count;
    latency->runs = NULL;
    latency->run_count = 0;
    res_described_release(&RES_LATENCY, latency);
    fill(&figures, &figures.all);
    *latency = figures;
}
