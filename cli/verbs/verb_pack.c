/* verb_pack.c - `mallab pack`: recordings, or only their workloads, checked and put into one file that travels. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/json_bounds.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/group_workload.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "convert/check/verify.h"
#include "convert/open/input.h"
#include "convert/pack/pack_write.h"
#include "convert/recording/group.h"
#include "convert/recording/parts.h"
#include "convert/recording/recording.h"
#include "convert/recording/recording_json.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "footprint/wl/workload.h"
#include "record/collector.h"

#define NAME_BYTES 180u /* of an item and of its files; a number and an ending follow */

struct settings {
    struct cli_answer answer;
    bool workload;
    char **inputs;
    int count;
};

/* What becomes an item of the pack. */
struct item {
    const char *input;
    bool is_recording; /* else workloads: as given, or made of it */
    struct cli_prepared prepared;
    char label[FP_LABEL_BYTES], program[256], why[256]; /* why it is not complete; "": it is */
    char *place;                                        /* LABEL/NAME */
    size_t file_count;
};

struct packing {
    const struct settings *settings;
    struct item *items;
    size_t count;
    struct conv_pack_file *files; /* of all items; their strings are its own */
    size_t file_count;
    bool has_sites; /* a workload with call stacks */
};

/* clang-format off */
#define AT(member) offsetof(struct settings, member)
static const struct cli_option OPTIONS[] = {
    {.heading = "what is packed"},
    {.name = "workload", .how = CLI_FLAG, .at = AT(workload),
     .help = "only the workloads, converted here: sizes, times, the program's name; no addresses, paths or call stacks"},
    {.group = cli_answer_max_memory, .at = AT(answer)},

    {.heading = "where to"},
    {.group = cli_answer_output, .at = AT(answer),
     .help = "the pack, a directory to put it into, or '-' for stdout [LABEL-PROGRAM-DIGEST.tar.zst]"},
    {.group = cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},

    {.heading = "messages"},
    {.group = cli_answer_json, .at = AT(answer), .help = "print what was packed as JSON"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer), .help = "no summary, no progress; what is not whole is still told"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    const int code = cli_options_take(&CLI_PACK, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    if (operands.count == 0)
        return cli_misuse(&CLI_PACK, "no recording");
    ret_settings->inputs = operands.words;
    ret_settings->count = operands.count;
    const char *output = ret_settings->answer.output;
    if (ret_settings->answer.json && output != NULL && strcmp(output, "-") == 0)
        return cli_misuse(&CLI_PACK, "the pack and --json cannot both go to stdout");
    return -1;
}

/* ---- checked --------------------------------------------------------------------------------- */

struct checking {
    const char *path;
    enum cli_progress_when progress;
};

static void show_check(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "check", "events", events, done, total);
}

/* In a child, which a Ctrl-C ends: we have a directory to remove. */
static int check(void *data)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = SIG_DFL};
    const struct checking *checking = data;
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_verdict *verdict = res_calloc(1, sizeof *verdict);
    struct cli_progress line;
    const struct conv_options options = {.progress = show_check, .progress_data = &line};
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, NULL);
    cli_progress_begin(&line, checking->progress);
    const enum fp_status status = conv_verify_file(checking->path, &options, verdict, error);
    cli_progress_end(&line);
    if (status != FP_OK)
        return cli_conv_failed(&CLI_PACK, error);
    if (verdict->violation.fault == CONV_FAULT_NONE)
        return CLI_DONE;
    cli_say(&CLI_PACK, "'%s' is damaged: %s; 'mallab info --salvage' shows what can be saved", verdict->file,
            verdict->violation.what);
    return CLI_UNREADABLE;
}

static int check_in_child(const struct settings *settings, const char *path)
{
    struct checking checking = {path, settings->answer.progress};
    const struct fp_process_plan plan = {.body = check, .data = &checking, .dies_with_us = true};
    int status;
    const int error = fp_process_run(&plan, &status);
    if (error != 0)
        cli_say(&CLI_PACK, "cannot check '%s': no process: %s", path, strerror(error));
    else if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    else
        cli_say(&CLI_PACK, "the check of '%s' was ended by signal %d: nothing is packed", path,
                WTERMSIG(status));
    return CLI_FAILED;
}

/* ---- items ----------------------------------------------------------------------------------- */

/* What any name becomes in a pack: letters, digits and a few marks, none of which leads. */
static void plain_name(const char *name, char ret_name[NAME_BYTES])
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    size_t length = 0;
    for (; name[length] != '\0' && length + 1 < NAME_BYTES; length++) {
        const bool leads = length == 0 && (*name == '.' || *name == '-' || *name == '+');
        ret_name[length] = strchr(ALLOWED, name[length]) != NULL && !leads ? name[length] : '_';
    }
    ret_name[length] = '\0';
    if (length == 0)
        strcpy(ret_name, "recording");
}

static bool is_taken(const struct packing *packing, const char *place)
{
    for (size_t i = 0; i < packing->count; i++)
        if (packing->items[i].place != NULL && strcmp(packing->items[i].place, place) == 0)
            return true;
    return false;
}

/* LABEL/NAME, and a number behind it where that is another item's. */
static void give_place(const struct packing *packing, struct item *item, const char *path)
{
    const char *label = item->label[0] != '\0' ? item->label : CONV_PACK_NO_LABEL;
    char *resolved = realpath(path, NULL), name[NAME_BYTES];
    char *whole = cli_output_name(resolved != NULL ? resolved : path, "");
    plain_name(conv_path_name(whole), name);
    char *place = res_printf("%s/%s", label, name);
    for (unsigned number = 2; is_taken(packing, place); number++) {
        free(place);
        place = res_printf("%s/%s-%u", label, name, number);
    }
    item->place = place;
    free(whole);
    free(resolved);
}

/* Takes over both. */
static void add_file(struct packing *packing, struct item *item, char *path, char *place)
{
    packing->files = res_realloc(packing->files, packing->file_count + 1, sizeof *packing->files);
    packing->files[packing->file_count++] = (struct conv_pack_file){path, place};
    item->file_count++;
}

static int is_of_recording(const struct dirent *entry)
{
    return strcmp(entry->d_name, "recording.json") == 0 || conv_is_footprint(entry);
}

static int add_recording_files(struct packing *packing, struct item *item, const char *directory)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_of_recording, alphasort);
    if (count < 0) {
        cli_say(&CLI_PACK, "cannot read '%s': %s", directory, strerror(errno));
        return CLI_UNREADABLE;
    }
    for (int i = 0; i < count; i++) {
        add_file(packing, item, res_path_join(directory, entries[i]->d_name),
                 res_path_join(item->place, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    return CLI_DONE;
}

/* What a recording says of itself, without its events. */
static int take_recording(struct packing *packing, struct item *item)
{
    struct conv_survey survey = {0};
    struct conv_choice choice = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    char directory[CONV_PATH_BYTES];
    int code = CLI_DONE;
    (void)rec_recover(CLI_PACK.name, item->input);
    conv_recording_directory(item->input, directory);
    if (conv_recording_list(item->input, &survey, error) != FP_OK) {
        code = cli_conv_failed(&CLI_PACK, error);
    } else if (survey.recording_state == CONV_RECORDING_GOING_ON) {
        cli_say(&CLI_PACK, "'%s' is still being recorded: 'mallab record --control %s --end' finishes it",
                item->input, item->input);
        code = CLI_FAILED;
    } else {
        conv_recording_judge(&survey, false);
        memcpy(item->label, survey.label, sizeof item->label);
        conv_group_default(&survey, true, &choice);
        snprintf(item->program, sizeof item->program, "%s", choice.lead != NULL ? choice.lead->name : "");
        snprintf(item->why, sizeof item->why, "%s",
                 survey.unfinished_why[0] != '\0' ? survey.unfinished_why : survey.incomplete_why);
        give_place(packing, item, directory);
        code = check_in_child(packing->settings, item->input);
    }
    conv_survey_release(&survey);
    free(error);
    return code == CLI_DONE ? add_recording_files(packing, item, directory) : code;
}

/* Returns false where the file does not open, which its check tells. */
static bool note_sites(const char *path, struct packing *packing)
{
    struct fp_error error;
    struct wl_reader *reader;
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return false;
    packing->has_sites |= wl_reader_site_end(reader) != 0;
    wl_reader_close(reader);
    return true;
}

/* One file, or a directory of a group's. */
static int add_workload_files(struct packing *packing, struct item *item)
{
    const struct cli_prepared *prepared = &item->prepared;
    for (size_t i = 0; i < prepared->member_count || i == 0; i++) {
        const bool is_member = prepared->member_count > 0;
        const char *path = is_member ? prepared->members[i].path : prepared->path;
        char name[NAME_BYTES];
        const int code = check_in_child(packing->settings, path);
        if (code != CLI_DONE)
            return code;
        (void)note_sites(path, packing); /* it was just read */
        plain_name(is_member ? prepared->members[i].name : "", name);
        add_file(packing, item, res_strdup(path),
                 is_member ? res_printf("%s/%.*s.wl", item->place, (int)(strlen(name) - 3), name)
                           : res_printf("%s.wl", item->place));
    }
    return CLI_DONE;
}

static int take_workload(struct packing *packing, struct item *item, size_t number)
{
    static const struct conv_options NO_SITES = {.no_sites = true};
    const struct settings *settings = packing->settings;
    const struct cli_prepare prepare = {.directory = cli_temporary_directory(&CLI_PACK),
                                        .convert = &NO_SITES,
                                        .quiet = true,
                                        .progress = settings->answer.progress};
    struct res_workload facts;
    if (prepare.directory == NULL)
        return CLI_FAILED;
    int code = cli_workload_prepare(&CLI_PACK, &prepare, item->input, number, &item->prepared);
    if (code == CLI_DONE)
        code = cli_prepared_facts(&CLI_PACK, &item->prepared, item->input, &facts);
    if (code != CLI_DONE)
        return code;
    memcpy(item->label, facts.label, sizeof item->label);
    snprintf(item->program, sizeof item->program, "%s", facts.program);
    if (!facts.complete)
        snprintf(item->why, sizeof item->why, "%s", facts.incomplete_why);
    give_place(packing, item, item->input);
    return add_workload_files(packing, item);
}

static int take_item(struct packing *packing, const char *input)
{
    const enum conv_kind kind = conv_detect(input);
    struct cli_prepared group = {0};
    struct item *item = &packing->items[packing->count++];
    *item = (struct item){.input = input, .is_recording = kind == CONV_KIND_RECORDING};
    const bool is_group = kind == CONV_KIND_UNKNOWN && cli_group_read(input, &group);
    cli_prepared_release(&group);
    if (!item->is_recording && kind != CONV_KIND_WORKLOAD && !is_group) {
        cli_say(&CLI_PACK, "'%s' is no recording's directory and no workload", input);
        return CLI_UNREADABLE;
    }
    if (packing->settings->workload && item->is_recording)
        item->is_recording = false;
    const int code = item->is_recording ? take_recording(packing, item)
                                        : take_workload(packing, item, packing->count - 1);
    if (code == CLI_DONE && item->why[0] != '\0')
        cli_say(&CLI_PACK, "'%s' is not whole: %s; it is packed as it is", input, item->why);
    return code;
}

/* ---- the pack -------------------------------------------------------------------------------- */

/* What all items have in common; else the other word. */
static const char *common(const struct packing *packing, size_t offset, const char *otherwise)
{
    const char *first = (const char *)&packing->items[0] + offset;
    for (size_t i = 1; i < packing->count; i++)
        if (strcmp((const char *)&packing->items[i] + offset, first) != 0)
            return otherwise;
    return first;
}

/* DIR/LABEL-PROGRAM-@.tar.zst, or what was asked for. The caller's to free. */
static char *output_name(const struct packing *packing, bool *ret_named)
{
    const char *output = packing->settings->answer.output;
    const size_t length = output != NULL ? strlen(output) : 0;
    const bool in_directory = length > 0 && (output[length - 1] == '/' || cli_is_directory(output));
    char label[NAME_BYTES], program[NAME_BYTES];
    *ret_named = output == NULL || in_directory;
    if (!*ret_named)
        return res_strdup(output);
    const char *host = common(packing, offsetof(struct item, label), "fleet");
    plain_name(host, label);
    plain_name(common(packing, offsetof(struct item, program), "programs"), program);
    return res_printf("%s%s%s%s%s-%c" CONV_PACK_ENDING, in_directory ? output : "",
                      in_directory && output[length - 1] != '/' ? "/" : "", *host != '\0' ? label : "",
                      *host != '\0' ? "-" : "", program, CONV_PACK_DIGEST);
}

static bool go_on(void *data, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "pack", NULL, 0, done, total);
    return cli_stopped_by == 0;
}

static json_t *report_json(const struct packing *packing, const struct conv_packed *packed)
{
    json_t *object = json_object(), *items = json_array();
    char digest[24];
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)packed->digest);
    cli_json_set(object, "schema", "mallab-pack/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "file", packed->path);
    cli_json_set(object, "file_bytes", packed->bytes);
    cli_json_set(object, "digest", digest);
    cli_json_set(object, "unpacked_bytes", packed->bytes_in);
    for (size_t i = 0; i < packing->count; i++) {
        const struct item *item = &packing->items[i];
        json_t *one = json_object();
        cli_json_set(one, "kind", item->is_recording ? "recording" : "workload");
        cli_json_set(one, "name", item->place);
        cli_json_set(one, "label", (const char *)item->label);
        cli_json_set(one, "program", (const char *)item->program);
        cli_json_set(one, "files", (uint64_t)item->file_count);
        cli_json_set(one, "complete", (bool)(item->why[0] == '\0'));
        cli_json_set(one, "incomplete_why", (const char *)item->why);
        json_array_append_new(items, one);
    }
    cli_json_set(object, "items", items);
    return object;
}

static void tell(const struct packing *packing, const struct conv_packed *packed)
{
    size_t recordings = 0;
    for (size_t i = 0; i < packing->count; i++)
        recordings += packing->items[i].is_recording;
    cli_say(&CLI_PACK, "%s: %s, of %zu %s%s, %s unpacked", packed->path, FP_BYTES((double)packed->bytes),
            packing->count,
            recordings == packing->count ? "recording"
            : recordings == 0            ? "workload"
                                         : "recordings and workload",
            packing->count == 1 ? "" : "s", FP_BYTES((double)packed->bytes_in));
    cli_say(&CLI_PACK, "it tells %s%s",
            recordings > 0
                ? "sizes, times, addresses of objects, paths of the programs, and the kernel's version"
                : "sizes, times, thread ids and the programs' names; no addresses, no paths",
            recordings > 0       ? "; --workload leaves addresses and paths out"
            : packing->has_sites ? ", but call stacks of a workload that was given with them"
                                 : "");
}

static int write_pack(const struct packing *packing)
{
    const struct cli_answer *answer = &packing->settings->answer;
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_packed packed = {0};
    struct cli_progress line;
    bool named;
    int code = CLI_DONE;
    char *path = output_name(packing, &named);
    const struct conv_pack_watch watch = {go_on, &line};
    cli_progress_begin(&line, answer->progress);
    const enum fp_status status = conv_pack_write(packing->files, packing->file_count, path, named,
                                                  answer->force, &watch, &packed, error);
    cli_progress_end(&line);
    if (status != FP_OK && cli_stopped_by == 0)
        code = cli_conv_failed(&CLI_PACK, error);
    else if (status != FP_OK)
        code = CLI_FAILED;
    if (status == FP_OK && !answer->quiet)
        tell(packing, &packed);
    if (status == FP_OK && answer->json)
        code = cli_print_json(report_json(packing, &packed));
    free(packed.path);
    free(path);
    free(error);
    return code;
}

static void release(struct packing *packing)
{
    for (size_t i = 0; i < packing->count; i++) {
        cli_prepared_release(&packing->items[i].prepared);
        free(packing->items[i].place);
    }
    for (size_t i = 0; i < packing->file_count; i++) {
        free((void *)(uintptr_t)packing->files[i].path); /* ours; const for those who borrow it */
        free((void *)(uintptr_t)packing->files[i].place);
    }
    free(packing->items);
    free(packing->files);
}

static int run_pack(int argc, char **argv)
{
    struct settings settings;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    const char *output = settings.answer.output;
    if (output != NULL && !cli_is_directory(output))
        code = cli_answer_check(&CLI_PACK, &settings.answer);
    struct packing packing = {.settings = &settings,
                              .items = res_calloc((size_t)settings.count, sizeof *packing.items)};
    cli_stops_take();
    if (code < 0)
        code = CLI_DONE;
    for (int i = 0; i < settings.count && code == CLI_DONE && cli_stopped_by == 0; i++)
        code = take_item(&packing, settings.inputs[i]);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = write_pack(&packing);
    release(&packing);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_PACK = {
    .name = "pack",
    .summary = "put recordings into one file that travels",
    .usage = "[OPTION...] REC...",
    .purpose = "Check recordings, or workloads, and put them into one file, which 'mallab ab', 'convert', "
               "'info' and "
               "'plan' take as they take what is in it. REC is a recording's directory or a workload (.wl). "
               "The same "
               "input gives the same file, byte for byte.",
    .options = OPTIONS,
    .completes = ":files wl",
    .examples = "mallab pack --workload -o /net/fleet/ mallab-web.4242\n"
                "mallab pack mallab-web.4242 && scp web1-web-*.tar.zst analyst:",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 REC unreadable or damaged",
    .run = run_pack,
};
