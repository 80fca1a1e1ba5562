/* confirming.c - the runs in their order, and what is made of them. */
#include "results/measure/confirm/confirming.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"
#include "results/measure/watch/sampled.h"

/* One of the candidates beside the baseline, or the control. */
struct entry {
    const struct res_candidate *candidate;
    struct res_confirmed *told;
};

struct state {
    const struct res_confirm_options *options;
    struct res_confirmation *about;
    struct entry *entries; /* the control last */
    size_t entry_count, paired_count;
    uint64_t begin_ns, runs_ns; /* the latter: all runs added */
    struct res_random random;
    char *failed;      /* of the baseline: nothing can be compared */
    double peak_bytes; /* of the baseline, when it was looked at last; NAN: it was not */
    bool is_over;      /* the time is spent */
};

/* ---- figures --------------------------------------------------------------------------------- */

static void add_sample(struct res_confirmed_figure *figure, double baseline, double own)
{
    const size_t count = figure->own_count;
    if (!(baseline > 0) || !(own > 0)) /* a run that told nothing, or took no tick of the clock */
        return;
    figure->baseline = res_realloc(figure->baseline, count + 1, sizeof *figure->baseline);
    figure->own = res_realloc(figure->own, count + 1, sizeof *figure->own);
    figure->baseline[count] = round(baseline); /* clocks tell no parts of a ns, pages none of a byte */
    figure->own[count] = round(own);
    figure->baseline_count = figure->own_count = count + 1;
}

static void sum_up(struct res_confirmed_figure *figure)
{
    const size_t count = figure->own_count;
    RES_FREED double *ratios = res_calloc(count + 1, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = figure->own[i] / figure->baseline[i];
    const struct res_estimate estimate = res_logarithm_estimate(res_trimmed_logarithm(ratios, count));
    figure->ratio = estimate.value;
    figure->interval = estimate.interval;
    figure->baseline_median = count > 0 ? res_median(figure->baseline, count) : NAN;
}

static int judge(const struct res_confirmed_figure *figure, const struct res_confirmed_figure *noise,
                 double worth)
{
    const struct res_comparison comparison = {
        .ratio = figure->ratio,
        .interval = figure->interval,
        .rounds = figure->own_count,
        .worth = worth,
        .has_control = true,
        .control = noise->interval,
    };
    return (int)res_judge(&comparison);
}

void res_confirm_judge(struct res_confirmed *one, const struct res_confirmed *control)
{
    sum_up(&one->time);
    sum_up(&one->wall);
    sum_up(&one->peak);
    const struct res_confirmed *noise = control != NULL ? control : one;
    one->runs = one->time.own_count;
    one->saved_ns = one->time.baseline_median * (1 - one->time.ratio);
    one->peak_bytes = one->peak.own_count > 0 ? res_median(one->peak.own, one->peak.own_count) : NAN;
    one->time_verdict = judge(&one->time, &noise->time, 0);
    one->peak_verdict = judge(&one->peak, &noise->peak, RES_MEMORY_WORTH);
}

/* ---- single runs ----------------------------------------------------------------------------- */

static uint64_t elapsed_of(const struct state *state)
{
    return fp_now_ns() - state->begin_ns;
}

static uint64_t mean_run_ns(const struct state *state)
{
    return state->about->runs > 0 ? state->runs_ns / state->about->runs : state->options->run_ns;
}

/* Tells whether so many more runs end in time. */
static bool fits(const struct state *state, uint64_t runs)
{
    const uint64_t budget_ns = state->options->budget_ns;
    return budget_ns == 0 || elapsed_of(state) + runs * mean_run_ns(state) <= budget_ns;
}

/* Returns false where it is no run: *ret_reason says why, or the confirmation was stopped. */
static bool run(struct state *state, const struct res_candidate *candidate, enum res_confirm_what what,
                struct res_confirm_run *ret, char **ret_reason)
{
    const struct res_confirm_options *options = state->options;
    if (options->progress != NULL)
        options->progress(options->context, what == RES_CONFIRM_PEAK ? "memory" : "time", candidate->name,
                          elapsed_of(state), options->budget_ns);
    *ret = (struct res_confirm_run){NAN, NAN, NAN, 1};
    *ret_reason = NULL;
    const uint64_t begin_ns = fp_now_ns();
    const enum res_real_state outcome = options->runner.run(options->runner.context, candidate, what, ret,
                                                            ret_reason);
    if (outcome == RES_REAL_STOPPED || (options->stop != NULL && *options->stop != 0)) {
        state->about->stopped = true;
        free(*ret_reason);
        *ret_reason = NULL;
        return false;
    }
    state->about->runs += ret->runs;
    state->runs_ns += fp_now_ns() - begin_ns;
    return outcome == RES_REAL_OK;
}

static void fail(char **failed, char *reason)
{
    if (*failed == NULL && reason != NULL)
        *failed = res_text_plain(reason);
    free(reason);
}

/* A signal under one that is preloaded, where the baseline did well; taken over. */
static char *with_cause(const struct res_candidate *candidate, char *reason)
{
    if (reason == NULL || strstr(reason, " ended by signal ") == NULL || res_is_c_library(candidate->path))
        return reason;
    char *words = res_printf("%s; modules loaded with RTLD_DEEPBIND, or a free() of its own, are the usual "
                             "cause",
                             reason);
    free(reason);
    return words;
}

/* Runs the baseline; if that fails, all is over. */
static bool run_baseline(struct state *state, enum res_confirm_what what, struct res_confirm_run *ret)
{
    char *reason;
    const bool ran = run(state, state->options->candidates[0], what, ret, &reason);
    fail(&state->failed, reason);
    return ran;
}

static bool run_own(struct state *state, struct entry *entry, enum res_confirm_what what,
                    struct res_confirm_run *ret)
{
    char *reason;
    const bool is_control = entry->told->is_control;
    const bool ran = run(state, entry->candidate, what, ret, &reason);
    fail(is_control ? &state->failed : &entry->told->failed,
         is_control ? reason : with_cause(entry->candidate, reason));
    return ran;
}

static bool is_ended(const struct state *state)
{
    return state->about->stopped || state->failed != NULL || state->is_over;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* A run of the baseline, beside which each candidate's stands, and for the control its last one. */
static void look_at_memory(struct state *state)
{
    const enum res_confirm_what what = RES_CONFIRM_PEAK;
    struct res_confirm_run baseline, own;
    if (!run_baseline(state, what, &baseline))
        return;
    add_sample(&state->entries[state->entry_count - 1].told->peak, state->peak_bytes, baseline.peak_bytes);
    state->peak_bytes = baseline.peak_bytes;
    for (size_t i = 0; i + 1 < state->entry_count && !is_ended(state); i++) {
        struct entry *entry = &state->entries[i];
        if (entry->told->failed == NULL && run_own(state, entry, what, &own))
            add_sample(&entry->told->peak, baseline.peak_bytes, own.peak_bytes);
    }
}

static void run_pair(struct state *state, struct entry *entry, bool baseline_first)
{
    struct res_confirm_run baseline, own;
    const bool whole = baseline_first ? run_baseline(state, RES_CONFIRM_TIME, &baseline) &&
                                            run_own(state, entry, RES_CONFIRM_TIME, &own)
                                      : run_own(state, entry, RES_CONFIRM_TIME, &own) &&
                                            run_baseline(state, RES_CONFIRM_TIME, &baseline);
    if (!whole)
        return;
    add_sample(&entry->told->time, baseline.time_ns, own.time_ns);
    add_sample(&entry->told->wall, baseline.wall_ns, own.wall_ns);
    if (state->options->runner.tells_both)
        add_sample(&entry->told->peak, baseline.peak_bytes, own.peak_bytes);
}

/* Tells whether a candidate is left; beside the baseline alone the control always is. */
static bool any_left(const struct state *state)
{
    if (state->entry_count == 1)
        return true;
    for (size_t i = 0; i + 1 < state->entry_count; i++)
        if (state->entries[i].told->failed == NULL)
            return true;
    return false;
}

static void run_round(struct state *state, uint64_t round)
{
    RES_FREED size_t *order = res_shuffled(&state->random, state->entry_count);
    for (size_t i = 0; i < state->entry_count && !is_ended(state); i++) {
        struct entry *entry = &state->entries[order[i]];
        if (entry->told->failed != NULL || (!entry->told->is_control && order[i] >= state->paired_count))
            continue;
        state->is_over = !fits(state, 2);
        if (!state->is_over)
            run_pair(state, entry, (round + order[i]) % 2 == 0);
    }
}

/* Counts the entries with pairs, without the control. */
static size_t paired(const struct state *state)
{
    size_t count = state->entry_count - 1;
    while (state->options->first_ones && count > 1 &&
           !fits(state, res_confirm_runs(count, RES_ROUNDS_FOR_VERDICT)))
        count--;
    return count;
}

static void run_all(struct state *state)
{
    const struct res_confirm_options *options = state->options;
    const uint64_t pairs = options->pairs > 0 ? options->pairs : RES_CONFIRM_PAIRS_MAX;
    look_at_memory(state); /* before the first pair */
    state->paired_count = paired(state);
    for (uint64_t round = 0; round < pairs && !is_ended(state) && any_left(state); round++) {
        run_round(state, round);
        if (!options->runner.tells_both && !is_ended(state) && fits(state, state->entry_count))
            look_at_memory(state);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void prepare(struct state *state, struct res_result *result)
{
    const struct res_confirm_options *options = state->options;
    const size_t count = options->candidate_count; /* the control takes the baseline's place */
    result->confirmation = res_calloc(1, sizeof *result->confirmation);
    res_described_init(&RES_CONFIRMATION, result->confirmation);
    result->confirmed = res_calloc(count, sizeof *result->confirmed);
    result->confirmed_count = count;
    state->about = result->confirmation;
    state->entries = res_calloc(count, sizeof *state->entries);
    state->entry_count = count;
    for (size_t i = 0; i < count; i++) {
        struct res_confirmed *told = &result->confirmed[i];
        res_described_init(&RES_CONFIRMED, told);
        told->is_control = i + 1 == count;
        state->entries[i] = (struct entry){options->candidates[told->is_control ? 0 : i + 1], told};
        told->candidate = res_strdup(state->entries[i].candidate->name);
        told->library = res_strdup(state->entries[i].candidate->path);
        told->environment = res_pairs_copy(&state->entries[i].candidate->environment);
    }
}

void res_confirm_run(const struct res_confirm_options *options, struct res_result *result)
{
    assert(options->candidate_count > 0);
    struct state state = {
        .options = options,
        .begin_ns = fp_now_ns(),
        .peak_bytes = NAN,
        .random = res_random_from(options->seed),
    };
    prepare(&state, result);
    run_all(&state);
    struct res_confirmed *control = state.entries[state.entry_count - 1].told;
    control->failed = state.failed;
    res_confirm_judge(control, NULL);
    for (size_t i = 0; i + 1 < state.entry_count; i++)
        res_confirm_judge(state.entries[i].told, control);
    state.about->pairs_asked = options->pairs;
    state.about->budget_ns = options->budget_ns > 0 ? (double)options->budget_ns : NAN;
    state.about->elapsed_ns = (double)elapsed_of(&state);
    state.about->run_ns = state.about->runs > 0 ? (double)mean_run_ns(&state) : NAN;
    free(state.entries);
    res_verdicts_fill(result);
}

uint64_t res_confirm_runs(size_t candidates, uint64_t pairs)
{
    return (1 + 3 * pairs) * (candidates + 1);
}

uint64_t res_confirm_pairs(size_t candidates, uint64_t run_ns, uint64_t budget_ns)
{
    const uint64_t looks = res_confirm_runs(candidates, 0), most = budget_ns / run_ns;
    const uint64_t pairs = most > looks ? (most - looks) / (3 * (candidates + 1)) : 0;
    return pairs < RES_ROUNDS_FOR_VERDICT  ? RES_ROUNDS_FOR_VERDICT
           : pairs > RES_CONFIRM_PAIRS_MAX ? RES_CONFIRM_PAIRS_MAX
                                           : pairs;
}

/* ---- single runs of a command: one kind for time, one for memory ---- */

#define STEP_NS       UINT64_C(1000000000) /* the peak is the kernel's: samples between would only cost time */
#define GROUP_STEP_NS UINT64_C(2000000)    /* what processes hold together is only sampled */

/* Tells whether it ended as is expected; if not ret_reason is set. errors: the path of what it said; NULL: there is none. */
static enum res_real_state has_ended(const struct res_confirm_command *command, int code, const char *errors,
                                     char **ret_reason)
{
    if (res_command_ends_alike(code, command->exit_code))
        return RES_REAL_OK;
    RES_FREED char *end = res_command_end_words(code), *expected = res_command_end_words(command->exit_code);
    RES_FREED char *words = errors != NULL ? res_command_last_words(errors) : NULL;
    const bool adds = res_command_adds(code, words), is_any = command->exit_code == RES_ANY_CODE;
    *ret_reason = res_printf("the program ended %s%s%s%s%s", end, is_any ? "" : ", not ",
                             is_any ? "" : expected, adds ? ": " : "", adds ? words : "");
    return RES_REAL_FAILED;
}

static enum res_real_state run_timed(const struct res_confirm_command *command, const struct res_command *one,
                                     struct res_confirm_run *ret, char **ret_reason)
{
    const struct res_timed_request request = {
        .command = *one, .hyperfine = command->hyperfine, .directory = command->directory};
    struct res_timed timed;
    const enum res_real_state state = res_timed_run(&request, &timed, ret_reason);
    if (state != RES_REAL_OK)
        return state;
    ret->time_ns = timed.cpu_ns;
    ret->wall_ns = timed.wall_ns;
    return has_ended(command, timed.exit_code, NULL, ret_reason); /* hyperfine keeps what it said */
}

/* Takes the peak of the process with most, or of a group together, if one had the library. */
static enum res_real_state take_peak(const struct res_sampled *sampled, const char *library, double *ret_peak,
                                     char **ret_reason)
{
    bool has_library = false, is_exact = false;
    double peak = 0;
    for (size_t i = 0; i < sampled->image_count; i++) {
        const struct res_image *image = &sampled->images[i];
        peak = fmax(peak, image->peak_bytes);
        is_exact = is_exact || image->exact;
        has_library = has_library || image->library != NULL;
    }
    if (is_exact && !has_library) {
        *ret_reason = res_printf("none of the program's processes has loaded '%s'", library);
        return RES_REAL_FAILED;
    }
    *ret_peak = is_exact ? fmax(peak, sampled->together_bytes) : NAN;
    return RES_REAL_OK;
}

static enum res_real_state run_watched(const struct res_confirm_command *command,
                                       const struct res_command *one, const char *library,
                                       struct res_confirm_run *ret, char **ret_reason)
{
    const char *const libraries[] = {library, NULL};
    const struct res_sampled_request request = {.command = *one,
                                                .step_ns = command->group != NULL ? GROUP_STEP_NS : STEP_NS,
                                                .group = command->group,
                                                .libraries = libraries};
    struct res_sampled sampled = {0};
    enum res_real_state state = res_sampled_run(&request, &sampled, ret_reason);
    if (state != RES_REAL_OK)
        return state;
    state = has_ended(command, fp_status_code(sampled.status), one->errors, ret_reason);
    if (state == RES_REAL_OK)
        state = take_peak(&sampled, library, &ret->peak_bytes, ret_reason);
    res_sampled_release(&sampled);
    return state;
}

/* command_of - what is run. environment and errors: borrowed as long as it is used. */
static struct res_command command_of(const struct res_confirm_command *command, char **environment,
                                     const char *errors)
{
    return (struct res_command){
        .path = command->path,
        .arguments = command->arguments,
        .environment = environment,
        .errors = errors,
        .timeout_ns = command->timeout_ns,
        .stop = command->stop,
    };
}

static enum res_real_state run_once(void *context, const struct res_candidate *candidate,
                                    enum res_confirm_what what, struct res_confirm_run *ret,
                                    char **ret_reason)
{
    const struct res_confirm_command *command = context;
    char **environment = res_command_environment(candidate);
    RES_FREED char *errors = res_path_join(command->directory, "stderr");
    const struct res_command one = command_of(command, environment, errors);
    const enum res_real_state state = what == RES_CONFIRM_PEAK
                                          ? run_watched(command, &one, candidate->path, ret, ret_reason)
                                          : run_timed(command, &one, ret, ret_reason);
    res_strings_free(environment);
    return state;
}

enum res_real_state res_confirm_command_as_it_is(const struct res_confirm_command *command, int output,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason)
{
    RES_FREED char *errors = res_path_join(command->directory, "stderr");
    struct res_command one = command_of(command, environ, errors);
    one.output = output;
    const struct res_sampled_request request = {.command = one, .step_ns = STEP_NS, .libraries = libraries};
    struct res_sampled sampled = {0};
    enum res_real_state state = res_sampled_run(&request, &sampled, ret_reason);
    const struct res_image *largest = NULL;
    for (size_t i = 0; state == RES_REAL_OK && i < sampled.image_count; i++)
        if (sampled.images[i].exact &&
            (largest == NULL || sampled.images[i].peak_bytes > largest->peak_bytes))
            largest = &sampled.images[i];
    if (state == RES_REAL_OK)
        state = has_ended(command, fp_status_code(sampled.status), errors, ret_reason);
    if (state == RES_REAL_OK)
        *ret_library = largest != NULL ? largest->library : NULL;
    res_sampled_release(&sampled);
    return state;
}

struct res_confirm_runner res_confirm_command_runner(struct res_confirm_command *command)
{
    return (struct res_confirm_runner){.run = run_once, .context = command};
}
