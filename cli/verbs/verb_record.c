/* verb_record.c - `mallab record`: run a command recorded, and end as it ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"
#include "record/attach_to.h"
#include "record/recorder.h"
#include "record/target.h"
#include "results/measure/base/support.h"

/* A block holds up to 16 chunks' marks, 60,000, at up to 6 bytes each where addresses are scattered; and is written
 * whole or not at all. */
#define SIZE_LIMIT_LEAST (UINT64_C(512) << 10)
#define MEMORY_LEAST     (UINT64_C(256) << 10) /* some chunks of shim/shared/segment.h's, and their most */
#define MEMORY_MOST      (UINT64_C(64) << 30)
#define WINDOW_LEAST_NS  UINT64_C(1000000000)

static const char HELP[] =
    "usage: mallab record [OPTION...] [--] CMD [ARG...]\n"
    "\n"
    "Run CMD and record every call of its malloc family into a directory of\n"
    "footprints. Exit status, output and signals are CMD's.\n"
    "\n"
    "where to\n"
    "  -o, --output DIR     the recording; where DIR holds something already, DIR.2,\n"
    "                       DIR.3 ... [./mallab-NAME.PID]\n"
    "      --best-effort    where recording cannot begin, run CMD unrecorded; say so\n"
    "\n"
    "how much\n"
    "      --max-size N     stop recording at N bytes on disk, 512K at least; K, M,\n"
    "                       G are powers of 1024; CMD goes on [no limit]\n"
    "      --duration T     stop recording after T: 90s, 5m, 8h; CMD goes on [none]\n"
    "      --no-follow      record CMD itself only, not the processes it starts\n"
    "      --only NAMES     record only programs of these names, with commas between;\n"
    "                       * and ? stand for any characters and for one\n"
    "      --memory N       bytes of memory shared with the collector\n"
    "                       [128M, 256K at least, 64G at most]\n"
    "      --on-full WHAT   when that memory is full: 'wait' for the collector, or\n"
    "                       'drop' and count what is lost [wait]\n"
    "      --order WHAT     how threads are ordered: by 'epochs', or by 'stamps', the\n"
    "                       clock read at every call, as a check and slower [epochs]\n"
    "      --no-residency   do not ask the kernel how much of an object of 64K and\n"
    "                       more is in memory when it goes; replays then take it for\n"
    "                       used as a whole\n"
    "\n"
    "for a long night\n"
    "      --window T       cut the recording into windows of T: 1h, 30m; each can be\n"
    "                       converted by itself [one for all]\n"
    "      --keep N         keep the last N windows, remove older ones [all]\n"
    "      --paused         begin without recording, until told to start\n"
    "\n"
    "instead of CMD, for a recording that goes on; the answer goes to stdout\n"
    "      --attach-to DIR  the recording; and one of\n"
    "      --stop, --start  pause, go on\n"
    "      --rotate         begin the next window now\n"
    "      --end            finish the recording; its programs run on\n"
    "      --status         write all calls made so far, and tell how it stands;\n"
    "                       'mallab top DIR' shows more\n"
    "      --json           the answer as JSON\n"
    "\n"
    "messages\n"
    "  -q, --quiet          no summary at the end, nor a line when recording stops;\n"
    "                       losses are still told\n"
    "@help\n"
    "\n"
    "example: mallab record -o run1 -- sqlite3 :memory: 'SELECT 1'\n"
    "         mallab record --attach-to run1 --stop\n"
    "exit codes: CMD's; 2 misuse, 125 CMD cannot be recorded, 126 CMD cannot be\n"
    "executed, 127 CMD is not there; with --attach-to: 0 done, 1 not heeded or the\n"
    "collector was killed, 3 no recording\n";

enum {
    OPTION_MAX_SIZE = 256,
    OPTION_DURATION,
    OPTION_NO_FOLLOW,
    OPTION_NO_RESIDENCY,
    OPTION_MEMORY,
    OPTION_ON_FULL,
    OPTION_ORDER,
    OPTION_ONLY,
    OPTION_WINDOW,
    OPTION_KEEP,
    OPTION_PAUSED,
    OPTION_ATTACH_TO,
    OPTION_BEST_EFFORT,
    OPTION_REQUEST, /* the first of cli_request, in its order */
};

struct settings {
    struct cli_answer answer;
    struct cli_record record;
    const char *attach_to;
    bool requested;
    enum cli_request request;
    bool best_effort;
    char **command;
};

static int take_control_option(int option, struct settings *settings)
{
    struct cli_record *record = &settings->record;
    switch (option) {
    case OPTION_ONLY:
        if (optarg[strspn(optarg, ",")] == '\0')
            return cli_misuse(&CLI_RECORD, "--only names no program");
        record->only = optarg;
        break;
    case OPTION_WINDOW:
        if (!cli_parse_duration(optarg, &record->window_ns))
            return cli_misuse(&CLI_RECORD, "'%s' is no duration: write 90s, 5m or 8h", optarg);
        if (record->window_ns < WINDOW_LEAST_NS)
            return cli_misuse(&CLI_RECORD, "--window %s is too short: the least is 1s", optarg);
        break;
    case OPTION_KEEP:
        if (!cli_parse_count(optarg, 1, UINT32_MAX, &record->keep))
            return cli_misuse(&CLI_RECORD, "--keep takes a number of windows, not '%s'", optarg);
        break;
    case OPTION_PAUSED:
        record->paused = true;
        break;
    case OPTION_ATTACH_TO:
        settings->attach_to = optarg;
        break;
    case OPTION_BEST_EFFORT:
        settings->best_effort = true;
        break;
    default:
        if (settings->requested)
            return cli_misuse(&CLI_RECORD, "one of --stop, --start, --rotate, --end, --status at a time");
        settings->requested = true;
        settings->request = (enum cli_request)(option - OPTION_REQUEST);
    }
    return -1;
}

static int take_option(int option, void *data)
{
    struct settings *settings = data;
    struct cli_record *record = &settings->record;
    switch (option) {
    case OPTION_MAX_SIZE:
        if (!cli_parse_size(optarg, &record->size_limit_bytes))
            return cli_misuse(&CLI_RECORD, "'%s' is no size: write bytes, or 64M, 1.5G", optarg);
        if (record->size_limit_bytes < SIZE_LIMIT_LEAST)
            return cli_misuse(
                &CLI_RECORD,
                "--max-size %s may keep nothing, as one block of a program's calls can be larger: "
                "the least is 512K",
                optarg);
        break;
    case OPTION_MEMORY:
        if (!cli_parse_size(optarg, &record->memory_bytes))
            return cli_misuse(&CLI_RECORD, "'%s' is no size: write bytes, or 64M, 1.5G", optarg);
        if (record->memory_bytes < MEMORY_LEAST || record->memory_bytes > MEMORY_MOST)
            return cli_misuse(&CLI_RECORD, "--memory %s cannot be had: the least is 256K, the most 64G",
                              optarg);
        break;
    case OPTION_DURATION:
        if (!cli_parse_duration(optarg, &record->duration_ns))
            return cli_misuse(&CLI_RECORD, "'%s' is no duration: write 90s, 5m or 8h", optarg);
        break;
    case OPTION_NO_FOLLOW:
        record->no_follow = true;
        break;
    case OPTION_NO_RESIDENCY:
        record->no_residency = true;
        break;
    case OPTION_ON_FULL:
        if (strcmp(optarg, "wait") != 0 && strcmp(optarg, "drop") != 0)
            return cli_misuse(&CLI_RECORD, "--on-full takes 'wait' or 'drop', not '%s'", optarg);
        record->on_full = optarg;
        break;
    case OPTION_ORDER:
        if (strcmp(optarg, "epochs") != 0 && strcmp(optarg, "stamps") != 0)
            return cli_misuse(&CLI_RECORD, "--order takes 'epochs' or 'stamps', not '%s'", optarg);
        record->order = optarg;
        break;
    default:
        return take_control_option(option, settings);
    }
    return -1;
}

static int check_options(const struct settings *settings)
{
    const char *directory = settings->answer.output;
    if (directory != NULL && strcmp(directory, "-") == 0)
        return cli_misuse(&CLI_RECORD, "-o takes a directory: a recording does not go to stdout");
    if (settings->attach_to != NULL && !settings->requested)
        return cli_misuse(&CLI_RECORD, "--attach-to needs one of --stop, --start, --rotate, --end, --status");
    if (settings->attach_to != NULL && settings->command != NULL)
        return cli_misuse(&CLI_RECORD, "--attach-to takes no command: '%s' would not be run",
                          settings->command[0]);
    if (settings->attach_to == NULL && settings->requested)
        return cli_misuse(&CLI_RECORD, "which recording? Name it with --attach-to DIR");
    if (settings->attach_to == NULL && settings->answer.json)
        return cli_misuse(&CLI_RECORD,
                          "--json is for what --attach-to answers: '%s' tells it of the recording",
                          "mallab info --json DIR");
    if (settings->attach_to == NULL && settings->command == NULL)
        return cli_misuse(&CLI_RECORD, "no command: put it behind '--'");
    if (settings->record.keep != 0 && settings->record.window_ns == 0)
        return cli_misuse(&CLI_RECORD, "--keep counts windows: say how long one is with --window");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"max-size", required_argument, NULL, OPTION_MAX_SIZE},
        {"duration", required_argument, NULL, OPTION_DURATION},
        {"no-follow", no_argument, NULL, OPTION_NO_FOLLOW},
        {"no-residency", no_argument, NULL, OPTION_NO_RESIDENCY},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        {"on-full", required_argument, NULL, OPTION_ON_FULL},
        {"order", required_argument, NULL, OPTION_ORDER},
        {"only", required_argument, NULL, OPTION_ONLY},
        {"window", required_argument, NULL, OPTION_WINDOW},
        {"keep", required_argument, NULL, OPTION_KEEP},
        {"paused", no_argument, NULL, OPTION_PAUSED},
        {"attach-to", required_argument, NULL, OPTION_ATTACH_TO},
        {"best-effort", no_argument, NULL, OPTION_BEST_EFFORT},
        {"status", no_argument, NULL, OPTION_REQUEST + CLI_REQUEST_STATUS},
        {"stop", no_argument, NULL, OPTION_REQUEST + CLI_REQUEST_PAUSE},
        {"start", no_argument, NULL, OPTION_REQUEST + CLI_REQUEST_RESUME},
        {"rotate", no_argument, NULL, OPTION_REQUEST + CLI_REQUEST_WINDOW},
        {"end", no_argument, NULL, OPTION_REQUEST + CLI_REQUEST_END},
        CLI_ANSWER_OUTPUT_ROW,
        CLI_ANSWER_JSON_ROW,
        CLI_ANSWER_QUIET_ROW,
        CLI_ANSWER_HELP_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_RECORD,
        .options = options,
        .command_at = CLI_COMMAND_IS_OPERANDS,
        .take = take_option,
        .settings = ret_settings,
        .answer = &ret_settings->answer,
    };
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    const int code = cli_command_line_take(&line, argc, argv, &operands);
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

/* In our place, so that nothing of us is left; only where nothing of CMD has run. Returns an exit code if even that fails. */
static int run_unrecorded(char *const *command, const char *problem)
{
    int error;
    cli_say(&CLI_RECORD, "not recorded: %s; running '%s' all the same, as --best-effort asks", problem,
            command[0]);
    fflush(NULL);
    execvp(command[0], command);
    error = errno;
    cli_say(&CLI_RECORD, "cannot run '%s': %s", command[0], strerror(error));
    return error == ENOENT ? CLI_RECORD_NOT_FOUND : CLI_RECORD_NOT_EXECUTABLE;
}

static int refuse(const struct settings *settings, char *const *command, int code, const char *problem)
{
    if (code == CLI_RECORD_FAILED && settings->best_effort)
        return run_unrecorded(command, problem);
    cli_say(&CLI_RECORD, "%s", problem);
    return code;
}

static int record_command(const struct settings *settings, char **command)
{
    struct cli_target target;
    struct cli_recorded recorded;
    int code;
    cli_target_find(command[0], &target);
    if (target.code != 0) {
        code = refuse(settings, command, target.code, target.problem);
        cli_target_release(&target);
        return code;
    }
    cli_record_run(&settings->record, target.path, command, &recorded);
    cli_target_release(&target);
    if (recorded.code == 0)
        cli_record_report(&recorded, settings->record.quiet);
    cli_news_report(&recorded.watch.news);
    code = recorded.code != 0 ? refuse(settings, command, recorded.code, recorded.problem)
                              : end_as(recorded.status);
    cli_recorded_release(&recorded);
    return code;
}

static int run_record(int argc, char **argv)
{
    struct settings settings;
    const int misuse = take_options(argc, argv, &settings);
    if (misuse >= 0)
        return misuse;
    if (settings.attach_to != NULL)
        return cli_attach(&CLI_RECORD, settings.attach_to, settings.request, settings.answer.json);
    if (settings.record.only == NULL)
        settings.record.only = getenv("MALLAB_ONLY");
    settings.record.verb = &CLI_RECORD;
    settings.record.numbered = true;
    return record_command(&settings, settings.command);
}

const struct cli_verb CLI_RECORD = {
    .name = "record",
    .summary = "run a command and record what it asks of malloc",
    .help = HELP,
    .run = run_record,
};
