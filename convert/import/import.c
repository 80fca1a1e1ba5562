/* import.c - the common part of all formats of traces: calls become events, in batches. */
#include "convert/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/text/text_input.h"
#include "footprint/base/arrays.h"
#include "footprint/base/words.h"
#include "footprint/wl/workload.h"

/* ---- for formats --------------------------------------------------------------------------- */

void conv_import_lacks(struct conv_import *import, const char *word)
{
    fp_text_more(import->survey->lacks, sizeof import->survey->lacks, ", ", "%s", word);
}

void conv_import_cut(struct conv_import *import, const char *what)
{
    import->survey->irregular[CONV_CUT_LINES]++;
    conv_incomplete(import->survey, "its last %s is cut off", what);
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* The lane of a running thread, a new one where there is none: FP_ERR_LIMIT beyond WL_THREADS_MAX threads. */
static enum fp_status lane_of(struct conv_lanes *lanes, uint32_t thread_id, uint32_t *ret_lane)
{
    const uint64_t key = (uint64_t)thread_id + 1;
    const uint64_t *entry;
    if (key == lanes->recent_key) {
        *ret_lane = lanes->recent_lane;
        return FP_OK;
    }
    entry = conv_live_find(&lanes->table, key);
    if (entry != NULL) {
        lanes->recent_lane = conv_live_object(&lanes->table, entry).id;
    } else {
        if (lanes->count == WL_THREADS_MAX)
            return FP_ERR_LIMIT;
        if (!FP_GROW(lanes->thread_ids, lanes->capacity, (size_t)lanes->count + 1) ||
            !conv_live_insert(&lanes->table, key, (struct conv_object){.id = lanes->count}))
            return FP_ERR_MEMORY;
        lanes->thread_ids[lanes->count] = thread_id;
        lanes->recent_lane = lanes->count++;
    }
    lanes->recent_key = key;
    *ret_lane = lanes->recent_lane;
    return FP_OK;
}

static void end_lane(struct conv_lanes *lanes, uint32_t thread_id)
{
    conv_live_remove(&lanes->table, conv_live_find(&lanes->table, (uint64_t)thread_id + 1));
    lanes->recent_key = 0;
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct conv_lanes *lanes = data;
    *ret_thread_id = lanes->thread_ids[lane];
    *ret_is_main = lane == 0;
}

/* ---- events -------------------------------------------------------------------------------- */

/* Hand on the calls taken so far. */
static enum fp_status flush(struct conv_import *import)
{
    const size_t count = import->batch_count;
    import->batch_count = 0;
    return count > 0 ? import->sink->events(import->sink->data, import->batch, count) : FP_OK;
}

static enum fp_status lane_failed(struct conv_import *import, enum fp_status status, uint64_t offset)
{
    return conv_fail(import->error, import->path, status, 0, offset,
                     status == FP_ERR_LIMIT ? "more than %u threads" : "no memory for %u threads",
                     status == FP_ERR_LIMIT ? WL_THREADS_MAX : import->lanes.count + 1);
}

enum fp_status conv_import_take(struct conv_import *import, const struct conv_parsed *parsed, uint64_t offset)
{
    struct conv_event *event;
    uint32_t lane;
    enum fp_status status;
    if (parsed->has_time && parsed->time_ns > import->time_ns)
        import->time_ns = parsed->time_ns;
    import->survey->irregular[CONV_TORN_REALLOCS] += parsed->torn;
    if (parsed->torn_address != 0) {
        const struct conv_parsed half = {
            .call = FP_CALL_FREE, .thread_id = parsed->thread_id, .address = parsed->torn_address};
        if ((status = conv_import_take(import, &half, offset)) != FP_OK)
            return status;
    }
    if (parsed->call == FP_CALL_NONE)
        return FP_OK;
    import->taken++;
    status = lane_of(&import->lanes, parsed->thread_id, &lane);
    if (status != FP_OK)
        return lane_failed(import, status, offset);
    if (import->batch_count + 2 > CONV_IMPORT_BATCH && (status = flush(import)) != FP_OK)
        return status;
    if (parsed->old_address != 0) {
        event = &import->batch[import->batch_count++];
        *event = (struct conv_event){.time_ns = import->time_ns,
                                     .address = parsed->old_address,
                                     .lane = lane,
                                     .call = FP_MARK_RESIZE_FROM};
    }
    event = &import->batch[import->batch_count++];
    *event = (struct conv_event){.time_ns = import->time_ns,
                                 .address = parsed->address,
                                 .old_address = parsed->old_address,
                                 .size = parsed->size,
                                 .extra = parsed->extra,
                                 .lane = lane,
                                 .call = parsed->call};
    if (parsed->call == FP_MARK_THREAD_EXIT)
        end_lane(&import->lanes, parsed->thread_id);
    return FP_OK;
}

/* ---- salvage ---------------------------------------------------------------------------------- */

#define CONV_SALVAGE_BYTES                                                                                   \
    (UINT64_C(1) << 20) /* without a meaning from the beginning on: this is something else */

/* A file of which nothing was understood is not a damaged trace of this format: it is no such trace. */
static enum fp_status give_up(struct conv_import *import)
{
    const enum fp_status status = conv_fail(
        import->error, import->path, FP_ERR_CORRUPT, 0, import->wrong_offset,
        "no call of a trace of format '%s' in it: %s", import->format->name, import->wrong);
    import->error->line = import->wrong_line;
    return status;
}

/* Tells whether so little up to offset has a meaning that it is no use to read on. */
static bool is_hopeless(const struct conv_import *import, uint64_t offset)
{
    return import->taken == 0 && import->survey->lost_marks > import->understood &&
           offset >= CONV_SALVAGE_BYTES;
}

/* Leaves out a part that cannot be understood, with options.salvage, and counts it. The first one's defect is kept for the
 * message. line: its number, 0 of a binary trace. */
static enum fp_status skip(struct conv_import *import, enum conv_irregularity why, uint64_t offset,
                           uint64_t line, const char *wrong)
{
    import->survey->irregular[why]++;
    import->survey->lost_marks++;
    if (import->wrong[0] == '\0') {
        snprintf(import->wrong, sizeof import->wrong, "%s", wrong);
        import->wrong_offset = offset;
        import->wrong_line = line;
    }
    return is_hopeless(import, offset) ? give_up(import) : FP_OK;
}

/* Notes that a rest of unknown length, from offset on, cannot be read. */
static void lose_tail(struct conv_import *import, uint64_t offset, const char *what)
{
    import->survey->irregular[CONV_LOST_TAILS]++;
    import->survey->uncounted = true;
    if (import->wrong[0] == '\0') {
        snprintf(import->wrong, sizeof import->wrong, "%s", what);
        import->wrong_offset = offset;
    }
    conv_incomplete(import->survey, "%s at byte %llu", what, (unsigned long long)offset);
}

/* After the last call: tell what was left out. Returns FP_OK; FP_ERR_CORRUPT, with the error
 * filled, when there was nothing else. */
static enum fp_status tell_salvaged(struct conv_import *import)
{
    const uint64_t *irregular = import->survey->irregular;
    const uint64_t lines = irregular[CONV_BAD_LINES] + irregular[CONV_LONG_LINES];
    char digits[FP_TEXT_BYTES];
    uint64_t offset;
    const char *damage = conv_text_damage(import->text, &offset);
    if (damage != NULL) {
        import->survey->incomplete_why[0] = '\0'; /* that its last line is cut follows from this */
        lose_tail(import, offset, damage);
    }
    if (import->wrong[0] == '\0')
        return FP_OK;
    if (import->taken == 0)
        return give_up(import);
    if (lines > 0)
        conv_incomplete(import->survey, "%s of its lines %s no meaning and %s left out",
                        fp_text_grouped(lines, digits), lines == 1 ? "has" : "have",
                        lines == 1 ? "is" : "are");
    return FP_OK;
}

/* ---- the pass ------------------------------------------------------------------------------ */

static enum fp_status line_failed(struct conv_import *import, const struct conv_line *line,
                                  const struct conv_parsed *parsed, const char *wrong)
{
    const enum fp_status status = parsed->refusal != FP_OK ? parsed->refusal : FP_ERR_CORRUPT;
    conv_fail(import->error, import->path, status, 0, line->offset, "%s", wrong);
    import->error->line = parsed->refusal != FP_OK ? 0 : line->number;
    return status;
}

static enum fp_status take_line(struct conv_import *import, const struct conv_line *line)
{
    struct conv_parsed parsed = {0};
    const char *wrong = import->format->parse(import->state, &import->options, line->at, line->length,
                                              &parsed);
    if (wrong == NULL) {
        import->understood++;
        return conv_import_take(import, &parsed, line->offset);
    }
    if (parsed.refusal != FP_OK || (line->has_end && !import->options.salvage))
        return line_failed(import, line, &parsed, wrong);
    if (line->has_end)
        return skip(import, CONV_BAD_LINES, line->offset, line->number, wrong);
    /* The recorder was stopped while it wrote. A cut number could still look whole, but then the line parses, and its
     * call did happen. */
    conv_import_cut(import, "line");
    return FP_OK;
}

static enum fp_status run_lines(struct conv_import *import)
{
    enum fp_status status = FP_OK;
    while (status == FP_OK) {
        struct conv_line line;
        status = conv_text_line(import->text, import->error, &line);
        if (status == FP_OK && line.goes_on)
            status = is_hopeless(import, line.offset) ? give_up(import) : FP_OK;
        else if (status == FP_OK && line.is_long)
            status = skip(import, CONV_LONG_LINES, line.offset, line.number, "longer than 32 KiB");
        else if (status == FP_OK && line.length > 0)
            status = take_line(import, &line);
    }
    return status == FP_END ? FP_OK : status;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct conv_import *import = data;
    enum fp_status status;
    import->sink = sink;
    import->survey = survey;
    import->error = error;
    status = import->format->run != NULL ? import->format->run(import) : run_lines(import);
    if (status == FP_OK)
        status = flush(import);
    if (status == FP_OK && import->format->finish != NULL)
        status = import->format->finish(import);
    if (status == FP_OK && import->options.salvage)
        status = tell_salvaged(import);
    error->salvageable = (status == FP_ERR_CORRUPT || status == FP_ERR_TRUNCATED) && import->understood > 0 &&
                         !import->options.salvage && import->format->run == NULL;
    return status;
}

static uint64_t position(void *data)
{
    const struct conv_import *import = data;
    return import->bytes_read != 0 ? import->bytes_read : conv_text_position(import->text);
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    struct conv_import *import = data;
    (void)gap_calls; /* no format counts calls that it left out */
    survey->duration_ns = import->time_ns;
    survey->file_bytes = position(import);
    survey->complete = survey->incomplete_why[0] == '\0';
    if (survey->irregular[CONV_PAUSES] > 0)
        conv_incomplete(survey, "recording was paused meanwhile");
}

static void close_import(void *data)
{
    struct conv_import *import = data;
    if (import->state != NULL && import->format->release != NULL)
        import->format->release(import->state);
    free(import->state);
    conv_text_close(import->text);
    conv_live_release(&import->lanes.table);
    free(import->lanes.thread_ids);
    free(import);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Our own files are not read through here: they are mapped, or read in place. */
static enum fp_status refuse_own(const struct conv_import *import, struct conv_head head,
                                 struct conv_error *error)
{
    if (head.size < 8 || memcmp(head.bytes, "MALLAB", 6) != 0)
        return FP_OK;
    return CONV_FOREIGN(error, import->path, "is a compressed or piped %s: give the plain file",
                        head.bytes[6] == 'W' ? "workload" : "footprint");
}

static enum fp_status find_format(struct conv_import *import, struct conv_head head, struct conv_error *error)
{
    const struct conv_format *format;
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        if (!conv_format_fits(format, head))
            continue;
        if (import->format != NULL)
            return conv_fail(error, import->path, FP_ERR_READ, 0, 0,
                             "may be '%s' or '%s': say which with --from", import->format->name,
                             format->name);
        import->format = format;
    }
    if (import->format != NULL)
        return FP_OK;
    return conv_fail(error, import->path, FP_ERR_FOREIGN, 0, 0,
                     "is no footprint, no recording and no trace of a known format");
}

static enum fp_status open_trace(struct conv_import *import, enum conv_kind kind, struct conv_error *error)
{
    struct conv_head head;
    enum fp_status status = conv_text_open(import->path, error, &import->text);
    if (status == FP_OK)
        conv_text_salvage(import->text, import->options.salvage);
    if (status == FP_OK)
        status = conv_text_peek(import->text, error, &head.bytes, &head.size, &head.whole);
    if (status == FP_OK)
        status = refuse_own(import, head, error);
    if (status != FP_OK)
        return status;
    import->format = conv_format_of_kind(kind);
    if (import->format == NULL && (status = find_format(import, head, error)) != FP_OK)
        return status;
    if (import->options.process_id != 0)
        return conv_fail(error, import->path, FP_ERR_ARGUMENT, 0, 0,
                         "is of format '%s', which does not tell processes apart: leave out --process",
                         import->format->name);
    import->state = calloc(1, import->format->state_bytes + 1);
    if (import->state == NULL)
        return conv_fail_memory(error, import->path, "reading");
    if (import->format->run != NULL) { /* of no part of it is it known where the next begins */
        import->options.salvage = false;
        conv_text_salvage(import->text, false);
    }
    import->survey->kind = import->format->kind;
    conv_import_lacks(import, import->format->lacks);
    if (import->format->begin != NULL)
        import->format->begin(import, head);
    return FP_OK;
}

enum fp_status conv_import_open(const char *path, enum conv_kind kind, const struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *ret_error,
                                struct conv_input *ret_input)
{
    struct conv_import *import = calloc(1, sizeof *import);
    enum fp_status status;
    if (import == NULL)
        return conv_fail_memory(ret_error, path, "reading");
    import->path = path;
    import->options = *options;
    import->survey = survey;
    status = conv_live_init(&import->lanes.table) ? open_trace(import, kind, ret_error)
                                                  : conv_fail_memory(ret_error, path, "its threads");
    if (status != FP_OK) {
        close_import(import);
        return status;
    }
    *ret_input = (struct conv_input){
        .data = import,
        .namer = {.data = &import->lanes, .name = name_lane},
        .source = import->format->name,
        .progress_total = conv_text_size(import->text),
        .run = run,
        .position = position,
        .conclude = conclude,
        .close = close_import,
    };
    return FP_OK;
}
