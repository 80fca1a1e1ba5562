/* reality.c - runs of the program that are timed, sampled and mapped. */
#include "results/measure/validate/reality.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/clock.h"
#include "footprint/base/support.h"
#include "results/measure/run/run.h"
#include "results/measure/watch/program_image.h"

#define STARTUP_PROGRAM "/bin/true" /* calls neither malloc nor anything that does */
#define SHELL           "/bin/sh"
#define FORKS           "(:) & wait" /* the child calls nothing, and still has what its parent's pages are */
#define STEP_TIMED_NS   UINT64_C(1000000000) /* of a run for time: samples would only cost some */

struct watched {
    enum res_real_state state;
    struct res_image image; /* of what was recorded, on RES_REAL_OK */
    char *reason;           /* on RES_REAL_FAILED */
};

/* NULL: usable, *ret_image is set; else why not, the caller's. */
static char *judge(struct res_reality *reality, const struct res_sampled_request *request,
                   const struct res_sampled *sampled, struct res_image *ret_image)
{
    const struct res_reality_options *options = &reality->options;
    const char *process = options->process;
    const int code = fp_status_code(sampled->status);
    const struct res_image *one = res_sampled_find(sampled, process, &reality->alike);
    if (!res_command_ends_alike(code, options->command->exit_code))
        return res_confirm_other_end(options->command, code, res_command_last_words(&request->command));
    if (one == NULL)
        return res_printf("no process '%s' ran under it, as was recorded", process);
    *ret_image = *one;
    if (!one->exact || (options->is_group && !res_sampled_group(sampled, process, ret_image)))
        return res_printf("'%s' was not seen at its end", process);
    if (!ret_image->has_library)
        return res_printf("'%s' ran without '%s', which was to be preloaded", process, request->library);
    return NULL;
}

/* maps: with the library that names the program's own mappings, and those read. */
static void watch(struct res_reality *reality, const struct res_candidate *candidate, bool maps,
                  uint64_t step_ns, struct watched *ret)
{
    const struct res_reality_options *options = &reality->options;
    char **environment = res_command_environment(candidate, maps ? options->apart : NULL);
    char *errors = res_path_join(options->command->directory, "stderr");
    const struct res_sampled_request request = {
        .command = res_confirm_command_of(options->command, environment, errors),
        .step_ns = step_ns,
        .maps_of = maps ? options->process : NULL,
        .library = candidate->path,
    };
    struct res_sampled sampled = {0};
    *ret = (struct watched){.reason = NULL};
    ret->state = res_sampled_run(&request, &sampled, &ret->reason);
    if (ret->state == RES_REAL_OK)
        ret->reason = judge(reality, &request, &sampled, &ret->image);
    if (ret->reason != NULL)
        ret->state = RES_REAL_FAILED;
    res_sampled_release(&sampled);
    res_strings_free(environment);
    free(errors);
}

/* Into the image that began last of those of a name, which where it forked is its child. A failure leaves it unknown. */
static enum res_real_state run_start(const struct res_reality *reality, const struct res_candidate *candidate,
                                     const char *path, char **arguments, struct res_image *ret)
{
    char **environment = res_command_environment(candidate, NULL);
    char *errors = res_path_join(reality->options.command->directory, "stderr"), *reason = NULL;
    struct res_sampled_request request = {
        .command = res_confirm_command_of(reality->options.command, environment, errors),
        .step_ns = reality->options.step_ns,
        .maps_of = arguments[0],
        .library = candidate->path};
    struct res_sampled sampled = {0};
    request.command.path = path;
    request.command.arguments = arguments;
    const enum res_real_state state = res_sampled_run(&request, &sampled, &reason);
    for (size_t i = 0; i < sampled.image_count; i++)
        if (res_image_is(&sampled.images[i], arguments[0]))
            *ret = sampled.images[i];
    free(reason);
    res_sampled_release(&sampled);
    res_strings_free(environment);
    free(errors);
    return state;
}

static enum res_real_state run_startup(const struct res_reality *reality,
                                       const struct res_candidate *candidate, struct res_real *real)
{
    char name[] = "true", shell[] = "sh", option[] = "-c", line[] = FORKS;
    char *alone[] = {name, NULL}, *forks[] = {shell, option, line, NULL};
    struct res_image *image = res_calloc(2, sizeof *image);
    enum res_real_state state = run_start(reality, candidate, STARTUP_PROGRAM, alone, &image[0]);
    if (image[0].exact && image[0].has_maps) {
        real->startup_heap_bytes = image[0].heap_end_bytes;
        real->startup_files = image[0].files;
    }
    if (state != RES_REAL_STOPPED && reality->options.is_group)
        state = run_start(reality, candidate, SHELL, forks, &image[1]);
    real->forked_files = image[1].files;
    res_files_keep_written(&real->forked_files);
    real->has_startup = true;
    free(image);
    return state;
}

/* One look: a sampled run and a mapped one. */
static enum res_real_state look(struct res_reality *reality, const struct res_candidate *candidate,
                                struct res_real *real, struct res_confirm_run *ret, char **ret_reason)
{
    struct watched *seen = res_calloc(2, sizeof *seen);
    enum res_real_state state = RES_REAL_OK;
    if (!real->has_startup && run_startup(reality, candidate, real) == RES_REAL_STOPPED)
        state = RES_REAL_STOPPED;
    for (size_t i = 0; i < 2 && state == RES_REAL_OK; i++) {
        watch(reality, candidate, i > 0, reality->options.step_ns, &seen[i]);
        state = seen[i].state;
        *ret_reason = seen[i].reason;
        ret->runs = (unsigned)i + 1;
    }
    if (state == RES_REAL_OK && real->sampled_count < RES_LOOKS_MAX) {
        ret->peak_bytes = seen[0].image.peak_bytes;
        real->sampled[real->sampled_count++] = seen[0].image;
        real->mapped[real->mapped_count++] = seen[1].image;
    }
    free(seen);
    return state;
}

static enum res_real_state run_part(struct res_reality *reality, const struct res_candidate *candidate,
                                    struct res_confirm_run *ret, char **ret_reason)
{
    struct watched *seen = res_calloc(1, sizeof *seen);
    const uint64_t begin_ns = fp_now_ns();
    watch(reality, candidate, false, STEP_TIMED_NS, seen);
    const enum res_real_state state = seen->state;
    *ret_reason = seen->reason;
    if (state == RES_REAL_OK) {
        ret->time_ns = seen->image.cpu_ns;
        ret->wall_ns = (double)(fp_now_ns() - begin_ns);
    }
    free(seen);
    return state;
}

static enum res_real_state run(void *context, const struct res_candidate *candidate,
                               enum res_confirm_what what, struct res_confirm_run *ret, char **ret_reason)
{
    struct res_reality *reality = context;
    size_t place = 0;
    while (reality->options.candidates[place] != candidate)
        place++; /* it is one of them */
    if (what == RES_CONFIRM_PEAK)
        return look(reality, candidate, &reality->all[place], ret, ret_reason);
    if (reality->options.is_part)
        return run_part(reality, candidate, ret, ret_reason);
    const struct res_confirm_runner whole = res_confirm_command_runner(reality->options.command);
    return whole.run(whole.context, candidate, what, ret, ret_reason);
}

void res_reality_begin(const struct res_reality_options *options, struct res_reality *ret)
{
    *ret = (struct res_reality){.options = *options,
                                .all = res_calloc(options->candidate_count, sizeof *ret->all)};
    for (size_t i = 0; i < options->candidate_count; i++) {
        ret->all[i].sampled = res_calloc(RES_LOOKS_MAX, sizeof *ret->all[i].sampled);
        ret->all[i].mapped = res_calloc(RES_LOOKS_MAX, sizeof *ret->all[i].mapped);
        ret->all[i].startup_heap_bytes = NAN;
    }
}

struct res_confirm_runner res_reality_runner(struct res_reality *reality)
{
    return (struct res_confirm_runner){.run = run, .context = reality};
}

void res_reality_release(struct res_reality *reality)
{
    for (size_t i = 0; i < reality->options.candidate_count && reality->all != NULL; i++) {
        free(reality->all[i].sampled);
        free(reality->all[i].mapped);
    }
    free(reality->all);
    *reality = (struct res_reality){0};
}
