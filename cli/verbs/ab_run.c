/* ab_run.c - the whole way from inputs to a table. */
#include "cli/verbs/verbs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/machine/disturbances.h"
#include "results/report/notes/notes.h"

#define OVERSPENT 1.25 /* of the default, and it is told */

/* ---- workloads ------------------------------------------------------------------------------ */

/* named: as the user did. */
static int add_workload(struct cli_ab *ab, const char *input, const char *named)
{
    const struct cli_answer *answer = &ab->settings.answer;
    const size_t number = ab->workload_count;
    struct cli_prepared prepared = {0};
    struct conv_options options = ab->settings.convert;
    options.overwrite = answer->force;
    const struct cli_conversion way = {
        .verb = ab->verb,
        .input = input,
        .output = ab->directory,
        .ending = ".wl",
        .options = &options,
        .quiet = answer->quiet || answer->keep == NULL, /* of what is removed nobody needs the place */
        .no_progress = answer->quiet,
    };
    const int code = cli_workload_prepare(&way, number, &prepared);
    if (code != CLI_DONE)
        return code;
    ab->prepared = res_realloc(ab->prepared, number + 1, sizeof *ab->prepared);
    ab->prepared[number] = prepared;
    ab->workloads = res_realloc(ab->workloads, number + 1, sizeof *ab->workloads);
    ab->workload_count++;
    return cli_prepared_facts(ab->verb, &ab->prepared[number], named, &ab->workloads[number]);
}

/* Ctrl-C ends the command, as many end in no other way, and what it did until then is compared. */
static int record_command(struct cli_ab *ab, char **ret_recording)
{
    const struct cli_ab_settings *settings = &ab->settings;
    const uint64_t begin_ns = fp_now_ns();
    const struct cli_record_step step = {.directory = ab->directory, .quiet = settings->answer.quiet};
    const int code = cli_record_step(ab->verb, settings->command, &step, &ab->status, ret_recording);
    const int asked = rec_relay_asked_to_end();
    char span[32];
    ab->command = res_shell_command(settings->command);
    ab->command_ns = fp_now_ns() - begin_ns;
    (void)res_text_duration((double)ab->command_ns, span);
    if (asked == SIGINT && code == CLI_DONE) {
        cli_say(ab->verb, "recording ended by Ctrl-C after %s: going on with it; again to stop", span);
        ab->cut = res_printf("until Ctrl-C, %s", span);
    } else if (asked != 0) {
        cli_stopped_by = asked;
    }
    return code;
}

/* Ctrl-C ends the recording, and what was recorded is compared. */
static int record_process(struct cli_ab *ab, char **ret_recording)
{
    const struct cli_ab_settings *settings = &ab->settings;
    const struct cli_record_step step = {.directory = ab->directory, .quiet = settings->answer.quiet};
    int ended_by;
    const int code = cli_attach_step(ab->verb, (pid_t)settings->pid, settings->duration_ns, &step, &ended_by,
                                     ret_recording);
    if (ended_by != 0 && ended_by != SIGINT)
        cli_stopped_by = ended_by;
    return code;
}

static int prepare_workloads(struct cli_ab *ab)
{
    const struct cli_ab_settings *settings = &ab->settings;
    char *recording = NULL;
    int code = cli_work_directory(ab->verb, settings->answer.keep, &ab->directory);
    if (code == CLI_DONE && settings->command != NULL)
        code = record_command(ab, &recording);
    if (code == CLI_DONE && settings->pid != 0)
        code = record_process(ab, &recording);
    if (code == CLI_DONE && recording != NULL && cli_stopped_by == 0)
        code = add_workload(ab, recording, settings->command != NULL ? settings->command[0] : recording);
    free(recording);
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE && cli_stopped_by == 0; i++)
        code = add_workload(ab, settings->inputs[i], settings->inputs[i]);
    return code;
}

/* ---- the program itself --------------------------------------------------------------------- */

/* Input that the command read while it was recorded is not there again: every other run would do other work. */
static int check_input(const struct cli_ab *ab)
{
    struct stat facts;
    if (!ab->settings.confirm.wanted || fstat(STDIN_FILENO, &facts) != 0 ||
        !(S_ISREG(facts.st_mode) || S_ISFIFO(facts.st_mode)))
        return CLI_DONE;
    cli_say(
        ab->verb,
        "--confirm runs COMMAND often, without input, and standard input is a file or a pipe: let COMMAND "
        "read a file by its name, and put </dev/null behind");
    return CLI_FAILED;
}

/* replays_ns: what they took. Returns an exit code. */
static int confirm(struct cli_ab *ab, uint64_t replays_ns, struct res_result *result)
{
    const struct cli_ab_settings *settings = &ab->settings;
    const uint64_t said_ns = settings->confirm.budget_ns;
    const struct res_candidate *candidates[RES_TRIED_MAX + 1];
    const struct cli_confirm_step step = {
        .runs = {.candidates = candidates,
                 .candidate_count = cli_confirm_advised(&ab->choice, result, candidates),
                 .pairs = said_ns == 0 ? CLI_CONFIRM_PAIRS : 0,
                 .budget_ns = cli_confirm_most_ns(said_ns, settings->measure.run.time_budget_ns, replays_ns),
                 .first_ones = true,
                 .run_ns = ab->command_ns,
                 .seed = settings->measure.run.seed},
        .command = {.arguments = settings->command,
                    .exit_code = fp_status_code(ab->status),
                    .group = ab->workloads[0].member_count > 0 ? ab->workloads[0].program
                                                               : NULL}, /* COMMAND's comes first */
        .quiet = settings->answer.quiet,
        .shown = !cli_is_json(&settings->answer),
    };
    result->asked.not_confirmed = step.runs.candidate_count < 2 ? "no other allocator is advised"
                                  : result->stopped             ? "interrupted before"
                                  : ab->cut != NULL             ? "Ctrl-C ended its recording"
                                                                : NULL;
    return cli_stopped_by == 0 && result->asked.not_confirmed == NULL
               ? cli_confirm_run(ab->verb, &step, result)
               : CLI_DONE;
}

/* ---- what is to be decided ------------------------------------------------------------------ */

/* The findings of a trial's checks so far: outcomes as one number, and what is missing for them. */
struct look {
    uint64_t outcomes;
    bool rounds, passes, over;
    char *problem;
};

static double worth(const struct res_rule *rule)
{
    return fmax(fabs(rule->limit - 1), RES_TIME_LEAST);
}

double cli_ab_finest(const struct res_budget *budget)
{
    double finest = INFINITY;
    for (size_t i = 0; i < budget->rule_count; i++)
        if (budget->rules[i].relative && budget->rules[i].metric == RES_METRIC_TIME)
            finest = fmin(finest, worth(&budget->rules[i]));
    return isfinite(finest) ? finest : RES_RESOLVE;
}

/* decides: outcomes are to be plain. precise: intervals are to be so narrow that a later result can be held against it, with the errors
 * of both; beside an earlier one, which is the result itself, the noise of times: a control that strays by chance would be noise to all
 * later ones, whatever their rounds. */
static void look_at(const struct res_result *result, const struct res_result *earlier,
                    const struct res_budget *budget, bool decides, bool precise, struct look *look)
{
    struct res_beside check;
    if (budget->rule_count == 0 || look->problem != NULL ||
        !res_check_run(result, earlier, budget, &check, &look->problem))
        return;
    for (size_t i = 0; i < check.finding_count; i++) {
        const struct res_finding *finding = &check.findings[i];
        const struct res_estimate *found = &finding->estimate;
        const double width = earlier == NULL ? (found->interval.high - found->interval.low) / found->value
                                             : finding->noise.high - 1;
        const bool hopeless = earlier != NULL && finding->rule.relative &&
                              finding->bridge == RES_BRIDGE_NONE &&
                              RES_METRICS[finding->rule.metric].unit == RES_UNIT_NS; /* whatever the rounds */
        const bool open = (decides && finding->outcome == RES_INCONCLUSIVE && !hopeless) ||
                          (precise && finding->rule.relative && isfinite(found->value) &&
                           (earlier == NULL || finding->rule.metric == RES_METRIC_TIME) &&
                           !(width < worth(&finding->rule) / M_SQRT2));
        const bool of_passes = RES_METRICS[finding->rule.metric].unit == RES_UNIT_BYTES;
        look->over |= decides && finding->outcome == RES_OVER;
        look->rounds |= open && !of_passes;
        look->passes |= open && of_passes;
        look->outcomes = RES_OUTCOME_COUNT * look->outcomes + (decides ? finding->outcome : 0);
    }
    res_described_release(&RES_BESIDE, &check);
}

/* Leaves out rules of single calls, of which nothing is known before the passes behind the rounds. Their words are the budget's. */
static struct res_budget rules_of(const struct res_budget *budget)
{
    struct res_budget own = {.rules = res_calloc(budget->rule_count, sizeof *own.rules)};
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        if (rule->metric != RES_METRIC_P99 && rule->metric != RES_METRIC_P99_9)
            own.rules[own.rule_count++] = *rule;
    }
    return own;
}

/* Two looks have to agree. A lone baseline's precision is its control's. */
static enum res_need decided(void *context, struct res_result_workload *workload)
{
    struct cli_ab *ab = context;
    const struct res_options options = cli_ab_options(ab);
    const bool is_alone = ab->choice.candidate_count == 1, is_first = ab->settings.earlier == NULL;
    const struct res_budget budget = rules_of(&ab->settings.decide);
    const struct res_result *earlier = &ab->deciding.earlier;
    struct res_result result;
    res_result_begin(&options, &result);
    result.workloads = workload;
    result.workload_count = 1;
    result.rounds = workload->rounds;
    res_result_judge(&result);
    struct look look = {.rounds = is_alone && res_until_width(workload) >= cli_ab_finest(&budget) / M_SQRT2};
    if (!is_first && (look.problem = res_workloads_problem(earlier, &result)) == NULL)
        look.problem = res_machine_problem(earlier, &result);
    if (!is_first)
        look_at(&result, earlier, &budget, true, false, &look);
    if (!is_alone)
        look_at(&result, NULL, &budget, is_first, true, &look);
    if (!is_alone && (is_first || !look.over)) /* what is over is no later one's yardstick */
        look_at(&result, &result, &budget, false, true, &look);
    const bool again = ab->deciding.workload == workload && ab->deciding.outcomes == look.outcomes;
    ab->deciding.workload = workload;
    ab->deciding.outcomes = look.outcomes;
    free(ab->deciding.problem);
    ab->deciding.problem = look.problem;
    result.workloads = NULL; /* the experiment's */
    result.workload_count = 0;
    res_result_release(&result);
    free(budget.rules);
    return look.problem != NULL || (again && !look.rounds && !look.passes) ? RES_NEED_NOTHING
           : look.passes                                                   ? RES_NEED_PASSES
                                                                           : RES_NEED_ROUNDS;
}

/* Prints the decision as `mallab check` says it of the same result. */
static int tell_decided(const struct cli_ab *ab, const struct res_result *result)
{
    const struct res_result *earlier = ab->settings.earlier != NULL ? &ab->deciding.earlier : NULL;
    struct res_beside check;
    char *problem = ab->deciding.problem != NULL ? res_strdup(ab->deciding.problem) : NULL;
    if (ab->choice.candidate_count == 1 && earlier == NULL)
        return CLI_DONE; /* made to be an earlier result */
    if (problem != NULL || !res_check_run(result, earlier, &ab->settings.decide, &check, &problem))
        return cli_say_problem(ab->verb, problem);
    if (!ab->settings.answer.quiet)
        cli_say(ab->verb, "decided: %llu within, %llu over, %llu inconclusive, as 'mallab check' says",
                (unsigned long long)check.counts[RES_WITHIN], (unsigned long long)check.counts[RES_OVER],
                (unsigned long long)check.counts[RES_INCONCLUSIVE]);
    res_described_release(&RES_BESIDE, &check);
    return CLI_DONE;
}

/* ---- experiment ----------------------------------------------------------------------------- */

/* Tells the time that the rounds will take, once the warm-up is over, and all that comes with them: runs for memory, passes behind, the program itself. */
static void tell_estimate(struct cli_ab *ab, size_t runs_done)
{
    const struct cli_ab_settings *settings = &ab->settings;
    struct res_options options = cli_ab_options(ab);
    const bool is_bound = options.rounds_least == 1;
    options.rounds_least = 0; /* what a verdict takes is told, though the budget may end it before */
    const size_t entries = ab->choice.candidate_count + 1 + (ab->choice.floor != NULL);
    const double run_ns = (double)(fp_now_ns() - ab->warm_up.begin_ns) /
                          (double)(runs_done - ab->warm_up.runs);
    const struct res_until_plan plan = res_until_plan(&options, options.time_budget_ns / ab->workload_count,
                                                      run_ns * (double)entries);
    const double more_ns = (double)res_experiment_more_runs(&options, ab->warm_up.workload) * run_ns;
    const double least_ns = plan.least_ns + more_ns;
    const double budget_ns = options.time_budget_ns > 0 ? (double)options.time_budget_ns : INFINITY;
    const double shown_ns = least_ns > 1e9 ? 1e9 * round(least_ns / 1e9) : least_ns;
    struct res_text words = {0};
    res_text_printf(&words, "%s: about %s", ab->warm_up.workload->name, RES_DURATION(shown_ns));
    if (plan.most_ns > plan.least_ns && options.until > 0)
        res_text_printf(&words, ", up to %s until %s", RES_DURATION(plan.most_ns + more_ns),
                        options.decided != NULL ? "all is decided" : "changes of 3 % are shown or excluded");
    else if (plan.most_ns > plan.least_ns)
        res_text_printf(&words, ", up to %s", RES_DURATION(plan.most_ns + more_ns));
    else if (least_ns > (is_bound ? 1 : OVERSPENT) * budget_ns)
        res_text_printf(&words, ", the least for a verdict%s; --head %.0f would fit %s",
                        is_bound ? ": --time-budget ends them before" : "",
                        1000 * ceil((double)ab->warm_up.workload->ops / 1000 * budget_ns / least_ns),
                        RES_DURATION(budget_ns));
    if (settings->confirm.wanted)
        res_text_printf(&words, "; then the program itself, up to %s",
                        RES_DURATION((double)cli_confirm_most_ns(settings->confirm.budget_ns,
                                                                 settings->measure.run.time_budget_ns,
                                                                 (uint64_t)least_ns)));
    cli_progress_end(&ab->progress);
    cli_say(ab->verb, "%s", words.text);
    free(words.text);
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct cli_ab *ab = context;
    char *words = round == 0                ? res_printf("%s: warm-up, %s", workload->name, entry)
                  : round == RES_ROUND_PASS ? res_printf("%s: behind the rounds, %s", workload->name, entry)
                                            : res_printf("%s: round %u, %s", workload->name, round, entry);
    if (ab->warm_up.workload != workload) {
        ab->warm_up.workload = workload;
        ab->warm_up.begin_ns = fp_now_ns();
        ab->warm_up.runs = runs_done;
        ab->warm_up.told = ab->settings.answer.quiet;
    }
    if (round == 1 && !ab->warm_up.told)
        tell_estimate(ab, runs_done);
    ab->warm_up.told |= round == 1;
    cli_progress_show(&ab->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

struct res_options cli_ab_options(struct cli_ab *ab)
{
    const struct cli_ab_settings *settings = &ab->settings;
    struct res_options options = settings->measure.run;
    options.workloads = ab->workloads;
    options.workload_count = ab->workload_count;
    options.candidates = ab->choice.candidates;
    options.candidate_count = ab->choice.candidate_count;
    options.missing = ab->choice.missing;
    options.missing_count = ab->choice.missing_count;
    options.floor = ab->choice.floor;
    options.rounds = (unsigned)settings->measure.rounds;
    options.decided = settings->decide.rule_count > 0 ? decided : NULL;
    options.group_place = cli_limit_place(&ab->limit);
    options.limit_by_why = ab->limit.why;
    options.stop = &cli_stopped_by;
    options.progress = on_progress;
    options.context = ab;
    return options;
}

static bool any_failed(const struct cli_ab *ab, struct res_result *result)
{
    const struct res_result_entry *entry;
    bool failed = false;
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; (entry = res_result_entry_at(workload, k)) != NULL; k++) {
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(ab->verb, "%s: %s%s failed: %s", workload->name, entry->name,
                    entry == &workload->control ? " (control)" : "", entry->failed);
        }
    }
    return failed;
}

/* Once for each candidate, of the first workload in which it said something. The control and the floor have nothing to add. */
static void tell_said(const struct cli_ab *ab, const struct res_result *result)
{
    for (size_t k = 0; k < ab->choice.candidate_count; k++) {
        bool told = false;
        for (size_t i = 0; i < result->workload_count && !told; i++) {
            const struct res_result_entry *entry = &result->workloads[i].candidates[k];
            told = entry->said != NULL;
            if (told)
                cli_say(ab->verb, "%s says: %s", entry->name, entry->said);
        }
    }
}

/* Names the candidates that kept their promises; one that did not has failed, and is told as such. */
static void tell_promises(const struct cli_ab *ab, const struct res_result *result)
{
    struct res_text kept = {0};
    for (size_t k = 0; k < ab->choice.candidate_count; k++) {
        bool failed = false;
        for (size_t i = 0; i < result->workload_count; i++)
            failed = failed || result->workloads[i].candidates[k].failed != NULL;
        if (!failed)
            res_text_printf(&kept, "%s%s", kept.length > 0 ? ", " : "", ab->choice.candidates[k]->name);
    }
    if (kept.length > 0)
        cli_say(ab->verb, "alignment, overlap and contents looked at: promises kept by %s", kept.text);
    free(kept.text);
}

/* ret_result is filled in any case. Returns whether a round was finished. */
static bool run_rounds(struct cli_ab *ab, struct res_result *ret_result)
{
    const struct res_options options = cli_ab_options(ab);
    struct res_disturbances disturbances;
    /* The reader of our output may go while we have a directory to remove. Not before: a COMMAND would inherit it. */
    (void)signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    cli_progress_begin(&ab->progress, ab->settings.answer.quiet);
    res_experiment_run(&options, ret_result);
    cli_progress_end(&ab->progress);
    res_disturbances_end(&disturbances);
    res_disturbances_give(&disturbances, ret_result);
    res_disturbances_release(&disturbances);
    if (!ab->settings.answer.quiet)
        tell_said(ab, ret_result);
    if (ab->settings.measure.run.check && !ab->settings.answer.quiet && !ret_result->stopped)
        tell_promises(ab, ret_result);
    const bool any = !ret_result->stopped || ret_result->workloads[0].rounds > 0;
    if (!any)
        cli_say(ab->verb, "stopped before the first round was finished: there is no result");
    else if (ret_result->stopped)
        cli_say(ab->verb, "interrupted: the rounds finished before are kept");
    return any;
}

static int run_experiment(struct cli_ab *ab)
{
    const struct cli_ab_settings *settings = &ab->settings;
    const uint64_t begin_ns = fp_now_ns();
    struct res_result result;
    int code = run_rounds(ab, &result) ? CLI_DONE : CLI_FAILED;
    const bool failed = any_failed(ab, &result);
    if (code == CLI_DONE) {
        int confirmed = CLI_DONE;
        result.asked = (struct res_asked){
            .command = ab->command, .run_ns = ab->cut == NULL ? (double)ab->command_ns : 0, .cut = ab->cut};
        if (settings->confirm.wanted)
            confirmed = confirm(ab, fp_now_ns() - begin_ns, &result);
        code = cli_result_give(ab->verb, &settings->answer, &result, res_table_text);
        if (code == CLI_DONE)
            code = confirmed;
        if (code == CLI_DONE && settings->decide.rule_count > 0)
            code = tell_decided(ab, &result);
    }
    res_result_release(&result);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void ab_release(struct cli_ab *ab)
{
    for (size_t i = 0; i < ab->workload_count; i++)
        cli_prepared_release(&ab->prepared[i]);
    free(ab->prepared);
    free(ab->workloads);
    free(ab->command);
    free(ab->cut);
    free(ab->deciding.problem);
    res_result_release(&ab->deciding.earlier);
    cli_choice_release(&ab->choice);
    cli_limit_release(&ab->limit);
}

int cli_ab_run(struct cli_ab *ab)
{
    struct cli_ab_settings *settings = &ab->settings;
    int code = cli_result_check(ab->verb, &settings->answer);
    if (code == CLI_DONE)
        code = check_input(ab);
    if (code == CLI_DONE && settings->earlier != NULL)
        code = cli_result_load(ab->verb, settings->earlier, &ab->deciding.earlier);
    if (code == CLI_DONE)
        code = cli_choose(ab->verb, settings->measure.allocators, settings->measure.baseline, &ab->choice);
    if (code == CLI_DONE)
        code = cli_limit_settle(ab->verb, &settings->measure, &ab->limit);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workloads(ab);
    }
    if (code == CLI_DONE && settings->measure.baseline == NULL)
        cli_choice_runs_on(ab->verb, &ab->choice, cli_choice_common(ab->workloads, ab->workload_count));
    if (code == CLI_DONE && cli_stopped_by == 0 && ab->narrow != NULL)
        code = ab->narrow(ab);
    if (code == CLI_DONE && cli_stopped_by != 0)
        cli_say(ab->verb, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_experiment(ab);
    ab_release(ab);
    cli_stops_end();
    return code;
}
