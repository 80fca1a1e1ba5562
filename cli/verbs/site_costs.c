/* site_costs.c - see site_costs.h. */
#include "cli/verbs/site_costs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "sites/cost/cost_result.h"

static struct res_sites *unavailable(const char *why)
{
    struct res_sites *sites = res_calloc(1, sizeof *sites);
    sites->unavailable = res_strdup(why);
    return sites;
}

static bool is_searched(const struct cli_sites *reading, const char *directory)
{
    for (size_t i = 0; i < reading->symbol_count; i++)
        if (strcmp(reading->symbols[i], directory) == 0)
            return true;
    return strncmp(directory, "/usr/", 5) == 0 || strncmp(directory, "/lib", 4) == 0;
}

/* A workload has its modules' names only: look where the recording says that they were. What is there counts by build id. */
static void add_directories(const char *source, const struct conv_options *convert, struct cli_sites *reading)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_stacks stacks;
    const bool known = conv_sites_stacks(source, convert, &stacks, error) == FP_OK;
    free(error);
    if (!known)
        return;
    for (uint32_t i = 0; i <= stacks.sites.module_count && reading->symbol_count < CLI_SYMBOL_DIRECTORIES;
         i++) {
        const char *path = i < stacks.sites.module_count ? stacks.paths[i] : stacks.executable;
        const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
        char *directory = slash != NULL && slash != path ? res_strndup(path, (size_t)(slash - path)) : NULL;
        if (directory != NULL && !is_searched(reading, directory))
            reading->symbols[reading->symbol_count++] = directory;
        else
            free(directory);
    }
    conv_stacks_release(&stacks);
}

/* What sites of one process hold.
 * Returns  why it cannot be told, static; NULL: it can, and all three are to be ended by end. */
static const char *measure(const struct cli_verb *verb, const struct res_experiment *experiment,
                           const struct res_trial *trial, const struct site_cost_workload *workload,
                           const struct cli_sites *named, struct conv_sites *sites,
                           struct site_stacks *stacks, struct site_costs *costs)
{
    struct cli_sites reading = *named;
    reading.path = workload->path;
    if (cli_sites_read(verb, &reading, sites, stacks) != CLI_DONE)
        return "the workload has no call stacks that could be read: record with --sites";
    if (sites->sample_bytes > 0) {
        cli_sites_end(sites, stacks);
        return "only a sample of its objects has call stacks: record with --sites alone";
    }
    site_cost_measure(experiment, trial, workload, sites, costs);
    return NULL;
}

static void end(struct conv_sites *sites, struct site_stacks *stacks, struct site_costs *costs)
{
    site_cost_release(costs);
    cli_sites_end(sites, stacks);
}

/* NULL: the process was not there at the moment. */
static struct res_sites *costs_of(const struct cli_verb *verb, const struct res_experiment *experiment,
                                  const struct res_trial *trial, const struct site_cost_workload *replayed,
                                  const struct cli_sites *named, const struct res_result_workload *workload)
{
    struct conv_sites sites;
    struct site_stacks stacks;
    struct site_costs costs;
    const char *why = measure(verb, experiment, trial, replayed, named, &sites, &stacks, &costs);
    if (why != NULL)
        return unavailable(why);
    struct res_sites *told = costs.absent ? NULL : site_cost_result(&costs, &stacks, workload);
    end(&sites, &stacks, &costs);
    return told;
}

/* At the moment at which most is live in all processes of a group together. */
static struct res_sites *costs_of_group(const struct cli_verb *verb, const struct res_experiment *experiment,
                                        const struct res_trial *trial, const struct cli_sites *named,
                                        const struct res_result_workload *workload)
{
    const struct res_workload *group = trial->workload;
    struct res_sites *sum = NULL;
    if (group->duration_ns == 0)
        return unavailable("without recorded time nobody knows which of its processes met");
    for (size_t i = 0; i < group->member_count && (sum == NULL || sum->unavailable == NULL); i++) {
        const struct res_member *member = &group->members[i];
        if (member->offset_ns > group->live_peak_ns)
            continue; /* it had not begun */
        const struct site_cost_workload replayed = {member->path, group->live_peak_ns - member->offset_ns};
        struct res_sites *one = costs_of(verb, experiment, trial, &replayed, named, workload);
        if (one != NULL && sum != NULL && one->unavailable == NULL) {
            site_cost_add(sum, one);
        } else if (one != NULL) {
            if (sum != NULL)
                res_described_release(&RES_SITES, sum);
            free(sum);
            sum = one;
        }
    }
    return sum != NULL ? sum : unavailable("nothing is live in its processes");
}

/* How addresses of a workload are named that was made of a recording. Released by names_release. */
static struct cli_sites names_of(const struct cli_sites *reading, const char *workload)
{
    struct cli_sites names = *reading;
    names.convert = cli_site_defaults().convert;
    for (size_t i = 0; i < names.symbol_count; i++)
        names.symbols[i] = res_strdup(names.symbols[i]);
    if (strcmp(reading->path, workload) != 0)
        add_directories(reading->path, &reading->convert, &names);
    return names;
}

static void names_release(struct cli_sites *names)
{
    for (size_t i = 0; i < names->symbol_count; i++)
        free((char *)(uintptr_t)names->symbols[i]);
}

void cli_site_costs(const struct cli_verb *verb, const struct res_experiment *experiment,
                    char *const *sources, const struct conv_options *convert, enum cli_progress_when progress,
                    struct res_result *result)
{
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        struct cli_sites reading = cli_site_defaults();
        reading.path = sources[i];
        reading.convert = *convert;
        reading.answer.progress = progress;
        const struct site_cost_workload replayed = {trial->workload->path, SITE_AT_PEAK};
        struct cli_sites names = names_of(&reading, trial->workload->path);
        result->workloads[i].sites =
            trial->workload->member_count > 0
                ? costs_of_group(verb, experiment, trial, &names, &result->workloads[i])
                : costs_of(verb, experiment, trial, &replayed, &names, &result->workloads[i]);
        names_release(&names);
    }
}
