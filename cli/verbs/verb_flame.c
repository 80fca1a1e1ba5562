/* verb_flame.c - `mallab flame`: who allocates as a tree of calls: a page, pprof, folded stacks. */
#include <string.h>

#include "cli/verbs/verbs.h"
#include "footprint/base/words.h"
#include "sites/show/site_profile.h"

struct settings {
    struct cli_sites reading;
    int value;
    const char *other;
    bool with_lines;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is shown"},
    {.row = &cli_answer_output, .at = AT(reading.answer),
     .help = "a page for a browser (.html), a profile for 'go tool pprof' and others (.pb.gz), or folded stacks (.folded), by "
             "how its name ends [folded stacks, on standard output]"},
    {.row = &cli_answer_force, .at = AT(reading.answer), .help = "replace OUT when it exists"},
    {.name = "value", .argument = "VALUE", .how = CLI_CHOICE, .at = AT(value), .words = "live bytes count",
     .help = "live at the peak, bytes in all, or calls; page and profile have all and begin with it [live]"},
    {.name = "diff", .argument = "OTHER", .how = CLI_TEXT, .at = AT(other), .takes = "a recording",
     .help = "compare with this recording: the page colours what became more, a profile holds the differences, folded stacks "
             "have two numbers, OTHER's first"},
    {.name = "lines", .how = CLI_FLAG, .at = AT(with_lines),
     .help = "with files, lines and inlined functions, where there is debug information; takes longer"},
    {.row = &cli_answer_quiet, .at = AT(reading.answer)},
    {.heading = "names"},
    {.group = cli_site_names, .seldom = true, .at = AT(reading)},
    {.heading = "how RECORDING is read"},
    {.group = cli_site_reading, .at = AT(reading)},
    {0},
};
/* clang-format on */

enum form { FOLDED, PPROF, PAGE, NO_FORM };

static enum form form_of(const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0 || fp_has_ending(path, ".folded"))
        return FOLDED;
    return fp_has_ending(path, ".pb.gz") ? PPROF : fp_has_ending(path, ".html") ? PAGE : NO_FORM;
}

/* Takes the recording's sites into a profile that has none. Returns an exit code, told. */
static int read_profile(const struct settings *settings, const char *path, struct site_profile *ret_profile)
{
    struct cli_sites reading = settings->reading;
    struct res_texts notes = {0};
    struct site_stacks stacks;
    struct conv_sites sites;
    reading.path = path;
    const int code = cli_sites_read(&CLI_FLAME, &reading, &sites, &stacks);
    if (code != CLI_DONE)
        return code;
    site_profile_take(ret_profile, &stacks, settings->with_lines);
    site_profile_title(ret_profile, sites.survey.program);
    cli_sites_notes(&stacks, &notes);
    for (size_t i = 0; i < notes.count; i++)
        site_profile_note(ret_profile, notes.items[i]);
    res_texts_release(&notes);
    cli_sites_end(&sites, &stacks);
    return CLI_DONE;
}

static int write_profile(const struct settings *settings, const struct site_profile *profile)
{
    const struct cli_answer *answer = &settings->reading.answer;
    const enum form form = form_of(answer->output);
    const uint32_t shown = site_profile_find(profile, (enum site_value)settings->value, false);
    char *problem = NULL;
    size_t length = 0;
    char *text = form == PPROF  ? site_pprof(profile, shown, &length)
                 : form == PAGE ? site_flame_page(profile, shown)
                                : site_folded(profile, shown);
    if (text == NULL)
        problem = res_strdup("the profile is too large for pprof");
    else if (cli_output_write(answer->output != NULL ? answer->output : "-", answer->force, text,
                              form == PPROF ? length : strlen(text), &problem))
        problem = NULL;
    free(text);
    return problem == NULL ? CLI_DONE : cli_say_problem(&CLI_FLAME, problem);
}

static int run_flame(int argc, char **argv)
{
    struct settings settings = {.value = SITE_LIVE};
    struct site_profile profile = {0}, other = {0};
    struct cli_operands operands;
    int code = cli_options_take(&CLI_FLAME, argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    code = cli_answer_check(&CLI_FLAME, &settings.reading.answer);
    if (code == CLI_DONE && form_of(settings.reading.answer.output) == NO_FORM)
        return cli_misuse(&CLI_FLAME, "-o takes a name that ends in .html, .pb.gz or .folded, not '%s'",
                          settings.reading.answer.output);
    if (code == CLI_DONE)
        code = read_profile(&settings, operands.words[0], &profile);
    if (code == CLI_DONE && settings.other != NULL)
        code = read_profile(&settings, settings.other, &other);
    if (code == CLI_DONE) {
        site_profile_merge(&profile, &other);
        code = write_profile(&settings, &profile);
    }
    site_profile_release(&profile);
    site_profile_release(&other);
    return code;
}

const struct cli_verb CLI_FLAME = {
    .name = "flame",
    .summary = "draw who allocates: a page, pprof, folded stacks",
    .usage = "[OPTION...] [-o OUT] RECORDING",
    .purpose =
        "Draw the call stacks of a recording ('mallab record --sites') by what they allocate: as a page that "
        "needs no network, as a profile that pprof, speedscope and others read, or as folded stacks. "
        "Recursion is left out. Of interpreted programs these are the interpreter's functions.",
    .options = OPTIONS,
    .completes = ":files fp wl",
    .examples = "mallab flame -o web.html mallab-web.4242\n"
                "mallab flame --diff mallab-web.4100 -o change.html mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 RECORDING unreadable, damaged or without call stacks",
    .operand = "recording",
    .run = run_flame,
};
