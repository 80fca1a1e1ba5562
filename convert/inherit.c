/* inherit.c - read a process' ancestors up to their forks, and its own earlier windows, keeping what is alive. */
#include "convert/inherit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/input.h"
#include "convert/live.h"

/* An ancestor, and which of its forks led to us; or our own earlier windows. */
struct ancestor {
    char path[CONV_PATH_BYTES];
    enum conv_extent extent;
    uint64_t fork_number; /* 0: to the end */
};

/* A realloc under way: its old address is free for others already, the object not yet gone. */
struct moving {
    uint32_t lane;
    uint64_t address;
    struct conv_event object;
};

struct heap {
    struct conv_live live;      /* address -> index into objects, as the id */
    struct conv_event *objects; /* dead ones have address 0; in the order of their births */
    size_t count, capacity, dead;
    struct moving *moving;
    size_t moving_count, moving_capacity;
    uint64_t fork_number; /* of the mark to stop at */
    bool reached;
};

static void heap_release(struct heap *heap)
{
    conv_live_release(&heap->live);
    free(heap->objects);
    free(heap->moving);
}

/* Dead objects take room until they are half of all: then the living move together, their order kept. */
static void compact(struct heap *heap)
{
    size_t kept = 0;
    for (size_t i = 0; i < heap->count; i++) {
        struct conv_live_entry *entry;
        if (heap->objects[i].address == 0)
            continue;
        entry = conv_live_find(&heap->live, heap->objects[i].address);
        conv_live_remove(&heap->live, entry);
        heap->objects[kept] = heap->objects[i];
        /* There is room: one was just removed. */
        (void)conv_live_insert(&heap->live, heap->objects[kept].address,
                               (struct conv_object){.id = (uint32_t)kept});
        kept++;
    }
    heap->count = kept;
    heap->dead = 0;
}

static bool take_out(struct heap *heap, uint64_t address, struct conv_event *ret_object)
{
    struct conv_live_entry *entry = address != 0 ? conv_live_find(&heap->live, address) : NULL;
    uint32_t index;
    if (entry == NULL)
        return false;
    index = conv_live_object(entry).id;
    *ret_object = heap->objects[index];
    heap->objects[index].address = 0;
    heap->dead++;
    conv_live_remove(&heap->live, entry);
    return true;
}

static enum fp_status put_in(struct heap *heap, struct conv_event object)
{
    struct conv_event before;
    (void)take_out(heap, object.address, &before); /* its release was lost */
    if (heap->dead > 1024 && heap->dead > heap->count / 2)
        compact(heap);
    if (heap->count == heap->capacity) {
        const size_t capacity = heap->capacity * 2 + 1024;
        struct conv_event *grown = capacity <= UINT32_MAX ? realloc(heap->objects, capacity * sizeof *grown)
                                                          : NULL;
        if (grown == NULL)
            return FP_ERR_MEMORY;
        heap->objects = grown;
        heap->capacity = capacity;
    }
    object.time_ns = 0;
    object.old_address = 0;
    object.lane = 0;
    heap->objects[heap->count] = object;
    if (!conv_live_insert(&heap->live, object.address, (struct conv_object){.id = (uint32_t)heap->count}))
        return FP_ERR_MEMORY;
    heap->count++;
    return FP_OK;
}

/* ---- reallocs ------------------------------------------------------------------------------ */

static enum fp_status begin_move(struct heap *heap, const struct conv_event *event)
{
    struct conv_event object;
    if (!take_out(heap, event->address, &object))
        return FP_OK;
    if (heap->moving_count == heap->moving_capacity) {
        const size_t capacity = heap->moving_capacity * 2 + 16;
        struct moving *grown = realloc(heap->moving, capacity * sizeof *grown);
        if (grown == NULL)
            return FP_ERR_MEMORY;
        heap->moving = grown;
        heap->moving_capacity = capacity;
    }
    heap->moving[heap->moving_count++] = (struct moving){event->lane, event->address, object};
    return FP_OK;
}

static bool end_move(struct heap *heap, const struct conv_event *event, struct conv_event *ret_object)
{
    for (size_t i = heap->moving_count; i-- > 0;) {
        if (heap->moving[i].lane != event->lane || heap->moving[i].address != event->old_address)
            continue;
        *ret_object = heap->moving[i].object;
        heap->moving_count--;
        memmove(&heap->moving[i], &heap->moving[i + 1], (heap->moving_count - i) * sizeof *heap->moving);
        return true;
    }
    return false;
}

/* Where a realloc's object stood another may stand by now: then the realloc had moved it, and its new place is not
 * known. */
static enum fp_status put_back(struct heap *heap, const struct conv_event *object)
{
    return conv_live_find(&heap->live, object->address) == NULL ? put_in(heap, *object) : FP_OK;
}

static enum fp_status put_back_all(struct heap *heap)
{
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < heap->moving_count && status == FP_OK; i++)
        status = put_back(heap, &heap->moving[i].object);
    heap->moving_count = 0;
    return status;
}

/* What was resized is created by malloc, of the size that it has by now: only malloc's objects may be resized. */
static enum fp_status resized(struct heap *heap, const struct conv_event *event, uint64_t bytes)
{
    struct conv_event object = {0};
    const bool known = event->old_address != 0 && end_move(heap, event, &object);
    if (event->address == 0)
        return known && bytes != 0 ? put_back(heap, &object) : FP_OK;
    object = (struct conv_event){.call = FP_CALL_MALLOC, .address = event->address, .size = bytes};
    return put_in(heap, object);
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status take(struct heap *heap, const struct conv_event *event)
{
    const struct fp_shape shape = conv_event_shape(event);
    const uint64_t bytes = fp_shape_bytes(&shape);
    struct conv_event gone;
    if (event->address >= CONV_ADDRESS_LIMIT)
        return FP_OK;
    switch (fp_call_kind_of(event->call)) {
    case FP_KIND_ALLOCATE:
        return event->address != 0 && bytes < CONV_ADDRESS_LIMIT ? put_in(heap, *event) : FP_OK;
    case FP_KIND_RESIZE:
        /* A result of NULL is believed at any size: sizes that no allocator has are just what fails. */
        return event->address == 0 || bytes < CONV_ADDRESS_LIMIT ? resized(heap, event, bytes) : FP_OK;
    case FP_KIND_RELEASE:
        (void)take_out(heap, event->address, &gone);
        return FP_OK;
    default:
        break;
    }
    if (event->call == FP_MARK_RESIZE_FROM)
        return begin_move(heap, event);
    if (event->call == FP_MARK_FORK && event->size == heap->fork_number) {
        heap->reached = true;
        return FP_END;
    }
    return FP_OK;
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = take(data, &events[i]);
    return status;
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct heap *heap = data;
    const struct conv_live_entry *entry = address != 0 && address < CONV_ADDRESS_LIMIT
                                              ? conv_live_find(&heap->live, address)
                                              : NULL;
    struct fp_shape shape;
    if (entry == NULL)
        return false;
    shape = conv_event_shape(&heap->objects[conv_live_object(entry).id]);
    *ret_bytes = fp_shape_bytes(&shape);
    return true;
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
    const char *slash = strrchr(path, '/');
    const int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
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
        struct conv_error *error = calloc(1, sizeof *error);
        const char *at = ancestors[count].path;
        const char *slash = strrchr(at, '/');
        enum fp_status status = error != NULL ? conv_parts_open(at, ancestors[count].extent, &parts, error)
                                              : FP_ERR_MEMORY;
        free(error);
        if (status != FP_OK) {
            snprintf(why, why_size, "'%.100s' cannot be read", slash != NULL ? slash + 1 : at);
            break;
        }
        if (parts.count == 0 || !parts.from_begin) {
            snprintf(why, why_size, "windows before '%.100s' are not there",
                     parts.count > 0 && strrchr(parts.parts[0].path, '/') != NULL
                         ? strrchr(parts.parts[0].path, '/') + 1
                     : slash != NULL ? slash + 1
                                     : at);
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

/* Let an ancestor live up to its fork. Returns FP_OK, or FP_ERR_MEMORY; other failures leave heap->reached false. */
static enum fp_status live_through(struct heap *heap, const struct ancestor *ancestor,
                                   const struct conv_options *options)
{
    const struct conv_options plain = {
        .memory_bytes = options->memory_bytes, .salvage = options->salvage, .no_inherited = true};
    const struct conv_sink sink = {.data = heap, .events = take_events, .is_live = is_live};
    struct conv_survey *survey = calloc(1, sizeof *survey);
    struct conv_error *error = calloc(1, sizeof *error);
    struct conv_input input = {0};
    enum fp_status status = FP_ERR_MEMORY;
    heap->fork_number = ancestor->fork_number;
    heap->reached = ancestor->fork_number == 0;
    if (survey != NULL && error != NULL)
        status = conv_footprint_open(ancestor->path, ancestor->extent, &plain, survey, error, &input);
    if (status == FP_OK) {
        status = input.run(input.data, &sink, survey, error);
        input.close(input.data);
    }
    free(survey);
    free(error);
    if (status == FP_ERR_MEMORY)
        return status;
    return put_back_all(heap);
}

enum fp_status conv_inherit(const char *path, const struct conv_parts *child,
                            const struct conv_options *options, struct conv_estate *estate)
{
    struct ancestor *ancestors = calloc(CONV_ANCESTORS_MAX, sizeof *ancestors);
    struct heap heap = {0};
    size_t count;
    enum fp_status status = FP_OK;
    *estate = (struct conv_estate){0};
    if (ancestors == NULL || !conv_live_init(&heap.live)) {
        free(ancestors);
        return FP_ERR_MEMORY;
    }
    count = trace(path, child, ancestors, estate->why, sizeof estate->why);
    while (count > 0 && status == FP_OK) {
        const struct ancestor *ancestor = &ancestors[--count];
        status = live_through(&heap, ancestor, options);
        if (status == FP_OK && !heap.reached) {
            /* What is alive now is not what was alive then. */
            heap_release(&heap);
            heap = (struct heap){0};
            status = conv_live_init(&heap.live) ? FP_OK : FP_ERR_MEMORY;
            const char *slash = strrchr(ancestor->path, '/');
            if (estate->why[0] != '\0')
                continue; /* the first reason stands */
            snprintf(estate->why, sizeof estate->why, "'%.100s' ends before its fork %llu, or is damaged",
                     slash != NULL ? slash + 1 : ancestor->path, (unsigned long long)ancestor->fork_number);
        }
    }
    if (status == FP_OK) {
        compact(&heap);
        estate->objects = heap.objects;
        estate->count = heap.count;
        heap.objects = NULL;
    }
    heap_release(&heap);
    free(ancestors);
    return status;
}

void conv_estate_release(struct conv_estate *estate)
{
    free(estate->objects);
    *estate = (struct conv_estate){0};
}
