/* run.c - start a replay, wait for it, believe nothing it did not prove. */
#include "results/measure/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/measure/base/support.h"
#include "results/measure/figures/memory_limit.h"

#define SETTINGS_TIMEOUT_NS UINT64_C(30000000000) /* of a process that starts, answers and ends */
#define SETTINGS_MISUSE     2                     /* its exit code: replay/replay_options.h */

#define STDERR_MAX 65536u /* of the newest; twice that and a read's worth while it is read */
#define SAID_LINES 3u     /* of what an allocator says in a run that succeeds */
#define SAID_BYTES 200u   /* of each */
#define POLL_MS    200    /* how soon a stop or a timeout is noticed when the signal came before the poll */

struct process {
    pid_t pid;
    int output, errors; /* read ends; -1 once ended */
    struct res_text printed, said;
    char *begun;        /* what was said first, once that is no longer in `said`; NULL: it is */
    const char *killed; /* why we ended it, NULL if we did not */
    int status;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Returns 0 or an errno. */
static int start(struct process *process, const char *program, char **arguments, char **environment)
{
    int output[2] = {-1, -1};
    int errors[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
        const int error = errno;
        close_if_open(&output[0]);
        close_if_open(&output[1]);
        return error;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error = posix_spawn(&process->pid, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(output[1]);
    close(errors[1]);
    process->output = output[0];
    process->errors = errors[0];
    if (error != 0) {
        close_if_open(&process->output);
        close_if_open(&process->errors);
    }
    return error;
}

static void drain(int *fd, struct res_text *text, size_t length_max)
{
    char bytes[65536];
    const ssize_t count = read(*fd, bytes, sizeof bytes);
    if (count > 0) {
        const size_t room = text->length < length_max ? length_max - text->length : 0;
        res_text_add(text, bytes, (size_t)count < room ? (size_t)count : room);
    } else if (count == 0 || errno != EINTR) {
        close_if_open(fd);
    }
}

/* An allocator may complain a million times before the cause is said, so the newest is what is kept. */
static void drain_errors(struct process *process)
{
    struct res_text *said = &process->said;
    drain(&process->errors, said, SIZE_MAX);
    if (said->length <= 2 * STDERR_MAX)
        return;
    if (process->begun == NULL)
        process->begun = res_strndup(said->text, STDERR_MAX);
    memmove(said->text, said->text + said->length - STDERR_MAX, STDERR_MAX);
    said->length = STDERR_MAX;
}

static void finish(struct process *process, const struct res_run_request *request, uint64_t deadline_ns)
{
    while (process->output >= 0 || process->errors >= 0) {
        struct pollfd ends[2] = {{.fd = process->output, .events = POLLIN},
                                 {.fd = process->errors, .events = POLLIN}};
        const int ready = poll(ends, 2, POLL_MS);
        if (process->killed == NULL && request->stop != NULL && *request->stop)
            process->killed = "stopped";
        else if (process->killed == NULL && deadline_ns != 0 && now_ns() > deadline_ns)
            process->killed = "timeout";
        else if (process->killed == NULL && process->printed.length >= RES_RUN_OUTPUT_MAX)
            process->killed = "output";
        if (process->killed != NULL) {
            kill(process->pid, SIGKILL); /* cannot fail: it is ours and not yet waited for */
            break;
        }
        if (ready <= 0)
            continue;
        if (ends[0].revents != 0)
            drain(&process->output, &process->printed, RES_RUN_OUTPUT_MAX);
        if (ends[1].revents != 0)
            drain_errors(process);
    }
    while (waitpid(process->pid, &process->status, 0) < 0 && errno == EINTR)
        continue;
    close_if_open(&process->output);
    close_if_open(&process->errors);
}

/* The last line that it said: programs end with the cause. */
static char *last_line(const struct res_text *said)
{
    if (said->text == NULL)
        return res_strdup("it said nothing");
    size_t end = said->length;
    while (end > 0 && (said->text[end - 1] == '\n' || said->text[end - 1] == ' '))
        end--;
    size_t begin = end;
    while (begin > 0 && said->text[begin - 1] != '\n')
        begin--;
    char *line = res_strndup(said->text + begin, end - begin);
    char *plain = res_text_plain(line);
    free(line);
    return plain;
}

/* The first lines that are not the replay's own, on one: "a; b; ...". NULL: there are none. */
static char *first_words(const struct process *process)
{
    static const char OWN[] = "mallab-replay-";
    struct res_text words = {0};
    size_t lines = 0;
    const char *line = process->begun != NULL ? process->begun : process->said.text;
    while (line != NULL && *line != '\0' && lines <= SAID_LINES) {
        const size_t length = strcspn(line, "\n");
        if (length > 0 && strncmp(line, OWN, sizeof OWN - 1) != 0 && lines++ < SAID_LINES)
            res_text_printf(&words, "%s%.*s", words.length > 0 ? "; " : "",
                            (int)(length < SAID_BYTES ? length : SAID_BYTES), line);
        line += length + (line[length] == '\n');
    }
    if (lines > SAID_LINES)
        res_text_printf(&words, "; ...");
    char *plain = words.text != NULL ? res_text_plain(words.text) : NULL;
    free(words.text);
    return plain;
}

/* What a failed run printed of its end; NULL when it did not. A new reference. */
static json_t *failure_of(const struct process *process)
{
    json_error_t error;
    json_t *root = process->printed.length > 0
                       ? json_loadb(process->printed.text, process->printed.length, 0, &error)
                       : NULL;
    json_t *failed = json_incref(json_object_get(root, "failed"));
    json_decref(root);
    if (json_is_object(failed))
        return failed;
    json_decref(failed);
    return NULL;
}

/* "died: ..." where the allocator ended the run, which a user looks for under a memory limit. */
static char *words_of(const json_t *failure)
{
    const char *words = json_string_value(json_object_get(failure, "text"));
    if (!json_is_string(json_object_get(failure, "cause")) || words == NULL)
        return NULL;
    char *plain = res_text_plain(words);
    char *reason = res_printf("%s%s", res_failure_is_death(failure) ? "died: " : "", plain);
    free(plain);
    return reason;
}

static char *reason_of(const struct process *process, const struct res_run_request *request)
{
    char span[32];
    char *line = last_line(&process->said);
    char *reason = NULL;
    if (process->killed != NULL && strcmp(process->killed, "timeout") == 0)
        reason = res_printf("stopped by mallab after %s without a result%s",
                            res_text_duration((double)request->timeout_ns, span),
                            request->timeout_asked ? " (--timeout)" : "");
    else if (process->killed != NULL)
        reason = res_strdup("printed more than a result can be");
    else if (WIFSIGNALED(process->status))
        reason = res_printf("killed by signal %d (%s): %s", WTERMSIG(process->status),
                            strsignal(WTERMSIG(process->status)), line);
    else if (WEXITSTATUS(process->status) != 0)
        reason = res_printf("exit code %d: %s", WEXITSTATUS(process->status), line);
    free(line);
    return reason;
}

/* What the kernel did says more than what the run could. Takes over reason and gives back the better one. */
static char *explain(const struct process *process, const struct res_run_request *request,
                     const struct res_group *group, char *reason)
{
    json_t *failure = NULL;
    if (process->killed == NULL && group->directory != NULL)
        failure = res_group_killed(group, request->limit_bytes);
    if (failure == NULL && request->ret_failure != NULL)
        failure = failure_of(process);
    char *words = words_of(failure);
    if (request->ret_failure != NULL)
        *request->ret_failure = failure;
    else
        json_decref(failure);
    if (words == NULL)
        return reason;
    free(reason);
    return words;
}

static enum res_run_state run_in(const struct res_run_request *request, const struct res_group *group,
                                 struct res_run *ret_run, char **ret_reason)
{
    enum res_run_state state = RES_RUN_FAILED;
    struct process process = {.output = -1, .errors = -1};
    struct res_run_request own = *request;
    own.group = group->directory != NULL ? group : NULL;
    char **arguments = res_run_arguments(&own, NULL);
    char **environment = res_run_environment(request->candidate);
    const uint64_t begin_ns = now_ns();
    const int error = start(&process, request->candidate->program, arguments, environment);
    if (error != 0) {
        *ret_reason = res_printf("cannot start '%s': %s", request->candidate->program, strerror(error));
        goto out;
    }
    finish(&process, request, request->timeout_ns != 0 ? begin_ns + request->timeout_ns : 0);
    const uint64_t elapsed_ns = now_ns() - begin_ns;
    if (request->stop != NULL && *request->stop) {
        state = RES_RUN_STOPPED;
        goto out;
    }
    char *reason = reason_of(&process, request);
    struct res_run run = {0};
    if (reason != NULL)
        reason = explain(&process, request, group, reason);
    if (reason != NULL) {
        *ret_reason = reason;
    } else if (res_run_parse(process.printed.text, process.printed.length, &run, ret_reason)) {
        run.elapsed_ns = elapsed_ns;
        run.said = first_words(&process);
        *ret_run = run;
        state = RES_RUN_OK;
    }
out:
    free(process.printed.text);
    free(process.said.text);
    free(process.begun);
    res_strings_free(arguments);
    res_strings_free(environment);
    return state;
}

enum res_run_state res_run_once(const struct res_run_request *request, struct res_run *ret_run,
                                char **ret_reason)
{
    struct res_group group = {.lock_fd = -1, .notes_fd = -1};
    if (request->limit_bytes != 0 && request->place != NULL &&
        !res_group_make(request->place, &group, ret_reason))
        return RES_RUN_FAILED;
    const enum res_run_state state = run_in(request, &group, ret_run, ret_reason);
    res_group_remove(&group);
    return state;
}

bool res_run_settings(const struct res_candidate *candidate, char **ret_names, char **ret_wrong,
                      char **ret_reason)
{
    const struct res_run_request request = {
        .candidate = candidate,
        .pass_option = "--settings",
        .as_text = true,
        .timeout_ns = SETTINGS_TIMEOUT_NS,
    };
    struct process process = {.output = -1, .errors = -1};
    char **arguments = res_run_arguments(&request, NULL);
    char **environment = res_run_environment(candidate);
    const int error = start(&process, candidate->program, arguments, environment);
    *ret_wrong = NULL;
    char *reason = NULL;
    if (error != 0) {
        reason = res_printf("cannot start '%s': %s", candidate->program, strerror(error));
    } else {
        finish(&process, &request, now_ns() + request.timeout_ns);
        reason = reason_of(&process, &request);
    }
    if (error == 0 && process.killed == NULL && WIFEXITED(process.status) &&
        WEXITSTATUS(process.status) == SETTINGS_MISUSE) {
        *ret_wrong = last_line(&process.said);
        free(reason);
        reason = NULL;
    }
    *ret_names = process.printed.text != NULL ? res_strndup(process.printed.text, process.printed.length)
                                              : res_strdup("");
    free(process.printed.text);
    free(process.said.text);
    free(process.begun);
    res_strings_free(arguments);
    res_strings_free(environment);
    if (reason != NULL)
        *ret_reason = reason;
    return reason == NULL;
}
