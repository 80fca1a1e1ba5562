/* verify.c - look at all of a file, and say what is wrong first. */
#include "convert/check/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "convert/convert.h"
#include "convert/open/input.h"
#include "convert/ops/rewrite.h"
#include "convert/text/text_input.h"

static const char *const FAULTS[CONV_FAULT_COUNT] = {
    [CONV_FAULT_NONE] = "none",     [CONV_FAULT_REFUSED] = "refused", [CONV_FAULT_FACTS] = "facts",
    [CONV_FAULT_THREAD] = "thread", [CONV_FAULT_SUMMARY] = "summary", [CONV_FAULT_ORDER] = "order",
};

const char *conv_fault_name(enum conv_fault fault)
{
    return (unsigned)fault < CONV_FAULT_COUNT ? FAULTS[fault] : FAULTS[CONV_FAULT_NONE];
}

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
static void refuse_window(const struct wl_reader *reader, struct conv_verdict *verdict)
{
    const struct fp_error *error = wl_reader_error(reader);
    const uint32_t refused = wl_reader_info(reader)->refused;
    refuse(verdict, error->offset, error->what);
    verdict->violation.has_window = true;
    verdict->violation.window = verdict->windows;
    if (refused > 0) {
        verdict->violation.has_op = true;
        verdict->violation.op_in_window = refused - 1;
        verdict->violation.op = verdict->ops + refused - 1;
    }
}

/* Figures that the reader does not hold against the ops, counted anew. */
struct recount {
    const struct wl_summary *stated;
    uint64_t *bytes; /* by object */
    struct wl_thread *threads;
    struct wl_summary counted;
    uint64_t live_bytes, live_objects, window_peak;
};

static bool found(struct conv_verdict *verdict, enum conv_fault fault, const char *figure, uint64_t counted,
                  uint64_t stated)
{
    verdict->violation.fault = fault;
    snprintf(verdict->violation.what, sizeof verdict->violation.what, "%s: %" PRIu64 ", not %" PRIu64, figure,
             counted, stated);
    return false;
}

static void count_op(struct recount *recount, const struct wl_op *op)
{
    struct wl_summary *counted = &recount->counted;
    const bool releases = fp_call_kind_of(op->call) == FP_KIND_RELEASE;
    const uint64_t bytes = releases ? 0 : conv_op_bytes(op);
    if (conv_op_allocates(op))
        recount->live_objects++;
    else if (releases)
        recount->live_objects -= op->id != 0;
    recount->live_bytes += bytes - recount->bytes[op->id];
    recount->bytes[op->id] = op->id != 0 ? bytes : 0;
    counted->requested_bytes = conv_add_saturating(counted->requested_bytes, bytes);
    counted->largest_size = bytes > counted->largest_size ? bytes : counted->largest_size;
    counted->id_max = op->id > counted->id_max ? op->id : counted->id_max;
    recount->window_peak = recount->live_bytes > recount->window_peak ? recount->live_bytes
                                                                      : recount->window_peak;
    if (recount->live_objects > counted->live_objects_peak)
        counted->live_objects_peak = recount->live_objects;
    counted->ops_by_call[op->call]++;
}

static bool count_window(struct recount *recount, const struct wl_window *window,
                         struct conv_verdict *verdict)
{
    recount->window_peak = recount->live_bytes;
    for (uint32_t i = 0; i < window->op_count; i++) {
        verdict->allocations += conv_op_allocates(&window->ops[i]);
        count_op(recount, &window->ops[i]);
    }
    for (uint32_t i = 0; i < window->run_count; i++) {
        struct wl_thread *thread = &recount->threads[window->runs[i].thread];
        if (thread->ops == 0)
            thread->first_window = verdict->windows;
        thread->last_window = verdict->windows;
        thread->ops += window->runs[i].op_count;
    }
    if (recount->window_peak > recount->counted.live_bytes_peak)
        recount->counted.live_bytes_peak = recount->window_peak;
    if (window->facts.live_bytes != recount->live_bytes)
        return found(verdict, CONV_FAULT_FACTS, "live bytes at its end", recount->live_bytes,
                     window->facts.live_bytes);
    if (window->facts.live_bytes_peak != recount->window_peak)
        return found(verdict, CONV_FAULT_FACTS, "most live bytes within it", recount->window_peak,
                     window->facts.live_bytes_peak);
    verdict->windows++;
    verdict->ops += window->op_count;
    verdict->waits += window->wait_count;
    return true;
}

static bool is_as_stated(const struct recount *recount, struct conv_verdict *verdict)
{
    const struct wl_summary *counted = &recount->counted, *stated = recount->stated;
    const struct {
        const char *name;
        uint64_t counted, stated;
    } numbers[] = {
        {"bytes requested", counted->requested_bytes, stated->requested_bytes},
        {"live bytes at the peak", counted->live_bytes_peak, stated->live_bytes_peak},
        {"live objects at the peak", counted->live_objects_peak, stated->live_objects_peak},
        {"bytes of the largest request", counted->largest_size, stated->largest_size},
        {"highest object", counted->id_max, stated->id_max},
        {"threads at once", recount->counted.threads_at_once_max, stated->threads_at_once_max},
    };
    for (uint32_t i = 0; i < stated->thread_count; i++) {
        const struct wl_thread *own = &recount->threads[i], *told = &stated->threads[i];
        if (own->first_window != told->first_window)
            return found(verdict, CONV_FAULT_THREAD, "a thread's first window", own->first_window,
                         told->first_window);
        if (own->last_window != told->last_window)
            return found(verdict, CONV_FAULT_THREAD, "a thread's last window", own->last_window,
                         told->last_window);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].counted != numbers[i].stated)
            return found(verdict, CONV_FAULT_SUMMARY, numbers[i].name, numbers[i].counted, numbers[i].stated);
    for (unsigned call = 0; call < FP_CALL_COUNT; call++)
        if (counted->ops_by_call[call] != stated->ops_by_call[call])
            return found(verdict, CONV_FAULT_SUMMARY, fp_call_name(call), counted->ops_by_call[call],
                         stated->ops_by_call[call]);
    return true;
}

static enum fp_status compare(struct recount *recount, struct conv_verdict *verdict)
{
    for (uint32_t i = 0; i < recount->stated->thread_count; i++)
        recount->threads[i].exited = recount->stated->threads[i].exited;
    if (!wl_threads_at_once(recount->threads, recount->stated->thread_count, sizeof *recount->threads,
                            verdict->windows, &recount->counted.threads_at_once_max))
        return FP_ERR_MEMORY;
    (void)is_as_stated(recount, verdict); /* the verdict has it */
    return FP_OK;
}

static enum fp_status check_windows(struct wl_reader *reader, struct recount *recount,
                                    const struct conv_options *options, struct conv_verdict *verdict)
{
    struct wl_window window;
    enum fp_status status;
    while ((status = wl_reader_next(reader, &window)) == FP_OK) {
        if (options->progress != NULL)
            options->progress(options->progress_data, window.facts.first_op, window.facts.first_op,
                              recount->stated->ops);
        if (!count_window(recount, &window, verdict)) {
            verdict->violation.has_window = true;
            verdict->violation.window = verdict->windows;
            verdict->violation.offset = wl_reader_info(reader)->window_at;
            return FP_OK;
        }
    }
    if (is_damage(status))
        refuse_window(reader, verdict);
    if (status == FP_END)
        return compare(recount, verdict);
    return is_damage(status) ? FP_OK : status;
}

static enum fp_status check_all(struct wl_reader *reader, const struct conv_options *options,
                                struct conv_verdict *verdict)
{
    const struct wl_summary *summary = wl_reader_summary(reader);
    struct recount recount = {.stated = summary,
                              .bytes = calloc((size_t)summary->id_max + 1, sizeof *recount.bytes),
                              .threads = calloc((size_t)summary->thread_count + 1, sizeof *recount.threads)};
    const enum fp_status status = recount.bytes != NULL && recount.threads != NULL
                                      ? check_windows(reader, &recount, options, verdict)
                                      : FP_ERR_MEMORY;
    free(recount.bytes);
    free(recount.threads);
    return status;
}

/* Checks the stacks of a workload that is legal so far. Returns FP_OK or FP_ERR_MEMORY. */
static enum fp_status check_stacks(struct wl_reader *reader, struct conv_verdict *verdict)
{
    struct fp_stacks stacks;
    const enum fp_status status = wl_reader_stacks(reader, &stacks);
    if (is_damage(status)) {
        refuse(verdict, wl_reader_error(reader)->offset, wl_reader_error(reader)->what);
        return FP_OK;
    }
    if (status == FP_OK)
        fp_stacks_release(&stacks);
    return status;
}

static enum fp_status verify_workload(const char *path, const struct conv_options *options,
                                      struct conv_verdict *verdict, struct conv_error *error)
{
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    struct wl_reader *reader = NULL;
    enum fp_status status = wl_reader_open(path, &cause, &reader);
    if (is_damage(status)) {
        refuse(verdict, cause.offset, cause.what);
        return FP_OK;
    }
    if (status != FP_OK)
        return conv_fail_with(error, path, &cause);
    verdict->threads = wl_reader_summary(reader)->thread_count;
    const char *lacks = wl_reader_meta(reader, "incomplete_why");
    snprintf(verdict->incomplete_why, sizeof verdict->incomplete_why, "%s", lacks != NULL ? lacks : "");
    status = check_all(reader, options, verdict);
    if (status == FP_OK && verdict->violation.fault == CONV_FAULT_NONE)
        status = check_stacks(reader, verdict);
    if (status != FP_OK)
        status = conv_fail(error, path, status, 0, 0, "no memory for its objects and threads");
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
    memcpy(verdict->incomplete_why, survey->incomplete_why, sizeof verdict->incomplete_why);
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
