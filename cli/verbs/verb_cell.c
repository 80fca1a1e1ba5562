/* verb_cell.c - `mallab cell`: one cell of a plan, on whatever node this is. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/parse.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/option_table.h"
#include "cli/verbs/experiment_step.h"
#include "cli/verbs/group_workload.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "footprint/base/support.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/machine/disturbances.h"
#include "results/measure/plan/cell.h"
#include "results/measure/plan/cell_files.h"
#include "results/report/notes/notes.h"

struct settings {
    struct cli_answer answer;
    uint64_t load; /* 0: as the plan says */
};

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "load", .argument = "PERCENT", .how = CLI_COUNT, .at = AT(load), .least = RES_CELL_LOAD_LEAST, .most = 100,
     .help = "refuse where others use more of all processors, 5-100; 100: never [as the plan says]"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

/* ---- one cell -------------------------------------------------------------------------------- */

struct cell {
    const struct settings *settings;
    struct res_plan plan;
    const struct res_plan_row *row;
    uint64_t id;
    int directory, cells; /* -1: not open */
    struct cli_choice choice;
    struct cli_prepared prepared;
    struct res_workload workload;
    struct cli_progress progress;
};

/* Tells why, and leaves it beside the cells. Takes over the words. Returns code. */
static int refuse(const struct cell *cell, int code, char *cause)
{
    cli_say(&CLI_CELL, "cell %" PRIu64 " (%s): %s", cell->id, cell->row->label, cause);
    res_cell_set_why(cell->cells, cell->id, code, cause);
    free(cause);
    return code;
}

/* Whether this node is the plan's. */
static int check_machine(const struct cell *cell)
{
    struct res_machine machine;
    res_machine_describe(&machine);
    char *other = res_cell_other_machine(&cell->plan, &machine);
    res_described_release(&RES_MACHINE, &machine);
    return other != NULL ? refuse(cell, CLI_ELSEWHERE, other) : CLI_DONE;
}

/* The plan's candidates as they are here. Its names come from a shared directory: what is wrong with one is told of this node. */
static int choose(struct cell *cell)
{
    const struct res_plan *plan = &cell->plan;
    int code = cli_registry_load(&CLI_CELL, &cell->choice.registry);
    if (code != CLI_DONE)
        return refuse(cell, CLI_ELSEWHERE, res_strdup("there are no allocators here"));
    cell->choice.candidates = res_calloc(plan->candidate_count, sizeof(struct res_candidate *));
    for (size_t i = 0; i < plan->candidate_count; i++) {
        const struct res_plan_candidate *planned = &plan->candidates[i];
        struct res_candidate *candidate = cli_candidate_named(&CLI_CELL, &cell->choice.registry,
                                                              planned->word, &code);
        char *other = candidate == NULL || strcmp(candidate->name, planned->name) != 0
                          ? res_printf("%s is not known here", planned->name)
                          : res_cell_other_candidate(planned, candidate);
        if (other != NULL)
            return refuse(cell, CLI_ELSEWHERE, other);
        cell->choice.candidates[cell->choice.candidate_count++] = candidate;
    }
    struct res_candidate *none = res_registry_add_none(&cell->choice.registry);
    if (!res_candidate_resolve(none, res_program_directories()))
        return refuse(cell, CLI_ELSEWHERE, res_strdup(none->missing));
    cell->choice.floor = none;
    return CLI_DONE;
}

/* The workload near this node, and what it is. */
static int fetch(struct cell *cell)
{
    char *path = NULL, *problem = NULL;
    const char *near = cli_temporary_directory(&CLI_CELL);
    if (near == NULL)
        return refuse(cell, CLI_FAILED, res_strdup("no temporary directory can be made"));
    const enum res_cell_near state = res_cell_fetch(cell->directory, cell->row, near, &path, &problem);
    if (state != RES_CELL_NEAR_OK)
        return refuse(cell, state == RES_CELL_NEAR_BAD ? CLI_UNREADABLE : CLI_FAILED, problem);
    if (strcmp(path, near) == 0) {
        free(path);
        if (!cli_group_read(near, &cell->prepared))
            return refuse(cell, CLI_UNREADABLE, res_strdup("the group has no members, or too many"));
    } else {
        cell->prepared.path = path;
    }
    const int code = cli_prepared_facts(&CLI_CELL, &cell->prepared, cell->row->workload, &cell->workload);
    if (code != CLI_DONE)
        return refuse(cell, CLI_UNREADABLE, res_printf("'%s' cannot be read", cell->row->workload));
    if (cell->workload.file_digest != cell->row->file_digest)
        return refuse(cell, CLI_UNREADABLE,
                      res_printf("'%s' has digest %016" PRIx64 ", the plan has %016" PRIx64,
                                 cell->row->workload, cell->workload.file_digest, cell->row->file_digest));
    cell->workload.name = cell->row->label; /* its file's is a digest */
    (void)snprintf(cell->workload.label, sizeof cell->workload.label, "%s", cell->row->label); /* it fits */
    return CLI_DONE;
}

static int check_load(const struct cell *cell)
{
    const uint64_t percent = cell->settings->load > 0 ? cell->settings->load : cell->plan.load_percent;
    char *disturbed = res_cell_disturbed(percent, &cli_stopped_by);
    return disturbed != NULL
               ? refuse(cell, CLI_ELSEWHERE,
                        res_printf("too disturbed here: %s (--load %" PRIu64 ")", disturbed, percent))
               : CLI_DONE;
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct cell *cell = context;
    char *words = res_printf("cell %" PRIu64 ": %s, round %u, %s", cell->id, workload->name, round, entry);
    cli_progress_show(&cell->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static void add_cell(const struct cell *cell, struct res_result *result)
{
    result->cell = res_calloc(1, sizeof *result->cell);
    *result->cell = (struct res_result_cell){.id = cell->id,
                                             .block = cell->row->block,
                                             .tries = res_cell_tries(cell->cells, cell->id) + 1,
                                             .label = res_strdup(cell->row->label),
                                             .plan = res_strdup(cell->plan.digest),
                                             .host = res_node_name()};
}

/* What is whole, and nothing else. */
static int publish(const struct cell *cell, struct res_result *result)
{
    char *problem = res_cell_incomplete(result, cell->row);
    if (problem != NULL)
        return refuse(cell, CLI_FAILED, problem);
    res_verdicts_fill(result);
    add_cell(cell, result);
    res_notes_fill(result);
    json_t *written = res_result_write(result);
    char *document = cli_json_pretty(written);
    json_decref(written);
    if (document == NULL)
        return refuse(cell, CLI_FAILED, res_strdup("no memory to write the result"));
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error as others */
    const enum res_cell_outcome outcome = cli_stopped_by == 0
                                              ? res_cell_publish(cell->cells, cell->id, document,
                                                                 strlen(document), &problem)
                                              : RES_CELL_WAS_THERE;
    free(document);
    if (outcome == RES_CELL_FAILED)
        return refuse(cell, CLI_FAILED, problem);
    if (outcome == RES_CELL_WAS_THERE && cli_stopped_by == 0 && !cell->settings->answer.quiet)
        cli_say(&CLI_CELL, "cell %" PRIu64 ": another copy was first; this one is dropped", cell->id);
    return CLI_DONE;
}

static int run_experiment(struct cell *cell)
{
    const struct res_plan *plan = &cell->plan;
    const struct res_options options = {
        .workloads = &cell->workload,
        .workload_count = 1,
        .candidates = cell->choice.candidates,
        .candidate_count = cell->choice.candidate_count,
        .floor = cell->choice.floor,
        .rounds = (unsigned)cell->row->rounds,
        .memory_rounds = (unsigned)plan->memory_rounds,
        .starts = RES_STARTS,
        .idle_ms = plan->idle_ms,
        .seed = cell->row->seed,
        .touch = plan->touch,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = cell,
    };
    struct res_experiment experiment;
    struct res_result result;
    bool failed;
    int code = cli_experiment_step(&CLI_CELL, &options, &cell->choice, &cell->progress,
                                   cell->settings->answer.progress, cell->settings->answer.quiet, &experiment,
                                   &result, &failed);
    if (code == CLI_DONE) {
        if (cli_stopped_by == 0)
            code = publish(cell, &result);
        res_result_release(&result);
    }
    res_experiment_release(&experiment);
    return code;
}

/* What has its name was written whole; a disk or a copy may have damaged it since. */
static int look_at_result(struct cell *cell, int fd)
{
    struct res_result result;
    bool is_other = false;
    char *problem = NULL;
    const bool is_whole = res_result_load_fd(fd, "-", &result, &is_other, &problem);
    (void)close(fd); /* only read from */
    if (is_whole) {
        res_result_release(&result);
        return CLI_DONE;
    }
    char *cause = res_printf("its result cannot be read: %s; remove cells/%" PRIu64 ".json first", problem,
                             cell->id);
    free(problem);
    return refuse(cell, CLI_FAILED, cause);
}

static int run_steps(struct cell *cell)
{
    struct fp_error error;
    const int there = res_cell_open(cell->cells, cell->id, &error);
    if (there >= 0)
        return look_at_result(cell, there);
    int code = CLI_DONE;
    if (error.status != FP_ERR_OPEN || error.sys_errno != ENOENT) {
        char words[512];
        return refuse(cell, CLI_FAILED, res_strdup(fp_error_text(&error, "its result", words, sizeof words)));
    }
    cli_stops_take();
    code = check_machine(cell);
    if (code == CLI_DONE)
        code = choose(cell);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = fetch(cell);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = check_load(cell);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = run_experiment(cell);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A directory that a node has not mounted is empty: other nodes have it. */
static bool is_here(const char *path)
{
    char *manifest = res_path_join(path, RES_PLAN_MANIFEST);
    const bool here = access(manifest, F_OK) == 0;
    if (!here)
        cli_say(&CLI_CELL, "there is no plan '%s' here: %s", path, strerror(errno));
    free(manifest);
    return here;
}

static int open_plan(const char *path, const char *number, struct cell *cell)
{
    char *problem = NULL;
    if (!is_here(path))
        return CLI_ELSEWHERE;
    if (!res_plan_load(path, &cell->plan, &cell->directory, &problem)) {
        cli_say(&CLI_CELL, "cannot read the plan '%s': %s", path, problem);
        free(problem);
        return CLI_UNREADABLE;
    }
    if (!cli_parse_count(number, 0, cell->plan.row_count - 1, &cell->id))
        return cli_misuse(&CLI_CELL, "'%s' is none of its cells: these are 0 to %zu", number,
                          cell->plan.row_count - 1);
    cell->row = &cell->plan.rows[cell->id];
    cell->cells = res_cells_open(cell->directory, true, &problem);
    return cell->cells >= 0 ? CLI_DONE : cli_say_problem(&CLI_CELL, problem);
}

static int run_cell(int argc, char **argv)
{
    struct settings settings = {.answer = cli_answer_defaults()};
    struct cli_operands operands;
    struct cell cell = {.settings = &settings, .directory = -1, .cells = -1};
    int code = cli_options_take(&CLI_CELL, argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    if (operands.count != 2)
        return cli_misuse(&CLI_CELL, "a plan's directory and the number of a cell: DIR N");
    code = open_plan(operands.words[0], operands.words[1], &cell);
    if (code == CLI_DONE)
        code = run_steps(&cell);
    if (cell.cells >= 0)
        (void)close(cell.cells); /* directories */
    if (cell.directory >= 0)
        (void)close(cell.directory);
    cli_prepared_release(&cell.prepared);
    cli_choice_release(&cell.choice);
    res_plan_release(&cell.plan);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_CELL = {
    .name = "cell",
    .summary = "run one cell of a plan here",
    .usage = "[OPTION...] DIR N",
    .purpose = "Run cell N of a plan on this node: copy its workload near, check that all is as planned and "
               "the machine "
               "quiet, replay it as 'mallab ab' does, and put the result into DIR/cells/N.json, whole or not "
               "at all. Of a "
               "cell whose result is there nothing is done; of several copies at once the first one counts. "
               "Engines call "
               "this ('mallab plan' prints how), in any order, as often as they want.",
    .options = OPTIONS,
    .completes = ":directories",
    .notes = "A signal publishes nothing, and ends mallab. Why a cell was refused stands in DIR/cells/N.why, "
             "for 'mallab "
             "collect'. The workload's copy lies in $TMPDIR.",
    .examples = "mallab cell plan 17",
    .exit_codes =
        "0 done, now or before; 1 failed; 2 misuse; 3 the input is damaged or not the plan's: it will be so "
        "everywhere; 75 this node has no such plan, is too busy, or its machine, libraries or mallab are not "
        "the plan's: try "
        "elsewhere",
    .run = run_cell,
};
