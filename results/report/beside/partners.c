/* partners.c - see beside.h. */
#include "results/report/beside/beside.h"

#include <stdlib.h>
#include <string.h>

/* ---- partners ------------------------------------------------------------------------------- */

static bool same_text(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* The workload with this digest, of several hosts' the one of this workload's host; a label that one of both lacks tells nothing. */
static const struct res_result_workload *with_digest(const struct res_result *result,
                                                     const struct res_result_workload *workload)
{
    const struct res_result_workload *found = NULL;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *one = &result->workloads[i];
        if (!same_text(res_workload_key(one), res_workload_key(workload)))
            continue;
        if (same_text(one->label, workload->label))
            return one;
        if (found == NULL && (one->label == NULL || workload->label == NULL))
            found = one;
    }
    return found;
}

/* of_host: of the same one. */
static bool any_common(const struct res_result *earlier, const struct res_result *result, bool of_host)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload workload = result->workloads[i];
        if (!of_host)
            workload.label = NULL;
        if (with_digest(earlier, &workload) != NULL)
            return true;
    }
    return false;
}

const struct res_result_workload *res_partner(const struct res_result *earlier,
                                              const struct res_result *result,
                                              const struct res_result_workload *workload)
{
    if (any_common(earlier, result, true))
        return with_digest(earlier, workload);
    if (earlier->workload_count == 1 && result->workload_count == 1)
        return &earlier->workloads[0];
    for (size_t i = 0; i < earlier->workload_count; i++) {
        if (strcmp(earlier->workloads[i].name, workload->name) == 0)
            return &earlier->workloads[i];
    }
    return NULL;
}

char *res_workloads_problem(const struct res_result *earlier, const struct res_result *result)
{
    if (any_common(earlier, result, true))
        return NULL;
    if (earlier->workload_count == 0 || result->workload_count == 0)
        return res_strdup("a result has no workload to compare: 'mallab ab' makes results with one");
    return res_printf("they replayed different workloads (then '%s', now '%s': %s), so their "
                      "figures do not compare: two results do that 'mallab ab' made of one recording "
                      "(or add --any-workload)",
                      earlier->workloads[0].name, result->workloads[0].name,
                      any_common(earlier, result, false) ? "of another host" : "no digest in common");
}

/* ---- what differs --------------------------------------------------------------------------- */

/* A value for messages: JSON in one line. */
static char *value_text(const struct res_described *described, const void *from, const char *key)
{
    json_t *value = res_described_value(described, from, key);
    RES_FREED char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    RES_FREED char *cut = res_strndup(dumped != NULL ? dumped : "null", 80);
    char *plain = res_text_plain(cut);
    json_decref(value);
    return plain;
}

char *res_machine_problem(const struct res_result *earlier, const struct res_result *result)
{
    static const char *const KEYS[] = {"cpu", "cpus", "architecture"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (res_described_same(&RES_MACHINE, &earlier->machine, &result->machine, KEYS[i]))
            continue;
        RES_FREED char *then = value_text(&RES_MACHINE, &earlier->machine, KEYS[i]);
        RES_FREED char *now = value_text(&RES_MACHINE, &result->machine, KEYS[i]);
        return res_printf(
            "they come from different machines (%s: then %s, now %s); measure both on one, check "
            "against the baseline of the same run, or add --any-machine",
            KEYS[i], then, now);
    }
    return NULL;
}

/* Adds a row that differs, of a struct that both results have. */
static void add_difference(struct res_beside *beside, const char *what, const struct res_described *described,
                           const void *then, const void *now, const char *key)
{
    if (res_described_same(described, then, now, key))
        return;
    beside->differences = res_realloc(beside->differences, beside->difference_count + 1,
                                      sizeof *beside->differences);
    beside->differences[beside->difference_count++] = (struct res_differing){
        what, key, value_text(described, then, key), value_text(described, now, key)};
}

void res_differences_add(struct res_beside *beside, const struct res_result *earlier,
                         const struct res_result *result)
{
    static const char *const SETTINGS[] = {
        "label", "commit", "baseline", "rounds", "memory_rounds_asked", "memory_idle_ms", "one_thread"};
    static const char *const MACHINE[] = {"cpu",
                                          "cpus",
                                          "architecture",
                                          "memory_bytes",
                                          "kernel",
                                          "libc",
                                          "transparent_huge_pages",
                                          "governor",
                                          "virtual_machine"};
    add_difference(beside, "mallab", &RES_RESULT, earlier, result, "mallab_version");
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
        add_difference(beside, "settings", &RES_RESULT, earlier, result, SETTINGS[i]);
    for (size_t i = 0; i < sizeof MACHINE / sizeof MACHINE[0]; i++)
        add_difference(beside, "machine", &RES_MACHINE, &earlier->machine, &result->machine, MACHINE[i]);
}

/* ---- libraries ------------------------------------------------------------------------------ */

char *res_library_change(const struct res_result_entry *then, const struct res_result_entry *now)
{
    const char *old = then->version != NULL ? then->version : "-";
    const char *new = now->version != NULL ? now->version : "-";
    if (strcmp(old, new) != 0)
        return res_printf("%s: version %s then, %s now", now->name, old, new);
    return res_build_change(now->library != NULL ? now->library : now->name, now->version, &then->build,
                            &now->build);
}

struct res_texts res_changed_libraries(const struct res_result *earlier, const struct res_result *result)
{
    struct res_texts lines = {.known = true};
    const struct res_machine *before = &earlier->machine, *machine = &result->machine;
    bool unknown = false;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_result_workload *partner = res_partner(earlier, result, workload);
        for (size_t k = 0; partner != NULL && k < workload->candidate_count; k++) {
            const struct res_result_entry *now = &workload->candidates[k];
            const struct res_result_entry *then = res_result_entry_named(partner, now->name);
            if (then == NULL)
                continue;
            res_texts_take_once(&lines, res_library_change(then, now));
            unknown |= then->build.digest == NULL && now->build.digest != NULL;
        }
    }
    if (machine->libc != NULL && same_text(before->libc, machine->libc))
        res_texts_take_once(&lines, res_build_change("libc.so.6",
                                                     machine->libc + strcspn(machine->libc, "0123456789"),
                                                     &before->libc_build, &machine->libc_build));
    if (unknown)
        res_texts_add(&lines, "which builds of the libraries the earlier result measured is not known");
    return lines;
}

/* ---- what only one of both has ------------------------------------------------------------------ */

void res_lone_add(struct res_beside *beside, const struct res_result *earlier,
                  const struct res_result *result)
{
    for (size_t i = 0; i < earlier->workload_count; i++)
        if (res_partner(result, earlier, &earlier->workloads[i]) == NULL)
            res_texts_take(&beside->told, res_printf("workload only then: %s", earlier->workloads[i].name));
    for (size_t i = 0; i < result->workload_count; i++)
        if (res_partner(earlier, result, &result->workloads[i]) == NULL)
            res_texts_take(&beside->told, res_printf("workload only now: %s", result->workloads[i].name));
}

/* ---- ratios of two sessions, and what bridges them ---- */

const char *const RES_BRIDGE_WORDS[] = {"none", "baseline", NULL};

static double median_of(const struct res_series *series)
{
    return series->count > 0 ? res_median(series->values, series->count) : NAN;
}

/* ---- one session ---------------------------------------------------------------------------- */

static struct res_logarithm over_baseline(const struct res_session *session)
{
    return res_series_logarithm(&session->own, &session->baseline);
}

/* The logarithm of net time over the harness's: both are timed whole, x times the harness's, and of that x - 1 is net. */
static struct res_logarithm over_harness(const struct res_series *own, const struct res_series *harness)
{
    const struct res_steady_sides sides = {.other = &own->time.batches, .base = &harness->time.batches};
    struct res_logarithm logarithm = res_steady_logarithm(&sides);
    const double times = exp(logarithm.value);
    if (!(times > 1))
        return RES_NO_LOGARITHM;
    logarithm.value = log(times - 1);
    logarithm.error *= times / (times - 1);
    return logarithm;
}

/* ---- both ----------------------------------------------------------------------------------- */

static void set(struct res_logarithm difference, size_t rounds, struct res_finding *finding)
{
    finding->estimate = res_logarithm_estimate(difference);
    finding->tails = res_logarithm_tails(difference, finding->rule.limit);
    finding->rounds = rounds;
}

static size_t fewer(size_t one, size_t other)
{
    return one < other ? one : other;
}

static size_t rounds_of(const struct res_session *session)
{
    return fewer(session->own.count, session->baseline.count);
}

static void set_over_baseline(const struct res_session *now, const struct res_session *then,
                              struct res_finding *finding)
{
    const bool is_time = finding->rule.metric == RES_METRIC_TIME;
    const double plain = is_time ? now->own.ns_per_op / then->own.ns_per_op
                                 : res_ratio_of(median_of(&now->own), median_of(&then->own));
    set(res_logarithms_difference(over_baseline(now), over_baseline(then)),
        fewer(rounds_of(now), rounds_of(then)), finding);
    finding->bridge = RES_BRIDGE_BASELINE;
    finding->bridge_ratio = plain / finding->estimate.value;
}

/* ---- noise ---------------------------------------------------------------------------------- */

static struct res_logarithm controlled(const struct res_session *session)
{
    return res_series_logarithm(&session->control, &session->controlled);
}

/* Both controls' truth is 1, so they have a degree of freedom each; what their rounds scatter by is in the figure's own error already. A
 * ratio of two sessions has four entries in it as both have together. */
static struct res_interval noise_of_times(const struct res_session *now, const struct res_session *then)
{
    const struct res_logarithm both[] = {controlled(now), controlled(then)};
    double squares = 0;
    size_t freedom = 0;
    for (size_t i = 0; i < 2; i++) {
        if (isfinite(both[i].value) && isfinite(both[i].error)) {
            squares += pow(both[i].value, 2) - pow(both[i].error, 2);
            freedom++;
        }
    }
    if (freedom == 0 || squares <= 0)
        return (struct res_interval){1, 1};
    const double reach = res_student_quantile(freedom) * sqrt(squares * 2 / (double)freedom);
    return (struct res_interval){exp(-reach), exp(reach)};
}

/* The bound that is nearer to 1 of what baseline and harness moved apart by; 1 where the interval holds it. */
static double unevenness(const struct res_session *now, const struct res_session *then)
{
    const struct res_logarithm one = over_harness(&now->baseline, &now->harness);
    const struct res_logarithm other = over_harness(&then->baseline, &then->harness);
    if (!isfinite(one.value) || !isfinite(other.value))
        return 1;
    const struct res_interval apart = res_logarithm_estimate(res_logarithms_difference(one, other)).interval;
    return apart.low > 1 ? apart.low : apart.high < 1 ? apart.high : 1;
}

static struct res_interval noise_of_counts(const struct res_session *now, const struct res_session *then)
{
    const struct res_logarithm all[] = {controlled(now), controlled(then),
                                        res_series_across(&now->baseline, &then->baseline)};
    struct res_interval widest = {1, 1};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct res_interval interval = res_logarithm_estimate(all[i]).interval;
        const struct res_interval noise = res_noise(&interval);
        widest = (struct res_interval){fmin(widest.low, noise.low), fmax(widest.high, noise.high)};
    }
    return widest;
}

void res_across_sessions(const struct res_session *now, const struct res_session *then,
                         struct res_finding *finding)
{
    const bool is_time = RES_METRICS[finding->rule.metric].unit == RES_UNIT_NS;
    finding->rounds_needed = res_series_rounds_needed(then->own.of_passes ? &now->own : &then->own);
    finding->noise = is_time ? noise_of_times(now, then) : noise_of_counts(now, then);
    if (!is_time || now->baseline.count == 0 || then->baseline.count == 0) {
        set(res_series_across(&now->own, &then->own), fewer(now->own.count, then->own.count), finding);
        return;
    }
    set_over_baseline(now, then, finding);
    const double apart = unevenness(now, then), more = fmax(apart, 1 / apart);
    finding->machine_moved = more > finding->noise.high;
    if (finding->machine_moved)
        finding->noise = (struct res_interval){1 / more, more};
}

/* ---- two results ----------------------------------------------------------------------------- */

/* Tells whether it is one allocator with the same settings in both, and did not fail. Equal bytes are enough; without them its version has to
 * be known and its build not known to differ: a version that is not known is no sign that nothing changed. */
static bool is_same(const struct res_partners *partners, const char *name)
{
    const struct res_result_entry *now = res_result_entry_named(partners->now, name);
    const struct res_result_entry *then = res_result_entry_named(partners->then, name);
    if (now == NULL || then == NULL || now->failed != NULL || then->failed != NULL ||
        !res_described_same(&RES_RESULT_ENTRY, now, then, "environment"))
        return false;
    return same_text(now->build.digest, then->build.digest) ||
           (same_text(now->version, then->version) && !res_builds_differ(&now->build, &then->build));
}

/* The allocator that bridges times: the baseline where it is the same in both, else the first that is. NULL: none. */
static const char *bridge_of(const struct res_partners *partners)
{
    if (is_same(partners, partners->result->baseline))
        return partners->result->baseline;
    for (size_t i = 0; i < partners->now->candidate_count; i++)
        if (is_same(partners, partners->now->candidates[i].name))
            return partners->now->candidates[i].name;
    return NULL;
}

static bool others_in_both(const struct res_partners *partners, const char *bridge)
{
    for (size_t i = 0; i < partners->now->candidate_count; i++) {
        const char *name = partners->now->candidates[i].name;
        if (strcmp(name, bridge) != 0 && res_result_entry_named(partners->then, name) != NULL)
            return true;
    }
    return false;
}

bool res_partners_yardstick(const struct res_partners *partners, const char *candidate,
                            enum res_metric metric)
{
    const char *bridge = bridge_of(partners);
    return RES_METRICS[metric].unit == RES_UNIT_NS && bridge != NULL && strcmp(candidate, bridge) == 0 &&
           others_in_both(partners, bridge);
}

static struct res_session session_of(const struct res_result_workload *workload, const char *candidate,
                                     const char *bridge, const char *baseline, enum res_metric metric)
{
    struct res_session session = {
        .own = res_series_of(workload, res_result_entry_named(workload, candidate), metric),
        .control = res_series_of(workload, &workload->control, metric),
        .controlled = res_series_of(workload, res_result_entry_named(workload, baseline), metric),
        /* The series has no workload, so nothing is subtracted. */
        .harness = res_series_of(NULL, workload->floor, RES_METRIC_TIME),
    };
    if (bridge != NULL)
        session.baseline = res_series_of(workload, res_result_entry_named(workload, bridge), metric);
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

void res_across_partners(const struct res_partners *partners, struct res_finding *finding)
{
    const char *candidate = finding->candidate, *found = bridge_of(partners);
    const enum res_metric metric = finding->rule.metric;
    const struct res_result_entry *entry = res_result_entry_named(partners->now, candidate);
    const struct res_result_entry *entry_then = res_result_entry_named(partners->then, candidate);
    const char *bridge = found != NULL && strcmp(candidate, found) == 0 ? NULL : found;
    struct res_session now = session_of(partners->now, candidate, bridge, partners->result->baseline, metric);
    struct res_session then = session_of(partners->then, candidate, bridge, partners->earlier->baseline,
                                         metric);
    res_across_sessions(&now, &then, finding);
    finding->then = res_metric_value(partners->then, entry_then, metric);
    finding->bridged_by = finding->bridge == RES_BRIDGE_BASELINE ? bridge : NULL;
    finding->is_unchanged = is_same(partners, candidate) &&
                            same_text(partners->now->digest, partners->then->digest) &&
                            same_text(entry->build.digest, entry_then->build.digest);
    finding->is_yardstick = res_partners_yardstick(partners, candidate, metric) ||
                            (finding->is_unchanged && finding->bridged_by == NULL &&
                             finding->rule.text == NULL && /* a comparison's */
                             RES_METRICS[metric].unit == RES_UNIT_NS);
    session_release(&now);
    session_release(&then);
}

struct res_interval res_control_noise(const struct res_result_workload *workload, const char *baseline,
                                      enum res_metric metric)
{
    struct res_series control = res_series_of(workload, &workload->control, metric);
    struct res_series base = res_series_of(workload, res_result_entry_named(workload, baseline), metric);
    const struct res_estimate aa = res_logarithm_estimate(res_series_logarithm(&control, &base));
    res_series_release(&control);
    res_series_release(&base);
    return res_noise(&aa.interval);
}
