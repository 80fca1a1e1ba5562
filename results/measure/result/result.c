/* result.c - a result from JSON, checked, as files may come from anywhere; and to it. */
#include "results/measure/result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/json_read.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/support.h"
#include "results/measure/base/lives.h"

#define SCHEMA_OURS  "mallab-"
#define SCHEMA_NAME  SCHEMA_OURS "experiment/"
#define SCHEMA_MAJOR 1 /* a higher one is refused; more keys are no new number */

#define WORKLOADS_MAX 4096u

/* ---- what a JSON of ours is ------------------------------------------------------------------ */

#define HEAD_BYTES 65536u /* the schema is one of the first keys that our writers write */

char *res_json_schema_of_file(const char *path)
{
    static const char KEY[] = "\"schema\"";
    RES_FREED char *head = res_calloc(HEAD_BYTES, 1);
    (void)res_file_begin("", path, head, HEAD_BYTES); /* else it is empty */
    const char *at = head + strspn(head, " \t\r\n");
    const char *key = *at == '{' ? strstr(at, KEY) : NULL;
    if (key == NULL)
        return NULL;
    key += sizeof KEY - 1;
    key += strspn(key, " \t\r\n:");
    RES_FREED char *schema = *key == '"' ? res_strndup(key + 1, strcspn(key + 1, "\"\n")) : res_strdup("");
    return strncmp(schema, SCHEMA_OURS, strlen(SCHEMA_OURS)) == 0 ? res_text_plain(schema) : NULL;
}

/* A row takes schemas that begin so; the last takes every other. */
static const struct {
    const char *schema, *remedy;
} REMEDIES[] = {
    {SCHEMA_NAME, "show it with 'mallab report'"},
    {"mallab-run/", "'mallab ab' makes results of many"},
    {"mallab-compare/", "name the two results that it compares"},
    {"mallab-check/", "name the result that was checked"},
    {"mallab-history/", "name the results, or their directory"},
    {"mallab-fleet/", "name the results, or their directory"},
    {"mallab-info/", "name the file that it tells of"},
    {"mallab-convert", "name the workload that was converted"},
    {"mallab-recording/", "name the directory that it lies in"},
    {"mallab-sites/", "name the recording"},
    {"mallab-status/", "name the recording"},
    {"mallab-top/", "name the recording"},
    {SCHEMA_OURS, "'mallab ab' makes results"},
    {"", "is it the right file?"},
};

const char *res_json_remedy(const char *schema)
{
    size_t i = 0;
    while (strncmp(schema != NULL ? schema : "", REMEDIES[i].schema, strlen(REMEDIES[i].schema)) != 0)
        i++;
    return REMEDIES[i].remedy;
}

/* ---- checked --------------------------------------------------------------------------------- */

static bool is_schema_of_result(const char *schema)
{
    return schema != NULL && strncmp(schema, SCHEMA_NAME, strlen(SCHEMA_NAME)) == 0;
}

/* The defect of a document, beside what its rows ask for; NULL when it is a result. */
static char *defect_of(const json_t *result)
{
    const char *schema = json_string_value(json_object_get(result, "schema"));
    const json_t *workloads = json_object_get(result, "workloads");
    if (!is_schema_of_result(schema))
        return res_printf("it is no result of 'mallab ab' (%s%.40s): %s",
                          schema != NULL ? "its schema is " : "no schema " RES_SCHEMA,
                          schema != NULL ? schema : "", res_json_remedy(schema));
    if (atoi(schema + strlen(SCHEMA_NAME)) > SCHEMA_MAJOR)
        return res_printf("it has schema %.40s, this mallab reads up to " RES_SCHEMA
                          ": read it with the mallab that wrote it, or a newer one",
                          schema);
    if (!json_is_array(workloads) || json_array_size(workloads) > WORKLOADS_MAX)
        return res_strdup("workloads is no array of a sensible size");
    return NULL;
}

/* Defects for which the rows do not ask. */
static const char *shown_defect(const struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++)
        if (result->workloads[i].candidate_count == 0)
            return "a workload has no candidates";
    if (res_result_is_fleet(result))
        return "it has a fleet and no workloads";
    return NULL;
}

void res_result_names_apart(struct res_result *result)
{
    RES_FREED struct res_named *named = res_calloc(result->workload_count + 1, sizeof *named);
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        named[i] = (struct res_named){&workload->name, workload->label, workload->file_digest};
    }
    res_names_apart(named, result->workload_count);
}

void res_result_of_fleet(struct res_fleet *fleet, struct res_result *ret_result)
{
    res_described_init(&RES_RESULT, ret_result);
    ret_result->schema = res_strdup(RES_SCHEMA);
    ret_result->mallab_version = res_strdup(fleet->mallab_version);
    ret_result->baseline = res_strdup(fleet->baseline);
    ret_result->fleet = fleet;
}

static bool read_result(const json_t *json, struct res_lists *lists, struct res_result *ret_result,
                        char **ret_problem)
{
    *ret_result = (struct res_result){0};
    char *problem = defect_of(json);
    if (problem != NULL) {
        *ret_problem = res_text_plain(problem);
        free(problem);
        return false;
    }
    if (!res_described_read_lists(&RES_RESULT, json, lists, ret_result, ret_problem))
        return false;
    const char *defect = shown_defect(ret_result);
    if (defect != NULL) {
        res_described_release(&RES_RESULT, ret_result);
        *ret_problem = res_strdup(defect);
        return false;
    }
    res_result_names_apart(ret_result);
    return true;
}

bool res_result_read(const json_t *json, struct res_result *ret_result, char **ret_problem)
{
    return read_result(json, NULL, ret_result, ret_problem);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Parses a text as our writers write it, without what no row names. ret_lists: with what the parser would have taken for them. */
static bool parse_rows(const char *text, size_t size, const struct fp_json_bound *bound, json_t **ret_result,
                       struct res_lists *ret_lists)
{
    json_error_t error;
    size_t kept;
    RES_FREED char *rows = res_realloc(NULL, size, 1);
    ret_lists->left = bound->memory_bytes / FP_JSON_ELEMENT_BYTES;
    const bool parsed = res_described_text(&RES_RESULT, text, size, rows, &kept, ret_lists) &&
                        fp_json_parse(rows, kept, bound, ret_result, &error) == FP_OK;
    if (parsed && is_schema_of_result(json_string_value(json_object_get(*ret_result, "schema"))))
        return true;
    if (parsed)
        json_decref(*ret_result);
    res_lists_release(ret_lists);
    return false;
}

/* Bounded as results are (footprint/base/json_read.h). ret_lists: NULL, where all members are wanted. */
static enum fp_status parse(int fd, struct res_lists *ret_lists, json_t **ret_result, json_error_t *ret_error)
{
    struct fp_json_bound bound = FP_JSON_BOUND;
    if (fp_memory_is_asked())
        bound = (struct fp_json_bound){fp_memory_bound(), fp_memory_bound()};
    char *text;
    size_t size = 0;
    enum fp_status status = fp_json_text(fd, bound.text_bytes, &text, &size, ret_error);
    const int saved = errno;
    if (status == FP_OK && !(ret_lists != NULL && parse_rows(text, size, &bound, ret_result, ret_lists)))
        status = fp_json_parse(text, size, &bound, ret_result, ret_error);
    free(text);
    errno = saved;
    return status;
}

/* Tells why reading failed, in one line; of a file that is no JSON, what it is instead where that can be told. */
static char *unread(const char *path, enum fp_status status, const json_error_t *error)
{
    if (status != FP_ERR_CORRUPT)
        return res_printf("%s%s", error->text,
                          status == FP_ERR_LIMIT ? "; " FP_MEMORY_VARIABLE " in the environment, in bytes, "
                                                   "sets another bound"
                                                 : "");
    char begin[8] = "";
    if (strcmp(path, "-") != 0 && res_file_begin("", path, begin, sizeof begin) && *begin == '\0')
        return res_strdup("it is empty");
    if (strncmp(begin, "MALLAB", 6) == 0)
        return res_strdup(
            "it is a footprint or a workload, no result: 'mallab ab -o RESULT.json' makes one of it");
    RES_FREED char *plain = res_text_plain(error->text);
    char *problem = res_printf("no JSON: %s at byte %d%s", plain, error->position,
                               json_error_code(error) == json_error_premature_end_of_input
                                   ? ": it is cut off; copy it again, or measure anew"
                                   : "");
    return problem;
}

bool res_result_load_fd(int fd, const char *path, bool only_rows, struct res_result *ret_result,
                        bool *ret_is_other, char **ret_problem)
{
    json_error_t error;
    json_t *json = NULL;
    struct res_lists lists = {0};
    const enum fp_status status = parse(fd, only_rows ? &lists : NULL, &json, &error);
    const int saved = errno;
    const char *schema = json_string_value(json_object_get(json, "schema"));
    *ret_is_other = json != NULL && !is_schema_of_result(schema);
    if (json == NULL)
        *ret_problem = status == FP_ERR_READ ? res_strdup(strerror(saved)) : unread(path, status, &error);
    const bool read = json != NULL && read_result(json, only_rows ? &lists : NULL, ret_result, ret_problem);
    json_decref(json);
    res_lists_release(&lists);
    return read;
}

bool res_result_load(const char *path, struct res_result *ret_result, char **ret_problem)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    bool read = false, is_other;
    struct stat facts;
    if (fd < 0)
        *ret_problem = res_strdup(strerror(errno));
    else if (fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode))
        *ret_problem = res_strdup("it is a directory: name a result in it; of all together 'mallab report "
                                  "--together' has the verdict");
    else
        read = res_result_load_fd(fd, path, false, ret_result, &is_other, ret_problem);
    if (fd >= 0 && !is_stdin)
        (void)close(fd); /* only read from */
    return read;
}

/* ---- the struct ------------------------------------------------------------------------------ */

json_t *res_result_write(const struct res_result *result)
{
    return res_described_write(&RES_RESULT, result);
}

void res_result_release(struct res_result *result)
{
    if (result->fleet != NULL)
        res_fleet_release(result->fleet); /* what stands in a fleet's own document alone, too */
    res_described_release(&RES_RESULT, result);
}

struct res_result_entry *res_result_entry_at(struct res_result_workload *workload, size_t i)
{
    return i < workload->candidate_count        ? &workload->candidates[i]
           : i == workload->candidate_count     ? &workload->control
           : i == workload->candidate_count + 1 ? workload->floor
                                                : NULL;
}

const char *res_workload_key(const struct res_result_workload *workload)
{
    return workload->digest != NULL ? workload->digest : workload->file_digest;
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

/* ---- the rows of a confirmation ---- */

static const char *const TIMED_BY[] = {"hyperfine", "wait4", "service", NULL};

#define RATIOS(name)                                                                                         \
    RES_RATIO_ROWS(                                                                                          \
        #name ".", name.ratio, name.interval.low, name.interval.high,                                        \
        "over the baseline's run beside it: mean of the logarithms, a fifth of them left out at each "       \
        "end",                                                                                               \
        "its 95 % interval")
#define SAMPLES(name, unit)                                                                                  \
    RES_LIST(NUMBERS, PLAIN, #name ".baseline_samples_" unit, name.baseline, name.baseline_count, NULL,      \
             "of the baseline's runs"),                                                                      \
        RES_LIST(NUMBERS, PLAIN, #name ".samples_" unit, name.own, name.own_count, NULL,                     \
                 "of the candidate's runs beside them")

#define OWNER struct res_confirmed
static const struct res_field CONFIRMED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "candidate", candidate, "its name"),
    RES_ROW(TEXT, "library", library, "what is preloaded for it"),
    RES_ROW(PAIRS, "environment", environment, "variables that it sets"),
    RES_ROW(TRUTH, "control", is_control, "whether it is the baseline beside itself"),
    RES_ROW(TEXT, "failed", failed, "why the program failed under it, or `null`"),
    RES_ROW(COUNT, "runs", runs, "runs that were timed, each beside one of the baseline"),
    RES_ROW(WHOLE, "time.baseline_ns", time.baseline_median,
            "user and system time of the baseline's runs, of all their processes; median"),
    RES_ROW(WHOLE, "time.saved_ns", saved_ns, "what the candidate saves of it; below 0: it takes more"),
    RATIOS(time),
    SAMPLES(time, "ns"),
    RES_ROW(WHOLE, "wall.baseline_ns", wall.baseline_median, "time that passed; median"),
    RATIOS(wall),
    SAMPLES(wall, "ns"),
    RES_ROW(WHOLE, "peak.baseline_bytes", peak.baseline_median,
            "resident, of the process with most; of a service, or a group of `ab`, all together; median"),
    RES_ROW(WHOLE, "peak.bytes", peak_bytes, "likewise under the candidate"),
    RATIOS(peak),
    SAMPLES(peak, "bytes"),
    RES_WORD("verdict.time", time_verdict, RES_TIME_VERDICTS,
             "as of the replays; the noise is what the baseline differs by from itself"),
    RES_WORD("verdict.peak", peak_verdict, RES_MEMORY_VERDICTS, "likewise"),
};
const struct res_described RES_CONFIRMED = RES_DESCRIBE("what was confirmed of a candidate",
                                                        CONFIRMED_FIELDS);
#undef OWNER

#define OWNER struct res_confirmation
static const struct res_field CONFIRMATION_FIELDS[] = {
    RES_ROW(TEXTS, "command", command, "what ran; `null` of a service"),
    RES_ROW(TEXT, "start", start, "of a service: `--start`, else `null`"),
    RES_ROW(TEXT, "ready", ready, "`--ready`"),
    RES_ROW(TEXT, "load", load, "`--load`"),
    RES_ROW(TEXT, "stop", stop, "`--stop`"),
    RES_WORD("timed_by", timed_by, TIMED_BY,
             "`hyperfine` or `wait4`; `service`: /proc and wait4 of all its processes"),
    RES_ROW(COUNT, "runs", runs, "how often the program ran, first looks and runs for memory among them"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "pairs_asked", pairs_asked, "`-n`"),
    RES_ROW(WHOLE, "budget_ns", budget_ns, "time that the runs could take; `null`: any"),
    RES_ROW(WHOLE, "elapsed_ns", elapsed_ns, "time that they took"),
    RES_ROW(WHOLE, "run_ns", run_ns, "what one run took; mean"),
    RES_ROW(TRUTH, "stopped", stopped, "whether Ctrl-C ended it"),
};
const struct res_described RES_CONFIRMATION = RES_DESCRIBE("a confirmation", CONFIRMATION_FIELDS);
#undef OWNER

const struct res_confirmed *res_confirmed_named(const struct res_confirmed *all, size_t count,
                                                const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_control && strcmp(all[i].candidate, name) == 0)
            return &all[i];
    return NULL;
}

double res_confirmed_baseline_bytes(const struct res_confirmed *all, size_t count)
{
    double bytes = NAN;
    for (size_t i = 0; i < count; i++)
        bytes = isfinite(all[i].peak.baseline_median) ? all[i].peak.baseline_median : bytes;
    return bytes;
}
