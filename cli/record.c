/* record.c - `mallab record`: run a command recorded, and end as it ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recorder.h"
#include "cli/recover.h"
#include "cli/target.h"
#include "results/support.h"

/* A block holds up to 16 chunks' marks, 60,000, at up to 6 bytes each where addresses are scattered; and is written
 * whole or not at all. */
#define SIZE_LIMIT_LEAST (UINT64_C(512) << 10)

static const char HELP[] =
    "usage: mallab record [OPTION...] [--] CMD [ARG...]\n"
    "\n"
    "Run CMD and record every call of its malloc family into a directory of\n"
    "footprints. Exit status, output and signals are CMD's.\n"
    "\n"
    "where to\n"
    "  -o, --output DIR     the recording, new or empty [./mallab-NAME.PID]\n"
    "\n"
    "how much\n"
    "      --max-size N     stop recording at N bytes on disk, 512K at least; K, M,\n"
    "                       G are powers of 1024; CMD goes on [no limit]\n"
    "      --duration T     stop recording after T: 90s, 5m, 8h; CMD goes on [none]\n"
    "      --no-follow      record CMD itself only, not the processes it starts\n"
    "      --memory N       bytes of memory shared with the collector\n"
    "                       [the collector's choice]\n"
    "      --on-full WHAT   when that memory is full: 'wait' for the collector, or\n"
    "                       'drop' and count what is lost [wait]\n"
    "      --order WHAT     how threads are ordered: by 'epochs', or by 'stamps', the\n"
    "                       clock read at every call, as a check and slower [epochs]\n"
    "\n"
    "messages\n"
    "  -q, --quiet          no summary at the end; losses are still told\n"
    "  -h, --help           print this help\n"
    "\n"
    "example: mallab record -o run1 -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: CMD's; 2 misuse, 125 CMD cannot be recorded, 126 CMD cannot be\n"
    "executed, 127 CMD is not there\n";

enum {
    OPTION_MAX_SIZE = 256,
    OPTION_DURATION,
    OPTION_NO_FOLLOW,
    OPTION_MEMORY,
    OPTION_ON_FULL,
    OPTION_ORDER,
};

struct settings {
    struct cli_record record;
    bool quiet, help;
};

/* Returns -1 to go on, else an exit code. */
static int take_option(int option, char **argv, struct settings *settings)
{
    struct cli_record *record = &settings->record;
    switch (option) {
    case 'o':
        record->directory = optarg;
        break;
    case 'q':
        settings->quiet = true;
        break;
    case 'h':
        settings->help = true;
        break;
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
        break;
    case OPTION_DURATION:
        if (!cli_parse_duration(optarg, &record->duration_ns))
            return cli_misuse(&CLI_RECORD, "'%s' is no duration: write 90s, 5m or 8h", optarg);
        break;
    case OPTION_NO_FOLLOW:
        record->no_follow = true;
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
        return cli_option_refused(&CLI_RECORD, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"max-size", required_argument, NULL, OPTION_MAX_SIZE},
        {"duration", required_argument, NULL, OPTION_DURATION},
        {"no-follow", no_argument, NULL, OPTION_NO_FOLLOW},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        {"on-full", required_argument, NULL, OPTION_ON_FULL},
        {"order", required_argument, NULL, OPTION_ORDER},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    /* '+': the options behind CMD are CMD's. */
    while ((option = getopt_long(argc, argv, "+:o:qh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (!ret_settings->help && optind >= argc)
        return cli_misuse(&CLI_RECORD, "no command: put it behind '--'");
    return -1;
}

/* The shell is to see what it would have seen: the same code, or death by the same signal. */
static int end_as(int status)
{
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        const struct rlimit none = {0, 0};
        sigset_t set;
        setrlimit(RLIMIT_CORE, &none); /* the command left its core, if it was to; ours says nothing */
        signal(number, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(number);
        return 128 + number; /* only for a signal that could not kill us */
    }
    return WEXITSTATUS(status);
}

static void warn_of_nothing(const struct cli_recorded *recorded, const struct cli_totals *totals)
{
    if (!totals->known)
        cli_say(&CLI_RECORD, "nothing can be said of the recording: '%s/recording.json' cannot be read",
                recorded->directory);
    else if (totals->processes == 0)
        cli_say(&CLI_RECORD,
                "nothing was recorded: no process loaded the recorder. A wrapper that clears the "
                "environment (sudo, timeout, env -i) or a static or setuid program stands before it: put "
                "'mallab record' behind the wrapper");
    else if (totals->lost > 0)
        cli_say(&CLI_RECORD, "nothing was recorded: all calls were lost");
    else
        cli_say(&CLI_RECORD,
                "nothing was recorded: the program made no call, or brings an allocator of its own that "
                "is not called through malloc (PYTHONMALLOC=malloc makes Python call it)");
}

/* As the user would write it: what was given, or the default's name in this directory. */
static const char *shown_directory(const struct cli_record *record, const struct cli_recorded *recorded)
{
    const char *slash = strrchr(recorded->directory, '/');
    return record->directory != NULL ? record->directory : slash != NULL ? slash + 1 : recorded->directory;
}

/* Its death is none of the command's doing, but the recording ends there. */
static void report_collector(const struct cli_recorded *recorded, const struct cli_totals *totals,
                             const char *shown)
{
    const int status = recorded->collector_status;
    char events[32], processes[32];
    char *how = WIFSIGNALED(status) ? res_printf("signal %d", WTERMSIG(status))
                                    : res_printf("exit code %d", WEXITSTATUS(status));
    if (totals->events > 0)
        cli_say(&CLI_RECORD,
                "the collector ended early (%s): what was not written by then is lost; '%s' holds about %s "
                "events "
                "of %s process%s: go on with 'mallab info %s' or 'mallab convert %s'",
                how, shown, res_text_grouped(totals->events, events),
                res_text_grouped(totals->processes, processes), totals->processes == 1 ? "" : "es", shown,
                shown);
    else
        cli_say(&CLI_RECORD,
                "the collector ended early (%s), before it had written any event to '%s': record again", how,
                shown);
    free(how);
}

static void report(const struct cli_recorded *recorded, const char *shown, bool quiet)
{
    char events[32], processes[32], lost[32];
    const bool recovered = recorded->collector_status != 0 && cli_recover(&CLI_RECORD, recorded->directory);
    const struct cli_totals totals = cli_record_totals(recorded->directory);
    if (recorded->still_running != 0) {
        cli_say(
            &CLI_RECORD,
            "process %d and perhaps more still run and are recorded by mallab-collect (process %d) in the "
            "background; 'mallab info %s' tells what is written so far, and when they have ended",
            (int)recorded->still_running, (int)recorded->collector, shown);
        return;
    }
    if (recorded->collector_status != 0 && !recovered) {
        report_collector(recorded, &totals, shown);
        return;
    }
    if (!quiet && totals.known)
        cli_say(&CLI_RECORD, "%s events of %s process%s, %.1f bytes each, written to %s; lost %s",
                res_text_grouped(totals.events, events), res_text_grouped(totals.processes, processes),
                totals.processes == 1 ? "" : "es", totals.bytes_per_event, shown,
                res_text_grouped(totals.lost, lost));
    if (totals.lost > 0)
        cli_say(&CLI_RECORD, "the recording is not whole, calls were lost: %s", totals.lost_by_cause);
    if (totals.unattached > 0)
        cli_say(&CLI_RECORD, "%s process%s not recorded: more than can be recorded at one time",
                res_text_grouped(totals.unattached, events), totals.unattached == 1 ? " was" : "es were");
    if (totals.events == 0)
        warn_of_nothing(recorded, &totals);
    else if (!quiet && totals.silent[0] != '\0')
        cli_say(&CLI_RECORD,
                "no call was seen of %s: such a program makes none, or brings an allocator of its own that "
                "is not "
                "called through malloc",
                totals.silent);
}

static int run_record(int argc, char **argv)
{
    struct settings settings = {0};
    struct cli_target target;
    struct cli_recorded recorded;
    const int misuse = take_options(argc, argv, &settings);
    if (misuse >= 0)
        return misuse;
    if (settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    cli_target_find(argv[optind], &target);
    if (target.code != 0) {
        const int code = target.code;
        cli_say(&CLI_RECORD, "%s", target.problem);
        cli_target_release(&target);
        return code;
    }
    cli_record_run(&settings.record, target.path, argv + optind, &recorded);
    cli_target_release(&target);
    if (recorded.code != 0)
        cli_say(&CLI_RECORD, "%s", recorded.problem);
    else
        report(&recorded, shown_directory(&settings.record, &recorded), settings.quiet);
    cli_watch_report(&CLI_RECORD, &recorded.watch);
    const int code = recorded.code != 0 ? recorded.code : end_as(recorded.status);
    cli_recorded_release(&recorded);
    return code;
}

const struct cli_verb CLI_RECORD = {
    .name = "record",
    .summary = "run a command and record what it asks of malloc",
    .help = HELP,
    .run = run_record,
};
