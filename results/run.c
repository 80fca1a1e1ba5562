/* run.c - start a replay, wait for it, believe nothing it did not prove. */
#include "results/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/support.h"

extern char **environ;

#define STDERR_MAX    65536u /* of the newest; twice that and a read's worth while it is read */
#define POLL_MS       200 /* how soon a stop or a timeout is noticed when the signal came before the poll */
#define ARGUMENTS_MAX 32  /* of our own */

/* ---- what it is started with ---------------------------------------------------------------- */

static bool steers_allocator(const char *variable)
{
    /* A trailing '*' stands for any ending, as every allocator adds settings with each version. */
    static const char *const names[] = {
        "LD_PRELOAD=",    "LD_AUDIT=",  "LD_BIND_NOW=", "GLIBC_TUNABLES=", "MALLOC_*",
        "_RJEM_MALLOC_*", "MIMALLOC_*", "TCMALLOC_*",   "PERFTOOLS_*",     "HEAPPROFILE*",
        "HEAPCHECK*",     "SCUDO_*",    "TBB_*",        "MALLAB_OUT=",     "MALLAB_SEGMENT=",
        "MALLAB_QUIET=",  "JEMALLOC_*", "RPMALLOC_*",   "SNMALLOC_*",      "HOARD_*",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        const size_t compared = names[i][length - 1] == '*' ? length - 1 : length;
        if (strncmp(variable, names[i], compared) == 0)
            return true;
    }
    return false;
}

char **res_run_environment(const struct res_candidate *candidate)
{
    size_t count = 0;
    size_t kept = 0;
    while (environ[count] != NULL)
        count++;
    char **variables = res_calloc(count + candidate->variable_count + 2, sizeof *variables);
    for (size_t i = 0; i < count; i++) {
        bool replaced = steers_allocator(environ[i]);
        for (size_t k = 0; k < candidate->variable_count && !replaced; k++) {
            const char *name = candidate->environment[k].name;
            replaced = strncmp(environ[i], name, strlen(name)) == 0 && environ[i][strlen(name)] == '=';
        }
        if (!replaced)
            variables[kept++] = res_strdup(environ[i]);
    }
    for (size_t k = 0; k < candidate->variable_count; k++)
        variables[kept++] = res_printf("%s=%s", candidate->environment[k].name,
                                       candidate->environment[k].value);
    if (candidate->preload != NULL)
        variables[kept++] = res_printf("LD_PRELOAD=%s", candidate->path);
    return variables;
}

void res_strings_free(char **strings)
{
    if (strings == NULL)
        return;
    for (size_t i = 0; strings[i] != NULL; i++)
        free(strings[i]);
    free(strings);
}

char **res_run_arguments(const struct res_run_request *request, const char *const *extra)
{
    const struct res_candidate *candidate = request->candidate;
    size_t count = 0;
    size_t extra_count = 0;
    while (extra != NULL && extra[extra_count] != NULL)
        extra_count++;
    size_t more_count = 0;
    while (request->more != NULL && request->more[more_count] != NULL)
        more_count++;
    char **arguments = res_calloc(ARGUMENTS_MAX + extra_count + more_count +
                                      2 * (candidate->variable_count + candidate->expected_count),
                                  sizeof *arguments);
    arguments[count++] = res_strdup(candidate->program);
    if (!request->as_text)
        arguments[count++] = res_strdup("--json");
    arguments[count++] = res_strdup("--candidate");
    arguments[count++] = res_strdup(candidate->name);
    if (request->touch != NULL) {
        arguments[count++] = res_strdup("--touch");
        arguments[count++] = res_strdup(request->touch);
    }
    if (request->recorded_clock) {
        arguments[count++] = res_strdup("--clock");
        arguments[count++] = res_strdup("recorded");
        if (res_candidate_follows_clock(candidate))
            arguments[count++] = res_strdup("--expect-clock");
    }
    if (request->idle_ms > 0) {
        arguments[count++] = res_strdup("--idle-ms");
        arguments[count++] = res_printf("%llu", (unsigned long long)request->idle_ms);
    }
    if (candidate->library != NULL) {
        arguments[count++] = res_strdup("--expect-library");
        arguments[count++] = res_strdup(candidate->preload != NULL ? candidate->path : candidate->library);
    }
    if (candidate->proof != NULL) {
        arguments[count++] = res_strdup("--proof");
        arguments[count++] = res_strdup(candidate->proof);
    }
    for (size_t i = 0; i < candidate->variable_count; i++) {
        arguments[count++] = res_strdup("--setting");
        arguments[count++] = res_strdup(candidate->environment[i].name);
    }
    for (size_t i = 0; i < candidate->expected_count; i++) {
        arguments[count++] = res_strdup("--expect");
        arguments[count++] = res_printf("%s=%s", candidate->expected[i].name, candidate->expected[i].value);
    }
    if (candidate->settings != NULL)
        arguments[count++] = res_strdup("--unproven");
    if (request->limit_bytes != 0) {
        arguments[count++] = res_strdup("--limit");
        arguments[count++] = res_printf("%llu", (unsigned long long)request->limit_bytes);
    }
    if (request->check)
        arguments[count++] = res_strdup("--check");
    if (request->waste)
        arguments[count++] = res_strdup("--waste");
    if (request->ret_failure != NULL)
        arguments[count++] = res_strdup("--report-failure");
    if (request->pass_option != NULL)
        arguments[count++] = res_strdup(request->pass_option);
    for (size_t i = 0; i < more_count; i++)
        arguments[count++] = res_strdup(request->more[i]);
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++)
        arguments[count++] = res_strdup(extra[i]);
    arguments[count++] = res_strdup("--");
    arguments[count++] = res_strdup(request->workload);
    return arguments;
}

/* ---- the process ---------------------------------------------------------------------------- */

struct process {
    pid_t pid;
    int output, errors; /* read ends; -1 once ended */
    struct res_text printed, said;
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
    const char *cause = json_string_value(json_object_get(failure, "cause"));
    const char *words = json_string_value(json_object_get(failure, "text"));
    if (cause == NULL || words == NULL)
        return NULL;
    char *plain = res_text_plain(words);
    const bool died = strcmp(cause, "null") == 0 || strcmp(cause, "limit") == 0 ||
                      strcmp(cause, "crash") == 0;
    char *reason = res_printf("%s%s", died ? "died: " : "", plain);
    free(plain);
    return reason;
}

static char *reason_of(const struct process *process, const struct res_run_request *request)
{
    char span[32];
    char *line = last_line(&process->said);
    char *reason = NULL;
    if (process->killed != NULL && strcmp(process->killed, "timeout") == 0)
        reason = res_printf("ended after %s without a result",
                            res_text_duration((double)request->timeout_ns, span));
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

enum res_run_state res_run_once(const struct res_run_request *request, struct res_run *ret_run,
                                char **ret_reason)
{
    enum res_run_state state = RES_RUN_FAILED;
    struct process process = {.output = -1, .errors = -1};
    char **arguments = res_run_arguments(request, NULL);
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
    if (reason != NULL && request->ret_failure != NULL) {
        *request->ret_failure = failure_of(&process);
        char *words = words_of(*request->ret_failure);
        if (words != NULL) {
            free(reason);
            reason = words;
        }
    }
    if (reason != NULL) {
        *ret_reason = reason;
    } else if (res_run_parse(process.printed.text, process.printed.length, &run, ret_reason)) {
        run.elapsed_ns = elapsed_ns;
        *ret_run = run;
        state = RES_RUN_OK;
    }
out:
    free(process.printed.text);
    free(process.said.text);
    res_strings_free(arguments);
    res_strings_free(environment);
    return state;
}

/* ---- what it printed ------------------------------------------------------------------------ */

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool take_batches(struct res_run *run)
{
    const json_t *batches = json_object_get(run->json, "batch_ns");
    size_t index;
    json_t *value;
    if (!json_is_array(batches))
        return false;
    run->batch_count = json_array_size(batches);
    run->batch_ns = res_calloc(run->batch_count, sizeof *run->batch_ns);
    json_array_foreach(batches, index, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        run->batch_ns[index] = (uint64_t)json_integer_value(value);
    }
    /* Kept as an array of ours: as JSON values they would take ten times the memory. */
    json_object_del(run->json, "batch_ns");
    return true;
}

static char *take_figures(struct res_run *run)
{
    const json_t *resident = json_object_get(run->json, "resident");
    const json_t *proof = json_object_get(run->json, "proof");
    const json_t *digest = json_object_get(run->json, "digest");
    const json_t *ops = json_object_get(run->json, "ops");
    const json_t *inherited = json_object_get(run->json, "inherited_ops"); /* absent: none */
    if (!json_is_integer(ops) || json_integer_value(ops) < 0)
        return res_strdup("its result has no 'ops'");
    if (!json_is_string(digest))
        return res_strdup("its result has no 'digest'");
    if (!json_is_true(json_object_get(proof, "ok"))) {
        const char *library = json_string_value(json_object_get(proof, "malloc_library"));
        return res_printf("the proof failed: calls were served by '%s'",
                          library != NULL ? library : "unknown");
    }
    if (json_integer_value(inherited) < 0 || json_integer_value(inherited) > json_integer_value(ops))
        return res_strdup("its result has no valid 'inherited_ops'");
    run->ops = (uint64_t)json_integer_value(ops);
    run->inherited_ops = (uint64_t)json_integer_value(inherited);
    run->digest = res_strdup(json_string_value(digest));
    run->ns_per_op = number_of(run->json, "ns_per_op");
    run->resident_peak_bytes = number_of(resident, "peak_bytes");
    run->resident_mean_bytes = number_of(resident, "mean_bytes");
    run->resident_end_bytes = number_of(resident, "end_bytes");
    run->resident_idle_bytes = number_of(resident, "idle_bytes");
    run->given_back_share = number_of(resident, "given_back_share");
    if (json_is_string(json_object_get(resident, "not_predicted_why")))
        run->not_predicted_why = res_strdup(
            json_string_value(json_object_get(resident, "not_predicted_why")));
    const char *pass = json_string_value(json_object_get(run->json, "pass"));
    const bool timed = pass == NULL || strcmp(pass, "time") == 0;
    if (timed && (!isfinite(run->ns_per_op) || run->ns_per_op < 0))
        return res_strdup("its result has no 'ns_per_op'");
    if (!isfinite(run->resident_peak_bytes) || !isfinite(run->resident_mean_bytes) ||
        !isfinite(run->resident_end_bytes))
        return res_strdup("its result lacks 'resident' figures");
    if (timed && !take_batches(run))
        return res_strdup("its result has no valid 'batch_ns'");
    return NULL;
}

bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason)
{
    json_error_t error;
    struct res_run run = {0};
    char *reason = NULL;
    run.json = json_loadb(output != NULL ? output : "", length, JSON_REJECT_DUPLICATES, &error);
    if (run.json == NULL)
        reason = length == 0 ? res_strdup("it printed no result")
                             : res_printf("its result is no JSON: %s at byte %d", error.text, error.position);
    else if (!json_is_object(run.json))
        reason = res_strdup("its result is no JSON object");
    else
        reason = take_figures(&run);
    if (reason != NULL) {
        res_run_release(&run);
        *ret_reason = res_text_plain(reason);
        free(reason);
        return false;
    }
    *ret_run = run;
    return true;
}

void res_run_release(struct res_run *run)
{
    json_decref(run->json);
    free(run->digest);
    free(run->not_predicted_why);
    free(run->batch_ns);
    *run = (struct res_run){0};
}
