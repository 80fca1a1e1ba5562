/* member.c - a process among others: its lanes, addresses and times made the merged input's. */
#include "convert/merge/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/limits.h"
#include "convert/order/footprint_input.h"
#include "footprint/base/memory_bound.h"

static bool reserve(struct conv_member *member, size_t count)
{
    if (member->begin == member->end)
        member->begin = member->end = 0;
    return CONV_RESERVE_COUNTED(member->queue, member->capacity, member->end + count);
}

static enum fp_status no_place(struct conv_member *member)
{
    struct conv_error *error = member->merge->error;
    if (member->merge->regions.count < CONV_REGIONS_MAX)
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
enum fp_status conv_member_deliver(struct conv_member *member, uint64_t limit_ns)
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
        merge->early = conv_member_deliver(member, UINT64_MAX);
    return conv_regions_find(&merge->regions, member->number, address, &address) &&
           merge->sink->is_live(merge->sink->data, address, ret_bytes);
}

enum fp_status conv_member_open(struct conv_member *member)
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

void conv_member_close(struct conv_member *member)
{
    if (member->open) {
        member->input.close(member->input.data);
        member->merge->open_count--;
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
enum fp_status conv_member_refill(struct conv_member *member)
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
void conv_member_conclude(struct conv_member *member)
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
