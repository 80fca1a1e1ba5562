/* process_image.c - a process image's blocks by lane, its lanes' names, its pass; the thread that decodes ahead. */
#include "convert/order/process_image.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "convert/order/lane_cursor.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/process.h"

/* ---- decoding ahead ---------------------------------------------------------------------------------- */

enum state {
    EMPTY = 0,
    WANTED,
    UNDER_WAY, /* the thread's */
    DECODED,
    FAILED,
};

struct place {
    enum state state;
    struct fp_reader *reader;
    size_t index;
    struct fp_block_buffer buffer;
    struct fp_block block;
};

struct conv_ahead {
    pthread_t thread;
    pthread_mutex_t readers; /* whoever decodes has it */
    pthread_mutex_t lock;    /* of all below */
    pthread_cond_t change;
    struct place places[CONV_AHEAD_BLOCKS];
    bool stopping;
};

static struct place *next_wanted(struct conv_ahead *ahead)
{
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++)
        if (ahead->places[i].state == WANTED)
            return &ahead->places[i];
    return NULL;
}

static void *serve(void *data)
{
    struct conv_ahead *ahead = data;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopping) {
        struct place *place = next_wanted(ahead);
        enum fp_status status;
        if (place == NULL) {
            pthread_cond_wait(&ahead->change, &ahead->lock);
            continue;
        }
        place->state = UNDER_WAY;
        pthread_mutex_unlock(&ahead->lock);
        pthread_mutex_lock(&ahead->readers);
        status = fp_reader_block(place->reader, place->index, &place->buffer, &place->block);
        pthread_mutex_unlock(&ahead->readers);
        pthread_mutex_lock(&ahead->lock);
        place->state = status == FP_OK ? DECODED : FAILED;
        pthread_cond_signal(&ahead->change);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static void destroy(struct conv_ahead *ahead)
{
    pthread_cond_destroy(&ahead->change);
    pthread_mutex_destroy(&ahead->lock);
    pthread_mutex_destroy(&ahead->readers);
    free(ahead);
}

struct conv_ahead *conv_ahead_start(void)
{
    struct conv_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    pthread_mutex_init(&ahead->readers, NULL);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->change, NULL);
    if (fp_helper_start(&ahead->thread, serve, ahead))
        return ahead;
    destroy(ahead);
    return NULL;
}

/* The caller has the lock. */
static struct place *find(struct conv_ahead *ahead, const struct fp_reader *reader, size_t index)
{
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++) {
        struct place *place = &ahead->places[i];
        if (place->state != EMPTY && place->reader == reader && place->index == index)
            return place;
    }
    return NULL;
}

void conv_ahead_want(struct conv_ahead *ahead, struct fp_reader *reader, size_t index)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++) {
        struct place *place = &ahead->places[i];
        if (place->state != EMPTY)
            continue;
        place->state = WANTED;
        place->reader = reader;
        place->index = index;
        break;
    }
    pthread_cond_signal(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
}

/* Tells whether the block was decoded ahead; its place is empty afterwards in any case. */
static bool fetch(struct conv_ahead *ahead, const struct fp_reader *reader, size_t index,
                  struct fp_block_buffer *buffer, struct fp_block *ret_block)
{
    bool decoded = false;
    pthread_mutex_lock(&ahead->lock);
    struct place *place = find(ahead, reader, index);
    while (place != NULL && place->state == UNDER_WAY)
        pthread_cond_wait(&ahead->change, &ahead->lock);
    if (place != NULL && place->state == DECODED) {
        const struct fp_block_buffer given = *buffer;
        *buffer = place->buffer;
        place->buffer = given;
        *ret_block = place->block;
        decoded = true;
    }
    if (place != NULL)
        place->state = EMPTY;
    pthread_mutex_unlock(&ahead->lock);
    return decoded;
}

enum fp_status conv_ahead_block(struct conv_ahead *ahead, struct fp_reader *reader, size_t index,
                                struct fp_block_buffer *buffer, struct fp_block *ret_block,
                                struct fp_error *ret_error)
{
    enum fp_status status;
    if (ahead != NULL && fetch(ahead, reader, index, buffer, ret_block))
        return FP_OK;
    if (ahead != NULL)
        pthread_mutex_lock(&ahead->readers);
    status = fp_reader_block(reader, index, buffer, ret_block);
    if (status != FP_OK)
        *ret_error = *fp_reader_error(reader);
    if (ahead != NULL)
        pthread_mutex_unlock(&ahead->readers);
    return status;
}

void conv_ahead_stop(struct conv_ahead *ahead)
{
    if (ahead == NULL)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopping = true;
    pthread_cond_signal(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL); /* it is ours and joinable */
    for (unsigned i = 0; i < CONV_AHEAD_BLOCKS; i++)
        fp_block_buffer_release(&ahead->places[i].buffer);
    destroy(ahead);
}

/* ---- the index by lane --------------------------------------------------------------------- */

/* Blocks of one lane stand in the file in their order; a jump in their numbers is a loss. Where the image's first
 * window is not there, a lane begins with whatever comes first. */
static enum fp_status check_sequence(struct conv_image *image, const struct conv_part *part,
                                     const struct fp_block_entry *entry, uint64_t *next_sequence,
                                     struct conv_block_note *note, struct conv_error *error)
{
    if (*next_sequence == 0 && !image->parts.from_begin)
        *next_sequence = entry->sequence;
    if (entry->sequence < *next_sequence)
        return conv_fail(error, part->path, FP_ERR_CORRUPT, 0, entry->offset,
                         "a block of a thread comes after its successors");
    note->after_missing = entry->sequence > *next_sequence;
    image->missing_blocks += entry->sequence - *next_sequence;
    *next_sequence = entry->sequence + 1;
    return FP_OK;
}

/* Sort a part's blocks by lane. fill and next_sequence: an entry for each lane. */
static enum fp_status sort_part(struct conv_image *image, const struct conv_part *part, size_t *fill,
                                uint64_t *next_sequence, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < part->info->block_count && status == FP_OK; i++) {
        const struct fp_block_entry *entry = &part->info->blocks[i];
        struct conv_block_note *note = &image->notes[fill[entry->lane]++];
        *note = (struct conv_block_note){.index = part->first_block + i, .base_epoch = entry->base_epoch};
        status = check_sequence(image, part, entry, &next_sequence[entry->lane], note, error);
    }
    return status;
}

/* Sort the blocks by lane, counting. fill and next_sequence: a zeroed entry for each lane. */
static enum fp_status sort_blocks(struct conv_image *image, size_t *fill, uint64_t *next_sequence,
                                  struct conv_error *error)
{
    const struct conv_parts *parts = &image->parts;
    enum fp_status status = FP_OK;
    for (size_t p = 0; p < parts->count; p++)
        for (size_t i = 0; i < parts->parts[p].info->block_count; i++)
            image->first[parts->parts[p].info->blocks[i].lane + 1]++;
    for (size_t i = 0; i < parts->lane_count; i++) {
        image->first[i + 1] += image->first[i];
        fill[i] = image->first[i];
    }
    for (size_t p = 0; p < parts->count && status == FP_OK; p++)
        status = sort_part(image, &parts->parts[p], fill, next_sequence, error);
    return status;
}

static enum fp_status index_lanes(struct conv_image *image, struct conv_error *error)
{
    const size_t lanes = image->parts.lane_count;
    uint64_t *next_sequence = calloc(lanes + 1, sizeof *next_sequence);
    size_t *fill = calloc(lanes + 1, sizeof *fill);
    enum fp_status status;
    image->notes = calloc(image->parts.block_count + 1, sizeof *image->notes);
    image->first = calloc(lanes + 2, sizeof *image->first);
    if (next_sequence != NULL && fill != NULL && image->notes != NULL && image->first != NULL)
        status = sort_blocks(image, fill, next_sequence, error);
    else
        status = conv_fail_memory(error, image->path, "the index of blocks");
    free(next_sequence);
    free(fill);
    return status;
}

static const struct conv_block_note *notes_of(void *data, uint32_t lane, size_t *ret_count)
{
    const struct conv_image *image = data;
    *ret_count = image->first[lane + 1] - image->first[lane];
    return image->notes + image->first[lane];
}

/* Every shape of a block is that of a mark. */
static bool holds_calls(const struct fp_block *block)
{
    for (uint32_t i = 0; i < block->shape_count; i++)
        if (fp_call_kind_of(block->shapes[i].call) != FP_KIND_NONE)
            return true;
    return false;
}

static enum fp_status load(void *data, size_t index, struct fp_block_buffer *buffer,
                           struct fp_block *ret_block)
{
    struct conv_image *image = data;
    const struct conv_part *part = conv_parts_of_block(&image->parts, index);
    struct fp_error cause;
    const enum fp_status status = conv_ahead_block(image->ahead, part->reader, index - part->first_block,
                                                   buffer, ret_block, &cause);
    if (status == FP_OK) {
        image->has_calls = image->has_calls || holds_calls(ret_block);
        return FP_OK;
    }
    if (image->options.salvage && (status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM)) {
        const uint32_t marks = part->info->blocks[index - part->first_block].mark_count;
        image->survey->irregular[CONV_SALVAGED_BLOCKS]++;
        image->survey->irregular[CONV_DAMAGED_BLOCKS] += marks;
        image->survey->lost_marks += marks;
        return FP_END;
    }
    (void)conv_fail_with(image->error, part->path, &cause);
    image->error->salvageable = status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM;
    return status;
}

static void want(void *data, size_t index)
{
    struct conv_image *image = data;
    const struct conv_part *part = conv_parts_of_block(&image->parts, index);
    if (image->ahead == NULL)
        image->ahead = conv_ahead_start();
    conv_ahead_want(image->ahead, part->reader, index - part->first_block);
}

/* ---- lanes' names -------------------------------------------------------------------------- */

/* Thread ids stand in the trailer. Without one they are made up: the process id for lane 0, which is the
 * main thread in any program that allocates before it starts threads, and numbers after it. */
void conv_image_name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct conv_image *image = data;
    const struct conv_parts *parts = &image->parts;
    if (parts->has_trailer && lane < parts->lane_count) {
        *ret_thread_id = parts->lanes[lane].thread_id;
        *ret_is_main = parts->lanes[lane].is_main;
        for (uint32_t i = 0; i < lane && *ret_is_main; i++)
            *ret_is_main = !parts->lanes[i].is_main; /* at most one, whatever the file says */
    } else {
        *ret_thread_id = parts->parts[0].info->process_id + lane;
        *ret_is_main = lane == 0;
    }
}

static void find_main_lane(struct conv_image *image)
{
    for (uint32_t lane = 0; lane < image->parts.lane_count; lane++) {
        uint32_t thread_id;
        bool is_main;
        conv_image_name_lane(image, lane, &thread_id, &is_main);
        if (is_main)
            image->main_lane = lane;
    }
}

/* ---- the pass ------------------------------------------------------------------------------ */

static uint64_t buffer_bytes(const struct conv_image *image)
{
    return image->options.memory_bytes != 0 ? image->options.memory_bytes : fp_memory_bound();
}

/* A thread may decode blocks before they are asked for. */
static void set_out(struct conv_image *image, struct conv_survey *survey, struct conv_error *error)
{
    image->blocks = (struct conv_blocks){.data = image,
                                         .lane_count = image->parts.lane_count,
                                         .base_ns = image->parts.begin_ns,
                                         .notes = notes_of,
                                         .load = load,
                                         .want = !image->options.in_place ? want : NULL};
    image->survey = survey;
    image->error = error;
    survey->irregular[CONV_MISSING_BLOCKS] += image->missing_blocks;
}

enum fp_status conv_image_run(struct conv_image *image, const struct conv_sink *sink,
                              struct conv_survey *survey, struct conv_error *error)
{
    set_out(image, survey, error);
    return conv_order_run(&image->blocks, buffer_bytes(image), 0, sink, survey);
}

/* ---- opening ------------------------------------------------------------------------------- */

void conv_image_close(struct conv_image *image)
{
    conv_ahead_stop(image->ahead);
    conv_parts_close(&image->parts);
    free(image->notes);
    free(image->first);
}

/* A file that ends early was not finished, which happens; one that goes on with something else is damaged. */
static enum fp_status check_tail(const struct conv_image *image, struct conv_error *error)
{
    const struct conv_part *cut = image->parts.cut;
    if (cut == NULL || cut->info->has_trailer || cut->info->tail_error.status == FP_ERR_TRUNCATED ||
        image->options.salvage)
        return FP_OK;
    (void)conv_fail_with(error, cut->path, &cut->info->tail_error);
    error->salvageable = image->parts.mark_count > 0;
    return error->cause.status;
}

enum fp_status conv_image_open(struct conv_image *image, const char *path, enum conv_extent extent,
                               const struct conv_options *options, struct conv_error *error)
{
    enum fp_status status;
    image->path = path;
    image->options = *options;
    status = conv_parts_open(path, extent, &image->parts, error);
    if (status == FP_OK && image->parts.count == 0)
        status = conv_fail(error, path, FP_ERR_OPEN, ENOENT, 0, "cannot open");
    if (status == FP_OK)
        status = check_tail(image, error);
    if (status == FP_OK)
        status = index_lanes(image, error);
    if (status == FP_OK)
        find_main_lane(image);
    return status;
}
