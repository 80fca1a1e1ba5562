/* recordings_json.c - several recordings of a validation as JSON. */
#include "results/measure/validate/recordings_json.h"

#include "results/measure/base/json_values.h"
#include "results/measure/validate/validation_json.h"

/* ---- what was recorded ---------------------------------------------------------------------- */

static json_t *recording_object(unsigned number, const char *left_out, uint64_t ops, uint64_t duration_ns,
                                uint64_t live_peak_bytes)
{
    json_t *object = json_object();
    json_object_set_new(object, "number", json_integer(number));
    json_object_set_new(object, "left_out", res_json_text(left_out));
    json_object_set_new(object, "ops", json_integer((json_int_t)ops));
    json_object_set_new(object, "duration_ns", json_integer((json_int_t)duration_ns));
    json_object_set_new(object, "live_peak_bytes", json_integer((json_int_t)live_peak_bytes));
    return object;
}

void res_recordings_add_to(json_t *about, const struct res_validation *validation,
                           const struct res_workload *first)
{
    const struct res_recordings *further = &validation->further;
    const size_t used = res_recordings_used(further);
    uint64_t apart = 0;
    json_t *list = json_array();
    json_array_append_new(list,
                          recording_object(1, NULL, first->ops, first->duration_ns, first->live_peak_bytes));
    for (size_t i = 0; i < further->count; i++) {
        const struct res_recording *one = &further->all[i];
        const uint64_t differs = one->ops > first->ops ? one->ops - first->ops : first->ops - one->ops;
        if (one->left_out == NULL && differs > apart)
            apart = differs;
        json_array_append_new(list, recording_object(one->number, one->left_out, one->ops, one->duration_ns,
                                                     one->live_peak_bytes));
    }
    json_object_set_new(about, "recordings", json_integer((json_int_t)used));
    json_object_set_new(about, "recordings_asked", json_integer(further->asked > 0 ? further->asked : 1));
    json_object_set_new(about, "recordings_left_out", json_integer((json_int_t)(further->count + 1 - used)));
    json_object_set_new(about, "recordings_stopped", json_boolean(further->stopped));
    json_object_set_new(about, "ops_difference_max", json_integer((json_int_t)apart));
    json_object_set_new(about, "recording_list", list);
}

/* ---- what is predicted from each ------------------------------------------------------------ */

/* Resident memory of each pass: of the first recording they are with its runs. */
static json_t *passes_array(const struct res_recording_entry *entry)
{
    json_t *passes = json_array();
    for (size_t i = 0; i < entry->run_count; i++)
        json_array_append_new(passes, json_pack("{s:o, s:o, s:o}", "peak_bytes",
                                                res_json_whole(entry->runs[i].peak_bytes), "mean_bytes",
                                                res_json_whole(entry->runs[i].mean_bytes), "end_bytes",
                                                res_json_whole(entry->runs[i].end_bytes)));
    return passes;
}

static json_t *prediction(unsigned number, const struct res_fidelity *memory)
{
    json_t *object = json_object();
    json_object_set_new(object, "number", json_integer(number));
    res_levels_set(object, "total", &memory->predicted_total);
    res_levels_set(object, "heap", &memory->predicted_heap);
    return object;
}

json_t *res_recordings_predicted(const struct res_validation *validation,
                                 const struct res_validation_figures *figures, size_t place)
{
    json_t *array = json_array();
    size_t used = 0;
    json_array_append_new(array, prediction(1, &figures->recordings[used++]));
    for (size_t i = 0; i < validation->further.count; i++) {
        const struct res_recording *recording = &validation->further.all[i];
        if (recording->left_out != NULL)
            continue;
        const struct res_recording_entry *entry = &recording->entries[place];
        json_t *object = prediction(recording->number, &figures->recordings[used++]);
        json_object_set_new(object, "failed", res_json_text(entry->failed));
        json_object_set_new(object, "replays", passes_array(entry));
        json_array_append_new(array, object);
    }
    return array;
}
