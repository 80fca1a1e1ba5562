/* wl_touched.c - shares of large objects, told to a writer and read again. No malloc in what readers call. */
#include "footprint/wl/wl_touched.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"

#define CAPACITY_FIRST 256u

static enum fp_status fail(struct wl_writer *writer, enum fp_status status, const char *what)
{
    writer->file.error = fp_error_make(status, 0, 0, what);
    return status;
}

static bool make_room(struct wl_writer *writer)
{
    const size_t capacity = writer->touched_capacity > 0 ? writer->touched_capacity * 2 : CAPACITY_FIRST;
    struct wl_touched *grown;
    if (writer->touched_count < writer->touched_capacity)
        return true;
    grown = realloc(writer->touched, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    writer->touched = grown;
    writer->touched_capacity = capacity;
    return true;
}

/* The newest op on a live object is the one that gave it its size. Objects that lived longer than last_op can tell are
 * left out: wl_writer_age. */
enum fp_status wl_writer_touched(struct wl_writer *writer, uint32_t id, uint32_t share)
{
    uint32_t ago;
    if (!ids_is_live(&writer->ids, id) || share > FP_SHARE_WHOLE)
        return fail(writer, FP_ERR_ARGUMENT, "not a share of a live object");
    ago = (uint32_t)writer->summary.ops - writer->last_op[id];
    if (!writer->touched_told || share == FP_SHARE_WHOLE || ago >= WL_AGE_MAX ||
        writer->touched_count >= WL_TOUCHED_MAX)
        return FP_OK;
    if (!make_room(writer))
        return fail(writer, FP_ERR_MEMORY, "no memory for more large objects");
    writer->touched[writer->touched_count++] = (struct wl_touched){writer->summary.ops - ago, share};
    return FP_OK;
}

/* Order by op; of one op the largest share comes first. */
static int compare(const void *left, const void *right)
{
    const struct wl_touched *a = left, *b = right;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return a->share > b->share ? -1 : a->share < b->share;
}

static size_t sort(struct wl_touched *touched, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(touched, count, sizeof *touched, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || touched[kept - 1].op != touched[i].op)
            touched[kept++] = touched[i];
    return kept;
}

static enum fp_status put_block(struct wl_writer *writer, const struct wl_touched *touched, uint32_t count,
                                uint64_t sequence)
{
    struct block_header header = {
        .type = BLOCK_TOUCHED, .count = count, .sequence = sequence, .base = touched[0].op};
    uint8_t *gaps = malloc(wl_touched_scratch_bytes(count));
    uint8_t *at = gaps, *shares;
    enum fp_status status;
    if (gaps == NULL)
        return fail(writer, FP_ERR_MEMORY, "no memory for the shares of large objects");
    shares = gaps + (size_t)count * VARINT_BYTES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        at = put_varint(at, touched[i].op - (i > 0 ? touched[i - 1].op : header.base));
        shares[i] = (uint8_t)touched[i].share;
    }
    status = block_pack(&header, (const struct column[]){{gaps, (size_t)(at - gaps)}, {shares, count}},
                        TOUCHED_COLUMNS, writer->context, writer->level, &writer->packed);
    free(gaps);
    if (status != FP_OK)
        return fail(writer, status, "cannot pack the shares of large objects");
    return wl_file_append(&writer->file, writer->packed.at, writer->packed.size);
}

enum fp_status wl_touched_put(struct wl_writer *writer)
{
    const size_t count = sort(writer->touched, writer->touched_count);
    enum fp_status status = FP_OK;
    uint64_t sequence = 0;
    for (size_t at = 0; at < count && status == FP_OK; at += TOUCHED_BLOCK_MAX) {
        const size_t rest = count - at;
        status = put_block(writer, writer->touched + at,
                           rest < TOUCHED_BLOCK_MAX ? (uint32_t)rest : TOUCHED_BLOCK_MAX, sequence++);
    }
    return status;
}

bool wl_touched_decode(const struct block_header *header, const struct column columns[TOUCHED_COLUMNS],
                       uint64_t first, uint64_t op_count, struct wl_touched *ret)
{
    struct cursor gaps = column_cursor(&columns[0]);
    uint64_t op = header->base;
    if (columns[1].size != header->count || op < first)
        return false;
    for (uint32_t i = 0; i < header->count; i++) {
        const uint64_t gap = get_varint(&gaps);
        if (op >= op_count || gap >= op_count - op || (gap == 0) != (i == 0))
            return false;
        op += gap;
        ret[i] = (struct wl_touched){op, columns[1].bytes[i]};
    }
    return cursor_done(&gaps);
}

bool wl_touched_fits(const struct wl_op *op)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    return kind == FP_KIND_ALLOCATE || kind == FP_KIND_RESIZE;
}
