/* result.c - a result from JSON and to it. */
#include "results/measure/result/result.h"

#include <math.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/result/result_json.h"

/* A validation that is there has to be shown. */
static const char *validation_defect(const struct res_result *result, const json_t *json)
{
    if (json_object_get(json, "validation") == NULL)
        return NULL;
    if (result->validation == NULL)
        return "its validation lacks a bar";
    return result->validated_count > 0
               ? NULL
               : "its validation has no candidates with name, real, predicted and error";
}

bool res_result_read(const json_t *json, struct res_result *ret_result, char **ret_problem)
{
    if (!res_described_read(&RES_RESULT, json, ret_result, ret_problem))
        return false;
    const char *defect = validation_defect(ret_result, json);
    if (defect != NULL) {
        res_described_release(&RES_RESULT, ret_result);
        *ret_problem = res_strdup(defect);
        return false;
    }
    return true;
}

bool res_result_load(const char *path, struct res_result *ret_result, char **ret_problem)
{
    json_t *json = res_json_load(path, ret_problem);
    const bool read = json != NULL && res_result_read(json, ret_result, ret_problem);
    json_decref(json);
    return read;
}

json_t *res_result_write(const struct res_result *result)
{
    return res_described_write(&RES_RESULT, result);
}

void res_result_release(struct res_result *result)
{
    res_described_release(&RES_RESULT, result);
}

const struct res_result_entry *res_result_entry_named(const struct res_result_workload *workload,
                                                      const char *name)
{
    for (size_t i = 0; i < workload->candidate_count; i++) {
        if (strcmp(workload->candidates[i].name, name) == 0)
            return &workload->candidates[i];
    }
    return NULL;
}

bool res_entry_died(const struct res_result_entry *entry)
{
    static const char *const CAUSES[] = {"null", "limit", "crash", "oom"};
    const char *cause = entry->failure != NULL ? entry->failure->cause : NULL;
    for (size_t i = 0; cause != NULL && i < sizeof CAUSES / sizeof CAUSES[0]; i++) {
        if (strcmp(cause, CAUSES[i]) == 0)
            return true;
    }
    return false;
}
