/* start_costs.c - start, wait, count; then medians. */
#include "results/measure/experiment/start_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/clock.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/statistics/statistics.h"

#define START_LATE_NS UINT64_C(2000000000) /* of one start: it hangs */

static const char *const PROGRAMS[] = {"/bin/true", "/usr/bin/true"};

static const struct res_start_cost UNKNOWN = {.ns = NAN,
                                              .ns_deviation = NAN,
                                              .cpu_ns = NAN,
                                              .cpu_ns_deviation = NAN,
                                              .faults_minor = NAN,
                                              .more_ns = NAN,
                                              .more_cpu_ns = NAN};

/* Takes over the samples. */
static double median_taken(double *samples, size_t count)
{
    const double median = res_median(samples, count);
    free(samples);
    return median;
}

static double median_more(const double *own, const double *base, size_t count)
{
    double *more = res_calloc(count, sizeof *more);
    for (size_t i = 0; i < count; i++)
        more[i] = own[i] - base[i];
    return median_taken(more, count);
}

struct res_start_cost res_start_costs_of(const struct res_start_samples *own,
                                         const struct res_start_samples *base)
{
    const size_t both = own->count < base->count ? own->count : base->count;
    struct res_start_cost cost = UNKNOWN;
    if (own->count == 0)
        return cost;
    cost.starts = own->count;
    cost.ns = res_median(own->wall_ns, own->count);
    cost.ns_deviation = res_median_deviation(own->wall_ns, own->count);
    cost.cpu_ns = res_median(own->cpu_ns, own->count);
    cost.cpu_ns_deviation = res_median_deviation(own->cpu_ns, own->count);
    cost.faults_minor = res_median(own->faults, own->count);
    if (both > 0) {
        cost.more_ns = median_more(own->wall_ns, base->wall_ns, both);
        cost.more_cpu_ns = median_more(own->cpu_ns, base->cpu_ns, both);
    }
    return cost;
}

/* ---- starts ---------------------------------------------------------------------------------- */

struct side {
    char **environment;
    struct res_start_samples samples;
    bool failed;
};

static double nanoseconds(const struct timeval *time)
{
    return (double)time->tv_sec * 1e9 + (double)time->tv_usec * 1e3;
}

/* kept: whether it counts. */
static void start_once(const struct res_options *options, const char *program, struct side *side, bool kept)
{
    char name[] = "true";
    char *arguments[] = {name, NULL};
    const struct fp_process_plan plan = {.program = program,
                                         .arguments = arguments,
                                         .environment = side->environment,
                                         .streams = {FP_STREAM_NULL, FP_STREAM_NULL, FP_STREAM_NULL},
                                         .default_signals = true,
                                         .dies_with_us = true};
    const uint64_t begin_ns = fp_now_ns();
    const struct fp_process_bounds bounds = {.deadline_ns = begin_ns + START_LATE_NS, .stop = options->stop};
    struct fp_process process;
    if (fp_process_start(&plan, &process) != 0) {
        side->failed = true;
        return;
    }
    const enum fp_process_end end = fp_process_wait(&process, &bounds);
    const double wall_ns = (double)(fp_now_ns() - begin_ns);
    fp_process_release(&process);
    if (end != FP_PROCESS_ENDED || process.status != 0) {
        side->failed = true;
    } else if (kept) {
        const size_t at = side->samples.count++;
        side->samples.wall_ns[at] = wall_ns;
        side->samples.cpu_ns[at] = nanoseconds(&process.usage.ru_utime) +
                                   nanoseconds(&process.usage.ru_stime);
        side->samples.faults[at] = (double)process.usage.ru_minflt;
    }
}

/* Rounds that are whole: a stop or the end of the time is looked for between two. The first one counts for nothing. */
static void start_all(const struct res_options *options, const char *program, struct side *sides)
{
    const uint64_t end_ns = fp_now_ns() + RES_STARTS_NS;
    struct res_random random = res_random_from(options->seed);
    for (unsigned round = 0; round <= options->starts && (options->stop == NULL || *options->stop == 0);
         round++) {
        size_t *order = res_shuffled(&random, options->candidate_count);
        for (size_t i = 0; i < options->candidate_count; i++)
            if (!sides[order[i]].failed)
                start_once(options, program, &sides[order[i]], round > 0);
        free(order);
        if (round > 0 && fp_now_ns() >= end_ns)
            break;
    }
}

static const char *find_program(void)
{
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof PROGRAMS[0]; i++)
        if (access(PROGRAMS[i], X_OK) == 0)
            return PROGRAMS[i];
    return NULL;
}

void res_start_costs(const struct res_options *options, struct res_start_cost *ret_costs)
{
    const char *program = find_program();
    struct side *sides = res_calloc(options->candidate_count, sizeof *sides);
    for (size_t i = 0; i < options->candidate_count; i++) {
        struct res_start_samples *samples = &sides[i].samples;
        sides[i].environment = res_command_environment(options->candidates[i]);
        samples->wall_ns = res_calloc(options->starts, sizeof *samples->wall_ns);
        samples->cpu_ns = res_calloc(options->starts, sizeof *samples->cpu_ns);
        samples->faults = res_calloc(options->starts, sizeof *samples->faults);
    }
    if (program != NULL)
        start_all(options, program, sides);
    for (size_t i = 0; i < options->candidate_count; i++)
        ret_costs[i] = sides[i].failed ? UNKNOWN : res_start_costs_of(&sides[i].samples, &sides[0].samples);
    for (size_t i = 0; i < options->candidate_count; i++) {
        free(sides[i].samples.wall_ns);
        free(sides[i].samples.cpu_ns);
        free(sides[i].samples.faults);
        res_strings_free(sides[i].environment);
    }
    free(sides);
}
