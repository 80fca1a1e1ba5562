/* outcome_json.c - a run as one JSON object. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "replay/outcome/outcome.h"
#include "replay/outcome/outcome_parts.h"
#include "replay/outcome/outcome_set.h"

static const char IDLE_NOTE[] = "not measured: --idle-ms was 0";

/* Counts beyond what JSON's signed numbers hold do not occur: 2^63 bytes or nanoseconds. */
static void set_count(json_t *object, const char *key, uint64_t value)
{
    set(object, key, json_integer((json_int_t)value));
}

static void set_real(json_t *object, const char *key, double value)
{
    set(object, key, json_real(value));
}

/* Text that is not UTF-8 (a path may be anything) becomes null. */
static void set_text(json_t *object, const char *key, const char *value)
{
    json_t *text = value != NULL ? json_string(value) : NULL;
    set(object, key, text != NULL ? text : json_null());
}

static void set_digest(json_t *object, const char *key, uint64_t digest)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    set_text(object, key, text);
}

static json_t *array_of(const uint64_t *values, uint64_t count)
{
    json_t *array = json_array();
    for (uint64_t i = 0; i < count; i++)
        append(array, json_integer((json_int_t)values[i]));
    return array;
}

static json_t *settings_json(const struct rep_settings *settings)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < settings->count; i++) {
        const struct rep_setting *setting = &settings->list[i];
        json_t *entry = json_object();
        set_text(entry, "asked", setting->asked);
        set_text(entry, "found", setting->found[0] != '\0' ? setting->found : NULL);
        set_text(entry, "from", setting->from);
        set(object, setting->name, entry);
    }
    return object;
}

static json_t *behind_json(const struct rep_account *account)
{
    if (!(account->speed > 0))
        return json_null();
    json_t *object = json_object();
    set_count(object, "most_ns", account->behind_most_ns);
    set_count(object, "end_ns", account->behind_end_ns);
    return object;
}

static json_t *asks_json(const struct rep_account *account)
{
    json_t *object = json_object();
    set_count(object, "asked", account->asks.asked);
    set_count(object, "served", account->asks.served);
    set_count(object, "own_threads", account->threads);
    set_count(object, "own_threads_unseen", account->unseen);
    set_count(object, "own_threads_lost", account->lost);
    return object;
}

static json_t *proof_json(const struct rep_outcome *outcome)
{
    const struct rep_proof *proof = outcome->proof;
    json_t *object = json_object();
    set(object, "ok", json_boolean(proof->ok));
    set_text(object, "kind", proof->kind);
    set_text(object, "expected", proof->expected);
    set_text(object, "malloc_library", proof->malloc_library);
    set_text(object, "free_library", proof->free_library);
    set_text(object, "new_library", proof->new_library);
    set_text(object, "version", proof->version[0] != '\0' ? proof->version : NULL);
    set(object, "settings", settings_json(outcome->settings));
    if (strcmp(proof->kind, "none") == 0)
        set_count(object, "harness_calls", proof->harness_calls);
    set(object, "clock", asks_json(outcome->account));
    return object;
}

static void set_known(json_t *object, const char *key, int64_t bytes)
{
    set(object, key, bytes != REP_WASTE_UNKNOWN ? json_integer(bytes) : json_null());
}

static json_t *waste_sample_json(const struct rep_waste_sample *sample)
{
    json_t *object = json_object();
    json_t *statistics = json_object();
    set_count(object, "ops", sample->ops);
    set_count(object, "time_ns", sample->time_ns);
    set_count(object, "resident_bytes", sample->resident_bytes);
    set_count(object, "live_bytes", sample->live_bytes);
    set_count(object, "live_objects", sample->live_objects);
    set_known(object, "usable_bytes", sample->usable_bytes);
    set_known(object, "rounding_bytes", sample->rounding_bytes);
    set_known(object, "cached_bytes", sample->cached_bytes);
    set_known(object, "metadata_bytes", sample->metadata_bytes);
    set_known(object, "rest_bytes", sample->rest_bytes);
    set_known(object, "huge_page_bytes", sample->huge_page_bytes);
    for (uint32_t i = 0; i < sample->statistic_count; i++)
        set_count(statistics, sample->statistics[i].name, sample->statistics[i].bytes);
    set(object, "allocator_bytes", statistics);
    return object;
}

static json_t *waste_json(const struct rep_outcome *outcome)
{
    if (outcome->waste == NULL)
        return json_null();
    json_t *object = json_object();
    set(object, "peak", outcome->waste->peak.taken ? waste_sample_json(&outcome->waste->peak) : json_null());
    set(object, "end", waste_sample_json(&outcome->waste->end));
    return object;
}

static json_t *limit_json(const struct rep_limit *limit)
{
    if (limit->bytes == 0)
        return json_null();
    json_t *object = json_object();
    const bool of_group = strcmp(limit->by, "RLIMIT_DATA") != 0;
    set_count(object, "bytes", limit->bytes);
    set_count(object, "base_bytes", limit->base_bytes);
    set_text(object, "by", limit->by);
    set(object, "peak_bytes", limit->has_peak ? json_integer((json_int_t)limit->peak_bytes) : json_null());
    set(object, "at_limit_count", of_group ? json_integer((json_int_t)limit->at_limit) : json_null());
    return object;
}

static json_t *check_json(const struct rep_outcome *outcome)
{
    if (outcome->check == NULL)
        return json_null();
    json_t *object = json_object();
    set_count(object, "objects_verified", atomic_load(&outcome->check->verified));
    return object;
}

/* The share of what could be given back that was: of the bytes by which the peak exceeds the live bytes at the end. */
static json_t *given_back_json(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    const uint64_t live = outcome->summary->live_bytes_end;
    const uint64_t left = outcome->idle_ms > 0 ? meters->idle_bytes : meters->end_bytes;
    if (meters->peak_bytes <= live)
        return json_null();
    const uint64_t given = meters->peak_bytes > left ? meters->peak_bytes - left : 0;
    const double share = (double)given / (double)(meters->peak_bytes - live);
    return json_real(share < 1 ? share : 1); /* memory that was never touched is live and not resident */
}

static json_t *resident_json(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    json_t *object = json_object();
    set_count(object, "start_bytes", meters->start_bytes);
    set_count(object, "peak_bytes", meters->peak_bytes);
    set_text(object, "peak_from", meters->peak_by_kernel ? "kernel" : "samples");
    set_count(object, "mean_bytes", (uint64_t)(meters->mean_bytes + 0.5));
    set_text(object, "mean_over", meters->mean_by_time ? "time" : "ops");
    set_count(object, "end_bytes", meters->end_bytes);
    if (outcome->idle_ms > 0)
        set_count(object, "idle_bytes", meters->idle_bytes);
    else
        set(object, "idle_bytes", json_null());
    set(object, "idle_own_bytes",
        outcome->idle_ms > 0 ? json_integer((json_int_t)meters->idle_own_bytes) : json_null());
    set_count(object, "idle_ms", outcome->idle_ms);
    set_text(object, "idle_with", outcome->idle_ms > 0 ? outcome->idle_with : NULL);
    if (outcome->idle_ms == 0)
        set_text(object, "idle_note", IDLE_NOTE);
    set(object, "given_back_share", given_back_json(outcome));
    set_text(object, "clock", outcome->account->recorded ? "recorded" : "real");
    set(object, "predicted", json_boolean(rep_account_doubt(outcome->account) == NULL));
    set_text(object, "not_predicted_why", rep_account_doubt(outcome->account));
    return object;
}

static json_t *samples_json(const struct rep_meters *meters)
{
    json_t *object = json_object();
    set(object, "time_ns", array_of(meters->time_ns, meters->window_count));
    set(object, "live_bytes", array_of(meters->live_bytes, meters->window_count));
    set(object, "resident_bytes", array_of(meters->resident_bytes, meters->window_count));
    return object;
}

static json_t *batches_json(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    json_t *array = json_array();
    for (uint64_t i = 0; i < meters->window_count; i++) {
        const double ns = rep_clock_ns(outcome->clock, meters->ticks[i]);
        append(array, json_integer((json_int_t)(ns + 0.5)));
    }
    return array;
}

/* Only functions that the workload calls: the others do not matter to this run. */
static json_t *substituted_json(const struct rep_outcome *outcome)
{
    json_t *array = json_array();
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if ((outcome->substituted >> call & 1) != 0 && outcome->summary->ops_by_call[call] > 0)
            append(array, json_string(fp_call_name(call)));
    }
    return array;
}

/* Calls that were watched took longer than the allocator did: no figure is better than that one. */
static void set_timed(json_t *root, const struct rep_outcome *outcome)
{
    const bool timed = rep_outcome_is_time_pass(outcome);
    set(root, "ns_per_op", timed ? json_real(rep_outcome_ns_per_op(outcome)) : json_null());
    set(root, "allocator_ns",
        timed ? json_integer((json_int_t)(rep_outcome_allocator_ns(outcome) + 0.5)) : json_null());
}

static void set_costs(json_t *root, const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    const struct rep_exec_totals *totals = outcome->totals;
    set_timed(root, outcome);
    set_count(root, "wall_ns", meters->wall_ns);
    set_count(root, "wait_ns", (uint64_t)(rep_clock_ns(outcome->clock, totals->wait_ticks) + 0.5));
    set_count(root, "waits", totals->waits);
    set_count(root, "waits_slept", totals->sleeps);
    set_count(root, "prepare_ns", totals->prepare_ns);
    set_count(root, "user_ns", meters->user_ns);
    set_count(root, "system_ns", meters->system_ns);
    set_count(root, "faults_minor", meters->faults_minor - totals->prepare_faults_minor);
    set_count(root, "faults_major", meters->faults_major - totals->prepare_faults_major);
    set_count(root, "switches_voluntary", meters->switches_voluntary);
    set_count(root, "switches_involuntary", meters->switches_involuntary);
    set_text(root, "clock", outcome->clock->counter ? "tsc" : "monotonic");
    set_real(root, "clock_cost_ns", rep_clock_ns(outcome->clock, outcome->clock->cost_ticks));
    set_count(root, "timed_runs", totals->timed_runs);
    set_count(root, "window_max_ns", meters->window_max_ns);
    set(root, "counters", rep_counters_json(outcome->counters));
    set(root, "batch_ns", rep_outcome_is_time_pass(outcome) ? batches_json(outcome) : json_null());
    set(root, "latency",
        outcome->latency != NULL ? rep_latency_json(outcome->latency, outcome->clock) : json_null());
    set(root, "placement", outcome->placement != NULL ? rep_placement_json(outcome->placement) : json_null());
    set(root, "system_calls", outcome->syscalls != NULL ? rep_syscalls_json(outcome->syscalls) : json_null());
}

bool rep_outcome_json(const struct rep_outcome *outcome)
{
    const struct rep_exec_totals *totals = outcome->totals;
    json_t *root = json_object();
    set_text(root, "schema", "mallab-run/1");
    set_text(root, "mallab_version", MALLAB_VERSION);
    set_text(root, "candidate", outcome->candidate);
    set_text(root, "binary", outcome->binary);
    set_text(root, "workload", outcome->workload);
    json_object_set_new(root, "complete", json_boolean(outcome->incomplete_why == NULL));
    set_text(root, "incomplete_why", outcome->incomplete_why);
    set_digest(root, "workload_digest", outcome->workload_digest);
    set(root, "proof", proof_json(outcome));
    set_count(root, "ops", totals->ops);
    set_count(root, "inherited_ops", totals->untimed_ops);
    set_count(root, "windows", totals->windows);
    set_digest(root, "digest", totals->digest);
    set_count(root, "threads", outcome->summary->thread_count);
    set_count(root, "threads_started", totals->threads_started);
    set_text(root, "threads_as", outcome->serial ? "one" : "recorded");
    set_count(root, "processors", outcome->processors);
    set_text(root, "touch", outcome->touch);
    set_text(root, "pass", rep_outcome_pass(outcome));
    set(root, "binding", rep_binding_json(outcome->binding));
    set_text(root, "allocator_clock", outcome->account->recorded ? "recorded" : "real");
    set(root, "pace", outcome->account->speed > 0 ? json_real(outcome->account->speed) : json_null());
    set(root, "pace_behind", behind_json(outcome->account));
    set_costs(root, outcome);
    set(root, "resident", resident_json(outcome));
    set_count(root, "live_peak_bytes", outcome->summary->live_bytes_peak);
    set_count(root, "live_end_bytes", outcome->summary->live_bytes_end);
    set(root, "waste", waste_json(outcome));
    set(root, "limit", limit_json(outcome->limit));
    set(root, "check", check_json(outcome));
    set(root, "samples", samples_json(outcome->meters));
    set(root, "substituted", substituted_json(outcome));
    const bool written = !incomplete && json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
    json_decref(root);
    return written && putchar('\n') != EOF && fflush(stdout) == 0;
}
