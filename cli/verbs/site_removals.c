/* site_removals.c - a workload as it is and one without each choice of sites, an experiment of all in turn. */
#include "cli/verbs/site_removals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/verbs/convert_each.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/experiment_step.h"
#include "cli/verbs/result_files.h"
#include "footprint/base/clock.h"
#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/removal.h"
#include "sites/cost/site_cost.h"
#include "sites/table/site_table.h"

/* Where nobody says: so many rounds, or, once there are 8, as many as fit in a minute. */
#define ROUNDS       16u
#define BUDGET_NS    UINT64_C(60000000000)
#define ROUNDS_LEAST RES_ROUNDS_FOR_INTERVAL /* of time alone; memory is told of 8 */

/* Sites that are left out together. */
struct chosen {
    char *words, *name; /* of them, and of the workload */
    char *key;          /* of their group; NULL: they were chosen by words */
    bool *sites;        /* by number */
    uint64_t allocations;
    char *path;
};

struct measuring {
    const struct cli_removals *asked;
    const char *directory;
    char *with; /* the workload's path */
    struct chosen *chosen;
    size_t count;
    uint32_t site_end; /* of their numbers */
    struct res_options options;
    struct res_workload *workloads; /* the one with all first */
    struct cli_progress progress;
    uint64_t begin_ns;
    bool is_announced;
};

static void chosen_release(struct chosen *chosen)
{
    free(chosen->words);
    free(chosen->name);
    free(chosen->key);
    free(chosen->sites);
    free(chosen->path);
}

/* ---- what is left out ------------------------------------------------------------------------ */

static void choose_words(struct measuring *measuring, struct cli_without *without)
{
    measuring->count = 1;
    measuring->chosen = res_calloc(1, sizeof *measuring->chosen);
    measuring->chosen[0] = (struct chosen){
        .words = res_strdup(without->all), .sites = without->sites, .allocations = without->allocations};
    without->sites = NULL; /* they are ours now */
}

static void mark_sites(const struct site_stacks *stacks, const struct cli_removals *asked,
                       struct chosen *chosen, size_t count)
{
    const struct conv_sites *sites = stacks->sites;
    for (size_t i = 0; i < count; i++)
        chosen[i].sites = res_calloc((size_t)sites->stacks.node_end + 1, sizeof *chosen[i].sites);
    for (size_t k = 0; k < sites->count; k++) {
        const uint32_t site = sites->counts[k].site;
        char *key = site_group_key(stacks, site, asked->by);
        for (size_t i = 0; i < count && site < sites->stacks.node_end; i++)
            if (strcmp(chosen[i].key, key) == 0 && site_stack_holds(stacks, site, asked->filter))
                chosen[i].sites[site] = true;
        free(key);
    }
}

/* Whoever makes all calls cannot be left out. */
static void tell_all(const struct cli_verb *verb, const char *words)
{
    cli_say(verb, "all calls are made by '%s': without it there is nothing to replay", words);
}

static int choose_largest(struct measuring *measuring, struct site_stacks *stacks)
{
    const struct cli_removals *asked = measuring->asked;
    struct site_group *groups;
    bool is_all = false;
    const size_t all = site_groups_make(stacks, asked->by, asked->filter, &groups);
    site_groups_sort(groups, all, SITE_TABLE_SITES, asked->sort != NULL ? asked->sort : "allocations");
    measuring->chosen = res_calloc(all + 1, sizeof *measuring->chosen);
    for (size_t i = 0; i < all && i < asked->most; i++)
        site_stacks_lines(stacks, groups[i].counts.site);
    site_stacks_settle(stacks);
    for (size_t i = 0; i < all && measuring->count < asked->most; i++) {
        if (groups[i].counts.site == 0 || groups[i].counts.allocations < 1)
            continue; /* nobody knows whose they are */
        char *words = site_group_words(stacks, &groups[i], asked->by);
        if (groups[i].counts.allocations >= (double)stacks->sites->allocations) {
            char *plain = res_text_plain(words);
            tell_all(asked->verb, plain);
            free(plain);
            free(words);
            is_all = true;
            continue;
        }
        measuring->chosen[measuring->count++] = (struct chosen){
            .words = res_text_plain(words),
            .key = res_strdup(groups[i].key),
            .allocations = (uint64_t)groups[i].counts.allocations};
        free(words);
    }
    mark_sites(stacks, asked, measuring->chosen, measuring->count);
    site_groups_release(groups, all);
    if (measuring->count == 0 && !is_all)
        cli_say(asked->verb, "no call site of '%s' allocates and is known: 'mallab sites' shows them",
                asked->reading->path);
    return measuring->count > 0 ? CLI_DONE : CLI_MISUSE;
}

static int choose(struct measuring *measuring)
{
    const struct cli_removals *asked = measuring->asked;
    struct site_stacks stacks;
    struct conv_sites sites;
    int code = cli_sites_read(asked->verb, asked->reading, &sites, &stacks);
    if (code != CLI_DONE)
        return code;
    code = cli_sites_check_all(asked->verb, asked->reading->path, &sites);
    if (code == CLI_DONE && asked->without != NULL) {
        code = cli_without_among(asked->verb, asked->reading, &stacks, asked->without);
        if (code == CLI_DONE && asked->without->allocations >= sites.allocations) {
            tell_all(asked->verb, asked->without->all);
            code = CLI_MISUSE;
        }
        if (code == CLI_DONE)
            choose_words(measuring, asked->without);
    } else if (code == CLI_DONE) {
        code = choose_largest(measuring, &stacks);
    }
    measuring->site_end = sites.stacks.node_end;
    cli_sites_end(&sites, &stacks);
    return code;
}

/* ---- workloads ------------------------------------------------------------------------------- */

static void show_part(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "convert", "events", events, done, total);
}

/* What of the recording is doubtful was told of the whole. */
static int make_part(struct measuring *measuring, const char *path, struct conv_options *options)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_report report;
    int code = CLI_DONE;
    options->progress = show_part;
    options->progress_data = &measuring->progress;
    cli_progress_begin(&measuring->progress, measuring->asked->reading->answer.progress);
    const enum fp_status status = conv_file(measuring->asked->reading->path, path, options, &report, error);
    cli_progress_end(&measuring->progress);
    if (status == FP_OK)
        conv_report_release(&report);
    else
        code = cli_conv_failed(measuring->asked->verb, error);
    free(error);
    return code;
}

/* without: NULL: of all. */
static int make_workload(struct measuring *measuring, const char *path, const struct chosen *without)
{
    const struct cli_removals *asked = measuring->asked;
    struct conv_options options = asked->reading->convert;
    const struct conv_without sites = {.sites = without != NULL ? without->sites : NULL,
                                       .end = measuring->site_end,
                                       .words = "some of them"}; /* nobody keeps it */
    options.select.without = without != NULL ? &sites : NULL;
    options.overwrite = true;
    if (without != NULL)
        return make_part(measuring, path, &options);
    return cli_convert_file(asked->verb, asked->reading->path, path, &options, true,
                            asked->reading->answer.progress, NULL);
}

static int facts_of(struct measuring *measuring, size_t number, const char *path, const char *name)
{
    const int code = cli_workload_facts(measuring->asked->verb, path, measuring->asked->reading->path,
                                        &measuring->workloads[number]);
    measuring->workloads[number].name = name;
    return code;
}

/* ---- the experiment -------------------------------------------------------------------------- */

/* What the rounds will take, once the warm-up is over. */
static void announce(struct measuring *measuring, size_t runs_done)
{
    const struct res_options *options = &measuring->options;
    const size_t replays = (options->candidate_count + 1 + (options->floor != NULL)) *
                           options->workload_count;
    const double run_ns = (double)(fp_now_ns() - measuring->begin_ns) / (double)runs_done;
    const struct res_until_plan plan = res_until_plan(options, options->time_budget_ns,
                                                      run_ns * (double)replays);
    const bool is_more = plan.most_ns > plan.least_ns;
    cli_progress_end(&measuring->progress);
    cli_say(measuring->asked->verb,
            "%zu site%s left out%s: %u round%s%s of %zu replays, some %s by the warm-up%s%s%s",
            measuring->count, measuring->count == 1 ? "" : "s", measuring->count == 1 ? "" : ", each alone",
            plan.least, plan.least == 1 ? "" : "s", is_more ? " or more" : "", replays,
            RES_DURATION(plan.least_ns), is_more ? "; more, up to " : "",
            is_more ? RES_DURATION(plan.most_ns) : "", is_more ? " (--time-budget, -n)" : "");
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct measuring *measuring = context;
    const size_t number = (size_t)(workload - measuring->workloads);
    char *words = round == RES_ROUND_PASS ? res_printf("what is held, %s", entry)
                  : number < RES_REMOVAL_WHOLE
                      ? res_printf("with all sites, %s", entry)
                      : res_printf("without site %zu of %zu, %s", number - RES_REMOVAL_WHOLE + 1,
                                   measuring->count, entry);
    if (round == 1 && !measuring->is_announced && !measuring->asked->reading->answer.quiet)
        announce(measuring, runs_done);
    measuring->is_announced |= round == 1;
    cli_progress_show(&measuring->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

/* Of time alone, and nobody says how long. */
static bool is_default(const struct measuring *measuring)
{
    const struct res_options *options = &measuring->asked->options;
    return options->rounds == 0 && options->time_budget_ns == 0 && options->memory_rounds == 0;
}

static struct res_options options_of(struct measuring *measuring)
{
    struct res_options options = measuring->asked->options;
    const bool is_bound = options.time_budget_ns > 0;
    options.workloads = measuring->workloads;
    options.workload_count = measuring->count + RES_REMOVAL_WHOLE;
    options.in_turn = true;
    options.candidates = measuring->asked->choice->candidates;
    options.candidate_count = measuring->asked->choice->candidate_count;
    options.floor = measuring->asked->choice->floor;
    if (options.rounds == 0) {
        options.rounds = is_bound ? RES_UNTIL_ROUNDS_MAX : ROUNDS;
        options.time_budget_ns = is_bound ? options.time_budget_ns : BUDGET_NS;
    }
    options.rounds_least = is_bound                ? 1
                           : is_default(measuring) ? ROUNDS_LEAST
                                                   : 0; /* what is asked for holds */
    options.stop = &cli_stopped_by;
    options.progress = on_progress;
    options.context = measuring;
    return options;
}

/* Where a minute is too short for all that were chosen: as many as fit, those with most calls. A round of the workload as it is
 * tells what one takes. */
static void drop_beyond_budget(struct measuring *measuring)
{
    const struct cli_answer *answer = &measuring->asked->reading->answer;
    struct res_options options = options_of(measuring);
    struct res_experiment experiment;
    struct res_text dropped = {0};
    const size_t all = measuring->count;
    options.workload_count = 1;
    options.rounds = 1;
    options.time_budget_ns = 0;
    measuring->is_announced = true; /* there is nothing to announce yet */
    cli_progress_begin(&measuring->progress, answer->progress);
    const uint64_t begin_ns = fp_now_ns();
    res_experiment_run(&options, &experiment);
    const uint64_t round_ns = (fp_now_ns() - begin_ns) / 2 + 1; /* the warm-up is one, too */
    cli_progress_end(&measuring->progress);
    res_experiment_release(&experiment);
    measuring->is_announced = false;
    const uint64_t fit = BUDGET_NS / round_ns / (ROUNDS_LEAST + 1);
    while (measuring->count > 1 && measuring->count + RES_REMOVAL_WHOLE > fit)
        measuring->count--;
    for (size_t i = measuring->count; i < all; i++) {
        res_text_printf(&dropped, "%s%s", i > measuring->count ? "; " : "", measuring->chosen[i].words);
        chosen_release(&measuring->chosen[i]);
    }
    if (measuring->count < all && cli_stopped_by == 0)
        cli_say(measuring->asked->verb,
                "a minute is too short for %zu of %zu sites (--top %zu takes them, too): %s",
                all - measuring->count, all, all, dropped.text);
    free(dropped.text);
}

static int make_workloads(struct measuring *measuring, const char *path)
{
    int code = CLI_DONE;
    measuring->workloads = res_calloc(measuring->count + RES_REMOVAL_WHOLE, sizeof *measuring->workloads);
    measuring->with = path != NULL ? res_strdup(path) : res_path_join(measuring->directory, "with.wl");
    if (path == NULL)
        code = make_workload(measuring, measuring->with, NULL);
    for (size_t i = 0; i < RES_REMOVAL_WHOLE && code == CLI_DONE; i++)
        code = facts_of(measuring, i, measuring->with, "with all");
    if (code == CLI_DONE && measuring->asked->may_be_fewer && is_default(measuring))
        drop_beyond_budget(measuring);
    for (size_t i = 0; i < measuring->count && code == CLI_DONE && cli_stopped_by == 0; i++) {
        struct chosen *chosen = &measuring->chosen[i];
        chosen->path = res_printf("%s/without-%zu.wl", measuring->directory, i + 1);
        chosen->name = res_printf("without %s", chosen->words);
        code = make_workload(measuring, chosen->path, chosen);
        if (code == CLI_DONE)
            code = facts_of(measuring, i + RES_REMOVAL_WHOLE, chosen->path, chosen->name);
    }
    return code;
}

/* ---- what they hold -------------------------------------------------------------------------- */

/* Of a candidate; NAN: not known. */
static double held_by(const struct chosen *chosen, const struct conv_sites *sites,
                      const struct site_cost_entry *cost, uint32_t end)
{
    double held = 0;
    if (cost->failed != NULL)
        return NAN;
    for (size_t i = 0; i < sites->count; i++)
        if (sites->counts[i].site < end && chosen->sites[sites->counts[i].site])
            held += cost->held[i];
    return held;
}

static void fill_held(const struct measuring *measuring, const struct conv_sites *sites,
                      const struct site_costs *costs, struct res_removal *removals)
{
    for (size_t i = 0; i < measuring->count; i++) {
        struct res_removal *removal = &removals[i];
        removal->held_unavailable = res_strdup(costs->unavailable);
        for (size_t k = 0; k < removal->candidate_count && costs->unavailable == NULL; k++)
            removal->candidates[k].held_bytes = held_by(&measuring->chosen[i], sites, &costs->entries[k],
                                                        measuring->site_end);
    }
}

/* Numbers of sites are the recording's. */
static void measure_held(struct measuring *measuring, const struct res_experiment *experiment,
                         struct res_removal *removals)
{
    const struct site_cost_workload replayed = {measuring->with, SITE_AT_PEAK};
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_sites sites;
    struct site_costs costs;
    if (conv_sites_file(measuring->with, NULL, NULL, &sites, error) == FP_OK) {
        cli_progress_begin(&measuring->progress, measuring->asked->reading->answer.progress);
        site_cost_measure(experiment, &experiment->trials[0], &replayed, &sites, &costs);
        cli_progress_end(&measuring->progress);
        fill_held(measuring, &sites, &costs, removals);
        site_cost_release(&costs);
        conv_sites_release(&sites);
    }
    free(error);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int measure(struct measuring *measuring, struct res_result *ret_result, bool *ret_failed)
{
    const struct cli_answer *answer = &measuring->asked->reading->answer;
    struct res_removal_of *of = res_calloc(measuring->count, sizeof *of);
    struct res_experiment experiment;
    for (size_t i = 0; i < measuring->count; i++)
        of[i] = (struct res_removal_of){measuring->chosen[i].words, measuring->chosen[i].allocations};
    measuring->options = options_of(measuring);
    measuring->begin_ns = fp_now_ns();
    const int code = cli_experiment_step(measuring->asked->verb, &measuring->options,
                                         measuring->asked->choice, &measuring->progress, answer->progress,
                                         answer->quiet, &experiment, ret_result, ret_failed);
    if (code == CLI_DONE) {
        res_removals_fill(experiment.trials, of, ret_result);
        if (!experiment.stopped)
            measure_held(measuring, &experiment, ret_result->workloads[0].removals);
        res_removals_sort(&ret_result->workloads[0]);
    }
    res_experiment_release(&experiment);
    free(of);
    return code;
}

static void release(struct measuring *measuring)
{
    for (size_t i = 0; i < measuring->count; i++)
        chosen_release(&measuring->chosen[i]);
    free(measuring->chosen);
    free(measuring->workloads);
    free(measuring->with);
}

int cli_removals_measure(const struct cli_removals *removals, const char *path, struct res_result *ret_result,
                         bool *ret_failed)
{
    struct measuring measuring = {.asked = removals};
    int code = cli_work_directory(removals->verb, NULL, &measuring.directory);
    if (code == CLI_DONE)
        code = choose(&measuring);
    if (code == CLI_DONE)
        code = make_workloads(&measuring, path);
    if (code == CLI_DONE && cli_stopped_by != 0) {
        cli_say(removals->verb, "stopped before the first round: there is no result");
        code = CLI_FAILED;
    }
    if (code == CLI_DONE)
        code = measure(&measuring, ret_result, ret_failed);
    release(&measuring);
    return code;
}
