/* inherit.c - read a process' ancestors up to their forks, and its own earlier windows, keeping what is alive. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/ops/track.h"
#include "convert/order/process_image.h"
#include "footprint/fp/fp_sites.h"

/* An ancestor, and which of its forks led to us; or our own earlier windows. */
struct ancestor {
    char path[CONV_PATH_BYTES];
    enum conv_extent extent;
    uint64_t fork_number; /* 0: to the end */
};

struct heirs {
    struct conv_heap heap;
    uint64_t fork_number; /* of the mark to stop at */
    bool reached;
};

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct heirs *heirs = data;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        if (events[i].call == FP_MARK_FORK && events[i].size == heirs->fork_number) {
            heirs->reached = true;
            return FP_END;
        }
        status = conv_heap_take(&heirs->heap, &events[i]);
    }
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct heirs *heirs = data;
    return conv_track_is_live(&heirs->heap.track, address, ret_bytes);
}

/* ---- ancestors ----------------------------------------------------------------------------- */

static bool is_plain_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* The parent that a footprint names; false: none, or not in a way that can be followed. */
static bool parent_of(const char *path, const struct conv_parts *child, struct ancestor *ret_parent,
                      char *why, size_t why_size)
{
    const char *name = conv_parts_meta(child, "fork_of");
    const char *number = conv_parts_meta(child, "fork_number");
    const int folder = (int)(conv_path_name(path) - path);
    if (name == NULL)
        return false;
    if (!is_plain_name(name)) {
        snprintf(why, why_size, "its parent's footprint is named strangely");
        return false;
    }
    ret_parent->extent = CONV_EXTENT_ALL;
    ret_parent->fork_number = number != NULL ? strtoull(number, NULL, 10) : 0;
    if (ret_parent->fork_number == 0) {
        snprintf(why, why_size, "'%.100s' has no mark of the fork (a raw clone)", name);
        return false;
    }
    return (size_t)snprintf(ret_parent->path, sizeof ret_parent->path, "%.*s%s", folder, path, name) <
           sizeof ret_parent->path;
}

/* Our own windows before those that are meant. They go on from the parent's estate, if theirs is the first. */
static bool earlier_of(const char *path, const struct conv_parts *child, struct ancestor *ret_earlier)
{
    if (child->from_begin)
        return false;
    ret_earlier->extent = CONV_EXTENT_BEFORE;
    ret_earlier->fork_number = 0;
    return (size_t)snprintf(ret_earlier->path, sizeof ret_earlier->path, "%s", path) <
           sizeof ret_earlier->path;
}

/* The line of ancestors, the nearest first. */
static size_t trace(const char *path, const struct conv_parts *child, struct ancestor *ancestors, char *why,
                    size_t why_size)
{
    size_t count = 0;
    bool more = earlier_of(path, child, &ancestors[0]) ||
                parent_of(path, child, &ancestors[0], why, why_size);
    while (more) {
        struct conv_parts parts;
        struct conv_error error;
        const char *at = ancestors[count].path;
        if (conv_parts_open(at, ancestors[count].extent, &parts, &error) != FP_OK) {
            snprintf(why, why_size, "'%.100s' cannot be read", conv_path_name(at));
            break;
        }
        if (parts.count == 0 || !parts.from_begin) {
            snprintf(why, why_size, "windows before '%.100s' are not there",
                     conv_path_name(parts.count > 0 ? parts.parts[0].path : at));
            count += parts.count > 0; /* what is there of them is better than nothing */
            conv_parts_close(&parts);
            break;
        }
        count++;
        if (count == CONV_ANCESTORS_MAX)
            snprintf(why, why_size, "more than %u ancestors", CONV_ANCESTORS_MAX);
        more = count < CONV_ANCESTORS_MAX &&
               parent_of(parts.parts[0].path, &parts, &ancestors[count], why, why_size);
        conv_parts_close(&parts);
    }
    return count;
}

/* A process numbers its sites for itself. */
static void forget_sites(struct conv_heap *heap)
{
    for (size_t i = 1; i <= heap->track.live.numbers; i++)
        if (heap->slots[i].site != 0 && heap->slots[i].site != FP_CUT_UNSAMPLED)
            heap->slots[i].site = FP_CUT_INHERITED;
}

/* Let an ancestor live up to its fork. Returns FP_OK, or FP_ERR_MEMORY; other failures leave heirs->reached false. */
static enum fp_status live_through(struct heirs *heirs, const struct ancestor *ancestor,
                                   const struct conv_options *options)
{
    const struct conv_options plain = {.memory_bytes = options->memory_bytes, .salvage = options->salvage};
    const struct conv_sink sink = {.data = heirs, .events = take_events, .is_live = is_live};
    struct conv_survey survey = {0};
    struct conv_error error;
    struct conv_image image = {0};
    heirs->fork_number = ancestor->fork_number;
    heirs->reached = ancestor->fork_number == 0;
    enum fp_status status = conv_image_open(&image, ancestor->path, ancestor->extent, &plain, &error);
    if (status == FP_OK)
        status = conv_image_run(&image, &sink, &survey, &error);
    conv_image_close(&image);
    if (status == FP_ERR_MEMORY)
        return status;
    return conv_track_settle(&heirs->heap.track);
}

/* The objects that are alive become the child's. */
static enum fp_status hand_over(const struct conv_heap *heap, uint32_t lane, const struct conv_sink *sink)
{
    struct conv_heir *heirs;
    size_t count;
    enum fp_status status = conv_heap_heirs(heap, &heirs, &count);
    if (status != FP_OK)
        return status;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        struct conv_event object = conv_heap_object(heap, &heirs[i]);
        object.lane = lane;
        status = sink->inherit(sink->data, &object, 1);
    }
    free(heirs);
    return status;
}

enum fp_status conv_inherit(const char *path, const struct conv_parts *child,
                            const struct conv_options *options, uint32_t lane, const struct conv_sink *sink,
                            char *ret_why, size_t size)
{
    struct ancestor *ancestors = calloc(CONV_ANCESTORS_MAX, sizeof *ancestors);
    struct heirs heirs = {0};
    size_t count;
    enum fp_status status = FP_OK;
    ret_why[0] = '\0';
    if (ancestors == NULL || !conv_heap_init(&heirs.heap)) {
        free(ancestors);
        return FP_ERR_MEMORY;
    }
    count = trace(path, child, ancestors, ret_why, size);
    while (count > 0 && status == FP_OK) {
        const struct ancestor *ancestor = &ancestors[--count];
        status = live_through(&heirs, ancestor, options);
        if (ancestor->fork_number != 0)
            forget_sites(&heirs.heap);
        if (status == FP_OK && !heirs.reached) {
            /* The objects alive now are not those that were alive at the fork. */
            conv_heap_release(&heirs.heap);
            status = conv_heap_init(&heirs.heap) ? FP_OK : FP_ERR_MEMORY;
            if (ret_why[0] != '\0')
                continue; /* the first reason stands */
            snprintf(ret_why, size, "'%.100s' ends before its fork %llu, or is damaged",
                     conv_path_name(ancestor->path), (unsigned long long)ancestor->fork_number);
        }
    }
    if (status == FP_OK)
        status = hand_over(&heirs.heap, lane, sink);
    conv_heap_release(&heirs.heap);
    free(ancestors);
    return status;
}
