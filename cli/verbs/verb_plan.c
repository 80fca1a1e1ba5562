/* verb_plan.c - `mallab plan`: many workloads cut into cells, what they will cost, and how to run them. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/plan_inputs.h"
#include "cli/verbs/plan_losers.h"
#include "cli/verbs/plan_screen.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/machine/disturbances.h"
#include "results/measure/plan/cell.h"
#include "results/measure/plan/plan.h"
#include "results/measure/plan/strata.h"

#define ROUNDS      8u /* a verdict takes as many; blocks tell more than rounds do */
#define BLOCKS      2u
#define IDLE_NS     UINT64_C(60000000000) /* as `ab` has it */
#define LABELS_MAX  1024u
#define WEIGHTS_MAX (1u << 24) /* bytes of a file of weights */

struct labels {
    const char *items[LABELS_MAX];
    size_t count;
};

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct labels labels;
    uint64_t blocks, memory_rounds, budget, representatives, load;
    const char *weights, *machine, *again, *losers;
    bool all_hosts;
};

/* ---- command line --------------------------------------------------------------------------- */

static int take_label(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    struct labels *labels = at;
    if (*value == '\0')
        return cli_option_refuse(verb, row, value);
    if (labels->count == LABELS_MAX)
        return cli_misuse(verb, "more than %u labels", LABELS_MAX);
    labels->items[labels->count++] = value;
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.group = cli_measure_allocators, .at = AT(measure)},
    {.group = cli_measure_baseline, .at = AT(measure),
     .help = "what the others are compared with [what all programs run on, else glibc, else the first]"},

    {.heading = "how often, and where"},
    {.group = cli_measure_rounds, .at = AT(measure),
     .help = "runs of each candidate in a cell, 1-1000; a verdict takes 8 [8]"},
    {.name = "blocks", .argument = "B", .how = CLI_COUNT, .at = AT(blocks), .most = RES_PLAN_BLOCKS_MAX,
     .help = "cells of each workload, each with another order of runs, wherever they run [2; with --again 4]"},
    {.name = "memory-rounds", .argument = "N", .how = CLI_COUNT, .at = AT(memory_rounds), .most = CLI_ROUNDS_MAX,
     .help = "rounds that are told recorded time, for memory, as 'mallab ab' has them [3]"},
    {.group = cli_measure_idle, .at = AT(measure), .help = "recorded time that such a run rests for at its end [60s]"},
    {.group = cli_measure_touch, .at = AT(measure)},
    {.group = cli_measure_seed, .at = AT(measure),
     .help = "seed of what is drawn, and of each cell's order [drawn, kept in the plan]"},
    {.name = "machine", .argument = "KIND", .how = CLI_TEXT, .at = AT(machine),
     .help = "the kind of machine that nodes must be of: here, as this one; any; or its words, as a node that refuses "
             "prints them [any, and the verdict names the kinds]"},
    {.name = "load", .argument = "PERCENT", .how = CLI_COUNT, .at = AT(load), .least = RES_CELL_LOAD_LEAST, .most = 100,
     .help = "a node where others use more of all processors refuses the cell, 5-100; 100: none does [25]"},

    {.heading = "what counts"},
    {.name = "weights", .argument = "HOW", .how = CLI_TEXT, .at = AT(weights),
     .help = "what a workload counts for: hosts (each label the same), cpu (its recorded CPU time), bytes (its memory), or a "
             "file with lines LABEL, tab, NUMBER [hosts]"},
    {.name = "all-hosts", .how = CLI_FLAG, .at = AT(all_hosts),
     .help = "these are all the hosts that there are, and the verdict is on them alone"},
    {.name = "budget", .argument = "N", .how = CLI_COUNT, .at = AT(budget), .least = 2, .most = RES_PLAN_ROWS_MAX,
     .help = "measure only N workloads: two drawn by what they count for in each of N/2 clusters of alike profiles"},
    {.name = "representatives", .argument = "N", .how = CLI_COUNT, .at = AT(representatives), .least = 1,
     .most = RES_PLAN_ROWS_MAX,
     .help = "measure only the middle ones of N clusters: for tuning and CI, as they have no error that is known"},

    {.heading = "more of a plan that is there"},
    {.name = "again", .argument = "DIR", .how = CLI_TEXT, .at = AT(again), .takes = "the directory of a plan",
     .help = "add blocks to this plan, whose cells keep their numbers: of the workloads named by --label or --losers"},
    {.name = "label", .argument = "LABEL", .how = CLI_CALL, .at = AT(labels), .take = take_label, .takes = "a label of the plan",
     .help = "with --again: the workloads of this host; may be given several times"},
    {.name = "losers", .argument = "FILE", .how = CLI_TEXT, .at = AT(losers), .takes = "a file of 'mallab collect -o'",
     .help = "with --again: those that a verdict names as losers, or as nearest to it"},

    {.heading = "what comes out"},
    {.group = cli_answer_output, .at = AT(answer), .argument = "DIR",
     .help = "the plan: a new directory, where all nodes see it"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

static int check_again(const struct settings *settings, const struct cli_operands *operands)
{
    if (operands->count > 0 || settings->answer.output != NULL)
        return cli_misuse(&CLI_PLAN, "--again adds blocks to a plan: it takes neither inputs nor -o");
    if (settings->labels.count == 0 && settings->losers == NULL)
        return cli_misuse(&CLI_PLAN, "--again: of whom? --label LABEL, or --losers FILE");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings,
                        struct cli_operands *ret_operands)
{
    *ret_settings = (struct settings){.answer = cli_answer_defaults(),
                                      .measure = cli_measure_defaults(),
                                      .memory_rounds = RES_MEMORY_PASSES,
                                      .load = RES_CELL_LOAD_PERCENT,
                                      .weights = "hosts",
                                      .machine = RES_PLAN_ANY};
    ret_settings->measure.idle_ns = IDLE_NS;
    const int code = cli_options_take(&CLI_PLAN, argc, argv, ret_settings, ret_operands);
    if (code >= 0)
        return code;
    if (ret_settings->measure.rounds == 0)
        ret_settings->measure.rounds = ROUNDS;
    if (ret_settings->again != NULL)
        return check_again(ret_settings, ret_operands);
    if (ret_settings->labels.count > 0 || ret_settings->losers != NULL)
        return cli_misuse(&CLI_PLAN, "--label and --losers say what --again adds blocks of");
    if (ret_settings->answer.output == NULL)
        return cli_misuse(&CLI_PLAN, "-o DIR says where the plan goes");
    if (strcmp(ret_settings->answer.output, "-") == 0)
        return cli_misuse(&CLI_PLAN, "-o takes a directory: a plan does not go to stdout");
    if (ret_operands->count == 0)
        return cli_misuse(&CLI_PLAN, "nothing to plan: name workloads, recordings, or a directory of them");
    if (ret_settings->budget > 0 && ret_settings->representatives > 0)
        return cli_misuse(&CLI_PLAN, "--budget draws, --representatives does not: choose one");
    if (ret_settings->all_hosts && (ret_settings->budget > 0 || ret_settings->representatives > 0))
        return cli_misuse(&CLI_PLAN, "--all-hosts measures all, --budget and --representatives some");
    return -1;
}

/* ---- what is planned --------------------------------------------------------------------------- */

struct planning {
    struct settings *settings;
    struct cli_choice choice;
    struct cli_plan_inputs inputs;
    struct res_plan plan;
    struct cli_plan_cost cost;
};

/* The text of a file of weights; NULL, told. */
static char *read_weights(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = res_calloc(WEIGHTS_MAX + 1, 1);
    const size_t length = file != NULL ? fread(text, 1, WEIGHTS_MAX + 1, file) : 0;
    if (file == NULL || ferror(file) || length > WEIGHTS_MAX) {
        cli_say(&CLI_PLAN, "cannot read the weights '%s': %s", path,
                length > WEIGHTS_MAX ? "it is too long" : strerror(errno));
        free(text);
        text = NULL;
    } else {
        text[length] = '\0';
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static bool is_word(const char *text)
{
    return strcmp(text, "hosts") == 0 || strcmp(text, "cpu") == 0 || strcmp(text, "bytes") == 0;
}

static int weigh(struct planning *planning)
{
    const char *how = planning->settings->weights;
    char *text = is_word(how) ? NULL : read_weights(how), *problem = NULL;
    if (!is_word(how) && text == NULL)
        return CLI_UNREADABLE;
    planning->plan.weights = res_strdup(is_word(how) ? how : "file");
    const bool weighed = res_plan_weigh(planning->inputs.items, planning->inputs.count,
                                        planning->plan.weights, text, &problem);
    free(text);
    return weighed ? CLI_DONE : cli_say_problem(&CLI_PLAN, problem);
}

/* Of a group that of its member with most calls. */
static json_t *profile_of(const struct res_workload *workload)
{
    const char *path = workload->path;
    off_t most = -1;
    for (size_t i = 0; i < workload->member_count; i++) {
        struct stat facts;
        if (stat(workload->members[i].path, &facts) == 0 && facts.st_size > most) {
            most = facts.st_size;
            path = workload->members[i].path;
        }
    }
    return res_profile_of(path);
}

/* Only some of them, if so many are not wanted. */
static int select_items(struct planning *planning)
{
    const struct settings *settings = planning->settings;
    struct cli_plan_inputs *inputs = &planning->inputs;
    const uint64_t budget = settings->budget > 0 ? settings->budget : settings->representatives;
    if (budget == 0 || budget >= inputs->count) {
        planning->plan.selection = res_strdup("all");
        return CLI_DONE;
    }
    struct res_stratum_item *items = res_calloc(inputs->count, sizeof *items);
    cli_progress_begin(&inputs->progress, settings->answer.progress);
    for (size_t i = 0; i < inputs->count && cli_stopped_by == 0; i++) {
        json_t *profile = profile_of(&inputs->items[i].facts);
        res_features_of(profile, &inputs->items[i].facts, items[i].features);
        items[i].share = inputs->items[i].share;
        json_decref(profile);
        cli_progress_show(&inputs->progress, "profiles", NULL, 0, i + 1, inputs->count);
    }
    cli_progress_end(&inputs->progress);
    res_features_scale(items, inputs->count);
    const size_t taken = settings->budget > 0
                             ? res_strata_draw(items, inputs->count, (size_t)budget, settings->measure.seed)
                             : res_strata_represent(items, inputs->count, (size_t)budget,
                                                    settings->measure.seed);
    for (size_t i = 0; i < inputs->count; i++)
        inputs->items[i].share = items[i].drawn;
    free(items);
    planning->plan.selection = res_printf("%zu %s of %zu", taken,
                                          settings->budget > 0 ? "drawn" : "representatives", inputs->count);
    cli_plan_inputs_drop(inputs);
    return cli_stopped_by == 0 ? CLI_DONE : CLI_FAILED;
}

/* Candidates as they are here. */
static void describe_candidates(struct planning *planning)
{
    struct res_plan *plan = &planning->plan;
    plan->candidate_count = planning->choice.candidate_count;
    plan->candidates = res_calloc(plan->candidate_count, sizeof *plan->candidates);
    for (size_t i = 0; i < plan->candidate_count; i++)
        plan->candidates[i] = res_plan_candidate_of(planning->choice.candidates[i]);
    plan->baseline = res_strdup(plan->candidates[0].name);
}

static void describe_plan(struct planning *planning)
{
    const struct settings *settings = planning->settings;
    struct res_plan *plan = &planning->plan;
    struct res_machine machine;
    res_machine_describe(&machine);
    plan->mallab_version = res_strdup(MALLAB_VERSION);
    plan->machine = strcmp(settings->machine, "here") == 0 ? res_machine_kind(&machine)
                                                           : res_text_plain(settings->machine);
    plan->touch = res_strdup(settings->measure.touch != NULL ? settings->measure.touch : "page");
    plan->memory_rounds = settings->memory_rounds;
    plan->idle_ms = cli_measure_idle_ms(&settings->measure);
    plan->seed = settings->measure.seed;
    plan->load_percent = settings->load;
    plan->all_hosts = settings->all_hosts;
    res_described_release(&RES_MACHINE, &machine);
    describe_candidates(planning);
    res_plan_add(plan, planning->inputs.items, planning->inputs.count,
                 settings->blocks > 0 ? settings->blocks : BLOCKS, settings->measure.rounds);
}

/* The baseline of one who names none is what all programs run on. */
static void settle_baseline(struct planning *planning)
{
    struct res_workload *workloads = res_calloc(planning->inputs.count, sizeof *workloads);
    for (size_t i = 0; i < planning->inputs.count; i++)
        workloads[i] = planning->inputs.items[i].facts;
    cli_choice_settle(&CLI_PLAN, workloads, planning->inputs.count, &planning->choice);
    free(workloads);
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* A new directory, or one that is empty; and one that nodes will believe. ret_made: whether it was not there. */
static int make_directory(const char *path, bool *ret_made)
{
    char *workloads = res_path_join(path, RES_PLAN_WORKLOADS), *problem = NULL;
    struct dirent **entries = NULL;
    int code = CLI_DONE, error = 0, count = 0;
    *ret_made = mkdir(path, 0755) == 0;
    if (!*ret_made) {
        error = errno;
        count = error == EEXIST ? scandir(path, &entries, NULL, NULL) : 0;
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    const int fd = *ret_made || count == 2 ? res_plan_directory(path, &problem) : -1;
    if (problem != NULL)
        code = cli_say_problem(&CLI_PLAN, problem);
    else if (fd < 0 || mkdir(workloads, 0755) != 0) {
        cli_say(&CLI_PLAN, "cannot make '%s': %s", path,
                error == EEXIST ? "it exists already: name a new directory"
                                : strerror(fd < 0 ? error : errno));
        code = CLI_FAILED;
    }
    if (fd >= 0)
        (void)close(fd); /* a directory */
    if (code != CLI_DONE && *ret_made)
        (void)rmdir(path); /* as it was */
    free(workloads);
    return code;
}

/* What was made for a plan that did not come to be. */
static void remove_directory(const char *path, bool made)
{
    char *workloads = res_path_join(path, RES_PLAN_WORKLOADS);
    cli_tree_remove(workloads);
    if (made)
        (void)rmdir(path); /* nothing else is ours in it */
    free(workloads);
}

static int save(const char *directory, struct res_plan *plan)
{
    char *problem = NULL;
    const int fd = res_plan_directory(directory, &problem);
    const bool saved = fd >= 0 && res_plan_save(fd, plan, &problem);
    if (fd >= 0)
        (void)close(fd); /* a directory */
    return saved ? CLI_DONE : cli_say_problem(&CLI_PLAN, problem);
}

static int fill(struct planning *planning, const struct cli_operands *operands)
{
    const struct settings *settings = planning->settings;
    int code = cli_plan_inputs_take(&planning->inputs, operands->words, (size_t)operands->count);
    if (code == CLI_DONE)
        code = weigh(planning);
    if (code == CLI_DONE && settings->measure.baseline == NULL)
        settle_baseline(planning);
    if (code == CLI_DONE)
        code = select_items(planning);
    if (code != CLI_DONE)
        return code;
    const uint64_t blocks = settings->blocks > 0 ? settings->blocks : BLOCKS;
    if (planning->inputs.count > RES_PLAN_ROWS_MAX / blocks) {
        cli_say(&CLI_PLAN, "more than %u cells: fewer blocks, or --budget", RES_PLAN_ROWS_MAX);
        return CLI_FAILED;
    }
    describe_plan(planning);
    cli_plan_estimate(&planning->plan, &planning->inputs, &planning->choice, &planning->cost);
    return cli_stopped_by == 0 ? save(settings->answer.output, &planning->plan) : CLI_FAILED;
}

static int make_plan(struct settings *settings, const struct cli_operands *operands)
{
    struct planning planning = {.settings = settings};
    bool made;
    int code = cli_choose(&CLI_PLAN, settings->measure.allocators, settings->measure.baseline,
                          &planning.choice);
    if (code == CLI_DONE)
        code = make_directory(settings->answer.output, &made);
    if (code == CLI_DONE) {
        cli_stops_take();
        planning.inputs = (struct cli_plan_inputs){
            .verb = &CLI_PLAN, .directory = settings->answer.output, .when = settings->answer.progress};
        code = fill(&planning, operands);
        if (code == CLI_DONE)
            cli_plan_show(&planning.plan, &planning.inputs, &planning.cost);
        else
            remove_directory(settings->answer.output, made);
    }
    res_plan_release(&planning.plan);
    cli_plan_inputs_release(&planning.inputs);
    cli_choice_release(&planning.choice);
    cli_stops_end();
    return code;
}

/* ---- more blocks ------------------------------------------------------------------------------- */

static int extend(const struct settings *settings)
{
    struct res_plan plan;
    struct cli_plan_losers losers = {0};
    char *problem = NULL;
    int directory, code = CLI_DONE;
    if (!res_plan_load(settings->again, &plan, &directory, &problem)) {
        cli_say(&CLI_PLAN, "cannot read '%s': %s", settings->again, problem);
        free(problem);
        return CLI_UNREADABLE;
    }
    for (size_t i = 0; i < settings->labels.count; i++)
        cli_plan_losers_add(&losers, settings->labels.items[i], NULL);
    if (settings->losers != NULL)
        code = cli_plan_losers_read(&CLI_PLAN, settings->losers, &losers);
    const size_t before = plan.row_count;
    if (code == CLI_DONE &&
        (!res_plan_again(&plan, losers.wanted, losers.count,
                         settings->blocks > 0 ? settings->blocks : 2 * BLOCKS, &problem) ||
         !res_plan_save(directory, &plan, &problem)))
        code = cli_say_problem(&CLI_PLAN, problem);
    if (code == CLI_DONE)
        cli_plan_show_more(&plan, before, settings->again);
    (void)close(directory); /* a directory */
    cli_plan_losers_release(&losers);
    res_plan_release(&plan);
    return code;
}

/* One at a time: two would give the same numbers to different cells. Where the file system has no such lock, nobody waits. */
static int add_blocks(const struct settings *settings)
{
    char *problem = NULL;
    const int lock = res_plan_directory(settings->again, &problem);
    if (lock < 0) {
        cli_say(&CLI_PLAN, "cannot read '%s': %s", settings->again, problem);
        free(problem);
        return CLI_UNREADABLE;
    }
    (void)flock(lock, LOCK_EX);
    const int code = extend(settings);
    (void)close(lock); /* which ends the lock */
    return code;
}

static int run_plan(int argc, char **argv)
{
    struct settings settings;
    struct cli_operands operands;
    const int code = take_options(argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    return settings.again != NULL ? add_blocks(&settings) : make_plan(&settings, &operands);
}

const struct cli_verb CLI_PLAN = {
    .name = "plan",
    .summary = "cut many workloads into cells that any cluster runs",
    .usage = "[OPTION...] -o DIR [LABEL=]INPUT...\n"
             "--again DIR [OPTION...]",
    .purpose =
        "Make a plan of many workloads, such as a recording of each host of a service: a directory with the "
        "workloads and a list of cells, each one workload under all allocators on one node ('mallab cell'). "
        "It "
        "prints what they will cost, and how engines run them; 'mallab collect' makes one verdict of what "
        "came "
        "back. INPUT is a workload, recording, pack or footprint, or a directory of them, or of directories "
        "named by host.",
    .options = OPTIONS,
    .completes = ":files wl fp",
    .examples = "mallab plan -o plan --weights cpu recordings/\n"
                "mallab plan -o plan -a glibc,jemalloc web1=a.wl web2=b.wl\n"
                "mallab plan --again plan --label web1 --blocks 4",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 input unreadable, damaged or too new",
    .run = run_plan,
};
