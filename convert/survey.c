/* survey.c - the survey of an input, without writing anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "convert/convert.h"
#include "convert/open/input.h"
#include "convert/order/process_image.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "convert/text/text_input.h"
#include "footprint/base/arrays.h"
#include "footprint/base/words.h"

/* ---- windows ----------------------------------------------------------------------------------
 *
 * The list of windows grows while process after process is surveyed, all parts of each as one. An event counts for the part
 * in which its mark stands, so that a window says what its footprints by themselves would. Live figures are changes until all
 * are known. */

struct live {
    uint64_t bytes, objects;
};

struct window_sum {
    struct conv_window window;
    struct live gone; /* of processes that are gone after it */
};

/* Zero-initialise. */
struct window_sums {
    struct window_sum *sums; /* by number */
    size_t count, capacity;
    bool salvaged; /* blocks were left out: whose marks those were that came is not known */
};

/* The place that a lane has come to. */
struct lane_place {
    const struct conv_block_note *next, *end;
    uint32_t part, marks_left;
};

/* Stands in front of the pairing. */
struct counting {
    struct conv_sink next;
    const struct conv_parts *parts;
    struct conv_survey *survey;
    struct conv_window *changes; /* by part */
    struct lane_place *lanes;
};

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
        const size_t block = place->next++->index;
        const struct conv_part *part = conv_parts_of_block(counting->parts, block);
        place->part = (uint32_t)(part - counting->parts->parts);
        place->marks_left = part->info->blocks[block - part->first_block].mark_count;
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
    struct conv_window *change = &counting->changes[part];
    const uint64_t events_before = survey->events, bytes = survey->live_bytes_end,
                   objects = survey->live_objects_end;
    const enum fp_status status = counting->next.events(counting->next.data, events, count);
    change->events += survey->events - events_before;
    change->live_bytes_end += survey->live_bytes_end - bytes;
    change->live_objects_end += survey->live_objects_end - objects;
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

static struct conv_sink watch(void *data, struct conv_sink next)
{
    ((struct counting *)data)->next = next;
    return (struct conv_sink){
        .data = data, .events = events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
}

/* The sum of a window, a new one where there is none. NULL: no memory. */
static struct window_sum *sum_of(struct window_sums *sums, uint32_t number)
{
    size_t at = 0;
    for (size_t end = sums->count, middle; at < end;) {
        middle = at + (end - at) / 2;
        if (sums->sums[middle].window.number < number)
            at = middle + 1;
        else
            end = middle;
    }
    if (at < sums->count && sums->sums[at].window.number == number)
        return &sums->sums[at];
    if (!FP_GROW(sums->sums, sums->capacity, sums->count + 1))
        return NULL;
    memmove(&sums->sums[at + 1], &sums->sums[at], (sums->count++ - at) * sizeof *sums->sums);
    sums->sums[at] = (struct window_sum){.window = {.number = number}};
    return &sums->sums[at];
}

/* A thread may be ahead of others by a window, and free what they allocate there. */
static uint64_t not_below_zero(uint64_t sum)
{
    return (int64_t)sum > 0 ? sum : 0;
}

/* Adds a process's parts to the sums. ends: it is gone after the last. False: no memory. */
static bool add_changes(const struct counting *counting, bool ends, struct window_sums *sums)
{
    struct live counted = {0}, before = {0};
    for (size_t i = 0; i < counting->parts->count; i++) {
        const struct conv_part *part = &counting->parts->parts[i];
        const struct conv_window *change = &counting->changes[i];
        const struct fp_trailer *trailer = &part->info->trailer;
        struct window_sum *sum = sum_of(sums, part->window);
        if (sum == NULL)
            return false;
        struct conv_window *window = &sum->window;
        counted.bytes += change->live_bytes_end;
        counted.objects += change->live_objects_end;
        const struct live now = {not_below_zero(counted.bytes), not_below_zero(counted.objects)};
        window->live_bytes_end += now.bytes - before.bytes;
        window->live_objects_end += now.objects - before.objects;
        before = now;
        window->begin_ns = fp_reader_meta_number(part->reader, "window_begin_ns"); /* the same for all */
        window->end_ns = trailer->end_time_ns > window->end_ns ? trailer->end_time_ns : window->end_ns;
        window->events += change->events;
        window->lost = conv_add_saturating(window->lost, fp_loss_sum(trailer->lost));
        window->file_bytes += part->info->file_bytes;
        window->processes++;
        if (ends && i + 1 == counting->parts->count) {
            sum->gone.bytes += now.bytes;
            sum->gone.objects += now.objects;
        }
    }
    return true;
}

/* conv_pass_run without a writer, which adds to the sums of windows besides.
 * goes_on   the process went on when recording ended.
 * Returns   as conv_pass_run. */
static enum fp_status survey_windows(const struct conv_input *input, const struct conv_options *options,
                                     bool goes_on, struct window_sums *sums, struct conv_survey *survey,
                                     struct conv_error *error)
{
    const struct conv_image *image = conv_footprint_image(input);
    struct counting counting = {.parts = &image->parts,
                                .survey = survey,
                                .changes = calloc(image->parts.count, sizeof *counting.changes),
                                .lanes = calloc((size_t)image->parts.lane_count + 1, sizeof *counting.lanes)};
    struct conv_options own = *options;
    enum fp_status status = FP_ERR_MEMORY;
    own.watch = watch;
    own.watch_data = &counting;
    if (counting.changes != NULL && counting.lanes != NULL) {
        for (uint32_t lane = 0; lane < image->parts.lane_count; lane++)
            counting.lanes[lane] = (struct lane_place){.next = &image->notes[image->first[lane]],
                                                       .end = &image->notes[image->first[lane + 1]]};
        status = conv_pass_run(input, &own, NULL, survey, error);
    }
    if (status == FP_OK && !add_changes(&counting, !goes_on && !survey->ran_on, sums))
        status = FP_ERR_MEMORY;
    sums->salvaged |= survey->lost_marks > 0;
    free(counting.changes);
    free(counting.lanes);
    return status;
}

/* Makes survey->window_list of the sums. What is live at a window's end is that of the processes with a part in it, of those
 * between two of their own, and of those that ran on after their last. A salvaged recording has none. False: no memory. */
static bool list_windows(const struct window_sums *sums, struct conv_survey *survey)
{
    struct live all = {0};
    if (sums->count == 0 || sums->salvaged)
        return true;
    survey->window_list = calloc(sums->count, sizeof *survey->window_list);
    if (survey->window_list == NULL)
        return false;
    for (size_t i = 0; i < sums->count; i++) {
        struct conv_window *window = &survey->window_list[survey->window_list_count++];
        *window = sums->sums[i].window;
        window->live_bytes_end = all.bytes += window->live_bytes_end;
        window->live_objects_end = all.objects += window->live_objects_end;
        all.bytes -= sums->sums[i].gone.bytes;
        all.objects -= sums->sums[i].gone.objects;
    }
    return true;
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

/* alone: no other process is looked at. It is as its conversion makes it, and its threads can be selected. */
static enum fp_status survey_process(const char *path, const struct conv_options *options, bool alone,
                                     struct conv_survey *sum, struct conv_process *process,
                                     struct window_sums *windows, struct conv_error *error)
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
    if (conv_footprint_image(&input)->parts.parts[0].window != 0) {
        process->windows = conv_footprint_image(&input)->parts.count;
        status = survey_windows(&input, options,
                                process->ran_on || sum->recording_state != CONV_RECORDING_FINISHED, windows,
                                &survey, error);
    } else {
        status = conv_pass_run(&input, options, NULL, &survey, error);
    }
    status = told(status, path, error);
    input.close(input.data);
    if (status != FP_OK)
        return status;
    process->events = survey.events;
    process->complete = survey.complete;
    if (!survey.complete)
        conv_incomplete(sum, "%.100s: %.120s", process->file, survey.incomplete_why);
    conv_stats_add(sum, &survey);
    conv_survey_label(sum, survey.label);
    sum->sample_bytes = survey.sample_bytes;
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
    struct window_sums windows = {0};
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
        status = survey_process(file, options, chosen == 1, survey, process, &windows, error);
    }
    if (status == FP_OK && !list_windows(&windows, survey))
        status = conv_fail_memory(error, path, "the list of windows");
    free(windows.sums);
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
