/* collect_lists.c - the lists that grow with a recording.
 *
 *   items   in the order in which they were first seen; each begins with its number
 *   places  a hash table into them: 1 + index, 0 for none. Numbers without gaps have each a place of its own */
#include "shim/collect/collect_image.h"

#include <stdlib.h>

#include "footprint/base/grow.h"

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

#define PLACES_LEAST 16u
#define ITEMS_MOST   (2 * FP_LANES_MAX)

static uint32_t items_of_all;

static uint32_t number_of(const struct collect_numbered *table, uint32_t index)
{
    return *(const uint32_t *)table->items[index];
}

/* The place of a number, or the free one where it would be. */
static uint32_t *place_of(const struct collect_numbered *table, uint32_t number)
{
    const uint32_t mask = table->place_count - 1;
    uint32_t at = number & mask;
    while (table->places[at] != 0 && number_of(table, table->places[at] - 1) != number)
        at = (at + 1) & mask;
    return &table->places[at];
}

/* Room for one more in both; half of the places stay free. */
static bool make_room(struct collect_numbered *table)
{
    const uint32_t wanted = table->place_count > 0 ? table->place_count * 2 : PLACES_LEAST;
    void **items;
    uint32_t *places;
    if (table->count < table->place_count / 2)
        return true;
    items = realloc(table->items, wanted / 2 * sizeof *items);
    if (items == NULL)
        return false;
    table->items = items;
    places = calloc(wanted, sizeof *places);
    if (places == NULL)
        return false;
    free(table->places);
    table->places = places;
    table->place_count = wanted;
    for (uint32_t i = 0; i < table->count; i++)
        *place_of(table, number_of(table, i)) = i + 1;
    return true;
}

/* The one of a number, made with so many bytes where there is none. NULL: no memory, or no such number. */
static void *find_or_make(struct collect_numbered *table, uint32_t number, size_t bytes)
{
    if (number >= FP_LANES_MAX || (table->count == 0 && !make_room(table)))
        return NULL;
    if (*place_of(table, number) != 0)
        return table->items[*place_of(table, number) - 1];
    uint32_t *item = items_of_all < ITEMS_MOST && make_room(table) ? calloc(1, bytes) : NULL;
    if (item == NULL)
        return NULL;
    *item = number;
    *place_of(table, number) = table->count + 1; /* a free one: no item has the number yet */
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
    free(table->places);
    *table = (struct collect_numbered){0};
}

void image_release_lanes(struct collect_image *image)
{
    for (uint32_t i = 0; i < image->streams.count; i++)
        stacks_release_stream(image->streams.items[i]);
    release(&image->lanes);
    release(&image->streams); /* in no list: drain_image has emptied their queues */
}
