/* run_parse.c - what a run printed, checked and taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/measure/run/run.h"

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool take_batches(struct res_run *run)
{
    const json_t *batches = json_object_get(run->json, "batch_ns");
    size_t index;
    json_t *value;
    if (!json_is_array(batches))
        return false;
    run->batch_count = json_array_size(batches);
    run->batch_ns = res_calloc(run->batch_count, sizeof *run->batch_ns);
    json_array_foreach(batches, index, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        run->batch_ns[index] = (uint64_t)json_integer_value(value);
    }
    /* Kept as an array of ours: as JSON values they would take ten times the memory. */
    json_object_del(run->json, "batch_ns");
    return true;
}

static char *take_figures(struct res_run *run)
{
    const json_t *resident = json_object_get(run->json, "resident");
    const json_t *proof = json_object_get(run->json, "proof");
    const json_t *digest = json_object_get(run->json, "digest");
    const json_t *ops = json_object_get(run->json, "ops");
    const json_t *inherited = json_object_get(run->json, "inherited_ops"); /* absent: none */
    if (!json_is_integer(ops) || json_integer_value(ops) < 0)
        return res_strdup("its result has no 'ops'");
    if (!json_is_string(digest))
        return res_strdup("its result has no 'digest'");
    if (!json_is_true(json_object_get(proof, "ok"))) {
        const char *library = json_string_value(json_object_get(proof, "malloc_library"));
        return res_printf("the proof failed: calls were served by '%s'",
                          library != NULL ? library : "unknown");
    }
    if (json_integer_value(inherited) < 0 || json_integer_value(inherited) > json_integer_value(ops))
        return res_strdup("its result has no valid 'inherited_ops'");
    run->ops = (uint64_t)json_integer_value(ops);
    run->inherited_ops = (uint64_t)json_integer_value(inherited);
    run->digest = res_strdup(json_string_value(digest));
    run->ns_per_op = number_of(run->json, "ns_per_op");
    run->resident_start_bytes = number_of(resident, "start_bytes");
    run->resident_peak_bytes = number_of(resident, "peak_bytes");
    run->resident_mean_bytes = number_of(resident, "mean_bytes");
    run->resident_end_bytes = number_of(resident, "end_bytes");
    run->resident_idle_bytes = number_of(resident, "idle_bytes");
    run->given_back_share = number_of(resident, "given_back_share");
    if (json_is_string(json_object_get(resident, "not_predicted_why")))
        run->not_predicted_why = res_strdup(
            json_string_value(json_object_get(resident, "not_predicted_why")));
    const char *pass = json_string_value(json_object_get(run->json, "pass"));
    const bool timed = pass == NULL || strcmp(pass, "time") == 0;
    if (timed && (!isfinite(run->ns_per_op) || run->ns_per_op < 0))
        return res_strdup("its result has no 'ns_per_op'");
    if (!isfinite(run->resident_peak_bytes) || !isfinite(run->resident_mean_bytes) ||
        !isfinite(run->resident_end_bytes))
        return res_strdup("its result lacks 'resident' figures");
    if (timed && !take_batches(run))
        return res_strdup("its result has no valid 'batch_ns'");
    return NULL;
}

bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason)
{
    json_error_t error;
    struct res_run run = {0};
    char *reason = NULL;
    run.json = json_loadb(output != NULL ? output : "", length, JSON_REJECT_DUPLICATES, &error);
    if (run.json == NULL)
        reason = length == 0 ? res_strdup("it printed no result")
                             : res_printf("its result is no JSON: %s at byte %d", error.text, error.position);
    else if (!json_is_object(run.json))
        reason = res_strdup("its result is no JSON object");
    else
        reason = take_figures(&run);
    if (reason != NULL) {
        res_run_release(&run);
        *ret_reason = res_text_plain(reason);
        free(reason);
        return false;
    }
    *ret_run = run;
    return true;
}

void res_run_release(struct res_run *run)
{
    json_decref(run->json);
    free(run->digest);
    free(run->not_predicted_why);
    free(run->said);
    free(run->batch_ns);
    *run = (struct res_run){0};
}
