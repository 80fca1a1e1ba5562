/* record_report.c - the content of a recording, and the report of `mallab record`. */
#include "record/recorder.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "convert/recording/recording.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

#define FORECAST_AFTER_NS UINT64_C(10000000000)
#define DAY_NS            86400e9

/* ---- recording.json read, and some of it in words ------------------------------------------------ */

bool rec_recording_read(const char *directory, struct conv_recording *ret_recording)
{
    struct conv_error *error = res_calloc(
        1, sizeof *error); /* who wants to know why calls conv_recording_load */
    json_t *json = NULL;
    (void)conv_recording_load(directory, &json, error);
    free(error);
    *ret_recording = (struct conv_recording){0};
    if (json != NULL && !conv_recording_take(json, ret_recording))
        res_no_memory();
    return json != NULL;
}

json_t *rec_unrecorded_of(const struct conv_recording *recording)
{
    const json_t *object;
    size_t i;
    json_t *list = json_array();
    json_array_foreach(json_object_get(recording->json, "not_recorded"), i, object)
    {
        if (json_is_string(json_object_get(object, "name")) &&
            json_is_string(json_object_get(object, "why")) && json_is_integer(json_object_get(object, "pid")))
            json_array_append_new(list, json_deep_copy(object));
    }
    return list;
}

json_t *rec_unrecorded_load(const char *path)
{
    char directory[CONV_PATH_BYTES];
    conv_recording_directory(path, directory);
    struct conv_recording recording;
    (void)rec_recording_read(directory, &recording); /* of none nothing is listed */
    json_t *list = rec_unrecorded_of(&recording);
    conv_recording_release(&recording);
    return list;
}

char *rec_unrecorded_words(const json_t *object)
{
    char *name = res_text_plain(json_string_value(json_object_get(object, "name")));
    char *why = res_text_plain(json_string_value(json_object_get(object, "why")));
    const json_int_t pid = json_integer_value(json_object_get(object, "pid"));
    char *words = pid > 0 ? res_printf("'%s' (process %lld) %s", name, (long long)pid, why)
                          : res_printf("'%s' %s", name, why);
    free(name);
    free(why);
    return words;
}

const char *rec_forecast(uint64_t bytes, uint64_t within_ns, char ret_words[REC_FORECAST_BYTES])
{
    ret_words[0] = '\0';
    if (within_ns >= FORECAST_AFTER_NS)
        snprintf(ret_words, REC_FORECAST_BYTES, ", at this rate %s a day",
                 FP_BYTES((double)bytes / (double)within_ns * DAY_NS));
    return ret_words;
}

/* ---- totals --------------------------------------------------------------------------------- */

/* Add "'name'" to a list with commas between, where it is not in it and there is room. */
static void add_name(char list[REC_NAMES_BYTES], const char *name)
{
    char quoted[80];
    char *plain = res_text_plain(name);
    snprintf(quoted, sizeof quoted, "'%.70s'", plain);
    free(plain);
    if (strstr(list, quoted) == NULL && strlen(list) + strlen(quoted) + 3 < REC_NAMES_BYTES)
        fp_text_more(list, REC_NAMES_BYTES, ", ", "%s", quoted);
}

/* Adds up a recording that the collector did not finish: the footprints tell it without their events. */
static void total_footprints(const char *directory, struct rec_totals *totals)
{
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    totals->known = conv_recording_list(directory, &survey, error) == FP_OK;
    totals->recording.process_count = survey.process_count;
    for (size_t i = 0; i < survey.process_count; i++)
        totals->recording.events += survey.processes[i].events;
    conv_survey_release(&survey);
    free(error);
}

/* The names of programs of which a call was seen, as keys. A child that makes none is no sign. */
static json_t *names_heard(const struct conv_recording *recording)
{
    json_t *names = json_object();
    for (size_t i = 0; i < recording->process_count; i++)
        if (recording->processes[i].name != NULL && recording->processes[i].events > 0)
            json_object_set_new(names, recording->processes[i].name, json_true());
    return names;
}

static void list_silent(struct rec_totals *totals)
{
    const struct conv_recording *recording = &totals->recording;
    json_t *heard = names_heard(recording);
    for (size_t i = 0; i < recording->process_count; i++) {
        const struct conv_recorded_process *process = &recording->processes[i];
        /* If its windows are gone, nobody knows any more whether it made a call. */
        if (process->name != NULL && json_object_get(heard, process->name) == NULL && process->threads <= 1 &&
            fp_loss_sum(process->lost) == 0 && !process->gone_with_windows)
            add_name(totals->silent, process->name);
    }
    json_decref(heard);
}

char *rec_losses(const uint64_t *lost, char ret_words[REC_NAMES_BYTES])
{
    ret_words[0] = '\0';
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        if (lost[i] > 0)
            fp_text_more(ret_words, REC_NAMES_BYTES, ", ", "%s %s", fp_loss_name(i), FP_GROUPED(lost[i]));
    return ret_words;
}

static void list_losses(const struct conv_recording *recording, struct rec_totals *totals)
{
    totals->lost = fp_loss_sum(recording->lost);
    (void)rec_losses(recording->lost, totals->lost_by_cause);
}

struct rec_totals rec_totals_read(const char *directory)
{
    struct rec_totals totals = {0};
    struct conv_recording *recording = &totals.recording;
    const json_t *name;
    size_t i;
    if (!rec_recording_read(directory, recording) || !recording->has_processes || recording->collector.told) {
        conv_recording_release(recording);
        total_footprints(directory, &totals);
        return totals;
    }
    totals.known = true;
    totals.others = conv_json_count(recording->json, "processes_not_asked_for");
    json_array_foreach(json_object_get(recording->json, "programs_not_asked_for"), i, name)
        add_name(totals.other_names, json_is_string(name) ? json_string_value(name) : "");
    if (totals.recording.sample_bytes == 0)
        list_silent(&totals);
    list_losses(recording, &totals);
    return totals;
}

void rec_totals_release(struct rec_totals *totals)
{
    conv_recording_release(&totals->recording);
}

/* ---- what is said --------------------------------------------------------------------------- */

void rec_say_why_nothing(const char *verb, const char *directory, const struct rec_totals *totals,
                         bool others_were_not)
{
    if (totals->others > 0 && totals->recording.process_count == 0)
        res_say(verb, "nothing was recorded: no program goes by a name that --only asks for; seen: %s",
                totals->other_names);
    else if (!totals->known)
        res_say(verb, "nothing can be said of the recording: '%s/recording.json' cannot be read", directory);
    else if (totals->recording.process_count == 0 && others_were_not)
        res_say(verb, "nothing was recorded: no program that ran could be");
    else if (totals->recording.process_count == 0)
        res_say(verb,
                "nothing was recorded: no process loaded the recorder. A wrapper that clears the "
                "environment (sudo, timeout, env -i) or a static or setuid program stands before it: put "
                "'mallab record' behind the wrapper");
    else if (totals->lost > 0)
        res_say(verb, "nothing was recorded: all calls were lost");
    else if (totals->recording.events_removed > 0)
        res_say(verb, "no call was made in the windows that are kept");
    else if (others_were_not)
        res_say(verb,
                "nothing was recorded: no call was seen of the programs that are recorded, and others could "
                "not be");
    else if (totals->recording.pauses > 0)
        res_say(verb, "nothing was recorded: the recording was paused, and no call made outside its pauses");
    else if (totals->recording.sample_bytes != 0)
        res_say(verb, "nothing was recorded: no object was chosen, as about one for %s is",
                FP_BYTES((double)totals->recording.sample_bytes));
    else if (totals->recording.attached)
        res_say(verb, "nothing was recorded: no call of the malloc family was seen while the program was "
                      "attached to");
    else
        res_say(verb,
                "nothing was recorded: the program made no call, or brings an allocator of its own that "
                "is not called through malloc (PYTHONMALLOC=malloc makes Python call it)");
}

/* The collector has died early: the command did nothing wrong, but its recording ends there. */
static void report_collector(const char *verb, const struct rec_recorded *recorded,
                             const struct rec_totals *totals, const char *shown)
{
    char how[FP_STATUS_WORDS];
    (void)fp_status_words(recorded->collector_status, how);
    if (WIFSTOPPED(recorded->collector_status))
        res_say(verb,
                "the collector (process %d) is stopped, or too slow: what it has not written is missing from "
                "'%s' until "
                "'kill -CONT %d' lets it go on",
                (int)recorded->collector, shown, (int)recorded->collector);
    else if (totals->recording.events > 0)
        res_say(verb,
                "the collector ended early (%s): what was not written by then is lost; '%s' holds about %s "
                "events "
                "of %s process%s: go on with 'mallab info %s' or 'mallab convert %s'",
                how, shown, FP_GROUPED(totals->recording.events), FP_GROUPED(totals->recording.process_count),
                totals->recording.process_count == 1 ? "" : "es", shown, shown);
    else
        res_say(verb, "the collector ended early (%s), before it had written any event to '%s': record again",
                how, shown);
}

/* The stop was told when it happened; it is told again beside the calls that were lost by it. */
static bool stop_lost_calls(const struct rec_totals *totals)
{
    const char *by = totals->recording.stopped_by;
    return totals->lost > 0 && by != NULL && (strcmp(by, "disk_full") == 0 || strcmp(by, "size_limit") == 0);
}

static void report_losses(const char *verb, const struct rec_totals *totals)
{
    char since[32];
    if (!stop_lost_calls(totals) || totals->recording.events == 0)
        res_say(verb, "the recording is not whole, calls were lost: %s", totals->lost_by_cause);
    else
        res_say(verb,
                "the recording is not whole, calls were lost: %s; what was written by %s is kept, and "
                "converts; for more %s",
                totals->lost_by_cause, res_text_duration((double)totals->recording.stopped_ns, since),
                strcmp(totals->recording.stopped_by, "disk_full") == 0
                    ? "make room on the disk, or record onto another with -o"
                    : "raise --max-size");
}

/* A stop that was told when it came is not told again. */
static void report_choices(const char *verb, const struct rec_totals *totals,
                           const struct rec_recorded *recorded)
{
    char since[32];
    const char *ended_by = recorded->ended_by;
    const bool is_told = ended_by == NULL && recorded->watch.messages.told_stop;
    if (totals->recording.stopped_by != NULL && !is_told && !stop_lost_calls(totals))
        res_say(verb, "recording stopped after %s, %s",
                res_text_duration((double)totals->recording.stopped_ns, since),
                ended_by != NULL && strcmp(totals->recording.stopped_by, "end") == 0
                    ? ended_by
                    : conv_stop_behind(totals->recording.stopped_by));
    if (totals->others > 0 && totals->recording.process_count > 0)
        res_say(verb, "%s process%s not asked for (--only): %s", FP_GROUPED(totals->others),
                totals->others == 1 ? " was" : "es were", totals->other_names);
    if (totals->recording.sample_bytes != 0)
        res_say(verb,
                "a sample of objects, one in %s: sites, leaks and flame read it; it cannot be converted or "
                "replayed, for which record without =BYTES",
                FP_BYTES((double)totals->recording.sample_bytes));
    if (totals->recording.attached && totals->recording.events > 0)
        res_say(verb, "%s: what it made before is not in it", FP_BEGAN_LATE);
    if (totals->recording.pauses > 0)
        res_say(verb, "paused %llu time%s, %s in all: what was called then is not in it",
                (unsigned long long)totals->recording.pauses, totals->recording.pauses == 1 ? "" : "s",
                res_text_duration((double)totals->recording.paused_ns, since));
    if (totals->recording.windows_removed > 0)
        res_say(verb, "%llu windows, of which the last %llu are kept; %s events were in the others",
                (unsigned long long)totals->recording.windows,
                (unsigned long long)(totals->recording.windows - totals->recording.windows_removed),
                FP_GROUPED(totals->recording.events_removed));
    else if (totals->recording.windows > 1)
        res_say(verb, "%llu windows", (unsigned long long)totals->recording.windows);
}

void rec_report(const char *verb, const struct rec_recorded *recorded, bool quiet)
{
    const char *shown = recorded->shown;
    char forecast[REC_FORECAST_BYTES] = "";
    const bool recovered = recorded->collector_status != 0 && rec_recover(verb, recorded->directory);
    struct rec_totals totals = rec_totals_read(recorded->directory);
    if (recorded->still_running != 0) {
        res_say(
            verb,
            "process %d and perhaps more still run and are recorded by mallab-collect (process %d) in the "
            "background; 'mallab info %s' tells what is written so far, and when they have ended",
            (int)recorded->still_running, (int)recorded->collector, shown);
        goto out;
    }
    if (recorded->collector_status != 0 && !recovered) {
        report_collector(verb, recorded, &totals, shown);
        goto out;
    }
    if (totals.recording.windows_removed == 0) /* else the disk holds what --keep-windows says */
        (void)rec_forecast(totals.recording.bytes, totals.recording.duration_ns, forecast);
    if (!quiet && totals.known)
        res_say(verb, "%s events of %s process%s, %.2f bytes each%s, written to %s; lost %s",
                FP_GROUPED(totals.recording.events), FP_GROUPED(totals.recording.process_count),
                totals.recording.process_count == 1 ? "" : "es",
                totals.recording.events > 0 ? (double)totals.recording.bytes / (double)totals.recording.events
                                            : 0.0,
                forecast, shown, FP_GROUPED(totals.lost));
    if (!quiet)
        report_choices(verb, &totals, recorded);
    if (totals.lost > 0)
        report_losses(verb, &totals);
    if (totals.recording.unattached > 0)
        res_say(verb, "%s process%s not recorded: more than can be recorded at one time",
                FP_GROUPED(totals.recording.unattached),
                totals.recording.unattached == 1 ? " was" : "es were");
    if (totals.recording.events == 0)
        rec_say_why_nothing(verb, recorded->directory, &totals,
                            recorded->watch.messages.unrecorded_count > 0);
    else if (!quiet && totals.silent[0] != '\0')
        res_say(verb,
                "no call was seen of %s: such a program makes none, or brings an allocator of its own that "
                "is not "
                "called through malloc",
                totals.silent);
out:
    rec_totals_release(&totals);
}
