/* thread_filter.c - some threads' calls, and what becomes of objects that change hands. */
#include "convert/select/thread_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN 0u

/* ---- lanes --------------------------------------------------------------------------------- */

static void remember(struct conv_threads *threads, uint32_t thread_id, bool is_main)
{
    for (size_t i = 0; i < threads->named_count; i++)
        if (threads->named[i] == thread_id) /* an id that came again, after the thread had ended */
            return;
    threads->seen++;
    if (threads->named_count < CONV_THREADS_NAMED)
        threads->named[threads->named_count++] = thread_id;
    if (is_main && !threads->main_seen) {
        threads->main_seen = true;
        threads->main_id = thread_id;
    }
}

static struct conv_threads_lane *lane_of(struct conv_threads *threads, uint32_t number)
{
    struct conv_threads_lane *lanes = conv_grown(threads->lanes, sizeof *lanes, &threads->lane_capacity,
                                                 number);
    struct conv_threads_lane *lane;
    if (lanes == NULL)
        return NULL;
    threads->lanes = lanes;
    lane = &lanes[number];
    if (lane->state == CONV_LANE_UNKNOWN) {
        uint32_t thread_id = 0;
        bool is_main = false;
        threads->namer.name(threads->namer.data, number, &thread_id, &is_main);
        if (thread_id != 0) /* a lane that no trailer names has no calls */
            remember(threads, thread_id, is_main);
        lane->state = conv_list_takes(&threads->list, thread_id, is_main) ? CONV_LANE_SELECTED
                                                                          : CONV_LANE_LEFT_OUT;
    }
    return lane;
}

bool conv_threads_init(struct conv_threads *threads, const char *list, struct conv_namer namer,
                       uint32_t lane_count, struct conv_sink next)
{
    *threads = (struct conv_threads){.namer = namer, .out = {.next = next}};
    if (conv_list_parse(list, &threads->list) != NULL || !conv_track_init(&threads->track))
        return false;
    for (uint32_t lane = 0; lane < lane_count; lane++)
        if (lane_of(threads, lane) == NULL)
            return false;
    return true;
}

void conv_threads_release(struct conv_threads *threads)
{
    conv_list_release(&threads->list);
    conv_track_release(&threads->track);
    free(threads->lanes);
    *threads = (struct conv_threads){0};
}

bool conv_threads_has(struct conv_threads *threads, uint32_t lane, bool *ret_selected)
{
    const struct conv_threads_lane *found = lane_of(threads, lane);
    if (found == NULL)
        return false;
    *ret_selected = found->state == CONV_LANE_SELECTED;
    return true;
}

bool conv_threads_missing(const struct conv_threads *threads, char *ret_text, size_t size)
{
    const struct conv_list_item *missing = NULL;
    size_t used;
    for (size_t i = 0; i < threads->list.count && missing == NULL; i++)
        if (!threads->list.items[i].met)
            missing = &threads->list.items[i];
    if (missing == NULL)
        return false;
    if (missing->main)
        used = (size_t)snprintf(ret_text, size, "no main thread made a call; there are");
    else if (missing->first == missing->last)
        used = (size_t)snprintf(ret_text, size, "there is no thread %u, only", missing->first);
    else
        used = (size_t)snprintf(ret_text, size, "there is no thread %u-%u, only", missing->first,
                                missing->last);
    for (size_t i = 0; i < threads->named_count && used < size; i++)
        used += (size_t)snprintf(ret_text + used, size - used, "%s %u%s", i > 0 ? "," : "", threads->named[i],
                                 threads->main_seen && threads->named[i] == threads->main_id ? " (main)"
                                                                                             : "");
    if (threads->seen > threads->named_count && used < size)
        used += (size_t)snprintf(ret_text + used, size - used,
                                 " and %llu more ('mallab info --json' lists them)",
                                 (unsigned long long)(threads->seen - threads->named_count));
    if (!missing->main && missing->first == 1 && missing->last == 1 &&
        used < size) /* 1 is taken for how many */
        snprintf(ret_text + used, size - used,
                 "; ids are chosen, not how many: 'mallab ab --one-thread' replays on one");
    return true;
}

/* ---- objects that change hands ------------------------------------------------------------- */

/* An owner's object goes without a call of its own. */
static enum fp_status let_go(struct conv_threads *threads, uint64_t address, struct conv_object object,
                             enum conv_irregularity why)
{
    uint32_t lane = object.id - 1;
    if (threads->lanes[lane].ended)
        lane = threads->last_lane;
    return conv_batch_add(&threads->out, &(struct conv_event){.time_ns = threads->now_ns,
                                                              .address = address,
                                                              .extra = why,
                                                              .lane = lane,
                                                              .call = CONV_MARK_RELEASE});
}

/* Counted by the pairing, so that it counts only if the filters behind let it through. */
static enum fp_status count(struct conv_threads *threads, const struct conv_event *event,
                            enum conv_irregularity which)
{
    return conv_batch_add(&threads->out, &(struct conv_event){.time_ns = threads->now_ns,
                                                              .extra = which,
                                                              .lane = event->lane,
                                                              .call = CONV_MARK_COUNT});
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status pass_on(struct conv_threads *threads, const struct conv_event *event)
{
    struct conv_event passing = *event;
    threads->last_lane = event->lane;
    passing.time_ns = threads->now_ns;
    return conv_batch_add(&threads->out, &passing);
}

/* An object that stands where a foreign one is put has lost its release; where a selected thread's is put, the pairing sees that
 * for itself. */
static enum fp_status make_room(struct conv_threads *threads, const struct conv_event *event, bool selected,
                                const struct conv_track_step *step)
{
    if (selected || !step->evicted || step->evictee.id == FOREIGN)
        return FP_OK;
    return let_go(threads, event->address, step->evictee, CONV_LOST_FREE);
}

static enum fp_status take_selected(struct conv_threads *threads, const struct conv_event *event,
                                    const struct conv_track_step *step)
{
    enum fp_status status;
    if (!step->known || step->object.id != FOREIGN)
        return pass_on(threads, event);
    switch (step->what) {
    case CONV_TRACK_MOVED: /* for the pairing an allocation, by realloc of NULL */
        status = count(threads, event, CONV_FOREIGN_RESIZES);
        return status == FP_OK ? pass_on(threads, event) : status;
    case CONV_TRACK_GONE:
    case CONV_TRACK_STAYED:
        return count(threads, event, CONV_FOREIGN_CALLS);
    default: /* a resize begins: its end counts */
        return FP_OK;
    }
}

static enum fp_status take_unselected(struct conv_threads *threads, const struct conv_event *event,
                                      const struct conv_track_step *step)
{
    const bool theirs = step->known && step->object.id != FOREIGN;
    if (!theirs || (step->what != CONV_TRACK_MOVING && step->what != CONV_TRACK_GONE))
        return FP_OK;
    if (step->what ==
        CONV_TRACK_MOVING) /* its address is free from now on, and whoever resizes an object owns it */
        conv_track_note(&threads->track, event->lane, FOREIGN);
    return let_go(threads, event->address, step->object, CONV_RELEASED_BY_OTHERS);
}

static enum fp_status take(struct conv_threads *threads, const struct conv_event *event)
{
    struct conv_threads_lane *lane = lane_of(threads, event->lane);
    struct conv_track_step step;
    bool selected;
    enum fp_status status;
    if (lane == NULL)
        return FP_ERR_MEMORY;
    selected = lane->state == CONV_LANE_SELECTED;
    if (event->time_ns > threads->now_ns)
        threads->now_ns = event->time_ns;
    if (event->call == CONV_MARK_LANE_END || event->call == FP_MARK_THREAD_EXIT)
        lane->ended = true;
    status = conv_track_take(&threads->track, event, &step);
    if (status == FP_OK)
        status = make_room(threads, event, selected, &step);
    if (status == FP_OK)
        status = selected ? take_selected(threads, event, &step) : take_unselected(threads, event, &step);
    if (status == FP_OK && (step.what == CONV_TRACK_BORN || step.what == CONV_TRACK_MOVED) &&
        !conv_track_put(&threads->track, event->address, selected ? event->lane + 1 : FOREIGN, step.bytes))
        status = FP_ERR_MEMORY;
    return status;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t number)
{
    struct conv_threads *threads = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < number && status == FP_OK; i++)
        status = take(threads, &events[i]);
    return status == FP_OK ? conv_batch_flush(&threads->out) : status;
}

/* Objects that were there before belong to the lane that they are given to. */
static enum fp_status inherit(void *data, const struct conv_event *objects, size_t number)
{
    struct conv_threads *threads = data;
    const struct conv_sink *next = &threads->out.next;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < number && status == FP_OK; i++) {
        const struct fp_shape shape = conv_event_shape(&objects[i]);
        struct conv_object before;
        bool selected;
        if (!conv_threads_has(threads, objects[i].lane, &selected))
            return FP_ERR_MEMORY;
        (void)conv_track_remove(&threads->track, objects[i].address, &before);
        if (!conv_track_put(&threads->track, objects[i].address, selected ? objects[i].lane + 1 : FOREIGN,
                            fp_shape_bytes(&shape)))
            return FP_ERR_MEMORY;
        if (!selected)
            continue;
        threads->last_lane = objects[i].lane;
        status = next->inherit(next->data, &objects[i], 1);
    }
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_threads *threads = data;
    return conv_track_is_live(&threads->track, address, ret_bytes);
}

struct conv_sink conv_threads_sink(struct conv_threads *threads)
{
    return (struct conv_sink){.data = threads, .events = take_events, .is_live = is_live, .inherit = inherit};
}
