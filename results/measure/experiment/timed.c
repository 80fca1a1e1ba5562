/* timed.c - start, wait, read what hyperfine wrote. */
#include "results/measure/experiment/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/run/run.h"

#define RESULT_BYTES_MAX (1u << 20)
#define ENV_PROGRAM      "/usr/bin/env"

/* ---- a program that is run for real ----------------------------------------------------------- */

int res_command_start(const struct res_command *command, struct fp_process_plan plan,
                      struct fp_process *ret_process, char **ret_reason)
{
    int errors = fp_above_standard(open(command->errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    int error = errors < 0 ? errno : 0;
    plan.program = command->path;
    plan.arguments = command->arguments;
    plan.environment = command->environment;
    plan.streams[0] = FP_STREAM_NULL;
    plan.streams[1] = command->output > 0 ? command->output : FP_STREAM_NULL;
    plan.streams[2] = errors;
    plan.own_group = plan.default_signals = plan.as_shell = true;
    *ret_process = FP_PROCESS_NONE;
    if (error == 0)
        error = fp_process_start(&plan, ret_process);
    fp_close(&errors);
    if (error != 0)
        *ret_reason = res_printf("cannot execute '%s': %s", command->path, strerror(error));
    return error;
}

char **res_command_environment(const struct res_candidate *candidate)
{
    struct res_candidate preloaded = *candidate;
    preloaded.preload = candidate->path;
    return res_run_environment(&preloaded);
}

bool res_command_ends_alike(int code, int expected)
{
    return code == expected || (code == RES_SOME_SIGNAL && expected > 128) ||
           (expected == RES_ANY_CODE && code <= 128);
}

char *res_command_end_words(int code)
{
    if (code == RES_SOME_SIGNAL)
        return res_strdup("by a signal");
    return code > 128 && code < 128 + NSIG
               ? res_printf("by signal %d (%s)", code - 128, strsignal(code - 128))
               : res_printf("with exit code %d", code);
}

bool res_command_adds(int code, const char *words)
{
    const char *name = code > 128 && code < 128 + NSIG ? strsignal(code - 128) : NULL;
    return words != NULL && (name == NULL || strncmp(words, name, strlen(name)) != 0);
}

char *res_command_last_words(const char *errors)
{
    char text[4096] = "";
    FILE *file = fopen(errors, "re");
    size_t length = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        if (fseek(file, size > (long)sizeof text ? size - (long)sizeof text : 0, SEEK_SET) == 0)
            length = fread(text, 1, sizeof text, file);
    }
    if (file != NULL)
        fclose(file);
    return res_last_line(text, length);
}

char *res_command_left(pid_t pid)
{
    char path[64], name[32];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    if (!res_file_begin("", path, name, sizeof name))
        *name = '\0';
    name[strcspn(name, "\n")] = '\0';
    RES_FREED char *plain = res_text_plain(name);
    char *reason = res_printf(
        "the program has ended and left '%s' (process %d) running, whose end was waited for %s: mallab "
        "confirm takes a service with --start and --load, and waits longer with --timeout",
        plain, (int)pid, RES_DURATION((double)RES_LEFT_NS));
    return reason;
}

/* ---- one run that is timed -------------------------------------------------------------------- */

/* shell_words - a command line that hyperfine and sh(1) split into these words again. The caller's to free. */
static char *shell_words(char *const *words)
{
    struct res_text text = {0};
    for (; *words != NULL; words++)
        res_shell_word(&text, *words);
    return text.text;
}

/* ---- a child -------------------------------------------------------------------------------- */

double res_used_ns(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e9 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e3;
}

/* Returns one of them; 0: there are none. */
static pid_t signal_children(int number)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "re");
    while (children != NULL && fscanf(children, "%d", &pid) == 1)
        (void)kill(pid, number);
    if (children != NULL)
        fclose(children);
    return pid;
}

/* Waits for processes that a program has left behind (PR_SET_CHILD_SUBREAPER): the run is over when they are. Where the bounds say
 * so, or RES_LEFT_NS is over, they are ended. Adds what they took. */
static enum fp_process_end await_left(const struct fp_process_bounds *bounds, enum fp_process_end end,
                                      double *ret_left_ns, char **ret_reason)
{
    const uint64_t begin_ns = fp_now_ns();
    struct rusage usage;
    pid_t pid;
    while ((pid = wait4(-1, NULL, WNOHANG, &usage)) >= 0) {
        if (pid > 0) {
            *ret_left_ns += res_used_ns(&usage);
            continue;
        }
        if (bounds->stop != NULL && *bounds->stop != 0)
            end = FP_PROCESS_STOPPED;
        else if (bounds->deadline_ns != 0 && fp_now_ns() > bounds->deadline_ns)
            end = FP_PROCESS_LATE;
        else if (bounds->deadline_ns == 0 && fp_now_ns() - begin_ns > RES_LEFT_NS &&
                 end == FP_PROCESS_ENDED) {
            end = FP_PROCESS_LATE;
            *ret_reason = res_command_left(signal_children(0));
        }
        if (end != FP_PROCESS_ENDED)
            (void)signal_children(SIGKILL);
        usleep(1000);
    }
    return end;
}

static enum res_real_state run_child(const struct res_command *command, struct fp_process *process,
                                     double *ret_wall_ns, double *ret_left_ns, char **ret_reason)
{
    const uint64_t begin_ns = fp_now_ns();
    const struct fp_process_bounds bounds = {
        .deadline_ns = command->timeout_ns != 0 ? begin_ns + command->timeout_ns : 0, .stop = command->stop};
    *ret_reason = NULL;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* before a child can end that leaves one of its own */
    if (res_command_start(command, (struct fp_process_plan){0}, process, ret_reason) != 0)
        return RES_REAL_FAILED;
    enum fp_process_end end = fp_process_wait(process, &bounds);
    *ret_wall_ns = (double)(fp_now_ns() - begin_ns);
    end = await_left(&bounds, end, ret_left_ns, ret_reason);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    fp_process_release(process);
    if (end == FP_PROCESS_LATE && *ret_reason == NULL)
        *ret_reason = res_strdup(RES_TOO_LATE);
    return end == FP_PROCESS_ENDED     ? RES_REAL_OK
           : end == FP_PROCESS_STOPPED ? RES_REAL_STOPPED
                                       : RES_REAL_FAILED;
}

static enum res_real_state run_alone(const struct res_timed_request *request, struct res_timed *ret,
                                     char **ret_reason)
{
    struct fp_process process;
    double wall_ns, left_ns = 0;
    const enum res_real_state state = run_child(&request->command, &process, &wall_ns, &left_ns, ret_reason);
    if (state == RES_REAL_OK)
        *ret = (struct res_timed){.wall_ns = wall_ns,
                                  .cpu_ns = res_used_ns(&process.usage) + left_ns,
                                  .exit_code = fp_status_code(process.status)};
    return state;
}

/* ---- hyperfine ------------------------------------------------------------------------------ */

/* parse_timed - hyperfine's JSON of one run. Returns false with ret_reason set when it is not that. */
static bool parse_timed(const char *text, struct res_timed *ret, char **ret_reason)
{
    json_t *whole = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *result = json_array_get(json_object_get(whole, "results"), 0);
    const json_t *wall = json_array_get(json_object_get(result, "times"), 0);
    const json_t *user = json_object_get(result, "user"), *system = json_object_get(result, "system");
    const json_t *code = json_array_get(json_object_get(result, "exit_codes"), 0);
    const bool valid = json_is_number(wall) && json_is_number(user) && json_is_number(system) &&
                       json_number_value(wall) >= 0 && json_number_value(user) >= 0 &&
                       json_number_value(system) >= 0 && json_number_value(wall) < 1e9;
    if (valid)
        *ret = (struct res_timed){
            .wall_ns = json_number_value(wall) * 1e9,
            .cpu_ns = (json_number_value(user) + json_number_value(system)) * 1e9,
            .exit_code = json_is_integer(code) ? (int)json_integer_value(code) : RES_SOME_SIGNAL,
        };
    else
        *ret_reason = res_strdup("hyperfine's result is not what hyperfine 1.15 writes");
    json_decref(whole);
    return valid;
}

static bool is_among(const char *variable, char *const *environment)
{
    for (size_t i = 0; environment[i] != NULL; i++)
        if (strcmp(environment[i], variable) == 0)
            return true;
    return false;
}

/* env, the variables that are the command's alone, and the command. */
static struct res_texts words_of(const struct res_timed_request *request, char *const *plain)
{
    const struct res_command *command = &request->command;
    struct res_texts words = {0};
    res_texts_add(&words, ENV_PROGRAM);
    for (size_t i = 0; command->environment[i] != NULL; i++)
        if (!is_among(command->environment[i], plain))
            res_texts_add(&words, command->environment[i]);
    if (strchr(command->path, '=') != NULL) { /* env would take it for one more variable */
        res_texts_add(&words, "/bin/sh");
        res_texts_add(&words, "-c");
        res_texts_add(&words, "exec \"$0\" \"$@\"");
    }
    res_texts_add(&words, command->path); /* a path is found as it is */
    for (size_t i = 1; command->arguments[i] != NULL; i++)
        res_texts_add(&words, command->arguments[i]);
    return words;
}

/* Tells why hyperfine left no result. The caller's to free. */
static char *no_result(const struct res_command *command, int status)
{
    RES_FREED char *end = res_command_end_words(fp_status_code(status)),
                   *words = res_command_last_words(command->errors);
    return res_printf("hyperfine gave no result and ended %s: %s", end, words);
}

static enum res_real_state run_hyperfine(const struct res_timed_request *request, struct res_timed *ret,
                                         char **ret_reason)
{
    RES_FREED char *result = res_path_join(request->directory, "hyperfine.json");
    char **plain = res_run_environment(NULL);
    struct res_texts words = words_of(request, plain), arguments = {0};
    RES_FREED char *line = shell_words(words.items);
    const char *const fixed[] = {"hyperfine",     "-N",   "--runs", "1", "--style", "none", "-i",
                                 "--export-json", result, "--",     line};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        res_texts_add(&arguments, fixed[i]);
    struct res_command command = request->command;
    struct fp_process process;
    double wall_ns, left_ns = 0;
    command.path = request->hyperfine;
    command.arguments = arguments.items;
    command.environment = plain;
    unlink(result); /* of the run before */
    enum res_real_state state = run_child(&command, &process, &wall_ns, &left_ns, ret_reason);
    RES_FREED char *text = res_calloc(RESULT_BYTES_MAX, 1);
    if (state == RES_REAL_OK && (!res_file_begin("", result, text, RESULT_BYTES_MAX) || *text == '\0')) {
        *ret_reason = no_result(&command, process.status);
        state = RES_REAL_FAILED;
    } else if (state == RES_REAL_OK && !parse_timed(text, ret, ret_reason)) {
        state = RES_REAL_FAILED;
    }
    ret->cpu_ns += state == RES_REAL_OK ? left_ns : 0;
    res_strings_free(plain);
    res_texts_release(&words);
    res_texts_release(&arguments);
    return state;
}

enum res_real_state res_timed_run(const struct res_timed_request *request, struct res_timed *ret,
                                  char **ret_reason)
{
    return request->hyperfine != NULL ? run_hyperfine(request, ret, ret_reason)
                                      : run_alone(request, ret, ret_reason);
}
