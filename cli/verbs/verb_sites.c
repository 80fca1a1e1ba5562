/* verb_sites.c - `mallab sites` and `mallab leaks`: who allocates, and who does not free; and how a recording is read for that and for `mallab flame`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/describe/describe.h"
#include "cli/verbs/verbs.h"
#include "convert/recording/recording.h"
#include "footprint/base/words.h"
#include "results/measure/base/fields.h"
#include "results/measure/base/figure_words.h"
#include "sites/table/site_table.h"

struct settings {
    struct cli_sites reading;
    enum site_table table;
    int by;
    const char *sort, *ignore;
    struct res_texts patterns; /* of ignore */
    struct site_sum sums[SITE_PARTS];
    uint64_t most, budget_bytes;
    bool stacks, exit_code;
};

#define AT(member) offsetof(struct settings, member)
#define ROWS       20u
#define FRAMES     64u /* of a stack below a row */
#define ANSWER_NS  UINT64_C(10000000000)

static int take_moment(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    return cli_select_parse_when(value, at) ? -1 : cli_option_refuse(verb, row, value);
}

/* clang-format off */
static const struct cli_option SORT = {
    .name = "sort", .argument = "FIGURE", .how = CLI_WORD, .at = AT(sort), .values = site_figure_keys,
    .lists = true, .help = "most of this first: one of those below"};

static const struct cli_option SHARED[] = {
    {.name = "by", .argument = "WHAT", .how = CLI_CHOICE, .at = AT(by), .words = "site stack function module",
     .help = "put together by the place that allocates and its caller (site), by the whole call stack, by "
             "function or module; who only hands on (operator new, g_malloc) is passed over [site]"},
    {.name = "top", .argument = "N", .how = CLI_COUNT, .at = AT(most), .zero = true,
     .help = "so many rows; 0: all [20]"},
    {.name = "stacks", .how = CLI_FLAG, .at = AT(stacks),
     .help = "below each row its largest call stack, frame by frame"},
    {.row = &cli_answer_json, .at = AT(reading.answer), .help = "one JSON object"},
    {.row = &cli_answer_output, .at = AT(reading.answer)},
    {.row = &cli_answer_force, .at = AT(reading.answer), .help = "replace OUT when it exists"},
    {.row = &cli_answer_quiet, .at = AT(reading.answer)},
    {.heading = "names"},
    {.group = cli_site_names, .seldom = true, .at = AT(reading)},
    {.heading = "how RECORDING is read"},
    {.group = cli_site_reading, .at = AT(reading)},
    {0},
};

static const struct cli_option SITES_OPTIONS[] = {
    {.heading = "what is shown"},
    {.row = &SORT},
    {.group = SHARED},
    {0},
};

static const struct cli_option LEAKS_OPTIONS[] = {
    {.heading = "what is shown"},
    {.name = "at", .argument = "T", .how = CLI_CALL, .at = AT(reading.convert.select.to), .take = take_moment,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, a share such as 80%, or 'end'",
     .help = "what was live at that time of the recording: 90s, 80%, 03:00 [end]"},
    {.name = "since", .argument = "T", .how = CLI_CALL, .at = AT(reading.ages.since), .take = take_moment,
     .takes = "a time such as 90s or 5m, one of the day such as 03:00, or a share such as 25%",
     .help = "only what was allocated from that time on: two moments are compared so [0]"},
    {.name = "older", .argument = "T", .how = CLI_DURATION, .at = AT(reading.ages.older_ns),
     .help = "only what is so old at least: 90s, 5m [0]"},
    {.name = "ignore", .seldom = true, .argument = "FILE", .how = CLI_TEXT, .at = AT(ignore),
     .help = "leave out sites with one of these patterns in a function's or module's name of their stack: one a line, as "
             "LeakSanitizer's suppressions"},
    {.name = "tolerate", .argument = "SIZE", .how = CLI_SIZE, .at = AT(budget_bytes),
     .help = "name each site of which more than this is live, and exit with 4"},
    {.name = "exit-code", .seldom = true, .how = CLI_FLAG, .at = AT(exit_code), .help = "exit with 4 when anything is live that is not left out, or more than --tolerate"},
    {.row = &SORT, .seldom = true},
    {.group = SHARED},
    {0},
};
/* clang-format on */

static char *title_of(const struct settings *settings, const struct conv_sites *sites, size_t groups)
{
    static const char *const KEYS[2][3] = {
        [SITE_TABLE_SITES] = {"allocations", "bytes", "peak_bytes"},
        [SITE_TABLE_LEAKS] = {"live_bytes", "live_objects", "allocations"}};
    const uint64_t older_ns = settings->reading.ages.older_ns;
    const bool is_part = sites->since_ns > 0 || older_ns > 0;
    char *program = res_text_plain(sites->survey.program), *title, *words[3];
    for (size_t i = 0; i < 3; i++)
        words[i] = site_total_words(sites, KEYS[settings->table][i]);
    if (settings->table == SITE_TABLE_LEAKS)
        title = res_printf("%s after %s: %s live in %s objects%s%s%s%s, of %s allocations%s%s%s",
                           program[0] != '\0' ? program : "process", RES_DURATION((double)sites->end_ns),
                           words[0], words[1], sites->since_ns > 0 ? ", made after " : "",
                           sites->since_ns > 0 ? RES_DURATION((double)sites->since_ns) : "",
                           older_ns > 0 ? ", older than " : "",
                           older_ns > 0 ? RES_DURATION((double)older_ns) : "", words[2], is_part ? "; " : "",
                           is_part ? FP_BYTES(sites->all_live_bytes) : "", is_part ? " live in all" : "");
    else
        title = res_printf("%s: %s allocation%s of %s at %s place%s in %s; %s live at the peak, after %s",
                           program[0] != '\0' ? program : "process", words[0],
                           strcmp(words[0], "1") == 0 ? "" : "s", words[1], FP_GROUPED(groups),
                           groups == 1 ? "" : "s", RES_DURATION((double)sites->end_ns), words[2],
                           RES_DURATION((double)sites->peak_ns));
    for (size_t i = 0; i < 3; i++)
        free(words[i]);
    free(program);
    return title;
}

static json_t *sum_json(const struct site_sum *sum)
{
    return json_pack("{s:I, s:I}", "bytes", (json_int_t)sum->bytes, "objects", (json_int_t)sum->objects);
}

/* Tells of live objects that are no leak. */
static void note_left_out(const struct settings *settings, struct res_text *text)
{
    const struct site_sum *kept = &settings->sums[SITE_KEPT], *ignored = &settings->sums[SITE_IGNORED];
    if (kept->objects > 0)
        res_lines_printf(
            text, "kept", "%s in %s object%s by the C and C++ libraries, the loader and run-times, by design",
            FP_BYTES(kept->bytes), FP_GROUPED((uint64_t)kept->objects), kept->objects == 1 ? "" : "s");
    if (ignored->objects > 0)
        res_lines_printf(text, "ignored", "%s in %s object%s, as '%s' says", FP_BYTES(ignored->bytes),
                         FP_GROUPED((uint64_t)ignored->objects), ignored->objects == 1 ? "" : "s",
                         settings->ignore);
}

static char *json_of(const struct settings *settings, struct site_stacks *stacks,
                     const struct site_group *groups, size_t count, const struct site_table_request *request)
{
    const struct conv_sites *sites = stacks->sites;
    json_t *object = json_object();
    cli_json_set(object, "schema", "mallab-sites/1");
    cli_json_set(object, "shows", settings->table == SITE_TABLE_LEAKS ? "leaks" : "sites");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "file", settings->reading.path);
    cli_json_set(object, "program", sites->survey.program);
    cli_json_set(object, "process_id", sites->survey.process_id);
    site_totals_json(object, sites);
    cli_json_set(object, "peak_ns", sites->peak_ns);
    cli_json_set(object, "kept_by_libraries", sum_json(&settings->sums[SITE_KEPT]));
    cli_json_set(object, "ignored", sum_json(&settings->sums[SITE_IGNORED]));
    cli_json_set(object, "since_ns", sites->since_ns);
    cli_json_set(object, "older_ns", settings->reading.ages.older_ns);
    cli_json_set(object, "end_ns", sites->end_ns);
    cli_json_set(object, "complete", sites->survey.complete);
    cli_json_set(object, "sample_bytes", cli_json_known(sites->survey.sample_bytes));
    cli_json_set(object, "site_count", (uint64_t)count);
    cli_json_set(object, "sites", site_table_json(stacks, groups, count, request));
    return cli_json_document(object);
}

static char *text_of(const struct settings *settings, struct site_stacks *stacks,
                     const struct site_group *groups, size_t count, const struct site_table_request *request)
{
    const struct res_style style = {.utf8 = cli_locale_is_utf8()};
    struct res_text text = {0};
    struct res_texts notes = {0};
    char *title = title_of(settings, stacks->sites, count);
    char *table = site_table_text(stacks, groups, count, request, &style);
    res_lines_wrap_open(&text, title, 0);
    res_text_printf(&text, "\n%s\n", count > 0 ? table : "no site\n");
    if (settings->table == SITE_TABLE_LEAKS)
        note_left_out(settings, &text);
    cli_sites_notes(stacks, &notes);
    for (size_t i = 0; i < notes.count; i++) {
        char *words = notes.items[i], *label = strsep(&words, ":");
        res_lines_printf(&text, label, "%s", words + 1);
    }
    res_texts_release(&notes);
    free(title);
    free(table);
    return text.text;
}

/* Groups in which nothing is live have no place among leaks. */
static size_t drop_dead(struct site_group *groups, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (groups[i].counts.live_objects > 0)
            groups[kept++] = groups[i];
        else
            free(groups[i].key);
    }
    return kept;
}

static int show(const struct cli_verb *verb, struct settings *settings, struct site_stacks *stacks)
{
    const struct site_table_request request = {.table = settings->table,
                                               .by = (enum site_by)settings->by,
                                               .is_by_rank = settings->sort == NULL,
                                               .most = settings->most,
                                               .frames = settings->stacks ? FRAMES : 0};
    struct site_group *groups;
    unsigned char *parts = site_parts_find(stacks, &settings->patterns, settings->sums);
    size_t count = site_groups_make(stacks, request.by, settings->table == SITE_TABLE_LEAKS ? parts : NULL,
                                    &groups);
    free(parts);
    if (settings->table == SITE_TABLE_LEAKS)
        count = drop_dead(groups, count);
    site_groups_sort(groups, count, settings->table, settings->sort);
    char *text = settings->reading.answer.format == CLI_FORMAT_JSON
                     ? json_of(settings, stacks, groups, count, &request)
                     : text_of(settings, stacks, groups, count, &request);
    int code = cli_answer_write(verb, &settings->reading.answer, text);
    for (size_t i = 0; i < count && (settings->budget_bytes > 0 || settings->exit_code); i++) {
        const struct conv_site_counts *counts = &groups[i].counts;
        if (conv_site_range(counts->live_bytes, counts->live.samples, counts->live.bytes_variance).low <=
            (double)settings->budget_bytes)
            continue;
        if (settings->budget_bytes > 0) {
            char *words = site_group_words(stacks, &groups[i], request.by);
            cli_say(verb, "over its budget: %s live at %s", FP_BYTES(counts->live_bytes), words);
            free(words);
        }
        code = code == CLI_DONE ? CLI_CHECK_OVER : code;
    }
    free(text);
    site_groups_release(groups, count);
    return code;
}

/* Tells whether times that were asked for are of the recording. Returns CLI_DONE or an exit code, told. */
static int check_times(const struct cli_verb *verb, const struct settings *settings,
                       const struct conv_sites *sites)
{
    const struct cli_sites *reading = &settings->reading;
    const struct conv_when *to = &reading->convert.select.to;
    if (to->kind == CONV_WHEN_TIME && sites->whole_ns > 0 && to->value > sites->whole_ns)
        cli_say(verb, "'%s' ends after %s, before the time that is asked for: this is of its end",
                reading->path, RES_DURATION((double)sites->whole_ns));
    if (reading->ages.since.kind == CONV_WHEN_NONE || sites->since_ns == 0 || sites->since_ns < sites->end_ns)
        return CLI_DONE;
    return cli_misuse(verb, "--since is not before what is shown, which ends after %s",
                      RES_DURATION((double)sites->end_ns));
}

/* Has the collector of a recording that goes on write every call made so far. Returns nanoseconds since it began; 0: it has ended, cannot be
 * asked, or does not answer. */
static uint64_t ask_collector(const char *path)
{
    struct rec_control control;
    char directory[CONV_PATH_BYTES], *problem = NULL;
    uint64_t clock_ns = 0;
    conv_recording_directory(path, directory);
    if (rec_control_open(directory, &control, &problem) == REC_CONTROL_OPEN &&
        rec_control_ask(&control, REC_REQUEST_STATUS, ANSWER_NS, &problem))
        clock_ns = control.recording.duration_ns;
    rec_control_release(&control);
    free(problem); /* then the look is of what was written before */
    return clock_ns;
}

/* One reading, and what it shows. Returns an exit code, told. */
static int look(const struct cli_verb *verb, struct settings *settings)
{
    struct site_stacks stacks;
    struct conv_sites sites;
    settings->reading.ages.now_ns = ask_collector(settings->reading.path);
    int code = cli_sites_read(verb, &settings->reading, &sites, &stacks);
    if (code != CLI_DONE)
        return code;
    code = check_times(verb, settings, &sites);
    if (code == CLI_DONE)
        code = show(verb, settings, &stacks);
    cli_sites_end(&sites, &stacks);
    return cli_put_through() ? code : CLI_FAILED; /* main says why */
}

static int run(const struct cli_verb *verb, enum site_table table, int argc, char **argv)
{
    struct settings settings = {.table = table, .most = ROWS};
    struct cli_operands operands;
    int code = cli_options_take(verb, argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    settings.reading.path = operands.words[0];
    if (settings.ignore != NULL && !site_patterns_read(settings.ignore, &settings.patterns)) {
        cli_say(verb, "cannot read '%s': %s", settings.ignore, strerror(errno));
        return CLI_UNREADABLE;
    }
    code = cli_answer_check(verb, &settings.reading.answer);
    if (code == CLI_DONE)
        code = look(verb, &settings);
    res_texts_release(&settings.patterns);
    return code;
}

static int run_sites(int argc, char **argv)
{
    return run(&CLI_SITES, SITE_TABLE_SITES, argc, argv);
}

static int run_leaks(int argc, char **argv)
{
    return run(&CLI_LEAKS, SITE_TABLE_LEAKS, argc, argv);
}

const struct cli_verb CLI_SITES = {
    .name = "sites",
    .summary = "say who allocates: calls, bytes and lifetimes by call site",
    .usage = "[OPTION...] RECORDING",
    .purpose =
        "Say which places of a program allocate how much, from a recording with call stacks ('mallab record "
        "--sites') or its workload. Columns: bytes live at the process' peak, calls, bytes in all; the age "
        "that half of the "
        "objects reach (an upper bound); the share freed within 100 calls, and by another thread.\n"
        "Of interpreted programs these are the interpreter's functions, unless a perf map names the "
        "script's: PYTHONPERFSUPPORT=1 (CPython 3.12 or later), node --perf-basic-prof, java "
        "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit. What a Python "
        "function calls then counts as its own.",
    .options = SITES_OPTIONS,
    .completes = ":files fp wl",
    .examples =
        "mallab sites mallab-web.4242\nmallab sites --by function --sort churn --top 5 mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 RECORDING unreadable, damaged or without call stacks",
    .operand = "recording",
    .run = run_sites,
};

const struct cli_verb CLI_LEAKS = {
    .name = "leaks",
    .summary = "say who does not free: what is live, by call site and age",
    .usage = "[OPTION...] RECORDING",
    .purpose =
        "Say what is live at the end of a recording with call stacks, or at another time, by the place that "
        "allocated it: what is never freed and grows first, what was all made at the start last. Columns: "
        "the "
        "share of the site's objects that were freed, in which quarter of the time the live ones were made, "
        "the age of the oldest, and bytes older than 99.9 % of the site's freed objects became. Age is no "
        "proof: what is live may be freed later. Of interpreted programs these are the interpreter's "
        "functions.",
    .options = LEAKS_OPTIONS,
    .completes = ":files fp wl",
    .examples =
        "mallab leaks mallab-web.4242\nmallab leaks --since 10m --at 50m --tolerate 10M mallab-web.4242",
    .exit_codes =
        "0 done, 1 failed, 2 misuse, 3 RECORDING unreadable, damaged or without call stacks, 4 over "
        "the budget",
    .operand = "recording",
    .run = run_leaks,
};

/* ---- a recording read for its call stacks, and their names -------------------------------------- */

#define READING_AT(member) offsetof(struct cli_sites, member)

static int take_symbols(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct cli_sites *settings = at;
    if (settings->symbol_count == CLI_SYMBOL_DIRECTORIES)
        return cli_misuse(verb, "--symbols: at most %u directories", CLI_SYMBOL_DIRECTORIES);
    settings->symbols[settings->symbol_count++] = value;
    return -1;
}

/* clang-format off */
const struct cli_option cli_site_names[] = {
    {.name = "symbols", .argument = "DIR", .how = CLI_CALL, .take = take_symbols,
     .help = "look here first for the recorded files, for files with their symbols, found by build id, and for "
             "perf-PID.map of code compiled at run time; may be given several times"},
    {.name = "debuginfod", .how = CLI_FLAG, .at = READING_AT(may_fetch),
     .help = "ask the servers of $DEBUGINFOD_URLS for symbols that are not here [never]"},
    {0},
};

const struct cli_option cli_site_reading[] = {
    {.group = cli_select, .at = READING_AT(convert)},
    {.name = "salvage", .seldom = true, .how = CLI_FLAG, .at = READING_AT(convert.salvage),
     .help = "leave out damaged blocks, and count them, instead of refusing the file"},
    {.row = &cli_answer_max_memory, .at = READING_AT(answer)},
    {0},
};
/* clang-format on */

int cli_sites_read(const struct cli_verb *verb, const struct cli_sites *settings,
                   struct conv_sites *ret_sites, struct site_stacks *ret_stacks)
{
    char *program = res_own_program("mallab-names");
    struct stat facts = {.st_uid = geteuid()};
    (void)stat(settings->path, &facts); /* where it is not there that is told below */
    const struct names_options names = {.program = program,
                                        .directories = settings->symbols,
                                        .directory_count = settings->symbol_count,
                                        .may_fetch = settings->may_fetch,
                                        .owner = facts.st_uid};
    struct conv_options options = settings->convert;
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct cli_progress line;
    int code = CLI_DONE;
    (void)rec_recover(verb->name, settings->path);
    cli_progress_of(&line, "reading", settings->answer.quiet, &options);
    if (conv_sites_file(settings->path, &options, &settings->ages, ret_sites, error) != FP_OK) {
        cli_progress_end(&line);
        code = cli_conv_failed(verb, error);
    } else {
        cli_progress_show(&line, "naming functions", NULL, 0, 0, 0);
        *ret_stacks = site_stacks_make(ret_sites, &names);
        cli_progress_end(&line);
    }
    free(program);
    free(error);
    return code;
}

void cli_sites_notes(struct site_stacks *stacks, struct res_texts *notes)
{
    const struct conv_survey *survey = &stacks->sites->survey;
    site_table_notes(stacks, notes);
    if (survey->live != CONV_LIVE_KNOWN)
        res_texts_take(notes, res_printf("live: %s", cli_live_words(survey->live)));
    else if (survey->pauses > 0) /* a process that ran before it was recorded has no mark of the pause */
        res_texts_add(notes,
                      "live: what may have been allocated before it was recorded, or in pauses, is not "
                      "known: live bytes are lower bounds");
    if (survey->irregular[CONV_DAMAGED_BLOCKS] > 0)
        res_texts_take(notes, res_printf("damaged: left out: damaged_blocks, up to %s calls (docs/order.md)",
                                         FP_GROUPED(survey->irregular[CONV_DAMAGED_BLOCKS])));
    if (!survey->complete)
        res_texts_take(notes, res_printf("incomplete: %s", survey->incomplete_why));
}

void cli_sites_end(struct conv_sites *sites, struct site_stacks *stacks)
{
    site_stacks_release(stacks);
    conv_sites_release(sites);
}
