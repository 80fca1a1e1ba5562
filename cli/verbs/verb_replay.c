/* verb_replay.c - `mallab replay`: run the replay binary of one candidate. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/verbs/verbs.h"
#include "convert/open/input.h"
#include "footprint/base/process.h"

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    int recorded_clock; /* of its words: 0 or 1 */
    bool check, latency;
    const char *workload;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "allocator", .letter = 'a', .argument = "NAME", .how = CLI_TEXT, .at = AT(measure.allocators),
     .offer = CLI_OFFER_CANDIDATE,
     .help = "a candidate of 'mallab allocators', 'none' for the harness alone, or the path of a library to "
             "preload; with settings: jemalloc+narenas=1+tcache=false [glibc]"},
    {.group = cli_measure_one_thread, .at = AT(measure)},
    {.name = "latency", .how = CLI_FLAG, .at = AT(latency),
     .help = "time every call by itself: percentiles by call and by size; time per call as a whole is not "
             "measured then"},
    {.name = "clock", .argument = "CLOCK", .how = CLI_CHOICE, .at = AT(recorded_clock),
     .words = "real recorded",
     .help = "what the allocator is told when it asks for the time: 'real', or 'recorded', which moves with "
             "the calls, so that it gives memory back as in the program [real]"},
    {.row = &cli_measure_timeout, .at = AT(measure), .help = "give up after T: 90s, 5m [never]"},
    {.group = cli_measure_limit, .at = AT(measure),
     .help = "most memory that the allocator may have: 64M, 1.5G [no limit]"},
    {.name = "promises", .how = CLI_FLAG, .at = AT(check),
     .help = "look whether the allocator keeps its promises (alignment, overlap, contents) instead of "
             "measuring"},
    {.row = &cli_answer_max_memory, .at = AT(answer)},
    {.row = &cli_answer_json, .at = AT(answer)},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.measure = cli_measure_defaults()};
    ret_settings->measure.allocators = "glibc";
    int code = cli_options_take(&CLI_REPLAY, argc, argv, ret_settings, &operands);
    if (code < 0 && ret_settings->check && ret_settings->latency)
        return cli_misuse(&CLI_REPLAY, "--promises and --latency are passes of their own: one at a time");
    ret_settings->workload = code < 0 ? operands.words[0] : NULL;
    return code;
}

/* Start the program with our streams, and wait for it: a signal that asks us to end kills it first, and it ends when we do.
 * ret_status: how it ended, as from waitpid(2). Returns CLI_DONE, or CLI_FAILED when it could not be started, told. */
static int run_program(const char *program, char **arguments, char **environment, int *ret_status)
{
    const struct fp_process_bounds bounds = {.stop = &cli_stopped_by};
    const struct fp_process_plan plan = {
        .program = program,
        .arguments = arguments,
        .environment = environment,
        .streams = {FP_STREAM_OURS, FP_STREAM_OURS, FP_STREAM_OURS},
        .dies_with_us = true, /* nobody would read what it says */
    };
    struct fp_process process;
    const int error = fp_process_start(&plan, &process);
    if (error != 0) {
        cli_say(&CLI_REPLAY, "cannot start '%s': %s", program, strerror(error));
        return CLI_FAILED;
    }
    (void)fp_process_wait(&process, &bounds); /* status says it */
    fp_process_release(&process);
    *ret_status = process.status;
    return CLI_DONE;
}

/* ---- the run ---------------------------------------------------------------------------------- */

struct limited {
    struct cli_limit limit;
    struct res_group group; /* of the run, without a directory where it has none */
    uint64_t bytes;
};

/* Ends as the replay did, by our own exit code, or by the same signal; but a kill for want of memory is a failure like others. */
static int end_as(int status, struct limited *limited)
{
    json_t *killed = cli_stopped_by == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
                             limited->group.directory != NULL
                         ? res_group_killed(&limited->group, limited->bytes)
                         : NULL;
    const bool by_limit = killed != NULL;
    if (by_limit)
        cli_say(&CLI_REPLAY, "%s", json_string_value(json_object_get(killed, "text")));
    json_decref(killed);
    res_group_remove(&limited->group);
    cli_stops_end();
    if (WIFSIGNALED(status) && !by_limit)
        fp_end_by_signal(WTERMSIG(status));
    return by_limit ? CLI_FAILED : fp_status_code(status);
}

static int run_binary(const struct settings *settings, const struct res_candidate *candidate,
                      struct limited *limited)
{
    const uint64_t timeout_ns = settings->measure.run.timeout_ns;
    char *timeout = res_printf("%llu", (unsigned long long)((timeout_ns + 999999999) / 1000000000));
    const char *extra[8] = {NULL};
    size_t count = 0;
    const struct res_run_request request = {
        .candidate = candidate,
        .workload = settings->workload,
        .limit_bytes = settings->measure.run.limit_bytes,
        .group = limited->group.directory != NULL ? &limited->group : NULL,
        .check = settings->check,
        .waste = !settings->check && !settings->latency && strcmp(candidate->name, "none") != 0,
        .pass_option = settings->latency ? "--latency" : NULL,
        .one_thread = settings->measure.run.one_thread,
        .processors = settings->measure.run.processors,
        .recorded_clock = settings->recorded_clock != 0,
        .as_text = !cli_is_json(&settings->answer),
    };
    if (timeout_ns > 0) {
        extra[count++] = "--timeout";
        extra[count++] = timeout;
    }
    char **arguments = res_run_arguments(&request, extra);
    char **environment = res_run_environment(candidate);
    int status, code = run_program(candidate->program, arguments, environment, &status);
    if (code == CLI_DONE)
        code = end_as(status, limited);
    res_strings_free(arguments);
    res_strings_free(environment);
    free(timeout);
    return code;
}

static int run_limited(const struct settings *settings, const struct res_candidate *candidate)
{
    struct limited limited = {.group = {.lock_fd = -1, .notes_fd = -1},
                              .bytes = settings->measure.run.limit_bytes};
    char *why = NULL;
    int code = cli_limit_settle(&CLI_REPLAY, &settings->measure, &limited.limit);
    const struct res_group_place *place = cli_limit_place(&limited.limit);
    if (code == CLI_DONE && place != NULL && !res_group_make(place, &limited.group, &why)) {
        code = cli_say_problem(&CLI_REPLAY, why);
    }
    if (code == CLI_DONE)
        code = run_binary(settings, candidate, &limited);
    res_group_remove(&limited.group);
    cli_limit_release(&limited.limit);
    return code;
}

/* Anything but a workload is converted first, into a directory that is removed at the end. */
static int prepare(const char *input, struct cli_prepared *ret_prepared)
{
    const struct conv_options options = {0};
    struct cli_conversion way = {
        .verb = &CLI_REPLAY, .input = input, .ending = ".wl", .options = &options, .quiet = true};
    struct res_workload workload;
    if (conv_detect(input) != CONV_KIND_WORKLOAD &&
        (way.output = cli_temporary_directory(&CLI_REPLAY)) == NULL)
        return CLI_FAILED;
    const bool is_group = cli_is_group(input, &options, NULL);
    const int code = is_group ? CLI_DONE : cli_workload_prepare(&way, 0, ret_prepared);
    if (is_group || ret_prepared->member_count > 0)
        return cli_misuse(&CLI_REPLAY, "'%s' is several workloads: 'mallab ab' replays a group", input);
    return code == CLI_DONE ? cli_workload_facts(&CLI_REPLAY, ret_prepared->path, input, &workload) : code;
}

static int run_replay(int argc, char **argv)
{
    struct settings settings;
    struct res_registry registry = {0};
    struct cli_prepared prepared = {0};
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    cli_stops_take();
    code = prepare(settings.workload, &prepared);
    settings.workload = prepared.path;
    if (code == CLI_DONE)
        code = cli_registry_load(&CLI_REPLAY, &registry);
    if (code == CLI_DONE) {
        const struct res_candidate *candidate = cli_candidate_named(&CLI_REPLAY, &registry,
                                                                    settings.measure.allocators, &code);
        if (candidate != NULL && !candidate->found) {
            cli_say(&CLI_REPLAY, "%s: %s", candidate->name, candidate->missing);
            code = CLI_FAILED;
        } else if (candidate != NULL) {
            code = run_limited(&settings, candidate);
        }
    }
    res_registry_release(&registry);
    cli_prepared_release(&prepared);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_REPLAY = {
    .name = "replay",
    .summary = "run a workload once on one allocator",
    .usage = "[OPTION...] WORKLOAD|RECORDING|FOOTPRINT",
    .purpose =
        "Execute a workload's calls once, on one allocator, in a process of its own, and print time per "
        "call, resident memory, page faults and the allocator's proof. One run says little about speed: "
        "'mallab ab' compares, with repetitions.",
    .options = OPTIONS,
    .completes = ":files wl fp",
    .examples = "mallab replay -a jemalloc web.wl",
    .exit_codes =
        "0 done, 1 failed (also: another allocator served the calls), 2 misuse, 3 input unreadable, "
        "damaged or too new",
    .operand = "workload",
    .run = run_replay,
};
