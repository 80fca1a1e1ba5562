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

/* What is gathered, besides shares: that of its kin, and what it is where that has none. */
#define OF_KIN      (UINT32_C(1) << 31)
#define KIN_OF(all) ((all) % WL_KINS)
#define OTHERWISE   7u /* from this bit on */
_Static_assert(WL_KINS == 1u << OTHERWISE, "kin stands below");

/* The newest op on a live object is the one that gave it its size. Objects that lived longer than last_op can tell are
 * left out: wl_writer_age. */
static enum fp_status tell(struct wl_writer *writer, uint32_t id, uint32_t share)
{
    const uint32_t ago = (uint32_t)writer->summary.ops - writer->last_op[id];
    if (ago >= WL_AGE_MAX || writer->touched_count >= WL_TOUCHED_MAX)
        return FP_OK;
    if (!make_room(writer))
        return fail(writer, FP_ERR_MEMORY, "no memory for more large objects");
    writer->touched[writer->touched_count++] = (struct wl_touched){writer->summary.ops - ago, share};
    writer->touched_as += (share & OF_KIN) != 0;
    return FP_OK;
}

enum fp_status wl_writer_touched(struct wl_writer *writer, uint32_t id, uint32_t share)
{
    if (!ids_is_live(&writer->ids, id) || share > FP_SHARE_WHOLE)
        return fail(writer, FP_ERR_ARGUMENT, "not a share of a live object");
    return tell(writer, id, share);
}

enum fp_status wl_writer_touched_as(struct wl_writer *writer, uint32_t id, uint32_t kin, uint32_t otherwise)
{
    if (!ids_is_live(&writer->ids, id) || otherwise > FP_SHARE_WHOLE || kin >= WL_KINS)
        return fail(writer, FP_ERR_ARGUMENT, "no kin of a live object");
    if (writer->touched_as >= WL_TOUCHED_MAX / 2)
        return FP_OK;
    return tell(writer, id, OF_KIN | otherwise << OTHERWISE | kin);
}

/* Order by op; of one op the largest share comes first, and kin last. */
static int compare(const void *left, const void *right)
{
    const struct wl_touched *a = left, *b = right;
    const bool a_kin = (a->share & OF_KIN) != 0, b_kin = (b->share & OF_KIN) != 0;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a_kin != b_kin)
        return a_kin ? 1 : -1;
    return a->share > b->share ? -1 : a->share < b->share;
}

/* All that was told of an op: from *at on, up to before the returned number. */
static size_t end_of_op(const struct wl_touched *touched, size_t count, size_t at)
{
    const uint64_t op = touched[at].op;
    while (at < count && touched[at].op == op)
        at++;
    return at;
}

/* Each kin's first share. */
static void find_first(const struct wl_touched *touched, size_t count, uint32_t shares[WL_KINS])
{
    for (size_t i = 0; i < WL_KINS; i++)
        shares[i] = OF_KIN;
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_op(touched, count, at);
        const uint32_t own = touched[at].share, kin = touched[end - 1].share;
        if ((own & OF_KIN) == 0 && (kin & OF_KIN) != 0 && shares[KIN_OF(kin)] == OF_KIN)
            shares[KIN_OF(kin)] = own;
    }
}

/* One share for each op, and none for what is whole. Returns how many are left. */
static size_t settle(struct wl_touched *touched, size_t count)
{
    uint32_t shares[WL_KINS];
    size_t kept = 0;
    if (count > 0)
        qsort(touched, count, sizeof *touched, compare);
    find_first(touched, count, shares);
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_op(touched, count, at);
        uint32_t share = touched[at].share;
        const uint32_t kin = touched[end - 1].share;
        if ((share & OF_KIN) != 0)
            share = shares[KIN_OF(kin)] != OF_KIN ? shares[KIN_OF(kin)] : (kin & ~OF_KIN) >> OTHERWISE;
        else if ((kin & OF_KIN) != 0)
            shares[KIN_OF(kin)] = share;
        if (share < FP_SHARE_WHOLE)
            touched[kept++] = (struct wl_touched){touched[at].op, share};
    }
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
    const size_t count = settle(writer->touched, writer->touched_count);
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
