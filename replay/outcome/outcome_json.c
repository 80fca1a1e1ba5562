/* outcome_json.c - a run as one JSON object, or as its keys and values, a line each. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "footprint/base/words.h"
#include "replay/outcome/outcome.h"

/* ---- the clock -------------------------------------------------------------------------------- */

void rep_account_take(struct rep_account *account, bool recorded, bool has_time, unsigned threads)
{
    const unsigned known = rep_sleepers_known();
    memset(account, 0, sizeof *account);
    account->recorded = recorded;
    account->has_time = has_time;
    account->asks = rep_recorded_asks();
    account->threads = threads > 1 ? threads - 1 : 0;
    account->unseen = account->threads > known ? account->threads - known : 0;
    account->lost = rep_sleepers_lost();
}

const char *rep_account_doubt(const struct rep_account *account)
{
    if (account->recorded && account->unseen > 0)
        return "a thread of the allocator's own sleeps by means that the replay does not see: it may have "
               "followed the machine's clock";
    if (account->recorded && account->lost > 0)
        return "a thread of the allocator's own did not keep up with the recorded clock";
    if (account->recorded || (account->asks.asked == 0 && account->threads == 0))
        return NULL;
    return account->has_time ? "the allocator follows the clock, and this run was not on the recorded one"
                             : "the allocator follows the clock, and the workload has no recorded time";
}

/* ---- members --------------------------------------------------------------------------------- */

static bool failed;

void rep_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        failed = true;
}

void rep_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        failed = true;
}

/* null where there is none, and where it is not UTF-8: a path may be anything. */
static void set_text(json_t *object, const char *key, const char *value)
{
    json_t *text = value != NULL ? json_string(value) : NULL;
    rep_set(object, key, text != NULL ? text : json_null());
}

/* ---- figures that text and JSON share -------------------------------------------------------- */

/* Time that other work had the processor is no time of the allocator. Births and ends of threads count with the last window. */
static double batch_ns(const struct rep_outcome *outcome, uint64_t i)
{
    const double ns = rep_clock_ns(outcome->exec->clock, outcome->meters->ticks[i]),
                 preempted_ns = (double)outcome->meters->preempted_ns[i],
                 lives_ns = i + 1 == outcome->meters->window_count ? (double)outcome->totals->lives_ns : 0;
    return (ns > preempted_ns ? ns - preempted_ns : 0) + lives_ns;
}

static double allocator_ns(const struct rep_outcome *outcome)
{
    double ns = 0;
    for (uint64_t i = 0; i < outcome->meters->window_count; i++)
        ns += batch_ns(outcome, i);
    return ns;
}

static uint64_t preempted_ns(const struct rep_outcome *outcome)
{
    uint64_t ns = 0;
    for (uint64_t i = 0; i < outcome->meters->window_count; i++)
        ns += outcome->meters->preempted_ns[i];
    return ns;
}

static bool is_time_pass(const struct rep_outcome *outcome)
{
    return outcome->exec->latency == NULL && outcome->exec->check == NULL && !outcome->account->recorded;
}

static const char *pass_of(const struct rep_outcome *outcome)
{
    return outcome->exec->check != NULL     ? "check"
           : outcome->exec->latency != NULL ? "latency"
           : outcome->account->recorded     ? "memory"
                                            : "time";
}

static double ns_per_op(const struct rep_outcome *outcome)
{
    const uint64_t timed = outcome->totals->ops - outcome->totals->untimed_ops;
    return timed > 0 ? allocator_ns(outcome) / (double)timed : 0;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void set_digest(json_t *object, const char *key, uint64_t digest)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    set_text(object, key, text);
}

static json_t *arenas_json(const struct rep_arenas *arenas)
{
    json_t *object = json_object();
    rep_set(object, "most", arenas->most > 0 ? json_integer((json_int_t)arenas->most) : json_null());
    rep_set(object, "made", arenas->made > 0 ? json_integer((json_int_t)arenas->made) : json_null());
    return object;
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
        rep_set(object, setting->name, entry);
    }
    return object;
}

static json_t *asks_json(const struct rep_account *account)
{
    json_t *object = json_object();
    rep_set_count(object, "asked", account->asks.asked);
    rep_set_count(object, "served", account->asks.served);
    rep_set_count(object, "own_threads", account->threads);
    rep_set_count(object, "own_threads_unseen", account->unseen);
    rep_set_count(object, "own_threads_lost", account->lost);
    return object;
}

static json_t *proof_json(const struct rep_outcome *outcome)
{
    const struct rep_proof *proof = outcome->proof;
    json_t *object = json_object();
    rep_set(object, "ok", json_boolean(proof->ok));
    set_text(object, "kind", proof->kind);
    set_text(object, "expected", proof->expected);
    set_text(object, "malloc_library", proof->malloc_library);
    set_text(object, "free_library", proof->free_library);
    set_text(object, "new_library", proof->new_library);
    set_text(object, "version", proof->version[0] != '\0' ? proof->version : NULL);
    rep_set(object, "settings", settings_json(outcome->settings));
    if (strcmp(proof->kind, "none") == 0)
        rep_set_count(object, "harness_calls", proof->harness_calls);
    rep_set(object, "clock", asks_json(outcome->account));
    return object;
}

static void set_known(json_t *object, const char *key, int64_t bytes)
{
    rep_set(object, key, bytes != REP_WASTE_UNKNOWN ? json_integer(bytes) : json_null());
}

static json_t *waste_sample_json(const struct rep_waste_sample *sample)
{
    json_t *object = json_object();
    json_t *statistics = json_object();
    rep_set_count(object, "ops", sample->ops);
    rep_set_count(object, "time_ns", sample->time_ns);
    rep_set_count(object, "resident_bytes", sample->resident_bytes);
    rep_set_count(object, "live_bytes", sample->live_bytes);
    rep_set_count(object, "live_objects", sample->live_objects);
    set_known(object, "usable_bytes", sample->usable_bytes);
    set_known(object, "rounding_bytes", sample->rounding_bytes);
    set_known(object, "cached_bytes", sample->cached_bytes);
    set_known(object, "metadata_bytes", sample->metadata_bytes);
    set_known(object, "rest_bytes", sample->rest_bytes);
    set_known(object, "huge_page_bytes", sample->huge_page_bytes);
    for (uint32_t i = 0; i < sample->statistic_count; i++)
        rep_set_count(statistics, sample->statistics[i].name, sample->statistics[i].bytes);
    rep_set(object, "allocator_bytes", statistics);
    return object;
}

static json_t *waste_json(const struct rep_waste *waste)
{
    if (waste == NULL)
        return json_null();
    return json_pack("{s:o, s:o}", "peak", waste->peak.taken ? waste_sample_json(&waste->peak) : json_null(),
                     "end", waste_sample_json(&waste->end));
}

static json_t *limit_json(const struct rep_limit *limit)
{
    if (limit->bytes == 0)
        return json_null();
    json_t *object = json_object();
    const bool of_group = strcmp(limit->by, "RLIMIT_DATA") != 0;
    rep_set_count(object, "bytes", limit->bytes);
    rep_set_count(object, "base_bytes", limit->base_bytes);
    set_text(object, "by", limit->by);
    rep_set(object, "peak_bytes",
            limit->has_peak ? json_integer((json_int_t)limit->peak_bytes) : json_null());
    rep_set(object, "at_limit_count", of_group ? json_integer((json_int_t)limit->at_limit) : json_null());
    return object;
}

static json_t *check_json(struct rep_check *check)
{
    return check == NULL ? json_null()
                         : json_pack("{s:I}", "objects_verified", (json_int_t)atomic_load(&check->verified));
}

/* The share that was given back of the bytes by which the peak exceeds the live bytes at the end. */
static json_t *given_back_json(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    const uint64_t live = outcome->exec->summary->live_bytes_end;
    const uint64_t left = outcome->idle_ms > 0 ? meters->idle_bytes : meters->end_bytes;
    if (meters->peak_bytes <= live)
        return json_null();
    const uint64_t given = meters->peak_bytes > left ? meters->peak_bytes - left : 0;
    const double share = (double)given / (double)(meters->peak_bytes - live);
    return json_real(share < 1 ? share : 1); /* memory that was never touched is live and not resident */
}

static json_t *if_idle(const struct rep_outcome *outcome, uint64_t bytes)
{
    return outcome->idle_ms > 0 ? json_integer((json_int_t)bytes) : json_null();
}

static json_t *resident_json(const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    json_t *object = json_object();
    rep_set_count(object, "start_bytes", meters->start_bytes);
    rep_set_count(object, "start_file_bytes", meters->start_file_bytes);
    rep_set_count(object, "peak_bytes", meters->peak_bytes);
    set_text(object, "peak_from", meters->peak_by_kernel ? "kernel" : "samples");
    rep_set_count(object, "mean_bytes", (uint64_t)(meters->mean_bytes + 0.5));
    set_text(object, "mean_over", meters->mean_by_time ? "time" : "ops");
    rep_set_count(object, "end_bytes", meters->end_bytes);
    rep_set(object, "idle_bytes", if_idle(outcome, meters->idle_bytes));
    rep_set(object, "idle_own_bytes", if_idle(outcome, meters->idle_own_bytes));
    rep_set_count(object, "idle_ms", outcome->idle_ms);
    set_text(object, "idle_with",
             outcome->idle_ms == 0        ? NULL
             : outcome->account->recorded ? "calls"
                                          : "nothing");
    if (outcome->idle_ms == 0)
        set_text(object, "idle_note", "not measured: no rest was asked for");
    rep_set(object, "given_back_share", given_back_json(outcome));
    set_text(object, "clock", outcome->account->recorded ? "recorded" : "real");
    rep_set(object, "predicted", json_boolean(rep_account_doubt(outcome->account) == NULL));
    set_text(object, "not_predicted_why", rep_account_doubt(outcome->account));
    return object;
}

/* An outcome does not grow with a workload's length: a longer run tells its windows in so many pieces at most. */
#define PIECES_MAX 2048u

static uint64_t windows_a_piece(const struct rep_meters *meters)
{
    return meters->window_count / PIECES_MAX + (meters->window_count % PIECES_MAX != 0);
}

/* The highest value of each piece: of times, which do not fall, the last. So a peak stays what it is. */
static json_t *highest_of(const struct rep_meters *meters, const uint64_t *values)
{
    const uint64_t piece = windows_a_piece(meters);
    json_t *array = json_array();
    for (uint64_t i = 0, highest = 0; i < meters->window_count; i++) {
        highest = values[i] > highest ? values[i] : highest;
        if ((i + 1) % piece != 0 && i + 1 != meters->window_count)
            continue;
        rep_append(array, json_integer((json_int_t)highest));
        highest = 0;
    }
    return array;
}

static json_t *samples_json(const struct rep_meters *meters)
{
    return json_pack("{s:o, s:o, s:o}", "time_ns", highest_of(meters, meters->time_ns), "live_bytes",
                     highest_of(meters, meters->live_bytes), "resident_bytes",
                     highest_of(meters, meters->resident_bytes));
}

static json_t *batches_json(const struct rep_outcome *outcome)
{
    const uint64_t count = outcome->meters->window_count, piece = windows_a_piece(outcome->meters);
    json_t *array = json_array();
    double ns = 0;
    for (uint64_t i = 0; i < count; i++) {
        ns += batch_ns(outcome, i);
        if ((i + 1) % piece != 0 && i + 1 != count)
            continue;
        rep_append(array, json_integer((json_int_t)(ns + 0.5)));
        ns = 0;
    }
    return array;
}

/* Only functions that the workload calls: the others do not matter to this run. */
static json_t *substituted_json(const struct rep_outcome *outcome)
{
    json_t *array = json_array();
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if ((outcome->substituted >> call & 1) != 0 && outcome->exec->summary->ops_by_call[call] > 0)
            rep_append(array, json_string(fp_call_name(call)));
    }
    return array;
}

/* Watching calls takes time of its own. In such a pass no figure is better than a wrong one. */
static void set_timed(json_t *root, const struct rep_outcome *outcome)
{
    const bool timed = is_time_pass(outcome);
    rep_set(root, "whole_ns_per_op", timed ? json_real(ns_per_op(outcome)) : json_null());
    rep_set(root, "allocator_ns",
            timed ? json_integer((json_int_t)(allocator_ns(outcome) + 0.5)) : json_null());
    rep_set(root, "preempted_ns", timed ? json_integer((json_int_t)preempted_ns(outcome)) : json_null());
    rep_set(root, "lives_ns", timed ? json_integer((json_int_t)outcome->totals->lives_ns) : json_null());
    rep_set(root, "blocked_ns", timed ? json_integer((json_int_t)outcome->meters->blocked_ns) : json_null());
}

static void set_costs(json_t *root, const struct rep_outcome *outcome)
{
    const struct rep_meters *meters = outcome->meters;
    const struct rep_exec_totals *totals = outcome->totals;
    set_timed(root, outcome);
    rep_set_count(root, "wall_ns", meters->wall_ns);
    rep_set_count(root, "wait_ns", (uint64_t)(rep_clock_ns(outcome->exec->clock, totals->wait_ticks) + 0.5));
    rep_set_count(root, "waits", totals->waits);
    rep_set_count(root, "prepare_ns", totals->prepare_ns);
    rep_set_count(root, "user_ns", meters->user_ns);
    rep_set_count(root, "system_ns", meters->system_ns);
    rep_set_count(root, "faults_minor", meters->faults_minor - totals->prepare_faults_minor);
    rep_set_count(root, "faults_major", meters->faults_major - totals->prepare_faults_major);
    rep_set_count(root, "switches_voluntary", meters->switches_voluntary);
    rep_set_count(root, "switches_involuntary", meters->switches_involuntary);
    set_text(root, "clock", outcome->exec->clock->counter ? "tsc" : "monotonic");
    rep_set_real(root, "clock_cost_ns", rep_clock_ns(outcome->exec->clock, outcome->exec->clock->cost_ticks));
    rep_set_count(root, "timed_runs", totals->timed_runs);
    rep_set_count(root, "window_max_ns", meters->window_max_ns);
    rep_set(root, "batch_ns", is_time_pass(outcome) ? batches_json(outcome) : json_null());
    rep_set(root, "latency",
            outcome->exec->latency != NULL ? rep_latency_json(outcome->exec->latency, outcome->exec->clock)
                                           : json_null());
}

static json_t *outcome_json(const struct rep_outcome *outcome)
{
    const struct rep_exec_totals *totals = outcome->totals;
    json_t *root = json_object();
    set_text(root, "schema", "mallab-run/1");
    set_text(root, "mallab_version", MALLAB_VERSION);
    set_text(root, "candidate", outcome->candidate);
    set_text(root, "binary", outcome->binary);
    set_text(root, "workload", outcome->workload);
    rep_set(root, "complete", json_boolean(outcome->incomplete_why == NULL));
    set_text(root, "incomplete_why", outcome->incomplete_why);
    set_digest(root, "workload_digest", outcome->workload_digest);
    rep_set(root, "proof", proof_json(outcome));
    rep_set_count(root, "ops", totals->ops);
    rep_set_count(root, "inherited_ops", totals->untimed_ops);
    rep_set_count(root, "windows", totals->windows);
    set_digest(root, "digest", totals->digest);
    rep_set_count(root, "threads", outcome->exec->summary->thread_count);
    rep_set_count(root, "threads_started", totals->threads_started);
    rep_set_count(root, "threads_at_once", totals->threads_at_once);
    set_text(root, "threads_as", outcome->exec->serial ? "one" : "recorded");
    rep_set_count(root, "processors", outcome->exec->processors);
    rep_set(root, "processors_told", outcome->told > 0 ? json_integer(outcome->told) : json_null());
    rep_set(root, "arenas", arenas_json(&outcome->settings->arenas));
    set_text(root, "pass", pass_of(outcome));
    set_text(root, "allocator_clock", outcome->account->recorded ? "recorded" : "real");
    set_costs(root, outcome);
    rep_set(root, "resident", resident_json(outcome));
    rep_set_count(root, "live_peak_bytes", outcome->exec->summary->live_bytes_peak);
    rep_set_count(root, "live_end_bytes", outcome->exec->summary->live_bytes_end);
    rep_set(root, "waste", waste_json(outcome->waste));
    rep_set(root, "limit", limit_json(outcome->limit));
    rep_set(root, "check", check_json(outcome->exec->check));
    rep_set(root, "samples", samples_json(outcome->meters));
    rep_set(root, "substituted", substituted_json(outcome));
    return root;
}

bool rep_outcome_json(const struct rep_outcome *outcome)
{
    json_t *root = outcome_json(outcome);
    const bool written = !failed && json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
    json_decref(root);
    return written && putchar('\n') != EOF && fflush(stdout) == 0;
}

/* ---- for people: the same keys, without lists and what is null ---------------------------------- */

static void say_value(const char *key, const json_t *value)
{
    char plain[512];
    printf("%-35s ", key);
    if (json_is_string(value)) {
        (void)fp_text_plain(json_string_value(value), plain,
                            sizeof plain); /* of files; the first of it will do */
        printf("%s\n", plain);
    } else if (json_is_integer(value)) {
        const json_int_t number = json_integer_value(value);
        printf("%s%s\n", number < 0 ? "-" : "",
               FP_GROUPED(number < 0 ? -(uint64_t)number : (uint64_t)number));
    } else if (json_is_boolean(value)) {
        printf("%s\n", json_is_true(value) ? "yes" : "no");
    } else {
        printf("%.6g\n", json_number_value(value));
    }
}

static void say_object(const char *prefix, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        char key[128];
        snprintf(key, sizeof key, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
        if (json_is_object(value))
            say_object(key, value);
        else if (!json_is_null(value) && !json_is_array(value))
            say_value(key, value);
    }
}

bool rep_outcome_text(const struct rep_outcome *outcome)
{
    json_t *root = outcome_json(outcome);
    if (!failed)
        say_object("", root);
    json_decref(root);
    return !failed && fflush(stdout) == 0 && !ferror(stdout);
}
