/* process_image_end.c - what is known of a process image once all of it was read: losses, how it ended, what nobody saw. */
#include <string.h>

#include "convert/base/stats.h"
#include "convert/order/process_image.h"
#include "footprint/base/words.h"

/* What the trailers tell, or the recording's list where that knows of more: the disk took no trailer for a loss, or no
 * footprint at all of the windows in which it fell. */
static void conclude_losses(struct image *image, uint64_t gap_calls, struct conv_survey *survey)
{
    const double kept_s = (double)survey->duration_ns /
                          1e9; /* of events: the end is put in its place below */
    char digits[FP_TEXT_BYTES];
    uint64_t lost;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        survey->lost[i] = conv_add_saturating(survey->lost[i], image->parts.lost[i]);
    if (!image->parts.has_trailer) /* the cause stood in the trailer */
        survey->lost[FP_LOSS_COLLECTOR] = conv_add_saturating(survey->lost[FP_LOSS_COLLECTOR], gap_calls);
    if (fp_loss_sum(image->listed) > fp_loss_sum(survey->lost)) {
        memcpy(survey->lost, image->listed, sizeof survey->lost);
        if (image->until_ns > image->parts.end_time_ns)
            image->parts.end_time_ns = image->until_ns;
    }
    lost = fp_loss_sum(survey->lost);
    if (image->missing_blocks > 0 && lost == 0) /* not for want of disk: somebody took them out */
        survey->uncounted = true;
    if (lost > 0)
        conv_incomplete(survey, "%s calls were lost while recording; the last one kept is of %.3f s%s",
                        fp_text_grouped(lost, digits), kept_s,
                        image->uncounted ? "; more were lost when its collector had been killed" : "");
}

/* The process went on when recording ended. */
static void conclude_end(const struct image *image, struct conv_survey *survey)
{
    const uint64_t end_ns = image->parts.end_time_ns, begin_ns = image->parts.begin_ns;
    const double end_s = end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0;
    survey->ran_on = image->ran_on;
    survey->uncounted |= image->uncounted;
    if (image->uncounted)
        conv_incomplete(
            survey,
            "its collector was killed after %.3f s and process %u ran on: how many calls are missing "
            "is not known",
            end_s, survey->process_id);
    else if (image->ran_on)
        conv_incomplete(survey, "recording ended after %.3f s%s%s and process %u ran on",
                        (double)end_ns / 1e9, survey->stop_words != NULL ? ", " : "",
                        survey->stop_words != NULL ? survey->stop_words : "", survey->process_id);
}

/* A forked process holds its parent's objects, a recording that begins late or was paused has objects that were made
 * meanwhile: none was seen allocated. What is released of them cannot be told from other unknown addresses, but needs
 * no other explanation. Likewise allocations at addresses that were released in a pause. */
static void conclude_unseen(const struct image *image, struct conv_survey *survey)
{
    uint64_t *irregular = survey->irregular;
    const bool paused = irregular[CONV_PAUSES] > 0;
    const enum conv_irregularity name = paused || !image->parts.from_begin ? CONV_UNRECORDED_OBJECTS
                                                                           : CONV_INHERITED_FREES;
    if (paused && irregular[CONV_GAPS] == 0) {
        irregular[CONV_UNRECORDED_FREES] += irregular[CONV_LOST_FREE];
        irregular[CONV_LOST_FREE] = 0;
    }
    if (conv_parts_meta(&image->parts, "fork_of") == NULL && name == CONV_INHERITED_FREES)
        return;
    irregular[name] += irregular[CONV_FREE_OF_UNKNOWN] + irregular[CONV_RESIZE_OF_UNKNOWN];
    irregular[CONV_FREE_OF_UNKNOWN] = 0;
    irregular[CONV_RESIZE_OF_UNKNOWN] = 0;
}

static void conclude_cut(const struct image *image, struct conv_survey *survey)
{
    const struct conv_part *cut = image->parts.cut;
    const struct fp_error *tail = cut != NULL ? &cut->info->tail_error : NULL;
    if (cut == NULL || cut->info->has_trailer)
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
    /* What is being written has lost nothing so far. */
    survey->uncounted |= survey->recording_state != CONV_RECORDING_GOING_ON;
}

/* The least that can be said of a file: something stands behind its end. */
static void conclude_tail(const struct image *image, struct conv_survey *survey)
{
    const struct conv_part *cut = image->parts.cut;
    const struct fp_error *tail = cut != NULL ? &cut->info->tail_error : NULL;
    if (cut != NULL && cut->info->has_trailer)
        conv_incomplete(survey, "%s at byte %llu", tail->what != NULL ? tail->what : "something odd",
                        (unsigned long long)tail->offset);
}

/* Of one window nothing is expected but itself. */
static void conclude_windows(const struct image *image, struct conv_survey *survey)
{
    const struct conv_parts *parts = &image->parts;
    if (image->extent == CONV_EXTENT_ONE)
        return;
    if (!parts->from_begin)
        conv_incomplete(survey, "it begins with window %u: earlier ones are not there",
                        parts->parts[0].window);
    for (size_t i = 1; i < parts->count; i++)
        if (parts->parts[i].number != parts->parts[i - 1].number + 1)
            conv_incomplete(survey, "windows between %u and %u are not there", parts->parts[i - 1].window,
                            parts->parts[i].window);
}

/* With all windows before it, or its parent, a footprint begins with what was live then; without, with nothing. */
static void conclude_live(const struct image *image, struct conv_survey *survey)
{
    const bool looked_back = image->extent == CONV_EXTENT_ONE && !image->options.no_inherited;
    survey->begin_ns = image->parts.begin_ns;
    survey->events_removed = image->events_removed;
    if (survey->inherited_why[0] != '\0' || (!image->parts.from_begin && !looked_back))
        survey->live = CONV_LIVE_FROM_MIDDLE;
    else if (survey->irregular[CONV_PAUSES] > 0)
        survey->live = CONV_LIVE_PAUSED;
}

void conv_image_conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    struct image *image = data;
    const struct conv_parts *parts = &image->parts;
    char digits[FP_TEXT_BYTES];
    survey->complete = true;
    conclude_cut(image, survey);
    conclude_losses(image, gap_calls, survey);
    conclude_end(image, survey);
    conclude_windows(image, survey);
    conclude_unseen(image, survey);
    if (image->missing_blocks > 0)
        conv_incomplete(survey, "%s blocks are missing", fp_text_grouped(image->missing_blocks, digits));
    if (survey->irregular[CONV_SALVAGED_BLOCKS] > 0)
        conv_incomplete(survey, "%s damaged block%s left out",
                        fp_text_grouped(survey->irregular[CONV_SALVAGED_BLOCKS], digits),
                        survey->irregular[CONV_SALVAGED_BLOCKS] == 1 ? " was" : "s were");
    if (survey->irregular[CONV_GAPS] > 0)
        conv_incomplete(survey, "threads report gaps");
    if (survey->irregular[CONV_PAUSES] > 0)
        conv_incomplete(survey, "recording was paused meanwhile, as asked");
    conclude_tail(image, survey);
    conclude_live(image, survey);
    if (parts->end_time_ns > parts->begin_ns && parts->end_time_ns - parts->begin_ns > survey->duration_ns)
        survey->duration_ns = parts->end_time_ns - parts->begin_ns;
}
