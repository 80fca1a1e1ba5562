/* pair.c - the rules by which events become ops (docs/order.md); kin. */
#include "convert/ops/pair.h"

#include <stdlib.h>

#include "footprint/base/arrays.h"
#include "footprint/wl/wl_writer.h"

#define PREFETCH_AHEAD 16u /* events: more than a memory latency at 10 ns an event */

static enum fp_status emit_lost(void *data, struct conv_object object);

bool conv_pair_init(struct conv_pair *pair, struct wl_writer *writer, struct conv_namer namer,
                    struct conv_survey *survey)
{
    *pair = (struct conv_pair){.writer = writer, .namer = namer, .survey = survey};
    return conv_track_init(&pair->track, emit_lost, pair);
}

void conv_pair_release(struct conv_pair *pair)
{
    free(pair->threads);
    conv_pair_fast_end(pair);
    conv_track_release(&pair->track);
    *pair = (struct conv_pair){0};
}

enum fp_status conv_pair_announce(struct conv_pair *pair, uint32_t lane)
{
    const size_t before = pair->lane_capacity;
    uint32_t thread_id = 0;
    bool is_main = false;
    if (!FP_GROW(pair->threads, pair->lane_capacity, (size_t)lane + 1))
        return FP_ERR_MEMORY;
    for (size_t i = before; i < pair->lane_capacity; i++)
        pair->threads[i] = NOT_ANNOUNCED;
    if (pair->threads[lane] != NOT_ANNOUNCED)
        return FP_OK;
    pair->threads[lane] = 0;
    pair->survey->threads++;
    if (pair->writer == NULL)
        return FP_OK;
    pair->namer.name(pair->namer.data, lane, &thread_id, &is_main);
    return wl_writer_thread(pair->writer, thread_id, is_main, &pair->threads[lane]);
}

/* A shim's table may lag behind, and a mark may come before others of its epoch: then another object stands there. */
enum fp_status conv_pair_resident(struct conv_pair *pair, struct conv_object object, uint64_t share)
{
    struct conv_large *large = &pair->survey->large;
    if (object.bytes < FP_MIDDLING_BYTES || share > FP_SHARE_WHOLE)
        return FP_OK;
    if (object.bytes >= FP_LARGE_BYTES) {
        large->noted++;
        large->noted_bytes = conv_add_saturating(large->noted_bytes, object.bytes);
        large->resident_bytes = conv_add_saturating(
            large->resident_bytes,
            object.bytes / FP_SHARE_WHOLE * share + object.bytes % FP_SHARE_WHOLE * share / FP_SHARE_WHOLE);
    }
    return pair->writer != NULL ? wl_writer_touched(pair->writer, object.id, (uint32_t)share) : FP_OK;
}

/* ---- ops -----------------------------------------------------------------------------------
 *
 * They are made on the thread of the event at hand. Without a writer they count only. Errors are the writer's; those that
 * put something into the table return FP_ERR_MEMORY too. */

static inline void count_irregular(struct conv_pair *pair, enum conv_irregularity which)
{
    pair->survey->irregular[which]++;
}

static inline void count_op(struct conv_pair *pair, unsigned call)
{
    pair->survey->ops++;
    pair->survey->ops_by_call[call]++;
}

/* The table has the object no more. shape: of the call, as it is to be replayed. */
static inline enum fp_status emit_release(struct conv_pair *pair, const struct fp_shape *shape,
                                          struct conv_object object)
{
    count_op(pair, shape->call);
    conv_stats_live(pair->survey, 0, object.bytes, -1);
    if (pair->writer == NULL) {
        conv_live_give_number(&pair->track.live, object.id);
        return FP_OK;
    }
    return wl_writer_release(pair->writer, pair->thread, shape, pair->last_time_ns, object.id, object.bytes);
}

/* No event released it. */
static enum fp_status emit_implied_release(struct conv_pair *pair, struct conv_object object)
{
    const struct fp_shape shape = {.call = FP_CALL_FREE};
    return emit_release(pair, &shape, object);
}

static enum fp_status emit_lost(void *data, struct conv_object object)
{
    count_irregular(data, CONV_LOST_FREE);
    return emit_implied_release(data, object);
}

/* The object stands at the event's address, with the size that this has given it. */
static inline enum fp_status put(struct conv_pair *pair, const struct conv_event *event,
                                 struct conv_object object)
{
    const enum fp_status status = pair->writer != NULL && unlikely(conv_has_kin(event->call, object.bytes))
                                      ? conv_tell_kin(pair->writer, event->call, object)
                                      : FP_OK;
    if (status != FP_OK)
        return status;
    return conv_live_insert(&pair->track.live, event->address, object) ? FP_OK : FP_ERR_MEMORY;
}

static inline enum fp_status emit_allocate(struct conv_pair *pair, const struct conv_event *event,
                                           uint64_t bytes)
{
    const struct fp_shape shape = conv_event_shape(event);
    uint32_t id = 0;
    enum fp_status status = FP_OK;
    count_op(pair, event->call);
    conv_stats_live(pair->survey, bytes, 0, 1);
    if (pair->writer != NULL) {
        wl_writer_site(pair->writer, event->site);
        status = wl_writer_allocate(pair->writer, pair->thread, &shape, pair->last_time_ns, &id);
    } else if (!conv_live_take_number(&pair->track.live, &id)) {
        status = FP_ERR_MEMORY;
    }
    if (status == FP_OK)
        status = put(pair, event, (struct conv_object){.id = id, .bytes = bytes});
    return status;
}

static enum fp_status emit_resize(struct conv_pair *pair, const struct conv_event *event,
                                  const struct conv_track_step *step)
{
    const struct fp_shape shape = conv_event_shape(event);
    enum fp_status status = FP_OK;
    count_op(pair, event->call);
    conv_stats_requests(pair->survey, step->bytes, 1);
    conv_stats_live(pair->survey, step->bytes, step->object.bytes, 0);
    if (pair->writer != NULL) {
        wl_writer_site(pair->writer, event->site);
        status = wl_writer_resize(pair->writer, pair->thread, &shape, pair->last_time_ns, step->object.id,
                                  step->object.bytes);
    }
    if (status == FP_OK)
        status = put(pair, event, (struct conv_object){.id = step->object.id, .bytes = step->bytes});
    return status;
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status release_of_null(struct conv_pair *pair, const struct conv_event *event)
{
    const struct fp_shape shape = conv_event_shape(event);
    count_op(pair, event->call);
    if (pair->writer == NULL)
        return FP_OK;
    return wl_writer_release(pair->writer, pair->thread, &shape, pair->last_time_ns, 0, 0);
}

static inline enum fp_status release(struct conv_pair *pair, const struct conv_event *event)
{
    struct fp_shape shape = conv_event_shape(event);
    struct conv_object object;
    if (event->address == 0)
        return release_of_null(pair, event);
    if (!conv_live_take_out(&pair->track.live, event->address, &object)) {
        count_irregular(pair, CONV_FREE_OF_UNKNOWN);
        return FP_OK;
    }
    if (shape.call != FP_CALL_FREE && shape.size != object.bytes && fp_call_tells_size(shape.call)) {
        /* Allocators believe the size: replayed as stated, it would corrupt their lists. */
        count_irregular(pair, CONV_SIZE_DIFFERS);
        shape.size = object.bytes;
    }
    return emit_release(pair, &shape, object);
}

static inline enum fp_status allocate(struct conv_pair *pair, const struct conv_event *event, uint64_t bytes)
{
    struct conv_object before;
    enum fp_status status = FP_OK;
    if (event->address == 0) {
        count_irregular(pair, CONV_FAILED_CALLS);
        return FP_OK;
    }
    if (!conv_live_make_place(&pair->track.live, event->address, &before))
        return FP_ERR_MEMORY;
    if (unlikely(before.id != 0))
        status = emit_lost(pair, before);
    conv_stats_requests(pair->survey, bytes, 1);
    return status == FP_OK ? emit_allocate(pair, event, bytes) : status;
}

/* Reallocs, and marks that change what stands where. */
static enum fp_status take_step(struct conv_pair *pair, const struct conv_event *event, uint64_t bytes)
{
    struct conv_track_step step;
    enum fp_status status = conv_track_take(&pair->track, event, &step);
    pair->survey->irregular[CONV_UNFINISHED_CALLS] += pair->track.unfinished;
    pair->track.unfinished = 0;
    if (status == FP_OK && step.evictee.id != 0)
        status = emit_lost(pair, step.evictee);
    if (status != FP_OK)
        return status;
    if (event->address == 0 && fp_call_kind_of(event->call) == FP_KIND_RESIZE)
        count_irregular(pair, bytes > 0 ? CONV_FAILED_CALLS : CONV_REALLOC_TO_ZERO);
    switch (step.what) {
    case CONV_TRACK_BORN:
        conv_stats_requests(pair->survey, bytes, 1);
        return emit_allocate(pair, event, bytes);
    case CONV_TRACK_MOVED:
        return emit_resize(pair, event, &step);
    case CONV_TRACK_GONE:
        return emit_implied_release(pair, step.object);
    case CONV_TRACK_MOVING:
        if (step.object.id == 0)
            count_irregular(pair, CONV_RESIZE_OF_UNKNOWN);
        return FP_OK;
    default:
        return FP_OK;
    }
}

static enum fp_status mark(struct conv_pair *pair, const struct conv_event *event)
{
    const uint64_t *entry;
    switch (event->call) {
    case FP_MARK_FORK:
        pair->survey->forks++;
        return FP_OK;
    case FP_MARK_RESIDENT:
        entry = event->address != 0 ? conv_live_find(&pair->track.live, event->address) : NULL;
        return entry != NULL
                   ? conv_pair_resident(pair, conv_live_object(&pair->track.live, entry), event->extra)
                   : FP_OK;
    case FP_MARK_THREAD_EXIT:
        pair->survey->thread_exits++;
        if (pair->writer != NULL)
            wl_writer_thread_exit(pair->writer, pair->thread);
        return FP_OK;
    case FP_MARK_GAP:
        count_irregular(pair, event->extra == FP_GAP_PAUSE ? CONV_PAUSES : CONV_GAPS);
        pair->gap_calls = conv_add_saturating(pair->gap_calls, event->size);
        break;
    default:
        break; /* those of the track, and marks of later minor revisions */
    }
    return take_step(pair, event, 0);
}

static enum fp_status take(struct conv_pair *pair, const struct conv_event *event)
{
    const unsigned kind = fp_call_kinds[event->call];
    struct fp_shape shape;
    uint64_t bytes;
    enum fp_status status;
    if (event->call == CONV_MARK_LANE_END &&
        (event->lane >= pair->lane_capacity || pair->threads[event->lane] == NOT_ANNOUNCED))
        return FP_OK; /* nothing of it was readable */
    status = conv_pair_thread(pair, event->lane, &pair->thread);
    if (status != FP_OK)
        return status;
    if (event->time_ns > pair->last_time_ns)
        pair->last_time_ns = event->time_ns;
    if (event->call != CONV_MARK_LANE_END)
        pair->survey->events_by_call[event->call % CONV_CALLS]++;
    if (unlikely(event->address >= CONV_ADDRESS_LIMIT)) {
        count_irregular(pair, CONV_IMPOSSIBLE_CALLS);
        return FP_OK;
    }
    if (kind == FP_KIND_NONE)
        return mark(pair, event);
    pair->survey->events++;
    if (kind == FP_KIND_RELEASE)
        return release(pair, event);
    shape = conv_event_shape(event);
    bytes = event->call == FP_CALL_MALLOC ? event->size : fp_shape_bytes(&shape);
    if (unlikely(event->address != 0 && bytes >= CONV_ADDRESS_LIMIT)) {
        count_irregular(pair, CONV_IMPOSSIBLE_CALLS);
        return FP_OK;
    }
    return kind == FP_KIND_RESIZE ? take_step(pair, event, bytes) : allocate(pair, event, bytes);
}

/* An event comes soon, and its entry has been fetched. */
static inline void fetch_object(const struct conv_pair *pair, uint64_t address)
{
    const uint32_t number = conv_live_peek(&pair->track.live, address);
    if (number == 0)
        return; /* nothing stands there, and there may be no object yet */
    __builtin_prefetch(&pair->track.live.bytes[number], 1);
    if (pair->writer == NULL)
        return;
    __builtin_prefetch(&pair->writer->ids.next[number], 1);
    __builtin_prefetch(&pair->writer->last_op[number], 1);
}

static enum fp_status pair_events(struct conv_pair *pair, const struct conv_event *events, size_t count)
{
    enum fp_status status = FP_OK;
    conv_pair_fast_settle(pair);
    for (size_t i = 0; i < count && i < PREFETCH_AHEAD; i++)
        conv_live_prefetch(&pair->track.live, events[i].address);
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        if (i + PREFETCH_AHEAD < count)
            conv_live_prefetch(&pair->track.live, events[i + PREFETCH_AHEAD].address);
        if (i + PREFETCH_AHEAD / 2 < count)
            fetch_object(pair, events[i + PREFETCH_AHEAD / 2].address);
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
        struct conv_track_step step = {0};
        enum fp_status status = conv_pair_thread(pair, objects[i].lane, &pair->thread);
        if (status == FP_OK)
            status = conv_track_take(&pair->track, &objects[i], &step);
        if (status == FP_OK && step.evictee.id != 0)
            status = emit_lost(pair, step.evictee);
        if (status == FP_OK && step.what == CONV_TRACK_BORN)
            status = emit_allocate(pair, &objects[i], step.bytes);
        if (status != FP_OK)
            return status;
        survey->inherited_objects++;
        survey->inherited_bytes = conv_add_saturating(survey->inherited_bytes, step.bytes);
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
    conv_pair_fast_settle(pair);
    return conv_track_is_live(&pair->track, address, ret_bytes);
}

static enum fp_status take_marks(void *data, const struct conv_slice *slice, uint32_t *ret_taken)
{
    struct conv_pair *pair = data;
    const enum fp_status status = unlikely(pair->inheriting) ? end_inheriting(pair) : FP_OK;
    *ret_taken = 0;
    return status == FP_OK ? conv_pair_fast_take(pair, slice, ret_taken) : status;
}

struct conv_sink conv_pair_sink(struct conv_pair *pair)
{
    return (struct conv_sink){.data = pair,
                              .events = take_events,
                              .marks = pair->writer != NULL ? take_marks : NULL,
                              .is_live = is_live,
                              .inherit = inherit};
}

/* ---- kin --------------------------------------------------------------------------------------------- */

#define PAGE_BYTES      4096u
#define SIZES           (FP_LARGE_BYTES / PAGE_BYTES + 1) /* by whole pages; all large ones are one */
#define FIRST_PAGE_ONLY 1u /* of FP_SHARE_WHOLE: of a page and more some bytes */

enum made { MADE_PLAINLY, MADE_BY_RESIZE, MADE_BY_CALLOC, MADE_WAYS };
_Static_assert(MADE_WAYS *SIZES <= WL_KINS, "a number for each");

static enum made made_by(unsigned call)
{
    if (call == FP_CALL_CALLOC)
        return MADE_BY_CALLOC;
    return call == FP_CALL_REALLOC || call == FP_CALL_REALLOCARRAY ? MADE_BY_RESIZE : MADE_PLAINLY;
}

bool conv_has_kin(unsigned call, uint64_t bytes)
{
    if (call == FP_CALL_CALLOC)
        return bytes >= PAGE_BYTES;
    return bytes >= FP_MIDDLING_BYTES && bytes < FP_LARGE_BYTES;
}

/* Nobody says that the program ever writes to an object from calloc: its first page is a guess that is right for most. */
enum fp_status conv_tell_kin(struct wl_writer *writer, unsigned call, struct conv_object object)
{
    const enum made made = made_by(call);
    const uint32_t size = object.bytes < FP_LARGE_BYTES ? (uint32_t)object.bytes / PAGE_BYTES : SIZES - 1;
    return wl_writer_touched_as(writer, object.id, made * SIZES + size,
                                made == MADE_BY_CALLOC ? FIRST_PAGE_ONLY : FP_SHARE_WHOLE);
}
