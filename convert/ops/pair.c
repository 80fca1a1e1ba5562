/* pair.c - the rules by which events become ops (docs/irregularities.md). */
#include "convert/ops/pair.h"

#include <stdlib.h>
#include <string.h>

#include "convert/ops/pair_fast.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define NOT_ANNOUNCED  UINT32_MAX
#define PREFETCH_AHEAD 16u /* events: more than a memory latency at 10 ns an event */

bool conv_pair_init(struct conv_pair *pair, struct wl_writer *writer, struct conv_namer namer,
                    struct conv_survey *survey)
{
    *pair = (struct conv_pair){.writer = writer, .namer = namer, .survey = survey};
    return conv_live_init(&pair->live);
}

void conv_pair_release(struct conv_pair *pair)
{
    for (size_t i = 0; i < pair->lane_capacity; i++)
        free(pair->lanes[i].pending);
    free(pair->lanes);
    conv_pair_fast_end(pair);
    conv_live_release(&pair->live);
    *pair = (struct conv_pair){0};
}

enum fp_status conv_pair_lane(struct conv_pair *pair, uint32_t number, struct conv_pair_lane **ret_lane)
{
    struct conv_pair_lane *lane;
    if (number >= pair->lane_capacity) {
        const size_t capacity = ((size_t)number + 1) * 2;
        struct conv_pair_lane *lanes = realloc(pair->lanes, capacity * sizeof *lanes);
        if (lanes == NULL)
            return FP_ERR_MEMORY;
        for (size_t i = pair->lane_capacity; i < capacity; i++)
            lanes[i] = (struct conv_pair_lane){.thread = NOT_ANNOUNCED};
        pair->lanes = lanes;
        pair->lane_capacity = capacity;
    }
    lane = &pair->lanes[number];
    if (lane->thread == NOT_ANNOUNCED) {
        lane->thread = 0;
        pair->survey->threads++;
        if (pair->writer != NULL) {
            uint32_t thread_id = 0;
            bool is_main = false;
            enum fp_status status;
            pair->namer.name(pair->namer.data, number, &thread_id, &is_main);
            status = wl_writer_thread(pair->writer, thread_id, is_main, &lane->thread);
            if (status != FP_OK)
                return status;
        }
    }
    *ret_lane = lane;
    return FP_OK;
}

/* ---- ops and the table ----------------------------------------------------------------------
 *
 * These take the lane of the event at hand, and hand on the writer's errors; those that put something into the table
 * return FP_ERR_MEMORY too. Without a writer they count only. Inline: each event goes through here. */

/* Count one more of a kind. */
static inline void count_irregular(struct conv_pair *pair, enum conv_irregularity which)
{
    pair->survey->irregular[which]++;
}

/* The op that releases an object which the table of live ones has no more.
 * shape  of the call, as it is to be replayed. */
static inline enum fp_status emit_release(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                          const struct fp_shape *shape, struct conv_object object)
{
    struct conv_survey *survey = pair->survey;
    survey->ops++;
    survey->ops_by_call[shape->call]++;
    conv_stats_live(survey, 0, object.bytes, -1);
    if (pair->writer == NULL)
        return FP_OK;
    return wl_writer_release(pair->writer, lane->thread, shape, pair->last_time_ns, object.id, object.bytes);
}

/* Likewise, of an object that no event released. */
static inline enum fp_status emit_implied_release(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                                  struct conv_object object)
{
    const struct fp_shape shape = {.call = FP_CALL_FREE};
    return emit_release(pair, lane, &shape, object);
}

/* Whatever stands where an object is about to be put has lost its release. entry is empty behind. */
static inline enum fp_status evict(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                   struct conv_live_entry *entry)
{
    const struct conv_object object = conv_live_object(entry);
    conv_live_remove(&pair->live, entry);
    count_irregular(pair, CONV_LOST_FREE);
    return emit_implied_release(pair, lane, object);
}

/* Ret_entry: the empty entry for an object at address, until the table changes. */
static inline enum fp_status make_place(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                        uint64_t address, struct conv_live_entry **ret_entry)
{
    struct conv_live_entry *entry = conv_live_place(&pair->live, address);
    if (__builtin_expect(!conv_live_is_empty(entry), 0)) {
        const enum fp_status status = evict(pair, lane, entry);
        if (status != FP_OK)
            return status;
        entry = conv_live_place(&pair->live, address);
    }
    *ret_entry = entry;
    return FP_OK;
}

/* The op that makes an object of bytes, which stands at the event's address from now on. */
static inline enum fp_status create(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                    const struct conv_event *event, uint64_t bytes)
{
    struct conv_survey *survey = pair->survey;
    const struct fp_shape shape = conv_event_shape(event);
    struct conv_object object = {.id = 0, .bytes = bytes};
    struct conv_live_entry *entry;
    enum fp_status status = make_place(pair, lane, event->address, &entry);
    if (status != FP_OK)
        return status;
    survey->ops++;
    survey->ops_by_call[event->call]++;
    conv_stats_live(survey, bytes, 0, 1);
    if (pair->writer != NULL) {
        status = wl_writer_allocate(pair->writer, lane->thread, &shape, pair->last_time_ns, &object.id);
        if (status != FP_OK)
            return status;
    }
    return conv_live_insert_at(&pair->live, entry, event->address, object) ? FP_OK : FP_ERR_MEMORY;
}

/* Likewise, counted as asked for by the program. */
static inline enum fp_status emit_allocate(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                           const struct conv_event *event, uint64_t bytes)
{
    conv_stats_requests(pair->survey, bytes, 1);
    return create(pair, lane, event, bytes);
}

/* ---- realloc --------------------------------------------------------------------------------
 *
 * Its first event (FP_MARK_RESIZE_FROM) takes the object out of the table of live ones, since its address may be another's
 * before the call is back; until its second event, the result, the object is pending with its lane. An object whose result
 * never comes is put back. */

/* Put an object back where it stood when its realloc began. */
static enum fp_status restore(struct conv_pair *pair, const struct conv_pair_lane *lane,
                              const struct conv_pending *pending)
{
    if (!pending->known)
        return FP_OK;
    if (conv_live_find(&pair->live, pending->address) != NULL) {
        /* Another object stands there by now: the one put back was released unseen. */
        count_irregular(pair, CONV_LOST_FREE);
        return emit_implied_release(pair, lane, pending->object);
    }
    return conv_live_insert(&pair->live, pending->address, pending->object) ? FP_OK : FP_ERR_MEMORY;
}

static enum fp_status drop_oldest_pending(struct conv_pair *pair, struct conv_pair_lane *lane)
{
    const struct conv_pending oldest = lane->pending[0];
    lane->pending_count--;
    memmove(lane->pending, lane->pending + 1, lane->pending_count * sizeof *lane->pending);
    count_irregular(pair, CONV_UNFINISHED_CALLS);
    return restore(pair, lane, &oldest);
}

static enum fp_status drop_pending(struct conv_pair *pair, struct conv_pair_lane *lane)
{
    enum fp_status status = FP_OK;
    while (lane->pending_count > 0 && status == FP_OK)
        status = drop_oldest_pending(pair, lane);
    return status;
}

/* The address is not 0. Beyond CONV_NEST_MAX pending ones the oldest is given up. */
static enum fp_status resize_from(struct conv_pair *pair, struct conv_pair_lane *lane,
                                  const struct conv_event *event)
{
    struct conv_pending pending = {.address = event->address};
    struct conv_live_entry *entry;
    if (lane->pending == NULL) {
        lane->pending = calloc(CONV_NEST_MAX, sizeof *lane->pending);
        if (lane->pending == NULL)
            return FP_ERR_MEMORY;
    }
    if (lane->pending_count == CONV_NEST_MAX) {
        const enum fp_status status = drop_oldest_pending(pair, lane);
        if (status != FP_OK)
            return status;
    }
    entry = conv_live_find(&pair->live, event->address); /* after the above, which may have put it back */
    pending.known = entry != NULL;
    if (entry != NULL) {
        pending.object = conv_live_object(entry);
        conv_live_remove(&pair->live, entry);
    } else {
        count_irregular(pair, CONV_RESIZE_OF_UNKNOWN);
    }
    lane->pending[lane->pending_count++] = pending;
    return FP_OK;
}

/* Take the innermost pending realloc of this address off the lane; false: there is none. */
static bool take_pending(struct conv_pair_lane *lane, uint64_t address, struct conv_pending *ret_pending)
{
    for (uint32_t i = lane->pending_count; i-- > 0;) {
        if (lane->pending[i].address != address)
            continue;
        *ret_pending = lane->pending[i];
        lane->pending_count--;
        memmove(&lane->pending[i], &lane->pending[i + 1], (lane->pending_count - i) * sizeof *lane->pending);
        return true;
    }
    return false;
}

static enum fp_status resize_failed(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                    const struct conv_pending *pending, uint64_t bytes)
{
    if (bytes > 0) {
        count_irregular(pair, CONV_FAILED_CALLS);
        return restore(pair, lane, pending);
    }
    count_irregular(pair, CONV_REALLOC_TO_ZERO);
    return pending->known ? emit_implied_release(pair, lane, pending->object) : FP_OK;
}

static enum fp_status resize_result(struct conv_pair *pair, struct conv_pair_lane *lane,
                                    const struct conv_event *event, uint64_t bytes)
{
    const struct fp_shape shape = conv_event_shape(event);
    struct conv_survey *survey = pair->survey;
    struct conv_pending pending = {0};
    struct conv_live_entry *entry;
    enum fp_status status;
    if (event->old_address != 0)
        (void)take_pending(lane, event->old_address, &pending); /* none: as a realloc of NULL */
    if (event->address == 0)
        return resize_failed(pair, lane, &pending, bytes);
    if (!pending.known)
        return emit_allocate(pair, lane, event, bytes);
    status = make_place(pair, lane, event->address, &entry);
    if (status != FP_OK)
        return status;
    survey->ops++;
    survey->ops_by_call[event->call]++;
    conv_stats_requests(survey, bytes, 1);
    conv_stats_live(survey, bytes, pending.object.bytes, 0);
    if (pair->writer != NULL) {
        status = wl_writer_resize(pair->writer, lane->thread, &shape, pair->last_time_ns, pending.object.id,
                                  pending.object.bytes);
        if (status != FP_OK)
            return status;
    }
    pending.object.bytes = bytes;
    return conv_live_insert_at(&pair->live, entry, event->address, pending.object) ? FP_OK : FP_ERR_MEMORY;
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status release(struct conv_pair *pair, const struct conv_pair_lane *lane,
                              const struct conv_event *event)
{
    struct fp_shape shape = conv_event_shape(event);
    struct conv_live_entry *entry;
    struct conv_object object;
    if (event->address == 0) {
        pair->survey->ops++;
        pair->survey->ops_by_call[event->call]++;
        if (pair->writer == NULL)
            return FP_OK;
        return wl_writer_release(pair->writer, lane->thread, &shape, pair->last_time_ns, 0, 0);
    }
    entry = conv_live_find(&pair->live, event->address);
    if (entry == NULL) {
        count_irregular(pair, CONV_FREE_OF_UNKNOWN);
        return FP_OK;
    }
    object = conv_live_object(entry);
    conv_live_remove(&pair->live, entry);
    if (shape.call != FP_CALL_FREE && shape.size != object.bytes && fp_call_tells_size(shape.call)) {
        /* Allocators believe the size: replayed as stated, it would corrupt their lists. */
        count_irregular(pair, CONV_SIZE_DIFFERS);
        shape.size = object.bytes;
    }
    return emit_release(pair, lane, &shape, object);
}

static enum fp_status end_lane(struct conv_pair *pair, struct conv_pair_lane *lane)
{
    const enum fp_status status = drop_pending(pair, lane);
    free(lane->pending); /* lanes that ended may be many */
    lane->pending = NULL;
    return status;
}

/* A filter saw something irregular in what it left out. */
static void note(struct conv_pair *pair, const struct conv_event *event)
{
    if (event->extra < CONV_IRREGULARITY_COUNT)
        count_irregular(pair, (enum conv_irregularity)event->extra);
}

/* A shim's table may lag behind, and a mark may come before others of its epoch: then another object stands there. */
enum fp_status conv_pair_resident(struct conv_pair *pair, struct conv_object object, uint64_t share)
{
    struct conv_large *large = &pair->survey->large;
    if (object.bytes < FP_LARGE_BYTES || share > FP_SHARE_WHOLE)
        return FP_OK;
    large->noted++;
    large->noted_bytes = conv_add_saturating(large->noted_bytes, object.bytes);
    large->resident_bytes = conv_add_saturating(large->resident_bytes,
                                                object.bytes / FP_SHARE_WHOLE * share +
                                                    object.bytes % FP_SHARE_WHOLE * share / FP_SHARE_WHOLE);
    return pair->writer != NULL ? wl_writer_touched(pair->writer, object.id, (uint32_t)share) : FP_OK;
}

static enum fp_status mark(struct conv_pair *pair, struct conv_pair_lane *lane,
                           const struct conv_event *event)
{
    struct conv_live_entry *entry;
    struct conv_object object;
    switch (event->call) {
    case FP_MARK_RESIZE_FROM:
        /* The shim marks no realloc of NULL, but a file may say anything; the table cannot look up 0. */
        return event->address != 0 ? resize_from(pair, lane, event) : FP_OK;
    case FP_MARK_FORK:
        pair->survey->forks++;
        return FP_OK;
    case FP_MARK_RESIDENT:
        entry = event->address != 0 ? conv_live_find(&pair->live, event->address) : NULL;
        return entry != NULL ? conv_pair_resident(pair, conv_live_object(entry), event->extra) : FP_OK;
    case FP_MARK_THREAD_EXIT:
        pair->survey->thread_exits++;
        if (pair->writer != NULL)
            wl_writer_thread_exit(pair->writer, lane->thread);
        return FP_OK;
    case FP_MARK_GAP:
        count_irregular(pair, event->extra == FP_GAP_PAUSE ? CONV_PAUSES : CONV_GAPS);
        pair->gap_calls = conv_add_saturating(pair->gap_calls, event->size);
        return drop_pending(pair, lane);
    case CONV_MARK_RELEASE:
        entry = event->address != 0 ? conv_live_find(&pair->live, event->address) : NULL;
        if (entry == NULL)
            return FP_OK;
        note(pair, event);
        object = conv_live_object(entry);
        conv_live_remove(&pair->live, entry);
        return emit_implied_release(pair, lane, object);
    case CONV_MARK_LANE_END:
        return end_lane(pair, lane);
    default:
        return FP_OK; /* a mark of a later minor revision */
    }
}

static enum fp_status take(struct conv_pair *pair, const struct conv_event *event)
{
    const unsigned kind = fp_call_kinds[event->call];
    struct conv_pair_lane *lane;
    struct fp_shape shape;
    uint64_t bytes;
    enum fp_status status;
    if (event->call == CONV_MARK_LANE_END &&
        (event->lane >= pair->lane_capacity || pair->lanes[event->lane].thread == NOT_ANNOUNCED))
        return FP_OK; /* nothing of it was readable */
    if (event->call == CONV_MARK_COUNT) {
        note(pair, event);
        return FP_OK;
    }
    status = conv_pair_lane(pair, event->lane, &lane);
    if (status != FP_OK)
        return status;
    if (event->time_ns > pair->last_time_ns)
        pair->last_time_ns = event->time_ns;
    if (event->call != CONV_MARK_LANE_END && event->call != CONV_MARK_RELEASE)
        pair->survey->events_by_call[event->call % CONV_CALLS]++;
    if (__builtin_expect(event->address >= CONV_ADDRESS_LIMIT, 0)) {
        count_irregular(pair, CONV_IMPOSSIBLE_CALLS);
        return FP_OK;
    }
    if (kind == FP_KIND_NONE)
        return mark(pair, lane, event);
    pair->survey->events++;
    if (kind == FP_KIND_RELEASE)
        return release(pair, lane, event);
    shape = conv_event_shape(event);
    bytes = event->call == FP_CALL_MALLOC ? event->size : fp_shape_bytes(&shape);
    if (__builtin_expect(event->address != 0 && bytes >= CONV_ADDRESS_LIMIT, 0)) {
        count_irregular(pair, CONV_IMPOSSIBLE_CALLS);
        return FP_OK;
    }
    if (kind == FP_KIND_RESIZE)
        return resize_result(pair, lane, event, bytes);
    if (event->address == 0) {
        count_irregular(pair, CONV_FAILED_CALLS);
        return FP_OK;
    }
    return emit_allocate(pair, lane, event, bytes);
}

static enum fp_status pair_events(struct conv_pair *pair, const struct conv_event *events, size_t count)
{
    enum fp_status status = FP_OK;
    conv_pair_fast_settle(pair);
    for (size_t i = 0; i < count && i < PREFETCH_AHEAD; i++)
        conv_live_prefetch(&pair->live, events[i].address);
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        if (i + PREFETCH_AHEAD < count)
            conv_live_prefetch(&pair->live, events[i + PREFETCH_AHEAD].address);
        status = take(pair, &events[i]);
    }
    return status;
}

/* Ops like any, but no events: the program did not call for them here. */
static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_pair *pair = data;
    struct conv_survey *survey = pair->survey;
    for (size_t i = 0; i < count; i++) {
        const struct fp_shape shape = conv_event_shape(&objects[i]);
        const uint64_t bytes = fp_shape_bytes(&shape);
        struct conv_pair_lane *lane;
        enum fp_status status = conv_pair_lane(pair, objects[i].lane, &lane);
        if (status == FP_OK)
            status = create(pair, lane, &objects[i], bytes);
        if (status != FP_OK)
            return status;
        survey->inherited_objects++;
        survey->inherited_bytes = conv_add_saturating(survey->inherited_bytes, bytes);
    }
    pair->inheriting = count > 0 || pair->inheriting;
    return FP_OK;
}

/* A replay does not time what was there before: a window ends behind it. */
static enum fp_status end_inheriting(struct conv_pair *pair)
{
    pair->inheriting = false;
    return pair->writer != NULL ? wl_writer_cut(pair->writer) : FP_OK;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_pair *pair = data;
    const enum fp_status status = unlikely(pair->inheriting) ? end_inheriting(pair) : FP_OK;
    return status == FP_OK ? pair_events(pair, events, count) : status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    struct conv_pair *pair = data;
    const struct conv_live_entry *entry;
    conv_pair_fast_settle(pair);
    entry = address != 0 && address < CONV_ADDRESS_LIMIT ? conv_live_find(&pair->live, address) : NULL;
    if (entry == NULL)
        return false;
    *ret_bytes = conv_live_object(entry).bytes;
    return true;
}

static enum fp_status take_marks(void *data, const struct conv_slice *slice, uint32_t *ret_taken)
{
    struct conv_pair *pair = data;
    const enum fp_status status = unlikely(pair->inheriting) ? end_inheriting(pair) : FP_OK;
    *ret_taken = 0;
    return status == FP_OK ? conv_pair_fast_take(pair, slice, ret_taken) : status;
}

void conv_pair_end(struct conv_pair *pair)
{
    conv_pair_fast_end(pair);
}

struct conv_sink conv_pair_sink(struct conv_pair *pair)
{
    return (struct conv_sink){.data = pair,
                              .events = take_events,
                              .marks = pair->writer != NULL ? take_marks : NULL,
                              .is_live = is_live,
                              .inherit = inherit};
}
