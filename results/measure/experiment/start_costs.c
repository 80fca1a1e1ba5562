/* start_costs.c - start, wait, count; then medians. */
#include "results/measure/experiment/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "results/measure/base/random.h"
#include "results/measure/experiment/timed.h"

#define START_LATE_NS UINT64_C(2000000000) /* of one start: it hangs */

static const struct res_start_cost UNKNOWN = {.cpu_ns = NAN, .more_cpu_ns = NAN};

struct res_start_cost res_start_costs_of(const struct res_start_samples *own,
                                         const struct res_start_samples *base)
{
    const size_t both = own->count < base->count ? own->count : base->count;
    RES_FREED double *more = res_calloc(both + 1, sizeof *more);
    struct res_start_cost cost = UNKNOWN;
    for (size_t i = 0; i < both; i++)
        more[i] = own->cpu_ns[i] - base->cpu_ns[i];
    if (own->count > 0)
        cost = (struct res_start_cost){.starts = own->count,
                                       .cpu_ns = res_median(own->cpu_ns, own->count),
                                       .more_cpu_ns = both > 0 ? res_median(more, both) : NAN};
    return cost;
}

/* ---- starts ---------------------------------------------------------------------------------- */

struct side {
    char **environment;
    struct res_start_samples samples;
    bool failed;
};

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
    fp_process_release(&process);
    if (end != FP_PROCESS_ENDED || process.status != 0) {
        side->failed = true;
    } else if (kept) {
        side->samples.cpu_ns[side->samples.count++] = res_used_ns(&process.usage);
    }
}

/* Rounds that are whole: a stop or the end of the time is looked for between two. The first one counts for nothing. */
static void start_all(const struct res_options *options, const char *program, struct side *sides)
{
    const uint64_t end_ns = fp_now_ns() + RES_STARTS_NS;
    struct res_random random = res_random_from(options->seed);
    for (unsigned round = 0; round <= options->starts && (options->stop == NULL || *options->stop == 0);
         round++) {
        RES_FREED size_t *order = res_shuffled(&random, options->candidate_count);
        for (size_t i = 0; i < options->candidate_count; i++)
            if (!sides[order[i]].failed)
                start_once(options, program, &sides[order[i]], round > 0);
        if (round > 0 && fp_now_ns() >= end_ns)
            break;
    }
}

void res_start_costs(const struct res_options *options, bool cxx_library, struct res_start_cost *ret_costs)
{
    const char *program = access("/bin/true", X_OK) == 0 ? "/bin/true" : "/usr/bin/true";
    RES_FREED struct side *sides = res_calloc(options->candidate_count, sizeof *sides);
    for (size_t i = 0; i < options->candidate_count; i++) {
        struct res_candidate preloaded = *options->candidates[i];
        preloaded.path = res_printf("%s%s", preloaded.path, cxx_library ? ":libstdc++.so.6" : "");
        sides[i].environment = res_command_environment(&preloaded);
        free(preloaded.path);
        sides[i].samples.cpu_ns = res_calloc(options->starts, sizeof(double));
    }
    start_all(options, program, sides);
    for (size_t i = 0; i < options->candidate_count; i++)
        ret_costs[i] = sides[i].failed ? UNKNOWN : res_start_costs_of(&sides[i].samples, &sides[0].samples);
    for (size_t i = 0; i < options->candidate_count; i++) {
        free(sides[i].samples.cpu_ns);
        res_strings_free(sides[i].environment);
    }
}
