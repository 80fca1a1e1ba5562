/* select_options.c - words of the command line to a selection. */
#include "cli/options/select_options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/base/parse.h"
#include "cli/base/say.h"
#include "cli/options/option_table.h"
#include "convert/import/formats.h"
#include "footprint/base/trusted.h"

/* "12.5%" to millionths. */
static bool parse_percent(const char *text, uint64_t *ret_millionths)
{
    const size_t length = strlen(text);
    const size_t whole = strspn(text, "0123456789");
    uint64_t value = 0, unit = CONV_SHARE_WHOLE / 100;
    if (whole == 0 || whole > 3 || length < 2 || text[length - 1] != '%')
        return false;
    for (size_t i = 0; i < whole; i++)
        value = value * 10 + (uint64_t)(text[i] - '0') * unit;
    if (text[whole] == '.') {
        const size_t part = strspn(text + whole + 1, "0123456789");
        if (part == 0 || part > 4 || whole + 1 + part + 1 != length)
            return false;
        for (size_t i = 0; i < part; i++)
            value += (uint64_t)(text[whole + 1 + i] - '0') * (unit /= 10);
    } else if (whole + 1 != length) {
        return false;
    }
    *ret_millionths = value;
    return value <= CONV_SHARE_WHOLE;
}

/* "03:00" or "03:00:30" to seconds of the day. */
static bool parse_clock(const char *text, uint64_t *ret_seconds)
{
    struct tm clock = {0};
    const char *end = strptime(text, "%H:%M", &clock);
    if (end != NULL && *end == ':')
        end = strptime(end, ":%S", &clock);
    *ret_seconds = (uint64_t)(clock.tm_hour * 3600 + clock.tm_min * 60 + clock.tm_sec);
    return end != NULL && *end == '\0' && clock.tm_sec < 60;
}

bool cli_select_parse_when(const char *text, struct conv_when *ret_when)
{
    struct conv_when when = {.kind = CONV_WHEN_TIME};
    if (strcmp(text, "end") == 0)
        when = (struct conv_when){.kind = CONV_WHEN_SHARE, .value = CONV_SHARE_WHOLE};
    else if (parse_percent(text, &when.value))
        when.kind = CONV_WHEN_SHARE;
    else if (parse_clock(text, &when.value))
        when.kind = CONV_WHEN_CLOCK;
    else if (strcmp(text, "0") == 0 || strcmp(text, "0s") == 0)
        when.value = 0; /* no duration, but a time */
    else if (!cli_parse_duration(text, &when.value))
        return false;
    *ret_when = when;
    return true;
}

/* A program's ("awk"), or PROGRAM.PID with more behind it or not: "awk.10962", "awk.10962.fp". */
static bool is_name(const char *text)
{
    return text[0] != '\0' && text[0] != '.' && strchr(text, '/') == NULL &&
           strspn(text, "0123456789.") != strlen(text);
}

static int take_trust_owner(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                            void *at)
{
    uid_t user;
    if (!fp_trusted_find_user(value, &user))
        return cli_misuse(verb, "--trust-owner: there is no user '%s'", value);
    fp_trusted_also_read(user);
    return -1;
}

static int take_process(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct conv_options *options = at;
    uint64_t process;
    options->process_id = 0;
    options->process_file = NULL;
    if (cli_parse_count(value, 1, UINT32_MAX, &process))
        options->process_id = (uint32_t)process;
    else if (is_name(value))
        options->process_file = value;
    else
        return cli_misuse(verb, "'%s' is no process id, and no name of a program or footprint", value);
    return -1;
}

static int take_from_time(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                          void *at)
{
    struct conv_when *from = at;
    const bool taken = cli_select_parse_when(value, from) &&
                       (from->kind != CONV_WHEN_SHARE || from->value != CONV_SHARE_WHOLE);
    return taken ? -1 : cli_option_refuse(verb, row, value);
}

static int take_to_time(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct conv_when *to = at;
    return cli_select_parse_when(value, to) && (to->value != 0 || to->kind == CONV_WHEN_CLOCK)
               ? -1
               : cli_option_refuse(verb, row, value);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct conv_options, member)

/* clang-format off */
const struct cli_option cli_select_trust_owner[] = {
    {.name = "trust-owner", .argument = "USER", .how = CLI_CALL, .take = take_trust_owner,
     .help = "read this user's recordings too, by name or number: their footprints and recording.json, and "
             "nothing else"},
    {0},
};

const struct cli_option cli_select_process[] = {
    {.name = "process", .argument = "PID", .how = CLI_CALL, .take = take_process,
     .help = "which process: its id, a footprint's name (awk.4711), or a program's (awk): all that have it, as a group [the "
             "command's own and its workers, or most calls]"},
    {0},
};

const struct cli_option cli_select_part[] = {
    {.name = "from-time", .argument = "T", .how = CLI_CALL, .at = AT(select.from), .take = take_from_time,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, or a share such as 25%",
     .help = "begin at that time of the recording: 90s, 25%, 03:00; what is alive then is created first"},
    {.name = "to-time", .argument = "T", .how = CLI_CALL, .at = AT(select.to), .take = take_to_time,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, a share such as 25%, or 'end'",
     .help = "end at that time of the recording: 90s, 25%, 03:00, end"},
    {.name = "head", .argument = "N", .how = CLI_COUNT, .at = AT(select.head), .least = 1,
     .help = "only the first N calls of what is left by the others"},
    {0},
};

const struct cli_option cli_select[] = {
    {.group = cli_select_process},
    {.group = cli_select_part, .seldom = true},
    {.group = cli_select_trust_owner, .seldom = true},
    {0},
};
/* clang-format on */

bool cli_select_format(size_t number, const char **ret_word, const char **ret_meaning)
{
    static const char *const own[][2] = {
        {"footprint", "a process that mallab recorded (.fp)"},
        {"recording", "its directory"},
        {"workload", "what this program makes (.wl)"},
        {"text", "the same as text: --to text"},
    };
    const size_t own_count = sizeof own / sizeof own[0];
    struct conv_format_facts facts;
    if (number >= own_count && !conv_format_facts(number - own_count, &facts))
        return false;
    *ret_word = number < own_count ? own[number][0] : facts.name;
    *ret_meaning = number < own_count ? own[number][1] : facts.title;
    return true;
}

int cli_select_check(const struct cli_verb *verb, const struct conv_options *options)
{
    const struct conv_selection *select = &options->select;
    if (select->from.kind == select->to.kind && select->from.kind != CONV_WHEN_NONE &&
        select->from.value >= select->to.value)
        return cli_misuse(verb, "--from-time is not before --to-time");
    return -1;
}

bool cli_select_any(const struct conv_options *options)
{
    const struct conv_selection *select = &options->select;
    return conv_process_asked(options) || select->from.kind != CONV_WHEN_NONE ||
           select->to.kind != CONV_WHEN_NONE || select->head != 0;
}
