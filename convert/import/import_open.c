/* import_open.c - one reading of another tool's trace: which format, its lines, what is told afterwards. */
#include "convert/import/import_open.h"

#include <stdlib.h>
#include <string.h>

#include "convert/import/formats.h"
#include "convert/import/salvage.h"
#include "convert/text/text_input.h"

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
        return conv_import_skip(import, CONV_BAD_LINES, line->offset, line->number, wrong);
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
            status = conv_import_hopeless(import, line.offset) ? conv_import_give_up(import) : FP_OK;
        else if (status == FP_OK && line.is_long)
            status = conv_import_skip(import, CONV_LONG_LINES, line.offset, line.number,
                                      "longer than 32 KiB");
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
        status = conv_import_flush(import);
    if (status == FP_OK && import->format->finish != NULL)
        status = import->format->finish(import);
    if (status == FP_OK && import->options.salvage)
        status = conv_import_salvaged(import);
    error->salvageable = (status == FP_ERR_CORRUPT || status == FP_ERR_TRUNCATED) && import->understood > 0 &&
                         !import->options.salvage;
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
    survey->complete = true;
    if (import->incomplete[0] != '\0')
        conv_incomplete(survey, "%s", import->incomplete);
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
    conv_lanes_release(&import->lanes);
    free(import);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Our own files are not read through here: they are mapped, or read in place. */
static enum fp_status refuse_own(const struct conv_import *import, struct conv_head head,
                                 struct conv_error *error)
{
    if (head.size < 8 || memcmp(head.bytes, "MALLAB", 6) != 0)
        return FP_OK;
    (void)conv_fail(error, import->path, FP_ERR_FOREIGN, 0, 0,
                    "is a compressed or piped %s: give the plain file",
                    head.bytes[6] == 'W' ? "workload" : "footprint");
    return conv_no_remedy(error);
}

static bool is_of_format(const struct conv_format *format, struct conv_head head)
{
    static const struct conv_options options = {0};
    void *state;
    bool matches = true;
    if (format->matches != NULL)
        return format->matches(head);
    state = calloc(1, format->state_bytes + 1);
    for (unsigned i = 0; i < format->head_lines && matches; i++) {
        struct conv_parsed parsed = {0};
        const char *line;
        size_t length;
        matches = state != NULL && conv_head_line(&head, &line, &length) &&
                  format->parse(state, &options, line, length, &parsed) == NULL;
    }
    if (state != NULL && format->release != NULL)
        format->release(state);
    free(state);
    return matches;
}

static enum fp_status find_format(struct conv_import *import, struct conv_head head, struct conv_error *error)
{
    const struct conv_format *format;
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        if (!is_of_format(format, head))
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
    if (import->options.process_id != 0 && !import->format->has_processes)
        return conv_fail(error, import->path, FP_ERR_ARGUMENT, 0, 0,
                         "is of format '%s', which does not tell processes apart: leave out --process",
                         import->format->name);
    import->state = calloc(1, import->format->state_bytes + 1);
    if (import->state == NULL)
        return conv_fail_memory(error, import->path, "reading");
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
    conv_lanes_init(&import->lanes);
    status = open_trace(import, kind, ret_error);
    if (status != FP_OK) {
        close_import(import);
        return status;
    }
    *ret_input = (struct conv_input){
        .data = import,
        .namer = conv_lanes_namer(&import->lanes),
        .source = import->format->name,
        .progress_total = conv_text_size(import->text),
        .run = run,
        .position = position,
        .conclude = conclude,
        .close = close_import,
    };
    return FP_OK;
}
