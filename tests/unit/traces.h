/* traces.h - one random history, written in every format of other tools' traces. */
#ifndef MALLAB_TESTS_TRACES_H
#define MALLAB_TESTS_TRACES_H

#include <archive.h>
#include <archive_entry.h>

#include "convert/convert.h"
#include "convert/import/formats.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/scratch.h"

#define HISTORY_CALLS 60000u /* at the most: more text than unpackers hold back */
#define HISTORY_SHORT                                                                                        \
    12000u /* for tests that read one again and again: still more than is looked at to know its format */
#define HISTORY_IDS 500u

struct call {
    char kind; /* 'm', 'r', 'f' */
    unsigned id;
    unsigned size;
};

struct history {
    struct call calls[HISTORY_CALLS];
    uint32_t count;
    uint64_t requested, live_peak, live_end;
    uint64_t resizes;
};

static inline void make_history(struct history *history, uint32_t count)
{
    static unsigned sizes[HISTORY_IDS + 1]; /* of live objects + 1; 0: none */
    uint64_t random = 20261121;
    uint64_t live = 0;
    memset(history, 0, sizeof *history);
    memset(sizes, 0, sizeof sizes);
    history->count = count;
    for (size_t i = 0; i < count; i++) {
        struct call *call = &history->calls[i];
        call->id = 1 + test_random(&random) % HISTORY_IDS;
        call->size = test_random(&random) % 3000;
        call->kind = sizes[call->id] == 0 ? 'm' : test_random(&random) % 5 == 0 ? 'r' : 'f';
        live -= sizes[call->id] != 0 ? sizes[call->id] - 1 : 0;
        sizes[call->id] = call->kind == 'f' ? 0 : call->size + 1;
        if (call->kind == 'f')
            continue;
        live += call->size;
        history->requested += call->size;
        history->resizes += call->kind == 'r';
        if (live > history->live_peak)
            history->live_peak = live;
    }
    history->live_end = live;
}

static void put_number(FILE *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t at = sizeof bytes;
    bytes[--at] = value & 127;
    while ((value >>= 7) != 0)
        bytes[--at] = (uint8_t)((value & 127) | 128);
    fwrite(bytes + at, 1, sizeof bytes - at, out);
}

static void put_head(FILE *out, enum conv_kind kind, uint32_t calls)
{
    if (kind == CONV_KIND_MTRACE)
        fputs("= Start\n", out);
    if (kind == CONV_KIND_REP)
        fprintf(out, "1000\n%u\n%u\n1\n", HISTORY_IDS + 1, calls);
    if (kind == CONV_KIND_HEAPTRACK)
        fputs("v 10400 3\n", out);
    if (kind == CONV_KIND_GLIBC_WL) {
        fputs("\x08", out);
        put_number(out, HISTORY_IDS + 1);
        fwrite("\x09\0\x0a\x01\x0b\x0a\x01", 1, 7, out); /* 10 bytes in all */
    }
}

static void put_call(FILE *out, enum conv_kind kind, const struct call *call)
{
    const unsigned long at = 0x7f0000001000ul + 64ul * call->id;
    const unsigned id = call->id, size = call->size;
    const char c = call->kind;
    switch (kind) {
    case CONV_KIND_ANDROID:
        if (c == 'r')
            fprintf(out, "7: realloc 0x%lx 0x%lx %u\n", at, at, size);
        else
            fprintf(out, c == 'm' ? "7: malloc 0x%lx %u\n" : "7: free 0x%lx\n", at, size);
        break;
    case CONV_KIND_MTRACE:
        if (c == 'r')
            fprintf(out, "@ [0x1] < 0x%lx\n@ [0x1] > 0x%lx %#x\n", at, at, size);
        else
            fprintf(out, c == 'm' ? "@ ./a:[0x1] + 0x%lx %#x\n" : "- 0x%lx\n", at, size);
        break;
    case CONV_KIND_GLIBC_WL:
        put_number(out, c == 'm' ? 2 : c == 'r' ? 4 : 5);
        put_number(out, id);
        if (c == 'r')
            put_number(out, id);
        if (c != 'f')
            put_number(out, size);
        break;
    case CONV_KIND_REP:
        fprintf(out, c == 'f' ? "f %u\n" : c == 'm' ? "a %u %u\n" : "r %u %u\n", id, size);
        break;
    case CONV_KIND_HEAPTRACK:
        if (c != 'm')
            fprintf(out, "- %lx\n", at);
        if (c != 'f')
            fprintf(out, "+ %x 1 %lx\n", size, at);
        break;
    default:
        HARNESS_FAIL("no writer of format '%s'", conv_kind_name(kind));
    }
}

static inline const char *history_path(const struct history *history, enum conv_kind kind)
{
    const char *path = scratch_path(conv_kind_name(kind));
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        abort();
    put_head(out, kind, history->count);
    for (size_t i = 0; i < history->count; i++)
        put_call(out, kind, &history->calls[i]);
    if (kind == CONV_KIND_GLIBC_WL)
        put_number(out, 1);
    if (fclose(out) != 0)
        abort();
    return path;
}

/* The file so often in a zip file, or once through a filter. */
static inline void pack(const char *from, const char *to, bool zip, int (*filter)(struct archive *),
                        unsigned members)
{
    struct archive *archive = archive_write_new();
    size_t size;
    char *bytes = scratch_read(from, &size);
    CHECK((zip ? archive_write_set_format_zip(archive) : archive_write_set_format_raw(archive)) ==
          ARCHIVE_OK);
    CHECK(filter == NULL || filter(archive) == ARCHIVE_OK);
    CHECK(archive_write_open_filename(archive, to) == ARCHIVE_OK);
    for (unsigned i = 0; i < members; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, i == 0 ? "trace" : "second");
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, (la_int64_t)size);
        CHECK(archive_write_header(archive, entry) == ARCHIVE_OK);
        CHECK(archive_write_data(archive, bytes, size) == (la_ssize_t)size);
        archive_entry_free(entry);
    }
    CHECK(archive_write_close(archive) == ARCHIVE_OK);
    CHECK(archive_write_free(archive) == ARCHIVE_OK);
    free(bytes);
}

/* What a survey tells of a trace of these bytes. */
static inline enum fp_status survey_bytes(const void *bytes, size_t size, const struct conv_options *options,
                                          struct conv_survey *ret, struct conv_error *ret_error)
{
    const char *path = scratch_path("trace");
    scratch_write(path, bytes, size);
    memset(ret, 0, sizeof *ret);
    return conv_survey_file(path, options, ret, ret_error);
}

#endif
