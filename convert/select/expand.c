/* expand.c - copies of objects, and trains of what happens to them. */
#include "convert/select/expand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/fp/object_sample.h"

#define COPIES_FROM    (UINT64_C(1) << 47) /* addresses that no program has */
#define TRAINS_MOST    1024u
#define FRACTION_BITS  12u
#define NORMAL_95      1.96
#define OBJECT_INITIAL 1024u

struct conv_copies {
    uint64_t base;     /* address of copy 1, less 1: those of the others follow */
    uint64_t most;     /* bytes that it had so far */
    uint64_t bytes;    /* that it has */
    uint32_t copies;   /* with itself */
    uint16_t rounding; /* of 2^FRACTION_BITS */
    uint32_t next;
};

struct conv_train {
    struct conv_event event;
    uint64_t base;
    uint32_t at, copies; /* next copy, and behind the last */
    uint32_t stays;      /* of a resize: copies from here on end */
};

/* Objects that one of so many bytes at most stands for. */
static double weight_of(const struct conv_expand *expand, uint64_t most)
{
    const double mean = (double)expand->one_in * FP_SAMPLE_LEAST_BYTES;
    return most >= FP_SAMPLE_ALL_BYTES ? 1 : -1 / expm1(-(double)fp_sample_weight(most) / mean);
}

static uint32_t copies_of(const struct conv_expand *expand, const struct conv_copies *object)
{
    const double parts = weight_of(expand, object->most) * (1u << FRACTION_BITS) + 0.5;
    return (uint32_t)(((uint64_t)parts + object->rounding) >> FRACTION_BITS);
}

/* Into and out of what is estimated to be live. */
static void weigh(struct conv_expand *expand, const struct conv_copies *object, double sign)
{
    const double weight = weight_of(expand, object->most), bytes = (double)object->bytes;
    expand->live += sign * weight * bytes;
    expand->variance += sign * (weight - 1) * weight * bytes * bytes;
    if (expand->live > expand->live_peak) {
        expand->live_peak = expand->live;
        expand->variance_peak = expand->variance;
    }
}

/* ---- ticks ---------------------------------------------------------------------------------------- */

static enum fp_status add(struct conv_expand *expand, struct conv_event event, uint64_t address, uint64_t old)
{
    event.time_ns = expand->now_ns;
    event.address = address;
    event.old_address = old;
    return conv_batch_add(&expand->out, &event);
}

static enum fp_status move_train(struct conv_expand *expand, struct conv_train *train)
{
    const uint64_t address = train->base + train->at++;
    struct conv_event event = train->event;
    enum fp_status status;
    if (fp_call_kind_of(event.call) != FP_KIND_RESIZE)
        return add(expand, event, address, 0);
    event.call = FP_MARK_RESIZE_FROM;
    event.size = event.extra = 0;
    event.site = 0;
    status = add(expand, event, address, 0);
    if (status != FP_OK)
        return status;
    event = train->event;
    if (train->at <= train->stays)
        return add(expand, event, event.address != 0 ? address : 0, address);
    event.call = FP_CALL_REALLOC;
    event.size = 0;
    event.extra = CONV_RESIZE_ENDS;
    return add(expand, event, 0, address);
}

static enum fp_status move_trains(struct conv_expand *expand)
{
    enum fp_status status = FP_OK;
    size_t kept = 0;
    for (size_t i = 0; i < expand->train_count && status == FP_OK; i++) {
        struct conv_train *train = &expand->trains[i];
        status = move_train(expand, train);
        if (train->at < train->copies)
            expand->trains[kept++] = *train;
    }
    if (status == FP_OK)
        expand->train_count = kept;
    return status;
}

static enum fp_status tick(struct conv_expand *expand)
{
    enum fp_status status = FP_OK;
    if (expand->birth_next < expand->birth_copies)
        status = add(expand, expand->birth, expand->birth_base + expand->birth_next++, 0);
    return status == FP_OK ? move_trains(expand) : status;
}

/* until_ns: over what time those that are left are born. */
static enum fp_status finish_births(struct conv_expand *expand, uint64_t until_ns)
{
    const uint64_t from = expand->now_ns, left = expand->birth_copies - expand->birth_next;
    enum fp_status status = FP_OK;
    for (uint64_t i = 1; i <= left && status == FP_OK; i++) {
        if (until_ns > from)
            expand->now_ns = from + (uint64_t)((double)(until_ns - from) * ((double)i / (double)(left + 1)));
        status = tick(expand);
    }
    return status;
}

static enum fp_status arrive(struct conv_expand *expand)
{
    enum fp_status status = finish_births(expand, expand->now_ns);
    while (expand->train_count > 0 && status == FP_OK)
        status = move_trains(expand);
    return status;
}

static enum fp_status start_train(struct conv_expand *expand, const struct conv_event *event,
                                  const struct conv_copies *object, uint32_t stays)
{
    if (object->copies < 2)
        return FP_OK;
    struct conv_train *trains = conv_grown(expand->trains, sizeof *trains, &expand->train_capacity,
                                           expand->train_count);
    if (trains == NULL)
        return FP_ERR_MEMORY;
    expand->trains = trains;
    trains[expand->train_count++] = (struct conv_train){*event, object->base, 1, object->copies, stays};
    return expand->train_count > TRAINS_MOST ? tick(expand) : FP_OK;
}

/* ---- objects --------------------------------------------------------------------------------------- */

static bool make_object(struct conv_expand *expand, uint64_t bytes, uint32_t *ret_number)
{
    uint32_t number = expand->vacant;
    if (number != 0) {
        expand->vacant = expand->objects[number].next;
    } else {
        struct conv_copies *objects = conv_grown(expand->objects, sizeof *objects, &expand->object_capacity,
                                                 expand->object_count + 1);
        if (objects == NULL)
            return false;
        expand->objects = objects;
        number = ++expand->object_count;
    }
    struct conv_copies *object = &expand->objects[number];
    *object = (struct conv_copies){.base = COPIES_FROM + expand->next_base, .most = bytes, .bytes = bytes};
    object->rounding = (uint16_t)(conv_mix(++expand->born, 0) % (1u << FRACTION_BITS));
    object->copies = copies_of(expand, object);
    expand->next_base = (expand->next_base + object->copies) % (COPIES_FROM / 2);
    weigh(expand, object, 1);
    *ret_number = number;
    return true;
}

/* The end of one, which its copies learn by the event. */
static enum fp_status end_object(struct conv_expand *expand, uint32_t number, const struct conv_event *event,
                                 uint32_t stays)
{
    struct conv_copies *object = &expand->objects[number];
    const enum fp_status status = start_train(expand, event, object, stays);
    weigh(expand, object, -1);
    object->next = expand->vacant;
    expand->vacant = number;
    return status;
}

static enum fp_status lose(void *data, struct conv_object object)
{
    struct conv_expand *expand = data;
    const struct conv_event gone = {
        .call = CONV_MARK_RELEASE, .extra = CONV_LOST_FREE, .lane = expand->lost_lane};
    return end_object(expand, object.id, &gone, 0);
}

static enum fp_status take_birth(struct conv_expand *expand, const struct conv_event *event,
                                 const struct conv_track_step *step)
{
    uint32_t number;
    enum fp_status status = finish_births(expand, event->time_ns);
    expand->now_ns = event->time_ns;
    if (status == FP_OK)
        status = conv_batch_add(&expand->out, event);
    if (status == FP_OK)
        status = move_trains(expand);
    if (status != FP_OK)
        return status;
    if (!make_object(expand, step->bytes, &number) ||
        !conv_track_put_step(&expand->track, step, event->address, number))
        return FP_ERR_MEMORY;
    expand->birth = *event;
    if (fp_call_kind_of(event->call) == FP_KIND_RESIZE)
        expand->birth.old_address = 0;
    expand->birth_base = expand->objects[number].base;
    expand->birth_copies = expand->objects[number].copies;
    expand->birth_next = 1;
    return FP_OK;
}

static enum fp_status take_move(struct conv_expand *expand, const struct conv_event *event,
                                const struct conv_track_step *step)
{
    struct conv_copies *object = &expand->objects[step->object.id];
    struct conv_copies before = *object;
    enum fp_status status = conv_batch_add(&expand->out, event);
    weigh(expand, object, -1);
    object->bytes = step->bytes;
    if (step->bytes > object->most) {
        object->most = step->bytes;
        object->copies = copies_of(expand, object);
    }
    weigh(expand, object, 1);
    if (status == FP_OK)
        status = conv_track_put_step(&expand->track, step, event->address, step->object.id) ? FP_OK
                                                                                            : FP_ERR_MEMORY;
    return status == FP_OK ? start_train(expand, event, &before, object->copies) : status;
}

static enum fp_status take(struct conv_expand *expand, const struct conv_event *event)
{
    struct conv_track_step step;
    enum fp_status status;
    if (event->call == CONV_MARK_LANE_END || event->call == FP_MARK_THREAD_EXIT) {
        status = arrive(expand);
        if (status != FP_OK)
            return status;
    }
    expand->lost_lane = event->lane;
    status = conv_track_take(&expand->track, event, &step);
    if (status == FP_OK && step.evicted)
        status = lose(expand, step.evictee);
    if (status != FP_OK)
        return status;
    if (step.what == CONV_TRACK_BORN)
        return take_birth(expand, event, &step);
    if (event->time_ns > expand->now_ns)
        expand->now_ns = event->time_ns;
    if (step.what == CONV_TRACK_MOVED)
        return take_move(expand, event, &step);
    status = conv_batch_add(&expand->out, event);
    if (status == FP_OK && step.what == CONV_TRACK_GONE)
        status = end_object(expand, step.object.id, event, UINT32_MAX);
    return status;
}

/* ---- a sink ----------------------------------------------------------------------------------------- */

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_expand *expand = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = take(expand, &events[i]);
    return status == FP_OK ? conv_batch_flush(&expand->out) : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_expand *expand = data;
    const struct conv_sink *next = &expand->out.next;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        struct conv_event copy = objects[i];
        struct conv_track_step step;
        uint32_t number;
        status = conv_track_take(&expand->track, &objects[i], &step);
        if (status == FP_OK)
            status = next->inherit(next->data, &objects[i], 1);
        if (status != FP_OK || step.what != CONV_TRACK_BORN)
            continue;
        if (!make_object(expand, step.bytes, &number) ||
            !conv_track_put_step(&expand->track, &step, objects[i].address, number))
            return FP_ERR_MEMORY;
        const struct conv_copies object = expand->objects[number];
        for (uint32_t at = 1; at < object.copies && status == FP_OK; at++) {
            copy.address = object.base + at;
            copy.old_address = 0;
            status = next->inherit(next->data, &copy, 1);
        }
    }
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_expand *expand = data;
    return conv_track_is_live(&expand->track, address, ret_bytes);
}

bool conv_expand_init(struct conv_expand *expand, uint64_t one_in, const struct conv_sink *next)
{
    *expand = (struct conv_expand){.one_in = one_in};
    expand->out.next = *next;
    const bool done = conv_track_init(&expand->track);
    expand->track.lost = lose;
    expand->track.lost_data = expand;
    return done;
}

void conv_expand_release(struct conv_expand *expand)
{
    conv_track_release(&expand->track);
    free(expand->objects);
    free(expand->trains);
    expand->objects = NULL;
    expand->trains = NULL;
}

struct conv_sink conv_expand_sink(struct conv_expand *expand)
{
    const bool inherits = expand->out.next.inherit != NULL;
    return (struct conv_sink){
        .data = expand, .events = take_events, .is_live = is_live, .inherit = inherits ? inherit : NULL};
}

enum fp_status conv_expand_end(struct conv_expand *expand)
{
    const enum fp_status status = arrive(expand);
    return status == FP_OK ? conv_batch_flush(&expand->out) : status;
}

double conv_expand_error(const struct conv_expand *expand)
{
    return expand->live_peak > 0 && expand->variance_peak > 0
               ? NORMAL_95 * sqrt(expand->variance_peak) / expand->live_peak
               : 0;
}
