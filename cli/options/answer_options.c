/* answer_options.c - see answer_options.h. */
#include "cli/options/answer_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/parse.h"
#include "cli/base/say.h"
#include "cli/options/option_table.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/support.h"

#define AT(member) offsetof(struct cli_answer, member)

static const char *const FORMATS[] = {"table", "md", "csv", "json", "html"}; /* in the order of cli_format */

int cli_answer_take_format(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                           void *at)
{
    struct cli_answer *answer = at;
    if (cli_option_number(row, value) < 0)
        return cli_option_refuse(verb, row, value);
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        if (strcmp(FORMATS[i], value) == 0)
            answer->format = (enum cli_format)i;
    return -1;
}

static int take_json(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    struct cli_answer *answer = at;
    answer->json = true;
    answer->format = CLI_FORMAT_JSON;
    return -1;
}

static int take_color(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    return cli_parse_color(value, at) ? -1 : cli_option_refuse(verb, row, value);
}

/* It is kept in the environment (footprint/base/memory_bound.h), so that replays that are started have it too. */
static int take_max_memory(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                           void *at)
{
    uint64_t bytes;
    char text[32];
    if (!cli_parse_size(value, &bytes))
        return cli_option_refuse(verb, row, value);
    (void)snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (setenv(FP_MEMORY_VARIABLE, text, 1) != 0)
        return cli_misuse(verb, "no memory for the environment");
    return -1;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* clang-format off */
const struct cli_option cli_answer_output[] = {
    {.name = "output", .letter = 'o', .argument = "OUT", .how = CLI_TEXT, .at = AT(output),
     .takes = "a name, or - for stdout", .help = "write to a file; '-' is stdout [-]"},
    {0},
};

const struct cli_option cli_answer_force[] = {
    {.name = "force", .letter = 'f', .how = CLI_FLAG, .at = AT(force), .help = "replace FILE when it exists"},
    {0},
};

const struct cli_option cli_answer_json[] = {
    {.name = "json", .how = CLI_CALL, .take = take_json, .help = "print it as JSON"},
    {0},
};

const struct cli_option cli_answer_color[] = {
    {.name = "color", .seldom = true, .argument = "WHEN", .how = CLI_CALL, .at = AT(colour), .take = take_color,
     .words = "auto always never", .help = "auto, always or never [auto]"},
    {0},
};

const struct cli_option cli_answer_details[] = {
    {.name = "details", .how = CLI_FLAG, .at = AT(details),
     .help = "below the screen also the table of all figures, and what explains them"},
    {0},
};

const struct cli_option cli_answer_keep[] = {
    {.name = "keep", .argument = "DIR", .how = CLI_TEXT, .at = AT(keep), .takes = "the name of a directory",
     .help = "keep recording and workloads in DIR [removed at the end]"},
    {0},
};

const struct cli_option cli_answer_quiet[] = {
    {.name = "quiet", .letter = 'q', .how = CLI_FLAG, .at = AT(quiet),
     .help = "no progress, no summaries, no warnings"},
    {0},
};

const struct cli_option cli_answer_max_memory[] = {
    {.name = "max-memory", .seldom = true, .argument = "SIZE", .how = CLI_CALL, .take = take_max_memory,
     .takes = "a size such as 800M or 4G", .help = "what an input may take: 4G [1 GiB, 2000 times its size]"},
    {0},
};

const struct cli_option cli_answer_result[] = {
    {.group = cli_answer_output, .argument = "FILE",
     .help = "keep the result with every sample, as JSON; FILE/, or a directory: in it, as "
             "WORKLOAD.MACHINE.DATE.json"},
    {.group = cli_answer_force},
    {.group = cli_answer_max_memory},
    {.group = cli_answer_json, .help = "print that JSON instead of the table"},
    {.name = "title", .seldom = true, .argument = "TEXT", .how = CLI_TEXT, .at = AT(label),
     .help = "what to call the result in histories and comparisons"},
    {0},
};
/* clang-format on */

/* ---- the answer ----------------------------------------------------------------------------- */

struct cli_answer cli_answer_defaults(void)
{
    return (struct cli_answer){.colour = cli_colour_by_default()};
}

int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer)
{
    char *problem = NULL;
    if (answer->output == NULL || cli_output_check(answer->output, answer->force, &problem))
        return CLI_DONE;
    return cli_say_problem(verb, problem);
}

int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text)
{
    char *problem = NULL;
    const char *path = answer->output != NULL ? answer->output : "-";
    const bool written = cli_output_write(path, answer->force, text, strlen(text), &problem);
    return written ? CLI_DONE : cli_say_problem(verb, problem);
}
