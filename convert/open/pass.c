/* pass.c - source, pairing and progress put together. */
#include "convert/open/pass.h"

#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/ops/pair.h"
#include "convert/select/chain.h"
#include "convert/select/selection_plan.h"

#define PROGRESS_EVENTS (UINT64_C(1) << 20)

struct pass {
    struct conv_sink next; /* the selection's filters, or the pairing */
    const struct conv_input *input;
    const struct conv_options *options;
    uint64_t events, next_progress;
};

static void count(struct pass *pass, size_t events)
{
    pass->events += events;
    if (pass->events >= pass->next_progress && pass->options->progress != NULL) {
        const struct conv_input *input = pass->input;
        const uint64_t done = input->position != NULL ? input->position(input->data) : pass->events;
        pass->next_progress = pass->events + PROGRESS_EVENTS;
        pass->options->progress(pass->options->progress_data, pass->events, done, input->progress_total);
    }
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t event_count)
{
    struct pass *pass = data;
    count(pass, event_count);
    return pass->next.events(pass->next.data, events, event_count);
}

static enum fp_status take_marks(void *data, const struct conv_slice *slice, uint32_t *ret_taken)
{
    struct pass *pass = data;
    const enum fp_status status = pass->next.marks(pass->next.data, slice, ret_taken);
    count(pass, *ret_taken);
    return status;
}

/* How many calls each thread made: a sink that counts and hands on. */
struct census {
    struct conv_sink next;
    uint64_t *events; /* by lane */
    uint32_t *order;  /* lanes in the order of their first call */
    size_t capacity, order_capacity, count;
};

static void census_release(struct census *census)
{
    free(census->events);
    free(census->order);
    *census = (struct census){0};
}

static bool reserve(struct census *census, uint32_t lane)
{
    uint64_t *events = conv_grown(census->events, sizeof *events, &census->capacity, lane);
    if (events == NULL)
        return false;
    census->events = events;
    return CONV_RESERVE(census->order, census->order_capacity, census->count + 1);
}

static enum fp_status census_events(void *data, const struct conv_event *events, size_t count)
{
    struct census *census = data;
    for (size_t i = 0; i < count; i++) {
        const uint32_t lane = events[i].lane;
        if (events[i].call >= FP_CALL_COUNT)
            continue; /* a mark */
        if ((lane >= census->capacity || census->events[lane] == 0) && !reserve(census, lane))
            return FP_ERR_MEMORY;
        if (census->events[lane]++ == 0)
            census->order[census->count++] = lane;
    }
    return census->next.events(census->next.data, events, count);
}

static struct conv_sink census_sink(struct census *census, struct conv_sink next)
{
    census->next = next;
    return (struct conv_sink){
        .data = census, .events = census_events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
}

/* The threads that made a call, as survey's thread_list. False: no memory, nothing changed. */
static bool census_list(const struct census *census, struct conv_namer namer, struct conv_survey *survey)
{
    struct conv_thread *list = calloc(census->count + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (size_t i = 0; i < census->count; i++) {
        const uint32_t lane = census->order[i];
        namer.name(namer.data, lane, &list[i].thread_id, &list[i].is_main);
        list[i].events = census->events[lane];
    }
    free(survey->thread_list);
    survey->thread_list = list;
    survey->thread_count = census->count;
    return true;
}

static void conclude(const struct conv_input *input, const struct conv_options *options,
                     const struct conv_pair *pair, struct conv_survey *survey)
{
    survey->duration_ns = pair->last_time_ns;
    input->conclude(input->data, pair->gap_calls, survey);
    if (survey->events > 0 && !conv_plan_any(&options->select))
        survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
}

enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error)
{
    struct pass pass = {.input = input, .options = options, .next_progress = PROGRESS_EVENTS};
    struct conv_sink sink = {
        .data = &pass, .events = take_events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
    struct conv_chain *chain = calloc(1, sizeof *chain);
    struct census census = {0};
    struct conv_pair pair;
    bool stopped = false;
    enum fp_status status = FP_ERR_MEMORY;
    error->cause.status = FP_OK;
    if (chain == NULL)
        return status;
    if (conv_pair_init(&pair, writer, input->namer, survey)) {
        struct conv_sink last = conv_pair_sink(&pair);
        if (writer == NULL) /* whoever only looks wants to see the threads */
            last = census_sink(&census, last);
        if (options->watch != NULL)
            last = options->watch(options->watch_data, last);
        if (conv_chain_init(chain, &options->select, input, survey, last)) {
            pass.next = chain->sink;
            if (pass.next.marks != NULL && !options->by_event)
                sink.marks = take_marks;
            status = input->run(input->data, &sink, survey, error);
        }
        conv_pair_end(&pair);
    }
    if (status == FP_END) { /* the selection has all it wants */
        stopped = true;
        status = FP_OK;
    }
    if (status == FP_OK) {
        conclude(input, options, &pair, survey);
        status = conv_chain_conclude(chain, &options->select, stopped, pair.last_time_ns, survey, error);
    }
    if (status == FP_OK && writer == NULL && !census_list(&census, input->namer, survey))
        status = FP_ERR_MEMORY;
    census_release(&census);
    conv_chain_release(chain);
    free(chain);
    conv_pair_release(&pair);
    return status;
}
