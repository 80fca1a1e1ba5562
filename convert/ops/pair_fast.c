/* pair_fast.c - marks to ops, as long as nothing is out of the ordinary.
 *
 *   plan  what a shape of the block comes to, found once for all marks that have it: what is to be done, how many bytes
 *         it asks for, its index in the workload's dictionary, and how often it came, from which all sums follow
 *   root  what is known of an address that the block has named. A mark that names it again leads there by its number,
 *         so that the table of live objects is looked at once for each address of a block and not for each mark.
 *         Until roots are settled, the table's entry of such an address only says which root it is
 *   look  find the roots of many marks before their ops: the table's entries are fetched together, and ops know which
 *         roots and ids come next
 *
 * A workload's thread and time come as in pair.c: the time of an op is the highest that any event had by then. */
#include "convert/ops/pair.h"

#include <stdlib.h>

#include <string.h>

#include "footprint/wl/wl_writer.h"

#define PREFETCH_AHEAD      16u /* marks: about a memory latency at 5 ns a mark */
#define LOOK_LEAST          16u /* marks, as what was begun may be broken off soon; then twice as many, and so on */
#define LOOK_MOST           1024u /* marks: a thousand addresses fit into caches beside all else */
#define NEAR_IDS            4096u /* whose records are in the nearest cache: nothing is fetched ahead */
#define NO_MARK             UINT32_MAX
#define TAG_OF_ROOT(number) (LIVE_TAG_OF(number) | 1) /* until it is settled nobody else puts in */

/* ---- plans ----------------------------------------------------------------------------------- */

enum what {
    REST = 0, /* not ours */
    ALLOCATE,
    RELEASE,
    RELEASE_SIZED,
    RESIZE_FROM,
    RESIZE,
    RESIDENT,
};

struct plan {
    uint8_t what;
    bool has_kin;                          /* conv_has_kin */
    uint16_t index, fresh_index;           /* fresh: as a realloc of NULL */
    uint32_t dictionary, fresh_dictionary; /* of which they are indexes; NO_DICTIONARY: not known */
    uint64_t bytes;
    uint64_t count;
};

#define NO_DICTIONARY UINT32_MAX

static inline enum what what_of(const struct fp_shape *shape)
{
    if (fp_shape_bytes(shape) >= CONV_ADDRESS_LIMIT)
        return REST;
    if (shape->call == FP_MARK_RESIZE_FROM)
        return RESIZE_FROM;
    if (shape->call == FP_MARK_RESIDENT)
        return RESIDENT;
    switch (fp_call_kind_of(shape->call)) {
    case FP_KIND_ALLOCATE:
        return ALLOCATE;
    case FP_KIND_RESIZE:
        return RESIZE;
    case FP_KIND_RELEASE:
        return fp_call_tells_size(shape->call) ? RELEASE_SIZED : RELEASE;
    case FP_KIND_NONE:
    default:
        return REST;
    }
}

static inline struct plan plan_of(const struct fp_shape *shape)
{
    return (struct plan){.what = (uint8_t)what_of(shape),
                         .has_kin = conv_has_kin(shape->call, fp_shape_bytes(shape)),
                         .bytes = fp_shape_bytes(shape),
                         .dictionary = NO_DICTIONARY,
                         .fresh_dictionary = NO_DICTIONARY};
}

struct root {
    uint32_t id;    /* 0: no object is there */
    uint32_t place; /* in the table, where its entry stood when last seen */
};

struct conv_pair_fast {
    struct plan *plans;
    struct fp_shape *shapes; /* of the plans: the block's may be gone when they are added up */
    uint32_t plan_count, plan_capacity;
    uint64_t block_number;
    uint32_t next;          /* mark of the block that comes after those taken */
    uint32_t floor, looked; /* marks from floor to before looked have roots */
    uint32_t look_step;
    uint32_t root_count;
    struct root roots[FP_BLOCK_MARKS_MAX];
    uint64_t addresses[FP_BLOCK_MARKS_MAX];                    /* of roots */
    uint32_t root_of[FP_BLOCK_MARKS_MAX + 2 * PREFETCH_AHEAD]; /* mark -> root */
};

/* A slice being taken. */
struct run {
    struct conv_pair *pair;
    struct conv_pair_fast *fast;
    struct wl_writer *writer;
    uint64_t *bytes; /* of objects, by id */
    const struct conv_slice *slice;
    const struct fp_mark *marks;
    uint32_t thread;
    uint64_t least_ns; /* time of the event before */
    uint32_t last;     /* mark of the newest op, or NO_MARK */
    bool exact;  /* whether a pause may lie before the next op: writer->now_ns is the newest op's time then */
    bool coarse; /* one may lie between any two ops of the slice */
    enum fp_status status;
};

/* ---- roots ----------------------------------------------------------------------------------- */

void conv_pair_fast_settle(struct conv_pair *pair)
{
    struct conv_pair_fast *fast = pair->fast;
    struct conv_live_table *const live = &pair->track.live;
    if (fast == NULL)
        return;
    for (uint32_t i = 0; i < fast->root_count; i++) {
        const struct root *root = &fast->roots[i];
        uint64_t *entry = &live->entries[root->place & live->mask];
        if (i + PREFETCH_AHEAD < fast->root_count)
            __builtin_prefetch(&live->entries[fast->roots[i + PREFETCH_AHEAD].place & live->mask], 1);
        if (unlikely(conv_live_tag(live, entry) != TAG_OF_ROOT(i)))
            entry = conv_live_find(live, fast->addresses[i]);
        if (root->id != 0)
            conv_live_set_tag(live, entry, LIVE_TAG_OF(root->id));
        else
            conv_live_remove(live, entry);
    }
    fast->root_count = 0;
    fast->floor = fast->looked = fast->next;
}

/* Make a root for the mark's address, if there is none. False: no memory. */
static inline bool find_root(struct conv_live_table *live, struct conv_pair_fast *fast,
                             const struct fp_mark *marks, uint32_t mark)
{
    const uint64_t address = marks[mark].address;
    const uint32_t number = fast->root_count; /* there is one at most for each mark of a block */
    uint32_t tag;
    uint64_t *entry = conv_live_reach(live, address, TAG_OF_ROOT(number), &tag);
    if (entry == NULL)
        return false; /* nothing is changed: the roots before it can be settled */
    fast->root_of[mark] = tag & 1 ? tag >> 1 : number;
    if (tag & 1)
        return true;
    conv_live_set_tag(live, entry, TAG_OF_ROOT(number));
    fast->roots[number] = (struct root){tag >> 1, (uint32_t)(entry - live->entries)};
    fast->addresses[number] = address;
    fast->root_count++;
    return true;
}

/* Nothing before the mark leads to its root. */
static inline bool is_first(const struct fp_mark *marks, uint32_t mark, uint32_t floor)
{
    return marks[mark].before - 1u >= mark - floor; /* before 0: the file tells of none */
}

static inline bool is_address(uint64_t address)
{
    return address - 1 < CONV_ADDRESS_LIMIT - 1;
}

/* Find the roots of some more marks, with few branches: which of them are the first with their address is anybody's guess. */
static __attribute__((noinline)) bool look(struct run *run)
{
    struct conv_pair_fast *fast = run->fast;
    struct conv_live_table *live = &run->pair->track.live;
    const struct fp_mark *const marks = run->marks;
    const uint32_t floor = fast->floor, begin = fast->looked, left = run->slice->bound - begin;
    const uint32_t end = begin + (left < fast->look_step ? left : fast->look_step);
    uint32_t firsts[LOOK_MOST], count = 0;
    for (uint32_t i = begin; i < end; i++) {
        firsts[count] = i;
        count += is_first(marks, i, floor);
    }
    for (uint32_t i = 0; i < count + PREFETCH_AHEAD; i++) {
        if (i < count)
            conv_live_prefetch(live, marks[firsts[i]].address);
        if (i >= PREFETCH_AHEAD && is_address(marks[firsts[i - PREFETCH_AHEAD]].address) &&
            !find_root(live, fast, marks, firsts[i - PREFETCH_AHEAD])) {
            run->status = FP_ERR_MEMORY;
            return false;
        }
    }
    for (uint32_t i = begin; i < end; i++)
        fast->root_of[i] = fast->root_of[is_first(marks, i, floor) ? i : i - marks[i].before];
    fast->looked = end;
    fast->look_step = fast->look_step < LOOK_MOST ? fast->look_step * 2 : LOOK_MOST;
    return true;
}

static inline struct root *root_of(const struct run *run, uint32_t mark)
{
    return &run->fast->roots[run->fast->root_of[mark]];
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Add up what the plans have counted. */
static void fold(struct conv_pair *pair)
{
    struct conv_pair_fast *fast = pair->fast;
    struct conv_survey *survey = pair->survey;
    for (uint32_t i = 0; i < fast->plan_count; i++) {
        const struct fp_shape *shape = &fast->shapes[i];
        struct plan *plan = &fast->plans[i];
        if (plan->count == 0)
            continue;
        survey->events_by_call[shape->call] += plan->count;
        if (plan->what != RESIZE_FROM && plan->what != RESIDENT) {
            survey->events += plan->count;
            survey->ops += plan->count;
            survey->ops_by_call[shape->call] += plan->count;
            wl_put_calls(pair->writer, shape->call, plan->count);
        }
        if (plan->what == ALLOCATE || plan->what == RESIZE) {
            conv_stats_requests(survey, plan->bytes, plan->count);
            wl_put_request(pair->writer, shape, plan->count);
        }
        plan->count = 0;
    }
}

static bool make_plans(struct conv_pair_fast *fast, const struct fp_block *block)
{
    if (block->shape_count > fast->plan_capacity) {
        free(fast->plans);
        free(fast->shapes);
        fast->plan_count = 0;
        fast->plan_capacity = block->shape_count + block->shape_count / 2;
        fast->plans = malloc(fast->plan_capacity * sizeof *fast->plans);
        fast->shapes = malloc(fast->plan_capacity * sizeof *fast->shapes);
        if (fast->plans == NULL || fast->shapes == NULL) {
            fast->plan_capacity = 0;
            return false;
        }
    }
    for (uint32_t i = 0; i < block->shape_count; i++) {
        fast->shapes[i] = block->shapes[i];
        fast->plans[i] = plan_of(&block->shapes[i]);
    }
    fast->plan_count = block->shape_count;
    return true;
}

/* ---- one op ---------------------------------------------------------------------------------- */

static inline uint64_t time_of(const struct run *run, uint32_t mark)
{
    const struct conv_slice *slice = run->slice;
    const uint64_t time_q8 = mark < slice->stamp ? slice->time_q8 + (mark - slice->begin) * slice->step_q8
                                                 : slice->stamp_q8;
    const uint64_t time_ns = time_q8 >> 8;
    return time_ns > run->least_ns ? time_ns : run->least_ns;
}

static inline uint32_t site_of(const struct run *run, uint32_t mark)
{
    return run->slice->block->sites != NULL ? run->slice->block->sites[mark] : 0;
}

static inline void note_time(struct run *run, uint32_t mark)
{
    const uint64_t time_ns = time_of(run, mark);
    if (time_ns > run->writer->now_ns)
        run->writer->now_ns = time_ns;
}

static __attribute__((noinline)) bool find_index(struct run *run, uint32_t shape_number, bool fresh,
                                                 uint16_t *index, uint32_t *dictionary)
{
    const struct fp_shape *shape = &run->fast->shapes[shape_number];
    if (!wl_put_shape(run->writer, shape->call | (fresh ? SHAPE_FRESH : 0), shape->size, shape->extra, index))
        return false;
    *dictionary = run->writer->dictionary;
    return true;
}

static __attribute__((noinline)) bool make_ready(struct run *run)
{
    run->status = wl_put_ready(run->writer, run->thread);
    return run->status == FP_OK;
}

/* The writer knows the newest op's time. */
static void settle_time(struct run *run)
{
    if (run->last != NO_MARK)
        note_time(run, run->last);
}

/* Nearly all ops follow the one before within a slice whose marks are close to each other: they need not come here. */
static __attribute__((noinline)) bool come_to_pause(struct run *run, uint32_t mark)
{
    const uint64_t before_ns = run->writer->now_ns;
    note_time(run, mark);
    if (run->writer->ready_thread != run->thread)
        run->status = wl_put_ready(run->writer, run->thread);
    if (run->status != FP_OK)
        return false;
    wl_put_pause(run->writer, before_ns);
    run->exact = run->coarse;
    return true;
}

/* All that an op wants before it is put. False: it cannot be put, for run->status or because of its shape. */
static inline bool begin(struct run *run, uint32_t mark, bool fresh, uint16_t *ret_index)
{
    struct wl_writer *writer = run->writer;
    struct conv_pair_fast *fast = run->fast;
    const uint32_t shape = run->marks[mark].shape;
    struct plan *plan = &fast->plans[shape];
    uint16_t *index = fresh ? &plan->fresh_index : &plan->index;
    uint32_t *dictionary = fresh ? &plan->fresh_dictionary : &plan->dictionary;
    if (unlikely(run->exact) && !come_to_pause(run, mark))
        return false;
    if (wl_put_wants_time(writer)) {
        note_time(run, mark);
        if (unlikely(writer->ready_thread != run->thread) && !make_ready(run)) /* so is a window's first op */
            return false;
        wl_put_time(writer, writer->now_ns);
    }
    if (unlikely(*dictionary != writer->dictionary) && !find_index(run, shape, fresh, index, dictionary))
        return false;
    *ret_index = *index;
    plan->count++;
    run->last = mark;
    return true;
}

static inline void end(struct run *run, uint32_t mark)
{
    struct wl_writer *writer = run->writer;
    if (likely(writer->op_count < writer->window_ops))
        return;
    note_time(run, mark);
    run->status = wl_window_flush(writer);
}

/* Each returns whether the mark was taken; false leaves everything as it was, unless run->status says why. */

/* The object has just got its size by this mark. */
static __attribute__((noinline)) void note_kin(struct run *run, uint32_t mark, const struct root *root)
{
    if (run->status == FP_OK)
        run->status = conv_tell_kin(run->writer, run->fast->shapes[run->marks[mark].shape].call,
                                    (struct conv_object){.id = root->id, .bytes = run->bytes[root->id]});
}

static inline __attribute__((always_inline)) bool allocate(struct run *run, uint32_t mark, bool fresh)
{
    const struct plan *plan = &run->fast->plans[run->marks[mark].shape];
    const uint64_t bytes = plan->bytes;
    struct root *root = root_of(run, mark);
    uint16_t index;
    if (unlikely(root->id != 0) || !begin(run, mark, fresh, &index))
        return false;
    wl_put_site(run->writer, site_of(run, mark));
    root->id = wl_put_allocate(run->writer, run->thread, index, bytes);
    run->bytes[root->id] = bytes;
    end(run, mark);
    if (unlikely(plan->has_kin))
        note_kin(run, mark, root);
    return true;
}

static inline __attribute__((always_inline)) bool release(struct run *run, uint32_t mark, bool sized)
{
    struct root *root = root_of(run, mark);
    uint16_t index;
    if (unlikely(root->id == 0) ||
        (sized && unlikely(run->fast->shapes[run->marks[mark].shape].size != run->bytes[root->id])) ||
        !begin(run, mark, false, &index))
        return false;
    wl_put_release(run->writer, run->thread, index, root->id, run->bytes[root->id]);
    root->id = 0;
    end(run, mark);
    return true;
}

static bool release_of_null(struct run *run, uint32_t mark)
{
    uint16_t index;
    if (!begin(run, mark, false, &index))
        return false;
    wl_put_release_of_null(run->writer, run->thread, index);
    end(run, mark);
    return true;
}

/* A realloc's two marks: nothing of its lane happened between them. */
static bool resize(struct run *run, uint32_t from)
{
    struct conv_pair_fast *fast = run->fast;
    const struct fp_mark *result = &run->marks[from + 1];
    struct root *old, *fresh;
    uint64_t bytes;
    uint16_t index;
    if (from + 1 >= run->slice->end || run->slice->resizes || !is_address(result->address) ||
        fast->plans[result->shape].what != RESIZE)
        return false;
    if (from + 1 == run->slice->stamp) {
        settle_time(run);
        run->exact = true;
    }
    old = root_of(run, from);
    fresh = root_of(run, from + 1);
    if (old->id == 0 || (fresh != old && fresh->id != 0) || !begin(run, from + 1, false, &index))
        return false;
    bytes = fast->plans[result->shape].bytes;
    wl_put_site(run->writer, site_of(run, from + 1));
    wl_put_resize(run->writer, run->thread, index, old->id, run->bytes[old->id], bytes);
    run->bytes[old->id] = bytes;
    fresh->id = old->id;
    if (fresh != old)
        old->id = 0;
    fast->plans[run->marks[from].shape].count++;
    end(run, from + 1);
    if (unlikely(fast->plans[result->shape].has_kin))
        note_kin(run, from + 1, fresh);
    return true;
}

/* No op: what comes next says more of the object. */
static bool note_resident(struct run *run, uint32_t mark)
{
    const struct root *root = root_of(run, mark);
    run->fast->plans[run->marks[mark].shape].count++;
    settle_time(run);
    run->exact = true; /* any number of these may lie between two ops */
    if (root->id != 0)
        run->status = conv_pair_resident(run->pair, (struct conv_object){root->id, run->bytes[root->id]},
                                         run->fast->shapes[run->marks[mark].shape].extra);
    return true;
}

/* ---- a slice --------------------------------------------------------------------------------- */

/* Returns how many marks were taken, 0 for none. */
static inline __attribute__((always_inline)) uint32_t take_mark(struct run *run, uint32_t mark)
{
    const uint64_t address = run->marks[mark].address;
    const unsigned what = run->fast->plans[run->marks[mark].shape].what;
    if (unlikely(!is_address(address)))
        return address == 0 && (what == RELEASE || what == RELEASE_SIZED) && release_of_null(run, mark);
    switch (what) {
    case ALLOCATE:
        return allocate(run, mark, false);
    case RELEASE:
        return release(run, mark, false);
    case RELEASE_SIZED:
        return release(run, mark, true);
    case RESIZE_FROM:
        return resize(run, mark) ? 2 : 0;
    case RESIDENT:
        return note_resident(run, mark);
    case RESIZE:
        return !run->slice->resizes && allocate(run, mark, true);
    default:
        return 0;
    }
}

/* Be where the slice begins: in its block, and behind whatever others took of that. */
static bool come_to(struct conv_pair *pair, const struct conv_slice *slice)
{
    struct conv_pair_fast *fast = pair->fast;
    if (slice->block_number == fast->block_number && slice->begin == fast->next)
        return true;
    fast->next = slice->begin;
    fast->look_step = LOOK_LEAST;
    conv_pair_fast_settle(pair); /* which raises the floor */
    if (slice->block_number == fast->block_number)
        return true;
    fold(pair);
    fast->block_number = slice->block_number;
    return make_plans(fast, slice->block);
}

/* Take the slice's marks from this one on, as far as they are ours. Returns the first that was not taken. */
static uint32_t take_slice(struct run *run, uint32_t mark)
{
    struct conv_pair_fast *fast = run->fast;
    const bool far = run->writer->ids.used > NEAR_IDS;
    while (mark < run->slice->end && run->status == FP_OK) {
        uint32_t taken;
        if (unlikely(mark + 1 + fast->look_step / 32 >= fast->looked) && fast->looked < run->slice->bound &&
            !look(run))
            break;
        if (far) {
            const uint32_t id = fast->roots[fast->root_of[mark + PREFETCH_AHEAD]].id;
            __builtin_prefetch(&fast->roots[fast->root_of[mark + 2 * PREFETCH_AHEAD]], 1);
            __builtin_prefetch(&run->writer->ids.next[id], 1);
            __builtin_prefetch(&run->writer->last_op[id], 1);
            __builtin_prefetch(&run->bytes[id], 1);
        }
        taken = take_mark(run, mark);
        if (unlikely(taken == 0))
            break;
        mark += taken;
    }
    return mark;
}

enum fp_status conv_pair_fast_take(struct conv_pair *pair, const struct conv_slice *slice,
                                   uint32_t *ret_taken)
{
    const struct fp_block *block = slice->block;
    struct run run = {.pair = pair, .writer = pair->writer, .slice = slice, .marks = block->marks};
    uint32_t mark = slice->begin;
    *ret_taken = 0;
    if (pair->fast == NULL)
        pair->fast = calloc(1, sizeof *pair->fast);
    if (pair->fast == NULL || !come_to(pair, slice) ||
        !wl_put_room_for_ids(run.writer, slice->end - slice->begin) ||
        !conv_live_more_bytes(&pair->track.live, run.writer->ids.used + slice->end - slice->begin))
        return FP_ERR_MEMORY;
    run.bytes = pair->track.live.bytes;
    run.fast = pair->fast;
    run.status = conv_pair_thread(pair, slice->lane, &run.thread);
    if (run.status != FP_OK)
        return run.status;
    run.least_ns = pair->last_time_ns;
    run.last = NO_MARK;
    run.exact = true;
    /* A resize has two marks, and a nanosecond is lost to rounding. */
    run.coarse = (slice->step_q8 >> 7) + 1 >= run.writer->pause_ns;
    mark = take_slice(&run, mark);
    settle_time(&run);
    if (mark > slice->begin)
        pair->last_time_ns = time_of(&run, mark - 1);
    pair->fast->next = mark;
    wl_put_live(run.writer, &pair->survey->live_bytes_end, &pair->survey->live_bytes_peak,
                &pair->survey->live_objects_end, &pair->survey->live_objects_peak);
    *ret_taken = mark - slice->begin;
    return run.status;
}

void conv_pair_fast_end(struct conv_pair *pair)
{
    if (pair->fast == NULL)
        return;
    conv_pair_fast_settle(pair);
    fold(pair);
    free(pair->fast->plans);
    free(pair->fast->shapes);
    free(pair->fast);
    pair->fast = NULL;
}
