/* run_parse.c - what a run printed, checked and taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/run/run.h"

#define OWNER struct res_counter
static const struct res_field COUNTER_FIELDS[] = {
    RES_ROW(TEXT, "name", name, NULL),
    RES_ROW(TEXT, "unavailable", unavailable, NULL),
    RES_ROW(NUMBER, "count", count, NULL),
    RES_ROW(TRUTH, "user_only", user_only, NULL),
    RES_ROW(NUMBER, "counted_share", counted_share, NULL),
};
static const struct res_described COUNTER = RES_DESCRIBE_WHOLLY("a counter", COUNTER_FIELDS);
#undef OWNER

/* The run's JSON is kept as it is but for the batches: as JSON values these would take ten times the memory. */
#define OWNER                   struct res_run
#define KEPT(kind, key, member) RES_ROW_AS(kind, READ_ONLY, key, member, NULL)
static const struct res_field RUN_FIELDS[] = {
    RES_LIST(COUNTS, PLAIN, "batch_ns", batch_ns, batch_count, NULL, NULL),
    RES_ROW(COUNT, "elapsed_ns", elapsed_ns, NULL),
    KEPT(TEXT, "digest", digest),
    KEPT(COUNT, "ops", ops),
    KEPT(COUNT, "inherited_ops", inherited_ops),
    KEPT(COUNT, "round", round),
    KEPT(NUMBER, "ns_per_op", ns_per_op),
    KEPT(NUMBER, "resident.peak_bytes", resident_peak_bytes),
    KEPT(NUMBER, "resident.mean_bytes", resident_mean_bytes),
    KEPT(NUMBER, "resident.end_bytes", resident_end_bytes),
    KEPT(NUMBER, "resident.start_bytes", resident_start_bytes),
    KEPT(NUMBER, "resident.idle_bytes", resident_idle_bytes),
    KEPT(NUMBER, "resident.idle_own_bytes", idle_own_bytes),
    KEPT(NUMBER, "resident.given_back_share", given_back_share),
    KEPT(TEXT, "resident.not_predicted_why", not_predicted_why),
    KEPT(NUMBER, "live_end_bytes", live_end_bytes),
    KEPT(NUMBER, "faults_minor", faults_minor),
    KEPT(NUMBER, "user_ns", user_ns),
    KEPT(NUMBER, "system_ns", system_ns),
    KEPT(NUMBER, "window_max_ns", window_max_ns),
    KEPT(TEXT, "touch", touch),
    KEPT(TEXT, "threads_as", threads_as),
    KEPT(TEXT, "binding.pin", pin),
    KEPT(NUMBER, "binding.nice", nice),
    KEPT(TEXT, "binding.nice_refused", nice_refused),
    KEPT(TEXTS, "substituted", substituted),
    RES_LIST(LIST, READ_ONLY, "counters", counters, counter_count, &COUNTER, NULL),
    KEPT(NUMBER, "proof.clock.own_threads_unseen", own_threads_unseen),
    KEPT(NUMBER, "proof.clock.own_threads_lost", own_threads_lost),
    KEPT(JSON, "proof.settings", settings),
};
const struct res_described RES_RUN = {"a run",
                                      RUN_FIELDS,
                                      sizeof RUN_FIELDS / sizeof RUN_FIELDS[0],
                                      sizeof(struct res_run),
                                      offsetof(struct res_run, json),
                                      NULL};
#undef OWNER

/* Why what a run printed is no result; NULL: it is one. The caller's to free. */
static char *defect_of(const json_t *printed, const struct res_run *run)
{
    const json_t *proof = json_object_get(printed, "proof");
    const char *pass = json_string_value(json_object_get(printed, "pass"));
    const bool timed = pass == NULL || strcmp(pass, "time") == 0;
    if (!json_is_integer(json_object_get(printed, "ops")))
        return res_strdup("its result has no 'ops'");
    if (run->digest == NULL)
        return res_strdup("its result has no 'digest'");
    if (!json_is_true(json_object_get(proof, "ok"))) {
        const char *library = json_string_value(json_object_get(proof, "malloc_library"));
        return res_printf("the proof failed: calls were served by '%s'",
                          library != NULL ? library : "unknown");
    }
    if (run->inherited_ops > run->ops)
        return res_strdup("its result has no valid 'inherited_ops'");
    if (timed && (!isfinite(run->ns_per_op) || run->ns_per_op < 0))
        return res_strdup("its result has no 'ns_per_op'");
    if (!isfinite(run->resident_peak_bytes) || !isfinite(run->resident_mean_bytes) ||
        !isfinite(run->resident_end_bytes))
        return res_strdup("its result lacks 'resident' figures");
    if (timed && run->batch_ns == NULL)
        return res_strdup("its result has no valid 'batch_ns'");
    return NULL;
}

bool res_run_parse(const char *output, size_t length, struct res_run *ret_run, char **ret_reason)
{
    json_error_t error;
    struct res_run run = {0};
    char *problem = NULL, *reason = NULL;
    json_t *printed = json_loadb(output != NULL ? output : "", length, JSON_REJECT_DUPLICATES, &error);
    if (printed == NULL)
        reason = length == 0 ? res_strdup("it printed no result")
                             : res_printf("its result is no JSON: %s at byte %d", error.text, error.position);
    else if (!json_is_object(printed))
        reason = res_strdup("its result is no JSON object");
    else if (!res_described_read(&RES_RUN, printed, &run, &problem))
        reason = res_printf("its result is no valid one: %s", problem);
    else
        reason = defect_of(printed, &run);
    json_decref(printed);
    free(problem);
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
    free(run->said);
    res_described_release(&RES_RUN, run);
}
