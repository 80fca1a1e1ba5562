/* names.c - words for kinds, irregularities and errors. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/import/import.h"

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
    [CONV_FOREIGN_CALLS] = {"foreign_calls", REGULAR},
    [CONV_FOREIGN_RESIZES] = {"foreign_resizes", REGULAR},
    [CONV_RELEASED_BY_OTHERS] = {"released_by_others", REGULAR},
    [CONV_DAMAGED_BLOCKS] = {"damaged_blocks", LOSS},
    [CONV_BAD_LINES] = {"bad_lines", LOSS},
    [CONV_LONG_LINES] = {"long_lines", LOSS},
    [CONV_BAD_RECORDS] = {"bad_records", LOSS},
    [CONV_LOST_TAILS] = {"lost_tails", LOSS},
    [CONV_TORN_REALLOCS] = {"torn_reallocs", DEFECT},
    [CONV_UNMET_WAITS] = {"unmet_waits", DEFECT},
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

const char *conv_kind_name(enum conv_kind kind)
{
    const struct conv_format *format = conv_format_of_kind(kind);
    if (format != NULL)
        return format->name;
    switch (kind) {
    case CONV_KIND_FOOTPRINT:
        return "footprint";
    case CONV_KIND_WORKLOAD:
        return "workload";
    case CONV_KIND_RECORDING:
        return "recording";
    case CONV_KIND_RESULT:
        return "result";
    case CONV_KIND_TEXT:
        return "text";
    default:
        return "unknown";
    }
}

const char *conv_recording_state_name(enum conv_recording_state state)
{
    switch (state) {
    case CONV_RECORDING_FINISHED:
        return "finished";
    case CONV_RECORDING_GOING_ON:
        return "recording";
    case CONV_RECORDING_ENDED_EARLY:
        return "ended_early";
    case CONV_RECORDING_COPIED:
        return "copied";
    case CONV_RECORDING_OUT_OF_SIGHT:
        return "out_of_sight";
    case CONV_RECORDING_UNKNOWN:
        return "unknown";
    case CONV_RECORDING_NONE:
        break;
    }
    return NULL;
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
    }
    free(survey->processes);
    free(survey->thread_list);
    free(survey->window_list);
    survey->window_list = NULL;
    survey->window_list_count = 0;
    survey->processes = NULL;
    survey->thread_list = NULL;
    survey->process_count = survey->thread_count = 0;
}

bool conv_survey_knows_losses(const struct conv_survey *survey)
{
    return !survey->uncounted &&
           (survey->unfinished_why[0] == '\0' || survey->recording_state == CONV_RECORDING_GOING_ON);
}

void conv_report_release(struct conv_report *report)
{
    conv_survey_release(&report->survey);
}

/* ---- errors -------------------------------------------------------------------------------- */

enum fp_status conv_fail(struct conv_error *error, const char *path, enum fp_status status, int sys_errno,
                         uint64_t offset, const char *format, ...)
{
    va_list list;
    memset(error, 0, sizeof *error);
    snprintf(error->path, sizeof error->path, "%s", path);
    va_start(list, format);
    vsnprintf(error->what, sizeof error->what, format, list);
    va_end(list);
    error->cause = fp_error_make(status, sys_errno, offset, error->what);
    return status;
}

enum fp_status conv_fail_with(struct conv_error *error, const char *path, const struct fp_error *cause)
{
    if (cause->status == FP_ERR_VERSION)
        return conv_fail(error, path, cause->status, 0, cause->offset,
                         "is of format version %u, this mallab reads up to %u", cause->version_found,
                         cause->version_known);
    (void)conv_fail(error, path, cause->status, cause->sys_errno, cause->offset, "%s",
                    cause->what != NULL ? cause->what : fp_status_name(cause->status));
    error->cause.distrust = cause->distrust;
    memcpy(error->cause.owner, cause->owner, sizeof cause->owner);
    return cause->status;
}

enum fp_status conv_no_remedy(struct conv_error *error)
{
    error->cause.no_remedy = true;
    return error->cause.status;
}

char *conv_error_text(const struct conv_error *error, char *ret_text, size_t size)
{
    char what[sizeof error->what + 64];
    struct fp_error cause = error->cause;
    if (error->line != 0) {
        snprintf(what, sizeof what, "line %llu: %s", (unsigned long long)error->line, error->what);
        cause.what = what;
    } else {
        cause.what = error->what;
    }
    (void)fp_error_text(&cause, error->path[0] != '\0' ? error->path : NULL, ret_text, size);
    if (error->salvageable && strlen(ret_text) < size)
        snprintf(ret_text + strlen(ret_text), size - strlen(ret_text),
                 ", else 'mallab convert --salvage' leaves out what is damaged");
    return ret_text;
}

int conv_error_exit_code(const struct conv_error *error)
{
    if (error->output)
        return 1;
    switch (error->cause.status) {
    case FP_ERR_OPEN:
    case FP_ERR_READ:
    case FP_ERR_FOREIGN:
    case FP_ERR_VERSION:
    case FP_ERR_TRUNCATED:
    case FP_ERR_CORRUPT:
    case FP_ERR_CHECKSUM:
    case FP_ERR_LIMIT:
    case FP_ERR_UNTRUSTED:
        return 3;
    case FP_ERR_ARGUMENT:
        return 2;
    default:
        return 1;
    }
}
