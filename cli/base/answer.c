/* answer.c - see answer.h. */
#include "cli/base/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/memory_bound.h"
#include "results/measure/base/support.h"

static const char *const FORMATS[] = {"table", "md", "csv", "json", "html"}; /* in the order of cli_format */
#define FORMAT_COUNT (sizeof FORMATS / sizeof FORMATS[0])

/* In a help text "@name WORDS" stands for head and text, with WORDS in it. */
static const struct {
    const char *name, *head, *text;
} HELP_LINES[] = {
    {"force", "  -f, --force", "replace %s when it exists"},
    {"json", "      --json", "print it as JSON"},
    {"json-result", "      --json", "print that JSON instead of the table"},
    {"json-format", "      --json", "the same as --format json"},
    {"color", "      --color WHEN", "auto, always or never%s [auto]"},
    {"progress", "      --progress", "progress on stderr, also when that is no terminal"},
    {"no-progress", "      --no-progress", "no progress on stderr"},
    {"max-memory", "      --max-memory S", "what INPUT may take: 4G [1 GiB, 2000 times its size]"},
    {"help", "  -h, --help", "print this help"},
};

const char *cli_format_name(enum cli_format format)
{
    return FORMATS[format];
}

struct cli_answer cli_answer_defaults(void)
{
    return (struct cli_answer){.colour = cli_colour_by_default()};
}

bool cli_answer_has(int option)
{
    return (option >= CLI_ANSWER_JSON && option < CLI_ANSWER_END) || option == 'o' || option == 'f' ||
           option == 'q' || option == 'h';
}

/* "'table', 'md' or 'json'": those of the verb. */
static char *format_names(unsigned formats)
{
    struct res_text names = {0};
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const bool is_last = formats >> (i + 1) == 0;
        if ((formats & 1u << i) != 0)
            res_text_printf(&names, "%s'%s'", names.length == 0 ? "" : is_last ? " or " : ", ", FORMATS[i]);
    }
    return names.text;
}

static int take_format(const struct cli_verb *verb, const char *value, struct cli_answer *answer)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(value, FORMATS[i]) == 0 && (answer->formats & 1u << i) != 0) {
            answer->format = (enum cli_format)i;
            return -1;
        }
    }
    char *names = format_names(answer->formats);
    const int code = cli_misuse(verb, "--format takes %s, not '%s'", names, value);
    free(names);
    return code;
}

static int take_max_memory(const struct cli_verb *verb, const char *value)
{
    uint64_t bytes;
    char text[32];
    if (!cli_parse_size(value, &bytes))
        return cli_misuse(verb, "'%s' is no size for --max-memory: write 800M or 4G", value);
    (void)snprintf(text, sizeof text, "%" PRIu64, bytes);
    if (setenv(FP_MEMORY_VARIABLE, text, 1) != 0)
        return cli_misuse(verb, "no memory for the environment");
    return -1;
}

int cli_answer_take(const struct cli_verb *verb, int option, const char *value, struct cli_answer *answer)
{
    switch (option) {
    case 'o':
        if (*value == '\0')
            return cli_misuse(verb, "-o takes a name, or - for stdout");
        answer->output = value;
        break;
    case 'f':
        answer->force = true;
        break;
    case 'q':
        answer->quiet = true;
        break;
    case 'h':
        answer->help = true;
        break;
    case CLI_ANSWER_JSON:
        answer->json = true;
        answer->format = CLI_FORMAT_JSON;
        break;
    case CLI_ANSWER_FORMAT:
        return take_format(verb, value, answer);
    case CLI_ANSWER_COLOR:
        if (!cli_parse_color(value, &answer->colour))
            return cli_misuse(verb, "--color takes 'auto', 'always' or 'never', not '%s'", value);
        break;
    case CLI_ANSWER_DETAILS:
        answer->details = true;
        break;
    case CLI_ANSWER_KEEP:
        if (*value == '\0')
            return cli_misuse(verb, "--keep takes the name of a directory");
        answer->keep = value;
        break;
    case CLI_ANSWER_PROGRESS:
        answer->progress = CLI_PROGRESS_ALWAYS;
        break;
    case CLI_ANSWER_MAX_MEMORY:
        return take_max_memory(verb, value);
    case CLI_ANSWER_NO_PROGRESS:
        answer->progress = CLI_PROGRESS_NEVER;
        break;
    default:
        break;
    }
    return -1;
}

void cli_answer_settle(struct cli_answer *answer)
{
    if (answer->quiet && answer->progress == CLI_PROGRESS_AUTO)
        answer->progress = CLI_PROGRESS_NEVER;
}

static int told(const struct cli_verb *verb, bool done, char *problem)
{
    if (!done)
        cli_say(verb, "%s", problem);
    free(problem);
    return done ? CLI_DONE : CLI_FAILED;
}

int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer)
{
    char *problem = NULL;
    const bool good = answer->output == NULL || cli_output_check(answer->output, answer->force, &problem);
    return told(verb, good, problem);
}

int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text)
{
    char *problem = NULL;
    const char *path = answer->output != NULL ? answer->output : "-";
    const bool written = cli_output_write(path, answer->force, text, strlen(text), &problem);
    return told(verb, written, problem);
}

char *cli_answer_help_line(const char *line, size_t column)
{
    const size_t length = strcspn(line, " ");
    const char *words = line[length] == ' ' ? line + length + 1 : line + length;
    for (size_t i = 0; i < sizeof HELP_LINES / sizeof HELP_LINES[0]; i++) {
        if (strlen(HELP_LINES[i].name) != length || strncmp(HELP_LINES[i].name, line, length) != 0)
            continue;
        const char *text = HELP_LINES[i].text, *gap = strstr(text, "%s");
        return gap == NULL ? res_printf("%-*s%s\n", (int)column, HELP_LINES[i].head, text)
                           : res_printf("%-*s%.*s%s%s\n", (int)column, HELP_LINES[i].head, (int)(gap - text),
                                        text, words, gap + 2);
    }
    return NULL;
}
