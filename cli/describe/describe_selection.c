/* describe_selection.c - what was selected, and the threads to select from: as JSON and as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json_bounds.h"
#include "cli/describe/describe.h"
#include "footprint/base/words.h"
#include "results/measure/base/support.h"

#define THREAD_LINES 12u

json_t *cli_threads_json(const struct conv_survey *survey)
{
    json_t *array = json_array();
    for (size_t i = 0; i < survey->thread_count; i++) {
        const struct conv_thread *thread = &survey->thread_list[i];
        json_t *object = json_object();
        json_object_set_new(object, "thread_id", cli_json_number(thread->thread_id));
        json_object_set_new(object, "main", json_boolean(thread->is_main));
        json_object_set_new(object, "events", cli_json_number(thread->events));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *cli_selection_json(const struct conv_selected *selected)
{
    char share[32];
    json_t *object = json_object();
    if (selected->text[0] == '\0') {
        json_decref(object);
        return json_null();
    }
    snprintf(share, sizeof share, "%u/%u", selected->sample_part, selected->sample_of);
    json_object_set_new(object, "text", cli_json_text(selected->text));
    json_object_set_new(object, "merged_processes",
                        selected->merged_processes > 0 ? cli_json_number(selected->merged_processes)
                                                       : json_null());
    json_object_set_new(object, "threads", cli_json_text(selected->threads));
    json_object_set_new(object, "from_ns", cli_json_number(selected->from_ns));
    json_object_set_new(object, "to_ns",
                        selected->to_ns > 0 ? cli_json_number(selected->to_ns) : json_null());
    json_object_set_new(object, "sample", selected->sample_of > 0 ? json_string(share) : json_null());
    json_object_set_new(object, "head_calls",
                        selected->head > 0 ? cli_json_number(selected->head) : json_null());
    if (selected->sample_of > 0) {
        json_object_set_new(object, "sampled_from_ops", cli_json_number(selected->all_ops));
        json_object_set_new(object, "sampled_from_live_peak_bytes",
                            cli_json_number(selected->all_live_bytes_peak));
        json_object_set_new(object, "sampled_from_live_peak_objects",
                            cli_json_number(selected->all_live_objects_peak));
    }
    return object;
}

/* ---- text ----------------------------------------------------------------------------------- */

void cli_selection_print(const struct conv_selected *selected)
{
    char one[32], two[32];
    if (selected->text[0] == '\0')
        return;
    char *plain = res_text_plain(selected->text);
    printf("%-16s%s\n", "selected", plain);
    free(plain);
    if (selected->sample_of > 0)
        printf("%-16s%s ops, live peak %s\n", "sampled from", fp_text_grouped(selected->all_ops, one),
               fp_text_bytes((double)selected->all_live_bytes_peak, two));
}

static int by_events(const void *left, const void *right)
{
    const struct conv_thread *a = left, *b = right;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

void cli_threads_print(const struct conv_survey *survey)
{
    struct conv_thread *sorted;
    char events[32];
    if (survey->thread_count < 2)
        return;
    sorted = res_calloc(survey->thread_count, sizeof *sorted);
    memcpy(sorted, survey->thread_list, survey->thread_count * sizeof *sorted);
    qsort(sorted, survey->thread_count, sizeof *sorted, by_events);
    printf("\n%-10s %14s\n", "thread", survey->kind == CONV_KIND_WORKLOAD ? "ops" : "events");
    for (size_t i = 0; i < survey->thread_count && i < THREAD_LINES; i++)
        printf("%-10u %14s%s\n", sorted[i].thread_id, fp_text_grouped(sorted[i].events, events),
               sorted[i].is_main ? "  main" : "");
    if (survey->thread_count > THREAD_LINES)
        printf("and %s more, see --json\n", fp_text_grouped(survey->thread_count - THREAD_LINES, events));
    free(sorted);
}
