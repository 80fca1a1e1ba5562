/* survey.c - the survey of an input, without writing anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "convert/convert.h"
#include "convert/open/input.h"
#include "convert/open/workload_input.h"
#include "convert/order/footprint_input.h"
#include "convert/recording/choose.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "convert/text/workload_text.h"
#include "footprint/base/arrays.h"
#include "footprint/base/words.h"

/* ---- windows ----------------------------------------------------------------------------------
 *
 *   share   a process' part of a window: counted while all of the process' parts are surveyed as one. Each event counts
 *           for the part in which its mark stands, so that a share says what the part by itself would
 *   window  the shares of all processes in it */

struct share {
    struct conv_window window; /* of one process */
    size_t process;
    bool last; /* the process is gone after it */
};

/* Zero-initialise. */
struct shares {
    struct share *shares;
    size_t count, capacity;
    bool salvaged; /* blocks were left out: whose marks those were that came is not known */
};

/* A block of a lane. */
struct stretch {
    uint32_t part, marks;
};

/* The place that a lane has come to. */
struct lane_place {
    size_t next, end; /* stretches that come */
    uint32_t part, marks_left;
};

/* Stands between an input and the pairing. */
struct counting {
    struct conv_sink next;
    const struct conv_input *input;
    const struct conv_parts *parts;
    struct conv_survey *survey;
    struct conv_window *windows; /* one a part; live figures: what it adds to those before */
    struct lane_place *lanes;
    struct stretch *stretches; /* lane after lane, in the order of the parts */
};

static void describe(const struct conv_part *part, struct conv_window *ret_window)
{
    const struct fp_trailer *trailer = &part->info->trailer;
    *ret_window = (struct conv_window){.number = part->window,
                                       .begin_ns = fp_reader_meta_number(part->reader, "window_begin_ns"),
                                       .end_ns = trailer->end_time_ns,
                                       .file_bytes = part->info->file_bytes,
                                       .processes = 1};
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        ret_window->lost = conv_add_saturating(ret_window->lost, trailer->lost[cause]);
}

static bool index_stretches(struct counting *counting)
{
    const struct conv_parts *parts = counting->parts;
    size_t first = 0;
    counting->lanes = calloc((size_t)parts->lane_count + 1, sizeof *counting->lanes);
    counting->stretches = calloc(parts->block_count + 1, sizeof *counting->stretches);
    if (counting->lanes == NULL || counting->stretches == NULL)
        return false;
    for (size_t part = 0; part < parts->count; part++)
        for (size_t i = 0; i < parts->parts[part].info->block_count; i++)
            counting->lanes[parts->parts[part].info->blocks[i].lane].end++;
    for (uint32_t lane = 0; lane < parts->lane_count; lane++) {
        const size_t count = counting->lanes[lane].end;
        counting->lanes[lane] = (struct lane_place){.next = first, .end = first};
        first += count;
    }
    for (size_t part = 0; part < parts->count; part++) {
        const struct fp_reader_info *info = parts->parts[part].info;
        for (size_t i = 0; i < info->block_count; i++)
            counting->stretches[counting->lanes[info->blocks[i].lane].end++] = (struct stretch){
                (uint32_t)part, info->blocks[i].mark_count};
    }
    return true;
}

/* Tells whether the event stands in a footprint: a lane's end does not, nor does the gap where a block is missing. */
static bool is_mark(const struct conv_event *event)
{
    return event->call != CONV_MARK_LANE_END && !(event->call == FP_MARK_GAP && event->size == 0);
}

/* The part in which an event stands: that of its lane's next mark. */
static uint32_t part_of(struct counting *counting, const struct conv_event *event)
{
    struct lane_place *place = &counting->lanes[event->lane];
    while (place->marks_left == 0 && place->next < place->end) {
        place->part = counting->stretches[place->next].part;
        place->marks_left = counting->stretches[place->next++].marks;
    }
    if (is_mark(event) && place->marks_left > 0)
        place->marks_left--;
    return place->part;
}

/* Events of one part. */
static enum fp_status hand_over(struct counting *counting, uint32_t part, const struct conv_event *events,
                                size_t count)
{
    const struct conv_survey *survey = counting->survey;
    struct conv_window *window = &counting->windows[part];
    const uint64_t events_before = survey->events, bytes = survey->live_bytes_end,
                   objects = survey->live_objects_end;
    const enum fp_status status = counting->next.events(counting->next.data, events, count);
    window->events += survey->events - events_before;
    window->live_bytes_end += survey->live_bytes_end - bytes;
    window->live_objects_end += survey->live_objects_end - objects;
    return status;
}

static enum fp_status events(void *data, const struct conv_event *events, size_t count)
{
    struct counting *counting = data;
    enum fp_status status = FP_OK;
    size_t done = 0;
    uint32_t part = 0;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        const uint32_t next = part_of(counting, &events[i]);
        if (i > done && next != part) {
            status = hand_over(counting, part, events + done, i - done);
            done = i;
        }
        part = next;
    }
    return status == FP_OK && done < count ? hand_over(counting, part, events + done, count - done) : status;
}

/* A thread may be ahead of others by a window, and free what they allocate there. */
static uint64_t not_below_zero(uint64_t sum)
{
    return (int64_t)sum > 0 ? sum : 0;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct counting *counting = data;
    const struct conv_sink own = {
        .data = counting, .events = events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
    uint64_t bytes = 0, objects = 0;
    enum fp_status status;
    counting->next = *sink;
    counting->survey = survey;
    status = counting->input->run(counting->input->data, &own, survey, error);
    for (size_t i = 0; i < counting->parts->count; i++) {
        struct conv_window *window = &counting->windows[i];
        bytes += window->live_bytes_end;
        objects += window->live_objects_end;
        window->live_bytes_end = not_below_zero(bytes);
        window->live_objects_end = not_below_zero(objects);
    }
    return status;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct counting *counting = data;
    counting->input->conclude(counting->input->data, gap_calls, survey);
}

/* conv_pass_run without a writer, which adds the process' shares besides.
 * process   its number, different from those before.
 * ran_on    it went on when recording ended.
 * Returns   as conv_pass_run. */
static enum fp_status shares_survey(struct shares *shares, size_t process, bool ran_on,
                                    const struct conv_input *input, const struct conv_parts *parts,
                                    const struct conv_options *options, struct conv_survey *survey,
                                    struct conv_error *error)
{
    struct counting counting = {
        .input = input, .parts = parts, .windows = calloc(parts->count, sizeof *counting.windows)};
    struct conv_input own = *input;
    enum fp_status status = FP_ERR_MEMORY;
    if (counting.windows != NULL && index_stretches(&counting) &&
        FP_GROW(shares->shares, shares->capacity, shares->count + parts->count)) {
        for (size_t i = 0; i < parts->count; i++)
            describe(&parts->parts[i], &counting.windows[i]);
        own.data = &counting;
        own.run = run;
        own.conclude = conclude;
        status = conv_pass_run(&own, options, NULL, survey, error);
    }
    for (size_t i = 0; i < parts->count && status == FP_OK; i++)
        shares->shares[shares->count++] = (struct share){.window = counting.windows[i],
                                                         .process = process,
                                                         .last = i + 1 == parts->count &&
                                                                 !(ran_on || survey->ran_on)};
    shares->salvaged |= survey->lost_marks > 0;
    free(counting.windows);
    free(counting.lanes);
    free(counting.stretches);
    return status;
}

static int by_window(const void *a, const void *b)
{
    const struct share *one = a, *other = b;
    if (one->window.number != other->window.number)
        return one->window.number < other->window.number ? -1 : 1;
    return one->process < other->process ? -1 : one->process > other->process;
}

struct live {
    uint64_t bytes, objects;
};

/* The processes' live figures as of now, by process; those that end are taken off when their window is done. */
static void add_share(struct conv_window *window, const struct share *share, struct live *of_process,
                      struct live *all)
{
    const struct conv_window *own = &share->window;
    all->bytes += own->live_bytes_end - of_process->bytes;
    all->objects += own->live_objects_end - of_process->objects;
    *of_process = (struct live){own->live_bytes_end, own->live_objects_end};
    window->number = own->number;
    window->begin_ns = own->begin_ns; /* the same for all */
    if (own->end_ns > window->end_ns)
        window->end_ns = own->end_ns;
    window->events += own->events;
    window->lost = conv_add_saturating(window->lost, own->lost);
    window->file_bytes += own->file_bytes;
    window->processes++;
}

static size_t process_limit(const struct shares *shares)
{
    size_t limit = 0;
    for (size_t i = 0; i < shares->count; i++)
        if (shares->shares[i].process >= limit)
            limit = shares->shares[i].process + 1;
    return limit;
}

/* Make survey->window_list of them. What is live at a window's end is that of the processes with a
 * share in it, and of those between two of their own, or that ran on after their last. There is none of a salvaged recording. False: no memory. */
static bool shares_sum(struct shares *shares, struct conv_survey *survey)
{
    struct conv_window *windows;
    struct live *processes, all = {0};
    size_t count = 0;
    if (shares->count == 0 || shares->salvaged)
        return true;
    windows = calloc(shares->count, sizeof *windows);
    processes = calloc(process_limit(shares), sizeof *processes);
    if (windows == NULL || processes == NULL) {
        free(windows);
        free(processes);
        return false;
    }
    qsort(shares->shares, shares->count, sizeof *shares->shares, by_window);
    for (size_t i = 0, next; i < shares->count; i = next) {
        struct conv_window *window = &windows[count++];
        const uint32_t number = shares->shares[i].window.number;
        for (next = i; next < shares->count && shares->shares[next].window.number == number; next++)
            add_share(window, &shares->shares[next], &processes[shares->shares[next].process], &all);
        window->live_bytes_end = all.bytes;
        window->live_objects_end = all.objects;
        for (size_t k = i; k < next; k++) {
            struct live *gone = &processes[shares->shares[k].process];
            if (!shares->shares[k].last)
                continue;
            all.bytes -= gone->bytes;
            all.objects -= gone->objects;
            *gone = (struct live){0};
        }
    }
    free(processes);
    survey->window_list = windows;
    survey->window_list_count = count;
    return true;
}

static void shares_release(struct shares *shares)
{
    free(shares->shares);
    *shares = (struct shares){0};
}

/* A sink's lack of memory has no words yet. */
static enum fp_status told(enum fp_status status, const char *path, struct conv_error *error)
{
    if (status != FP_OK && error->cause.status == FP_OK)
        return conv_fail(error, path, status, 0, 0, "no memory for more live objects");
    return status;
}

/* A text is made a workload, whose figures are its own. */
static enum fp_status survey_text(const char *path, const struct conv_options *options,
                                  struct conv_survey *survey, struct conv_error *error)
{
    struct conv_temporary temporary;
    enum fp_status status = conv_temporary_text(path, "-", options, &temporary, error);
    if (status != FP_OK)
        return status;
    status = conv_survey_workload(temporary.path, path, options, survey, error);
    survey->kind = CONV_KIND_TEXT;
    (void)close(temporary.descriptor); /* nothing is to be kept */
    return status;
}

/* ---- recordings ---------------------------------------------------------------------------- */

static void count_absent(struct conv_survey *sum, const struct conv_process *process)
{
    char digits[FP_TEXT_BYTES];
    fp_loss_add(sum->lost, process->lost);
    conv_incomplete(sum, "%.100s: no footprint could be written, %s calls were lost", process->file,
                    fp_text_grouped(fp_loss_sum(process->lost), digits));
}

static enum fp_status survey_parts(const struct conv_input *input, const char *path,
                                   const struct conv_options *options, struct conv_survey *survey,
                                   struct conv_process *process, size_t number, bool goes_on,
                                   struct shares *shares, struct conv_error *error)
{
    const struct conv_parts *parts = conv_footprint_parts(input);
    if (parts->parts[0].window == 0)
        return told(conv_pass_run(input, options, NULL, survey, error), path, error);
    process->windows = parts->count;
    return told(shares_survey(shares, number, goes_on, input, parts, options, survey, error), path, error);
}

/* alone: no other process is looked at. It is as its conversion makes it, and its threads can be selected. */
static enum fp_status survey_process(const char *path, const struct conv_options *options, bool alone,
                                     struct conv_survey *sum, struct conv_process *process,
                                     struct shares *shares, struct conv_error *error)
{
    struct conv_survey survey = {.stop_words = sum->stop_words, .recording_state = sum->recording_state};
    struct conv_input input;
    struct conv_options own = *options;
    enum fp_status status;
    if (!alone)
        own.no_inherited = true; /* each of many children would read all of its parent again */
    status = conv_footprint_open(path, CONV_EXTENT_ALL, process, &own, &survey, error, &input);
    if (status != FP_OK)
        return status;
    status = survey_parts(&input, path, options, &survey, process, (size_t)(process - sum->processes),
                          process->ran_on || sum->recording_state != CONV_RECORDING_FINISHED, shares, error);
    input.close(input.data);
    if (status != FP_OK)
        return status;
    process->events = survey.events;
    process->complete = survey.complete;
    if (!survey.complete)
        conv_incomplete(sum, "%.100s: %.120s", process->file, survey.incomplete_why);
    conv_stats_add(sum, &survey);
    conv_survey_label(sum, survey.label);
    if (alone) {
        sum->process_id = survey.process_id;
        sum->inherited_objects = survey.inherited_objects;
        sum->inherited_bytes = survey.inherited_bytes;
        memcpy(sum->inherited_why, survey.inherited_why, sizeof sum->inherited_why);
        sum->thread_list = survey.thread_list;
        sum->thread_count = survey.thread_count;
        survey.thread_list = NULL;
        survey.thread_count = 0;
    }
    conv_survey_release(&survey);
    return FP_OK;
}

static void name_recording(struct conv_survey *survey)
{
    const struct conv_process *largest = NULL;
    for (size_t i = 0; i < survey->process_count; i++)
        if (survey->processes[i].chosen && (largest == NULL || survey->processes[i].events > largest->events))
            largest = &survey->processes[i];
    if (largest != NULL)
        snprintf(survey->program, sizeof survey->program, "%s", largest->name);
}

static void choose_members(struct conv_survey *survey, const struct conv_choice *choice)
{
    char *text = survey->selected.text;
    const size_t size = sizeof survey->selected.text;
    for (size_t i = 0; i < choice->count; i++)
        choice->members[i]->chosen = true;
    if (choice->count == 1)
        snprintf(text, size, "process %u, %s", choice->lead->process_id, choice->lead->file);
    else
        snprintf(text, size, "%zu processes '%s'", choice->count, choice->lead->name);
}

/* The process that is asked for is meant, or its group, or all whose footprints are there. */
static enum fp_status choose_processes(const struct conv_options *options, struct conv_survey *survey,
                                       size_t *ret_count, struct conv_error *error)
{
    struct conv_choice choice = {0};
    enum fp_status status = FP_OK;
    if (conv_process_asked(options)) {
        status = conv_recording_choose(survey->input, options, survey, &choice, error);
        if (status == FP_OK)
            choose_members(survey, &choice);
        *ret_count = choice.count;
        return status;
    }
    for (size_t i = 0; i < survey->process_count; i++)
        survey->processes[i].chosen = true;
    status = conv_recording_leave_missing(survey->input, options, survey, error);
    *ret_count = 0;
    for (size_t i = 0; i < survey->process_count; i++)
        *ret_count += survey->processes[i].chosen;
    return status;
}

static enum fp_status survey_recording(const char *path, const struct conv_options *options,
                                       struct conv_survey *survey, struct conv_error *error)
{
    struct shares shares = {0};
    size_t chosen = 0;
    enum fp_status status = conv_recording_list(path, survey, error);
    survey->complete = true;
    if (status == FP_OK)
        status = choose_processes(options, survey, &chosen, error);
    if (status == FP_OK && survey->unfinished_why[0] != '\0')
        conv_incomplete(survey, "%s", survey->unfinished_why);
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        struct conv_process *process = &survey->processes[i];
        char file[2 * CONV_PATH_BYTES];
        if (!process->chosen)
            continue;
        if (process->removed) {
            conv_incomplete(survey, "process %u (%.60s): its calls were in windows that are removed",
                            process->process_id, process->name);
            continue;
        }
        if (process->absent) {
            count_absent(survey, process);
            continue;
        }
        snprintf(file, sizeof file, "%s/%s", survey->input, process->file);
        status = survey_process(file, options, chosen == 1, survey, process, &shares, error);
    }
    if (status == FP_OK && !shares_sum(&shares, survey))
        status = conv_fail_memory(error, path, "the list of windows");
    shares_release(&shares);
    if (status != FP_OK)
        return status;
    conv_recording_judge(survey, false);
    name_recording(survey);
    if (survey->events > 0)
        survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
    return FP_OK;
}

/* ---- all kinds ----------------------------------------------------------------------------- */

static enum fp_status survey_one(const char *path, const struct conv_options *options,
                                 struct conv_survey *survey, struct conv_error *error)
{
    struct conv_input input;
    struct conv_options settled = *options;
    enum fp_status status;
    status = conv_input_open(path, options, survey, error, &input);
    if (status != FP_OK)
        return status;
    status = conv_input_settle(path, &input, &settled, survey, error);
    if (status == FP_OK)
        status = told(conv_pass_run(&input, &settled, NULL, survey, error), path, error);
    if (status == FP_OK)
        conv_recording_judge(survey, true);
    input.close(input.data);
    return status;
}

enum fp_status conv_survey_file(const char *in_path, const struct conv_options *options,
                                struct conv_survey *ret_survey, struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    struct conv_survey survey = {0};
    enum conv_kind kind;
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    snprintf(survey.input, sizeof survey.input, "%s", in_path);
    status = conv_resolve(in_path, options, &kind, ret_error);
    if (status == FP_OK && kind == CONV_KIND_WORKLOAD)
        status = conv_survey_workload(in_path, in_path, options, &survey, ret_error);
    else if (status == FP_OK && kind == CONV_KIND_TEXT)
        status = survey_text(in_path, options, &survey, ret_error);
    else if (status == FP_OK && kind == CONV_KIND_RECORDING && !conv_plan_any(&options->select))
        status = survey_recording(in_path, options, &survey, ret_error);
    else if (status == FP_OK)
        status = survey_one(in_path, options, &survey, ret_error);
    if (status != FP_OK) {
        conv_survey_release(&survey);
        return conv_bound_told(status, in_path, ret_error);
    }
    *ret_survey = survey;
    return FP_OK;
}
