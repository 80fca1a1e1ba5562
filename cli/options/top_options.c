/* top_options.c - help and options of `mallab top`. */
#include <string.h>

#include "cli/options/top_options.h"

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "cli/options/select_options.h"

const char cli_top_help[] =
    "usage: mallab top [OPTION...] DIR\n"
    "\n"
    "Show what a program does while it is recorded: its calls, live memory, sizes,\n"
    "threads and processes, and whether the recorder keeps up. Ends when the\n"
    "recording does; Ctrl-C ends it before.\n"
    "\n"
    "      --interval T     time between two frames, 100ms at least [2s]\n"
    "      --count N        end after N frames\n"
    "      --once           print one frame and end\n"
    "      --process WHICH  only this process: its id, or its program's name, which\n"
    "                       takes the one with most calls so far [all]\n"
    "      --lines N        lines of a frame [those of the terminal, else 24]\n" CLI_SELECT_TRUST_OWNER_HELP
    "      --json           an object a line for each frame\n"
    "@progress\n"
    "@no-progress\n"
    "@help\n"
    "\n"
    "example: mallab top mallab-web.4242\n"
    "exit codes: 0 done, 1 failed, 2 misuse, 3 DIR unreadable, damaged or too new\n";

#define INTERVAL_NS_DEFAULT UINT64_C(2000000000)
#define INTERVAL_NS_LEAST   UINT64_C(100000000)

enum {
    OPTION_INTERVAL = 256,
    OPTION_COUNT,
    OPTION_ONCE,
    OPTION_PROCESS,
    OPTION_LINES,
};

static int take_option(int option, void *data)
{
    struct cli_top_options *settings = data;
    switch (option) {
    case OPTION_INTERVAL:
        if (!cli_parse_duration(optarg, &settings->interval_ns) || settings->interval_ns < INTERVAL_NS_LEAST)
            return cli_misuse(&CLI_TOP, "--interval takes a time of 100ms at least, not '%s'", optarg);
        break;
    case OPTION_COUNT:
        if (!cli_parse_count(optarg, 1, UINT64_MAX / 2, &settings->count))
            return cli_misuse(&CLI_TOP, "--count takes a number from 1, not '%s'", optarg);
        break;
    case OPTION_ONCE:
        settings->count = 1;
        break;
    case OPTION_PROCESS:
        if (!cli_parse_count(optarg, 1, INT32_MAX, &settings->process_id))
            settings->process_id = 0;
        settings->process = settings->process_id == 0 ? optarg : NULL;
        if (settings->process != NULL && strspn(optarg, "0123456789") == strlen(optarg))
            return cli_misuse(&CLI_TOP, "'%s' is no process id", optarg);
        break;
    case OPTION_LINES:
        if (!cli_parse_count(optarg, 10, 1000, &settings->lines))
            return cli_misuse(&CLI_TOP, "--lines takes a number from 10 to 1000, not '%s'", optarg);
        break;
    default:
        break;
    }
    return -1;
}

int cli_top_take_options(int argc, char **argv, struct cli_top_options *ret_options)
{
    static const struct option options[] = {
        {"interval", required_argument, NULL, OPTION_INTERVAL},
        {"count", required_argument, NULL, OPTION_COUNT},
        {"once", no_argument, NULL, OPTION_ONCE},
        {"process", required_argument, NULL, OPTION_PROCESS},
        {"lines", required_argument, NULL, OPTION_LINES},
        CLI_SELECT_TRUST_OWNER_ROW,
        CLI_ANSWER_JSON_ROW,
        CLI_ANSWER_PROGRESS_ROWS,
        CLI_ANSWER_HELP_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_TOP,
        .options = options,
        .take = take_option,
        .settings = ret_options,
        .answer = &ret_options->answer,
    };
    struct cli_operands operands;
    *ret_options = (struct cli_top_options){.answer = cli_answer_defaults(),
                                            .interval_ns = INTERVAL_NS_DEFAULT};
    int code = cli_command_line_take(&line, argc, argv, &operands);
    if (code < 0)
        code = cli_command_line_one(&CLI_TOP, &operands, "no recording", "one recording at a time");
    ret_options->path = code < 0 ? operands.words[0] : NULL;
    return code;
}
