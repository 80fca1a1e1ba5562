/* profile.c - one pass over a workload: histograms of size and lifetime, calls by step and thread. */
#include "results/measure/experiment/profile.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "footprint/wl/workload.h"
#include "results/measure/run/member_runs.h"

enum { KINDS = 3 }; /* allocate, resize, release */

struct birth {
    uint64_t time_ns;
    uint64_t op; /* number of the allocation, from 1; 0: not born in the recording */
};

struct profile {
    const struct wl_summary *summary;
    uint64_t inherited; /* the first ops, which create what was there before */
    uint64_t op;        /* number of the next one */
    bool by_time;
    uint64_t span; /* of all steps: nanoseconds or ops; > 0 */
    struct birth *births;
    uint64_t size_requests[RES_PROFILE_CLASSES], size_bytes[RES_PROFILE_CLASSES];
    uint64_t lifetimes[RES_PROFILE_CLASSES];
    uint64_t released, released_inherited;
    uint64_t calls[KINDS][RES_PROFILE_STEPS];
    uint32_t *row_of_thread; /* RES_PROFILE_THREADS for those that are not among the busiest */
    uint32_t busiest[RES_PROFILE_THREADS];
    uint32_t busiest_count;
    uint64_t thread_calls[RES_PROFILE_THREADS + 1][RES_PROFILE_STEPS];
};

/* The class whose upper bound is the least power of two not below value; class 0 is up to `least`, a power of two. */
static unsigned class_of(uint64_t value, unsigned least_log2)
{
    if (value <= UINT64_C(1) << least_log2)
        return 0;
    const unsigned log2 = 64u - (unsigned)__builtin_clzll(value - 1);
    const unsigned index = log2 - least_log2;
    return index < RES_PROFILE_CLASSES ? index : RES_PROFILE_CLASSES - 1;
}

#define SIZE_LEAST_LOG2     3u /* 8 bytes */
#define LIFETIME_LEAST_LOG2 6u /* 64 ns: the resolution of recorded times is not better */

static uint64_t bytes_of(const struct wl_op *op)
{
    const bool counted = op->call == FP_CALL_CALLOC || op->call == FP_CALL_REALLOCARRAY;
    uint64_t bytes;
    if (!counted)
        return op->size;
    return __builtin_mul_overflow(op->size, (uint64_t)op->count, &bytes) ? UINT64_MAX : bytes;
}

static void end_life(struct profile *profile, uint32_t id, uint64_t time_ns)
{
    struct birth *birth = &profile->births[id];
    if (id == 0)
        return;
    if (birth->op == 0) {
        profile->released_inherited++;
        return;
    }
    profile->released++;
    profile
        ->lifetimes[class_of(time_ns > birth->time_ns ? time_ns - birth->time_ns : 0, LIFETIME_LEAST_LOG2)]++;
    birth->op = 0;
}

static void take_op(struct profile *profile, const struct wl_op *op, uint32_t thread, uint64_t time_ns)
{
    const bool fresh = (op->align_log2 & WL_OP_FRESH) != 0;
    enum fp_call_kind kind = fp_call_kind_of(op->call);
    if (kind == FP_KIND_RESIZE && fresh)
        kind = FP_KIND_ALLOCATE;
    const uint64_t number = profile->op++;
    if (number < profile->inherited || kind == FP_KIND_NONE)
        return;
    if (kind == FP_KIND_ALLOCATE)
        profile->births[op->id] = (struct birth){.time_ns = time_ns, .op = number + 1};
    else if (kind == FP_KIND_RELEASE)
        end_life(profile, op->id, time_ns);
    if (kind != FP_KIND_RELEASE) {
        const uint64_t bytes = bytes_of(op);
        const unsigned size_class = class_of(bytes, SIZE_LEAST_LOG2);
        profile->size_requests[size_class]++;
        if (__builtin_add_overflow(profile->size_bytes[size_class], bytes, &profile->size_bytes[size_class]))
            profile->size_bytes[size_class] = INT64_MAX;
    }
    const uint64_t at = profile->by_time ? time_ns : number - profile->inherited;
    const uint64_t step = (uint64_t)((__uint128_t)at * RES_PROFILE_STEPS / profile->span);
    const unsigned column = step < RES_PROFILE_STEPS ? (unsigned)step : RES_PROFILE_STEPS - 1;
    profile->calls[kind - FP_KIND_ALLOCATE][column]++;
    profile->thread_calls[profile->row_of_thread[thread]][column]++;
}

static void take_window(struct profile *profile, const struct wl_window *window)
{
    uint32_t op = 0;
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++, op++)
            take_op(profile, &window->ops[op], window->runs[run].thread, wl_window_time(window, op));
}

/* The busiest threads, by falling ops, then by number. */
static void rank_threads(struct profile *profile)
{
    const struct wl_summary *summary = profile->summary;
    for (uint32_t thread = 0; thread < summary->thread_count; thread++) {
        profile->row_of_thread[thread] = RES_PROFILE_THREADS;
        uint32_t place = profile->busiest_count;
        while (place > 0 && summary->threads[profile->busiest[place - 1]].ops < summary->threads[thread].ops)
            place--;
        if (place == RES_PROFILE_THREADS)
            continue;
        const uint32_t last = profile->busiest_count < RES_PROFILE_THREADS ? profile->busiest_count++
                                                                           : RES_PROFILE_THREADS - 1;
        for (uint32_t i = last; i > place; i--)
            profile->busiest[i] = profile->busiest[i - 1];
        profile->busiest[place] = thread;
    }
    for (uint32_t i = 0; i < profile->busiest_count; i++)
        profile->row_of_thread[profile->busiest[i]] = i;
}

/* ---- to JSON -------------------------------------------------------------------------------- */

static json_t *count_json(uint64_t count)
{
    return json_integer(count < INT64_MAX ? (json_int_t)count : INT64_MAX);
}

static json_t *counts_json(const uint64_t *counts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, count_json(counts[i]));
    return array;
}

/* From the first class that holds anything to the last one. */
static json_t *classes_json(const uint64_t *counts, const uint64_t *bytes, unsigned least_log2,
                            const char *bound_key, const char *count_key)
{
    json_t *array = json_array();
    unsigned first = 0, end = RES_PROFILE_CLASSES;
    while (end > 0 && counts[end - 1] == 0)
        end--;
    while (first < end && counts[first] == 0)
        first++;
    for (unsigned i = first; i < end; i++) {
        json_t *object = json_object();
        const unsigned log2 = i + least_log2;
        json_object_set_new(object, bound_key, count_json(log2 < 63 ? UINT64_C(1) << log2 : INT64_MAX));
        json_object_set_new(object, count_key, count_json(counts[i]));
        if (bytes != NULL)
            json_object_set_new(object, "bytes", count_json(bytes[i]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *threads_json(const struct profile *profile)
{
    json_t *array = json_array();
    const struct wl_summary *summary = profile->summary;
    uint64_t others = summary->ops;
    for (uint32_t i = 0; i < profile->busiest_count; i++) {
        const struct wl_thread *thread = &summary->threads[profile->busiest[i]];
        others -= thread->ops < others ? thread->ops : others;
        json_array_append_new(array,
                              json_pack("{s:I, s:b, s:o, s:o}", "thread", (json_int_t)thread->thread_id,
                                        "is_main", thread->is_main, "ops", count_json(thread->ops), "calls",
                                        counts_json(profile->thread_calls[i], RES_PROFILE_STEPS)));
    }
    if (summary->thread_count > profile->busiest_count)
        json_array_append_new(
            array,
            json_pack("{s:n, s:I, s:o, s:o}", "thread", "threads",
                      (json_int_t)(summary->thread_count - profile->busiest_count), "ops", count_json(others),
                      "calls", counts_json(profile->thread_calls[RES_PROFILE_THREADS], RES_PROFILE_STEPS)));
    return array;
}

static json_t *profile_json(const struct profile *profile)
{
    uint64_t born = 0;
    json_t *object = json_object(), *calls = json_object();
    for (unsigned i = 0; i < RES_PROFILE_STEPS; i++)
        born += profile->calls[0][i];
    json_object_set_new(object, "size_classes",
                        classes_json(profile->size_requests, profile->size_bytes, SIZE_LEAST_LOG2,
                                     "size_max_bytes", "requests"));
    json_object_set_new(object, "lifetimes",
                        profile->by_time ? classes_json(profile->lifetimes, NULL, LIFETIME_LEAST_LOG2,
                                                        "lifetime_max_ns", "objects")
                                         : json_null());
    json_object_set_new(object, "objects_released", count_json(profile->released));
    json_object_set_new(object, "objects_live_at_end",
                        count_json(born > profile->released ? born - profile->released : 0));
    json_object_set_new(object, "objects_from_before_released", count_json(profile->released_inherited));
    json_object_set_new(calls, "over", json_string(profile->by_time ? "time" : "ops"));
    json_object_set_new(calls, profile->by_time ? "span_ns" : "span_ops", count_json(profile->span));
    json_object_set_new(calls, "allocations", counts_json(profile->calls[0], RES_PROFILE_STEPS));
    json_object_set_new(calls, "resizes", counts_json(profile->calls[1], RES_PROFILE_STEPS));
    json_object_set_new(calls, "releases", counts_json(profile->calls[2], RES_PROFILE_STEPS));
    json_object_set_new(calls, "threads", threads_json(profile));
    json_object_set_new(object, "calls", calls);
    return object;
}

static json_t *unavailable(const char *why)
{
    char *plain = res_text_plain(why);
    json_t *object = json_pack("{s:s}", "unavailable", plain);
    free(plain);
    return object;
}

static json_t *read_all(struct wl_reader *reader, struct profile *profile, const char *path)
{
    struct wl_window window;
    enum fp_status status;
    char words[4096 + 512];
    while ((status = wl_reader_next(reader, &window)) == FP_OK)
        take_window(profile, &window);
    return status == FP_END ? profile_json(profile)
                            : unavailable(fp_error_text(wl_reader_error(reader), path, words, sizeof words));
}

json_t *res_profile_of(const char *path)
{
    struct fp_error error;
    struct wl_reader *reader;
    char words[4096 + 512];
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return unavailable(fp_error_text(&error, path, words, sizeof words));
    const struct wl_summary *summary = wl_reader_summary(reader);
    struct profile *profile = res_calloc(1, sizeof *profile);
    json_t *object;
    profile->summary = summary;
    profile->inherited = wl_reader_meta_number(reader, "inherited_objects");
    if (profile->inherited > summary->ops)
        profile->inherited = summary->ops;
    profile->by_time = summary->duration_ns > 0;
    profile->span = profile->by_time ? summary->duration_ns : summary->ops - profile->inherited;
    profile->span += profile->span == 0;
    profile->births = calloc((size_t)summary->id_max + 1, sizeof *profile->births);
    profile->row_of_thread = calloc((size_t)summary->thread_count + 1, sizeof *profile->row_of_thread);
    if (profile->births == NULL || profile->row_of_thread == NULL) {
        object = unavailable("not enough memory for the lifetimes of so many objects");
    } else {
        rank_threads(profile);
        object = read_all(reader, profile, path);
    }
    free(profile->births);
    free(profile->row_of_thread);
    free(profile);
    wl_reader_close(reader);
    return object;
}

void res_profile_add(struct res_result *result, const struct res_experiment *experiment)
{
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_workload *workload = experiment->trials[i].workload;
        result->workloads[i].profile = workload->member_count > 0 ? unavailable(RES_GROUP_WHY)
                                                                  : res_profile_of(workload->path);
    }
}
