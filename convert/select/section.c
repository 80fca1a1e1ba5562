/* section.c - from one time to another. */
#include "convert/select/section.h"

#include <stdlib.h>

bool conv_section_init(struct conv_section *section, uint64_t from_ns, uint64_t to_ns, conv_home_fn *home,
                       void *home_data, struct conv_sink next)
{
    *section = (struct conv_section){.from_ns = from_ns,
                                     .to_ns = to_ns,
                                     .begun = from_ns == 0,
                                     .home = home,
                                     .home_data = home_data,
                                     .out = {.next = next}};
    return conv_heap_init(&section->heap);
}

void conv_section_release(struct conv_section *section)
{
    conv_heap_release(&section->heap);
    conv_callers_release(&section->callers);
}

/* ---- the beginning ------------------------------------------------------------------------- */

static enum fp_status hand_over(struct conv_section *section, const struct conv_heir *heir)
{
    const struct conv_sink *next = &section->out.next;
    struct conv_event object = conv_heap_object(&section->heap, heir);
    struct conv_event mark = {
        .address = object.address, .lane = heir->moving_lane, .call = FP_MARK_RESIZE_FROM};
    enum fp_status status;
    if (!section->home(section->home_data, object.lane, &object.lane))
        return FP_ERR_MEMORY;
    status = next->inherit(next->data, &object, 1);
    /* Its realloc is under way: the address is free for the objects that come after it. */
    if (status == FP_OK && heir->moving_lane != CONV_NOT_MOVING)
        status = next->events(next->data, &mark, 1);
    return status;
}

static enum fp_status begin(struct conv_section *section)
{
    struct conv_heir *heirs;
    size_t count;
    enum fp_status status = conv_heap_heirs(&section->heap, &heirs, &count);
    if (status != FP_OK)
        return status;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = hand_over(section, &heirs[i]);
    free(heirs);
    conv_heap_release(&section->heap);
    section->begun = true;
    return status;
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status take(struct conv_section *section, const struct conv_event *event)
{
    struct conv_event moved = *event;
    bool has_called;
    if (event->time_ns > section->now_ns)
        section->now_ns = event->time_ns;
    if (!section->begun) {
        enum fp_status status;
        if (section->now_ns < section->from_ns)
            return conv_heap_take(&section->heap, event);
        status = begin(section);
        if (status != FP_OK)
            return status;
    }
    if (section->to_ns != 0 && section->now_ns >= section->to_ns) {
        const enum fp_status status = conv_batch_flush(&section->out);
        return status == FP_OK ? FP_END : status;
    }
    moved.time_ns = event->time_ns > section->from_ns ? event->time_ns - section->from_ns : 0;
    if (!conv_callers_note(&section->callers, event, &has_called))
        return FP_ERR_MEMORY;
    return has_called ? conv_batch_add(&section->out, &moved) : FP_OK;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_section *section = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = take(section, &events[i]);
    return status == FP_OK ? conv_batch_flush(&section->out) : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_section *section = data;
    enum fp_status status = FP_OK;
    if (section->begun)
        return section->out.next.inherit(section->out.next.data, objects, count);
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = conv_heap_put(&section->heap, &objects[i]);
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_section *section = data;
    const struct conv_sink *next = &section->out.next;
    return section->begun ? next->is_live(next->data, address, ret_bytes)
                          : conv_track_is_live(&section->heap.track, address, ret_bytes);
}

struct conv_sink conv_section_sink(struct conv_section *section)
{
    return (struct conv_sink){.data = section, .events = take_events, .is_live = is_live, .inherit = inherit};
}
