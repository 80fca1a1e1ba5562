/* plan_screen.c - see plan_screen.h. */
#include "cli/verbs/plan_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/plan/cell.h"
#include "results/measure/run/member_runs.h"

#define PATIENCE_NS  UINT64_C(30000000000) /* that a replay for the estimate may take */
#define RESULT_BYTES 6000.0 /* of a cell's JSON for each replay: 4 programs have 5,400 to 6,300 */
#define STARTS_NS    6e8    /* that a cell takes beside its replays, and its look at the machine */

/* ---- what it will cost -------------------------------------------------------------------------- */

/* NAN: it could not be replayed. */
static double time_replay(const struct res_candidate *candidate, const struct res_workload *workload)
{
    struct res_run run;
    char *reason = NULL;
    const struct res_run_request request = {.candidate = candidate,
                                            .workload = workload->path,
                                            .members = workload->members,
                                            .member_count = workload->member_count,
                                            .timeout_ns = PATIENCE_NS,
                                            .stop = &cli_stopped_by};
    if (res_run_workload(&request, &run, &reason) != RES_RUN_OK) {
        free(reason);
        return NAN;
    }
    const double elapsed_ns = (double)run.elapsed_ns;
    res_run_release(&run);
    return elapsed_ns;
}

static int by_ops(const void *a, const void *b)
{
    const struct res_plan_item *one = *(const struct res_plan_item *const *)a;
    const struct res_plan_item *other = *(const struct res_plan_item *const *)b;
    return one->facts.ops < other->facts.ops ? -1 : one->facts.ops > other->facts.ops;
}

/* What a replay takes: base_ns, and each_ns for a call. */
struct pace {
    double base_ns, each_ns;
};

static struct pace pace_of(const struct cli_plan_inputs *inputs, const struct res_candidate *candidate,
                           const char **ret_timed)
{
    const struct res_plan_item **sorted = res_calloc(inputs->count + 1, sizeof(struct res_plan_item *));
    struct pace pace = {0};
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].share > 0)
            sorted[count++] = &inputs->items[i];
    qsort(sorted, count, sizeof(struct res_plan_item *), by_ops);
    const struct res_plan_item *small = sorted[0], *middle = sorted[count / 2];
    const double small_ns = time_replay(candidate, &small->facts);
    const double middle_ns = middle->facts.ops / 2 > small->facts.ops ? time_replay(candidate, &middle->facts)
                                                                      : NAN;
    pace.each_ns = small_ns / (double)small->facts.ops;
    *ret_timed = isnan(small_ns) ? NULL : small->label;
    if (!isnan(middle_ns) && !isnan(small_ns)) {
        pace.each_ns = fmax(0, middle_ns - small_ns) / (double)(middle->facts.ops - small->facts.ops);
        pace.base_ns = fmax(0, small_ns - pace.each_ns * (double)small->facts.ops);
        *ret_timed = middle->label;
    }
    free(sorted);
    return pace;
}

void cli_plan_estimate(const struct res_plan *plan, const struct cli_plan_inputs *inputs,
                       const struct cli_choice *choice, struct cli_plan_cost *ret_cost)
{
    struct cli_plan_cost cost = {0};
    const struct pace pace = pace_of(inputs, choice->candidates[0], &cost.timed);
    const struct res_options options = {.candidate_count = plan->candidate_count,
                                        .floor = choice->floor,
                                        .rounds = (unsigned)plan->rows[0].rounds,
                                        .memory_rounds = (unsigned)plan->memory_rounds};
    const double blocks = (double)plan->rows[plan->row_count - 1].block + 1;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct res_plan_item *item = &inputs->items[i];
        if (!(item->share > 0))
            continue;
        const size_t replays = res_experiment_runs(&options, &item->facts);
        const double run_ns = pace.base_ns + pace.each_ns * (double)item->facts.ops;
        const double cell_ns = STARTS_NS + (plan->load_percent < 100 ? 1e6 * RES_CELL_LOOK_MS : 0) +
                               (double)replays * run_ns;
        cost.replays = replays > cost.replays ? replays : cost.replays;
        cost.longest_ns = fmax(cost.longest_ns, cell_ns);
        cost.machine_ns += blocks * cell_ns;
        cost.workload_bytes += (double)item->bytes;
        cost.result_bytes += blocks * (double)replays * RESULT_BYTES;
    }
    *ret_cost = cost;
}

/* ---- the screen ------------------------------------------------------------------------------- */

static void add_commands(struct res_text *text, const char *directory)
{
    char *scripts = res_data_directory("scripts/fleet", "fleet");
    struct res_text word = {0};
    res_shell_word(&word, directory);
    res_text_printf(text,
                    "  Slurm       %s/slurm.sh %s\n"
                    "  ssh, here   %s/parallel.sh %s\n"
                    "  Snakemake   snakemake -s %s/Snakefile -j1 --config plan=%s\n"
                    "  Kubernetes  %s/kubernetes.yaml: write in your image, volume and cells\n"
                    "  any other   mallab cell %s N, each N on some node; then mallab collect %s\n",
                    scripts, word.text, scripts, word.text, scripts, word.text, scripts, word.text,
                    word.text);
    free(word.text);
    free(scripts);
}

static void add_time(struct res_text *text, const struct cli_plan_cost *cost)
{
    char span[2][32];
    if (cost->timed == NULL) {
        res_text_printf(text, "  time        not known: a replay for the estimate failed\n");
        return;
    }
    res_text_printf(
        text, "  time        %s on one machine, %s on ten: %zu replays a cell, as long as one of %s here\n",
        res_text_duration(cost->machine_ns, span[0]),
        res_text_duration(fmax(cost->machine_ns / 10, cost->longest_ns), span[1]), cost->replays,
        cost->timed);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void cli_plan_show(const struct res_plan *plan, const struct cli_plan_inputs *inputs,
                   const struct cli_plan_cost *cost)
{
    struct res_text text = {0};
    size_t labels;
    const size_t workloads = res_plan_workloads(plan, &labels);
    res_text_printf(&text,
                    "%zu cell%s: %zu workload%s of %zu host%s, %" PRIu64
                    " round%s each of %zu candidate%s, control and floor\n",
                    plan->row_count, plural(plan->row_count), workloads, plural(workloads), labels,
                    plural(labels), plan->rows[0].rounds, plural(plan->rows[0].rounds), plan->candidate_count,
                    plural(plan->candidate_count));
    if (strcmp(plan->selection, "all") != 0)
        res_text_printf(&text, "  workloads   %s%s\n", plan->selection,
                        strstr(plan->selection, "drawn") != NULL
                            ? ", two by weight in each cluster of alike profiles"
                            : ": the middle ones of clusters, whose error nobody knows");
    if (inputs->left_out > 0)
        res_text_printf(&text, "  left out    %zu, named above\n", inputs->left_out);
    add_time(&text, cost);
    res_text_printf(&text, "  bytes       %s of workloads at most, some %s of results\n",
                    FP_BYTES(cost->workload_bytes), FP_BYTES(cost->result_bytes));
    res_text_printf(&text, "  counted by  %s: as many as %.1f workloads of equal weight%s\n", plan->weights,
                    res_plan_n_eff(plan), plan->all_hosts ? "; they are all hosts" : "");
    res_text_printf(
        &text, "  nodes       %s, mallab %s, the same libraries; others there use %" PRIu64 " %% at most\n",
        strcmp(plan->machine, RES_PLAN_ANY) == 0 ? "any machine" : plan->machine, plan->mallab_version,
        plan->load_percent);
    res_text_printf(&text, "\nrun it by\n");
    add_commands(&text, inputs->directory);
    cli_put_own(text.text);
}

void cli_plan_show_more(const struct res_plan *plan, size_t before, const char *directory)
{
    struct res_text text = {0};
    res_text_printf(&text, "%zu cell%s more, %zu-%zu; %zu in all\n\nrun them by\n", plan->row_count - before,
                    plural(plan->row_count - before), before, plan->row_count - 1, plan->row_count);
    add_commands(&text, directory);
    cli_put_own(text.text);
}
