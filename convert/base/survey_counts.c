/* survey_counts.c - surveys added up, their names, their end; what processes used. */
#include "convert/base/survey_counts.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"

struct irregularity_words {
    const char *name;
    enum { REGULAR, DEFECT, LOSS } means; /* a loss is a defect too */
};

static const struct irregularity_words IRREGULARITIES[CONV_IRREGULARITY_COUNT] = {
    [CONV_FREE_OF_UNKNOWN] = {"free_of_unknown", DEFECT},
    [CONV_RESIZE_OF_UNKNOWN] = {"resize_of_unknown", DEFECT},
    [CONV_LOST_FREE] = {"lost_free", DEFECT},
    [CONV_FAILED_CALLS] = {"failed_calls", REGULAR},
    [CONV_REALLOC_TO_ZERO] = {"realloc_to_zero", REGULAR},
    [CONV_UNFINISHED_CALLS] = {"unfinished_calls", REGULAR},
    [CONV_IMPOSSIBLE_CALLS] = {"impossible_calls", DEFECT},
    [CONV_ORDER_REPAIRED] = {"order_repaired", DEFECT},
    [CONV_OVERSIZED_GROUPS] = {"oversized_groups", DEFECT},
    [CONV_GAPS] = {"gaps", DEFECT},
    [CONV_MISSING_BLOCKS] = {"missing_blocks", DEFECT},
    [CONV_SALVAGED_BLOCKS] = {"salvaged_blocks", DEFECT},
    [CONV_CUT_LINES] = {"cut_lines", DEFECT},
    [CONV_INHERITED_FREES] = {"inherited_frees", REGULAR},
    [CONV_PAUSES] = {"pauses", REGULAR},
    [CONV_UNRECORDED_OBJECTS] = {"unrecorded_objects", REGULAR},
    [CONV_UNRECORDED_FREES] = {"unrecorded_frees", REGULAR},
    [CONV_SIZE_DIFFERS] = {"size_differs", DEFECT},
    [CONV_DAMAGED_BLOCKS] = {"damaged_blocks", LOSS},
    [CONV_BAD_LINES] = {"bad_lines", LOSS},
    [CONV_LONG_LINES] = {"long_lines", LOSS},
    [CONV_LOST_TAILS] = {"lost_tails", LOSS},
    [CONV_TORN_REALLOCS] = {"torn_reallocs", DEFECT},
};

const char *conv_irregularity_name(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT ? IRREGULARITIES[irregularity].name : NULL;
}

bool conv_irregularity_is_defect(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT && IRREGULARITIES[irregularity].means != REGULAR;
}

bool conv_irregularity_is_loss(unsigned irregularity)
{
    return irregularity < CONV_IRREGULARITY_COUNT && IRREGULARITIES[irregularity].means == LOSS;
}

const char *conv_recording_state_name(enum conv_recording_state state)
{
    static const char *const NAMES[] = {
        [CONV_RECORDING_FINISHED] = "finished",         [CONV_RECORDING_GOING_ON] = "recording",
        [CONV_RECORDING_ENDED_EARLY] = "ended_early",   [CONV_RECORDING_COPIED] = "copied",
        [CONV_RECORDING_OUT_OF_SIGHT] = "out_of_sight", [CONV_RECORDING_UNKNOWN] = "unknown"};
    return (unsigned)state < sizeof NAMES / sizeof NAMES[0] ? NAMES[state] : NULL;
}

uint64_t conv_survey_class_min(unsigned size_class)
{
    return size_class == 0 ? 0 : UINT64_C(1) << (size_class - 1);
}

void conv_survey_release(struct conv_survey *survey)
{
    for (size_t i = 0; i < survey->process_count; i++) {
        free(survey->processes[i].file);
        free(survey->processes[i].name);
        free(survey->processes[i].ended);
        conv_usage_free(survey->processes[i].usage);
    }
    free(survey->processes);
    free(survey->thread_list);
    conv_usage_free(survey->usage);
    survey->usage = NULL;
    free(survey->window_list);
    survey->window_list = NULL;
    survey->window_list_count = 0;
    survey->processes = NULL;
    survey->thread_list = NULL;
    survey->process_count = survey->thread_count = 0;
}

void conv_report_release(struct conv_report *report)
{
    conv_survey_release(&report->survey);
}

bool conv_survey_knows_losses(const struct conv_survey *survey)
{
    return !survey->uncounted &&
           (survey->unfinished_why[0] == '\0' || survey->recording_state == CONV_RECORDING_GOING_ON);
}

const char *conv_liveness_name(enum conv_liveness live)
{
    static const char *const NAMES[] = {
        [CONV_LIVE_KNOWN] = "known", [CONV_LIVE_FROM_MIDDLE] = "from_middle", [CONV_LIVE_PAUSED] = "paused"};
    return (unsigned)live < sizeof NAMES / sizeof NAMES[0] ? NAMES[live] : NULL;
}

void conv_survey_label(struct conv_survey *survey, const char *label)
{
    if (fp_label_is_valid(label))
        memmove(survey->label, label, strlen(label) + 1);
}

void conv_incomplete(struct conv_survey *survey, const char *format, ...)
{
    va_list list;
    survey->complete = false;
    if (survey->incomplete_why[0] != '\0')
        return;
    va_start(list, format);
    vsnprintf(survey->incomplete_why, sizeof survey->incomplete_why, format, list);
    va_end(list);
}

void conv_stats_add(struct conv_survey *sum, const struct conv_survey *survey)
{
    sum->events += survey->events;
    sum->ops += survey->ops;
    for (size_t i = 0; i < CONV_CALLS; i++) {
        sum->events_by_call[i] += survey->events_by_call[i];
        sum->ops_by_call[i] += survey->ops_by_call[i];
    }
    conv_usage_add(&sum->usage, survey->usage);
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

/* ---- what processes used ----------------------------------------------------------------------------- */

void conv_usage_free(struct fp_usage *usage)
{
    if (usage != NULL)
        fp_usage_release(usage);
    free(usage);
}

void conv_usage_set(struct fp_usage **to, const struct fp_usage *from)
{
    struct fp_usage *copy = from != NULL ? malloc(sizeof *copy) : NULL;
    conv_usage_free(*to);
    *to = copy;
    if (copy == NULL)
        return;
    *copy = *from;
    copy->points = from->point_count > 0 ? calloc(from->point_count, sizeof *copy->points) : NULL;
    if (copy->points != NULL)
        memcpy(copy->points, from->points, from->point_count * sizeof *copy->points);
    else
        copy->point_count = 0;
}

/* Adds one more process's number to a sum, where both are known. */
static uint64_t together(const struct fp_usage_number *number, uint64_t sum, uint64_t value)
{
    switch (number->together) {
    case FP_SUM:
        return value <= INT64_MAX - sum ? sum + value : INT64_MAX;
    case FP_LEAST:
        return value < sum ? value : sum;
    case FP_MOST:
        return value > sum ? value : sum;
    case FP_OF_MACHINE:
    case FP_OF_ONE:
        break;
    }
    return sum;
}

static void add_to(struct fp_usage *sum, const struct fp_usage *usage)
{
    struct fp_usage one = *usage;
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++) {
        const struct fp_usage_number *number = &FP_USAGE_NUMBERS[i];
        uint64_t *to = fp_usage_at(sum, number), value = *fp_usage_at(&one, number);
        if (number->together == FP_OF_MACHINE && value != *to)
            *to = FP_USAGE_UNKNOWN; /* it is told where it is the same for all */
        else if (number->together != FP_OF_ONE && value != FP_USAGE_UNKNOWN)
            *to = *to != FP_USAGE_UNKNOWN ? together(number, *to, value) : value;
    }
    if (sum->runs_on != usage->runs_on || strcmp(sum->allocator, usage->allocator) != 0 ||
        strcmp(sum->version, usage->version) != 0) {
        sum->runs_on = FP_RUNS_ON_UNKNOWN;
        sum->allocator[0] = sum->version[0] = sum->library[0] = '\0';
    }
    if (sum->ended != usage->ended || sum->code != usage->code) {
        sum->ended = FP_ENDED_UNKNOWN;
        sum->code = FP_USAGE_UNKNOWN;
    }
}

void conv_usage_add(struct fp_usage **sum, const struct fp_usage *usage)
{
    if (usage == NULL)
        return;
    if (*sum != NULL)
        add_to(*sum, usage);
    else
        conv_usage_set(sum, usage);
    if (*sum != NULL)
        fp_usage_release(*sum);
}

bool conv_machine_words(const struct fp_machine *machine, char *ret_words, size_t size)
{
    ret_words[0] = '\0';
    if (machine->processors == FP_USAGE_UNKNOWN)
        return false;
    fp_text_more(ret_words, size, "", "%s CPUs", FP_GROUPED(machine->processors));
    if (machine->affinity != FP_USAGE_UNKNOWN && machine->affinity != machine->processors)
        fp_text_more(ret_words, size, ", ", "%s usable", FP_GROUPED(machine->affinity));
    if (machine->affinity_end != machine->affinity)
        fp_text_more(ret_words, size, ", ", "%s at the end", FP_GROUPED(machine->affinity_end));
    if (machine->quota_milli != FP_USAGE_UNKNOWN)
        fp_text_more(ret_words, size, ", ", "a quota of %.3g", (double)machine->quota_milli / 1000);
    if (machine->memory_bytes != FP_USAGE_UNKNOWN)
        fp_text_more(ret_words, size, ", ", "%s", FP_BYTES((double)machine->memory_bytes));
    if (fp_huge_pages_name(machine->huge_pages) != NULL)
        fp_text_more(ret_words, size, ", ", "huge pages %s", fp_huge_pages_name(machine->huge_pages));
    if (machine->kernel[0] != '\0')
        fp_text_more(ret_words, size, ", ", "Linux %s", machine->kernel);
    return true;
}
