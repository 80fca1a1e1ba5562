/* without.c - objects of some sites left out. */
#include "convert/select/without.h"

enum { STAYS = 0, GOES = 1 }; /* tags */

bool conv_without_init(struct conv_without_filter *filter, const struct conv_without *sites)
{
    filter->sites = sites;
    return conv_track_init(&filter->track);
}

void conv_without_release(struct conv_without_filter *filter)
{
    conv_track_release(&filter->track);
    conv_callers_release(&filter->callers);
}

static bool is_left_out(const struct conv_without_filter *filter, const struct conv_event *event)
{
    return event->site < filter->sites->end && filter->sites->sites[event->site];
}

static enum fp_status pass_on(struct conv_without_filter *filter, const struct conv_event *event)
{
    bool passes;
    if (!conv_callers_note(&filter->callers, event, &passes))
        return FP_ERR_MEMORY;
    return passes ? conv_batch_add(&filter->out, event) : FP_OK;
}

/* An object comes to be at an address where, for whoever comes next, another may still be, of which nobody saw the end. */
static enum fp_status pass_end(struct conv_without_filter *filter, const struct conv_event *event,
                               const struct conv_track_step *step)
{
    if (!step->evicted || step->evictee.id != STAYS)
        return FP_OK;
    return pass_on(filter, &(struct conv_event){.time_ns = event->time_ns,
                                                .address = event->address,
                                                .extra = CONV_LOST_FREE,
                                                .lane = event->lane,
                                                .call = CONV_MARK_RELEASE});
}

static enum fp_status take_new(struct conv_without_filter *filter, const struct conv_event *event,
                               const struct conv_track_step *step)
{
    const bool goes = is_left_out(filter, event), was_moved = step->what == CONV_TRACK_MOVED;
    struct conv_event told = *event;
    enum fp_status status = FP_OK;
    if (was_moved && step->object.id == GOES)
        told.old_address = 0; /* whoever comes next has seen nothing of it: it is allocated here */
    if (was_moved && step->object.id == STAYS && goes) { /* and it ends here */
        told.address = told.size = 0;
        told.extra = CONV_RESIZE_ENDS;
        told.call = FP_CALL_REALLOC;
    }
    if (goes)
        status = pass_end(filter, event, step);
    if (status == FP_OK && (!goes || (was_moved && step->object.id == STAYS)))
        status = pass_on(filter, &told);
    if (status != FP_OK)
        return status;
    return conv_track_put_step(&filter->track, step, event->address, goes ? GOES : STAYS) ? FP_OK
                                                                                          : FP_ERR_MEMORY;
}

/* Whether a mark is about an object that goes. */
static bool is_of_gone(const struct conv_without_filter *filter, const struct conv_event *event)
{
    const struct conv_live_entry *entry = event->call == FP_MARK_RESIDENT && event->address != 0 &&
                                                  event->address < CONV_ADDRESS_LIMIT
                                              ? conv_live_find(&filter->track.live, event->address)
                                              : NULL;
    return entry != NULL && conv_live_object(entry).id == GOES;
}

static enum fp_status take(struct conv_without_filter *filter, const struct conv_event *event)
{
    struct conv_track_step step;
    const enum fp_status status = conv_track_take(&filter->track, event, &step);
    bool goes = false;
    if (status != FP_OK)
        return status;
    switch (step.what) {
    case CONV_TRACK_BORN:
    case CONV_TRACK_MOVED:
        return take_new(filter, event, &step);
    case CONV_TRACK_GONE:
    case CONV_TRACK_MOVING:
    case CONV_TRACK_STAYED:
        goes = step.known ? step.object.id == GOES : is_left_out(filter, event);
        break;
    case CONV_TRACK_VOID:
        goes = is_left_out(filter, event);
        break;
    default:
        goes = is_of_gone(filter, event);
        break;
    }
    return goes ? FP_OK : pass_on(filter, event);
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_without_filter *filter = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = take(filter, &events[i]);
    return status == FP_OK ? conv_batch_flush(&filter->out) : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_without_filter *filter = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        const struct fp_shape shape = conv_event_shape(&objects[i]);
        const bool goes = is_left_out(filter, &objects[i]);
        struct conv_object before;
        (void)conv_track_remove(&filter->track, objects[i].address, &before); /* there may be none */
        if (!conv_track_put(&filter->track, objects[i].address, goes ? GOES : STAYS, fp_shape_bytes(&shape)))
            return FP_ERR_MEMORY;
        if (!goes)
            status = filter->out.next.inherit(filter->out.next.data, &objects[i], 1);
    }
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_without_filter *filter = data;
    return conv_track_is_live(&filter->track, address, ret_bytes);
}

struct conv_sink conv_without_sink(struct conv_without_filter *filter, struct conv_sink next)
{
    filter->out.next = next;
    return (struct conv_sink){.data = filter, .events = take_events, .is_live = is_live, .inherit = inherit};
}
