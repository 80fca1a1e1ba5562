/* convert.c - `mallab convert`: thin over conv_file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/convert_each.h"
#include "cli/progress.h"
#include "cli/recover.h"
#include "cli/select.h"
#include "cli/workloads.h"
#include "convert/convert.h"
#include "results/support.h"

static const char HELP[] = "usage: mallab convert [OPTION...] INPUT\n"
                           "\n"
                           "Turn a footprint, a recording or another tool's trace into a workload, which is\n"
                           "what 'mallab replay' and 'mallab ab' execute; or any of these, and a workload,\n"
                           "into another format.\n"
                           "\n"
                           "INPUT is a footprint (.fp), a recording's directory, a workload (.wl, or text),\n"
                           "or another tool's trace. Traces and texts may be compressed (gzip, xz, bzip2,\n"
                           "zstd, zip); '-' reads one from stdin.\n"
                           "\n"
                           "  -o, --output OUT     where to; '-' for stdout [INPUT's name, new ending]\n"
                           "  -f, --force          replace OUT when it exists\n"
                           "      --from FORMAT    what INPUT is [found out from its content]:\n"
                           "@formats\n"
                           "      --to FORMAT      workload, text, csv, 2009, glibc-wl [workload]\n"
                           "      --no-inherited   begin a forked process without its parent's objects, and\n"
                           "                       a window without those of earlier ones\n"
                           "      --salvage        leave out damaged blocks, lines and records, and count\n"
                           "                       them, instead of refusing the file\n"
                           "      --each[=LIST]    every process of a recording, or those of LIST as for\n"
                           "                       --merge, into a workload of its own; OUT is a directory\n"
                           "  -j, --jobs N         with --each, so many at a time [as there are processors]\n"
                           "      --json           print the report as JSON on stdout\n"
                           "  -q, --quiet          no summary; what was repaired or lost is still told\n"
                           "      --no-progress    no progress on stderr\n"
                           "  -h, --help           print this help\n"
                           "\n"
                           "choose what is converted; these act in this order\n" CLI_SELECT_HELP "\n"
                           "example: mallab convert -o web.wl mallab-web.4242\n"
                           "         mallab convert --to csv -o - web.wl | gzip >web.csv.gz\n"
                           "exit codes: 0 done, 1 failed, 2 misuse, 3 INPUT unreadable, damaged or too new\n";

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_NO_INHERITED,
    OPTION_SALVAGE,
    OPTION_EACH,
    OPTION_JSON,
    OPTION_NO_PROGRESS,
};

#define JOBS_MAX 1024u

#define RATE_SHOWN_MIN     1e4 /* events a second: below, 0.00 M would be told of what is but short */
#define SAMPLE_OBJECTS_MIN 100 /* fewer at the peak say nothing of the whole's */

struct settings {
    struct conv_options convert;
    const char *output;
    const char *each; /* --each's list; NULL: one workload */
    unsigned jobs;    /* 0: as there are processors */
    bool quiet, help, json, no_progress;
};

static void remove_half_file(int signal_number)
{
    const char *temporary = conv_output_temporary();
    if (temporary != NULL)
        unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void show_progress(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "convert", "events", events, done, total);
}

/* The export format of a name; NULL: the default. */
static bool find_format(const char *name, struct conv_export_facts *ret_facts)
{
    for (size_t i = 0; conv_export_facts(i, ret_facts); i++)
        if (name == NULL || strcmp(name, ret_facts->name) == 0)
            return true;
    return false;
}

static int take_jobs(const char *text, struct settings *settings)
{
    uint64_t jobs;
    if (!cli_parse_count(text, 1, JOBS_MAX, &jobs))
        return cli_misuse(&CLI_CONVERT, "--jobs takes a number from 1 to %u, not '%s'", JOBS_MAX, text);
    settings->jobs = (unsigned)jobs;
    return -1;
}

/* --each makes several outputs of a recording, each of one process. */
static int check_each(const struct settings *settings)
{
    if (settings->each == NULL)
        return settings->jobs == 0 ? -1 : cli_misuse(&CLI_CONVERT, "--jobs is for --each");
    if (conv_process_asked(&settings->convert) || settings->convert.select.merge != NULL)
        return cli_misuse(&CLI_CONVERT,
                          "--each makes a workload of each process, --process and --merge make one: "
                          "choose one of them");
    if (settings->output != NULL && strcmp(settings->output, "-") == 0)
        return cli_misuse(&CLI_CONVERT, "--each makes several files: name a directory with -o");
    return -1;
}

static int take_option(int option, char **argv, struct settings *settings)
{
    struct conv_export_facts facts;
    char names[128];
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(&CLI_CONVERT, option, optarg, &settings->convert);
    switch (option) {
    case 'o':
        settings->output = optarg;
        if (*optarg == '\0')
            return cli_misuse(&CLI_CONVERT, "-o takes a name, or - for stdout");
        break;
    case 'f':
        settings->convert.overwrite = true;
        break;
    case 'q':
        settings->quiet = true;
        break;
    case 'h':
        settings->help = true;
        break;
    case OPTION_FROM:
        return cli_take_from(&CLI_CONVERT, optarg, &settings->convert.from);
    case OPTION_TO:
        settings->convert.to = optarg;
        if (!find_format(optarg, &facts))
            return cli_misuse(&CLI_CONVERT, "--to takes one of %s, not '%s'",
                              conv_export_names(names, sizeof names), optarg);
        break;
    case OPTION_NO_INHERITED:
        settings->convert.no_inherited = true;
        break;
    case OPTION_SALVAGE:
        settings->convert.salvage = true;
        break;
    case OPTION_EACH:
        settings->each = optarg != NULL ? optarg : "";
        break;
    case 'j':
        return take_jobs(optarg, settings);
    case OPTION_JSON:
        settings->json = true;
        break;
    case OPTION_NO_PROGRESS:
        settings->no_progress = true;
        break;
    default:
        return cli_option_refused(&CLI_CONVERT, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"from", required_argument, NULL, OPTION_FROM},
        {"to", required_argument, NULL, OPTION_TO},
        CLI_SELECT_OPTIONS,
        {"no-inherited", no_argument, NULL, OPTION_NO_INHERITED},
        {"salvage", no_argument, NULL, OPTION_SALVAGE},
        {"each", optional_argument, NULL, OPTION_EACH},
        {"jobs", required_argument, NULL, 'j'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"quiet", no_argument, NULL, 'q'},
        {"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, ":o:fqj:h", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (ret_settings->help)
        return -1;
    if (argc - optind != 1)
        return cli_misuse(&CLI_CONVERT, optind >= argc ? "no input" : "one input at a time");
    if (ret_settings->output == NULL && strcmp(argv[optind], "-") == 0)
        return cli_misuse(&CLI_CONVERT, "reading from stdin, name the output with -o");
    if (ret_settings->json && ret_settings->output != NULL && strcmp(ret_settings->output, "-") == 0)
        return cli_misuse(&CLI_CONVERT, "the output and --json cannot both go to stdout");
    const int code = check_each(ret_settings);
    return code >= 0 ? code : cli_select_check(&CLI_CONVERT, &ret_settings->convert);
}

static double scaled(const struct conv_selected *selected, uint64_t figure)
{
    return (double)figure * selected->sample_of / selected->sample_part;
}

/* What a sample makes of the figures, and of what it says nothing. */
static void tell_sample(const struct cli_verb *verb, const struct conv_survey *survey)
{
    const struct conv_selected *selected = &survey->selected;
    char ops[32], all[32], live[32], up[32], whole[32];
    cli_say(verb, "sampled %u/%u: %s of %s ops; live peak %s, scaled up %s, of the whole %s",
            selected->sample_part, selected->sample_of, res_text_grouped(survey->ops, ops),
            res_text_grouped(selected->all_ops, all), res_text_bytes((double)survey->live_bytes_peak, live),
            res_text_bytes(scaled(selected, survey->live_bytes_peak), up),
            res_text_bytes((double)selected->all_live_bytes_peak, whole));
    cli_say(verb,
            "a sample keeps sizes and lifetimes; contention, locality and what an allocator keeps per thread "
            "are not those of the whole");
    if (survey->live_objects_peak < SAMPLE_OBJECTS_MIN)
        cli_say(
            verb,
            "the sample has %s object%s alive at most: too few for figures that stand for the whole; take a "
            "larger share",
            res_text_grouped(survey->live_objects_peak, ops), survey->live_objects_peak == 1 ? "" : "s");
}

static void tell_selection(const struct cli_verb *verb, const struct conv_survey *survey, bool quiet)
{
    char digits[32];
    const uint64_t foreign = survey->irregular[CONV_FOREIGN_CALLS];
    const uint64_t others = survey->irregular[CONV_RELEASED_BY_OTHERS];
    if (quiet)
        return;
    if (survey->selected.text[0] != '\0')
        cli_say(verb, "selected: %s", survey->selected.text);
    if (foreign > 0)
        cli_say(verb, "%s releases by the selected threads of objects of others are left out",
                res_text_grouped(foreign, digits));
    if (others > 0)
        cli_say(verb, "%s objects that other threads released or resized are released by the selected ones",
                res_text_grouped(others, digits));
    if (survey->selected.sample_of > 0)
        tell_sample(verb, survey);
}

/* Programs that one process was, one after the other (exec), have one process id: they are chosen by their footprints. */
static void tell_choice(const struct cli_verb *verb, const struct conv_survey *survey, const char *kind)
{
    const struct conv_process *chosen = NULL, *other = NULL;
    char *name = res_text_plain(survey->program);
    const char *quote = name[0] != '\0' ? "'" : "";
    for (size_t i = 0; i < survey->process_count; i++)
        if (survey->processes[i].chosen)
            chosen = &survey->processes[i];
    for (size_t i = 0; chosen != NULL && i < survey->process_count; i++)
        if (&survey->processes[i] != chosen && survey->processes[i].process_id == chosen->process_id &&
            survey->processes[i].file != NULL)
            other = &survey->processes[i];
    cli_say(verb, "the %s holds %zu processes; converted: process %u%s%s%s%s (--process chooses another)",
            kind, survey->process_count, survey->process_id, name[0] != '\0' ? ", " : "", quote, name, quote);
    if (other != NULL) {
        char *this_file = res_text_plain(chosen->file), *other_file = res_text_plain(other->file);
        cli_say(verb,
                "process %u became another program by exec: converted is '%s' (--process %s chooses another)",
                survey->process_id, this_file, other_file);
        free(this_file);
        free(other_file);
    }
    free(name);
}

static void tell_missing(const struct cli_verb *verb, const struct conv_survey *survey)
{
    size_t missing = 0, first = 0;
    for (size_t i = survey->process_count; i-- > 0;)
        if (survey->processes[i].missing) {
            missing++;
            first = i;
        }
    if (missing == 0)
        return;
    char *file = res_text_plain(survey->processes[first].file);
    cli_say(verb, "the recording is not whole: footprint '%s'%s missing", file,
            missing > 1 ? " and others are" : " is");
    free(file);
}

/* How it went, in one line, and a line for what casts doubt on the recording. */
static void summarize(const struct cli_verb *verb, const struct conv_report *report, const char *output,
                      bool by_file, bool quiet)
{
    const struct conv_survey *survey = &report->survey;
    char ops[32], threads[32], span[32], speed[32] = "";
    const double seconds = (double)report->elapsed_ns / 1e9;
    /* What other tools wrote is no recording of ours. */
    const char *kind = conv_trace_title(survey->kind) != NULL ? "trace" : "recording";
    const double rate = seconds > 0 ? (double)survey->events / seconds : 0;
    if (rate >= RATE_SHOWN_MIN)
        snprintf(speed, sizeof speed, " (%.2f M events/s)", rate / 1e6);
    if (!quiet)
        cli_say(verb, "%s op%s of %s thread%s, %.2f bytes each, written to %s in %s%s",
                res_text_grouped(survey->ops, ops), survey->ops == 1 ? "" : "s",
                res_text_grouped(survey->threads, threads), survey->threads == 1 ? "" : "s",
                survey->ops > 0 ? (double)report->bytes_out / (double)survey->ops : 0.0,
                strcmp(output, "-") == 0 ? "stdout" : output,
                res_text_duration((double)report->elapsed_ns, span), speed);
    if (survey->ops == 0)
        cli_say(verb, "'%s' holds no calls: there is nothing to replay", output);
    for (size_t i = 0; i < report->lack_count; i++)
        cli_say(verb, "%s cannot hold %s", report->format, report->lacks[i]);
    tell_selection(verb, survey, quiet);
    if (survey->process_count > 1 && survey->selected.merged_processes == 0 && !by_file)
        tell_choice(verb, survey, kind);
    tell_missing(verb, survey);
    if (survey->lacks[0] != '\0' && !quiet)
        cli_say(verb, "what %s does not tell: %s (docs/importing.md)", conv_kind_name(survey->kind),
                survey->lacks);
    if (survey->inherited_objects > 0 && !quiet)
        cli_say(verb,
                "it begins with %s object%s that %s alive before: its parent's, of earlier windows, or made "
                "before the section (%s)",
                res_text_grouped(survey->inherited_objects, ops), survey->inherited_objects == 1 ? "" : "s",
                survey->inherited_objects == 1 ? "was" : "were",
                res_text_bytes((double)survey->inherited_bytes, span));
    if (survey->inherited_why[0] != '\0')
        cli_say(verb, "not all that process %u inherited is known: %s", survey->process_id,
                survey->inherited_why);
    if (survey->unfinished_why[0] != '\0')
        cli_say(verb, "the recording is not finished, and taken as far as it is written: %s",
                survey->unfinished_why);
    if (!survey->complete && strcmp(survey->incomplete_why, survey->unfinished_why) != 0)
        cli_say(verb, "the %s is not whole: %s", kind, survey->incomplete_why);
    if (survey->irregular[CONV_UNRECORDED_OBJECTS] > 0)
        cli_say(verb,
                "left out: unrecorded_objects, %s calls on objects that were made while nothing was recorded",
                res_text_grouped(survey->irregular[CONV_UNRECORDED_OBJECTS], ops));
    if (survey->irregular[CONV_UNRECORDED_FREES] > 0)
        cli_say(verb,
                "put in: unrecorded_frees, of %s objects that were released while nothing was recorded, when "
                "their "
                "addresses came again",
                res_text_grouped(survey->irregular[CONV_UNRECORDED_FREES], ops));
    if (survey->irregular[CONV_DAMAGED_BLOCKS] > 0)
        cli_say(verb, "left out: damaged_blocks, up to %s calls (docs/irregularities.md)",
                res_text_grouped(survey->irregular[CONV_DAMAGED_BLOCKS], ops));
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        if (survey->irregular[i] > 0 && conv_irregularity_is_defect(i) && i != CONV_DAMAGED_BLOCKS)
            cli_say(verb, "%s: %s, %s time%s (docs/irregularities.md)",
                    conv_irregularity_is_loss(i) ? "left out" : "repaired", conv_irregularity_name(i),
                    res_text_grouped(survey->irregular[i], ops), survey->irregular[i] == 1 ? "" : "s");
    }
}

static json_t *export_json(const struct conv_report *report)
{
    json_t *object = json_object();
    json_t *lacks = json_array();
    for (size_t i = 0; i < report->lack_count; i++)
        json_array_append_new(lacks, json_string(report->lacks[i]));
    json_object_set_new(object, "format", json_string(report->format));
    json_object_set_new(object, "lacks", lacks);
    return object;
}

static int print_report(const struct conv_report *report, const char *output)
{
    json_t *object = cli_survey_json(&report->survey);
    json_object_set_new(object, "schema", json_string("mallab-convert/1"));
    json_object_set_new(object, "output", json_string(output));
    json_object_set_new(object, "output_bytes", json_integer((json_int_t)report->bytes_out));
    json_object_set_new(object, "elapsed_ns", json_integer((json_int_t)report->elapsed_ns));
    json_object_set_new(object, "export", export_json(report));
    return cli_print_json(object);
}

int cli_convert_file(const struct cli_verb *verb, const char *input, const char *output,
                     const struct conv_options *options, bool quiet, bool progress, bool json)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
    struct cli_progress line;
    struct conv_options with_progress = *options;
    struct conv_report report = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct sigaction saved[sizeof numbers / sizeof numbers[0]];
    const struct sigaction action = {.sa_handler = remove_half_file};
    char text[CONV_PATH_BYTES + 512];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], NULL, &saved[i]);
        if (saved[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    cli_progress_begin(&line, progress ? CLI_PROGRESS_AUTO : CLI_PROGRESS_NEVER);
    with_progress.progress = show_progress;
    with_progress.progress_data = &line;
    const enum fp_status status = conv_file(input, output, &with_progress, &report, error);
    cli_progress_end(&line);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &saved[i], NULL);
    int code = CLI_DONE;
    if (status != FP_OK) {
        cli_say(verb, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else {
        summarize(verb, &report, output, options->process_file != NULL, quiet);
        if (json)
            code = print_report(&report, output);
        conv_report_release(&report);
    }
    free(error);
    return code;
}

char *cli_workload_name(const char *input)
{
    return cli_output_name(input, ".wl");
}

/* "dir/web.fp" and "trace.txt.gz" beside themselves, a recording's directory by its own name. */
char *cli_output_name(const char *input, const char *new_ending)
{
    static const char *const endings[] = {".gz",    ".xz",  ".bz2", ".zst", ".zip", ".fp", ".txt",
                                          ".trace", ".rep", ".ops", ".log", ".raw", ".wl"};
    char *name = res_strdup(input);
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        name[--length] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0 &&
            name[length - ending - 1] != '/') {
            length -= ending;
            name[length] = '\0';
        }
    }
    char *output = res_printf("%s%s", strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "recording" : name,
                              new_ending);
    free(name);
    return output;
}

/* Of what is not there, or cannot be looked at, the recording's reader says why. */
static bool is_no_directory(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") == 0 || (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode));
}

static int run_each(const char *input, const char *ending, const struct settings *settings)
{
    char *named = settings->output == NULL ? cli_output_name(input, "-workloads") : NULL;
    const struct cli_each each = {
        .input = input,
        .directory = named != NULL ? named : settings->output,
        .list = settings->each,
        .ending = ending,
        .jobs = settings->jobs,
        .options = &settings->convert,
        .quiet = settings->quiet,
        .progress = !settings->no_progress,
        .json = settings->json,
    };
    int code;
    if (conv_detect(input) != CONV_KIND_RECORDING && is_no_directory(input))
        code = cli_misuse(&CLI_CONVERT,
                          "'%s' is no recording's directory: --each is for the processes of one", input);
    else {
        (void)cli_recover(&CLI_CONVERT, input);
        code = cli_convert_each(&CLI_CONVERT, &each);
    }
    free(named);
    return code;
}

static int run_convert(int argc, char **argv)
{
    struct settings settings = {0};
    const int misuse = take_options(argc, argv, &settings);
    if (misuse >= 0)
        return misuse;
    if (settings.help) {
        cli_print_help(&CLI_CONVERT);
        return CLI_DONE;
    }
    const char *input = argv[optind];
    struct conv_export_facts format;
    (void)find_format(settings.convert.to, &format); /* the options were checked */
    if (settings.each != NULL)
        return run_each(input, format.ending, &settings);
    char *named = settings.output == NULL ? cli_output_name(input, format.ending) : NULL;
    const char *output = named != NULL ? named : settings.output;
    char *problem = NULL;
    int code = CLI_FAILED;
    (void)cli_recover(&CLI_CONVERT, input);
    if (cli_output_check(output, settings.convert.overwrite, &problem))
        code = cli_convert_file(&CLI_CONVERT, input, output, &settings.convert, settings.quiet,
                                !settings.no_progress, settings.json);
    else
        cli_say(&CLI_CONVERT, "%s", problem);
    free(problem);
    free(named);
    return code;
}

const struct cli_verb CLI_CONVERT = {
    .name = "convert",
    .summary = "turn a recording or another tool's trace into a workload",
    .help = HELP,
    .run = run_convert,
};
