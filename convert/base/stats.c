/* stats.c - adding up surveys. */
#include "convert/base/stats.h"

void conv_stats_add(struct conv_survey *sum, const struct conv_survey *survey)
{
    sum->events += survey->events;
    sum->ops += survey->ops;
    for (size_t i = 0; i < CONV_CALLS; i++) {
        sum->events_by_call[i] += survey->events_by_call[i];
        sum->ops_by_call[i] += survey->ops_by_call[i];
    }
    sum->threads += survey->threads;
    sum->forks += survey->forks;
    sum->thread_exits += survey->thread_exits;
    if (survey->duration_ns > sum->duration_ns)
        sum->begin_ns = survey->begin_ns;
    if (survey->duration_ns > sum->duration_ns)
        sum->duration_ns = survey->duration_ns;
    if (sum->live == CONV_LIVE_KNOWN)
        sum->live = survey->live;
    sum->events_removed = conv_add_saturating(sum->events_removed, survey->events_removed);
    sum->requested_bytes = conv_add_saturating(sum->requested_bytes, survey->requested_bytes);
    sum->live_bytes_peak = conv_add_saturating(sum->live_bytes_peak, survey->live_bytes_peak);
    sum->live_objects_peak += survey->live_objects_peak;
    sum->live_bytes_end = conv_add_saturating(sum->live_bytes_end, survey->live_bytes_end);
    sum->live_objects_end += survey->live_objects_end;
    if (survey->largest_size > sum->largest_size)
        sum->largest_size = survey->largest_size;
    sum->large.noted += survey->large.noted;
    sum->large.noted_bytes = conv_add_saturating(sum->large.noted_bytes, survey->large.noted_bytes);
    sum->large.resident_bytes = conv_add_saturating(sum->large.resident_bytes, survey->large.resident_bytes);
    for (size_t i = 0; i < CONV_SIZE_CLASSES; i++) {
        sum->class_count[i] += survey->class_count[i];
        sum->class_bytes[i] = conv_add_saturating(sum->class_bytes[i], survey->class_bytes[i]);
    }
    for (size_t i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        sum->irregular[i] += survey->irregular[i];
    fp_loss_add(sum->lost, survey->lost);
    sum->lost_marks += survey->lost_marks;
    sum->uncounted |= survey->uncounted;
    sum->file_bytes += survey->file_bytes;
    sum->groups += survey->groups;
    sum->groups_searched += survey->groups_searched;
}
