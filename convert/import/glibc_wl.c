/* glibc_wl.c - the workloads (.wl) of glibc's malloc trace tools, as trace2wl makes and trace_run plays them.
 *
 * Numbers are of 7 bits a byte, the most significant first, bit 7 set on all but the last. The file begins with
 *   8 POINTERS  9 SYNCS  10 THREADS  then 11 OFFSET for each thread  1
 * and at its offset each thread has calls until 1:
 *   2 INDEX SIZE malloc   3 INDEX SIZE calloc   4 NEW OLD SIZE realloc   5 INDEX free   12 INDEX ALIGNMENT SIZE memalign
 *   13 INDEX SIZE valloc   14 INDEX SIZE pvalloc   6 SYNC signal   7 SYNC wait   0 nothing
 * Index 0 is NULL. A thread goes no further than a wait until another has signalled.
 *
 * Which order the calls had is known only as far as there are signals. Ours: all threads take turns of TURN_CALLS
 * records, a wait ends a turn, and who was waited for comes again in the order of signals. It is repeatable, and
 * legal by all signals. Memory: 1 KiB a thread, and four bytes for each sync. A damaged file is refused, with --salvage too:
 * nothing tells where a thread's next record begins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/import/import.h"
#include "convert/text/text_input.h"
#include "footprint/base/memory_bound.h"

/* Codes of records (docs/importing.md). */
enum conv_glibc_code {
    CODE_NOTHING = 0,
    CODE_DONE = 1,
    CODE_MALLOC = 2,
    CODE_CALLOC = 3,
    CODE_REALLOC = 4,
    CODE_FREE = 5,
    CODE_SIGNAL = 6,
    CODE_WAIT = 7,
    CODE_POINTERS = 8,
    CODE_SYNCS = 9,
    CODE_THREADS = 10,
    CODE_START_THREAD = 11,
    CODE_MEMALIGN = 12,
    CODE_VALLOC = 13,
    CODE_PVALLOC = 14,
};

#define THREADS_MAX  65536u
#define BUFFER_BYTES 1024u
#define RECORD_MOST  48u /* bytes of the longest record, and more */
#define TURN_CALLS   16u

/* A place in the file. A thread does not read what belongs to the next: all together read each byte once, whatever
 * offsets a file states. */
struct cursor {
    uint64_t at, limit; /* offsets of the next byte, and of the first behind */
    uint8_t *buffer;    /* BUFFER_BYTES, made when first needed */
    size_t begin, end;
};

struct played_thread {
    struct cursor cursor;       /* its buffer is dropped when it is done */
    uint64_t sync, sync_offset; /* of its last wait, and where that stands */
    uint32_t
        next; /* behind it in the line of those that are ready, or that wait for its sync; 1 + its number */
};

#define GIVEN UINT32_MAX

struct glibc_wl {
    int fd; /* + 1, so that zeroed is none */
    uint64_t size;
    uint64_t pointers, sync_max, thread_count;
    struct played_thread *threads;
    uint32_t started;
    uint32_t first,
        last; /* of the threads that can go on, first come, first served: 1 + its number; first 0: nobody can */
    uint32_t *syncs; /* by number: GIVEN, or 1 + the thread that began to wait for it last; 0: nobody waits */
};

/* ---- bytes --------------------------------------------------------------------------------- */

static enum fp_status refill(struct conv_import *import, struct cursor *cursor)
{
    const struct glibc_wl *wl = import->state;
    if (cursor->buffer == NULL && (cursor->buffer = malloc(BUFFER_BYTES)) == NULL)
        return conv_fail(import->error, import->path, FP_ERR_MEMORY, 0, cursor->at,
                         "no memory for its threads");
    memmove(cursor->buffer, cursor->buffer + cursor->begin, cursor->end - cursor->begin);
    cursor->end -= cursor->begin;
    cursor->begin = 0;
    while (cursor->end < RECORD_MOST) {
        const uint64_t from = cursor->at + cursor->end;
        const uint64_t left = cursor->limit - from;
        const size_t room = BUFFER_BYTES - cursor->end;
        ssize_t got;
        if (left == 0)
            return FP_OK;
        got = pread(wl->fd - 1, cursor->buffer + cursor->end, left < room ? (size_t)left : room, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return conv_fail(import->error, import->path, got < 0 ? FP_ERR_READ : FP_ERR_TRUNCATED,
                             got < 0 ? errno : 0, from, "cannot read");
        cursor->end += (size_t)got;
        import->bytes_read += (uint64_t)got;
    }
    return FP_OK;
}

static enum fp_status take_number(struct conv_import *import, struct cursor *cursor, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; cursor->begin < cursor->end; i++) {
        const uint8_t byte = cursor->buffer[cursor->begin++];
        cursor->at++;
        if (i > 9 || value >> 57 != 0)
            return CONV_IMPORT_WRONG(import, cursor->at - 1, "a number of more than 64 bits");
        value = value << 7 | (byte & 0x7f);
        if ((byte & 0x80) == 0) {
            *ret_value = value;
            return FP_OK;
        }
    }
    return conv_fail(import->error, import->path, FP_ERR_TRUNCATED, 0, cursor->at, "ends within a record");
}

/* The kind of the next record. */
static enum fp_status take_code(struct conv_import *import, struct cursor *cursor, uint8_t *ret_code)
{
    enum fp_status status = FP_OK;
    if (cursor->end - cursor->begin < RECORD_MOST)
        status = refill(import, cursor);
    if (status != FP_OK)
        return status;
    if (cursor->begin == cursor->end)
        return conv_fail(import->error, import->path, FP_ERR_TRUNCATED, 0, cursor->at,
                         "ends before a thread's end mark");
    *ret_code = cursor->buffer[cursor->begin++];
    cursor->at++;
    return FP_OK;
}

/* ---- the beginning ------------------------------------------------------------------------- */

static enum fp_status start_thread(struct conv_import *import, struct glibc_wl *wl, uint64_t offset,
                                   uint64_t where)
{
    if (wl->started == wl->thread_count)
        return CONV_IMPORT_WRONG(import, where, "starts more threads than the %llu that it states,",
                                 (unsigned long long)wl->thread_count);
    if (offset >= wl->size)
        return CONV_IMPORT_WRONG(import, where, "a thread that begins behind the file's end,");
    if (wl->started > 0 && offset <= wl->threads[wl->started - 1].cursor.at)
        return CONV_IMPORT_WRONG(import, where, "a thread that does not begin behind the one before it,");
    wl->threads[wl->started++].cursor.at = offset;
    return FP_OK;
}

static enum fp_status set_threads(struct conv_import *import, struct glibc_wl *wl, uint64_t count,
                                  uint64_t where)
{
    if (wl->threads != NULL)
        return CONV_IMPORT_WRONG(import, where, "states its number of threads twice,");
    if (count == 0 || count > THREADS_MAX)
        return conv_fail(import->error, import->path, count == 0 ? FP_ERR_CORRUPT : FP_ERR_LIMIT, 0, where,
                         count == 0 ? "states no threads" : "more than 65,536 threads");
    wl->threads = calloc((size_t)count, sizeof *wl->threads);
    if (wl->threads == NULL)
        return conv_fail(import->error, import->path, FP_ERR_MEMORY, 0, where, "no memory for its threads");
    wl->thread_count = count;
    return FP_OK;
}

static enum fp_status take_header_record(struct conv_import *import, struct cursor *cursor, uint8_t code)
{
    struct glibc_wl *wl = import->state;
    const uint64_t where = cursor->at - 1;
    uint64_t value = 0;
    enum fp_status status = code == CODE_NOTHING ? FP_OK : take_number(import, cursor, &value);
    if (status != FP_OK)
        return status;
    switch (code) {
    case CODE_NOTHING:
        return FP_OK;
    case CODE_POINTERS:
        wl->pointers = value;
        return value < CONV_ADDRESS_LIMIT ? FP_OK
                                          : CONV_IMPORT_WRONG(import, where, "2^48 pointers and more");
    case CODE_SYNCS:
        wl->sync_max = value;
        return value < wl->size ? FP_OK : CONV_IMPORT_WRONG(import, where, "more syncs than bytes");
    case CODE_THREADS:
        return set_threads(import, wl, value, where);
    case CODE_START_THREAD:
        return start_thread(import, wl, value, where);
    default:
        return CONV_IMPORT_WRONG(import, where, "not a record of its beginning");
    }
}

/* ---- turns --------------------------------------------------------------------------------- */

/* A thread whose turn is over is ready for the next. */
static void be_ready(struct glibc_wl *wl, uint32_t number)
{
    wl->threads[number].next = 0;
    *(wl->first == 0 ? &wl->first : &wl->threads[wl->last - 1].next) = number + 1;
    wl->last = number + 1;
}

/* Whoever waits for the sync is ready, the one that waited longest last. */
static void give(struct glibc_wl *wl, uint64_t sync)
{
    uint32_t waiting = wl->syncs[sync] != GIVEN ? wl->syncs[sync] : 0;
    wl->syncs[sync] = GIVEN;
    for (uint32_t next; waiting != 0; waiting = next) {
        next = wl->threads[waiting - 1].next;
        be_ready(wl, waiting - 1);
    }
}

/* Returns whether the thread has to wait: false where the sync was given already. */
static bool wait_for(struct glibc_wl *wl, uint32_t number, uint64_t sync)
{
    if (wl->syncs[sync] == GIVEN)
        return false;
    wl->threads[number].next = wl->syncs[sync];
    wl->syncs[sync] = number + 1;
    return true;
}

static uint64_t bytes_of_syncs(const struct glibc_wl *wl)
{
    return (wl->sync_max + 1) * sizeof *wl->syncs;
}

/* Once the counts are known. All threads are ready in the order of their numbers, and no sync was given. */
static enum fp_status prepare(struct conv_import *import, struct glibc_wl *wl)
{
    for (uint32_t i = 0; i < wl->started; i++) {
        wl->threads[i].cursor.limit = i + 1 < wl->started ? wl->threads[i + 1].cursor.at : wl->size;
        be_ready(wl, i);
    }
    if (fp_memory_take(bytes_of_syncs(wl)) &&
        (wl->syncs = calloc((size_t)wl->sync_max + 1, sizeof *wl->syncs)) == NULL)
        fp_memory_give(bytes_of_syncs(wl));
    return wl->syncs != NULL ? FP_OK : conv_fail_memory(import->error, import->path, "its threads");
}

static enum fp_status take_header(struct conv_import *import)
{
    struct glibc_wl *wl = import->state;
    struct cursor cursor = {.limit = wl->size};
    uint8_t code = CODE_NOTHING;
    enum fp_status status = FP_OK;
    while (status == FP_OK && code != CODE_DONE) {
        status = take_code(import, &cursor, &code);
        if (status == FP_OK && code != CODE_DONE)
            status = take_header_record(import, &cursor, code);
    }
    free(cursor.buffer);
    if (status != FP_OK)
        return status;
    if (wl->started == 0 || wl->started != wl->thread_count)
        return CONV_IMPORT_WRONG(import, cursor.at, "states %llu threads and starts %u,",
                                 (unsigned long long)wl->thread_count, wl->started);
    if (wl->threads[0].cursor.at < cursor.at)
        return CONV_IMPORT_WRONG(import, cursor.at, "a thread that begins within the file's beginning,");
    return prepare(import, wl);
}

/* ---- calls --------------------------------------------------------------------------------- */

struct wl_form {
    uint8_t call;
    bool has_old, has_alignment, has_size;
};

static const struct wl_form FORMS[] = {
    [CODE_MALLOC] = {FP_CALL_MALLOC, false, false, true},
    [CODE_CALLOC] = {FP_CALL_CALLOC, false, false, true},
    [CODE_REALLOC] = {FP_CALL_REALLOC, true, false, true},
    [CODE_FREE] = {FP_CALL_FREE, false, false, false},
    [CODE_MEMALIGN] = {FP_CALL_MEMALIGN, false, true, true},
    [CODE_VALLOC] = {FP_CALL_VALLOC, false, false, true},
    [CODE_PVALLOC] = {FP_CALL_PVALLOC, false, false, true},
};

static enum fp_status take_pointer(struct conv_import *import, struct cursor *cursor, uint64_t *ret_address)
{
    const struct glibc_wl *wl = import->state;
    const uint64_t where = cursor->at;
    const enum fp_status status = take_number(import, cursor, ret_address);
    if (status == FP_OK && *ret_address >= wl->pointers && *ret_address != 0)
        return CONV_IMPORT_WRONG(import, where, "pointer %llu of %llu that it states,",
                                 (unsigned long long)*ret_address, (unsigned long long)wl->pointers);
    return status;
}

static enum fp_status take_wl_call(struct conv_import *import, struct cursor *cursor, uint8_t code,
                                   uint32_t thread)
{
    const uint64_t where = cursor->at - 1;
    const struct wl_form *form = &FORMS[code];
    struct conv_parsed parsed = {.call = form->call, .thread_id = thread + 1};
    enum fp_status status = take_pointer(import, cursor, &parsed.address);
    if (status == FP_OK && form->has_old)
        status = take_pointer(import, cursor, &parsed.old_address);
    if (status == FP_OK && form->has_alignment)
        status = take_number(import, cursor, &parsed.extra);
    if (status == FP_OK && form->has_size)
        status = take_number(import, cursor, &parsed.size);
    if (status != FP_OK)
        return status;
    if (form->has_alignment && parsed.extra >= CONV_ADDRESS_LIMIT)
        return CONV_IMPORT_WRONG(import, where, "an alignment of 2^48 and more");
    if (parsed.call == FP_CALL_CALLOC)
        parsed.extra = 1; /* only the product of count and size is kept */
    return conv_import_take(import, &parsed, where);
}

static enum fp_status take_sync(struct conv_import *import, struct cursor *cursor, uint64_t *ret_sync)
{
    const struct glibc_wl *wl = import->state;
    const uint64_t where = cursor->at;
    const enum fp_status status = take_number(import, cursor, ret_sync);
    if (status == FP_OK && *ret_sync > wl->sync_max)
        return CONV_IMPORT_WRONG(import, where, "sync %llu of %llu that it states,",
                                 (unsigned long long)*ret_sync, (unsigned long long)wl->sync_max);
    return status;
}

static void end_thread(struct cursor *cursor)
{
    free(cursor->buffer);
    cursor->buffer = NULL;
}

/* A record that is no end, signal or wait. */
static enum fp_status take_plain(struct conv_import *import, struct cursor *cursor, uint8_t code,
                                 uint32_t number)
{
    if (code < sizeof FORMS / sizeof FORMS[0] && FORMS[code].call != FP_CALL_NONE)
        return take_wl_call(import, cursor, code, number);
    return code == CODE_NOTHING
               ? FP_OK
               : CONV_IMPORT_WRONG(import, cursor->at - 1, "%u is not a call of this format,", code);
}

/* One turn of a thread, after which it is ready again, waits, or is done. */
static enum fp_status take_turn(struct conv_import *import, uint32_t number)
{
    struct glibc_wl *wl = import->state;
    struct cursor *cursor = &wl->threads[number].cursor;
    for (unsigned i = 0; i < TURN_CALLS; i++) {
        const uint64_t where = cursor->at;
        uint64_t sync = 0;
        uint8_t code = CODE_NOTHING;
        enum fp_status status = take_code(import, cursor, &code);
        if (status == FP_OK && code == CODE_DONE) {
            end_thread(cursor);
            return FP_OK;
        }
        if (status == FP_OK && (code == CODE_SIGNAL || code == CODE_WAIT))
            status = take_sync(import, cursor, &sync);
        else if (status == FP_OK)
            status = take_plain(import, cursor, code, number);
        if (status != FP_OK)
            return status;
        import->understood++;
        if (code == CODE_SIGNAL)
            give(wl, sync);
        if (code == CODE_WAIT && wait_for(wl, number, sync)) {
            wl->threads[number].sync = sync;
            wl->threads[number].sync_offset = where;
            return FP_OK;
        }
    }
    be_ready(wl, number);
    return FP_OK;
}

/* Nobody can go on though threads are not done: the one that stands first in the file is named. */
static enum fp_status complain_of_waits(struct conv_import *import, const struct glibc_wl *wl)
{
    for (uint32_t i = 0; i < wl->started; i++)
        if (wl->threads[i].cursor.buffer != NULL)
            return CONV_IMPORT_WRONG(import, wl->threads[i].sync_offset,
                                     "thread %u waits for signal %llu, which never comes,", i + 1,
                                     (unsigned long long)wl->threads[i].sync);
    return FP_OK;
}

static enum fp_status run(struct conv_import *import)
{
    struct glibc_wl *wl = import->state;
    enum fp_status status = conv_text_spool(import->text, import->error, &wl->fd, &wl->size);
    if (status != FP_OK)
        return status;
    wl->fd++;
    status = take_header(import);
    while (status == FP_OK && wl->first != 0) {
        const uint32_t number = wl->first - 1;
        wl->first = wl->threads[number].next;
        status = take_turn(import, number);
    }
    return status == FP_OK ? complain_of_waits(import, wl) : status;
}

static void release(void *state)
{
    struct glibc_wl *wl = state;
    if (wl->fd > 0)
        (void)close(wl->fd - 1); /* only read from, or without a name */
    for (uint32_t i = 0; i < wl->started; i++)
        free(wl->threads[i].cursor.buffer);
    free(wl->threads);
    if (wl->syncs != NULL)
        fp_memory_give(bytes_of_syncs(wl));
    free(wl->syncs);
}

/* ---- detection ----------------------------------------------------------------------------- */

/* A number in the head. */
static bool head_number(struct conv_head *head, uint8_t code)
{
    if (head->size == 0 || (uint8_t)*head->bytes != code)
        return false;
    for (size_t i = 1; i < head->size && i <= 10; i++) {
        if ((head->bytes[i] & 0x80) == 0) {
            head->bytes += i + 1;
            head->size -= i + 1;
            return true;
        }
    }
    return false;
}

static bool matches(struct conv_head head)
{
    return head_number(&head, CODE_POINTERS) && head_number(&head, CODE_SYNCS) &&
           head_number(&head, CODE_THREADS) && head_number(&head, CODE_START_THREAD);
}

const struct conv_format CONV_FORMAT_GLIBC_WL = {
    .kind = CONV_KIND_GLIBC_WL,
    .name = "glibc-wl",
    .title = "glibc's trace2wl and trace_run (.wl)",
    .lacks = "order, time, exact call, element counts",
    .state_bytes = sizeof(struct glibc_wl),
    .matches = matches,
    .run = run,
    .release = release,
};
