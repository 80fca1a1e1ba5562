/* export_2009.c - the converted text of the 2009 tester: one thread, ids, sizes.
 *
 * Line 1 is the next free id, padded as its converter did, which wrote it last. Then `m ID SIZE`, `c ID N SIZE`,
 * `r NEW OLD SIZE` (0: NULL) and `f ID`. A resized object keeps its id here, as when it did not move. */
#include "convert/export/export.h"
#include "convert/ops/rewrite.h"

#define FIRST_LINE_DIGITS 10

static void put_numbers(struct conv_export_file *file, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        conv_export_byte(file, ' ');
        conv_export_number(file, numbers[i]);
    }
    conv_export_byte(file, '\n');
}

static enum fp_status take(void *data, const struct conv_export_op *export_op)
{
    struct conv_export_file *file = data;
    const struct wl_op *op = export_op->op;
    const uint64_t bytes = conv_op_bytes(op);
    if (fp_call_kind_of(op->call) == FP_KIND_RELEASE) {
        conv_export_byte(file, 'f');
        put_numbers(file, (const uint64_t[]){op->id}, 1);
    } else if (fp_call_kind_of(op->call) == FP_KIND_RESIZE) {
        conv_export_byte(file, 'r');
        put_numbers(file, (const uint64_t[]){op->id, conv_op_allocates(op) ? 0 : op->id, bytes}, 3);
    } else if (op->call == FP_CALL_CALLOC) {
        conv_export_byte(file, 'c');
        put_numbers(file, (const uint64_t[]){op->id, op->count, op->size}, 3);
    } else {
        conv_export_byte(file, 'm');
        put_numbers(file, (const uint64_t[]){op->id, bytes}, 2);
    }
    return file->status;
}

enum fp_status conv_export_2009(struct conv_export_job *job)
{
    const uint64_t next_id = (uint64_t)job->summary->id_max + 1;
    struct wl_window window;
    enum fp_status status = FP_OK;
    uint64_t bound = 10;
    int digits = 1;
    for (; next_id >= bound; bound *= 10)
        digits++;
    conv_export_number(job->file, next_id);
    for (; digits < FIRST_LINE_DIGITS; digits++)
        conv_export_byte(job->file, ' ');
    conv_export_byte(job->file, '\n');
    while (status == FP_OK && (status = conv_export_next(job, &window)) == FP_OK)
        status = conv_export_each(&window, take, job->file);
    return status == FP_END ? FP_OK : status;
}
