/* lists.c - the lists that grow with a recording. */
#include "collect/steps.h"

#include <stdlib.h>

bool list_image(struct collector *collector, struct collect_image *image)
{
    if (!FP_GROW(collector->images, collector->image_capacity, collector->image_count + 1))
        return false;
    collector->images[collector->image_count++] = image;
    return true;
}

struct collect_part *list_part(struct collect_image *image)
{
    if (image->part_count == image->part_capacity) {
        const size_t capacity = image->part_capacity > 0 ? image->part_capacity * 2 : 1;
        struct collect_part *grown = realloc(image->parts, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        image->parts = grown;
        image->part_capacity = capacity;
    }
    image->parts[image->part_count] = (struct collect_part){0};
    return &image->parts[image->part_count]; /* counted when its file stands */
}

#define ITEMS_MOST (2 * FP_LANES_MAX)

static uint32_t items_of_all;

/* The one of a number, made with so many bytes where there is none. NULL: no memory, or no such number. */
static void *find_or_make(struct collect_numbered *table, uint32_t number, size_t bytes)
{
    const uint64_t hash = fp_index_hash(&number, sizeof number, 0);
    size_t step = 0;
    for (uint32_t i; (i = fp_index_next(&table->index, hash, &step)) != FP_INDEX_END;)
        if (*(const uint32_t *)table->items[i] == number)
            return table->items[i];
    uint32_t *item = number < FP_LANES_MAX && items_of_all < ITEMS_MOST &&
                             FP_GROW(table->items, table->capacity, (size_t)table->count + 1)
                         ? calloc(1, bytes)
                         : NULL;
    if (item == NULL || !fp_index_add(&table->index, hash, table->count)) {
        free(item);
        return NULL;
    }
    *item = number;
    table->items[table->count++] = item;
    items_of_all++;
    return item;
}

_Static_assert(offsetof(struct collect_lane, number) == 0 && offsetof(struct collect_stream, number) == 0,
               "items begin with their number");

struct collect_lane *image_lane(struct collect_image *image, uint32_t number)
{
    struct collect_lane *lane = find_or_make(&image->lanes, number, sizeof *lane);
    if (lane != NULL && number >= image->lane_end)
        image->lane_end = number + 1;
    return lane;
}

struct collect_stream *image_stream(struct collect_image *image, uint32_t number)
{
    struct collect_stream *stream = find_or_make(&image->streams, number, sizeof *stream);
    if (stream != NULL)
        stream->image = image;
    return stream;
}

static void release(struct collect_numbered *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->items[i]);
    items_of_all -= table->count;
    free(table->items);
    fp_index_release(&table->index);
    *table = (struct collect_numbered){0};
}

void image_release_lanes(struct collect_image *image)
{
    for (uint32_t i = 0; i < image->streams.count; i++)
        stacks_release_stream(image->streams.items[i]);
    release(&image->lanes);
    release(&image->streams); /* in no list: drain_image has emptied their queues */
}
