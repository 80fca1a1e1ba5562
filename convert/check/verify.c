/* verify.c - look at all of a file, and say what is wrong first. */
#include "convert/check/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/limits.h"
#include "convert/convert.h"
#include "convert/open/input.h"
#include "convert/text/workload_text.h"

static bool is_damage(enum fp_status status)
{
    return status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM || status == FP_ERR_TRUNCATED;
}

static void refuse(struct conv_verdict *verdict, uint64_t offset, const char *what)
{
    verdict->violation.fault = CONV_FAULT_REFUSED;
    verdict->violation.offset = offset;
    snprintf(verdict->violation.what, sizeof verdict->violation.what, "%s", what);
}

/* ---- workloads ------------------------------------------------------------------------------- */

/* The reader did not hand out a window: it knows the place at least, and often the op. */
static void refuse_window(const struct wl_reader *reader, const struct check *check,
                          struct conv_verdict *verdict)
{
    const struct fp_error *error = wl_reader_error(reader);
    uint32_t index;
    refuse(verdict, error->offset, error->what);
    verdict->violation.has_window = true;
    verdict->violation.window = check->windows;
    if (wl_reader_refused(reader, &index)) {
        verdict->violation.has_op = true;
        verdict->violation.op_in_window = index;
        verdict->violation.op = check->ops + index;
    }
}

static enum fp_status check_all(struct wl_reader *reader, struct check *check,
                                const struct conv_options *options, struct conv_verdict *verdict)
{
    struct wl_window window;
    enum fp_status status;
    bool legal = true;
    while ((status = wl_reader_next(reader, &window)) == FP_OK) {
        if (options->progress != NULL)
            options->progress(options->progress_data, window.facts.first_op, window.facts.first_op,
                              check->summary->ops);
        legal = check_window(check, &window, wl_reader_offset(reader));
        if (!legal)
            break;
    }
    if (legal && status == FP_END && !check_end(check) && check->violation.fault == CONV_FAULT_NONE)
        return FP_ERR_MEMORY;
    verdict->violation = check->violation;
    if (legal && is_damage(status))
        refuse_window(reader, check, verdict);
    else if (legal && status != FP_END)
        return status;
    verdict->windows = check->windows;
    verdict->ops = check->ops;
    verdict->allocations = check->allocations;
    verdict->waits = check->waits;
    return FP_OK;
}

/* Of a workload that is legal so far. Returns FP_OK or FP_ERR_MEMORY. */
static enum fp_status check_stacks(struct wl_reader *reader, struct conv_verdict *verdict)
{
    struct wl_stacks stacks;
    const enum fp_status status = wl_reader_stacks(reader, &stacks);
    if (is_damage(status)) {
        refuse(verdict, wl_reader_error(reader)->offset, wl_reader_error(reader)->what);
        return FP_OK;
    }
    if (status == FP_OK)
        wl_stacks_release(&stacks);
    return status;
}

static enum fp_status verify_workload(const char *path, const struct conv_options *options,
                                      struct conv_verdict *verdict, struct conv_error *error)
{
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    struct wl_reader *reader = NULL;
    struct check check;
    enum fp_status status = wl_reader_open(path, &cause, &reader);
    if (is_damage(status)) {
        refuse(verdict, cause.offset, cause.what);
        return FP_OK;
    }
    if (status != FP_OK)
        return conv_fail_with(error, path, &cause);
    verdict->threads = wl_reader_summary(reader)->thread_count;
    status = FP_ERR_MEMORY;
    if (check_init(&check, wl_reader_summary(reader)))
        status = check_all(reader, &check, options, verdict);
    if (status == FP_OK && verdict->violation.fault == CONV_FAULT_NONE)
        status = check_stacks(reader, verdict);
    if (status != FP_OK)
        status = conv_fail(error, path, status, 0, 0, "no memory for its objects and threads");
    check_release(&check);
    wl_reader_close(reader);
    return status;
}

/* ---- what was recorded ------------------------------------------------------------------------ */

static void judge_order(const struct conv_survey *survey, struct conv_verdict *verdict)
{
    const uint64_t repaired = survey->irregular[CONV_ORDER_REPAIRED];
    const uint64_t oversized = survey->irregular[CONV_OVERSIZED_GROUPS];
    verdict->events = survey->events;
    verdict->threads = survey->threads;
    verdict->processes = survey->kind == CONV_KIND_RECORDING ? survey->process_count : 1;
    verdict->groups = survey->groups;
    if (repaired == 0 && oversized == 0)
        return;
    verdict->violation.fault = CONV_FAULT_ORDER;
    snprintf(verdict->violation.what, sizeof verdict->violation.what,
             "no legal order was found: %" PRIu64 " events had to be moved, %" PRIu64 " epochs to be cut",
             repaired, oversized);
}

static enum fp_status verify_recorded(const char *path, const struct conv_options *options,
                                      struct conv_verdict *verdict, struct conv_error *error)
{
    struct conv_survey survey = {0};
    struct conv_options strict = *options;
    enum fp_status status;
    strict.salvage = false;
    status = conv_survey_file(path, &strict, &survey, error);
    if (is_damage(status)) {
        refuse(verdict, error->cause.offset, error->cause.what);
        verdict->violation.line = error->line;
        memcpy(verdict->file, error->path, sizeof verdict->file);
        return FP_OK;
    }
    if (status != FP_OK)
        return status;
    judge_order(&survey, verdict);
    conv_survey_release(&survey);
    return FP_OK;
}

/* A text is converted, and the workload looked at as any other. */
static enum fp_status verify_text(const char *path, const struct conv_options *options,
                                  struct conv_verdict *verdict, struct conv_error *error)
{
    struct conv_temporary temporary;
    enum fp_status status = conv_temporary_text(path, "-", options, &temporary, error);
    if (is_damage(status)) {
        refuse(verdict, error->cause.offset, error->cause.what);
        verdict->violation.line = error->line;
        return FP_OK;
    }
    if (status != FP_OK)
        return status;
    status = verify_workload(temporary.path, options, verdict, error);
    (void)close(temporary.descriptor); /* nothing is to be kept */
    return status;
}

enum fp_status conv_verify_file(const char *path, const struct conv_options *options,
                                struct conv_verdict *ret_verdict, struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    struct conv_verdict verdict = {0};
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    snprintf(verdict.file, sizeof verdict.file, "%s", path);
    status = conv_resolve(path, options, &verdict.kind, ret_error);
    if (status == FP_OK && verdict.kind == CONV_KIND_WORKLOAD)
        status = verify_workload(path, options, &verdict, ret_error);
    else if (status == FP_OK && verdict.kind == CONV_KIND_TEXT)
        status = verify_text(path, options, &verdict, ret_error);
    else if (status == FP_OK)
        status = verify_recorded(path, options, &verdict, ret_error);
    if (status == FP_OK)
        *ret_verdict = verdict;
    return conv_bound_told(status, path, ret_error);
}
