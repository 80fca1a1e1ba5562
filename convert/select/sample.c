/* sample.c - a share of the objects. */
#include "convert/select/sample.h"

bool conv_sample_init(struct conv_sample *sample, uint32_t part, uint32_t of, struct conv_survey *survey,
                      struct conv_sink next)
{
    *sample = (struct conv_sample){
        .part = part, .of = of, .figures = &survey->selected, .out = {.next = next}};
    return conv_track_init(&sample->track);
}

void conv_sample_release(struct conv_sample *sample)
{
    conv_track_release(&sample->track);
    conv_callers_release(&sample->callers);
    *sample = (struct conv_sample){0};
}

/* The finisher of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): every bit of the
 * number moves every bit of the result, and it has no seed to write down. */
static uint64_t mix(uint64_t number)
{
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

bool conv_sample_chooses(uint32_t part, uint32_t of, uint64_t number)
{
    return (mix(number) >> 32) * of >> 32 < part;
}

static bool choose_next(struct conv_sample *sample)
{
    return conv_sample_chooses(sample->part, sample->of, ++sample->numbers);
}

/* ---- figures of the whole ------------------------------------------------------------------ */

static void grow(struct conv_sample *sample, uint64_t bytes, uint64_t objects)
{
    sample->live_bytes += bytes;
    sample->live_objects += objects;
    if (sample->live_bytes > sample->figures->all_live_bytes_peak)
        sample->figures->all_live_bytes_peak = sample->live_bytes;
    if (sample->live_objects > sample->figures->all_live_objects_peak)
        sample->figures->all_live_objects_peak = sample->live_objects;
}

/* Count as the pairing would, had it seen everything. */
static void count_whole(struct conv_sample *sample, const struct conv_event *event,
                        const struct conv_track_step *step)
{
    if (step->evicted) {
        sample->figures->all_ops++;
        sample->live_bytes -= step->evictee.bytes;
        sample->live_objects--;
    }
    switch (step->what) {
    case CONV_TRACK_BORN:
        sample->figures->all_ops++;
        grow(sample, step->bytes, 1);
        break;
    case CONV_TRACK_GONE:
        sample->figures->all_ops++;
        sample->live_bytes -= step->object.bytes;
        sample->live_objects--;
        break;
    case CONV_TRACK_MOVED:
        sample->figures->all_ops++;
        sample->live_bytes -= step->object.bytes;
        grow(sample, step->bytes, 0);
        break;
    case CONV_TRACK_VOID:
        sample->figures->all_ops += fp_call_kind_of(event->call) == FP_KIND_RELEASE;
        break;
    default:
        break;
    }
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status pass_on(struct conv_sample *sample, const struct conv_event *event)
{
    bool has_called;
    if (!conv_callers_note(&sample->callers, event, &has_called))
        return FP_ERR_MEMORY;
    return has_called ? conv_batch_add(&sample->out, event) : FP_OK;
}

/* Whether the event passes, and what is noted of the object. */
static bool is_chosen(struct conv_sample *sample, const struct conv_event *event,
                      const struct conv_track_step *step)
{
    bool chosen;
    switch (step->what) {
    case CONV_TRACK_BORN:
    case CONV_TRACK_VOID:
    case CONV_TRACK_STAYED:
        return step->matched ? step->object.id != 0 : choose_next(sample);
    case CONV_TRACK_MOVING:
        if (step->known)
            return step->object.id != 0;
        chosen = choose_next(sample); /* its result will be one */
        conv_track_note(&sample->track, event->lane, chosen);
        return chosen;
    case CONV_TRACK_GONE:
    case CONV_TRACK_MOVED:
        return step->object.id != 0;
    case CONV_TRACK_UNKNOWN:
    case CONV_TRACK_MARK:
        break;
    }
    return true;
}

/* An object that is not chosen takes the place of a chosen one, whose release was lost. */
static enum fp_status make_room(struct conv_sample *sample, const struct conv_event *event, bool chosen,
                                const struct conv_track_step *step)
{
    if (chosen || !step->evicted || step->evictee.id == 0)
        return FP_OK;
    return conv_batch_add(&sample->out, &(struct conv_event){.time_ns = event->time_ns,
                                                             .address = event->address,
                                                             .extra = CONV_LOST_FREE,
                                                             .lane = event->lane,
                                                             .call = CONV_MARK_RELEASE});
}

static enum fp_status take(struct conv_sample *sample, const struct conv_event *event)
{
    struct conv_track_step step;
    bool chosen;
    enum fp_status status = conv_track_take(&sample->track, event, &step);
    if (status != FP_OK)
        return status;
    count_whole(sample, event, &step);
    chosen = is_chosen(sample, event, &step);
    status = make_room(sample, event, chosen, &step);
    if (status == FP_OK && chosen)
        status = pass_on(sample, event);
    if (status == FP_OK && (step.what == CONV_TRACK_BORN || step.what == CONV_TRACK_MOVED) &&
        !conv_track_put(&sample->track, event->address, chosen, step.bytes))
        status = FP_ERR_MEMORY;
    return status;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_sample *sample = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        status = take(sample, &events[i]);
        if (status == FP_OK && sample->at_once)
            status = conv_batch_flush(&sample->out);
    }
    return status == FP_OK ? conv_batch_flush(&sample->out) : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_sample *sample = data;
    const struct conv_sink *next = &sample->out.next;
    enum fp_status status = conv_batch_flush(&sample->out);
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        const bool chosen = choose_next(sample);
        struct conv_track_step step;
        status = conv_track_take(&sample->track, &objects[i], &step);
        if (status != FP_OK || step.what != CONV_TRACK_BORN)
            continue;
        count_whole(sample, &objects[i], &step);
        if (!conv_track_put(&sample->track, objects[i].address, chosen, step.bytes))
            status = FP_ERR_MEMORY;
        else if (chosen)
            status = next->inherit(next->data, &objects[i], 1);
    }
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_sample *sample = data;
    return conv_track_is_live(&sample->track, address, ret_bytes);
}

struct conv_sink conv_sample_sink(struct conv_sample *sample)
{
    return (struct conv_sink){.data = sample, .events = take_events, .is_live = is_live, .inherit = inherit};
}
