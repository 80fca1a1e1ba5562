/* image.c - a footprint as an input: its blocks by lane, its lanes' names, what its trailer says. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/inherit.h"
#include "convert/input.h"
#include "convert/order.h"

#define BUFFER_BYTES_DEFAULT (UINT64_C(1) << 30)

struct image {
    const char *path;
    struct fp_reader *reader;
    const struct fp_reader_info *info;
    struct conv_options options;
    struct conv_block_note *notes; /* of all lanes, lane after lane */
    size_t *first;                 /* by lane: index into notes; one more than lanes */
    uint64_t missing_blocks;
    uint64_t end_ns;
    struct conv_survey *survey; /* while it runs */
    struct conv_error *error;
};

/* ---- the index by lane --------------------------------------------------------------------- */

/* Blocks of one lane stand in the file in their order; a jump in their numbers is a loss. */
static enum fp_status check_sequence(struct image *image, const struct fp_block_entry *entry,
                                     uint64_t *next_sequence, struct conv_block_note *note,
                                     struct conv_error *error)
{
    if (entry->sequence < *next_sequence)
        return conv_fail(error, image->path, FP_ERR_CORRUPT, 0, entry->offset,
                         "a block of a thread comes after its successors");
    note->after_missing = entry->sequence > *next_sequence;
    image->missing_blocks += entry->sequence - *next_sequence;
    *next_sequence = entry->sequence + 1;
    return FP_OK;
}

/* Sort the blocks by lane, counting. fill and next_sequence: a zeroed entry for each lane. */
static enum fp_status sort_blocks(struct image *image, size_t *fill, uint64_t *next_sequence,
                                  struct conv_error *error)
{
    const struct fp_reader_info *info = image->info;
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < info->block_count; i++)
        image->first[info->blocks[i].lane + 1]++;
    for (size_t i = 0; i < info->lane_count; i++) {
        image->first[i + 1] += image->first[i];
        fill[i] = image->first[i];
    }
    for (size_t i = 0; i < info->block_count && status == FP_OK; i++) {
        const struct fp_block_entry *entry = &info->blocks[i];
        struct conv_block_note *note = &image->notes[fill[entry->lane]++];
        *note = (struct conv_block_note){
            .index = i, .base_epoch = entry->base_epoch, .mark_count = entry->mark_count};
        status = check_sequence(image, entry, &next_sequence[entry->lane], note, error);
    }
    return status;
}

static enum fp_status index_lanes(struct image *image, struct conv_error *error)
{
    const size_t lanes = image->info->lane_count;
    uint64_t *next_sequence = calloc(lanes + 1, sizeof *next_sequence);
    size_t *fill = calloc(lanes + 1, sizeof *fill);
    enum fp_status status;
    image->notes = calloc(image->info->block_count + 1, sizeof *image->notes);
    image->first = calloc(lanes + 2, sizeof *image->first);
    if (next_sequence != NULL && fill != NULL && image->notes != NULL && image->first != NULL)
        status = sort_blocks(image, fill, next_sequence, error);
    else
        status = conv_fail(error, image->path, FP_ERR_MEMORY, 0, 0, "no memory for the index of blocks");
    free(next_sequence);
    free(fill);
    return status;
}

static const struct conv_block_note *notes_of(void *data, uint32_t lane, size_t *ret_count)
{
    const struct image *image = data;
    *ret_count = image->first[lane + 1] - image->first[lane];
    return image->notes + image->first[lane];
}

static enum fp_status load(void *data, size_t index, struct fp_block_buffer *buffer,
                           struct fp_block *ret_block)
{
    struct image *image = data;
    const enum fp_status status = fp_reader_block(image->reader, index, buffer, ret_block);
    if (status == FP_OK)
        return FP_OK;
    if (image->options.salvage && (status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM)) {
        image->survey->irregular[CONV_SALVAGED_BLOCKS]++;
        image->survey->lost_marks += image->info->blocks[index].mark_count;
        return FP_END;
    }
    return conv_fail_with(image->error, image->path, fp_reader_error(image->reader));
}

/* ---- lanes' names -------------------------------------------------------------------------- */

/* Thread ids stand in the trailer. Without one they are made up: the process id for lane 0, which is the
 * main thread in any program that allocates before it starts threads, and numbers after it. */
static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct image *image = data;
    const struct fp_trailer *trailer = &image->info->trailer;
    if (image->info->has_trailer && lane < trailer->lane_count) {
        *ret_thread_id = trailer->lanes[lane].thread_id;
        *ret_is_main = trailer->lanes[lane].is_main;
        for (uint32_t i = 0; i < lane && *ret_is_main; i++)
            *ret_is_main = !trailer->lanes[i].is_main; /* at most one, whatever the file says */
    } else {
        *ret_thread_id = image->info->process_id + lane;
        *ret_is_main = lane == 0;
    }
}

/* ---- the pass ------------------------------------------------------------------------------ */

/* A forked process begins with its parent's objects, on its main thread. */
static enum fp_status run_inherited(struct image *image, const struct conv_sink *sink,
                                    struct conv_survey *survey)
{
    struct conv_estate estate;
    uint32_t main_lane = 0;
    enum fp_status status;
    if (image->options.no_inherited || sink->inherit == NULL || image->info->lane_count == 0 ||
        fp_reader_meta(image->reader, "fork_of") == NULL)
        return FP_OK;
    for (uint32_t lane = 0; lane < image->info->lane_count; lane++) {
        uint32_t thread_id;
        bool is_main;
        name_lane(image, lane, &thread_id, &is_main);
        if (is_main)
            main_lane = lane;
    }
    status = conv_inherit(image->path, image->reader, &image->options, &estate);
    snprintf(survey->inherited_why, sizeof survey->inherited_why, "%s", estate.why);
    for (size_t i = 0; i < estate.count; i++)
        estate.objects[i].lane = main_lane;
    if (status == FP_OK)
        status = sink->inherit(sink->data, estate.objects, estate.count);
    conv_estate_release(&estate);
    return status;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct image *image = data;
    const struct conv_blocks blocks = {
        .data = image, .lane_count = image->info->lane_count, .notes = notes_of, .load = load};
    const uint64_t buffer_bytes = image->options.memory_bytes;
    const enum fp_status status = run_inherited(image, sink, survey);
    if (status != FP_OK)
        return status;
    image->survey = survey;
    image->error = error;
    survey->irregular[CONV_MISSING_BLOCKS] += image->missing_blocks;
    return conv_order_run(&blocks, buffer_bytes != 0 ? buffer_bytes : BUFFER_BYTES_DEFAULT, 0, sink, survey);
}

static void conclude_losses(const struct image *image, uint64_t gap_calls, struct conv_survey *survey)
{
    uint64_t lost = 0;
    if (image->info->has_trailer)
        for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
            survey->lost[i] += image->info->trailer.lost[i];
    else
        survey->lost[FP_LOSS_COLLECTOR] += gap_calls; /* the cause stood in the trailer */
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        lost += survey->lost[i];
    if (lost > 0) /* the duration is that of the events until the trailer's end is put in its place */
        conv_incomplete(survey, "%llu calls were lost while recording; the last one kept is of %.3f s",
                        (unsigned long long)lost, (double)survey->duration_ns / 1e9);
}

/* A forked process holds its parent's objects, which its own recording has not seen allocated. What it
 * releases of them cannot be told from other unknown addresses, but needs no other explanation. */
static void conclude_fork(const struct image *image, struct conv_survey *survey)
{
    uint64_t *irregular = survey->irregular;
    if (fp_reader_meta(image->reader, "fork_of") == NULL)
        return;
    irregular[CONV_INHERITED_FREES] += irregular[CONV_FREE_OF_UNKNOWN] + irregular[CONV_RESIZE_OF_UNKNOWN];
    irregular[CONV_FREE_OF_UNKNOWN] = 0;
    irregular[CONV_RESIZE_OF_UNKNOWN] = 0;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct image *image = data;
    const struct fp_error *tail = &image->info->tail_error;
    survey->complete = true;
    if (!image->info->has_trailer && survey->unfinished_why[0] != '\0')
        conv_incomplete(survey, "%s", survey->unfinished_why); /* that is why, and says more */
    else if (!image->info->has_trailer)
        conv_incomplete(survey, "%s at byte %llu: the recorder did not finish",
                        tail->what != NULL ? tail->what : "the file ends", (unsigned long long)tail->offset);
    conclude_losses(image, gap_calls, survey);
    conclude_fork(image, survey);
    if (image->missing_blocks > 0)
        conv_incomplete(survey, "%llu blocks are missing", (unsigned long long)image->missing_blocks);
    if (survey->irregular[CONV_SALVAGED_BLOCKS] > 0)
        conv_incomplete(survey, "%llu damaged blocks were left out",
                        (unsigned long long)survey->irregular[CONV_SALVAGED_BLOCKS]);
    if (survey->irregular[CONV_GAPS] > 0)
        conv_incomplete(survey, "threads report gaps");
    if (image->info->has_trailer && tail->status != FP_OK)
        conv_incomplete(survey, "%s at byte %llu", tail->what != NULL ? tail->what : "something odd",
                        (unsigned long long)tail->offset);
    if (image->info->trailer.end_time_ns > survey->duration_ns)
        survey->duration_ns = image->info->trailer.end_time_ns;
}

static void close_image(void *data)
{
    struct image *image = data;
    fp_reader_close(image->reader);
    free(image->notes);
    free(image->first);
    free(image);
}

/* A file that ends early was not finished, which happens; one that goes on with something else is damaged. */
static enum fp_status check_tail(const struct image *image, struct conv_error *error)
{
    const struct fp_error *tail = &image->info->tail_error;
    if (image->info->has_trailer || tail->status == FP_ERR_TRUNCATED || image->options.salvage)
        return FP_OK;
    return conv_fail_with(error, image->path, tail);
}

enum fp_status conv_footprint_open(const char *path, const struct conv_options *options,
                                   struct conv_survey *survey, struct conv_error *ret_error,
                                   struct conv_input *ret_input)
{
    struct image *image = calloc(1, sizeof *image);
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    const char *program;
    enum fp_status status;
    if (image == NULL)
        return conv_fail_with(ret_error, path, &cause);
    image->path = path;
    image->options = *options;
    if (fp_reader_open(path, &cause, &image->reader) != FP_OK) {
        free(image);
        return conv_fail_with(ret_error, path, &cause);
    }
    image->info = fp_reader_info(image->reader);
    status = check_tail(image, ret_error);
    if (status == FP_OK)
        status = index_lanes(image, ret_error);
    if (status != FP_OK) {
        close_image(image);
        return status;
    }
    program = fp_reader_meta(image->reader, "program");
    survey->kind = CONV_KIND_FOOTPRINT;
    snprintf(survey->program, sizeof survey->program, "%s", program != NULL ? program : "");
    survey->process_id = image->info->process_id;
    survey->start_unix_ns = image->info->start_unix_ns;
    survey->file_bytes = image->info->file_bytes;
    *ret_input = (struct conv_input){
        .data = image,
        .namer = {.data = image, .name = name_lane},
        .source = "footprint",
        .progress_total = image->info->mark_count,
        .run = run,
        .conclude = conclude,
        .close = close_image,
    };
    return FP_OK;
}
