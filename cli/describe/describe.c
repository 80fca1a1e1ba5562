/* describe.c - the content of an input, as JSON and as text. */
#include "cli/describe/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "convert/import/formats.h"
#include "footprint/base/words.h"
#include "record/recorder.h"

static json_t *calls_object(const uint64_t *counts)
{
    json_t *object = json_object();
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if (counts[call] > 0)
            cli_json_set(object, fp_call_name(call), counts[call]);
    }
    return object;
}

static json_t *sizes_array(const struct conv_survey *survey)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        if (survey->class_count[i] == 0)
            continue;
        const bool is_last = i + 1 == CONV_SIZE_CLASSES;
        json_t *object = json_object();
        cli_json_set(object, "from_bytes", conv_survey_class_min(i));
        cli_json_set(object, "to_bytes", is_last ? UINT64_MAX : conv_survey_class_min(i + 1) - 1);
        cli_json_set(object, "count", survey->class_count[i]);
        cli_json_set(object, "bytes", survey->class_bytes[i]);
        json_array_append_new(array, object);
    }
    return array;
}

/* Words with ", " between them. */
static json_t *words_array(const char *words)
{
    json_t *array = json_array();
    while (*words != '\0') {
        const size_t length = strcspn(words, ",");
        char *word = res_printf("%.*s", (int)length, words);
        if (length > 0)
            json_array_append_new(array, cli_json_text(word));
        free(word);
        words += length + strspn(words + length, ", ");
    }
    return array;
}

static uint64_t processes_of(const struct conv_survey *survey)
{
    uint64_t chosen = 0;
    if (survey->kind != CONV_KIND_RECORDING)
        return 1;
    for (size_t i = 0; i < survey->process_count; i++)
        chosen += survey->processes[i].chosen;
    return chosen;
}

/* Allocations and resizes to a size of which recorders note how much is in memory. */
static uint64_t large_objects(const struct conv_survey *survey)
{
    uint64_t objects = 0;
    for (unsigned size_class = 17; size_class < CONV_SIZE_CLASSES; size_class++)
        objects += survey->class_count[size_class];
    return objects;
}

_Static_assert(FP_LARGE_BYTES == 1u << 16, "class 17 begins with the first large size");

static void set_numbers(json_t *object, const struct conv_survey *survey)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"events", survey->events},
        {"ops", survey->ops},
        {"threads", survey->threads},
        {"processes", processes_of(survey)},
        {"forks", survey->forks},
        {"thread_exits", survey->thread_exits},
        {"duration_ns", survey->duration_ns},
        {"start_unix_ns", survey->start_unix_ns},
        {"requested_bytes", survey->requested_bytes},
        {"live_peak_bytes", survey->live_bytes_peak},
        {"live_peak_objects", survey->live_objects_peak},
        {"live_end_bytes", survey->live_bytes_end},
        {"live_end_objects", survey->live_objects_end},
        {"inherited_objects", survey->inherited_objects},
        {"inherited_bytes", survey->inherited_bytes},
        {"events_removed", survey->events_removed},
        {"large_objects", large_objects(survey)},
        {"large_noted", survey->large.noted},
        {"large_noted_bytes", survey->large.noted_bytes},
        {"large_resident_bytes", survey->large.resident_bytes},
        {"pauses", survey->pauses},
        {"paused_ns", survey->paused_ns},
        {"largest_request_bytes", survey->largest_size},
        {"file_bytes", survey->file_bytes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        cli_json_set(object, numbers[i].key, numbers[i].value);
}

/* A recording ended as its command did: the command's last image tells how. */
static void set_usage(json_t *object, const struct conv_survey *survey)
{
    const bool is_recording = survey->kind == CONV_KIND_RECORDING;
    cli_usage_json(object, survey->usage, "ended");
    cli_json_set(object, "usage_over_time", cli_usage_series_json(survey->usage));
    if (is_recording)
        cli_json_set(object, "command_pid", cli_json_known(survey->command_pid));
    for (size_t i = survey->process_count; is_recording && survey->command_pid != 0 && i-- > 0;) {
        const struct conv_process *process = &survey->processes[i];
        if (process->process_id != survey->command_pid || process->usage == NULL)
            continue;
        cli_json_set(object, "ended", cli_usage_end_json(process->usage));
        return;
    }
}

json_t *cli_survey_json(const struct conv_survey *survey)
{
    json_t *object = json_object();
    json_t *lost = json_object();
    json_t *irregular = json_object();
    char digest[24];
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        cli_json_set(lost, fp_loss_name(i), survey->lost[i]);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        cli_json_set(conv_irregularity_is_loss(i) ? lost : irregular, conv_irregularity_name(i),
                     survey->irregular[i]);
    cli_json_set(object, "schema", "mallab-info/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "kind", conv_kind_name(survey->kind));
    cli_json_set(object, "file", survey->input);
    cli_json_set(object, "program", survey->program);
    if (survey->label[0] != '\0')
        cli_json_set(object, "label", survey->label);
    if (survey->sample_bytes != 0)
        cli_json_set(object, "sample_bytes", survey->sample_bytes);
    cli_json_set(object, "pid", cli_json_known(survey->process_id));
    set_numbers(object, survey);
    cli_json_set(object, "bytes_per_event", survey->bytes_per_event);
    cli_json_set(object, "events_by_call", calls_object(survey->events_by_call));
    cli_json_set(object, "ops_by_call", calls_object(survey->ops_by_call));
    cli_json_set(object, "sizes", sizes_array(survey));
    cli_json_set(object, "complete", survey->complete);
    cli_json_set(object, "incomplete_why", survey->incomplete_why);
    cli_json_set(object, "lacks", words_array(survey->lacks));
    cli_json_set(object, "live", conv_liveness_name(survey->live));
    cli_json_set(object, "inherited_why", survey->inherited_why);
    cli_json_set(object, "lost", lost);
    cli_json_set(object, "lost_known", conv_survey_knows_losses(survey));
    cli_json_set(object, "irregularities", irregular);
    set_usage(object, survey);
    if (survey->kind == CONV_KIND_WORKLOAD) {
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)survey->digest);
        cli_json_set(object, "file_digest", digest);
        cli_json_set(object, "windows", survey->windows);
        cli_json_set(object, "id_max", survey->id_max);
    }
    if (survey->recording_state != CONV_RECORDING_NONE) {
        cli_json_set(object, "recording_state", conv_recording_state_name(survey->recording_state));
        cli_json_set(object, "collector_pid", cli_json_known(survey->collector_pid));
        cli_json_set(object, "unfinished_why", survey->unfinished_why);
        cli_json_set(object, "stopped_why", survey->stop_words);
    }
    cli_survey_lists_json(object, survey);
    return object;
}

/* ---- text ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void line(const char *name, const char *format, ...)
{
    va_list list;
    char *words = NULL;
    va_start(list, format);
    const int length = vasprintf(&words, format, list);
    va_end(list);
    char *plain = res_text_plain(length >= 0 ? words : ""); /* some of it is of the input */
    printf("%-16s%s\n", name, plain);
    free(plain);
    if (length >= 0)
        free(words);
}

static void print_file(const struct conv_survey *survey, const char *path)
{
    char *processes;
    if (processes_of(survey) != 1)
        processes = res_printf(" and its tree, %s processes", FP_GROUPED(processes_of(survey)));
    else if (survey->process_id != 0)
        processes = res_printf(", process %u", survey->process_id);
    else
        processes = res_strdup("");
    line("file", "%s: %s%s%s%s", path, conv_kind_name(survey->kind), survey->program[0] != '\0' ? " of " : "",
         survey->program, processes);
    free(processes);
    if (survey->label[0] != '\0')
        line("host", "%s", survey->label);
}

static void print_when(const struct conv_survey *survey)
{
    const time_t seconds = (time_t)(survey->start_unix_ns / 1000000000u);
    struct tm parts;
    char words[64] = "", span[32];
    if (survey->start_unix_ns != 0 && localtime_r(&seconds, &parts) != NULL)
        (void)strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S %z", &parts); /* fits */
    if (survey->duration_ns > 0)
        line("recorded", "%s%s%s", words, words[0] != '\0' ? ", for " : "for ",
             res_text_duration((double)survey->duration_ns, span));
    else if (words[0] != '\0')
        line("recorded", "%s", words);
}

static void print_counts(const struct conv_survey *survey)
{
    const bool is_workload = survey->kind == CONV_KIND_WORKLOAD;
    const uint64_t calls = is_workload ? survey->ops : survey->events;
    line("calls", "%s%s by %s thread%s", FP_GROUPED(calls), is_workload ? " ops" : "",
         FP_GROUPED(survey->threads), survey->threads == 1 ? "" : "s");
    line("memory", "%s requested; at most %s live, %s object%s%s", FP_BYTES(survey->requested_bytes),
         FP_BYTES(survey->live_bytes_peak), FP_GROUPED(survey->live_objects_peak),
         survey->live_objects_peak == 1 ? "" : "s",
         processes_of(survey) > 1 ? " (sums of each process' peak, without what it inherited)" : "");
}

static void print_calls(const char *name, const uint64_t *counts, uint64_t total)
{
    bool first = true;
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if (counts[call] == 0)
            continue;
        line(first ? name : "", "%14s  %5.1f %%  %s", FP_GROUPED(counts[call]),
             total > 0 ? (double)counts[call] * 100 / (double)total : 0.0, fp_call_name(call));
        first = false;
    }
}

static void print_sizes(const struct conv_survey *survey)
{
    static const struct cli_column COLUMNS[] = {{"bytes asked, from", "from_bytes", CLI_SHOWN_COUNT},
                                                {"requests", "count", CLI_SHOWN_COUNT},
                                                {"in all", "bytes", CLI_SHOWN_BYTES},
                                                {0}};
    json_t *sizes = sizes_array(survey);
    struct res_text text = {0};
    cli_table_add(&text, COLUMNS, sizes, SIZE_MAX);
    cli_put(text.text != NULL ? text.text : "", text.length);
    free(text.text);
    json_decref(sizes);
}

/* Pauses were asked for, so they are not irregular. A footprint alone knows only where its threads noticed one. */
static void print_pauses(const struct conv_survey *survey)
{
    char span[32];
    if (survey->pauses > 0)
        line("paused", "%s time%s, %s in all, as asked", FP_GROUPED(survey->pauses),
             survey->pauses == 1 ? "" : "s", res_text_duration((double)survey->paused_ns, span));
    else if (survey->irregular[CONV_PAUSES] > 0 && survey->live == CONV_LIVE_PAUSED)
        line("paused", "as asked: %s place%s where a thread noticed it",
             FP_GROUPED(survey->irregular[CONV_PAUSES]), survey->irregular[CONV_PAUSES] == 1 ? "" : "s");
}

static void print_losses(const struct conv_survey *survey)
{
    bool lost = false;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++) {
        if (survey->lost[i] > 0)
            line(lost ? "" : "lost", "%s calls: %s", FP_GROUPED(survey->lost[i]), fp_loss_name(i));
        lost = lost || survey->lost[i] > 0;
    }
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        if (!conv_irregularity_is_loss(i) || survey->irregular[i] == 0)
            continue;
        line(lost ? "" : "lost", i == CONV_DAMAGED_BLOCKS ? "up to %s calls left out: %s" : "%s left out: %s",
             FP_GROUPED(survey->irregular[i]), conv_irregularity_name(i));
        lost = true;
    }
    if (!lost && survey->recording_state == CONV_RECORDING_GOING_ON)
        line("lost", "nothing so far");
    else if (!conv_survey_knows_losses(survey))
        line(lost ? "" : "lost", "%snot known: what %s was not counted", lost ? "and more, " : "",
             survey->irregular[CONV_LOST_TAILS] > 0 ? "could not be read" : "was not written");
    else if (!lost && survey->kind != CONV_KIND_WORKLOAD)
        line("lost", "nothing");
    bool irregular = false;
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        if (survey->irregular[i] == 0 || i == CONV_PAUSES || conv_irregularity_is_loss(i))
            continue;
        line(irregular ? "" : "irregular", "%s: %s%s", FP_GROUPED(survey->irregular[i]),
             conv_irregularity_name(i), conv_irregularity_is_defect(i) ? " (repaired)" : "");
        irregular = true;
    }
}

const char *cli_live_words(enum conv_liveness live)
{
    return live == CONV_LIVE_PAUSED ? "what was made or released in pauses is not known: live bytes, and a "
                                      "replay's memory, are not exact"
                                    : "what was live when it begins is not known: live bytes, and a replay's "
                                      "memory, are lower bounds";
}

/* All pages of an object count as used where no recorder noted it, or where it outlived a killed program. */
static void print_large(const struct conv_survey *survey)
{
    const struct conv_large *large = &survey->large;
    if (large_objects(survey) == 0)
        return;
    if (large->noted == 0)
        line("large objects", "%s of 64 KiB and more; how much of them was in memory is not known",
             FP_GROUPED(large_objects(survey)));
    else
        line("large objects", "%s of 64 KiB and more; known of %s: %s, %.0f %% of them in memory",
             FP_GROUPED(large_objects(survey)), FP_GROUPED(large->noted), FP_BYTES(large->noted_bytes),
             100.0 * (double)large->resident_bytes / (double)large->noted_bytes);
}

/* Nothing of no words, which are freed. */
static void line_own(const char *name, char *words, const char *behind)
{
    if (*words != '\0')
        line(name, "%s%s", words, behind);
    free(words);
}

static bool is_irregular(const struct conv_survey *survey)
{
    bool found = fp_loss_sum(survey->lost) > 0 || survey->lost_marks > 0;
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        found = found || (survey->irregular[i] > 0 && i != CONV_PAUSES &&
                          (conv_irregularity_is_loss(i) || conv_irregularity_is_defect(i)));
    return found;
}

static void print_unrecorded(const struct conv_survey *survey)
{
    json_t *unrecorded = survey->kind == CONV_KIND_RECORDING ? rec_unrecorded_load(survey->input) : NULL;
    const json_t *object;
    size_t i;
    json_array_foreach(unrecorded, i, object)
    {
        line_own(i == 0 ? "unrecorded" : "", rec_unrecorded_words(object), "");
    }
    json_decref(unrecorded);
}

static void print_inherited(const struct conv_survey *survey)
{
    if (survey->inherited_objects > 0)
        line("inherited",
             "%s in %s object%s alive before: the parent's, of earlier windows, made before the section",
             FP_BYTES(survey->inherited_bytes), FP_GROUPED(survey->inherited_objects),
             survey->inherited_objects == 1 ? "" : "s");
    if (survey->inherited_why[0] != '\0')
        line("inherited", "not all is known: %s", survey->inherited_why);
}

/* If earlier windows are gone, recording began before what is here. */
static void print_details(const struct conv_survey *survey)
{
    const bool is_workload = survey->kind == CONV_KIND_WORKLOAD;
    const uint64_t calls = is_workload ? survey->ops : survey->events;
    const uint64_t ran_ns = survey->usage != NULL ? fp_usage_ran_ns(survey->usage) : FP_USAGE_UNKNOWN;
    const double bytes_each = is_workload ? calls > 0 ? (double)survey->file_bytes / (double)calls : 0
                                          : survey->bytes_per_event;
    char span[32];
    if (survey->file_bytes > 0) /* a pipe's text has none */
        line("size", "%s, %.2f bytes a call", FP_BYTES(survey->file_bytes), bytes_each);
    if (survey->begin_ns > 0)
        line("begins", "%s after recording began", res_text_duration((double)survey->begin_ns, span));
    if (ran_ns != FP_USAGE_UNKNOWN)
        line("ran", "%s", res_text_duration((double)ran_ns, span));
    line("largest", "%s", FP_BYTES(survey->largest_size));
    line("live at end", "%s in %s object%s", FP_BYTES(survey->live_bytes_end),
         FP_GROUPED(survey->live_objects_end), survey->live_objects_end == 1 ? "" : "s");
    print_inherited(survey);
    print_large(survey);
    if (survey->events_removed > 0)
        line("removed", "%s calls, with the windows that are not kept", FP_GROUPED(survey->events_removed));
    print_unrecorded(survey);
    print_calls("by call", is_workload ? survey->ops_by_call : survey->events_by_call, calls);
    print_sizes(survey);
}

void cli_survey_print(const struct conv_survey *survey, const char *path, bool details)
{
    const bool are_several = processes_of(survey) > 1;
    char machine[256];
    print_file(survey, path);
    print_when(survey);
    if (survey->sample_bytes != 0)
        line("holds", "a sample of objects, one in %s: what follows is of those alone",
             FP_BYTES((double)survey->sample_bytes));
    print_counts(survey);
    line_own(are_several ? "processes" : "process", cli_usage_words(survey->usage, details),
             are_several ? " (sums)" : "");
    if (details && survey->usage != NULL &&
        conv_machine_words(&survey->usage->machine, machine, sizeof machine))
        line("machine", "%s", machine);
    line("complete", "%s%s",
         survey->complete ? "yes, nothing lost" : "no: ", survey->complete ? "" : survey->incomplete_why);
    if (survey->selected.text[0] != '\0')
        line("selected", "%s", survey->selected.text);
    if (survey->stop_words != NULL)
        line("stopped", "%s", survey->stop_words);
    if (survey->lacks[0] != '\0')
        line("lacks", "%s", survey->lacks);
    if (survey->live != CONV_LIVE_KNOWN)
        line("live", "%s", cli_live_words(survey->live));
    if (details || is_irregular(survey) || !conv_survey_knows_losses(survey) ||
        survey->recording_state == CONV_RECORDING_GOING_ON)
        print_losses(survey);
    print_pauses(survey);
    if (details)
        print_details(survey);
    cli_survey_lists_print(survey, details);
}
