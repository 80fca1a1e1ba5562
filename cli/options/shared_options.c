/* shared_options.c - options on the answer, on a run, on a selection. */
#include "cli/options/options.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "convert/import/formats.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/trusted.h"
#include "footprint/fp/usage.h"

/* ---- the answer: where it goes, in which form, and what is told beside it ---- */

#define ANSWER_AT(member) offsetof(struct cli_answer, member)

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
const struct cli_option cli_answer_output = {
    .name = "output", .letter = 'o', .argument = "OUT", .how = CLI_TEXT, .at = ANSWER_AT(output),
    .takes = "a name, or - for stdout", .help = "write to a file; '-' is stdout [-]"};

const struct cli_option cli_answer_force = {
    .name = "force", .letter = 'f', .how = CLI_FLAG, .at = ANSWER_AT(force), .help = "replace FILE when it exists"};

const struct cli_option cli_answer_json = {
    .name = "json", .how = CLI_SET, .least = CLI_FORMAT_JSON, .at = ANSWER_AT(format), .help = "print it as JSON"};

const struct cli_option cli_answer_color = {
    .name = "color", .seldom = true, .argument = "WHEN", .how = CLI_CHOICE, .at = ANSWER_AT(colour),
    .words = "auto always never", .help = "auto, always or never [auto]"};

const struct cli_option cli_answer_details = {
    .name = "details", .how = CLI_FLAG, .at = ANSWER_AT(details),
    .help = "below the screen also the table of all figures, and what explains them"};

const struct cli_option cli_answer_keep = {
    .name = "keep", .argument = "DIR", .how = CLI_TEXT, .at = ANSWER_AT(keep), .takes = "the name of a directory",
    .help = "keep recording and workloads in DIR [removed at the end]"};

const struct cli_option cli_answer_quiet = {
    .name = "quiet", .letter = 'q', .how = CLI_FLAG, .at = ANSWER_AT(quiet),
    .help = "no progress, no summaries, no warnings"};

const struct cli_option cli_answer_max_memory = {
    .name = "max-memory", .seldom = true, .argument = "SIZE", .how = CLI_CALL, .take = take_max_memory,
    .takes = "a size such as 800M or 4G", .help = "what an input may take: 4G [1 GiB, 2000 times its size]"};

const struct cli_option cli_answer_result[] = {
    {.row = &cli_answer_output, .argument = "FILE",
     .help = "keep the result with every sample, as JSON; FILE/, or a directory: in it, as "
             "WORKLOAD.MACHINE.DATE.json"},
    {.row = &cli_answer_force},
    {.row = &cli_answer_max_memory},
    {.row = &cli_answer_json, .help = "print that JSON instead of the table"},
    {.name = "title", .seldom = true, .argument = "TEXT", .how = CLI_TEXT, .at = ANSWER_AT(label),
     .help = "what to call the result in histories and comparisons"},
    {0},
};
/* clang-format on */

/* ---- the answer ----------------------------------------------------------------------------- */

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

/* ---- how a run is made: of which candidates, how often, how long, on what ---- */

#define MEASURE_AT(member) offsetof(struct cli_measure, member)

/* ---- rows ----------------------------------------------------------------------------------- */

/* clang-format off */
const struct cli_option cli_measure_allocators = {
    .name = "allocators", .letter = 'a', .argument = "LIST", .how = CLI_TEXT, .at = MEASURE_AT(allocators),
    .offer = CLI_OFFER_CANDIDATES,
    .help = "names of 'mallab allocators' or paths of libraries, with commas, settings if any: jemalloc+narenas=1 "
    "[glibc,jemalloc,tcmalloc,mimalloc, those here]"};

const struct cli_option cli_measure_baseline = {
    .name = "base", .letter = 'b', .argument = "NAME", .how = CLI_TEXT, .at = MEASURE_AT(baseline),
    .offer = CLI_OFFER_CANDIDATE, .help = "what the others are compared with [glibc, else the first]"};

const struct cli_option cli_measure_rounds = {
    .name = "rounds", .letter = 'n', .argument = "N", .how = CLI_COUNT, .at = MEASURE_AT(rounds), .least = 1,
    .most = CLI_ROUNDS_MAX, .help = "runs of each candidate, 1-1000; a verdict takes 8 [10]"};

const struct cli_option cli_measure_seed = {
    .name = "seed", .seldom = true, .argument = "N", .how = CLI_COUNT, .at = MEASURE_AT(run.seed),
    .most = (UINT64_C(1) << CLI_SEED_BITS) - 1, .takes = "a number from 0 to 2^53 - 1",
    .help = "seed of the shuffled order and of the intervals [drawn, printed]"};

const struct cli_option cli_measure_one_thread[] = {
    {.name = "one-thread", .seldom = true, .how = CLI_FLAG, .at = MEASURE_AT(run.one_thread),
     .help = "replay the calls of all threads on one, in their order"},
    {.name = "processors", .seldom = true, .argument = "N", .how = CLI_COUNT, .at = MEASURE_AT(run.processors), .least = 1,
     .most = FP_PROCESSORS_MAX, .takes = "a number from 1 to 8192",
     .help = "let each allocator size itself as on a host of N processors [the recorded one's]"},
    {0},
};

const struct cli_option cli_measure_timeout = {
    .name = "timeout", .seldom = true, .argument = "T", .how = CLI_DURATION, .at = MEASURE_AT(run.timeout_ns),
    .help = "give up a run after T: 90s, 5m [20 times its warm-up]"};

const struct cli_option cli_measure_limit[] = {
    {.name = "limit", .argument = "SIZE", .how = CLI_SIZE, .at = MEASURE_AT(run.limit_bytes),
     .help = "most memory that each allocator may have: 64M, 1.5G [no limit]"},
    {.name = "limit-by", .seldom = true, .argument = "WHAT", .how = CLI_WORD, .at = MEASURE_AT(limit_by), .words = "cgroup data",
     .help = "cgroup: what is in memory, as a container counts, whose kernel kills at the limit; data: what "
             "is mapped, where calls fail [cgroup where one can be made, else data]"},
    {.name = "limit-in", .seldom = true, .argument = "DIR", .how = CLI_TEXT, .at = MEASURE_AT(limit_in),
     .help = "make the cgroups in this directory of /sys/fs/cgroup [mallab's own, else the one above it]"},
    {0},
};
/* clang-format on */

/* ---- what is made of them ------------------------------------------------------------------- */

struct cli_measure cli_measure_defaults(void)
{
    return (struct cli_measure){.run = {.memory_rounds = RES_MEMORY_PASSES,
                                        .starts = RES_STARTS,
                                        .idle_ms = RES_MEMORY_REST_MS,
                                        .seed = cli_draw_seed()}};
}

static int check_options(const struct cli_verb *verb, const struct cli_measure *measure)
{
    const bool by_data = measure->limit_by != NULL && strcmp(measure->limit_by, "data") == 0;
    if (measure->run.limit_bytes == 0 && measure->limit_by != NULL)
        return cli_misuse(verb, "--limit-by says how a limit is kept: --limit says which");
    if (measure->run.limit_bytes == 0 && measure->limit_in != NULL)
        return cli_misuse(verb, "--limit-in says where a limit is kept: --limit says which");
    if (measure->limit_in != NULL && by_data)
        return cli_misuse(verb, "--limit-in is for control groups, --limit-by data is without them");
    return CLI_DONE;
}

int cli_limit_settle(const struct cli_verb *verb, const struct cli_measure *measure,
                     struct cli_limit *ret_limit)
{
    *ret_limit = (struct cli_limit){0};
    const int code = check_options(verb, measure);
    if (code != CLI_DONE || measure->run.limit_bytes == 0 ||
        (measure->limit_by != NULL && strcmp(measure->limit_by, "data") == 0))
        return code;
    struct res_group_place *place = &ret_limit->place;
    char *why = res_group_place_find("", measure->limit_in, place) ? res_group_try(place) : NULL;
    if (why == NULL && place->directory != NULL)
        return CLI_DONE;
    if (why == NULL) {
        why = place->why;
        place->why = NULL;
    }
    res_group_place_release(place);
    ret_limit->why = why;
    if (measure->limit_by != NULL || measure->limit_in != NULL) {
        cli_say(verb, "no memory limit by control groups here: %s; or take --limit-by data", why);
        return CLI_FAILED;
    }
    cli_say(verb,
            "the limit is of what is mapped (RLIMIT_DATA), not of what is in memory, as a container's is: %s",
            why);
    return CLI_DONE;
}

void cli_limit_release(struct cli_limit *limit)
{
    res_group_place_release(&limit->place);
    free(limit->why);
    limit->why = NULL;
}

const struct res_group_place *cli_limit_place(const struct cli_limit *limit)
{
    return limit->place.directory != NULL ? &limit->place : NULL;
}

/* ---- what of an input is converted ---- */

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
    double share;
    if (strcmp(text, "end") == 0)
        when = (struct conv_when){.kind = CONV_WHEN_SHARE, .value = CONV_SHARE_WHOLE};
    else if (cli_parse_percent(text, &share))
        when = (struct conv_when){.kind = CONV_WHEN_SHARE,
                                  .value = (uint64_t)llround(share * CONV_SHARE_WHOLE)};
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

/* least: 0, where the section begins; 1, where it ends. */
static int take_time(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    struct conv_selection *select = at;
    struct conv_when when;
    const bool is_end = row->least == 1;
    if (!cli_select_parse_when(value, &when) ||
        (is_end ? when.value == 0 && when.kind != CONV_WHEN_CLOCK
                : when.kind == CONV_WHEN_SHARE && when.value == CONV_SHARE_WHOLE))
        return cli_option_refuse(verb, row, value);
    *(is_end ? &select->to : &select->from) = when;
    if (select->from.kind == select->to.kind && select->from.value >= select->to.value)
        return cli_misuse(verb, "--from-time is not before --to-time");
    return -1;
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define SELECT_AT(member) offsetof(struct conv_options, member)

/* clang-format off */
const struct cli_option cli_select_trust_owner = {
    .name = "trust-owner", .argument = "USER", .how = CLI_CALL, .take = take_trust_owner,
    .help = "read this user's recordings too, by name or number: their footprints and recording.json, and "
    "nothing else"};

const struct cli_option cli_select_process = {
    .name = "process", .argument = "PID", .how = CLI_CALL, .take = take_process,
    .help = "which process: its id, a footprint's name (awk.4711), or a program's (awk): all that have it, as a group [the "
    "command's own and its workers, or most calls]"};

const struct cli_option cli_select_part[] = {
    {.name = "from-time", .argument = "T", .how = CLI_CALL, .at = SELECT_AT(select), .take = take_time,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, or a share such as 25%",
     .help = "begin at that time of the recording: 90s, 25%, 03:00; what is alive then is created first"},
    {.name = "to-time", .argument = "T", .how = CLI_CALL, .at = SELECT_AT(select), .take = take_time, .least = 1,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, a share such as 25%, or 'end'",
     .help = "end at that time of the recording: 90s, 25%, 03:00, end"},
    {.name = "head", .argument = "N", .how = CLI_COUNT, .at = SELECT_AT(select.head), .least = 1,
     .help = "only the first N calls of what is left by the others"},
    {0},
};

const struct cli_option cli_select[] = {
    {.row = &cli_select_process},
    {.group = cli_select_part, .seldom = true},
    {.row = &cli_select_trust_owner, .seldom = true},
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
    const struct conv_format *format = number < own_count ? NULL : conv_format_at(number - own_count);
    if (number >= own_count && format == NULL)
        return false;
    *ret_word = format == NULL ? own[number][0] : format->name;
    *ret_meaning = format == NULL ? own[number][1] : format->title;
    return true;
}

bool cli_select_any(const struct conv_options *options)
{
    const struct conv_selection *select = &options->select;
    return conv_process_asked(options) || select->from.kind != CONV_WHEN_NONE ||
           select->to.kind != CONV_WHEN_NONE || select->head != 0;
}
