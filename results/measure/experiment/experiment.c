/* experiment.c - warm up, then rounds in shuffled order. */
#include "results/measure/experiment/experiment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* A run after the warm-up that takes this many times as long has hung: noise on shared machines is 4-33 %. */
#define HANGS_AFTER_TIMES 20u
#define HANGS_AFTER_NS    UINT64_C(60000000000)

enum phase {
    PHASE_CHECK,
    PHASE_WARM_UP,
    PHASE_ROUND,
    PHASE_MEMORY,
    PHASE_PASS,
};

struct state {
    const struct res_options *options;
    struct res_random random;
    size_t runs_done, runs_all;
    bool stopped;
};

static unsigned memory_rounds_of(const struct res_options *options, const struct res_workload *workload)
{
    if (workload->duration_ns == 0)
        return 0; /* there is no time to tell */
    return options->memory_rounds < options->rounds ? options->memory_rounds : options->rounds;
}

/* The number of runs in the passes behind the rounds. Some are of one process alone. */
static size_t pass_runs_of(const struct res_options *options, const struct res_workload *workload)
{
    return workload->member_count > 0 ? 0 : res_trial_entries(options) * options->latency_passes;
}

size_t res_experiment_more_runs(const struct res_options *options, const struct res_workload *workload)
{
    const unsigned memory_rounds = memory_rounds_of(options, workload); /* the first is the warm-up */
    return (options->candidate_count + 1) * (memory_rounds > 0 ? memory_rounds - 1 : 0) +
           (options->check ? options->candidate_count : 0) + pass_runs_of(options, workload);
}

/* The number of rounds to expect: round_ns as of trial_runs.c, 1 where it is not known yet. */
static unsigned planned(const struct res_options *options, uint64_t share, double round_ns)
{
    const struct res_until_plan plan = res_until_plan(options, share, round_ns);
    return share > 0 ? (unsigned)(plan.most_ns / round_ns) : plan.least;
}

/* A run that takes as long has hung. Before an entry's warm-up the baseline's same run has to do: no allocator that is
 * worth comparing is so much slower. */
static uint64_t patience_ns(const struct res_trial *trial, const struct res_entry *entry, enum phase phase)
{
    const struct res_entry *baseline = &trial->entries[0];
    uint64_t like_ns = entry->told->warmup_ns;
    if (phase == PHASE_CHECK)
        like_ns = baseline->check_ns;
    else if (like_ns == 0)
        like_ns = baseline->told->warmup_ns;
    return like_ns != 0 ? like_ns * HANGS_AFTER_TIMES + HANGS_AFTER_NS : 0;
}

/* A run that goes on. */
struct job {
    struct res_entry *entry;
    struct res_run_request request;
    struct res_running *running; /* NULL: of a group, which runs when it is waited for */
    json_t *failure;             /* its end in numbers, when it failed */
};

static bool on_recorded_clock(const struct state *state, const struct res_trial *trial,
                              const struct res_entry *entry, enum phase phase)
{
    return phase == PHASE_MEMORY || (phase == PHASE_WARM_UP && !entry->is_floor &&
                                     memory_rounds_of(state->options, trial->workload) > 0);
}

static void begin(struct state *state, struct res_trial *trial, struct res_entry *entry, enum phase phase,
                  unsigned round, const char *option, struct job *ret_job)
{
    const struct res_options *options = state->options;
    const bool recorded = on_recorded_clock(state, trial, entry, phase);
    if (options->progress != NULL)
        options->progress(options->context, trial->workload,
                          entry->is_control ? "control" : entry->candidate->name, round, state->runs_done,
                          state->runs_all);
    *ret_job = (struct job){.entry = entry};
    ret_job->request = (struct res_run_request){
        .candidate = entry->candidate,
        .workload = trial->workload->path,
        .members = trial->workload->members,
        .member_count = trial->workload->member_count,
        .timeout_asked = options->timeout_ns != 0,
        .limit_bytes = entry->is_floor ? 0 : options->limit_bytes,
        .place = options->group_place,
        .check = phase == PHASE_CHECK,
        /* In the warm-up: on the clock of the resident figures, which it leaves as they are (docs/notes/statistics.md). */
        .waste = phase == PHASE_WARM_UP && !entry->is_floor && !entry->is_control &&
                 trial->workload->member_count == 0,
        .ret_failure = phase != PHASE_PASS ? &ret_job->failure : NULL,
        .pass_option = option,
        .one_thread = options->one_thread,
        .processors = options->processors,
        .recorded_clock = recorded,
        .idle_ms = recorded ? options->idle_ms : 0,
        .stop = options->stop,
    };
    if (ret_job->request.member_count == 0)
        ret_job->running = res_run_begin(&ret_job->request);
}

static enum res_run_state finish(struct state *state, const struct res_trial *trial, struct job *job,
                                 enum phase phase, struct res_run *ret_run, char **ret_reason)
{
    const uint64_t timeout_ns = state->options->timeout_ns != 0 ? state->options->timeout_ns
                                                                : patience_ns(trial, job->entry, phase);
    job->request.timeout_ns = timeout_ns;
    const enum res_run_state outcome = job->running != NULL
                                           ? res_run_finish(job->running, timeout_ns, ret_run, ret_reason)
                                           : res_run_workload(&job->request, ret_run, ret_reason);
    state->runs_done++;
    state->stopped = state->stopped || outcome == RES_RUN_STOPPED;
    return outcome;
}

/* Ends a run of the check, the warm-up or a round: a candidate that fails is out. */
static enum res_run_state finish_or_fail(struct state *state, const struct res_trial *trial, struct job *job,
                                         enum phase phase, struct res_run *ret_run)
{
    RES_FREED char *reason = NULL;
    const enum res_run_state outcome = finish(state, trial, job, phase, ret_run, &reason);
    if (outcome == RES_RUN_FAILED)
        res_entry_fail(job->entry, reason, job->failure);
    json_decref(job->failure);
    return outcome;
}

/* One run of each candidate that looks whether it keeps its promises; those that do not are out. */
static void check(struct state *state, struct res_trial *trial)
{
    for (size_t i = 0; i < trial->told->candidate_count && !state->stopped; i++) {
        struct res_entry *entry = &trial->entries[i];
        struct res_run run = {0};
        struct job job;
        begin(state, trial, entry, PHASE_CHECK, 0, NULL, &job);
        if (finish_or_fail(state, trial, &job, PHASE_CHECK, &run) != RES_RUN_OK)
            continue;
        entry->check_ns = run.elapsed_ns;
        entry->told->check = json_incref(json_object_get(run.json, "check"));
        res_run_release(&run);
    }
    if (trial->entries[0].told->failed != NULL)
        res_entry_fail(&trial->entries[trial->told->candidate_count], "the baseline failed its check", NULL);
}

/* The number of runs of a phase at a time: two where nothing is timed, and nothing of one run can show in another: one thread each,
 * no limit, and memory for both. */
static size_t at_once(const struct state *state, const struct res_workload *workload, enum phase phase)
{
    const uint64_t memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const bool timed = phase == PHASE_ROUND || memory_rounds_of(state->options, workload) == 0;
    const bool alone = timed || state->options->limit_bytes > 0 || fp_has_one_processor() ||
                       workload->threads != 1 || workload->member_count > 0 ||
                       workload->live_peak_bytes >= memory_bytes / 16;
    return alone ? 1 : 2;
}

/* One run of each entry that has not failed, in that order. ret_runs: by entry; without JSON where there was none. After a stop there
 * are none at all. */
static void run_each(struct state *state, struct res_trial *trial, enum phase phase, unsigned round,
                     const size_t *order, struct res_run *ret_runs)
{
    const size_t all = trial->entry_count, most = at_once(state, trial->workload, phase);
    for (size_t i = 0; i < all && !state->stopped;) {
        struct job jobs[2];
        size_t count = 0;
        for (; i < all && count < most; i++) {
            struct res_entry *entry = &trial->entries[order[i]];
            if (phase == PHASE_MEMORY && entry->is_floor)
                continue; /* it has no memory */
            if (entry->told->failed != NULL)
                state->runs_done++;
            else
                begin(state, trial, entry, phase, round, NULL, &jobs[count++]);
        }
        for (size_t k = 0; k < count; k++) {
            struct res_run *run = &ret_runs[jobs[k].entry - trial->entries];
            if (finish_or_fail(state, trial, &jobs[k], phase, run) == RES_RUN_OK && phase == PHASE_WARM_UP)
                jobs[k].entry->told->warmup_ns = run->elapsed_ns; /* which bounds the others */
        }
    }
    for (size_t i = 0; i < all && state->stopped; i++)
        res_run_release(&ret_runs[i]);
}

/* The warm-up is the first of the memory passes, if there are any. */
static void warm_up(struct state *state, struct res_trial *trial)
{
    const size_t entries = trial->entry_count;
    const bool memory = memory_rounds_of(state->options, trial->workload) > 0;
    RES_FREED struct res_run *runs = res_calloc(entries, sizeof *runs);
    RES_FREED size_t *order = res_calloc(entries, sizeof *order);
    for (size_t i = 0; i < entries; i++)
        order[i] = i;
    run_each(state, trial, PHASE_WARM_UP, 0, order, runs);
    res_trial_learn(trial, runs);
    if (!state->stopped)
        res_trial_keep(trial, order, runs, memory ? RES_KEEP_MEMORY : RES_KEEP_NOTHING);
}

/* One pass of a round: the timed one, or that for memory. What a stop leaves unfinished is dropped: samples are paired. */
static void run_round(struct state *state, struct res_trial *trial, unsigned round, enum phase phase)
{
    const size_t entries = trial->entry_count;
    RES_FREED size_t *order = res_shuffled(&state->random, entries);
    RES_FREED struct res_run *runs = res_calloc(entries, sizeof *runs);
    run_each(state, trial, phase, round + 1, order, runs);
    if (!state->stopped)
        res_trial_keep(trial, order, runs, phase == PHASE_MEMORY ? RES_KEEP_MEMORY : RES_KEEP_TIME);
}

/* ---- behind the rounds ---------------------------------------------------------------------- */

struct passing {
    struct state *state;
    struct res_trial *trial;
    struct res_run run; /* the last one */
};

static const json_t *run_pass(void *context, struct res_entry *entry, char **ret_reason)
{
    struct passing *passing = context;
    struct job job;
    res_run_release(&passing->run);
    begin(passing->state, passing->trial, entry, PHASE_PASS, RES_ROUND_PASS, "--latency", &job);
    if (finish(passing->state, passing->trial, &job, PHASE_PASS, &passing->run, ret_reason) != RES_RUN_OK)
        return NULL;
    if (strcmp(passing->run.digest, passing->trial->told->digest) != 0) {
        *ret_reason = res_strdup("it executed other ops than in the rounds");
        return NULL;
    }
    return passing->run.json;
}

static void run_passes(struct state *state, struct res_trial *trial)
{
    const struct res_options *options = state->options;
    struct passing passing = {.state = state, .trial = trial};
    const struct res_passes_runner runner = {.run = run_pass, .context = &passing};
    const bool alone = trial->workload->member_count == 0;
    if (trial->told->digest != NULL && alone && !state->stopped)
        (void)res_passes_latency(trial, options->latency_passes, &state->random, &runner); /* state knows */
    if (!alone)
        res_passes_leave_out_latency(trial, options, RES_GROUP_WHY);
    res_run_release(&passing.run);
}

/* The time budget that is left, in equal parts for the workloads that are left. Those that stop early leave theirs to the others. */
static uint64_t share_ns(const struct res_options *options, uint64_t begun_ns, size_t workload)
{
    const uint64_t spent_ns = fp_now_ns() - begun_ns;
    if (options->time_budget_ns == 0)
        return 0;
    if (spent_ns >= options->time_budget_ns)
        return 1; /* spent: the fewest rounds that there are */
    return (options->time_budget_ns - spent_ns) / (options->workload_count - workload) + 1;
}

/* A round's passes fit, or are made whatever they take. passes_ns: what those may take that are still to come. */
static bool passes_fit(const struct res_options *options, uint64_t share, uint64_t elapsed_ns,
                       uint64_t passes_ns)
{
    return share == 0 || options->rounds_least == 0 || elapsed_ns + passes_ns <= share;
}

/* Returns whether time is left for the passes behind them. */
static bool run_rounds(struct state *state, struct res_trial *trial, uint64_t share)
{
    const struct res_options *options = state->options;
    const unsigned memory_rounds = memory_rounds_of(options, trial->workload);
    const size_t runs_before = state->runs_done, pass_runs = pass_runs_of(options, trial->workload);
    const size_t entries = res_trial_entries(options);
    const uint64_t begun_ns = fp_now_ns();
    uint64_t behind_ns = 0;
    if (options->check)
        check(state, trial);
    const uint64_t warm_ns = fp_now_ns();
    warm_up(state, trial);
    double round_ns = (double)(fp_now_ns() - warm_ns);
    unsigned rounds = planned(options, share > 0, 1); /* of the progress: anew by each round */
    for (bool done = false; !done && !state->stopped;) {
        state->runs_all -= entries * rounds;
        rounds = planned(options, share, round_ns);
        state->runs_all += entries * rounds;
        const unsigned round = (unsigned)trial->told->rounds;
        const uint64_t round_begun_ns = fp_now_ns();
        run_round(state, trial, round, PHASE_ROUND);
        const uint64_t timed_ns = fp_now_ns() - round_begun_ns;
        if ((trial->told->memory_rounds < memory_rounds ||
             (memory_rounds > 0 && trial->need == RES_NEED_PASSES)) &&
            !state->stopped && passes_fit(options, share, fp_now_ns() - begun_ns, timed_ns))
            run_round(state, trial, round, PHASE_MEMORY);
        trial->elapsed_ns = fp_now_ns() - begun_ns;
        round_ns = (double)trial->elapsed_ns / (double)trial->told->rounds;
        behind_ns = timed_ns * pass_runs / entries;
        done = !state->stopped &&
               res_until_ended(trial, options, share, trial->elapsed_ns,
                               timed_ns + (trial->told->rounds >= RES_ROUNDS_FOR_VERDICT ? behind_ns : 0));
    }
    if (state->stopped)
        trial->told->stopped_by = RES_ENDED_INTERRUPT;
    else { /* for the progress of what follows: passes that were not made count as done */
        state->runs_all += entries * trial->told->rounds - entries * rounds;
        state->runs_done = runs_before + entries * (trial->told->rounds + 1) +
                           res_experiment_more_runs(options, trial->workload) - pass_runs;
    }
    return state->stopped || passes_fit(options, share, trial->elapsed_ns, behind_ns);
}

void res_experiment_run(const struct res_options *options, struct res_result *ret_result)
{
    struct state state = {
        .options = options,
        .random = res_random_from(options->seed),
    };
    const uint64_t begun_ns = fp_now_ns();
    for (size_t i = 0; i < options->workload_count; i++)
        state.runs_all += res_trial_entries(options) *
                              (planned(options, options->time_budget_ns > 0, 1) + 1) +
                          res_experiment_more_runs(options, &options->workloads[i]);
    assert(options->candidate_count > 0 && options->rounds > 0);
    res_result_begin(options, ret_result);
    ret_result->workloads = res_calloc(options->workload_count + 1, sizeof *ret_result->workloads);
    struct res_start_cost *starts[2] = {NULL, NULL}; /* of programs without libstdc++, and with it */
    for (size_t i = 0; i < options->workload_count && !state.stopped; i++) {
        struct res_trial trial;
        res_trial_begin(&trial, options, &options->workloads[i],
                        &ret_result->workloads[ret_result->workload_count++]);
        const bool cxx_library = options->workloads[i].process.cxx_library;
        if (starts[cxx_library] == NULL) {
            starts[cxx_library] = res_calloc(options->candidate_count, sizeof **starts);
            if (options->starts > 0)
                res_start_costs(options, cxx_library, starts[cxx_library]);
        }
        for (size_t k = 0; k < options->candidate_count; k++)
            if (starts[cxx_library][k].starts > 0)
                trial.entries[k].told->start = starts[cxx_library][k];
        if (run_rounds(&state, &trial, share_ns(options, begun_ns, i)))
            run_passes(&state, &trial);
        else
            res_passes_leave_out_latency(&trial, options, RES_NO_TIME_WHY);
        res_trial_end(&trial, options);
        if (trial.told->rounds < ret_result->rounds) /* only a stop makes it less than asked for */
            ret_result->rounds = trial.told->rounds;
    }
    free(starts[0]);
    free(starts[1]);
    ret_result->stopped = state.stopped;
    res_result_names_apart(ret_result);
    res_result_set_complete(ret_result);
    res_result_judge(ret_result);
    for (size_t i = 0; i < ret_result->workload_count; i++)
        ret_result->workloads[i].stopped_width = res_until_width(&ret_result->workloads[i]);
}
