/* chain.c - filters put together, and what is said of them at the end. */
#include "convert/select/chain.h"

#include <stdio.h>

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

/* ---- the chain ------------------------------------------------------------------------------ */

/* The process' main thread, where its calls are selected; else the lane itself. */
static bool home_of(void *data, uint32_t lane, uint32_t *ret_lane)
{
    struct conv_chain *chain = data;
    const struct conv_input *input = chain->input;
    const uint32_t home = input->home != NULL ? input->home(input->data, lane) : 0;
    bool selected = true;
    if (chain->has_threads && !conv_threads_has(&chain->threads, home, &selected))
        return false;
    *ret_lane = selected ? home : lane;
    return true;
}

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
    if (select->sample_of != 0) {
        chain->has_sample = true;
        done = conv_sample_init(&chain->sample, select->sample_part, select->sample_of, survey, chain->sink);
        chain->sample.at_once = select->head != 0;
        chain->sink = conv_sample_sink(&chain->sample);
    }
    if (select->from.kind != CONV_WHEN_NONE || select->to.kind != CONV_WHEN_NONE) {
        chain->has_section = true;
        done = conv_section_init(
                   &chain->section, select->from.kind != CONV_WHEN_NONE ? select->from.value : 0,
                   select->to.kind != CONV_WHEN_NONE ? select->to.value : 0, home_of, chain, chain->sink) &&
               done;
        chain->sink = conv_section_sink(&chain->section);
    }
    if (select->threads != NULL) {
        chain->has_threads = true;
        done = conv_threads_init(&chain->threads, select->threads, input->namer, input->lane_count,
                                 chain->sink) &&
               done;
        chain->sink = conv_threads_sink(&chain->threads);
    }
    return done;
}

void conv_chain_release(struct conv_chain *chain)
{
    if (chain->has_threads)
        conv_threads_release(&chain->threads);
    if (chain->has_section)
        conv_section_release(&chain->section);
    if (chain->has_sample)
        conv_sample_release(&chain->sample);
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
    char text[200];
    /* Where threads are known when they call only, those that were not reached are not missing. */
    if (chain->has_threads && (!stopped || chain->input->lane_count != 0) &&
        conv_threads_missing(&chain->threads, text, sizeof text))
        return conv_fail(error, survey->input, FP_ERR_ARGUMENT, 0, 0, "%s", text);
    if (!conv_plan_any(select))
        return FP_OK;
    survey->duration_ns = duration_of(chain, select, stopped, last_ns, whole_ns);
    if (survey->events == 0)
        return conv_fail(error, survey->input, FP_ERR_ARGUMENT, 0, 0,
                         "no call is in what was selected (%.120s); it lasts %.9g s", survey->selected.text,
                         (double)whole_ns / 1e9);
    return FP_OK;
}
