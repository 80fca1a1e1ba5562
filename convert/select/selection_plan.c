/* selection_plan.c - settle a selection, say it, and let through what is selected. */
#include "convert/select/selection_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/arrays.h"
#include "footprint/base/words.h"

bool conv_plan_any(const struct conv_selection *select)
{
    return select->from.kind != CONV_WHEN_NONE || select->to.kind != CONV_WHEN_NONE || select->head != 0;
}

/* ---- times --------------------------------------------------------------------------------- */

static bool is_share(const struct conv_when *moment)
{
    return moment->kind == CONV_WHEN_SHARE;
}

/* A time, or none where it is the beginning (value 0). */
static void settle_when(struct conv_when *moment, uint64_t duration_ns)
{
    if (is_share(moment))
        *moment = (struct conv_when){
            .kind = CONV_WHEN_TIME,
            .value = (uint64_t)((unsigned __int128)duration_ns * moment->value / CONV_SHARE_WHOLE)};
}

bool conv_plan_wants_duration(const struct conv_selection *select)
{
    return (is_share(&select->from) && select->from.value != 0) ||
           (is_share(&select->to) && select->to.value < CONV_SHARE_WHOLE) ||
           select->from.kind == CONV_WHEN_CLOCK || select->to.kind == CONV_WHEN_CLOCK;
}

enum fp_status conv_plan_clock(const char *path, uint64_t start_unix_ns, uint64_t duration_ns,
                               struct conv_when *when, struct conv_error *error)
{
    const time_t start = (time_t)(start_unix_ns / 1000000000u);
    const uint64_t sought = when->value;
    struct tm day, then;
    time_t moment;
    if (when->kind != CONV_WHEN_CLOCK)
        return FP_OK;
    if (start_unix_ns == 0 || localtime_r(&start, &day) == NULL)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "does not say at what time it began");
    for (int days = 0; days < 2; days++) {
        then = (struct tm){.tm_year = day.tm_year,
                           .tm_mon = day.tm_mon,
                           .tm_mday = day.tm_mday + days,
                           .tm_hour = (int)(sought / 3600),
                           .tm_min = (int)(sought / 60 % 60),
                           .tm_sec = (int)(sought % 60),
                           .tm_isdst = -1};
        moment = mktime(&then);
        if (moment > start)
            break;
    }
    *when = (struct conv_when){.kind = CONV_WHEN_TIME,
                               .value = (uint64_t)moment * 1000000000u - start_unix_ns};
    if (moment <= start || (duration_ns != 0 && when->value > duration_ns))
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "was not recorded at %02d:%02d:%02d: it began at %02d:%02d:%02d", then.tm_hour,
                         then.tm_min, then.tm_sec, day.tm_hour, day.tm_min, day.tm_sec);
    return FP_OK;
}

static enum fp_status settle_times(const char *path, uint64_t duration_ns, struct conv_options *options,
                                   uint64_t start_unix_ns, struct conv_error *error)
{
    struct conv_when *from = &options->select.from, *to = &options->select.to;
    enum fp_status status = conv_plan_clock(path, start_unix_ns, duration_ns, from, error);
    if (status == FP_OK)
        status = conv_plan_clock(path, start_unix_ns, duration_ns, to, error);
    if (status != FP_OK)
        return status;
    if (to->kind == CONV_WHEN_SHARE && to->value >= CONV_SHARE_WHOLE)
        to->kind = CONV_WHEN_NONE;
    if (from->kind != CONV_WHEN_NONE && from->value == 0)
        from->kind = CONV_WHEN_NONE;
    if ((is_share(from) || is_share(to)) && duration_ns == 0)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "has no recorded time of which a share could be taken");
    settle_when(from, duration_ns);
    settle_when(to, duration_ns);
    if (to->kind == CONV_WHEN_TIME && to->value <= (from->kind == CONV_WHEN_TIME ? from->value : 0))
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "the section ends before it begins");
    return FP_OK;
}

/* ---- words --------------------------------------------------------------------------------- */

static const char *seconds(uint64_t ns, char ret_text[32])
{
    size_t length = (size_t)snprintf(ret_text, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u,
                                     ns % 1000000000u);
    while (ret_text[length - 1] == '0')
        ret_text[--length] = '\0';
    if (ret_text[length - 1] == '.')
        ret_text[--length] = '\0';
    snprintf(ret_text + length, 32 - length, " s");
    return ret_text;
}

static void word(struct conv_selected *selected)
{
    char *text = selected->text;
    const size_t size = sizeof selected->text;
    char from[32], to[32];
    text[0] = '\0';
    if (selected->from_ns > 0 && selected->to_ns > 0)
        fp_text_more(text, size, "; ", "%s to %s", seconds(selected->from_ns, from),
                     seconds(selected->to_ns, to));
    else if (selected->from_ns > 0)
        fp_text_more(text, size, "; ", "from %s", seconds(selected->from_ns, from));
    else if (selected->to_ns > 0)
        fp_text_more(text, size, "; ", "up to %s", seconds(selected->to_ns, to));
    if (selected->head > 0)
        fp_text_more(text, size, "; ", "first %" PRIu64 " calls", selected->head);
}

enum fp_status conv_plan_settle(const char *path, uint64_t duration_ns, struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *error)
{
    struct conv_selection *select = &options->select;
    struct conv_selected *selected = &survey->selected;
    enum fp_status status;
    status = settle_times(path, duration_ns, options, survey->start_unix_ns, error);
    if (status != FP_OK)
        return status;
    if (conv_plan_any(select)) { /* else there may be that of a workload */
        selected->from_ns = select->from.kind == CONV_WHEN_TIME ? select->from.value : 0;
        selected->to_ns = select->to.kind == CONV_WHEN_TIME ? select->to.value : 0;
        selected->head = select->head;
        word(selected);
    }
    if (survey->start_unix_ns != 0 && select->from.kind == CONV_WHEN_TIME)
        survey->start_unix_ns += select->from.value;
    return FP_OK;
}

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
    if (!FP_GROW(section->called, section->called_capacity, (size_t)event->lane + 1))
        return FP_ERR_MEMORY;
    if (event->call == FP_MARK_THREAD_EXIT && section->called[event->lane] == 0)
        return FP_OK;
    if (event->call < FP_CALL_COUNT || event->call == FP_MARK_RESIZE_FROM)
        section->called[event->lane] = 1;
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
