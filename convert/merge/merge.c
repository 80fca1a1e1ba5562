/* merge.c - members take turns by time. */
#include "convert/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/merge/member.h"
#include "convert/recording/choose.h"
#include "convert/view/view_state.h"
#include "footprint/wl/workload.h"

/* A member whose first event lies ahead keeps its descriptors while not more are open. */
#define OPEN_AHEAD 64u

#define LEFT_TELLS 10u /* part of the peak: less is a difference that no verdict hangs on */

/* ---- taking turns -------------------------------------------------------------------------- */

static bool comes_before(const struct conv_merge *merge, uint32_t a, uint32_t b)
{
    const uint64_t time_a = merge->members[a].next_ns, time_b = merge->members[b].next_ns;
    return time_a != time_b ? time_a < time_b : a < b;
}

/* Let what stands first sink to its place. */
static void sift_down(struct conv_merge *merge)
{
    uint32_t at = 0;
    const uint32_t moved = merge->heap[0];
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count && comes_before(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!comes_before(merge, merge->heap[child], moved))
            break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = moved;
}

/* How far the first member may go before another's turn. It may take one event at least: of equal times the lower number
 * goes first. */
static uint64_t limit_of(const struct conv_merge *merge)
{
    uint32_t second = UINT32_MAX;
    for (uint32_t child = 1; child <= 2 && child < merge->heap_count; child++)
        if (second == UINT32_MAX || comes_before(merge, merge->heap[child], second))
            second = merge->heap[child];
    if (second == UINT32_MAX)
        return UINT64_MAX;
    return merge->heap[0] < second ? merge->members[second].next_ns : merge->members[second].next_ns - 1;
}

/* Find out when a member's first event is. With many of them open it is closed again until then. */
static enum fp_status look_ahead(struct conv_member *member)
{
    const enum fp_status status = conv_member_refill(member);
    if (status != FP_OK || member->delivered || member->done || member->merge->open_count <= OPEN_AHEAD)
        return status;
    conv_member_close(member);
    return FP_OK;
}

/* The turn of the first member. */
static enum fp_status turn(struct conv_merge *merge)
{
    struct conv_member *member = &merge->members[merge->heap[0]];
    enum fp_status status = conv_member_open(member);
    if (status == FP_OK && !member->begun) {
        status = look_ahead(member);
    } else if (status == FP_OK) {
        status = conv_member_refill(member);
        if (status == FP_OK)
            status = conv_member_deliver(member, limit_of(merge));
        if (status == FP_OK)
            status = conv_member_refill(member);
    }
    if (status != FP_OK)
        return status;
    if (member->done && !conv_member_waits(member)) {
        conv_member_conclude(member);
        conv_member_close(member);
        merge->heap[0] = merge->heap[--merge->heap_count];
    }
    if (merge->heap_count > 0)
        sift_down(merge);
    return FP_OK;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct conv_merge *merge = data;
    enum fp_status status = FP_OK;
    merge->sink = sink;
    merge->survey = survey;
    merge->error = error;
    while (merge->heap_count > 0 && status == FP_OK)
        status = turn(merge);
    return status;
}

/* ---- the input ----------------------------------------------------------------------------- */

static struct conv_member *member_of(const struct conv_merge *merge, uint32_t lane)
{
    uint32_t low = 0, high = merge->count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (merge->members[middle].lane_base <= lane)
            low = middle;
        else
            high = middle - 1;
    }
    return &merge->members[low];
}

/* A replay has one main thread: the first member's. */
static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct conv_merge *merge = data;
    *ret_thread_id = merge->thread_ids[lane];
    *ret_is_main = lane == merge->members[0].main_lane;
}

static uint32_t home(void *data, uint32_t lane)
{
    return member_of(data, lane)->main_lane;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    struct conv_merge *merge = data;
    (void)gap_calls; /* each member counted its own */
    for (uint32_t i = 0; i < merge->count; i++)
        conv_member_conclude(&merge->members[i]); /* of those that a selection cut short */
    if (survey->live == CONV_LIVE_KNOWN && survey->left_bytes > survey->live_bytes_peak / LEFT_TELLS)
        survey->live = CONV_LIVE_LEFT;
    survey->complete = true;
    if (!merge->complete)
        conv_incomplete(survey, "%s", merge->incomplete_why);
    if (survey->unfinished_why[0] != '\0')
        conv_incomplete(survey, "%s", survey->unfinished_why);
    if (merge->duration_ns > survey->duration_ns)
        survey->duration_ns = merge->duration_ns;
}

static void close_merge(void *data)
{
    struct conv_merge *merge = data;
    for (uint32_t i = 0; i < merge->count; i++) {
        conv_member_close(&merge->members[i]);
        free(merge->members[i].path);
    }
    free(merge->members);
    free(merge->thread_ids);
    free(merge->heap);
    conv_regions_release(&merge->regions);
    free(merge);
}

/* ---- opening ------------------------------------------------------------------------------- */

static enum fp_status add_member(struct conv_merge *merge, const char *directory,
                                 const struct conv_process *process)
{
    struct conv_member *member = &merge->members[merge->count];
    char path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, process->file);
    *member = (struct conv_member){
        .merge = merge, .number = merge->count, .process_id = process->process_id, .listed = process};
    member->path = strdup(path);
    merge->heap[merge->count] = merge->count;
    merge->heap_count = ++merge->count;
    return member->path != NULL ? FP_OK : FP_ERR_MEMORY;
}

/* Names of the member's threads, and its place among the lanes. */
static enum fp_status take_lanes(struct conv_merge *merge, struct conv_member *member, uint32_t *lanes)
{
    const struct conv_input *input = &member->input;
    uint32_t *grown;
    if (input->lane_count > WL_THREADS_MAX - *lanes)
        return conv_fail(merge->error, member->path, FP_ERR_LIMIT, 0, 0,
                         "the processes have more than %u threads together", WL_THREADS_MAX);
    grown = realloc(merge->thread_ids, ((size_t)*lanes + input->lane_count + 1) * sizeof *grown);
    if (grown == NULL)
        return conv_fail_memory(merge->error, member->path, "its threads");
    merge->thread_ids = grown;
    for (uint32_t i = 0; i < input->lane_count; i++) {
        bool is_main;
        input->namer.name(input->namer.data, i, &grown[*lanes + i], &is_main);
    }
    member->lane_base = *lanes;
    member->lane_count = input->lane_count;
    member->main_lane = *lanes + input->home(input->data, 0);
    *lanes += input->lane_count;
    return FP_OK;
}

/* Open each once: what is damaged is told before anything is written, and times begin with the first of them. */
static enum fp_status measure_members(struct conv_merge *merge, struct conv_survey *survey,
                                      struct conv_input *input)
{
    uint64_t start_ns = UINT64_MAX;
    for (uint32_t i = 0; i < merge->count; i++) {
        struct conv_member *member = &merge->members[i];
        enum fp_status status = conv_member_open(member);
        if (status == FP_OK)
            status = take_lanes(merge, member, &input->lane_count);
        if (status != FP_OK)
            return status;
        member->start_unix_ns = member->survey->start_unix_ns;
        start_ns = member->start_unix_ns < start_ns ? member->start_unix_ns : start_ns;
        input->progress_total += member->input.progress_total;
        input->tells_residency |= member->input.tells_residency;
        survey->file_bytes += member->survey->file_bytes;
        if (member->input.end_ns > merge->duration_ns)
            merge->duration_ns = member->input.end_ns;
        if (i >= OPEN_AHEAD)
            conv_member_close(member);
    }
    for (uint32_t i = 0; i < merge->count; i++) {
        struct conv_member *member = &merge->members[i];
        member->offset_ns = member->start_unix_ns - start_ns;
        member->next_ns = member->offset_ns;
    }
    survey->start_unix_ns = start_ns;
    return FP_OK;
}

static enum fp_status open_members(struct conv_merge *merge, const char *directory,
                                   struct conv_survey *survey, struct conv_input *input)
{
    const struct conv_process *largest = NULL;
    enum fp_status status = FP_OK;
    merge->members = calloc(survey->process_count + 1, sizeof *merge->members);
    merge->heap = calloc(survey->process_count + 1, sizeof *merge->heap);
    if (merge->members == NULL || merge->heap == NULL || !conv_regions_init(&merge->regions))
        status = FP_ERR_MEMORY;
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        const struct conv_process *process = &survey->processes[i];
        if (!process->chosen)
            continue;
        if (largest == NULL || process->events > largest->events)
            largest = process;
        status = add_member(merge, directory, process);
    }
    if (status != FP_OK)
        return conv_fail_memory(merge->error, directory, "its processes");
    snprintf(survey->program, sizeof survey->program, "%s", largest != NULL ? largest->name : "");
    return measure_members(merge, survey, input);
}

enum fp_status conv_merge_open(const char *directory, const char *members, const struct conv_options *options,
                               struct conv_survey *survey, struct conv_error *ret_error,
                               struct conv_input *ret_input)
{
    enum fp_status status = conv_recording_choose_some(directory, members, survey, ret_error);
    struct conv_merge *merge;
    if (status == FP_OK)
        status = conv_recording_leave_missing(directory, options, survey, ret_error);
    merge = status == FP_OK ? calloc(1, sizeof *merge) : NULL;
    if (status == FP_OK && merge == NULL)
        status = conv_fail_memory(ret_error, directory, "its processes");
    if (status != FP_OK)
        return status;
    merge->options = *options;
    merge->options.no_inherited = true;
    merge->error = ret_error;
    merge->survey = survey;
    merge->complete = survey->incomplete_why[0] == '\0'; /* unless a footprint is missing */
    snprintf(merge->incomplete_why, sizeof merge->incomplete_why, "%s", survey->incomplete_why);
    *ret_input = (struct conv_input){
        .data = merge,
        .namer = {.data = merge, .name = name_lane},
        .source = "footprint",
        .run = run,
        .home = home,
        .conclude = conclude,
        .close = close_merge,
    };
    status = open_members(merge, directory, survey, ret_input);
    if (status != FP_OK) {
        close_merge(merge);
        return status;
    }
    ret_input->end_ns = merge->duration_ns;
    survey->kind = CONV_KIND_RECORDING;
    survey->process_id = 0;
    survey->selected.merged_processes = merge->count;
    return FP_OK;
}
