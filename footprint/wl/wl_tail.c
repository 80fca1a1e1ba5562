/* wl_tail.c - the parts behind the windows of a workload being written: shares of large objects, told as objects go; notes, the summary,
 * the footer that finds it; the end. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/arrays.h"
#include "footprint/base/bytes.h"
#include "footprint/wl/wl_writer.h"

/* The other values gathered with shares: the share of its kin, and the one where that has none. */
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
    if (!FP_GROW(writer->touched, writer->touched_capacity, writer->touched_count + 1))
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for more large objects");
    writer->touched[writer->touched_count++] = (struct wl_touched){writer->summary.ops - ago, share};
    writer->touched_as += (share & OF_KIN) != 0;
    return FP_OK;
}

enum fp_status wl_writer_touched(struct wl_writer *writer, uint32_t id, uint32_t share)
{
    if (!ids_is_live(&writer->ids, id) || share > FP_SHARE_WHOLE)
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "not a share of a live object");
    return tell(writer, id, share);
}

enum fp_status wl_writer_touched_as(struct wl_writer *writer, uint32_t id, uint32_t kin, uint32_t otherwise)
{
    if (!ids_is_live(&writer->ids, id) || otherwise > FP_SHARE_WHOLE || kin >= WL_KINS)
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "no kin of a live object");
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
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for the shares of large objects");
    shares = gaps + (size_t)count * VARINT_BYTES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        at = put_varint(at, touched[i].op - (i > 0 ? touched[i - 1].op : header.base));
        shares[i] = (uint8_t)touched[i].share;
    }
    status = wl_put_block(writer, &header,
                          (const struct column[]){{gaps, (size_t)(at - gaps)}, {shares, count}},
                          TOUCHED_COLUMNS, "cannot pack the shares of large objects");
    free(gaps);
    return status;
}

/* Settle what was told of shares, and append their blocks. */
static enum fp_status put_touched(struct wl_writer *writer)
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

/* ---- notes, summary, footer -------------------------------------------------------------------------- */

bool wl_threads_at_once(const struct wl_thread *first, uint32_t count, size_t stride, uint64_t windows,
                        uint32_t *ret_most)
{
    int32_t *change = calloc((size_t)windows + 1, sizeof *change), alive = 0;
    *ret_most = 0;
    if (change == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct wl_thread *thread = (const void *)((const char *)first + i * stride);
        if (thread->ops == 0)
            continue;
        change[thread->first_window]++;
        if (thread->exited)
            change[thread->last_window + 1]--;
    }
    for (uint64_t window = 0; window < windows; window++) {
        alive += change[window];
        if ((uint32_t)alive > *ret_most)
            *ret_most = (uint32_t)alive;
    }
    free(change);
    return true;
}

enum fp_status wl_writer_note(struct wl_writer *writer, const char *key, const char *value)
{
    const struct fp_meta meta = {key, value};
    struct bytes text = {0};
    enum fp_status status = meta_encode(&meta, 1, &text);
    if (status == FP_OK &&
        (writer->meta_count >= META_COUNT_MAX || writer->meta_bytes + text.size > META_BYTES_MAX))
        status = FP_ERR_LIMIT;
    if (status == FP_OK && !bytes_reserve(&writer->notes, writer->notes.size + text.size))
        status = FP_ERR_MEMORY;
    if (status == FP_OK) {
        memcpy(writer->notes.at + writer->notes.size, text.at, text.size);
        writer->notes.size += text.size;
        writer->meta_count++;
        writer->meta_bytes += text.size;
    }
    bytes_release(&text);
    return status == FP_OK ? FP_OK : wl_writer_fail(writer, status, "meta data cannot be stored");
}

void wl_footer_make(uint64_t offset, uint8_t footer[WORKLOAD_FOOTER_BYTES])
{
    memcpy(footer, WORKLOAD_FOOTER_MAGIC, 8);
    put_u64(footer + 8, offset);
    put_u64(footer + 16, XXH64(footer, 16, 0));
}

/* The summary and the footer. writer->summary is whole but for the threads at one time, which are counted here. */
static enum fp_status put_summary(struct wl_writer *writer)
{
    const struct wl_summary *summary = &writer->summary;
    const uint64_t offset = writer->file.bytes;
    struct block_header header = {.type = BLOCK_SUMMARY, .count = summary->thread_count};
    uint8_t footer[WORKLOAD_FOOTER_BYTES];
    uint8_t facts[(14 + FP_CALL_COUNT) * VARINT_BYTES_MAX];
    uint8_t *threads = NULL;
    uint8_t *at = facts;
    uint8_t *thread_at;
    enum fp_status status;
    if (!wl_threads_at_once((const void *)writer->threads, summary->thread_count, sizeof *writer->threads,
                            summary->windows, &writer->summary.threads_at_once_max)) /* facts come first */
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for the summary");
    if (summary->thread_count > summary->ops + WL_THREADS_IDLE)
        return wl_writer_fail(writer, FP_ERR_LIMIT,
                              "more threads than ops, and 65,536 besides, are more than the format allows");
#define VALUE(name) summary->name,
    const uint64_t numbers[] = {SUMMARY_NUMBERS(VALUE) FP_CALL_COUNT};
    threads = malloc(((size_t)summary->thread_count * 5 + 1) * VARINT_BYTES_MAX);
    thread_at = threads;
    if (threads == NULL)
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for the summary");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        at = put_varint(at, numbers[i]);
    for (int i = 0; i < FP_CALL_COUNT; i++)
        at = put_varint(at, summary->ops_by_call[i]);
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct wl_thread *thread = &writer->threads[i].facts;
        thread_at = put_varint(thread_at, thread->thread_id);
        thread_at = put_varint(thread_at, (thread->is_main ? 1u : 0u) | (thread->exited ? 2u : 0u));
        thread_at = put_varint(thread_at, thread->ops);
        thread_at = put_varint(thread_at, thread->first_window);
        thread_at = put_varint(thread_at, thread->last_window);
    }
    status = wl_put_block(writer, &header,
                          (const struct column[]){{facts, (size_t)(at - facts)},
                                                  {threads, (size_t)(thread_at - threads)},
                                                  {writer->notes.at, writer->notes.size}},
                          SUMMARY_COLUMNS, "cannot pack the summary");
    free(threads);
    wl_footer_make(offset, footer);
    return status == FP_OK ? wl_file_append(&writer->file, footer, sizeof footer) : status;
}

/* ---- the end ------------------------------------------------------------------------------- */

enum fp_status wl_writer_finish(struct wl_writer *writer, uint64_t end_ns, struct wl_summary *ret_summary,
                                uint64_t *ret_bytes, struct fp_error *ret_error)
{
    enum fp_status status = writer->broken, packed;
    if (writer->op_count > 0) /* a reader takes it for the window's end */
        wl_times_note(writer, writer->op_count - 1, writer->now_ns);
    if (end_ns > writer->now_ns)
        writer->now_ns = end_ns;
    if (status == FP_OK && writer->op_count > 0)
        status = wl_window_flush(writer);
    packed = wl_pack_wait(writer->pack);
    if (status == FP_OK)
        status = packed;
    writer->summary.duration_ns = writer->now_ns;
    writer->summary.live_bytes_end = writer->live_bytes;
    writer->summary.live_objects_end = writer->live_objects;
    writer->summary.id_max = writer->ids.used;
    if (status == FP_OK)
        status = put_touched(writer);
    if (status == FP_OK)
        status = wl_sites_put(writer);
    if (status == FP_OK)
        status = put_summary(writer);
    if (status == FP_OK)
        status = wl_file_finish(&writer->file);
    if (status != FP_OK && ret_error != NULL)
        *ret_error = writer->file.error;
    if (status == FP_OK && ret_summary != NULL)
        *ret_summary = writer->summary;
    if (status == FP_OK && ret_bytes != NULL)
        *ret_bytes = writer->file.bytes;
    wl_writer_abandon(writer);
    return status;
}
