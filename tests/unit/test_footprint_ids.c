/* Shows: object ids follow the rule of docs/format.md, "Object ids", told here a second time and as plainly as it stands there; an id never changes
 * threads within a window; the highest id stays near the peak of live objects. Ops on both sides of a pause come back with the very times that they
 * had, wherever in a window the pause lies; the others lie between what is noted around them. */
#include <unistd.h>

#include "footprint/wl/window.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/readers.h"
#include "unit/scratch.h"

#define THREADS 5
#define IDS     4000

static uint64_t random_state = 7;

static uint64_t random_next(void)
{
    return test_random(&random_state);
}

struct stack {
    uint32_t ids[IDS];
    uint32_t count;
};

/* The model: stacks of numbers. */
struct model {
    struct stack pool, released[THREADS];
    uint32_t order[THREADS], order_count; /* threads by their first release in this window */
    bool ordered[THREADS];
    uint32_t used;
};

static uint32_t model_take(struct model *model, uint32_t thread)
{
    struct stack *own = &model->released[thread];
    if (own->count > 0)
        return own->ids[--own->count];
    if (model->pool.count > 0)
        return model->pool.ids[--model->pool.count];
    return ++model->used;
}

static void model_give(struct model *model, uint32_t thread, uint32_t id)
{
    if (!model->ordered[thread])
        model->order[model->order_count++] = thread;
    model->ordered[thread] = true;
    model->released[thread].ids[model->released[thread].count++] = id;
}

static void model_end_window(struct model *model)
{
    for (uint32_t i = 0; i < model->order_count; i++) {
        struct stack *own = &model->released[model->order[i]];
        memcpy(model->pool.ids + model->pool.count, own->ids, own->count * sizeof own->ids[0]);
        model->pool.count += own->count;
        own->count = 0;
        model->ordered[model->order[i]] = false;
    }
    model->order_count = 0;
}

TEST(ids_follow_the_rule)
{
    static struct model model;
    static uint32_t next[IDS + 1], live[IDS], owner[IDS + 1];
    struct ids_thread threads[THREADS] = {0};
    uint32_t touched[THREADS];
    struct ids ids = {.next = next, .capacity = IDS, .threads = threads, .touched = touched};
    uint32_t live_count = 0;
    uint32_t live_peak = 0;
    uint32_t window_releases = 0;
    uint32_t window_releases_max = 0;
    volatile uint32_t beyond = UINT32_MAX; /* else gcc warns of the access that the check prevents */
    for (unsigned op = 0; op < 200000; op++) {
        const uint32_t thread = (uint32_t)(random_next() % THREADS);
        const bool growing = op / 10000 % 2 == 0;
        if (live_count == 0 || (live_count < 1500 && random_next() % 10 < (growing ? 6 : 4))) {
            const uint32_t id = ids_take(&ids, thread);
            CHECK_U64(id, model_take(&model, thread));
            CHECK(ids_is_live(&ids, id));
            /* Released in this window: then by the same thread. owner is thread + 1 for such ids. */
            CHECK(owner[id] == 0 || owner[id] == thread + 1);
            live[live_count++] = id;
            if (live_count > live_peak)
                live_peak = live_count;
        } else {
            const uint32_t victim = (uint32_t)(random_next() % live_count);
            const uint32_t id = live[victim];
            live[victim] = live[--live_count];
            ids_give(&ids, thread, id);
            model_give(&model, thread, id);
            CHECK(!ids_is_live(&ids, id));
            owner[id] = thread + 1;
            window_releases++;
        }
        if (random_next() % 300 == 0) {
            ids_end_window(&ids);
            model_end_window(&model);
            memset(owner, 0, sizeof owner);
            if (window_releases > window_releases_max)
                window_releases_max = window_releases;
            window_releases = 0;
        }
    }
    CHECK_U64(ids.used, model.used);
    CHECK(live_peak > 500 && ids.used >= live_peak && ids.used <= live_peak + window_releases_max);
    CHECK(!ids_is_live(&ids, 0) && !ids_is_live(&ids, ids.used + 1) && !ids_is_live(&ids, beyond));
}

TEST(a_full_table_gives_no_id)
{
    uint32_t next[4] = {0};
    struct ids_thread threads[2] = {0};
    uint32_t touched[2];
    struct ids ids = {.next = next, .capacity = 3, .threads = threads, .touched = touched};
    for (uint32_t i = 1; i <= 3; i++)
        CHECK_U64(ids_take(&ids, 0), i);
    CHECK_U64(ids_take(&ids, 0), 0);
    ids_give(&ids, 1, 2);
    CHECK_U64(ids_take(&ids, 0), 0); /* thread 1 keeps it until the window ends */
    ids_end_window(&ids);
    CHECK_U64(ids_take(&ids, 0), 2);
}

/* ---- times ------------------------------------------------------------------------------------ */

#define OPS        1010u /* the last window is not full */
#define WINDOW_OPS 40u
#define END_NS     (100 * WL_PAUSE_NS)

static const char *path;
static uint64_t times_ns[OPS];

/* One op in eight has a pause before it; the others follow within a microsecond. All are whole units of 64 ns. */
static void make_times(void)
{
    uint64_t now_ns = 0;
    for (uint32_t i = 0; i < OPS; i++) {
        const bool pauses = random_next() % 8 == 0;
        now_ns += pauses ? WL_PAUSE_NS + random_next() % 5000 * FP_TIME_UNIT_NS
                         : random_next() % 16 * FP_TIME_UNIT_NS;
        times_ns[i] = now_ns / FP_TIME_UNIT_NS * FP_TIME_UNIT_NS;
        now_ns = times_ns[i];
    }
}

static void write_ops(uint64_t pause_ns)
{
    const struct wl_writer_options options = {.window_ops = WINDOW_OPS, .pause_ns = pause_ns};
    const struct fp_shape shape = {FP_CALL_MALLOC, 16, 0};
    struct wl_writer *writer = NULL;
    uint32_t thread, id;
    path = scratch_path("times.wl");
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    for (uint32_t i = 0; i < OPS; i++)
        CHECK_U64(wl_writer_allocate(writer, thread, &shape, times_ns[i], &id), FP_OK);
    CHECK_U64(wl_writer_finish(writer, times_ns[OPS - 1] + END_NS, NULL, NULL, NULL), FP_OK);
}

static bool pauses_before(uint32_t op)
{
    return op > 0 && op < OPS && times_ns[op] - times_ns[op - 1] >= WL_PAUSE_NS;
}

static void check_times(void)
{
    struct wl_window window;
    uint64_t last_ns = 0;
    uint32_t seen = 0;
    WL_READER *reader = wl_opened(path);
    while (wl_reader_next(reader, &window) == FP_OK) {
        for (uint32_t i = 0; i < window.op_count; i++, seen++) {
            const uint64_t time_ns = wl_window_time(&window, i);
            if (i % WL_TIME_STRIDE == 0 || pauses_before(seen) || pauses_before(seen + 1))
                CHECK_U64(time_ns, times_ns[seen]);
            CHECK(time_ns >= last_ns);
            last_ns = time_ns;
        }
    }
    CHECK_U64(seen, OPS);
}

TEST(both_sides_of_a_pause_keep_their_times)
{
    make_times();
    write_ops(WL_PAUSE_NS);
    check_times();
}
