/* export_csv.c - a row an op, for spreadsheets, awk and data frames: RFC 4180 with lines ended as everywhere else here.
 *
 * Only names of calls can hold a comma, so they are the only quoted column. */
#include <stdlib.h>

#include "convert/export/export.h"
#include "convert/ops/rewrite.h"

static const char HEADER[] =
    "op,thread,thread_id,time_ns,call,object,size_bytes,count,align_bytes,old_size_bytes,"
    "waits_on_op\n";

struct csv {
    struct conv_export_file *file;
    const struct wl_thread *threads;
    uint64_t *bytes; /* by id: what is requested of it now */
};

static void put_optional(struct conv_export_file *file, bool known, uint64_t number)
{
    conv_export_byte(file, ',');
    if (known)
        conv_export_number(file, number);
}

static enum fp_status take(void *data, const struct conv_export_op *export_op)
{
    struct csv *csv = data;
    struct conv_export_file *file = csv->file;
    const struct wl_op *op = export_op->op;
    const bool releases = fp_call_kind_of(op->call) == FP_KIND_RELEASE;
    const enum fp_extra extra = fp_call_extra_of(op->call);
    conv_export_number(file, export_op->number);
    put_optional(file, true, export_op->thread);
    put_optional(file, true, csv->threads[export_op->thread].thread_id);
    put_optional(file, true, export_op->time_ns);
    conv_export_put(file, ",\"", 2);
    conv_export_text_put(file, fp_call_name(op->call));
    conv_export_put(file, "\"", 1);
    put_optional(file, true, op->id);
    put_optional(file, !releases || fp_call_tells_size(op->call), op->size);
    put_optional(file, extra == FP_EXTRA_COUNT, op->count);
    put_optional(file, extra == FP_EXTRA_ALIGNMENT, UINT64_C(1) << (op->align_log2 & ~WL_OP_FRESH));
    put_optional(file, op->id != 0 && !conv_op_allocates(op), csv->bytes[op->id]);
    put_optional(file, export_op->has_wait, export_op->waits_on);
    conv_export_byte(file, '\n');
    csv->bytes[op->id] = releases ? 0 : conv_op_bytes(op);
    return file->status;
}

enum fp_status conv_export_csv(struct conv_export_job *job)
{
    struct csv csv = {.file = job->file, .threads = job->summary->threads};
    struct wl_window window;
    enum fp_status status = FP_OK;
    csv.bytes = calloc((size_t)job->summary->id_max + 1, sizeof *csv.bytes);
    if (csv.bytes == NULL)
        return conv_export_memory(job);
    conv_export_text_put(job->file, HEADER);
    while (status == FP_OK && (status = conv_export_next(job, &window)) == FP_OK)
        status = conv_export_each(&window, take, &csv);
    free(csv.bytes);
    return status == FP_END ? FP_OK : status;
}
