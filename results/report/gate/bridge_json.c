/* bridge_json.c - the samples of a candidate in two results, for bridge.h. */
#include <string.h>

#include "results/report/gate/bridge.h"
#include "results/report/gate/compare_results.h"

static bool is_failed(const json_t *entry)
{
    return json_is_string(json_object_get(entry, "failed"));
}

bool res_partners_bridged(const struct res_partners *partners)
{
    const json_t *now = res_workload_candidate(partners->now, partners->baseline);
    const json_t *then = res_workload_candidate(partners->then, partners->baseline);
    static const char *const keys[] = {"version", "environment"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *one = json_object_get(now, keys[i]), *other = json_object_get(then, keys[i]);
        if ((one == NULL) != (other == NULL) || (one != NULL && !json_equal(one, other)))
            return false;
    }
    /* A version that is not known is no sign that nothing changed. */
    return json_is_string(json_object_get(now, "version")) && !is_failed(now) && !is_failed(then);
}

static bool others_in_both(const struct res_partners *partners)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(partners->now, "candidates"), index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (strcmp(name, partners->baseline) != 0 && res_workload_candidate(partners->then, name) != NULL)
            return true;
    }
    return false;
}

bool res_partners_yardstick(const struct res_partners *partners, const char *candidate,
                            enum res_metric metric)
{
    return res_metric_unit(metric) == RES_UNIT_NS && partners->baseline != NULL &&
           strcmp(candidate, partners->baseline) == 0 && others_in_both(partners) &&
           res_partners_bridged(partners);
}

static struct res_session session_of(const json_t *workload, const char *candidate, const char *bridge,
                                     const char *baseline, enum res_metric metric)
{
    struct res_session session = {
        .own = res_series_of(workload, res_workload_candidate(workload, candidate), metric),
        .control = res_series_of(workload, json_object_get(workload, "control"), metric),
        .controlled = res_series_of(workload, res_workload_candidate(workload, baseline), metric),
        /* Of no workload: so nothing is subtracted. */
        .harness = res_series_of(NULL, json_object_get(workload, "floor"), RES_METRIC_TIME),
    };
    if (bridge != NULL)
        session.baseline = res_series_of(workload, res_workload_candidate(workload, bridge), metric);
    return session;
}

static void session_release(struct res_session *session)
{
    res_series_release(&session->own);
    res_series_release(&session->baseline);
    res_series_release(&session->control);
    res_series_release(&session->controlled);
    res_series_release(&session->harness);
}

struct res_across res_across_partners(const struct res_partners *partners, const char *candidate,
                                      enum res_metric metric, double limit)
{
    const bool is_bridge = partners->baseline != NULL && strcmp(candidate, partners->baseline) == 0;
    const char *bridge = !is_bridge && res_partners_bridged(partners) ? partners->baseline : NULL;
    struct res_session now = session_of(partners->now, candidate, bridge, partners->baseline, metric);
    struct res_session then = session_of(partners->then, candidate, bridge, partners->baseline_then, metric);
    struct res_across across = res_across_sessions(&now, &then, metric, limit, partners->seed);
    across.is_yardstick = res_partners_yardstick(partners, candidate, metric);
    session_release(&now);
    session_release(&then);
    return across;
}
