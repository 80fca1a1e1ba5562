/* outcome_latency.c - the latency pass as JSON and as a table. */
#include "replay/outcome/outcome.h"

#include <stdio.h>
#include <string.h>

#include "footprint/base/call.h"

static const struct {
    const char *key;
    double share;
} PERCENTILES[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p99_9_ns", 0.999}};

/* Ticks as nanoseconds with a tenth: what a clock of some nanoseconds a step can tell. */
static double nanoseconds(const struct rep_clock *clock, double ticks)
{
    return (double)(uint64_t)(ticks * clock->ns_per_tick * 10 + 0.5) / 10;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void set_figures(json_t *object, const struct rep_histogram *histogram, const struct rep_clock *clock)
{
    rep_set_count(object, "count", histogram->count);
    rep_set_real(object, "mean_ns", rep_histogram_mean(histogram) * clock->ns_per_tick);
    for (size_t i = 0; i < sizeof PERCENTILES / sizeof PERCENTILES[0]; i++)
        rep_set(object, PERCENTILES[i].key,
                json_real(nanoseconds(clock, rep_histogram_percentile(histogram, PERCENTILES[i].share))));
    rep_set_real(object, "max_ns", nanoseconds(clock, (double)histogram->max));
}

/* Only buckets that hold something: three arrays of equal length. */
static json_t *buckets_json(const struct rep_histogram *histogram, const struct rep_clock *clock)
{
    json_t *low = json_array(), *high = json_array(), *count = json_array(), *object = json_object();
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        rep_append(low, json_real(nanoseconds(clock, (double)rep_histogram_low(i))));
        rep_append(high, json_real(nanoseconds(clock, (double)rep_histogram_low(i + 1))));
        rep_append(count, json_integer((json_int_t)histogram->buckets[i]));
    }
    rep_set(object, "low_ns", low);
    rep_set(object, "high_ns", high);
    rep_set(object, "count", count);
    return object;
}

static json_t *whole_json(const struct rep_histogram *histogram, const struct rep_clock *clock)
{
    json_t *object = json_object();
    set_figures(object, histogram, clock);
    rep_set(object, "histogram", buckets_json(histogram, clock));
    return object;
}

/* The sum over the calls from `call` and the size classes from `size_class` on, `calls` and `classes` of them. */
static const struct rep_histogram *sum_of(const struct rep_latency *latency, unsigned call, unsigned calls,
                                          unsigned size_class, unsigned classes)
{
    static struct rep_histogram sum;
    memset(&sum, 0, sizeof sum);
    for (unsigned i = call; i < call + calls; i++)
        for (unsigned j = size_class; latency->by_call[i] != NULL && j < size_class + classes; j++)
            rep_histogram_merge(&sum, &latency->by_call[i][j]);
    return &sum;
}

/* An entry for each call and size class that occurs: by one of them alone, or by both. Only calls have a histogram. */
static json_t *groups_json(const struct rep_latency *latency, const struct rep_clock *clock, bool by_call,
                           bool by_class)
{
    const unsigned calls = by_call ? 1 : FP_CALL_COUNT - 1, classes = by_class ? 1 : REP_CLASSES;
    json_t *array = json_array();
    for (unsigned call = 1; call < FP_CALL_COUNT; call += calls) {
        for (unsigned size_class = 0; size_class < REP_CLASSES; size_class += classes) {
            const struct rep_histogram *sum = sum_of(latency, call, calls, size_class, classes);
            if (sum->count == 0)
                continue;
            json_t *object = by_class ? json_object() : whole_json(sum, clock);
            if (by_class)
                set_figures(object, sum, clock);
            if (by_call)
                rep_set(object, "call", json_string(fp_call_name(call)));
            if (by_class)
                rep_set_count(object, "size_max_bytes", rep_size_class_max(size_class));
            rep_append(array, object);
        }
    }
    return array;
}

static json_t *map_json(const struct rep_latency *latency, const struct rep_clock *clock)
{
    json_t *object = json_object(), *rows = json_array(), *cells = json_array();
    for (uint32_t row = 0; row < REP_MAP_ROWS; row++)
        rep_append(rows, json_real(nanoseconds(clock, (double)rep_histogram_low(row << REP_MAP_SHIFT))));
    for (uint32_t step = 0; step < latency->steps; step++) {
        for (uint32_t row = 0; row < REP_MAP_ROWS; row++) {
            const json_int_t count = latency->map[step][row];
            if (count > 0)
                rep_append(cells, json_pack("[i, i, I]", (int)step, (int)row, count));
        }
    }
    rep_set(object, "over", json_string(latency->by_time ? "recorded time" : "ops"));
    rep_set(object, "steps", json_integer(latency->steps));
    rep_set(object, latency->by_time ? "span_ns" : "span_ops", json_integer((json_int_t)latency->span));
    rep_set(object, "row_low_ns", rows);
    rep_set(object, "cells", cells);
    return object;
}

json_t *rep_latency_json(const struct rep_latency *latency, const struct rep_clock *clock)
{
    json_t *object = whole_json(latency->all, clock);
    rep_set_real(object, "clock_cost_ns", rep_clock_ns(clock, latency->cost_ticks));
    rep_set_real(object, "relative_error_max", REP_HISTOGRAM_REL_ERR);
    rep_set(object, "touch_timed", json_false());
    rep_set(object, "by_call", groups_json(latency, clock, true, false));
    rep_set(object, "by_size_class", groups_json(latency, clock, false, true));
    rep_set(object, "by_call_and_size_class", groups_json(latency, clock, true, true));
    rep_set(object, "map", map_json(latency, clock));
    return object;
}
