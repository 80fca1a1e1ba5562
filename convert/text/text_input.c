/* text_input.c - libarchive as a source of lines and bytes. */
#include "convert/text/text_input.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "convert/base/unnamed_file.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/process.h"

#define BUFFER_BYTES     65536u
#define LONG_PIECE_BYTES (UINT64_C(1) << 20)

struct conv_text {
    const char *path; /* borrowed */
    int fd;
    struct conv_gunzip *gunzip; /* below the archive */
    struct archive *archive;
    bool is_open;
    bool ended; /* the archive's only file was read to its end */
    const char *
        block; /* unpacked and not yet copied: the archive's. archive_read_data() would drop it at an error */
    size_t block_size;
    size_t begin, end; /* of what is in the buffer and was not taken */
    uint64_t offset;   /* of begin in the text */
    uint64_t lines;
    uint64_t unpacked; /* bytes that came out of the archive */
    bool is_packed;    /* the ratio of what comes out to what goes in is bounded */
    bool salvage, in_long_line;
    struct conv_error
        *failed; /* why unpacking ended; an archive that failed does not say it twice. NULL: it did not */
    char buffer[BUFFER_BYTES];
};

static enum fp_status archive_fail(struct conv_text *text, struct conv_error *error)
{
    const char *damage = conv_gunzip_damage(text->gunzip);
    const int number = damage == NULL ? archive_errno(text->archive) : 0;
    const char *what = damage == NULL ? archive_error_string(text->archive) : damage;
    const uint64_t offset = text->offset + (text->end - text->begin);
    if (number == EIO || number == EISDIR || number == ENOMEM)
        return conv_fail(error, text->path, number == ENOMEM ? FP_ERR_MEMORY : FP_ERR_READ, number, offset,
                         "cannot read");
    return conv_fail(error, text->path, FP_ERR_CORRUPT, 0, offset, "cannot unpack: %s",
                     what != NULL ? what : "damaged");
}

/* Only what unpacks inside this process: no filter that would start a program. gzip's is below. */
static bool enable_formats(struct archive *archive)
{
    return archive_read_support_format_raw(archive) == ARCHIVE_OK &&
           archive_read_support_format_empty(archive) == ARCHIVE_OK &&
           archive_read_support_format_zip(archive) == ARCHIVE_OK &&
           archive_read_support_filter_bzip2(archive) == ARCHIVE_OK &&
           archive_read_support_filter_xz(archive) == ARCHIVE_OK &&
           archive_read_support_filter_zstd(archive) == ARCHIVE_OK;
}

/* Go to the next regular file. FP_END: there is none. */
static enum fp_status next_member(struct conv_text *text, struct conv_error *error)
{
    for (;;) {
        struct archive_entry *entry;
        const int result = archive_read_next_header(text->archive, &entry);
        if (result == ARCHIVE_EOF)
            return FP_END;
        if (result < ARCHIVE_WARN)
            return archive_fail(text, error);
        /* The raw format calls its one member a regular file. */
        if (archive_entry_filetype(entry) == AE_IFREG || archive_entry_filetype(entry) == 0)
            return FP_OK;
    }
}

/* Damage is the end for libarchive, which would drop what came before it; fill() tells it then. */
static la_ssize_t read_gunzip(struct archive *archive, void *data, const void **ret_bytes)
{
    const ssize_t size = conv_gunzip_read(data, ret_bytes);
    if (size < 0)
        archive_set_error(archive, errno, "cannot read");
    return size;
}

/* A few bytes that are packed several times over unpack to more than any disk holds, so one layer is taken off: gzip's
 * below the archive, a filter of the archive's, or a zip file. Known only when the archive has seen its first bytes. */
static enum fp_status refuse_second_layer(struct conv_text *text, struct conv_error *error)
{
    const bool is_zip = (archive_format(text->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
    const bool is_gzip = conv_gunzip_is_packed(text->gunzip);
    const int filters = archive_filter_count(text->archive) - 1; /* the last one reads the file */
    text->is_packed = is_gzip || is_zip || filters > 0;
    if (is_gzip + is_zip + filters <= CONV_LAYERS_MAX)
        return FP_OK;
    return conv_fail(error, text->path, FP_ERR_LIMIT, 0, 0,
                     "is packed more than once: %s within %s; unpack the outer one, one layer is taken off",
                     is_zip ? "zip" : archive_filter_name(text->archive, 0),
                     is_gzip ? "gzip" : archive_filter_name(text->archive, filters - 1));
}

/* The unpacked bytes are compared with the packed bytes that they were made of. */
static enum fp_status check_ratio(const struct conv_text *text, struct conv_error *error)
{
    const uint64_t packed = conv_text_position(text);
    if (!text->is_packed || text->unpacked <= CONV_UNPACKED_FREE_BYTES + CONV_UNPACKED_RATIO_MAX * packed)
        return FP_OK;
    return conv_fail(
        error, text->path, FP_ERR_LIMIT, 0, text->unpacked,
        "unpacks to more than %u times its size (and %u MiB); if it is to be, unpack it yourself: "
        "a pipe into 'mallab convert ... -' has no such bound",
        (unsigned)CONV_UNPACKED_RATIO_MAX, (unsigned)(CONV_UNPACKED_FREE_BYTES >> 20));
}

static enum fp_status open_archive(struct conv_text *text, struct conv_error *error)
{
    enum fp_status status;
    text->fd = strcmp(text->path, "-") == 0 ? STDIN_FILENO : open(text->path, O_RDONLY | O_CLOEXEC);
    if (text->fd < 0)
        return conv_fail(error, text->path, FP_ERR_OPEN, errno, 0, "cannot open");
    text->archive = archive_read_new();
    text->gunzip = conv_gunzip_new(text->fd);
    if (text->archive == NULL || text->gunzip == NULL || !enable_formats(text->archive))
        return conv_fail_memory(error, text->path, "unpacking");
    if (archive_read_open(text->archive, text->gunzip, NULL, read_gunzip, NULL) != ARCHIVE_OK)
        return archive_fail(text, error);
    status = next_member(text, error);
    if (status == FP_OK)
        status = refuse_second_layer(text, error);
    if (status != FP_END)
        return status;
    if (conv_gunzip_damage(text->gunzip) != NULL)
        return archive_fail(text, error);
    return CONV_FOREIGN(error, text->path, "is empty");
}

/* Standard input that was only looked at, for whoever opens it next: what a pipe held cannot be read again. */
static struct conv_text *looked_at;

enum fp_status conv_text_open(const char *path, struct conv_error *ret_error, struct conv_text **ret_text)
{
    struct conv_text *text = NULL;
    enum fp_status status;
    if (looked_at != NULL && strcmp(path, "-") == 0) {
        *ret_text = looked_at;
        (*ret_text)->path = path;
        looked_at = NULL;
        return FP_OK;
    }
    text = calloc(1, sizeof *text);
    if (text == NULL)
        return conv_fail_memory(ret_error, path, "a buffer");
    text->path = path;
    text->fd = -1;
    status = open_archive(text, ret_error);
    if (status != FP_OK) {
        conv_text_close(text);
        return status;
    }
    text->is_open = true;
    fp_memory_input(conv_text_size(text));
    *ret_text = text;
    return FP_OK;
}

/* The text ends where it cannot be unpacked, with salvage. Failures of reading and memory are not the file's. */
static enum fp_status end_unpacking(struct conv_text *text, struct conv_error *error)
{
    const enum fp_status status = text->failed->cause.status;
    if (text->salvage && status == FP_ERR_CORRUPT) {
        text->ended = true;
        return FP_OK;
    }
    *error = *text->failed;
    error->cause.what = error->what;
    return status;
}

static enum fp_status unpacking_failed(struct conv_text *text, struct conv_error *error)
{
    const enum fp_status status = archive_fail(text, error);
    text->failed = malloc(sizeof *text->failed);
    if (text->failed == NULL)
        return status;
    *text->failed = *error;
    return text->block_size > 0 ? FP_OK : end_unpacking(text, error);
}

/* Unpack a block. One that came with a failure (a zip file's checksum) is taken before that counts. */
static enum fp_status next_block(struct conv_text *text, struct conv_error *error)
{
    const void *block = NULL;
    la_int64_t offset; /* there are no holes */
    int result;
    text->block_size = 0;
    result = archive_read_data_block(text->archive, &block, &text->block_size, &offset);
    if (result == ARCHIVE_EOF || result < ARCHIVE_FAILED || block == NULL)
        text->block_size = 0;
    text->block = block;
    text->unpacked += text->block_size;
    if (result == ARCHIVE_OK || result == ARCHIVE_RETRY)
        return check_ratio(text, error);
    if (result != ARCHIVE_EOF || conv_gunzip_damage(text->gunzip) != NULL)
        return unpacking_failed(text, error);
    text->ended = true;
    return FP_OK;
}

/* Read on until the buffer is full or the text has ended. */
static enum fp_status fill(struct conv_text *text, struct conv_error *error)
{
    if (text->failed != NULL && text->block_size == 0)
        return end_unpacking(text, error);
    if (text->begin > 0) {
        memmove(text->buffer, text->buffer + text->begin, text->end - text->begin);
        text->end -= text->begin;
        text->begin = 0;
    }
    while (!text->ended && text->end < BUFFER_BYTES) {
        size_t size = BUFFER_BYTES - text->end;
        if (text->block_size == 0) {
            const enum fp_status status = text->failed != NULL ? end_unpacking(text, error)
                                                               : next_block(text, error);
            if (status != FP_OK)
                return status;
            if (text->failed != NULL && text->block_size == 0)
                return FP_OK; /* as far as it can be unpacked */
        }
        if (text->block_size == 0)
            continue;
        if (size > text->block_size)
            size = text->block_size;
        memcpy(text->buffer + text->end, text->block, size);
        text->end += size;
        text->block += size;
        text->block_size -= size;
    }
    if (text->ended) {
        const enum fp_status status = next_member(text, error);
        if (status == FP_OK)
            return conv_fail(error, text->path, FP_ERR_READ, 0, 0,
                             "holds several files; unpack it and choose one");
        if (status == FP_ERR_CORRUPT && text->salvage)
            return unpacking_failed(text, error); /* behind the text, as a zip file's list */
        if (status != FP_END)
            return status;
    }
    return FP_OK;
}

void conv_text_salvage(struct conv_text *text, bool salvage)
{
    text->salvage = salvage;
}

const char *conv_text_damage(const struct conv_text *text, uint64_t *ret_offset)
{
    if (text->failed == NULL || !text->ended)
        return NULL;
    *ret_offset = text->failed->cause.offset;
    return text->failed->what;
}

enum fp_status conv_text_peek(struct conv_text *text, struct conv_error *ret_error, const char **ret_bytes,
                              size_t *ret_size, bool *ret_whole)
{
    if (text->end == 0 && !text->ended) {
        const enum fp_status status = fill(text, ret_error);
        if (status != FP_OK)
            return status;
    }
    *ret_bytes = text->buffer + text->begin;
    *ret_size = text->end - text->begin;
    *ret_whole = text->ended;
    return FP_OK;
}

static void skip(struct conv_text *text, size_t count)
{
    text->begin += count;
    text->offset += count;
}

uint64_t conv_text_offset(const struct conv_text *text)
{
    return text->offset;
}

/* A line may be longer than memory and patience: it is told piece by piece. */
static enum fp_status skip_long_line(struct conv_text *text, struct conv_error *error,
                                     struct conv_line *ret_line)
{
    const uint64_t offset = text->offset;
    const bool goes_on = text->in_long_line;
    const char *newline;
    for (;;) {
        enum fp_status status;
        newline = memchr(text->buffer + text->begin, '\n', text->end - text->begin);
        if (newline != NULL || text->ended || text->offset - offset >= LONG_PIECE_BYTES)
            break;
        skip(text, text->end - text->begin);
        status = fill(text, error);
        if (status != FP_OK)
            return status;
    }
    skip(text,
         newline != NULL ? (size_t)(newline + 1 - text->buffer) - text->begin : text->end - text->begin);
    text->in_long_line = newline == NULL && !text->ended;
    text->lines += !goes_on;
    *ret_line = (struct conv_line){.number = text->lines,
                                   .offset = offset,
                                   .has_end = newline != NULL,
                                   .is_long = true,
                                   .goes_on = goes_on};
    return FP_OK;
}

enum fp_status conv_text_line(struct conv_text *text, struct conv_error *ret_error,
                              struct conv_line *ret_line)
{
    char *newline = memchr(text->buffer + text->begin, '\n', text->end - text->begin);
    size_t length;
    if (text->in_long_line)
        return skip_long_line(text, ret_error, ret_line);
    if (newline == NULL && !text->ended) {
        const enum fp_status status = fill(text, ret_error);
        if (status != FP_OK)
            return status;
        newline = memchr(text->buffer + text->begin, '\n', text->end - text->begin);
    }
    if (newline == NULL && text->begin == text->end)
        return FP_END;
    length = (newline != NULL ? (size_t)(newline - text->buffer) : text->end) - text->begin;
    if (length > CONV_LINE_BYTES_MAX && text->salvage)
        return skip_long_line(text, ret_error, ret_line);
    if (length > CONV_LINE_BYTES_MAX) {
        const enum fp_status status = conv_fail(ret_error, text->path, FP_ERR_CORRUPT, 0, text->offset,
                                                "longer than %u bytes", CONV_LINE_BYTES_MAX);
        ret_error->line = text->lines + 1;
        return status;
    }
    *ret_line = (struct conv_line){.at = text->buffer + text->begin,
                                   .length = length,
                                   .number = ++text->lines,
                                   .offset = text->offset,
                                   .has_end = newline != NULL};
    if (newline != NULL && length > 0 && newline[-1] == '\r')
        ret_line->length--;
    text->begin += length + (newline != NULL);
    text->offset += length + (newline != NULL);
    return FP_OK;
}

/* ---- a file to jump in ---------------------------------------------------------------------- */

static bool is_plain_file(const struct conv_text *text, uint64_t *ret_size)
{
    struct stat stat_;
    if (strcmp(text->path, "-") == 0 || conv_gunzip_is_packed(text->gunzip) ||
        archive_filter_count(text->archive) > 1 || archive_format(text->archive) != ARCHIVE_FORMAT_RAW ||
        fstat(text->fd, &stat_) != 0 || !S_ISREG(stat_.st_mode))
        return false;
    *ret_size = (uint64_t)stat_.st_size;
    return true;
}

static enum fp_status copy_to(struct conv_text *text, const struct conv_temporary *to,
                              struct conv_error *error)
{
    for (;;) {
        const bool more = text->begin == text->end && !text->ended;
        const enum fp_status status = more ? fill(text, error) : FP_OK;
        const size_t size = text->end - text->begin;
        if (status != FP_OK || size == 0)
            return status;
        if (text->offset + size > CONV_SPOOL_BYTES_MAX)
            return conv_fail(error, text->path, FP_ERR_LIMIT, 0, text->offset,
                             "unpacks to more than the %u GiB that are put into a temporary file; unpack it "
                             "into a file of your own",
                             (unsigned)(CONV_SPOOL_BYTES_MAX >> 30));
        if (!fp_write_all(to->descriptor, (const uint8_t *)text->buffer + text->begin, size))
            return conv_fail(error, text->path, FP_ERR_WRITE, errno, text->offset,
                             "cannot be unpacked into a file in %s", to->directory);
        skip(text, size);
    }
}

enum fp_status conv_text_spool(struct conv_text *text, struct conv_error *ret_error, int *ret_fd,
                               uint64_t *ret_size)
{
    const bool plain = is_plain_file(text, ret_size);
    struct conv_temporary unpacked;
    enum fp_status status;
    if (plain) {
        *ret_fd = fcntl(text->fd, F_DUPFD_CLOEXEC, 0);
        return *ret_fd >= 0 ? FP_OK
                            : conv_fail(ret_error, text->path, FP_ERR_OPEN, errno, 0, "cannot open again");
    }
    status = conv_temporary_open("-", &unpacked, ret_error);
    if (status != FP_OK)
        return status;
    status = copy_to(text, &unpacked, ret_error);
    if (status != FP_OK) {
        (void)close(unpacked.descriptor); /* its name was never there */
        return status;
    }
    *ret_size = text->offset;
    *ret_fd = unpacked.descriptor;
    return FP_OK;
}

uint64_t conv_text_position(const struct conv_text *text)
{
    return conv_gunzip_position(text->gunzip);
}

uint64_t conv_text_size(const struct conv_text *text)
{
    struct stat facts;
    return fstat(text->fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0
               ? (uint64_t)facts.st_size
               : 0;
}

void conv_text_close(struct conv_text *text)
{
    if (text == NULL)
        return;
    if (text->fd == STDIN_FILENO && text->is_open && text->offset == 0 && looked_at == NULL) {
        looked_at = text;
        return;
    }
    if (text->archive != NULL)
        (void)archive_read_free(text->archive); /* only read from */
    conv_gunzip_free(text->gunzip);
    if (text->fd > STDIN_FILENO)
        (void)close(text->fd);
    free(text->failed);
    free(text);
}
