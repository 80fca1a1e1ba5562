/* site_costs.c - see site_costs.h. */
#include "cli/verbs/site_costs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs/site_reading.h"
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

static struct res_sites *costs_of(const struct cli_verb *verb, const struct res_experiment *experiment,
                                  const struct res_trial *trial, struct cli_sites reading,
                                  const struct res_result_workload *workload)
{
    struct conv_sites sites;
    struct site_stacks stacks;
    struct site_costs costs;
    if (trial->workload->member_count > 0)
        return unavailable("several processes were replayed one by one, and call sites are of one");
    reading.path = trial->workload->path;
    if (cli_sites_read(verb, &reading, &sites, &stacks) != CLI_DONE)
        return unavailable("the workload has no call stacks that could be read: record with --sites");
    if (sites.sample_bytes > 0) {
        cli_sites_end(&sites, &stacks);
        return unavailable("only a sample of its objects has call stacks: record with --sites alone");
    }
    site_cost_measure(experiment, trial, &sites, &costs);
    struct res_sites *told = site_cost_result(&costs, &stacks, workload);
    site_cost_release(&costs);
    cli_sites_end(&sites, &stacks);
    return told;
}

void cli_site_costs(const struct cli_verb *verb, const struct res_experiment *experiment,
                    char *const *sources, const struct conv_options *convert, enum cli_progress_when progress,
                    struct res_result *result)
{
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        struct cli_sites reading = cli_site_defaults();
        reading.answer.progress = progress;
        if (trial->workload->member_count == 0 && strcmp(sources[i], trial->workload->path) != 0)
            add_directories(sources[i], convert, &reading);
        result->workloads[i].sites = costs_of(verb, experiment, trial, reading, &result->workloads[i]);
        for (size_t k = 0; k < reading.symbol_count; k++)
            free((char *)(uintptr_t)reading.symbols[k]);
    }
}
