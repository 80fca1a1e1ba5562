/* pass.c - source, pairing and progress put together. */
#include "convert/pass.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROGRESS_EVENTS (UINT64_C(1) << 20)

struct pass {
    const struct conv_input *input;
    const struct conv_options *options;
    struct conv_sink pair;
    uint64_t events, next_progress;
};

void conv_incomplete(struct conv_survey *survey, const char *format, ...)
{
    va_list list;
    survey->complete = false;
    if (survey->incomplete_why[0] != '\0')
        return;
    va_start(list, format);
    vsnprintf(survey->incomplete_why, sizeof survey->incomplete_why, format, list);
    va_end(list);
}

static void count(struct pass *pass, size_t events)
{
    pass->events += events;
    if (pass->events >= pass->next_progress && pass->options->progress != NULL) {
        const struct conv_input *input = pass->input;
        const uint64_t done = input->position != NULL ? input->position(input->data) : pass->events;
        pass->next_progress = pass->events + PROGRESS_EVENTS;
        pass->options->progress(pass->options->progress_data, done, input->progress_total);
    }
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t event_count)
{
    struct pass *pass = data;
    count(pass, event_count);
    return pass->pair.events(pass->pair.data, events, event_count);
}

static enum fp_status take_marks(void *data, const struct conv_slice *slice, uint32_t *ret_taken)
{
    struct pass *pass = data;
    const enum fp_status status = pass->pair.marks(pass->pair.data, slice, ret_taken);
    count(pass, *ret_taken);
    return status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    const struct pass *pass = data;
    return pass->pair.inherit(pass->pair.data, objects, count);
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct pass *pass = data;
    return pass->pair.is_live(pass->pair.data, address, ret_bytes);
}

enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error)
{
    struct pass pass = {.input = input, .options = options, .next_progress = PROGRESS_EVENTS};
    struct conv_sink sink = {.data = &pass, .events = take_events, .is_live = is_live, .inherit = inherit};
    struct conv_pair pair;
    enum fp_status status = FP_ERR_MEMORY;
    error->cause.status = FP_OK;
    if (conv_pair_init(&pair, writer, input->namer, survey)) {
        pass.pair = conv_pair_sink(&pair);
        if (pass.pair.marks != NULL && !options->by_event)
            sink.marks = take_marks;
        status = input->run(input->data, &sink, survey, error);
        conv_pair_end(&pair);
    }
    if (status == FP_OK) {
        survey->duration_ns = pair.last_time_ns;
        input->conclude(input->data, pair.gap_calls, survey);
        if (survey->events > 0)
            survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
    }
    conv_pair_release(&pair);
    return status;
}
