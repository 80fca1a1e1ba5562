/* site_reading.c - a recording read for its call stacks, and their names. */
#include "cli/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/cli.h"
#include "cli/describe/describe.h"
#include "convert/recording/recording_json.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "record/recorder.h"
#include "sites/table/site_table.h"

#define AT(member) offsetof(struct cli_sites, member)

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
    {.name = "debuginfod", .how = CLI_FLAG, .at = AT(may_fetch),
     .help = "ask the servers of $DEBUGINFOD_URLS for symbols that are not here [never]"},
    {0},
};

const struct cli_option cli_site_reading[] = {
    {.group = cli_select, .at = AT(convert)},
    {.name = "salvage", .seldom = true, .how = CLI_FLAG, .at = AT(convert.salvage),
     .help = "leave out damaged blocks, and count them, instead of refusing the file"},
    {.group = cli_answer_max_memory, .at = AT(answer)},
    {0},
};
/* clang-format on */

struct cli_sites cli_site_defaults(void)
{
    return (struct cli_sites){.answer = cli_answer_defaults()};
}

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
        char text[CONV_PATH_BYTES + 512];
        const bool salvageable = error->salvageable;
        cli_progress_end(&line);
        error->salvageable = false; /* which speaks of convert */
        cli_say(verb, "%s%s", conv_error_text(error, text, sizeof text),
                salvageable ? ", else --salvage leaves out what is damaged" : "");
        code = conv_error_exit_code(error);
    } else {
        cli_progress_show(&line, "naming functions", NULL, 0, 0, 0);
        *ret_stacks = site_stacks_make(ret_sites, &names);
        cli_progress_end(&line);
    }
    free(program);
    free(error);
    return code;
}

void cli_sites_notes(struct site_stacks *stacks, struct res_text *text)
{
    const struct conv_survey *survey = &stacks->sites->survey;
    site_table_notes(stacks, text);
    if (survey->live != CONV_LIVE_KNOWN)
        res_lines_printf(text, "live", "%s", cli_live_words(survey->live));
    else if (survey->pauses > 0) /* a process that ran before it was recorded has no mark of the pause */
        res_lines_printf(text, "live",
                         "what may have been allocated before it was recorded, or in pauses, is not known: "
                         "live bytes are lower bounds");
    if (survey->irregular[CONV_DAMAGED_BLOCKS] > 0)
        res_lines_printf(text, "damaged", "left out: damaged_blocks, up to %s calls (docs/order.md)",
                         FP_GROUPED(survey->irregular[CONV_DAMAGED_BLOCKS]));
    if (!survey->complete) {
        char *why = res_text_plain(survey->incomplete_why);
        res_lines_printf(text, "incomplete", "%s", why);
        free(why);
    }
}

void cli_sites_end(struct conv_sites *sites, struct site_stacks *stacks)
{
    site_stacks_release(stacks);
    conv_sites_release(sites);
}

/* ---- a recording that goes on --------------------------------------------------------------- */

#define ANSWER_NS UINT64_C(10000000000)

uint64_t cli_leaks_ask(const char *path)
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
