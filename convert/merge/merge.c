/* merge.c - members take turns by time. */
#include "convert/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/limits.h"
#include "convert/base/process_usage.h"
#include "convert/merge/regions.h"
#include "convert/order/footprint_input.h"
#include "convert/recording/choose.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/workload.h"

/* A member whose first event lies ahead keeps its descriptors while not more are open. */
#define OPEN_AHEAD 64u

#define LEFT_TELLS 10u /* part of the peak: less is a difference that no verdict hangs on */

/* ---- a member --------------------------------------------------------------------------------- */

struct conv_member;

/* All members share this. */
struct conv_merge {
    struct conv_options options; /* of the members */
    struct conv_member *members;
    uint32_t count, open_count;
    uint32_t *thread_ids; /* by lane: known also when its member is closed */
    uint32_t *heap;       /* of members not done: earliest next event first, then lowest number */
    uint32_t heap_count;
    struct conv_regions regions;
    const struct conv_sink *sink; /* while it runs */
    struct conv_survey *survey;   /* of the whole */
    struct conv_error *error;
    enum fp_status early; /* of what had to be handed over out of turn */
    bool complete;
    char incomplete_why[256];
    uint64_t duration_ns;
};

struct conv_member {
    struct conv_merge *merge;
    char *path;
    const struct conv_process *listed; /* borrowed from the merge's survey */
    uint32_t number;                   /* among the members */
    uint32_t process_id;
    uint32_t lane_base, lane_count, main_lane;
    uint64_t start_unix_ns;
    uint64_t offset_ns; /* of its time 0 behind the merged input's */
    uint64_t next_ns;   /* of its next event, or no event is earlier */
    bool open;
    bool begun;     /* its first event was looked for */
    bool delivered; /* some event was handed over */
    bool done;      /* nothing comes behind the queue */
    bool concluded;
    struct conv_input input;                  /* while open */
    struct conv_survey *survey;               /* its own, while open */
    uint64_t paired[CONV_IRREGULARITY_COUNT]; /* what its events made the pairing count */
    uint64_t gap_calls;
    uint64_t live_bytes,
        live_objects; /* what its events added to the whole's; may pass below 0 for a moment, and wraps */
    struct conv_event *queue;
    size_t begin, end, capacity;
};

static inline bool waits(const struct conv_member *member)
{
    return member->begin < member->end;
}

static bool reserve(struct conv_member *member, size_t count)
{
    if (member->begin == member->end)
        member->begin = member->end = 0;
    return CONV_RESERVE_COUNTED(member->queue, member->capacity, member->end + count);
}

static enum fp_status no_place(struct conv_member *member)
{
    struct conv_error *error = member->merge->error;
    if (member->merge->regions.table.count < CONV_REGIONS_MAX)
        return conv_fail_memory(error, member->path, "more addresses");
    return conv_fail(error, member->path, FP_ERR_LIMIT, 0, 0,
                     "objects of the merged processes begin in more than %u regions of 16 MiB",
                     CONV_REGIONS_MAX);
}

/* The member's own sink: its events, made the merged input's. */
static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_member *member = data;
    struct conv_regions *regions = &member->merge->regions;
    if (!reserve(member, count))
        return FP_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct conv_event *event = &member->queue[member->end];
        *event = events[i];
        event->lane += member->lane_base;
        event->time_ns += member->offset_ns;
        if (member->end > 0 && event->time_ns < member->queue[member->end - 1].time_ns)
            event->time_ns = member->queue[member->end - 1].time_ns;
        if (event->time_ns < member->next_ns)
            event->time_ns = member->next_ns;
        if (!conv_regions_place(regions, member->number, event->address, &event->address) ||
            !conv_regions_place(regions, member->number, event->old_address, &event->old_address))
            return no_place(member);
        if (event->call == FP_MARK_GAP)
            member->gap_calls = conv_add_saturating(member->gap_calls, event->size);
        member->end++;
    }
    return FP_OK;
}

/* The pairing's counts of a member's events may need other names at its end (footprint_input.c): keep them apart. */
static const enum conv_irregularity PAIRED[] = {CONV_FREE_OF_UNKNOWN, CONV_RESIZE_OF_UNKNOWN, CONV_LOST_FREE,
                                                CONV_GAPS, CONV_PAUSES};
#define PAIRED_COUNT (sizeof PAIRED / sizeof PAIRED[0])

/* Hand over events that are not later than the limit. */
static enum fp_status deliver(struct conv_member *member, uint64_t limit_ns)
{
    const struct conv_merge *merge = member->merge;
    const uint64_t *counted = merge->survey->irregular;
    const uint64_t bytes = merge->survey->live_bytes_end, objects = merge->survey->live_objects_end;
    uint64_t before[PAIRED_COUNT];
    size_t count = 0;
    enum fp_status status;
    while (member->begin + count < member->end && member->queue[member->begin + count].time_ns <= limit_ns)
        count++;
    if (count == 0)
        return FP_OK;
    member->delivered = true;
    for (size_t i = 0; i < PAIRED_COUNT; i++)
        before[i] = counted[PAIRED[i]];
    status = merge->sink->events(merge->sink->data, member->queue + member->begin, count);
    member->live_bytes += merge->survey->live_bytes_end - bytes;
    member->live_objects += merge->survey->live_objects_end - objects;
    for (size_t i = 0; i < PAIRED_COUNT; i++)
        member->paired[PAIRED[i]] += counted[PAIRED[i]] - before[i];
    member->next_ns = member->queue[member->begin + count - 1].time_ns;
    member->begin += count;
    return status;
}

/* The order asks what is live after all that it handed over. That lies here only when an epoch is too large to be
 * arranged at once; then its first part is not held back for other members. */
static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    struct conv_member *member = data;
    struct conv_merge *merge = member->merge;
    if (member->begin < member->end && merge->early == FP_OK)
        merge->early = deliver(member, UINT64_MAX);
    return conv_regions_find(&merge->regions, member->number, address, &address) &&
           merge->sink->is_live(merge->sink->data, address, ret_bytes);
}

/* Open its footprint, if it is not. Returns FP_OK; what that returns, in merge->error. */
static enum fp_status open_member(struct conv_member *member)
{
    struct conv_merge *merge = member->merge;
    enum fp_status status;
    if (member->open)
        return FP_OK;
    member->survey = calloc(1, sizeof *member->survey);
    if (member->survey == NULL)
        return conv_fail_memory(merge->error, member->path, "reading");
    member->survey->recording_state = merge->survey->recording_state;
    if (!member->delivered)
        member->gap_calls = 0;
    status = conv_footprint_open(member->path, CONV_EXTENT_ALL, member->listed, &merge->options,
                                 member->survey, merge->error, &member->input);
    if (status != FP_OK) {
        free(member->survey);
        member->survey = NULL;
        return status;
    }
    member->open = true;
    merge->open_count++;
    return FP_OK;
}

static void close_member(struct conv_member *member)
{
    if (member->open) {
        member->input.close(member->input.data);
        member->merge->open_count--;
        conv_survey_release(member->survey);
        free(member->survey);
        member->survey = NULL;
    }
    member->open = false;
    free(member->queue);
    fp_memory_give(member->capacity * sizeof *member->queue);
    member->queue = NULL;
    member->begin = member->end = member->capacity = 0;
}

/* Get the member's next events, if there are more. Without any it is done. */
static enum fp_status refill(struct conv_member *member)
{
    struct conv_merge *merge = member->merge;
    const struct conv_sink sink = {.data = member, .events = take_events, .is_live = is_live};
    enum fp_status status = FP_OK;
    while (member->begin == member->end && status == FP_OK) {
        status = member->input.step(member->input.data, &sink, member->survey, merge->error);
        if (merge->early != FP_OK)
            return merge->early;
    }
    member->begun = true;
    if (status == FP_END) {
        member->done = true;
        status = FP_OK;
    }
    if (member->begin < member->end)
        member->next_ns = member->queue[member->begin].time_ns;
    return status;
}

/* Its own conclusion, and what that changes of the whole. */
static void conclude_member(struct conv_member *member)
{
    struct conv_merge *merge = member->merge;
    struct conv_survey *own = member->survey;
    if (!member->open || !member->begun || member->concluded)
        return;
    member->concluded = true;
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        own->irregular[i] += member->paired[i];
    member->input.conclude(member->input.data, member->gap_calls, own);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        merge->survey->irregular[i] += own->irregular[i] - member->paired[i];
    fp_loss_add(merge->survey->lost, own->lost);
    merge->survey->lost_marks += own->lost_marks;
    merge->survey->uncounted |= own->uncounted;
    /* The system takes all that a process has; a merge is one process, and keeps it. */
    if (!own->ran_on && member->listed->ended[0] == 'e' && merge->heap_count > 1 &&
        (int64_t)member->live_bytes > 0) {
        merge->survey->left_bytes += member->live_bytes;
        merge->survey->left_objects += member->live_objects;
    }
    merge->survey->events_removed += own->events_removed;
    conv_usage_add(&merge->survey->usage, own->usage);
    if (merge->survey->live == CONV_LIVE_KNOWN)
        merge->survey->live = own->live;
    merge->survey->groups += own->groups;
    merge->survey->groups_searched += own->groups_searched;
    if (!own->complete && merge->complete)
        snprintf(merge->incomplete_why, sizeof merge->incomplete_why, "%.100s: %.140s",
                 conv_path_name(member->path), own->incomplete_why);
    merge->complete = merge->complete && own->complete;
    if (member->offset_ns + own->duration_ns > merge->duration_ns)
        merge->duration_ns = member->offset_ns + own->duration_ns;
}

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
    const enum fp_status status = refill(member);
    if (status != FP_OK || member->delivered || member->done || member->merge->open_count <= OPEN_AHEAD)
        return status;
    close_member(member);
    return FP_OK;
}

/* The turn of the first member. */
static enum fp_status turn(struct conv_merge *merge)
{
    struct conv_member *member = &merge->members[merge->heap[0]];
    enum fp_status status = open_member(member);
    if (status == FP_OK && !member->begun) {
        status = look_ahead(member);
    } else if (status == FP_OK) {
        status = refill(member);
        if (status == FP_OK)
            status = deliver(member, limit_of(merge));
        if (status == FP_OK)
            status = refill(member);
    }
    if (status != FP_OK)
        return status;
    if (member->done && !waits(member)) {
        conclude_member(member);
        close_member(member);
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
        conclude_member(&merge->members[i]); /* of those that a selection cut short */
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
        close_member(&merge->members[i]);
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
        enum fp_status status = open_member(member);
        if (status == FP_OK)
            status = take_lanes(merge, member, &input->lane_count);
        if (status != FP_OK)
            return status;
        member->start_unix_ns = member->survey->start_unix_ns;
        start_ns = member->start_unix_ns < start_ns ? member->start_unix_ns : start_ns;
        input->progress_total += member->input.progress_total;
        survey->file_bytes += member->survey->file_bytes;
        if (member->input.end_ns > merge->duration_ns)
            merge->duration_ns = member->input.end_ns;
        if (i >= OPEN_AHEAD)
            close_member(member);
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
