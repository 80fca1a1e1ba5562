/* ops.c - the .ops files of WebKit's MallocBench.
 *
 * Records of 24 bytes as a 64-bit little-endian machine writes them: i32 operation, u16 thread, u16 log2 of the
 * alignment, u64 slot, u64 size. Operations are 0 malloc, 1 free, 2 realloc, 3 aligned malloc; thread 0 is the main one.
 * What the player does with a slot that does not fit, we do too: free and realloc of an empty one do nothing. */
#include <endian.h>
#include <string.h>

#include "convert/import/import.h"
#include "convert/text/text_input.h"

#define RECORD_BYTES     24u
#define ALIGNMENT_BITS   48u     /* above there is no address */
#define ALIGNMENT_UNEVEN 0xffffu /* the writer's word for an alignment that is no power of two */
#define DETECT_RECORDS   2048u
#define RESYNC_RECORDS   8u /* that make sense one after the other: by chance, records out of step do not */

struct record {
    uint32_t operation;
    uint16_t thread, log2_alignment;
    uint64_t slot, size;
};

static struct record record_at(const uint8_t *bytes)
{
    struct record record;
    memcpy(&record.operation, bytes, 4);
    memcpy(&record.thread, bytes + 4, 2);
    memcpy(&record.log2_alignment, bytes + 6, 2);
    memcpy(&record.slot, bytes + 8, 8);
    memcpy(&record.size, bytes + 16, 8);
    return (struct record){le32toh(record.operation), le16toh(record.thread), le16toh(record.log2_alignment),
                           le64toh(record.slot), le64toh(record.size)};
}

/* Returns NULL, or what is wrong with it. */
static const char *take_record(const struct record *record, struct conv_parsed *ret)
{
    static const uint8_t calls[] = {FP_CALL_MALLOC, FP_CALL_FREE, FP_CALL_REALLOC, FP_CALL_MEMALIGN};
    if (record->operation >= sizeof calls)
        return "not an operation, 0 to 3";
    if (record->slot >= CONV_ADDRESS_LIMIT - 1)
        return "a slot of 2^48 and more";
    ret->call = calls[record->operation];
    ret->thread_id = record->thread;
    ret->address = record->slot + 1; /* slots begin with 0, which is no address */
    if (ret->call == FP_CALL_FREE)
        return NULL;
    ret->size = record->size;
    if (ret->call == FP_CALL_REALLOC)
        ret->old_address = ret->address;
    if (ret->call != FP_CALL_MEMALIGN)
        return NULL;
    if (record->log2_alignment == ALIGNMENT_UNEVEN)
        ret->call = FP_CALL_MALLOC; /* which one it was is not known */
    else if (record->log2_alignment >= ALIGNMENT_BITS)
        return "an alignment of 2^48 and more";
    else
        ret->extra = UINT64_C(1) << record->log2_alignment;
    return NULL;
}

/* A file has no mark of its own: it has to begin with an allocation, and hold nothing that is none of these records. */
static bool matches(struct conv_head head)
{
    uint64_t any = 0;
    size_t count = head.size / RECORD_BYTES;
    if (head.size < RECORD_BYTES || (head.whole && head.size % RECORD_BYTES != 0))
        return false;
    if (count > DETECT_RECORDS)
        count = DETECT_RECORDS;
    for (size_t i = 0; i < count; i++) {
        const struct record record = record_at((const uint8_t *)head.bytes + i * RECORD_BYTES);
        struct conv_parsed parsed = {0};
        if (take_record(&record, &parsed) != NULL || record.size >= CONV_ADDRESS_LIMIT)
            return false;
        if (i == 0 && record.operation != 0 && record.operation != 3)
            return false;
        any |= record.slot | record.size;
    }
    return any != 0; /* zeroes alone are of every kind */
}

/* A call on an empty slot is left out. Returns FP_OK, or the sink's status. */
static enum fp_status take_resize(struct conv_import *import, const struct conv_parsed *parsed,
                                  uint64_t offset)
{
    bool live = false;
    const enum fp_status status = conv_import_is_live(import, parsed->address, &live);
    if (status != FP_OK)
        return status;
    if (live)
        return conv_import_take(import, parsed, offset);
    conv_import_leave_out(import, FP_CALL_REALLOC, CONV_RESIZE_OF_UNKNOWN);
    return FP_OK;
}

/* Whether records begin here, as far as they can be seen. */
static bool in_step(const uint8_t *bytes, size_t size)
{
    size_t count = size / RECORD_BYTES;
    if (count > RESYNC_RECORDS)
        count = RESYNC_RECORDS;
    for (size_t i = 0; i < count; i++) {
        const struct record record = record_at(bytes + i * RECORD_BYTES);
        struct conv_parsed parsed = {0};
        if (take_record(&record, &parsed) != NULL || record.size >= CONV_ADDRESS_LIMIT)
            return false;
    }
    return count > 0;
}

/* How far behind a bad record the next good one begins. One that was overwritten has its length; where bytes are missing
 * or too many, records go on out of step, and every byte may be the first of one. At least 1; ret_found: false when none is
 * in view. */
static size_t distance_to_next(const uint8_t *bytes, size_t size, bool *ret_found)
{
    const size_t ahead = size >= CONV_TEXT_VIEW_MAX ? RESYNC_RECORDS * RECORD_BYTES : RECORD_BYTES;
    *ret_found = size >= 2 * RECORD_BYTES && in_step(bytes + RECORD_BYTES, size - RECORD_BYTES);
    if (*ret_found)
        return RECORD_BYTES;
    for (size_t step = 1; step + ahead <= size; step++)
        if ((*ret_found = in_step(bytes + step, size - step)))
            return step;
    return size >= CONV_TEXT_VIEW_MAX ? size - ahead + 1 : size;
}

/* Each 24 bytes that are left out, and a rest of them, count as a record. */
static enum fp_status skip_bad(struct conv_import *import, const char *wrong)
{
    const uint64_t begin = conv_text_offset(import->text);
    uint64_t counted = 0;
    bool found = false;
    while (!found) {
        const uint8_t *bytes;
        uint64_t records;
        size_t size;
        enum fp_status status = conv_text_view(import->text, import->error, CONV_TEXT_VIEW_MAX, &bytes,
                                               &size);
        if (status != FP_OK || size == 0)
            return status;
        conv_text_skip(import->text, distance_to_next(bytes, size, &found));
        records = (conv_text_offset(import->text) - begin + RECORD_BYTES - 1) / RECORD_BYTES;
        for (; counted < records && status == FP_OK; counted++)
            status = conv_import_skip(import, CONV_BAD_RECORDS, begin + counted * RECORD_BYTES, 0, wrong);
        if (status != FP_OK)
            return status;
    }
    return FP_OK;
}

static enum fp_status run(struct conv_import *import)
{
    for (;;) {
        const uint64_t offset = conv_text_offset(import->text);
        struct conv_parsed parsed = {0};
        struct record record;
        const uint8_t *bytes;
        const char *wrong;
        size_t size;
        enum fp_status status = conv_text_view(import->text, import->error, RECORD_BYTES, &bytes, &size);
        if (status != FP_OK || size == 0)
            return status;
        if (size < RECORD_BYTES) {
            conv_import_cut(import, "record");
            return FP_OK;
        }
        record = record_at(bytes);
        wrong = take_record(&record, &parsed);
        if (wrong != NULL && import->options.salvage) {
            status = skip_bad(import, wrong);
            if (status != FP_OK)
                return status;
            continue;
        }
        if (wrong != NULL)
            return conv_import_wrong(import, offset, "%s,", wrong);
        import->understood++;
        status = parsed.call == FP_CALL_REALLOC ? take_resize(import, &parsed, offset)
                                                : conv_import_take(import, &parsed, offset);
        if (status != FP_OK)
            return status;
        conv_text_skip(import->text, RECORD_BYTES);
    }
}

static void begin(struct conv_import *import, struct conv_head head)
{
    (void)head;
    import->lanes.main_is_named = true;
    import->lanes.main_thread_id = 0;
}

const struct conv_format CONV_FORMAT_OPS = {
    .kind = CONV_KIND_OPS,
    .name = "ops",
    .title = "WebKit's MallocBench (.ops)",
    .lacks = "time, exact call, failed calls",
    .matches = matches,
    .run = run,
    .begin = begin,
};
