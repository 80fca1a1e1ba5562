/* result_load.c - results read from JSON, and checked: files may come from anywhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "footprint/base/json_read.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/support.h"
#include "results/measure/result/json_kind.h"
#include "results/measure/result/result_json.h"
#include "results/measure/result/tuned.h"

#define WORKLOADS_MAX 4096u

/* What the rows of a workload do not ask for; a floor that cannot be read would be taken for none. */
static const char *workload_defect(const json_t *workload)
{
    const json_t *floor = json_object_get(workload, "floor");
    if (json_array_size(json_object_get(workload, "candidates")) == 0)
        return "a workload has no candidates";
    if (floor != NULL && !json_is_null(floor) &&
        (!json_is_string(json_object_get(floor, "name")) || !json_is_array(json_object_get(floor, "runs"))))
        return "a workload has no valid floor";
    return NULL;
}

char *res_json_check(const json_t *result)
{
    const char *schema = json_string_value(json_object_get(result, "schema"));
    const json_t *workloads = json_object_get(result, "workloads");
    size_t index;
    json_t *workload;
    const char *remedy = "", *other = res_json_kind(schema, &remedy);
    const bool is_result = schema != NULL && strncmp(schema, RES_SCHEMA_NAME, strlen(RES_SCHEMA_NAME)) == 0;
    if (!is_result && other != NULL)
        return res_printf("it is %s, no result: %s", other, remedy);
    if (!is_result)
        return res_strdup("it is no result of 'mallab ab' (no schema " RES_SCHEMA ")");
    if (atoi(schema + strlen(RES_SCHEMA_NAME)) > RES_SCHEMA_MAJOR)
        return res_printf("it has schema %.40s, this mallab reads up to " RES_SCHEMA
                          ": read it with the mallab that wrote it, or a newer one",
                          schema);
    if (!json_is_array(workloads) || json_array_size(workloads) > WORKLOADS_MAX)
        return res_strdup("workloads is no array of a sensible size");
    json_array_foreach(workloads, index, workload)
    {
        const char *defect = workload_defect(workload);
        if (defect != NULL)
            return res_strdup(defect);
    }
    return res_tuned_check(result);
}

enum fp_status res_json_parse(int fd, json_t **ret_result, json_error_t *ret_error)
{
    struct fp_json_bound bound = {FP_JSON_RESULT_BYTES, FP_JSON_RESULT_MEMORY};
    if (fp_memory_is_asked())
        bound = (struct fp_json_bound){fp_memory_bound(), fp_memory_bound()};
    return fp_json_read(fd, &bound, ret_result, ret_error);
}

char *res_json_unread(const char *path, enum fp_status status, const json_error_t *error)
{
    if (status != FP_ERR_CORRUPT)
        return res_printf("%s%s", error->text,
                          status == FP_ERR_LIMIT ? "; " FP_MEMORY_VARIABLE " in the environment, in bytes, "
                                                   "sets another bound"
                                                 : "");
    char begin[8] = "";
    FILE *file = strcmp(path, "-") != 0 ? fopen(path, "re") : NULL;
    const size_t length = file != NULL ? fread(begin, 1, sizeof begin, file) : sizeof begin;
    if (file != NULL)
        fclose(file);
    if (length == 0)
        return res_strdup("it is empty");
    if (strncmp(begin, "MALLAB", 6) == 0)
        return res_strdup(
            "it is a footprint or a workload, no result: 'mallab ab -o RESULT.json' makes one of it");
    char *plain = res_text_plain(error->text);
    char *problem = res_printf("no JSON: %s at byte %d%s", plain, error->position,
                               json_error_code(error) == json_error_premature_end_of_input
                                   ? ": it is cut off; copy it again, or measure anew"
                                   : "");
    free(plain);
    return problem;
}

json_t *res_json_load(const char *path, char **ret_problem)
{
    json_error_t error;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (file == NULL) {
        *ret_problem = res_strdup(strerror(errno));
        return NULL;
    }
    struct stat facts;
    if (fstat(fileno(file), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        fclose(file);
        *ret_problem = res_strdup("is a directory: name a result in it");
        return NULL;
    }
    json_t *result = NULL;
    const enum fp_status status = res_json_parse(fileno(file), &result, &error);
    const int saved = errno;
    if (file != stdin)
        fclose(file);
    if (result == NULL) {
        *ret_problem = status == FP_ERR_READ ? res_strdup(strerror(saved))
                                             : res_json_unread(path, status, &error);
        return NULL;
    }
    char *problem = res_json_check(result);
    if (problem != NULL) {
        json_decref(result);
        char *plain = res_text_plain(problem);
        free(problem);
        *ret_problem = plain;
        return NULL;
    }
    return result;
}
