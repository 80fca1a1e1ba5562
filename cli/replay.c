/* replay.c - `mallab replay`: become the replay binary of one candidate. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/workloads.h"
#include "convert/convert.h"
#include "results/run.h"
#include "results/support.h"

static const char HELP[] =
    "usage: mallab replay [OPTION...] WORKLOAD\n"
    "\n"
    "Execute a workload's calls once, on one allocator, in a process of its own, and\n"
    "print time per call, resident memory, page faults and the allocator's proof.\n"
    "One run says little about speed: 'mallab ab' compares, with repetitions.\n"
    "\n"
    "  -a, --allocator NAME  a candidate of 'mallab allocators', 'none' for the\n"
    "                        harness alone, or the path of a library to preload\n"
    "                        [glibc]\n"
    "      --touch WHAT      what is written into new memory: none, page (a byte per\n"
    "                        page) or full [page]\n"
    "      --threads HOW     'recorded', or '1': all calls on one thread [recorded]\n"
    "      --idle T          rest for T (5s, 500ms) after the last call, then look at\n"
    "                        memory again [no rest]\n"
    "      --timeout T       give up after T: 90s, 5m [never]\n"
    "      --json            print it as JSON\n"
    "  -h, --help            print this help\n"
    "\n"
    "example: mallab replay -a jemalloc web.wl\n"
    "exit codes: 0 done, 1 failed (also: another allocator served the calls),\n"
    "2 misuse, 3 WORKLOAD unreadable, damaged or too new\n";

enum {
    OPTION_TOUCH = 256,
    OPTION_THREADS,
    OPTION_IDLE,
    OPTION_TIMEOUT,
    OPTION_JSON,
};

struct settings {
    const char *allocator, *touch, *threads;
    uint64_t idle_ns, timeout_ns;
    bool json, help;
};

static int take_option(int option, char **argv, struct settings *settings)
{
    switch (option) {
    case 'a':
        settings->allocator = optarg;
        break;
    case 'h':
        settings->help = true;
        break;
    case OPTION_TOUCH:
        if (strcmp(optarg, "none") != 0 && strcmp(optarg, "page") != 0 && strcmp(optarg, "full") != 0)
            return cli_misuse(&CLI_REPLAY, "--touch takes 'none', 'page' or 'full', not '%s'", optarg);
        settings->touch = optarg;
        break;
    case OPTION_THREADS:
        if (strcmp(optarg, "recorded") != 0 && strcmp(optarg, "1") != 0)
            return cli_misuse(&CLI_REPLAY, "--threads takes 'recorded' or '1', not '%s'", optarg);
        settings->threads = optarg;
        break;
    case OPTION_IDLE:
        if (!cli_parse_duration(optarg, &settings->idle_ns))
            return cli_misuse(&CLI_REPLAY, "'%s' is no duration: write 5s or 500ms", optarg);
        break;
    case OPTION_TIMEOUT:
        if (!cli_parse_duration(optarg, &settings->timeout_ns))
            return cli_misuse(&CLI_REPLAY, "'%s' is no duration: write 90s or 5m", optarg);
        break;
    case OPTION_JSON:
        settings->json = true;
        break;
    default:
        return cli_option_refused(&CLI_REPLAY, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"allocator", required_argument, NULL, 'a'},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"threads", required_argument, NULL, OPTION_THREADS},
        {"idle", required_argument, NULL, OPTION_IDLE},
        {"timeout", required_argument, NULL, OPTION_TIMEOUT},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, ":a:h", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (!ret_settings->help && argc - optind != 1)
        return cli_misuse(&CLI_REPLAY, optind >= argc ? "no workload" : "one workload at a time");
    return -1;
}

/* Returns only when it could not be started. */
static int become_replay(const struct settings *settings, const struct res_candidate *candidate,
                         const char *workload)
{
    char *idle = res_printf("%llu", (unsigned long long)((settings->idle_ns + 999999) / 1000000));
    char *timeout = res_printf("%llu", (unsigned long long)((settings->timeout_ns + 999999999) / 1000000000));
    const char *extra[8] = {NULL};
    size_t count = 0;
    const struct res_run_request request = {
        .candidate = candidate,
        .workload = workload,
        .touch = settings->touch,
        .as_text = !settings->json,
    };
    if (settings->threads != NULL) {
        extra[count++] = "--threads";
        extra[count++] = settings->threads;
    }
    if (settings->idle_ns > 0) {
        extra[count++] = "--idle-ms";
        extra[count++] = idle;
    }
    if (settings->timeout_ns > 0) {
        extra[count++] = "--timeout";
        extra[count++] = timeout;
    }
    char **arguments = res_run_arguments(&request, extra);
    char **environment = res_run_environment(candidate);
    execve(candidate->program, arguments, environment);
    cli_say(&CLI_REPLAY, "cannot start '%s': %s", candidate->program, strerror(errno));
    res_strings_free(arguments);
    res_strings_free(environment);
    free(idle);
    free(timeout);
    return CLI_FAILED;
}

/* Told here, where we know more than the replay binary does of what else it may be. */
static bool is_workload(const char *path)
{
    const enum conv_kind kind = conv_detect(path);
    struct stat facts;
    if (kind == CONV_KIND_WORKLOAD)
        return true;
    if (strcmp(path, "-") == 0)
        cli_say(&CLI_REPLAY,
                "a workload is not read from a pipe, as it is mapped: name a file, which 'mallab "
                "convert -o FILE.wl -' makes of a pipe");
    else if (access(path, R_OK) != 0)
        cli_say(&CLI_REPLAY, "cannot read '%s': %s", path, strerror(errno));
    else if (kind == CONV_KIND_UNKNOWN && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        cli_say(&CLI_REPLAY, "'%s' is a directory, not a workload", path);
    else if (kind == CONV_KIND_UNKNOWN)
        cli_say(&CLI_REPLAY, "'%s' is no workload: is it the right file?", path);
    else
        cli_say_other_kind(&CLI_REPLAY, path, kind);
    return false;
}

static int run_replay(int argc, char **argv)
{
    struct settings settings = {.allocator = "glibc"};
    struct res_registry registry = {0};
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    const char *workload = argv[optind];
    if (!is_workload(workload))
        return CLI_UNREADABLE;
    code = cli_registry_load(&CLI_REPLAY, &registry);
    if (code == CLI_DONE) {
        const struct res_candidate *candidate = cli_candidate_named(&CLI_REPLAY, &registry,
                                                                    settings.allocator, &code);
        if (candidate != NULL && !candidate->found) {
            cli_say(&CLI_REPLAY, "%s: %s", candidate->name, candidate->missing);
            code = CLI_FAILED;
        } else if (candidate != NULL) {
            code = become_replay(&settings, candidate, workload);
        }
    }
    res_registry_release(&registry);
    return code;
}

const struct cli_verb CLI_REPLAY = {
    .name = "replay",
    .summary = "run a workload once on one allocator",
    .help = HELP,
    .run = run_replay,
};
