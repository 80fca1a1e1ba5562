/* run.c - start a replay, wait for it, believe nothing it did not prove. */
#include "results/measure/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"

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
    const size_t own = candidate != NULL ? candidate->environment.count : 0;
    struct res_texts variables = {.items = res_calloc(1, sizeof *variables.items)};
    for (size_t i = 0; environ[i] != NULL; i++) {
        bool replaced = steers_allocator(environ[i]);
        for (size_t k = 0; k < own && !replaced; k++) {
            const char *name = candidate->environment.items[k].name;
            replaced = strncmp(environ[i], name, strlen(name)) == 0 && environ[i][strlen(name)] == '=';
        }
        if (!replaced)
            res_texts_add(&variables, environ[i]);
    }
    for (size_t k = 0; k < own; k++)
        res_texts_take(&variables, res_printf("%s=%s", candidate->environment.items[k].name,
                                              candidate->environment.items[k].value));
    if (candidate != NULL && candidate->preload != NULL)
        res_texts_take(&variables, res_printf("LD_PRELOAD=%s", candidate->path));
    return variables.items;
}

void res_strings_free(char **strings)
{
    if (strings == NULL)
        return;
    for (size_t i = 0; strings[i] != NULL; i++)
        free(strings[i]);
    free(strings);
}

static void add_flag(struct res_texts *line, const char *option, bool asked)
{
    if (asked)
        res_texts_add(line, option);
}

/* NULL: it is not asked for. */
static void add_value(struct res_texts *line, const char *option, const char *value)
{
    if (value == NULL)
        return;
    res_texts_add(line, option);
    res_texts_add(line, value);
}

static void add_number(struct res_texts *line, const char *option, uint64_t number)
{
    RES_FREED char *value = number > 0 ? res_printf("%llu", (unsigned long long)number) : NULL;
    add_value(line, option, value);
}

char **res_run_arguments(const struct res_run_request *request, const char *const *extra)
{
    const struct res_candidate *candidate = request->candidate;
    const bool by_group = request->limit_bytes != 0 && request->group != NULL;
    struct res_texts line = {0};
    res_texts_add(&line, candidate->program);
    add_flag(&line, "--json", !request->as_text);
    add_value(&line, "--candidate", candidate->name);
    add_value(&line, "--clock", request->recorded_clock ? "recorded" : NULL);
    add_flag(&line, "--expect-clock", request->recorded_clock && res_candidate_follows_clock(candidate));
    add_number(&line, "--idle-ms", request->idle_ms);
    if (candidate->library != NULL)
        add_value(&line, "--expect-library",
                  candidate->preload != NULL ? candidate->path : candidate->library);
    add_value(&line, "--proof", candidate->proof);
    for (size_t i = 0; i < candidate->environment.count; i++)
        add_value(&line, "--setting", candidate->environment.items[i].name);
    for (size_t i = 0; i < candidate->expected.count; i++) {
        RES_FREED char *pair = res_printf("%s=%s", candidate->expected.items[i].name,
                                          candidate->expected.items[i].value);
        add_value(&line, "--expect", pair);
    }
    add_flag(&line, "--unproven", candidate->settings != NULL);
    add_number(&line, "--limit", request->limit_bytes);
    add_value(&line, "--limit-group", by_group ? request->group->directory : NULL);
    if (by_group)
        add_number(&line, "--limit-notes", (uint64_t)request->group->notes_fd);
    add_flag(&line, "--promises", request->check);
    add_flag(&line, "--waste", request->waste);
    add_flag(&line, "--report-failure", request->ret_failure != NULL);
    add_flag(&line, request->pass_option, request->pass_option != NULL);
    add_value(&line, "--threads", request->one_thread ? "1" : NULL);
    add_number(&line, "--processors", request->processors);
    for (; extra != NULL && *extra != NULL; extra++)
        res_texts_add(&line, *extra);
    add_value(&line, "--", request->workload);
    return line.items;
}

/* The run's JSON is kept as it is but for the batches: as JSON values these would take ten times the memory. */
#define OWNER                   struct res_run
#define KEPT(kind, key, member) RES_ROW_AS(kind, READ_ONLY, key, member, NULL)
#define GROWTH(key, member)                                                                                  \
    RES_ROW_AS(NUMBER, OMITTED, key ".bytes_per_hour", member.bytes, NULL),                                  \
        RES_ROW_AS(NUMBER, OMITTED, key ".low", member.low, NULL),                                           \
        RES_ROW_AS(NUMBER, OMITTED, key ".high", member.high, NULL)
static const struct res_field RUN_FIELDS[] = {
    RES_LIST(COUNTS, PLAIN, "batch_ns", batch_ns, batch_count, NULL, NULL),
    RES_ROW(COUNT, "elapsed_ns", elapsed_ns, NULL),
    KEPT(TEXT, "digest", digest),
    KEPT(COUNT, "ops", ops),
    KEPT(COUNT, "inherited_ops", inherited_ops),
    KEPT(COUNT, "round", round),
    KEPT(NUMBER, "ns_per_op", ns_per_op), /* of older results */
    KEPT(NUMBER, "whole_ns_per_op", ns_per_op),
    KEPT(NUMBER, "resident.peak_bytes", resident_peak_bytes),
    KEPT(NUMBER, "resident.mean_bytes", resident_mean_bytes),
    KEPT(NUMBER, "resident.end_bytes", resident_end_bytes),
    KEPT(NUMBER, "resident.start_bytes", resident_start_bytes),
    KEPT(NUMBER, "resident.start_file_bytes", resident_start_file_bytes),
    KEPT(NUMBER, "resident.idle_bytes", resident_idle_bytes),
    KEPT(NUMBER, "resident.idle_own_bytes", idle_own_bytes),
    KEPT(NUMBER, "resident.given_back_share", given_back_share),
    KEPT(TEXT, "resident.not_predicted_why", not_predicted_why),
    KEPT(NUMBER, "live_end_bytes", live_end_bytes),
    GROWTH("growth", growth),
    GROWTH("live_growth", live_growth),
    KEPT(NUMBER, "faults_minor", faults_minor),
    KEPT(NUMBER, "user_ns", user_ns),
    KEPT(NUMBER, "system_ns", system_ns),
    KEPT(NUMBER, "blocked_ns", blocked_ns),
    KEPT(TEXT, "threads_as", threads_as),
    KEPT(JSON, "proof.settings", settings),
};
const struct res_described RES_RUN = RES_DESCRIBE_AT("a run", RUN_FIELDS, offsetof(OWNER, json));
#undef OWNER

/* Tells why a run's output is no result; NULL: it is one. The caller's to free. */
static char *defect_of(const json_t *printed, const struct res_run *run)
{
    const json_t *proof = json_object_get(printed, "proof");
    const char *pass = json_string_value(json_object_get(printed, "pass"));
    const bool timed = pass == NULL || strcmp(pass, "time") == 0;
    if (!json_is_integer(json_object_get(printed, "ops")))
        return res_strdup("its result has no 'ops'");
    if (run->digest == NULL)
        return res_strdup("its result has no 'digest'");
    if (!json_is_true(json_object_get(proof, "ok"))) {
        const char *library = json_string_value(json_object_get(proof, "malloc_library"));
        return res_printf("the proof failed: calls were served by '%s'",
                          library != NULL ? library : "unknown");
    }
    if (run->inherited_ops > run->ops)
        return res_strdup("its result has no valid 'inherited_ops'");
    if (timed && (!isfinite(run->ns_per_op) || run->ns_per_op < 0))
        return res_strdup("its result has no 'whole_ns_per_op'");
    if (!isfinite(run->resident_peak_bytes) || !isfinite(run->resident_mean_bytes) ||
        !isfinite(run->resident_end_bytes))
        return res_strdup("its result lacks 'resident' figures");
    if (timed && run->batch_ns == NULL)
        return res_strdup("its result has no valid 'batch_ns'");
    return NULL;
}

bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason)
{
    json_error_t error;
    struct res_run run = {0};
    char *problem = NULL, *reason = NULL;
    json_t *printed = json_loadb(output != NULL ? output : "", length, JSON_REJECT_DUPLICATES, &error);
    if (printed == NULL)
        reason = length == 0 ? res_strdup("it printed no result")
                             : res_printf("its result is no JSON: %s at byte %d", error.text, error.position);
    else if (!json_is_object(printed))
        reason = res_strdup("its result is no JSON object");
    else if (!res_described_read(&RES_RUN, printed, &run, &problem))
        reason = res_printf("its result is no valid one: %s", problem);
    else
        reason = defect_of(printed, &run);
    json_decref(printed);
    free(problem);
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
    free(run->said);
    res_described_release(&RES_RUN, run);
}

#define SETTINGS_TIMEOUT_NS UINT64_C(30000000000) /* of a process that starts, answers and ends */
#define SETTINGS_MISUSE     2                     /* its exit code: replay/replay_options.h */

#define STDERR_MAX 65536u /* of the newest; twice that and a read's worth while it is read */
#define SAID_LINES 3u     /* of what an allocator says in a run that succeeds */
#define SAID_BYTES 200u   /* of each */

/* A replay that runs or has run. */
struct replay {
    struct fp_process process;
    struct res_text printed, said;
    char *begun; /* what was said first, once that is no longer in `said`; NULL: it is */
    enum fp_process_end end;
};

/* An allocator may complain a million times before the cause is said, so the newest is what is kept. */
static void take_error(struct replay *replay, const char *bytes, size_t count)
{
    struct res_text *said = &replay->said;
    res_text_add(said, bytes, count);
    if (said->length <= 2 * STDERR_MAX)
        return;
    if (replay->begun == NULL)
        replay->begun = res_strndup(said->text, STDERR_MAX);
    memmove(said->text, said->text + said->length - STDERR_MAX, STDERR_MAX);
    said->length = STDERR_MAX;
}

static bool take(void *data, int stream, const char *bytes, size_t count)
{
    struct replay *replay = data;
    if (stream == STDERR_FILENO)
        take_error(replay, bytes, count);
    else
        res_text_add(&replay->printed, bytes, count);
    return replay->printed.length < RES_RUN_OUTPUT_MAX;
}

/* Returns NULL, or why it could not be started; the caller's. */
static char *start(struct replay *replay, const struct res_run_request *request)
{
    const char *program = request->candidate->program;
    char **arguments = res_run_arguments(request, NULL);
    char **environment = res_run_environment(request->candidate);
    sigset_t none;
    sigemptyset(&none);
    const struct fp_process_plan plan = {
        .program = program,
        .arguments = arguments,
        .environment = environment,
        .streams = {FP_STREAM_NULL, FP_STREAM_PIPE, FP_STREAM_PIPE},
        .mask = &none,
        .default_signals = true,
        .dies_with_us = true,
    };
    const int error = fp_process_start(&plan, &replay->process);
    res_strings_free(arguments);
    res_strings_free(environment);
    return error != 0 ? res_printf("cannot start '%s': %s", program, strerror(error)) : NULL;
}

/* The timeout begins now. */
static void wait_for(struct replay *replay, const struct res_run_request *request)
{
    const struct fp_process_bounds bounds = {
        .deadline_ns = request->timeout_ns != 0 ? fp_now_ns() + request->timeout_ns : 0,
        .stop = request->stop,
        .take = take,
        .data = replay,
    };
    replay->end = fp_process_wait(&replay->process, &bounds);
}

static void release(struct replay *replay)
{
    fp_process_release(&replay->process);
    free(replay->printed.text);
    free(replay->said.text);
    free(replay->begun);
}

char *res_last_line(const char *text, size_t length)
{
    size_t begin;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    for (begin = length; begin > 0 && text[begin - 1] != '\n';)
        begin--;
    RES_FREED char *line = length > 0 ? res_strndup(text + begin, length - begin)
                                      : res_strdup("it said nothing");
    return res_text_plain(line);
}

/* The first lines that are not the replay's own, on one: "a; b; ...". NULL: there are none. */
static char *first_words(const struct replay *replay)
{
    static const char OWN[] = "mallab-replay-";
    struct res_text words = {0};
    size_t lines = 0;
    const char *line = replay->begun != NULL ? replay->begun : replay->said.text;
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

/* A failed run may have printed how it ended: a new reference; NULL: it did not. */
static json_t *failure_of(const struct replay *replay)
{
    json_error_t error;
    json_t *root = replay->printed.length > 0
                       ? json_loadb(replay->printed.text, replay->printed.length, 0, &error)
                       : NULL;
    json_t *failed = json_incref(json_object_get(root, "failed"));
    json_decref(root);
    if (json_is_object(failed))
        return failed;
    json_decref(failed);
    return NULL;
}

bool res_failure_is_death(const char *cause)
{
    static const char *const CAUSES[] = {"null", "limit", "crash", "oom"};
    for (size_t i = 0; cause != NULL && i < sizeof CAUSES / sizeof CAUSES[0]; i++) {
        if (strcmp(cause, CAUSES[i]) == 0)
            return true;
    }
    return false;
}

/* "died: ..." where the allocator ended the run, which a user looks for under a memory limit. */
static char *words_of(const json_t *failure)
{
    const char *words = json_string_value(json_object_get(failure, "text"));
    const char *cause = json_string_value(json_object_get(failure, "cause"));
    if (cause == NULL || words == NULL)
        return NULL;
    RES_FREED char *plain = res_text_plain(words);
    return res_printf("%s%s", res_failure_is_death(cause) ? "died: " : "", plain);
}

static char *reason_of(const struct replay *replay, const struct res_run_request *request)
{
    const int status = replay->process.status;
    char span[32];
    RES_FREED char *line = res_last_line(replay->said.text, replay->said.length);
    char *reason = NULL;
    if (replay->end == FP_PROCESS_LATE)
        reason = res_printf(RES_NO_ANSWER " in %s%s", res_text_duration((double)request->timeout_ns, span),
                            request->timeout_asked ? " (--timeout)" : "");
    else if (replay->end != FP_PROCESS_ENDED)
        reason = res_strdup("printed more than a result can be");
    else if (WIFSIGNALED(status))
        reason = res_printf("killed by signal %d (%s): %s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                            line);
    else if (WEXITSTATUS(status) != 0)
        reason = res_printf("exit code %d: %s", WEXITSTATUS(status), line);
    return reason;
}

/* A kill by the kernel says more than the run could. Takes over reason and gives back the better one. */
static char *explain(const struct replay *replay, const struct res_run_request *request,
                     const struct res_group *group, char *reason)
{
    json_t *failure = NULL;
    if (replay->end == FP_PROCESS_ENDED && group->directory != NULL)
        failure = res_group_killed(group, request->limit_bytes);
    if (failure == NULL && request->ret_failure != NULL)
        failure = failure_of(replay);
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

/* A run that goes on. */
struct res_running {
    struct res_run_request request;
    struct res_group group;
    struct replay replay;
    uint64_t begin_ns;
    char *reason; /* why it does not; NULL: it does */
};

struct res_running *res_run_begin(const struct res_run_request *request)
{
    struct res_running *running = res_calloc(1, sizeof *running);
    *running = (struct res_running){.request = *request,
                                    .group = {.lock_fd = -1, .notes_fd = -1},
                                    .replay = {.process = FP_PROCESS_NONE}};
    if (request->limit_bytes != 0 && request->place != NULL &&
        !res_group_make(request->place, &running->group, &running->reason))
        return running;
    running->request.group = running->group.directory != NULL ? &running->group : NULL;
    running->begin_ns = fp_now_ns();
    running->reason = start(&running->replay, &running->request);
    return running;
}

enum res_run_state res_run_finish(struct res_running *running, uint64_t timeout_ns, struct res_run *ret_run,
                                  char **ret_reason)
{
    enum res_run_state state = RES_RUN_FAILED;
    struct replay *replay = &running->replay;
    struct res_run run = {0};
    char *reason = running->reason;
    running->request.timeout_ns = timeout_ns;
    if (reason == NULL) {
        wait_for(replay, &running->request);
        run.elapsed_ns = fp_now_ns() - running->begin_ns;
        if (running->request.stop != NULL && *running->request.stop)
            state = RES_RUN_STOPPED;
        else if ((reason = reason_of(replay, &running->request)) != NULL)
            reason = explain(replay, &running->request, &running->group, reason);
    }
    if (reason != NULL) {
        *ret_reason = reason;
    } else if (state != RES_RUN_STOPPED) {
        const uint64_t elapsed_ns = run.elapsed_ns;
        if (res_run_parse(replay->printed.text, replay->printed.length, &run, ret_reason)) {
            run.elapsed_ns = elapsed_ns;
            run.said = first_words(replay);
            *ret_run = run;
            state = RES_RUN_OK;
        }
    }
    release(replay);
    res_group_remove(&running->group);
    free(running);
    return state;
}

enum res_run_state res_run_once(const struct res_run_request *request, struct res_run *ret_run,
                                char **ret_reason)
{
    return res_run_finish(res_run_begin(request), request->timeout_ns, ret_run, ret_reason);
}

bool res_run_settings(const struct res_candidate *candidate, char **ret_wrong, char **ret_reason)
{
    const struct res_run_request request = {
        .candidate = candidate,
        .pass_option = "--settings",
        .as_text = true,
        .timeout_ns = SETTINGS_TIMEOUT_NS,
    };
    struct replay replay = {.process = FP_PROCESS_NONE};
    char *reason = start(&replay, &request);
    *ret_wrong = NULL;
    if (reason == NULL) {
        wait_for(&replay, &request);
        reason = reason_of(&replay, &request);
    }
    if (replay.process.ended && replay.end == FP_PROCESS_ENDED &&
        fp_status_code(replay.process.status) == SETTINGS_MISUSE) {
        *ret_wrong = res_last_line(replay.said.text, replay.said.length);
        free(reason);
        reason = NULL;
    }
    release(&replay);
    if (reason != NULL)
        *ret_reason = reason;
    return reason == NULL;
}
