/* verb_info.c - `mallab info`: what a file holds, and whether it is complete. */
#include <stdio.h>
#include <string.h>

#include "cli/describe/describe.h"
#include "cli/verbs/verbs.h"
#include "convert/check/verify.h"
#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "footprint/base/words.h"
#include "results/measure/base/fields.h"

struct settings {
    struct cli_answer answer;
    struct conv_options convert;
    bool verify, details;
    const char *path;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is told"},
    {.row = &cli_answer_json, .at = AT(answer)},
    {.name = "details", .how = CLI_FLAG, .at = AT(details),
     .help = "all that is known: calls, sizes, live at the end, threads, processes, windows"},
    {.name = "verify", .how = CLI_FLAG, .at = AT(verify),
     .help = "prove it legal: read every block, execute every op of a workload on paper; 'legal', or what "
             "is wrong first"},
    {.row = &cli_answer_quiet, .at = AT(answer)},

    {.heading = "how FILE is read"},
    {.name = "from", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.from),
     .values = cli_select_format, .help = "what FILE is, one of 'mallab help convert' [found out]"},
    {.name = "salvage", .how = CLI_FLAG, .at = AT(convert.salvage),
     .help = "leave out damaged blocks, lines and records, and count them, instead of refusing the file"},
    {.row = &cli_answer_max_memory, .at = AT(answer)},

    {.heading = "say what 'mallab convert' with these would make of a recording or a trace"},
    {.group = cli_select, .at = AT(convert)},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands = {0};
    *ret_settings = (struct settings){0};
    const int code = cli_options_take(&CLI_INFO, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    if (ret_settings->verify && ret_settings->convert.salvage)
        return cli_misuse(&CLI_INFO, "--verify and --salvage contradict each other");
    if (ret_settings->verify && cli_select_any(&ret_settings->convert))
        return cli_misuse(&CLI_INFO, "--verify looks at all of a file: nothing can be selected");
    ret_settings->path = operands.words[0];
    return -1;
}

/* ---- --verify ---------------------------------------------------------------------------------- */

/* The counts of all that was checked. A new reference. */
static json_t *checked_json(const struct conv_verdict *verdict)
{
    json_t *object = json_object();
    if (verdict->kind == CONV_KIND_WORKLOAD || verdict->kind == CONV_KIND_TEXT) {
        cli_json_set(object, "ops", verdict->ops);
        cli_json_set(object, "windows", verdict->windows);
        cli_json_set(object, "threads", verdict->threads);
        cli_json_set(object, "allocations", verdict->allocations);
        cli_json_set(object, "waits", verdict->waits);
    } else {
        cli_json_set(object, "events", verdict->events);
        cli_json_set(object, "threads", verdict->threads);
        cli_json_set(object, "processes", verdict->processes);
        cli_json_set(object, "ordered_epochs", verdict->groups);
    }
    return object;
}

static json_t *violation_json(const struct conv_violation *violation)
{
    json_t *object = json_object();
    cli_json_set(object, "kind", conv_fault_name(violation->fault));
    cli_json_set(object, "what", res_json_text(violation->what));
    cli_json_set(object, "window", violation->has_window ? cli_json_number(violation->window) : json_null());
    cli_json_set(object, "op", violation->has_op ? cli_json_number(violation->op) : json_null());
    cli_json_set(object, "op_in_window",
                 violation->has_op ? cli_json_number(violation->op_in_window) : json_null());
    cli_json_set(object, "offset_bytes", violation->offset);
    cli_json_set(object, "line", cli_json_known(violation->line));
    return object;
}

/* "legal" and how much was looked at; else what is wrong, with its place. */
static void print_verdict(const struct conv_verdict *verdict)
{
    const bool legal = verdict->violation.fault == CONV_FAULT_NONE;
    json_t *object = legal ? checked_json(verdict) : violation_json(&verdict->violation), *value;
    char *file = res_text_plain(verdict->file), *lacks = res_text_plain(verdict->incomplete_why);
    const char *key;
    printf("%s%s\n", legal ? "legal" : "not legal: ", legal ? "" : verdict->violation.what);
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value) && strcmp(key, "what") != 0)
            printf("%-16s%s\n", key, json_string_value(value));
        else if (json_is_integer(value) && legal)
            printf("%-16s%s\n", key, FP_GROUPED(json_integer_value(value)));
        else if (json_is_integer(value)) /* a place, to be typed again */
            printf("%-16s%" JSON_INTEGER_FORMAT "\n", key, json_integer_value(value));
    }
    if (!legal)
        printf("%-16s%s\n", "file", file);
    else if (*lacks != '\0')
        printf("%-16sno: %s\n", "complete", lacks);
    json_decref(object);
    free(lacks);
    free(file);
}

/* A new reference. */
static json_t *verdict_json(const struct conv_verdict *verdict)
{
    const bool legal = verdict->violation.fault == CONV_FAULT_NONE;
    json_t *object = json_object(), *verify = json_object();
    cli_json_set(verify, "legal", legal);
    cli_json_set(verify, "incomplete_why", res_json_text(verdict->incomplete_why));
    cli_json_set(verify, "checked", checked_json(verdict));
    cli_json_set(verify, "violation", legal ? json_null() : violation_json(&verdict->violation));
    cli_json_set(object, "schema", "mallab-info/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "kind", conv_kind_name(verdict->kind));
    cli_json_set(object, "file", res_json_text(verdict->file));
    cli_json_set(object, "verify", verify);
    return object;
}

static int tell_survey(const struct settings *settings, struct conv_error *error)
{
    struct conv_survey survey = {0};
    struct cli_progress line;
    struct conv_options options = settings->convert;
    int code = CLI_DONE;
    cli_progress_of(&line, "read", settings->answer.quiet, &options);
    const enum fp_status status = conv_survey_file(settings->path, &options, &survey, error);
    cli_progress_end(&line);
    if (status != FP_OK)
        return cli_conv_failed(&CLI_INFO, error);
    if (cli_is_json(&settings->answer))
        code = cli_print_json(cli_survey_json(&survey));
    else
        cli_survey_print(&survey, settings->path, settings->details);
    conv_survey_release(&survey);
    return code;
}

/* ---- a group ---------------------------------------------------------------------------------- */

/* A line for each member. */
static int tell_group(const struct settings *settings, const struct cli_prepared *group,
                      struct conv_error *error)
{
    static const struct cli_column COLUMNS[] = {{"workload", "file", CLI_SHOWN_TEXT},
                                                {"ops", "ops", CLI_SHOWN_COUNT},
                                                {"threads", "threads", CLI_SHOWN_COUNT},
                                                {"live at most", "live_peak_bytes", CLI_SHOWN_BYTES},
                                                {0}};
    json_t *members = json_array();
    struct res_text text = {0};
    uint64_t ops = 0;
    int code = CLI_DONE;
    for (size_t i = 0; i < group->member_count && code == CLI_DONE; i++) {
        struct conv_survey survey = {0};
        if (conv_survey_file(group->members[i].path, &settings->convert, &survey, error) != FP_OK) {
            code = cli_conv_failed(&CLI_INFO, error);
            break;
        }
        ops += survey.ops;
        json_array_append_new(members, cli_survey_json(&survey));
        conv_survey_release(&survey);
    }
    if (code == CLI_DONE && cli_is_json(&settings->answer)) {
        code = cli_print_json(json_pack("{s:s, s:s, s:s, s:o, s:I, s:O}", "schema", "mallab-info/1",
                                        "mallab_version", MALLAB_VERSION, "kind", "group", "file",
                                        res_json_text(settings->path), "ops", (json_int_t)ops, "members",
                                        members));
    } else if (code == CLI_DONE) {
        char *file = res_text_plain(settings->path);
        res_text_printf(&text, "%-16s%s: a group of %zu workloads, %s ops\n", "file", file,
                        group->member_count, FP_GROUPED(ops));
        cli_table_add(&text, COLUMNS, members, SIZE_MAX);
        cli_put_own(text.text);
        free(file);
    }
    json_decref(members);
    return code;
}

static int tell_verdict(const struct settings *settings, struct conv_error *error)
{
    struct conv_verdict *verdict = res_calloc(1, sizeof *verdict);
    struct cli_progress line;
    struct conv_options options = settings->convert;
    int code = CLI_DONE;
    cli_progress_of(&line, "read", settings->answer.quiet, &options);
    const enum fp_status status = conv_verify_file(settings->path, &options, verdict, error);
    cli_progress_end(&line);
    if (status != FP_OK)
        code = cli_conv_failed(&CLI_INFO, error);
    else if (cli_is_json(&settings->answer))
        code = cli_print_json(verdict_json(verdict));
    else
        print_verdict(verdict);
    if (code == CLI_DONE && verdict->violation.fault != CONV_FAULT_NONE)
        code = CLI_UNREADABLE;
    free(verdict);
    return code;
}

static int tell_one(struct settings settings)
{
    const char *path = settings.path;
    int code;
    const enum conv_kind kind = settings.convert.from == NULL ? conv_detect(path) : CONV_KIND_UNKNOWN;
    if (kind == CONV_KIND_RESULT) {
        cli_say_result(&CLI_INFO, path);
        return CLI_UNREADABLE;
    }
    if (cli_select_any(&settings.convert) && (kind == CONV_KIND_WORKLOAD || kind == CONV_KIND_TEXT))
        return cli_misuse(&CLI_INFO, "'%s' is a %s: only of recordings and traces something can be selected",
                          path, conv_kind_name(kind));
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct cli_prepared group = {0};
    if (kind == CONV_KIND_UNKNOWN && settings.convert.from == NULL && !settings.verify &&
        cli_group_read(path, &group)) {
        settings.path = path = group.path; /* a single workload is none */
        code = group.member_count > 0 ? tell_group(&settings, &group, error) : tell_survey(&settings, error);
    } else
        code = settings.verify ? tell_verdict(&settings, error) : tell_survey(&settings, error);
    cli_prepared_release(&group);
    free(error);
    return code;
}

static int run_info(int argc, char **argv)
{
    struct settings settings;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    return tell_one(settings);
}

const struct cli_verb CLI_INFO = {
    .name = "info",
    .summary = "say what a recording or workload holds",
    .usage = "[OPTION...] FILE",
    .purpose = "Say what a footprint, a recording, a workload, a group of them or a trace holds, and "
               "whether it is complete.",
    .options = OPTIONS,
    .completes = ":files wl fp",
    .examples = "mallab info mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 FILE unreadable, damaged, too new, or not legal (--verify)",
    .operand = "file",
    .run = run_info,
};
