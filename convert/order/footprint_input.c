/* footprint_input.c - a process image as an input: behind what it held before, in front of what is known of it at its end:
 * losses, how it ended, what nobody saw. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/survey_counts.h"
#include "convert/order/process_image.h"
#include "footprint/base/words.h"
#include "footprint/fp/fp_sites.h"

struct footprint {
    struct conv_image image;
    enum conv_extent extent;
    uint64_t listed[FP_LOSS_COUNT]; /* losses, as the recording's list has them */
    uint64_t events_removed;        /* likewise */
    uint64_t until_ns;              /* the recording's end; 0 when unknown */
    bool ran_on, uncounted;         /* as the list or the last trailer says */
    bool refuse_empty;              /* see conv_footprint_refuse_empty */
};

/* ---- the pass ------------------------------------------------------------------------------ */

/* A forked process begins with its parent's objects, a window with those of the windows before it; on the main
 * thread. */
static enum fp_status run_inherited(struct footprint *footprint, const struct conv_sink *sink,
                                    struct conv_survey *survey)
{
    const struct conv_parts *parts = &footprint->image.parts;
    if (footprint->image.options.no_inherited || sink->inherit == NULL || parts->lane_count == 0 ||
        (conv_parts_meta(parts, "fork_of") == NULL && parts->from_begin))
        return FP_OK;
    return conv_inherit(parts->parts[0].path, parts, &footprint->image.options, footprint->image.main_lane,
                        sink, survey->inherited_why, sizeof survey->inherited_why);
}

/* A footprint that is damaged, or cut, and has no call left is refused; one that is whole may be empty. */
static enum fp_status check_left(const struct footprint *footprint, struct conv_error *error)
{
    const struct conv_part *cut = footprint->image.parts.cut;
    const struct fp_error *tail = cut != NULL ? &cut->info->tail_error : NULL;
    if (!footprint->refuse_empty || footprint->image.has_calls)
        return FP_OK;
    if (footprint->image.survey->irregular[CONV_SALVAGED_BLOCKS] > 0)
        return conv_fail(error, footprint->image.path, FP_ERR_CORRUPT, 0,
                         footprint->image.parts.parts[0].info->blocks[0].offset,
                         "no call is left: all blocks that hold calls are damaged");
    if (tail != NULL)
        return conv_fail(error, cut->path, tail->status, 0, tail->offset, "no call is left: %s",
                         tail->what != NULL ? tail->what : "it is damaged");
    return FP_OK;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct footprint *footprint = data;
    enum fp_status status = run_inherited(footprint, sink, survey);
    if (status == FP_OK)
        status = conv_image_run(&footprint->image, sink, survey, error);
    return status == FP_OK ? check_left(footprint, error) : status;
}

static void close_footprint(void *data)
{
    struct footprint *footprint = data;
    conv_image_close(&footprint->image);
    free(footprint);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* The trailers tell the losses, or the recording's list where that knows of more: the disk took no trailer for a loss, or no
 * footprint at all of the windows in which it fell. */
static void conclude_losses(struct footprint *footprint, uint64_t gap_calls, struct conv_survey *survey)
{
    const double kept_s = (double)survey->duration_ns /
                          1e9; /* of events: the end is put in its place below */
    char digits[FP_TEXT_BYTES];
    uint64_t lost;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        survey->lost[i] = conv_add_saturating(survey->lost[i], footprint->image.parts.lost[i]);
    if (!footprint->image.parts.has_trailer) /* the cause stood in the trailer */
        survey->lost[FP_LOSS_COLLECTOR] = conv_add_saturating(survey->lost[FP_LOSS_COLLECTOR], gap_calls);
    if (fp_loss_sum(footprint->listed) > fp_loss_sum(survey->lost)) {
        memcpy(survey->lost, footprint->listed, sizeof survey->lost);
        if (footprint->until_ns > footprint->image.parts.end_time_ns)
            footprint->image.parts.end_time_ns = footprint->until_ns;
    }
    lost = fp_loss_sum(survey->lost);
    if (footprint->image.missing_blocks > 0 && lost == 0) /* not for want of disk: somebody took them out */
        survey->uncounted = true;
    if (lost > 0)
        conv_incomplete(survey, "%s calls were lost while recording; the last one kept is of %.3f s%s",
                        fp_text_grouped(lost, digits), kept_s,
                        footprint->uncounted ? "; more were lost when its collector had been killed" : "");
}

/* The process went on when recording ended. */
static void conclude_end(const struct footprint *footprint, struct conv_survey *survey)
{
    const uint64_t end_ns = footprint->image.parts.end_time_ns, begin_ns = footprint->image.parts.begin_ns;
    const double end_s = end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0;
    survey->ran_on = footprint->ran_on;
    survey->uncounted |= footprint->uncounted;
    if (footprint->uncounted)
        conv_incomplete(
            survey,
            "its collector was killed after %.3f s and process %u ran on: how many calls are missing "
            "is not known",
            end_s, survey->process_id);
    else if (footprint->ran_on)
        conv_incomplete(survey, "recording %sended after %.3f s%s%s and process %u ran on",
                        conv_parts_meta(&footprint->image.parts, FP_ATTACHED_META) != NULL
                            ? "began in the middle of the program's life, and "
                            : "",
                        (double)end_ns / 1e9, survey->stop_words != NULL ? ", " : "",
                        survey->stop_words != NULL ? survey->stop_words : "", survey->process_id);
}

/* A forked process holds its parent's objects, a recording that begins late or was paused has objects that were made
 * meanwhile: none was seen allocated. What is released of them cannot be told from other unknown addresses, but needs
 * no other explanation. Likewise allocations at addresses that were released in a pause. */
static void conclude_unseen(const struct footprint *footprint, struct conv_survey *survey)
{
    uint64_t *irregular = survey->irregular;
    const bool paused = irregular[CONV_PAUSES] > 0;
    const enum conv_irregularity name = paused || !footprint->image.parts.from_begin ? CONV_UNRECORDED_OBJECTS
                                                                                     : CONV_INHERITED_FREES;
    if (paused && irregular[CONV_GAPS] == 0) {
        irregular[CONV_UNRECORDED_FREES] += irregular[CONV_LOST_FREE];
        irregular[CONV_LOST_FREE] = 0;
    }
    if (conv_parts_meta(&footprint->image.parts, "fork_of") == NULL && name == CONV_INHERITED_FREES)
        return;
    irregular[name] += irregular[CONV_FREE_OF_UNKNOWN] + irregular[CONV_RESIZE_OF_UNKNOWN];
    irregular[CONV_FREE_OF_UNKNOWN] = 0;
    irregular[CONV_RESIZE_OF_UNKNOWN] = 0;
}

static void conclude_cut(const struct footprint *footprint, struct conv_survey *survey)
{
    const struct conv_part *cut = footprint->image.parts.cut;
    const struct fp_error *tail = cut != NULL ? &cut->info->tail_error : NULL;
    if (cut == NULL || cut->info->has_trailer)
        return;
    /* The recorder did finish: the disk took no trailer, and its list has what was lost. */
    if (survey->recording_state == CONV_RECORDING_FINISHED && tail->status == FP_ERR_TRUNCATED &&
        fp_loss_sum(footprint->listed) > 0)
        return;
    if (survey->unfinished_why[0] != '\0')
        conv_incomplete(survey, "%s", survey->unfinished_why); /* that is why, and says more */
    else
        conv_incomplete(survey, "%s at byte %llu: %s", tail->what != NULL ? tail->what : "the file ends",
                        (unsigned long long)tail->offset,
                        tail->status == FP_ERR_TRUNCATED ? "the recorder did not finish, or the file was cut"
                                                         : "the file is damaged, and left out from there on");
    if (tail->status != FP_ERR_TRUNCATED)
        survey->irregular[CONV_LOST_TAILS]++;
    /* A footprint that is being written has lost nothing so far. */
    survey->uncounted |= survey->recording_state != CONV_RECORDING_GOING_ON;
}

/* The least that can be said of a file: something stands behind its end. */
static void conclude_tail(const struct footprint *footprint, struct conv_survey *survey)
{
    const struct conv_part *cut = footprint->image.parts.cut;
    const struct fp_error *tail = cut != NULL ? &cut->info->tail_error : NULL;
    if (cut != NULL && cut->info->has_trailer)
        conv_incomplete(survey, "%s at byte %llu", tail->what != NULL ? tail->what : "something odd",
                        (unsigned long long)tail->offset);
}

/* One window by itself lacks no others. */
static void conclude_windows(const struct footprint *footprint, struct conv_survey *survey)
{
    const struct conv_parts *parts = &footprint->image.parts;
    if (footprint->extent == CONV_EXTENT_ONE)
        return;
    if (!parts->from_begin)
        conv_incomplete(survey, "it begins with window %u: earlier ones are not there",
                        parts->parts[0].window);
    for (size_t i = 1; i < parts->count; i++)
        if (parts->parts[i].number != parts->parts[i - 1].number + 1)
            conv_incomplete(survey, "windows between %u and %u are not there", parts->parts[i - 1].window,
                            parts->parts[i].window);
}

/* A footprint begins with the objects that were live then if all windows before it, or its parent, are there; else with none. */
static void conclude_live(const struct footprint *footprint, struct conv_survey *survey)
{
    const bool looked_back = footprint->extent == CONV_EXTENT_ONE && !footprint->image.options.no_inherited;
    survey->begin_ns = footprint->image.parts.begin_ns;
    survey->events_removed = footprint->events_removed;
    if (survey->inherited_why[0] != '\0' || (!footprint->image.parts.from_begin && !looked_back) ||
        conv_parts_meta(&footprint->image.parts, FP_ATTACHED_META) != NULL)
        survey->live = CONV_LIVE_FROM_MIDDLE;
    else if (survey->irregular[CONV_PAUSES] > 0)
        survey->live = CONV_LIVE_PAUSED;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    struct footprint *footprint = data;
    const struct conv_parts *parts = &footprint->image.parts;
    char digits[FP_TEXT_BYTES];
    survey->complete = true;
    conclude_cut(footprint, survey);
    conclude_losses(footprint, gap_calls, survey);
    conclude_end(footprint, survey);
    conclude_windows(footprint, survey);
    conclude_unseen(footprint, survey);
    if (footprint->image.missing_blocks > 0)
        conv_incomplete(survey, "%s blocks are missing",
                        fp_text_grouped(footprint->image.missing_blocks, digits));
    if (survey->irregular[CONV_SALVAGED_BLOCKS] > 0)
        conv_incomplete(survey, "%s damaged block%s left out",
                        fp_text_grouped(survey->irregular[CONV_SALVAGED_BLOCKS], digits),
                        survey->irregular[CONV_SALVAGED_BLOCKS] == 1 ? " was" : "s were");
    if (survey->irregular[CONV_GAPS] > 0)
        conv_incomplete(survey, "threads report gaps");
    if (conv_parts_meta(parts, FP_ATTACHED_META) != NULL)
        conv_incomplete(survey, FP_BEGAN_LATE);
    else if (survey->irregular[CONV_PAUSES] > 0)
        conv_incomplete(survey, "recording was paused meanwhile, as asked");
    conclude_tail(footprint, survey);
    conclude_live(footprint, survey);
    if (parts->end_time_ns > parts->begin_ns && parts->end_time_ns - parts->begin_ns > survey->duration_ns)
        survey->duration_ns = parts->end_time_ns - parts->begin_ns;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void take_list(struct footprint *footprint, const struct conv_process *listed)
{
    footprint->ran_on = footprint->image.parts.ran_on;
    footprint->uncounted = footprint->image.parts.uncounted;
    if (listed == NULL)
        return;
    memcpy(footprint->listed, listed->lost, sizeof footprint->listed);
    footprint->until_ns = listed->until_ns;
    footprint->events_removed = listed->events_removed;
    footprint->ran_on |= listed->ran_on;
    footprint->uncounted |= listed->uncounted;
}

/* Each part tells all until its end. */
static void take_usage(const struct conv_parts *parts, struct conv_survey *survey)
{
    for (size_t i = parts->count; i-- > 0;)
        if (parts->parts[i].info->usage != NULL) {
            conv_usage_set(&survey->usage, parts->parts[i].info->usage);
            return;
        }
}

static bool has_stacks(const struct conv_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].info->sites != NULL)
            return true;
    return false;
}

static enum fp_status take_stacks(void *data, struct fp_stacks *ret_stacks, struct conv_error *error)
{
    const struct conv_parts *parts = &((const struct footprint *)data)->image.parts;
    const char *executable = conv_parts_meta(parts, "executable");
    bool done = true;
    *ret_stacks = (struct fp_stacks){.executable = strdup(executable != NULL ? executable : "")};
    for (size_t i = 0; i < parts->count && done; i++)
        if (parts->parts[i].info->sites != NULL)
            done = fp_stacks_add(ret_stacks, parts->parts[i].info->sites);
    return done && ret_stacks->executable != NULL
               ? FP_OK
               : conv_fail_memory(error, parts->parts[0].path, "its call stacks");
}

enum fp_status conv_footprint_open(const char *path, enum conv_extent extent,
                                   const struct conv_process *listed, const struct conv_options *options,
                                   struct conv_survey *survey, struct conv_error *ret_error,
                                   struct conv_input *ret_input)
{
    struct footprint *footprint = calloc(1, sizeof *footprint);
    const struct conv_parts *parts;
    const char *program;
    enum fp_status status;
    if (footprint == NULL)
        return conv_fail_memory(ret_error, path, "reading");
    footprint->extent = extent;
    status = conv_image_open(&footprint->image, path, extent, options, ret_error);
    if (status != FP_OK) {
        close_footprint(footprint);
        return status;
    }
    take_list(footprint, listed);
    parts = &footprint->image.parts;
    program = conv_parts_meta(parts, "program");
    survey->kind = CONV_KIND_FOOTPRINT;
    snprintf(survey->program, sizeof survey->program, "%s", program != NULL ? program : "");
    conv_survey_label(survey, conv_parts_meta(parts, FP_LABEL_META));
    survey->sample_bytes = fp_sample_mean(conv_parts_meta(parts, FP_SAMPLE_META));
    survey->process_id = parts->parts[0].info->process_id;
    survey->start_unix_ns = parts->parts[0].info->start_unix_ns + parts->begin_ns;
    survey->file_bytes = parts->file_bytes;
    take_usage(parts, survey);
    *ret_input = (struct conv_input){
        .data = footprint,
        .namer = {.data = &footprint->image, .name = conv_image_name_lane},
        .source = "footprint",
        .progress_total = parts->mark_count,
        .end_ns = parts->has_trailer && parts->end_time_ns > parts->begin_ns
                      ? parts->end_time_ns - parts->begin_ns
                      : 0,
        .run = run,
        .home_lane = footprint->image.main_lane,
        .conclude = conclude,
        .stacks = has_stacks(parts) ? take_stacks : NULL,
        .close = close_footprint,
    };
    return FP_OK;
}

void conv_footprint_refuse_empty(const struct conv_input *input)
{
    ((struct footprint *)input->data)->refuse_empty = true;
}

const struct conv_image *conv_footprint_image(const struct conv_input *input)
{
    return &((const struct footprint *)input->data)->image;
}
