/* validation.c - the runs, in their order. */
#include "results/measure/validate/validation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/run/run.h"

#define STARTUP_PROGRAM "/bin/true" /* calls neither malloc nor anything that does */

struct state {
    struct res_validation *validation;
    const struct res_validation_options *options;
    struct res_random random;
    char *errors;
    size_t runs_done, runs_all;
};

static unsigned memory_rounds(const struct res_validation_options *options)
{
    return options->only_process && options->rounds > RES_MEMORY_ROUNDS ? RES_MEMORY_ROUNDS : options->rounds;
}

static unsigned mapped_rounds(const struct res_validation_options *options)
{
    return options->rounds < RES_MAPPED_ROUNDS ? options->rounds : RES_MAPPED_ROUNDS;
}

/* Runs that are sampled of one round. */
static size_t sampled_entries(const struct res_validation_options *options)
{
    return options->candidate_count + (options->only_process ? 0 : 1);
}

static void fail(struct res_validation_entry *entry, char *reason)
{
    free(entry->failed);
    entry->failed = reason;
}

static void tell(struct state *state, const char *what, const struct res_validation_entry *entry,
                 unsigned round)
{
    if (state->options->progress != NULL)
        state->options->progress(state->options->context, what,
                                 entry->is_control ? "control" : entry->candidate->name, round,
                                 state->runs_done, state->runs_all);
    state->runs_done++;
}

static struct res_command command_for(const struct state *state, char **environment)
{
    const struct res_validation_options *options = state->options;
    return (struct res_command){
        .path = options->path,
        .arguments = options->arguments,
        .environment = environment,
        .errors = state->errors,
        .timeout_ns = options->timeout_ns,
        .stop = options->stop,
    };
}

/* words: the program's last; taken over, may be NULL. */
static char *other_end(const struct state *state, int code, char *words)
{
    char *end = res_command_end_words(code), *first = res_command_end_words(state->options->exit_code);
    char *reason = res_printf("the program ended %s under it, %s when it was recorded%s%s", end, first,
                              words != NULL ? ": " : "", words != NULL ? words : "");
    free(end);
    free(first);
    free(words);
    return reason;
}

/* ---- timed ---------------------------------------------------------------------------------- */

static bool run_timed(struct state *state, struct res_validation_entry *entry, unsigned round,
                      struct res_timed *ret_timed)
{
    char **environment = res_command_environment(entry->candidate, NULL);
    const struct res_timed_request request = {
        .command = command_for(state, environment),
        .hyperfine = state->options->hyperfine,
        .directory = state->options->directory,
    };
    char *reason = NULL;
    tell(state, "time", entry, round);
    const enum res_real_state outcome = res_timed_run(&request, ret_timed, &reason);
    bool usable = outcome == RES_REAL_OK;
    if (outcome == RES_REAL_STOPPED)
        state->validation->stopped = true;
    if (outcome == RES_REAL_OK && !res_command_ends_alike(ret_timed->exit_code, state->options->exit_code)) {
        reason = other_end(state, ret_timed->exit_code, NULL); /* hyperfine keeps what it said */
        usable = false;
    }
    if (reason != NULL)
        fail(entry, reason);
    res_strings_free(environment);
    return usable;
}

/* ---- sampled -------------------------------------------------------------------------------- */

/* NULL: usable, ret_image is set. */
static char *judge_sampled(struct state *state, const struct res_sampled_request *request,
                           const struct res_sampled *sampled, struct res_image *ret_image)
{
    const struct res_validation_options *options = state->options;
    const struct res_image *image = res_sampled_find(sampled, options->process, &state->validation->alike);
    if (!res_command_ends_alike(fp_status_code(sampled->status), options->exit_code))
        return other_end(state, fp_status_code(sampled->status), res_command_last_words(&request->command));
    if (image == NULL)
        return res_printf("no process '%s' ran under it, as was recorded", options->process);
    if (!image->exact)
        return res_printf("'%s' was not seen at its end", options->process);
    if (!image->has_library)
        return res_printf("'%s' ran without '%s', which was to be preloaded", options->process,
                          request->library);
    *ret_image = *image;
    return NULL;
}

/* apart: with the library that names the program's own mappings. */
static bool run_sampled(struct state *state, struct res_validation_entry *entry, unsigned round, bool apart,
                        struct res_image *ret_image)
{
    const struct res_validation_options *options = state->options;
    char **environment = res_command_environment(entry->candidate, apart ? options->apart : NULL);
    const struct res_sampled_request request = {
        .command = command_for(state, environment),
        .step_ns = options->step_ns,
        .maps_of = apart ? options->process : NULL,
        .library = entry->candidate->path,
    };
    struct res_sampled sampled = {0};
    char *reason = NULL;
    tell(state, apart ? "mappings" : "memory", entry, round);
    const enum res_real_state outcome = res_sampled_run(&request, &sampled, &reason);
    if (outcome == RES_REAL_STOPPED)
        state->validation->stopped = true;
    if (outcome == RES_REAL_OK)
        reason = judge_sampled(state, &request, &sampled, ret_image);
    const bool usable = outcome == RES_REAL_OK && reason == NULL;
    if (reason != NULL)
        fail(entry, reason);
    res_sampled_release(&sampled);
    res_strings_free(environment);
    return usable;
}

/* A failure here leaves the figure unknown, and the candidate in. */
static void run_startup(struct state *state, struct res_validation_entry *entry)
{
    char name[] = "true";
    char *arguments[] = {name, NULL};
    char **environment = res_command_environment(entry->candidate, NULL);
    struct res_sampled_request request = {.command = command_for(state, environment),
                                          .step_ns = state->options->step_ns,
                                          .maps_of = name,
                                          .library = entry->candidate->path};
    struct res_sampled sampled = {0};
    char *reason = NULL;
    request.command.path = STARTUP_PROGRAM;
    request.command.arguments = arguments;
    tell(state, "startup", entry, 0);
    entry->startup_heap_bytes = NAN;
    const enum res_real_state outcome = res_sampled_run(&request, &sampled, &reason);
    if (outcome == RES_REAL_STOPPED)
        state->validation->stopped = true;
    const struct res_image *image = outcome == RES_REAL_OK ? res_sampled_find(&sampled, name, NULL) : NULL;
    if (image != NULL && image->exact && image->has_maps) {
        entry->startup_heap_bytes = image->run.heap.end_bytes;
        entry->startup_files = image->files;
    }
    free(reason);
    res_sampled_release(&sampled);
    res_strings_free(environment);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void prepare(struct state *state)
{
    struct res_validation *validation = state->validation;
    struct res_image *uncounted = res_calloc(1, sizeof *uncounted);
    for (size_t i = 0; i < state->options->candidate_count && !validation->stopped; i++) {
        run_startup(state, &validation->entries[i]);
        if (!validation->stopped)
            (void)run_sampled(state, &validation->entries[i], 0, false, uncounted);
    }
    free(uncounted);
}

static void run_entry(struct state *state, struct res_validation_entry *entry, unsigned round)
{
    struct res_timed timed;
    if (entry->failed != NULL)
        return;
    if (run_timed(state, entry, round + 1, &timed))
        entry->timed[entry->timed_count++] = timed;
    if ((!entry->is_control || !state->options->only_process) && round < memory_rounds(state->options) &&
        entry->failed == NULL && !state->validation->stopped &&
        run_sampled(state, entry, round + 1, false, &entry->images[entry->image_count]))
        entry->image_count++;
    if (!entry->is_control && round < mapped_rounds(state->options) && entry->failed == NULL &&
        !state->validation->stopped &&
        run_sampled(state, entry, round + 1, true, &entry->mapped[entry->mapped_count]))
        entry->mapped_count++;
}

static void drop_after(struct res_validation_entry *entry, unsigned rounds)
{
    entry->timed_count = entry->timed_count < rounds ? entry->timed_count : rounds;
    entry->image_count = entry->image_count < rounds ? entry->image_count : rounds;
    entry->mapped_count = entry->mapped_count < rounds ? entry->mapped_count : rounds;
}

/* A round is kept whole or not at all: its samples are paired. */
static void run_round(struct state *state, unsigned round)
{
    struct res_validation *validation = state->validation;
    size_t *order = res_shuffled(&state->random, validation->entry_count);
    for (size_t i = 0; i < validation->entry_count && !validation->stopped; i++)
        run_entry(state, &validation->entries[order[i]], round);
    if (!validation->stopped)
        validation->rounds = round + 1;
    for (size_t i = 0; i < validation->entry_count && validation->stopped; i++)
        drop_after(&validation->entries[i], validation->rounds);
    free(order);
}

void res_validation_run(const struct res_validation_options *options, struct res_validation *ret)
{
    const size_t entries = options->candidate_count + 1;
    assert(options->candidate_count > 0 && options->rounds > 0);
    *ret = (struct res_validation){
        .options = *options,
        .entries = res_calloc(entries, sizeof *ret->entries),
        .entry_count = entries,
    };
    struct state state = {
        .validation = ret,
        .options = options,
        .random = res_random_from(options->seed),
        .errors = res_path_join(options->directory, "stderr"),
        .runs_all = 2 * options->candidate_count + entries * options->rounds +
                    options->candidate_count * mapped_rounds(options) +
                    sampled_entries(options) * memory_rounds(options),
    };
    for (size_t i = 0; i < entries; i++) {
        struct res_validation_entry *entry = &ret->entries[i];
        entry->is_control = i == options->candidate_count;
        entry->candidate = options->candidates[entry->is_control ? 0 : i];
        entry->timed = res_calloc(options->rounds, sizeof *entry->timed);
        entry->mapped = res_calloc(mapped_rounds(options), sizeof *entry->mapped);
        entry->images = res_calloc(memory_rounds(options), sizeof *entry->images);
    }
    prepare(&state);
    for (unsigned round = 0; round < options->rounds && !ret->stopped && ret->entries[0].failed == NULL;
         round++)
        run_round(&state, round);
    free(state.errors);
}

void res_validation_release(struct res_validation *validation)
{
    for (size_t i = 0; i < validation->entry_count; i++) {
        free(validation->entries[i].timed);
        free(validation->entries[i].images);
        free(validation->entries[i].mapped);
        free(validation->entries[i].failed);
    }
    free(validation->entries);
    res_recordings_release(&validation->further);
    *validation = (struct res_validation){0};
}
