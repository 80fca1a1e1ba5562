/* verb_record.c - `mallab record`: run a command recorded, and end as it ended. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verbs/verbs.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"
#include "footprint/fp/fp_sites.h"
#include "record/attach/late_record.h"

/* A block holds up to 16 chunks' marks, 60,000, at up to 6 bytes each where addresses are scattered; and is written
 * whole or not at all. */
#define SIZE_LIMIT_LEAST (UINT64_C(512) << 10)
#define MEMORY_LEAST     (UINT64_C(256) << 10) /* some chunks of shim/shared/segment.h's, and their most */
#define MEMORY_MOST      (UINT64_C(64) << 30)
#define WINDOW_LEAST_NS  UINT64_C(1000000000)

struct settings {
    struct cli_answer answer;
    struct rec_settings record;
    const char *control;
    uint64_t pid, within_ns;
    bool requested;
    enum rec_request request;
    bool best_effort;
    char **command;
};

/* ---- command line --------------------------------------------------------------------------- */

static int take_label(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    *(const char **)at = value;
    return fp_label_is_valid(value) ? -1 : cli_option_refuse(verb, row, value);
}

/* The value may be left out. */
static int take_sites(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    struct rec_settings *record = at;
    record->sites = true;
    record->sites_bytes = 0;
    return value == NULL || (fp_sample_parse(value, &record->sites_bytes) && record->sites_bytes != 0)
               ? -1
               : cli_option_refuse(verb, row, value);
}

static int take_request(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct settings *settings = at;
    if (settings->requested)
        return cli_misuse(verb, "one of --pause, --resume, --rotate, --end, --status at a time");
    settings->requested = true;
    settings->request = (enum rec_request)row->least;
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "where to"},
    {.row = &cli_answer_output, .at = AT(answer), .argument = "DIR",
     .help = "the recording; where DIR holds something already, DIR.2, DIR.3 ... [./mallab-NAME.PID]"},
    {.name = "label", .seldom = true, .argument = "HOST", .how = CLI_CALL, .at = AT(record.label), .take = take_label,
     .takes = FP_LABEL_TAKES,
     .help = "keep in the recording, its workloads and results that it is of this host: keeps those of many "
             "hosts apart [$MALLAB_LABEL]"},
    {.name = "best-effort", .seldom = true, .how = CLI_FLAG, .at = AT(best_effort),
     .help = "where recording cannot begin, run COMMAND unrecorded; say so"},

    {.heading = "instead of COMMAND, a program that runs already (x86-64)"},
    {.name = "pid", .argument = "PID", .how = CLI_COUNT, .at = AT(pid), .least = 1, .most = INT32_MAX,
     .takes = "a process id",
     .help = "load the recorder into that process, and leave it as it was at Ctrl-C, after --duration, or when "
             "--control ends the recording"},
    {.name = "attach-timeout", .seldom = true, .argument = "T", .how = CLI_DURATION, .at = AT(within_ns),
     .help = "look so long for a thread that can be called from outside [5s]"},

    {.heading = "how much"},
    {.name = "max-size", .argument = "N", .how = CLI_SIZE, .at = AT(record.size_limit_bytes),
     .least = SIZE_LIMIT_LEAST, .takes = "a size of 512K at least, such as 64M or 1.5G",
     .help = "stop recording at N bytes on disk, 512K at least; COMMAND goes on [no limit]"},
    {.name = "duration", .argument = "T", .how = CLI_DURATION, .at = AT(record.duration_ns),
     .help = "stop recording after T: 90s, 8h; COMMAND goes on"},
    {.name = "no-follow", .how = CLI_FLAG, .at = AT(record.no_follow),
     .help = "record COMMAND itself only, not the processes it starts"},
    {.name = "follow-cleared", .seldom = true, .how = CLI_FLAG, .at = AT(record.follow_cleared),
     .help = "record also programs whose environment was cleared, as sudo does: they get LD_PRELOAD and MALLAB_* again"},
    {.name = "only", .seldom = true, .argument = "NAMES", .how = CLI_TEXT, .at = AT(record.only), .takes = "names of programs",
     .help = "record only programs of these names, with commas between; * and ? stand for any characters "
             "and for one"},
    {.name = "memory", .seldom = true, .argument = "N", .how = CLI_SIZE, .at = AT(record.memory_bytes),
     .least = MEMORY_LEAST, .most = MEMORY_MOST, .takes = "a size from 256K to 64G",
     .help = "bytes of memory shared with the collector [128M, 256K at least, 64G at most]"},
    {.name = "on-full", .seldom = true, .argument = "WHAT", .how = CLI_WORD, .at = AT(record.on_full), .words = "wait drop",
     .help = "when that memory is full: 'wait' for the collector, or 'drop' and count what is lost [wait]"},
    {.name = "sites", .argument = "[BYTES]", .how = CLI_CALL, .at = AT(record), .take = take_sites,
     .takes = "a size from 1K to 1G, such as 512K",
     .help = "record who allocates: every allocation's full call stack (glibc 2.35 or later); with BYTES nothing but "
             "a sample of objects, about one for so many bytes: 512K, cheap, not to be replayed"},
    {.name = "no-residency", .seldom = true, .how = CLI_FLAG, .at = AT(record.no_residency),
     .help = "do not ask the kernel how much of an object of 64K and more is in memory when it goes; "
             "replays then take it for used as a whole"},

    {.heading = "for a long night"},
    {.name = "window", .argument = "T", .how = CLI_DURATION, .at = AT(record.window_ns),
     .least = WINDOW_LEAST_NS, .takes = "a time of 1s at least, such as 30m or 1h",
     .help = "cut the recording into windows of T: 1h, 30m; each can be converted by itself [one for all]"},
    {.name = "keep-windows", .argument = "N", .how = CLI_COUNT, .at = AT(record.keep), .least = 1,
     .most = UINT32_MAX, .takes = "a number of windows",
     .help = "keep the last N windows, remove older ones [all]"},
    {.name = "paused", .seldom = true, .how = CLI_FLAG, .at = AT(record.paused),
     .help = "begin without recording, until told to start"},

    {.heading = "instead of COMMAND, for a recording that goes on; the answer goes to stdout"},
    {.name = "control", .argument = "DIR", .how = CLI_TEXT, .at = AT(control),
     .help = "the recording; and one of the following"},
    {.name = "pause", .how = CLI_CALL, .least = REC_REQUEST_PAUSE, .take = take_request, .help = "record no more until --resume"},
    {.name = "resume", .how = CLI_CALL, .least = REC_REQUEST_RESUME, .take = take_request, .help = "go on"},
    {.name = "rotate", .seldom = true, .how = CLI_CALL, .least = REC_REQUEST_WINDOW, .take = take_request,
     .help = "begin the next window now"},
    {.name = "end", .how = CLI_CALL, .least = REC_REQUEST_END, .take = take_request,
     .help = "finish the recording; its programs run on"},
    {.name = "status", .how = CLI_CALL, .least = REC_REQUEST_STATUS, .take = take_request,
     .help = "write all calls made so far, and tell how it stands; 'mallab top DIR' shows more"},
    {.row = &cli_answer_json, .at = AT(answer), .help = "the answer as JSON"},

    {.row = &cli_answer_quiet, .at = AT(answer),
     .help = "no summary at the end, nor a line when recording stops; losses are still told"},
    {0},
};
/* clang-format on */

static int check_options(const struct settings *settings)
{
    const char *directory = settings->answer.output;
    if (directory != NULL && strcmp(directory, "-") == 0)
        return cli_misuse(&CLI_RECORD, "-o takes a directory: a recording does not go to stdout");
    if (settings->control != NULL && !settings->requested)
        return cli_misuse(&CLI_RECORD, "--control needs one of --pause, --resume, --rotate, --end, --status");
    if (settings->control != NULL && settings->command != NULL)
        return cli_misuse(&CLI_RECORD, "--control takes no command: '%s' would not be run",
                          settings->command[0]);
    if (settings->control == NULL && settings->requested)
        return cli_misuse(&CLI_RECORD, "which recording? Name it with --control DIR");
    if (settings->control == NULL && cli_is_json(&settings->answer))
        return cli_misuse(&CLI_RECORD, "--json is for what --control answers: '%s' tells it of the recording",
                          "mallab info --json DIR");
    if (settings->pid != 0 && (settings->command != NULL || settings->control != NULL))
        return cli_misuse(&CLI_RECORD,
                          "--pid takes a program that runs: no command and no --control beside it");
    if (settings->pid != 0 && (settings->record.only != NULL || settings->best_effort))
        return cli_misuse(&CLI_RECORD, "--pid does not go with --only or --best-effort");
    if (settings->within_ns != 0 && settings->pid == 0)
        return cli_misuse(&CLI_RECORD, "--attach-timeout goes with --pid");
    if (settings->control == NULL && settings->command == NULL && settings->pid == 0)
        return cli_misuse(&CLI_RECORD, "no command: put it behind '--'");
    if (settings->record.keep != 0 && settings->record.window_ns == 0)
        return cli_misuse(&CLI_RECORD, "--keep-windows counts windows: say how long one is with --window");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){0};
    const int code = cli_options_take(&CLI_RECORD, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    ret_settings->command = operands.command;
    ret_settings->record.directory = ret_settings->answer.output;
    ret_settings->record.quiet = ret_settings->answer.quiet;
    return check_options(ret_settings);
}

/* The shell is to see what it would have seen: the same code, or death by the same signal. */
static int end_as(int status)
{
    if (WIFSIGNALED(status))
        fp_end_by_signal(WTERMSIG(status));
    return fp_status_code(status); /* of a signal only where that could not kill us */
}

/* Executes COMMAND in our place, so that nothing of us is left; only where nothing of COMMAND has run. Returns an exit code if even that fails. */
static int run_unrecorded(char *const *command, const char *problem)
{
    int error;
    cli_say(&CLI_RECORD, "not recorded: %s; running '%s' all the same, as --best-effort asks", problem,
            command[0]);
    fflush(NULL);
    execvp(command[0], command);
    error = errno;
    cli_say(&CLI_RECORD, "cannot run '%s': %s", command[0], strerror(error));
    return error == ENOENT ? REC_NOT_FOUND : REC_NOT_EXECUTABLE;
}

static int refuse(const struct settings *settings, char *const *command, int code, const char *problem)
{
    if (code == REC_FAILED && settings->best_effort)
        return run_unrecorded(command, problem);
    cli_say(&CLI_RECORD, "%s", problem);
    return code;
}

static int record_command(const struct settings *settings, char **command)
{
    struct rec_target target;
    struct rec_recorded recorded;
    int code;
    rec_target_find(command[0], &target);
    if (target.code != 0) {
        code = refuse(settings, command, target.code, target.problem);
        rec_target_release(&target);
        return code;
    }
    rec_run(&settings->record, target.path, command, &recorded);
    rec_target_release(&target);
    if (recorded.code == 0)
        rec_report(CLI_RECORD.name, &recorded, settings->record.quiet);
    rec_messages_report(&recorded.watch.messages);
    code = recorded.code != 0 ? refuse(settings, command, recorded.code, recorded.problem)
                              : end_as(recorded.status);
    rec_recorded_release(&recorded);
    return code;
}

static int print_status(const struct rec_control *control, bool json)
{
    const bool alive = control->recording.collector.told;
    if (json)
        return cli_print_json(rec_status_json(&control->recording, alive));
    cli_put_own(rec_status_text(&control->recording, alive));
    return CLI_DONE;
}

/* --control. The figures of a recording that has ended are an answer too, and to end it was done before; to pause it or go on
 * is too late. */
static int control_recording(const struct settings *settings)
{
    struct rec_control control;
    char *problem = NULL;
    const char *directory = late_user_enter(settings->control);
    const enum rec_control_state state = rec_control_open(directory, &control, &problem);
    const bool heeded = state == REC_CONTROL_OPEN
                            ? rec_control_do(&control, settings->request, &problem)
                            : state == REC_CONTROL_ENDED && (settings->request == REC_REQUEST_STATUS ||
                                                             settings->request == REC_REQUEST_END);
    int code = state == REC_CONTROL_FAILED ? CLI_UNREADABLE : CLI_FAILED;
    if (heeded)
        code = print_status(&control, cli_is_json(&settings->answer));
    else if (directory != settings->control)
        cli_say(&CLI_RECORD, "in '%s': %s", settings->control, problem);
    else
        cli_say(&CLI_RECORD, "%s", problem);
    free(problem);
    rec_control_release(&control);
    return code;
}

static int run_record(int argc, char **argv)
{
    struct settings settings;
    int ended_by; /* as every end is the one asked for */
    const int misuse = take_options(argc, argv, &settings);
    if (misuse >= 0)
        return misuse;
    if (settings.control != NULL)
        return control_recording(&settings);
    if (settings.record.only == NULL && settings.pid == 0)
        settings.record.only = getenv("MALLAB_ONLY");
    if (settings.record.label == NULL)
        settings.record.label = getenv("MALLAB_LABEL");
    if (settings.record.label != NULL && !fp_label_is_valid(settings.record.label))
        return cli_misuse(&CLI_RECORD, "MALLAB_LABEL takes " FP_LABEL_TAKES ", not '%s'",
                          settings.record.label);
    const char *wanted = getenv("MALLAB_SITES");
    if (settings.pid == 0 && !settings.record.sites && wanted != NULL && strcmp(wanted, "0") != 0) {
        settings.record.sites = true;
        if (!fp_sample_parse(wanted, &settings.record.sites_bytes))
            return cli_misuse(&CLI_RECORD, "MALLAB_SITES takes 1 or a size from 1K to 1G, not '%s'", wanted);
    }
    if (settings.record.sites && !rec_sites_are_possible()) {
        cli_say(&CLI_RECORD,
                "call stacks (--sites) are recorded on x86-64 and arm64 with glibc 2.35 or later only");
        return REC_FAILED;
    }
    settings.record.verb = CLI_RECORD.name;
    settings.record.numbered = true;
    if (settings.pid != 0)
        return cli_record_attached(&CLI_RECORD, &settings.record, (pid_t)settings.pid, settings.within_ns,
                                   &ended_by);
    return record_command(&settings, settings.command);
}

const struct cli_verb CLI_RECORD = {
    .name = "record",
    .summary = "run a command and record what it asks of malloc",
    .usage = "[OPTION...] [--] COMMAND [ARG...]",
    .purpose =
        "Run COMMAND and record every call of its malloc family into a directory of footprints. Exit status, "
        "output and signals are COMMAND's.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_IS_OPERANDS,
    .examples = "mallab record -o run1 -- sqlite3 :memory: 'SELECT 1'\n"
                "mallab record --control run1 --pause\n"
                "mallab record --pid 4711 --duration 60s",
    .exit_codes = "COMMAND's; 2 misuse, 125 COMMAND cannot be recorded, 126 COMMAND cannot be executed, 127 "
                  "COMMAND is not there; "
                  "with --control: 0 done, 1 not heeded or the collector was killed, 3 no recording",
    .run = run_record,
};
