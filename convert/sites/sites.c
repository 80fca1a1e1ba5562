/* sites.c - a recording's sites: one pass, and the stacks of all its footprints put together; estimates from samples. */
#include "convert/sites/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/error.h"
#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "footprint/fp/fp_sites.h"

/* ---- stacks ---------------------------------------------------------------------------------- */

static enum fp_status take_stacks(const struct conv_input *input, const char *path, struct conv_sites *to,
                                  struct conv_error *error)
{
    if (input->stacks == NULL) {
        return CONV_FOREIGN(error, path, "has no call stacks: record with 'mallab record --sites'");
    }
    const enum fp_status status = input->stacks(input->data, &to->owner, error);
    to->stacks = to->owner.sites;
    to->executable = to->owner.executable;
    return status;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static struct conv_sink watch(void *data, struct conv_sink next)
{
    return conv_site_tally_sink(data, next);
}

static uint64_t most(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t moment_ns(const struct conv_when *when, uint64_t end_ns)
{
    if (when->kind == CONV_WHEN_NONE)
        return 0;
    return when->kind == CONV_WHEN_TIME ? when->value
                                        : (uint64_t)((double)end_ns * (double)when->value / CONV_SHARE_WHOLE);
}

/* Times of a pass, which counts from the begin of the first window that is there. */
struct span {
    uint64_t begin_ns; /* that, by the recording's clock */
    uint64_t whole_ns; /* the recording's end; 0: the last event's time */
    uint64_t to_ns;    /* the section's end; UINT64_MAX: it has none */
};

static struct span span_of(const struct conv_input *input, uint64_t begin_ns,
                           const struct conv_selection *select, const struct conv_sites_ages *ages)
{
    const uint64_t clock_ns = ages->now_ns > begin_ns ? ages->now_ns - begin_ns : 0;
    struct span span = {.begin_ns = begin_ns, .to_ns = UINT64_MAX};
    span.whole_ns = input->end_ns > clock_ns ? input->end_ns : clock_ns;
    if (select->to.kind == CONV_WHEN_TIME)
        span.to_ns = select->to.value;
    else if (select->head > 0)
        span.to_ns = 0; /* the last event's time */
    return span;
}

/* When what is live is looked at, and what of it counts. Returns before when that was made. */
static uint64_t settle_ages(struct conv_site_tally *tally, const struct conv_sites_ages *ages,
                            const struct span *span, struct conv_sites *sites)
{
    const uint64_t last_ns = tally->now_ns,
                   end_ns = span->whole_ns < span->to_ns ? span->whole_ns : span->to_ns;
    const uint64_t from_ns = ages->from_ns > span->begin_ns ? ages->from_ns - span->begin_ns : 0;
    uint64_t until_ns;
    tally->now_ns = most(last_ns, end_ns);
    sites->since_ns = most(from_ns, moment_ns(&ages->since, most(last_ns, span->whole_ns)));
    until_ns = ages->older_ns <= tally->now_ns ? tally->now_ns - ages->older_ns + 1 : 0;
    until_ns = until_ns > last_ns ? last_ns + 1 : until_ns;
    sites->until_ns = span->begin_ns + until_ns;
    sites->whole_ns = span->whole_ns;
    return until_ns;
}

/* The counts become the caller's. */
static enum fp_status conclude(struct conv_site_tally *tally, const struct conv_sites_ages *ages,
                               const struct span *span, const char *path, struct conv_sites *sites,
                               struct conv_error *error)
{
    const uint64_t until_ns = settle_ages(tally, ages, span, sites);
    if (!conv_site_tally_end(tally, sites->since_ns, until_ns))
        return conv_fail_memory(error, path, "the sites of what is live");
    sites->counts = malloc((tally->count + 1) * sizeof *sites->counts);
    if (sites->counts == NULL)
        return conv_fail_memory(error, path, "its sites");
    for (size_t i = 0; i < tally->count; i++)
        if (tally->counts[i].site != FP_CUT_UNSAMPLED || tally->sample_bytes == 0)
            sites->counts[sites->count++] = tally->counts[i];
    sites->all_live_bytes = tally->live_bytes;
    sites->peak_ns = tally->peak_ns;
    sites->end_ns = tally->now_ns;
    return FP_OK;
}

static enum fp_status run(const char *path, enum conv_kind kind, const struct conv_options *options,
                          const struct conv_sites_ages *ages, struct conv_sites *sites,
                          struct conv_error *error)
{
    struct conv_options settled = *options;
    struct conv_sites_ages settled_ages = *ages;
    struct conv_site_tally tally;
    struct conv_input input;
    enum fp_status status = kind == CONV_KIND_WORKLOAD
                                ? conv_workload_open(path, &sites->survey, error, &input)
                                : conv_input_open(path, options, &sites->survey, error, &input);
    if (status != FP_OK)
        return status;
    status = take_stacks(&input, path, sites, error);
    if (status == FP_OK)
        status = conv_input_settle(path, &input, &settled, &sites->survey, error);
    if (status == FP_OK)
        status = conv_plan_clock(path, sites->survey.start_unix_ns, input.end_ns, &settled_ages.since, error);
    if (!conv_site_tally_init(&tally) && status == FP_OK)
        status = conv_fail_memory(error, path, "its sites");
    if (status == FP_OK)
        tally.sample_bytes = sites->survey.sample_bytes;
    settled.watch = watch;
    settled.watch_data = &tally;
    if (status == FP_OK) {
        status = conv_pass_run(&input, &settled, NULL, &sites->survey, error);
        if (status != FP_OK && error->cause.status == FP_OK)
            status = conv_fail_memory(error, path, "more live objects");
    }
    if (status == FP_OK) {
        conv_recording_judge(&sites->survey, true);
        const struct span span = span_of(&input, sites->survey.begin_ns, &settled.select, &settled_ages);
        status = conclude(&tally, &settled_ages, &span, path, sites, error);
    }
    conv_site_tally_release(&tally);
    input.close(input.data);
    return status;
}

enum fp_status conv_sites_file(const char *path, const struct conv_options *options,
                               const struct conv_sites_ages *ages, struct conv_sites *ret_sites,
                               struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    static const struct conv_sites_ages all = {0};
    struct conv_sites sites = {0};
    enum conv_kind kind;
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    snprintf(sites.survey.input, sizeof sites.survey.input, "%s", path);
    status = conv_resolve(path, options, &kind, ret_error);
    if (status == FP_OK && kind != CONV_KIND_FOOTPRINT && kind != CONV_KIND_RECORDING &&
        kind != CONV_KIND_WORKLOAD && kind != CONV_KIND_UNKNOWN)
        status = CONV_FOREIGN(ret_error, path,
                              "is no recording, footprint or workload, which alone have call stacks");
    if (status == FP_OK && kind == CONV_KIND_WORKLOAD && conv_process_asked(options))
        status = conv_fail(ret_error, path, FP_ERR_ARGUMENT, 0, 0,
                           "is a workload, of one process: leave out --process");
    if (status == FP_OK)
        status = run(path, kind, options, ages != NULL ? ages : &all, &sites, ret_error);
    if (status != FP_OK) {
        conv_sites_release(&sites);
        return conv_bound_told(status, path, ret_error);
    }
    *ret_sites = sites;
    return FP_OK;
}

void conv_sites_release(struct conv_sites *sites)
{
    conv_survey_release(&sites->survey);
    free(sites->counts);
    fp_stacks_release(&sites->owner);
    *sites = (struct conv_sites){0};
}
