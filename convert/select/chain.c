/* chain.c - filters put together, and what is said of them at the end. */
#include "convert/select/chain.h"

#include <stdio.h>
#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/select/selection_plan.h"

/* ---- the first calls ------------------------------------------------------------------------ */

/* FP_END behind the last call. */
static enum fp_status take_first(void *data, const struct conv_event *events, size_t count)
{
    struct conv_first_calls *head = data;
    size_t passing = 0;
    enum fp_status status;
    while (passing < count && head->left > 0)
        head->left -= fp_call_kind_of(events[passing++].call) != FP_KIND_NONE;
    status = passing > 0 ? head->next.events(head->next.data, events, passing) : FP_OK;
    return status == FP_OK && head->left == 0 ? FP_END : status;
}

/* ---- a section --------------------------------------------------------------------------------
 *
 * It begins at the first event, in the order of all lanes, at which the time is not before `from`, and ends before the
 * first one at which it is not before `to`; time is the highest seen so far, as replays have it. So sections that follow
 * each other part the events among them. What is alive where it begins is created first, at time 0 of the section,
 * oldest first; reallocs under way there go on. */

static enum fp_status hand_over(struct conv_section *section, const struct conv_heir *heir)
{
    const struct conv_sink *next = &section->next;
    struct conv_event object = conv_heap_object(&section->heap, heir);
    struct conv_event mark = {
        .address = object.address, .lane = heir->moving_lane, .call = FP_MARK_RESIZE_FROM};
    enum fp_status status;
    object.lane = section->chain->input->home_lane; /* which creates what was there before */
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

static enum fp_status flush(struct conv_section *section)
{
    const size_t count = section->count;
    section->count = 0;
    return count > 0 ? section->next.events(section->next.data, section->events, count) : FP_OK;
}

/* But for the end of a lane that made no call: it would make a thread of a workload that does nothing. */
static enum fp_status pass_on(struct conv_section *section, const struct conv_event *event)
{
    uint8_t *called = conv_grown(section->called, sizeof *called, &section->called_capacity, event->lane);
    if (called == NULL)
        return FP_ERR_MEMORY;
    section->called = called;
    if (event->call == FP_MARK_THREAD_EXIT && called[event->lane] == 0)
        return FP_OK;
    if (event->call < FP_CALL_COUNT || event->call == FP_MARK_RESIZE_FROM)
        called[event->lane] = 1;
    const enum fp_status status = section->count == CONV_BATCH_EVENTS ? flush(section) : FP_OK;
    if (status == FP_OK)
        section->events[section->count++] = *event;
    return status;
}

static enum fp_status take(struct conv_section *section, const struct conv_event *event)
{
    struct conv_event moved = *event;
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
        const enum fp_status status = flush(section);
        return status == FP_OK ? FP_END : status;
    }
    moved.time_ns = event->time_ns > section->from_ns ? event->time_ns - section->from_ns : 0;
    return pass_on(section, &moved);
}

/* Answers FP_END behind the section's end. */
static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_section *section = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = take(section, &events[i]);
    return status == FP_OK ? flush(section) : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    struct conv_section *section = data;
    enum fp_status status = FP_OK;
    if (section->begun)
        return section->next.inherit(section->next.data, objects, count);
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = conv_heap_put(&section->heap, &objects[i]);
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_section *section = data;
    const struct conv_sink *next = &section->next;
    return section->begun ? next->is_live(next->data, address, ret_bytes)
                          : conv_track_is_live(&section->heap.track, address, ret_bytes);
}

/* ---- the chain ------------------------------------------------------------------------------ */

bool conv_chain_init(struct conv_chain *chain, const struct conv_selection *select,
                     const struct conv_input *input, struct conv_survey *survey, struct conv_sink pairing)
{
    bool done = true;
    *chain = (struct conv_chain){.input = input, .sink = pairing};
    if (select->head != 0) {
        chain->head = (struct conv_first_calls){.left = select->head, .next = chain->sink};
        chain->sink = (struct conv_sink){.data = &chain->head,
                                         .events = take_first,
                                         .is_live = conv_pass_is_live,
                                         .inherit = conv_pass_inherit};
    }
    if (select->from.kind != CONV_WHEN_NONE || select->to.kind != CONV_WHEN_NONE) {
        chain->has_section = true;
        done = conv_heap_init(&chain->section.heap) && done;
        chain->section.chain = chain;
        chain->section.from_ns = select->from.kind != CONV_WHEN_NONE ? select->from.value : 0;
        chain->section.to_ns = select->to.kind != CONV_WHEN_NONE ? select->to.value : 0;
        chain->section.begun = chain->section.from_ns == 0;
        chain->section.next = chain->sink;
        chain->sink = (struct conv_sink){
            .data = &chain->section, .events = take_events, .is_live = is_live, .inherit = inherit};
    }
    return done;
}

void conv_chain_release(struct conv_chain *chain)
{
    if (chain->has_section) {
        conv_heap_release(&chain->section.heap);
        free(chain->section.called);
    }
}

/* The part of the whole duration that the section and the head leave. */
static uint64_t duration_of(const struct conv_chain *chain, const struct conv_selection *select, bool stopped,
                            uint64_t last_ns, uint64_t whole_ns)
{
    const uint64_t from = chain->has_section ? chain->section.from_ns : 0;
    const uint64_t to = chain->has_section ? chain->section.to_ns : 0;
    uint64_t end = to != 0 && to < whole_ns ? to : whole_ns;
    if (stopped && select->head != 0 && chain->head.left == 0)
        return last_ns;
    if (stopped && to != 0 && end < to)
        end = to; /* an input that learns its end by reading was not read on */
    return end > from && end - from > last_ns ? end - from : last_ns;
}

enum fp_status conv_chain_conclude(const struct conv_chain *chain, const struct conv_selection *select,
                                   bool stopped, uint64_t last_ns, struct conv_survey *survey,
                                   struct conv_error *error)
{
    const uint64_t whole_ns = survey->duration_ns;
    if (!conv_plan_any(select))
        return FP_OK;
    survey->duration_ns = duration_of(chain, select, stopped, last_ns, whole_ns);
    if (survey->events == 0)
        return conv_fail(error, survey->input, FP_ERR_ARGUMENT, 0, 0,
                         "no call is in what was selected (%.120s); it lasts %.9g s", survey->selected.text,
                         (double)whole_ns / 1e9);
    return FP_OK;
}
