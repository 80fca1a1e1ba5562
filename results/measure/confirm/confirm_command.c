/* confirm_command.c - single runs of a command: one kind for time, one for memory. */
#include "results/measure/confirm/confirm_command.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "results/measure/run/run.h"
#include "results/measure/watch/sampled.h"

#define STEP_NS       UINT64_C(1000000000) /* the peak is the kernel's: samples between would only cost time */
#define GROUP_STEP_NS UINT64_C(2000000)    /* what processes hold together is only sampled */

/* other_end - in words that it ended otherwise than is expected. The caller's to free.
 * words  the program's last; taken over, may be NULL. */
static char *other_end(const struct res_confirm_command *command, int code, char *words)
{
    char *end = res_command_end_words(code), *expected = res_command_end_words(command->exit_code);
    const bool adds = res_command_adds(code, words), is_any = command->exit_code == RES_ANY_CODE;
    char *reason = res_printf("the program ended %s%s%s%s%s", end, is_any ? "" : ", not ",
                              is_any ? "" : expected, adds ? ": " : "", adds ? words : "");
    free(end);
    free(expected);
    free(words);
    return reason;
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
    if (!res_command_ends_alike(timed.exit_code, command->exit_code)) {
        *ret_reason = other_end(command, timed.exit_code, NULL); /* hyperfine keeps what it said */
        return RES_REAL_FAILED;
    }
    ret->time_ns = timed.cpu_ns;
    ret->wall_ns = timed.wall_ns;
    return state;
}

/* Of the process with most, or of a group together, if one had the library. */
static enum res_real_state take_peak(const struct res_sampled *sampled, const char *group,
                                     const char *library, double *ret_peak, char **ret_reason)
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
    *ret_peak = is_exact ? fmax(peak, group != NULL ? res_sampled_group(sampled, group) : 0) : NAN;
    return RES_REAL_OK;
}

static enum res_real_state run_watched(const struct res_confirm_command *command,
                                       const struct res_command *one, const char *library,
                                       struct res_confirm_run *ret, char **ret_reason)
{
    const char *const libraries[] = {library, NULL};
    const struct res_sampled_request request = {
        .command = *one, .step_ns = command->group != NULL ? GROUP_STEP_NS : STEP_NS, .libraries = libraries};
    struct res_sampled sampled = {0};
    enum res_real_state state = res_sampled_run(&request, &sampled, ret_reason);
    if (state != RES_REAL_OK)
        return state;
    const int code = fp_status_code(sampled.status);
    if (!res_command_ends_alike(code, command->exit_code)) {
        *ret_reason = other_end(command, code, res_command_last_words(one));
        state = RES_REAL_FAILED;
    } else {
        state = take_peak(&sampled, command->group, library, &ret->peak_bytes, ret_reason);
    }
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
    char *errors = res_path_join(command->directory, "stderr");
    const struct res_command one = command_of(command, environment, errors);
    const enum res_real_state state = what == RES_CONFIRM_PEAK
                                          ? run_watched(command, &one, candidate->path, ret, ret_reason)
                                          : run_timed(command, &one, ret, ret_reason);
    res_strings_free(environment);
    free(errors);
    return state;
}

enum res_real_state res_confirm_command_as_it_is(const struct res_confirm_command *command, int output,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason)
{
    char *errors = res_path_join(command->directory, "stderr");
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
    const int code = fp_status_code(sampled.status);
    if (state == RES_REAL_OK && !res_command_ends_alike(code, command->exit_code)) {
        *ret_reason = other_end(command, code, res_command_last_words(&one));
        state = RES_REAL_FAILED;
    } else if (state == RES_REAL_OK) {
        *ret_library = largest != NULL ? largest->library : NULL;
    }
    res_sampled_release(&sampled);
    free(errors);
    return state;
}

struct res_confirm_runner res_confirm_command_runner(struct res_confirm_command *command)
{
    return (struct res_confirm_runner){.run = run_once, .context = command};
}
