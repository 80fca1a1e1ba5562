/* member_runs.c - see member_runs.c. */
#include "results/measure/run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/lives.h"

#define COURSE_POINTS 512u /* of the samples of a merged run */

/* ---- sums ------------------------------------------------------------------------------------- */

/* The sum of all, or the most. A figure that one of them lacks is lacking. */
static void add_up(json_t *root, const struct res_run *runs, size_t count, const char *path, bool most)
{
    json_int_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = res_json_at(runs[i].json, path);
        const json_int_t number = json_integer_value(value);
        if (!json_is_integer(value)) {
            res_json_put(root, path, json_null());
            return;
        }
        if (!most)
            sum += number;
        else if (number > sum)
            sum = number;
    }
    res_json_put(root, path, json_integer(sum));
}

static void merge_counts(json_t *root, const struct res_run *runs, size_t count)
{
    /* clang-format off */
    static const char *const SUMS[] = {
        "ops", "inherited_ops", "windows", "threads", "threads_started", "allocator_ns", "wall_ns",
        "wait_ns", "waits", "prepare_ns", "user_ns", "system_ns", "blocked_ns",
        "faults_minor", "faults_major", "switches_voluntary", "switches_involuntary", "timed_runs",
        "check.objects_verified", "limit.at_limit_count", "proof.harness_calls", "proof.clock.asked",
        "proof.clock.served", "proof.clock.own_threads", "proof.clock.own_threads_unseen",
        "proof.clock.own_threads_lost"};
    /* clang-format on */
    static const char *const MOST[] = {"window_max_ns", "limit.peak_bytes", "limit.base_bytes"};
    for (size_t i = 0; i < sizeof SUMS / sizeof SUMS[0]; i++)
        if (res_json_at(runs[0].json, SUMS[i]) != NULL)
            add_up(root, runs, count, SUMS[i], false);
    for (size_t i = 0; i < sizeof MOST / sizeof MOST[0]; i++)
        if (res_json_at(runs[0].json, MOST[i]) != NULL)
            add_up(root, runs, count, MOST[i], true);
}

static void merge_time(json_t *root, const struct res_run *runs, size_t count)
{
    const json_t *time = json_object_get(root, "allocator_ns");
    double timed = 0;
    for (size_t i = 0; i < count; i++)
        timed += (double)(runs[i].ops - runs[i].inherited_ops);
    json_object_set_new(root, "whole_ns_per_op",
                        !json_is_integer(time) ? json_null()
                                               : json_real(timed > 0 ? json_number_value(time) / timed : 0));
}

static bool holds(const json_t *list, const json_t *text)
{
    size_t i;
    json_t *own;
    json_array_foreach(list, i, own) if (json_equal(own, text)) return true;
    return false;
}

static void merge_substituted(json_t *root, const struct res_run *runs, size_t count)
{
    json_t *all = json_object_get(root, "substituted"), *text;
    for (size_t i = 1; i < count; i++) {
        size_t at;
        json_array_foreach(json_object_get(runs[i].json, "substituted"), at, text)
        {
            if (!holds(all, text))
                json_array_append(all, text);
        }
    }
}

static const char *text_of(const struct res_run *run, const char *key)
{
    const char *text = json_string_value(json_object_get(run->json, key));
    return text != NULL ? text : "";
}

/* FNV-1a of the texts, each with its NUL. */
static void merge_digest(json_t *root, const struct res_run *runs, size_t count, const char *key)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    char text[17];
    for (size_t i = 0; i < count; i++)
        for (const char *byte = text_of(&runs[i], key);; byte++) {
            digest = (digest ^ (unsigned char)*byte) * UINT64_C(1099511628211);
            if (*byte == '\0')
                break;
        }
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    json_object_set_new(root, key, json_string(text));
}

/* A process of one thread runs on one, whatever was asked: only those with several tell. */
static void merge_threads(json_t *root, const struct res_run *runs, size_t count)
{
    bool on_one = false;
    for (size_t i = 0; i < count; i++)
        on_one = on_one || (json_integer_value(json_object_get(runs[i].json, "threads")) > 1 &&
                            runs[i].threads_as != NULL && strcmp(runs[i].threads_as, "one") == 0);
    json_object_set_new(root, "threads_as", json_string(on_one ? "one" : "recorded"));
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Its samples, and before the first one its begin, where nothing is in memory yet. */
static struct res_life life_of(const struct res_member *member, const struct res_run *run, const char *key)
{
    const json_t *samples = json_object_get(run->json, "samples");
    const json_t *times = json_object_get(samples, "time_ns"), *values = json_object_get(samples, key);
    const size_t count = json_array_size(times);
    struct res_life life = {0};
    if (count == 0 || json_array_size(values) != count)
        return life;
    life = (struct res_life){res_calloc(count + 1, sizeof(double)), res_calloc(count + 1, sizeof(double)), 1};
    life.time_ns[0] = fmin((double)member->begin_ns, json_number_value(json_array_get(times, 0)));
    for (size_t i = 0; i < count; i++) {
        life.time_ns[life.count] = json_number_value(json_array_get(times, i));
        life.value[life.count++] = json_number_value(json_array_get(values, i));
    }
    for (size_t i = 0; i < life.count; i++)
        life.time_ns[i] += (double)member->offset_ns;
    return life;
}

struct memory {
    const struct res_run *runs;
    struct res_life *resident, *live;
    size_t count;
    double begin_ns, end_ns, peak_ns;
};

/* Mean over the time from the first member's begin to the last one's end; without time, of all together. */
static double mean_of(const struct memory *memory)
{
    double sum = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const struct res_life *life = &memory->resident[i];
        const double span_ns = life->count > 0 ? life->time_ns[life->count - 1] - life->time_ns[0] : 0;
        const double mean = memory->runs[i].resident_mean_bytes;
        sum += memory->end_ns > memory->begin_ns ? mean * (span_ns / (memory->end_ns - memory->begin_ns))
                                                 : mean;
    }
    return sum;
}

/* Sums the members that last to the end; NAN where one of them does not tell. */
static double sum_last(const struct memory *memory, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < memory->count; i++)
        if (res_lives_last(memory->resident, memory->count, &memory->resident[i]))
            sum += *(const double *)((const char *)&memory->runs[i] + offset);
    return sum;
}

static double start_of(const struct memory *memory)
{
    double sum = 0;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->end_ns <= memory->begin_ns || res_life_covers(&memory->resident[i], memory->peak_ns))
            sum += memory->runs[i].resident_start_bytes;
    return sum;
}

/* The file pages at the start of one process: members share the pages, and those that were forked map few of them anew. */
static double start_files_of(const struct memory *memory)
{
    double most = NAN;
    for (size_t i = 0; i < memory->count; i++)
        most = fmax(most, memory->runs[i].resident_start_file_bytes); /* of a NAN and a number the number */
    return most;
}

static json_t *given_back(double peak, double left, double live)
{
    if (!isfinite(left) || !isfinite(live) || peak <= live)
        return json_null();
    return json_real(fmin(fmax(peak - left, 0) / (peak - live), 1));
}

static void put_course(json_t *root, const struct memory *memory)
{
    json_t *times = json_array(), *live = json_array(), *resident = json_array();
    const double span_ns = memory->end_ns - memory->begin_ns;
    for (size_t i = 0; i < COURSE_POINTS && span_ns > 0; i++) {
        const double time_ns = i + 1 == COURSE_POINTS
                                   ? memory->end_ns
                                   : floor(memory->begin_ns + span_ns * (double)i / (COURSE_POINTS - 1));
        json_array_append_new(times, res_json_whole(time_ns));
        json_array_append_new(live, res_json_whole(res_lives_at(memory->live, memory->count, time_ns)));
        json_array_append_new(resident,
                              res_json_whole(res_lives_at(memory->resident, memory->count, time_ns)));
    }
    json_object_set_new(
        root, "samples",
        json_pack("{s:o, s:o, s:o}", "time_ns", times, "live_bytes", live, "resident_bytes", resident));
}

#define OF(member) offsetof(struct res_run, member)

static void put_memory(json_t *root, struct memory *memory)
{
    const double peak = res_lives_peak(memory->resident, memory->count, &memory->peak_ns);
    const double end = sum_last(memory, OF(resident_end_bytes)),
                 idle = sum_last(memory, OF(resident_idle_bytes)),
                 live_end = sum_last(memory, OF(live_end_bytes));
    json_t *resident = json_object_get(root, "resident");
    json_object_set_new(resident, "start_bytes", res_json_whole(start_of(memory)));
    json_object_set_new(resident, "start_file_bytes", res_json_whole(start_files_of(memory)));
    json_object_set_new(resident, "peak_bytes", res_json_whole(peak));
    json_object_set_new(resident, "peak_from", json_string("samples"));
    json_object_set_new(resident, "mean_bytes", res_json_whole(mean_of(memory)));
    json_object_set_new(resident, "end_bytes", res_json_whole(end));
    json_object_set_new(resident, "idle_bytes", res_json_whole(idle));
    json_object_set_new(resident, "idle_own_bytes", res_json_whole(sum_last(memory, OF(idle_own_bytes))));
    json_object_set_new(resident, "given_back_share",
                        given_back(peak, isfinite(idle) ? idle : end, live_end));
    json_object_set_new(root, "live_peak_bytes",
                        res_json_whole(res_lives_peak(memory->live, memory->count, NULL)));
    json_object_set_new(root, "live_end_bytes", res_json_whole(live_end));
    put_course(root, memory);
}

static void release_life(struct res_life *life)
{
    free(life->time_ns);
    free(life->value);
}

static void merge_memory(json_t *root, const struct res_member *members, const struct res_run *runs,
                         size_t count)
{
    struct memory memory = {.runs = runs, .count = count};
    memory.resident = res_calloc(2 * count, sizeof *memory.resident);
    memory.live = memory.resident + count;
    for (size_t i = 0; i < count; i++) {
        memory.resident[i] = life_of(&members[i], &runs[i], "resident_bytes");
        memory.live[i] = life_of(&members[i], &runs[i], "live_bytes");
        res_life_raise(&memory.resident[i], runs[i].resident_peak_bytes);
    }
    memory.begin_ns = res_lives_begin(memory.resident, count);
    memory.end_ns = res_lives_end(memory.resident, count);
    put_memory(root, &memory);
    for (size_t i = 0; i < 2 * count; i++)
        release_life(&memory.resident[i]);
    free(memory.resident);
}

/* ---- one run ---------------------------------------------------------------------------------- */

/* Takes a word that one member says and others do not: the first such. */
static void merge_words(json_t *root, const struct res_run *runs, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        const json_t *resident = json_object_get(runs[i].json, "resident");
        json_t *why = json_object_get(runs[i].json, "incomplete_why");
        if (json_is_false(json_object_get(runs[i].json, "complete")))
            json_object_set_new(root, "complete", json_false());
        if (json_is_string(why))
            json_object_set(root, "incomplete_why", why);
        if (!json_is_false(json_object_get(resident, "predicted")))
            continue;
        json_object_set_new(json_object_get(root, "resident"), "predicted", json_false());
        json_object_set(json_object_get(root, "resident"), "not_predicted_why",
                        json_object_get(resident, "not_predicted_why"));
    }
}

static void join_batches(struct res_run *run, const struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run->batch_count += runs[i].batch_count;
    if (run->batch_count == 0)
        return;
    uint64_t *at = run->batch_ns = res_calloc(run->batch_count, sizeof *run->batch_ns);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].batch_count > 0)
            memcpy(at, runs[i].batch_ns, runs[i].batch_count * sizeof *at);
        at += runs[i].batch_count;
    }
}

bool res_runs_merge(const struct res_member *members, const struct res_run *runs, size_t count,
                    struct res_run *ret_run, char **ret_reason)
{
    json_t *root = json_deep_copy(runs[0].json);
    struct res_run run = {0};
    merge_counts(root, runs, count);
    merge_time(root, runs, count);
    merge_substituted(root, runs, count);
    merge_digest(root, runs, count, "digest");
    merge_digest(root, runs, count, "workload_digest");
    merge_threads(root, runs, count);
    merge_memory(root, members, runs, count);
    merge_words(root, runs, count);
    json_object_set_new(root, "processes", json_integer((json_int_t)count));
    json_object_set_new(root, "latency", json_null());
    json_object_set_new(root, "waste", json_null());
    const bool read = res_described_read(&RES_RUN, root, &run, ret_reason);
    json_decref(root);
    if (!read)
        return false;
    join_batches(&run, runs, count);
    for (size_t i = 0; i < count; i++) {
        run.elapsed_ns += runs[i].elapsed_ns;
        if (run.said == NULL && runs[i].said != NULL)
            run.said = res_strdup(runs[i].said);
    }
    *ret_run = run;
    return true;
}

static enum res_run_state run_members(const struct res_run_request *request, struct res_run *runs,
                                      size_t *ret_done, char **ret_reason)
{
    struct res_run_request own = *request;
    for (size_t i = 0; i < request->member_count; i++) {
        own.workload = request->members[i].path;
        const enum res_run_state state = res_run_once(&own, &runs[i], ret_reason);
        if (state == RES_RUN_FAILED) {
            RES_FREED char *reason = *ret_reason;
            *ret_reason = res_printf("%s: %s", request->members[i].name, reason);
        }
        if (state != RES_RUN_OK)
            return state;
        ++*ret_done;
    }
    return RES_RUN_OK;
}

enum res_run_state res_run_workload(const struct res_run_request *request, struct res_run *ret_run,
                                    char **ret_reason)
{
    if (request->member_count == 0)
        return res_run_once(request, ret_run, ret_reason);
    RES_FREED struct res_run *runs = res_calloc(request->member_count, sizeof *runs);
    size_t done = 0;
    enum res_run_state state = run_members(request, runs, &done, ret_reason);
    if (state == RES_RUN_OK &&
        !res_runs_merge(request->members, runs, request->member_count, ret_run, ret_reason))
        state = RES_RUN_FAILED;
    for (size_t i = 0; i < done; i++)
        res_run_release(&runs[i]);
    return state;
}
