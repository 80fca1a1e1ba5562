/* import.c - what the formats of traces have in common: calls become events, in batches. */
#include "convert/import/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/wl/workload.h"

/* ---- for formats --------------------------------------------------------------------------- */

bool conv_head_line(struct conv_head *head, const char **ret_line, size_t *ret_length)
{
    const char *newline;
    size_t length;
    while (head->size > 0 && (*head->bytes == '\n' || *head->bytes == '\r')) {
        head->bytes++;
        head->size--;
    }
    newline = memchr(head->bytes, '\n', head->size);
    if (head->size == 0 || (newline == NULL && !head->whole))
        return false;
    length = newline != NULL ? (size_t)(newline - head->bytes) : head->size;
    *ret_line = head->bytes;
    *ret_length = length > 0 && head->bytes[length - 1] == '\r' ? length - 1 : length;
    head->bytes += length;
    head->size -= length;
    return true;
}

void conv_import_leave_out(struct conv_import *import, unsigned call, enum conv_irregularity why)
{
    import->survey->events++;
    import->survey->events_by_call[call]++;
    import->survey->irregular[why]++;
}

void conv_import_lacks(struct conv_import *import, const char *word)
{
    char *lacks = import->survey->lacks;
    const size_t used = strlen(lacks), size = sizeof import->survey->lacks;
    snprintf(lacks + used, size - used, "%s%s", used > 0 ? ", " : "", word);
}

void conv_import_incomplete(struct conv_import *import, const char *format, ...)
{
    va_list list;
    if (import->incomplete[0] != '\0')
        return;
    va_start(list, format);
    vsnprintf(import->incomplete, sizeof import->incomplete, format, list);
    va_end(list);
}

void conv_import_cut(struct conv_import *import, const char *what)
{
    import->survey->irregular[CONV_CUT_LINES]++;
    conv_import_incomplete(import, "its last %s is cut off", what);
}

enum fp_status conv_import_wrong(struct conv_import *import, uint64_t offset, const char *format, ...)
{
    char what[160];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return conv_fail(import->error, import->path, FP_ERR_CORRUPT, 0, offset, "%s", what);
}

/* ---- events -------------------------------------------------------------------------------- */

enum fp_status conv_import_flush(struct conv_import *import)
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
    status = conv_lanes_of(&import->lanes, parsed->thread_id, &lane);
    if (status != FP_OK)
        return lane_failed(import, status, offset);
    if (import->batch_count + 2 > CONV_IMPORT_BATCH && (status = conv_import_flush(import)) != FP_OK)
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
        conv_lanes_end(&import->lanes, parsed->thread_id);
    return FP_OK;
}

enum fp_status conv_import_is_live(struct conv_import *import, uint64_t address, bool *ret_live)
{
    uint64_t bytes;
    const enum fp_status status = conv_import_flush(import);
    if (status == FP_OK)
        *ret_live = import->sink->is_live(import->sink->data, address, &bytes);
    return status;
}
