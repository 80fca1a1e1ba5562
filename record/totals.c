/* totals.c - what a recording says of itself: recording.json, or else its footprints. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json_bounds.h"
#include "convert/recording/recording.h"
#include "footprint/base/words.h"
#include "record/control.h"
#include "record/recorder.h"
#include "results/measure/base/support.h"

/* Of what the collector did not finish, the footprints tell, without their events being read. */
static void total_footprints(const char *directory, struct cli_totals *totals)
{
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    totals->unfinished = true;
    totals->known = conv_recording_list(directory, &survey, error) == FP_OK;
    totals->processes = survey.process_count;
    for (size_t i = 0; i < survey.process_count; i++)
        totals->events += survey.processes[i].events;
    conv_survey_release(&survey);
    free(error);
}

/* No footprint of its windows is left: nobody knows any more that it made no call. */
static bool went_with_windows(const json_t *process)
{
    const json_t *files = json_object_get(process, "files");
    return json_is_array(files) && json_array_size(files) == 0;
}

/* As keys, the names of programs of which a call was seen: a child that makes none says nothing of such. */
static json_t *names_heard(const json_t *processes)
{
    json_t *names = json_object(), *process;
    size_t index;
    json_array_foreach(processes, index, process)
    {
        const char *name = json_string_value(json_object_get(process, "name"));
        if (name != NULL && cli_json_count(process, "events") > 0)
            json_object_set_new(names, name, json_true());
    }
    return names;
}

static void list_silent(const json_t *processes, struct cli_totals *totals)
{
    size_t index, used = 0;
    json_t *process, *heard = names_heard(processes);
    json_array_foreach(processes, index, process)
    {
        char quoted[80];
        const char *name = json_string_value(json_object_get(process, "name"));
        if (name == NULL || json_object_get(heard, name) != NULL || cli_json_count(process, "threads") > 1 ||
            json_object_size(json_object_get(process, "lost")) > 0 || went_with_windows(process))
            continue;
        char *plain = res_text_plain(name);
        snprintf(quoted, sizeof quoted, "'%.70s'", plain);
        free(plain);
        if (strstr(totals->silent, quoted) == NULL && used + strlen(quoted) + 3 < sizeof totals->silent)
            used += (size_t)snprintf(totals->silent + used, sizeof totals->silent - used, "%s%s",
                                     used > 0 ? ", " : "", quoted);
    }
    json_decref(heard);
}

/* What was left out because it was asked for. */
static void total_choices(const json_t *recording, struct cli_totals *totals)
{
    const json_t *item;
    size_t index, used = 0;
    json_array_foreach(json_object_get(recording, "pauses"), index, item)
    {
        totals->pauses++;
        totals->paused_ns += cli_json_count(item, "to_ns") - cli_json_count(item, "from_ns");
    }
    json_array_foreach(json_object_get(recording, "programs_not_asked_for"), index, item)
    {
        char *plain = res_text_plain(json_is_string(item) ? json_string_value(item) : "");
        char quoted[80];
        snprintf(quoted, sizeof quoted, "'%.70s'", plain);
        free(plain);
        if (strstr(totals->other_names, quoted) == NULL &&
            used + strlen(quoted) + 3 < sizeof totals->other_names)
            used += (size_t)snprintf(totals->other_names + used, sizeof totals->other_names - used, "%s%s",
                                     used > 0 ? ", " : "", quoted);
    }
    totals->others = cli_json_count(recording, "processes_not_asked_for");
    totals->windows = cli_json_count(recording, "windows");
    totals->windows_removed = cli_json_count(recording, "windows_removed");
    totals->events_removed = cli_json_count(recording, "events_removed");
}

struct cli_totals cli_record_totals(const char *directory)
{
    struct cli_totals totals = {0};
    json_t *recording = cli_json_recording(directory);
    size_t used = 0;
    char digits[32];
    const char *cause;
    json_t *value;
    if (!json_is_array(json_object_get(recording, "processes")) ||
        json_object_get(recording, "collector") != NULL) {
        json_decref(recording);
        total_footprints(directory, &totals);
        return totals;
    }
    totals.known = true;
    totals.complete = json_is_true(json_object_get(recording, "complete"));
    totals.events = cli_json_count(recording, "events");
    totals.bytes = cli_json_count(recording, "bytes");
    totals.stalls = cli_json_count(recording, "stalls");
    totals.processes = json_array_size(json_object_get(recording, "processes"));
    totals.unattached = cli_json_count(recording, "processes_unattached");
    list_silent(json_object_get(recording, "processes"), &totals);
    total_choices(recording, &totals);
    const char *stop = cli_control_stop(recording, &totals.stopped_ns);
    snprintf(totals.stopped_by, sizeof totals.stopped_by, "%s", stop != NULL ? stop : "");
    totals.bytes_per_event = totals.events > 0 ? (double)totals.bytes / (double)totals.events : 0;
    json_object_foreach(json_object_get(recording, "lost"), cause, value)
    {
        const uint64_t count = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
        totals.lost += count;
        if (count > 0 && used < sizeof totals.lost_by_cause)
            used += (size_t)snprintf(totals.lost_by_cause + used, sizeof totals.lost_by_cause - used,
                                     "%s%.40s %s", used > 0 ? ", " : "", cause,
                                     fp_text_grouped(count, digits));
    }
    json_decref(recording);
    return totals;
}
