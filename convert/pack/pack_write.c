/* pack_write.c - libarchive makes a tar of files and packs it; the bytes go through wl_file.h, which appears whole. */
#include "convert/pack/pack_write.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "convert/base/limits.h"
#include "convert/base/unnamed_file.h"
#include "footprint/base/trusted.h"
#include "footprint/wl/wl_file.h"

#define BUFFER_BYTES 65536u

struct packing {
    struct wl_file out;
    const char *out_path;
    struct archive *archive;
    bool given_up; /* what still comes of the archive is dropped */
    XXH64_state_t *state;
    const struct conv_pack_watch *watch;
    uint64_t bytes_in, total;
    struct conv_error *error;
};

static enum fp_status unwritten(struct packing *work)
{
    work->error->output = true;
    if (work->out.error.status != FP_OK)
        return conv_fail_with(work->error, work->out_path, &work->out.error);
    const char *words = archive_error_string(work->archive);
    return conv_fail(work->error, work->out_path, FP_ERR_WRITE, 0, work->out.bytes, "cannot pack: %.200s",
                     words != NULL ? words : "no memory");
}

static la_ssize_t take_packed(struct archive *archive, void *data, const void *bytes, size_t size)
{
    struct packing *work = data;
    if (work->given_up)
        return (la_ssize_t)size;
    if (wl_file_append(&work->out, bytes, size) != FP_OK) {
        archive_set_error(archive, EIO, "cannot write");
        return -1;
    }
    (void)XXH64_update(work->state, bytes, size); /* cannot fail for what is there */
    return (la_ssize_t)size;
}

/* The tar of GNU: any bytes in names, any length, any size, and nothing in it that nobody asked for. */
static enum fp_status begin(struct packing *work, const char *out_path, bool overwrite)
{
    sigset_t held;
    work->state = XXH64_createState();
    work->archive = archive_write_new();
    if (work->state == NULL || work->archive == NULL || XXH64_reset(work->state, 0) != XXH_OK)
        return conv_fail_memory(work->error, out_path, "packing");
    conv_hold_signals(&held);
    const enum fp_status status = wl_file_create(&work->out, out_path, overwrite);
    conv_announce_temporary(work->out.temporary);
    conv_let_signals(&held);
    if (status != FP_OK)
        return unwritten(work);
    if (work->out.path != NULL && fchmod(work->out.fd, 0600) != 0) {
        work->out.error = fp_error_make(FP_ERR_WRITE, errno, 0, "cannot be made private");
        return unwritten(work);
    }
    return archive_write_add_filter_zstd(work->archive) == ARCHIVE_OK &&
                   archive_write_set_format_gnutar(work->archive) == ARCHIVE_OK &&
                   archive_write_set_bytes_in_last_block(work->archive, 1) == ARCHIVE_OK &&
                   archive_write_open(work->archive, work, NULL, take_packed, NULL) == ARCHIVE_OK
               ? FP_OK
               : unwritten(work);
}

static enum fp_status begin_entry(struct packing *work, const char *place, uint64_t size)
{
    struct archive_entry *entry = archive_entry_new();
    int result = ARCHIVE_FATAL;
    if (entry != NULL) {
        archive_entry_copy_pathname(entry, place);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0600);
        archive_entry_set_mtime(entry, 0, 0);
        archive_entry_set_size(entry, (int64_t)size);
        result = archive_write_header(work->archive, entry);
        archive_entry_free(entry);
    }
    return result == ARCHIVE_OK ? FP_OK : unwritten(work);
}

static enum fp_status put(struct packing *work, const void *bytes, size_t size)
{
    return archive_write_data(work->archive, bytes, size) == (la_ssize_t)size ? FP_OK : unwritten(work);
}

static enum fp_status put_mark(struct packing *work)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%s%d\n", CONV_PACK_SCHEMA, CONV_PACK_VERSION);
    const enum fp_status status = begin_entry(work, CONV_PACK_MARK, (uint64_t)length);
    return status == FP_OK ? put(work, text, (size_t)length) : status;
}

static enum fp_status copy(struct packing *work, const char *path, int fd, uint64_t size)
{
    char buffer[BUFFER_BYTES];
    enum fp_status status = FP_OK;
    uint64_t done = 0;
    while (done < size && status == FP_OK) {
        const size_t wanted = size - done < sizeof buffer ? (size_t)(size - done) : sizeof buffer;
        const ssize_t got = read(fd, buffer, wanted);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return conv_fail(work->error, path, FP_ERR_READ, got < 0 ? errno : 0, done,
                             got < 0 ? "cannot read" : "became shorter while it was packed");
        status = put(work, buffer, (size_t)got);
        done += (uint64_t)got;
        work->bytes_in += (uint64_t)got;
        if (status == FP_OK && work->watch != NULL && work->watch->go_on != NULL &&
            !work->watch->go_on(work->watch->data, work->bytes_in, work->total))
            return conv_fail(work->error, path, FP_ERR_READ, EINTR, done, "was not packed");
    }
    return status;
}

static int open_trusted(const char *path, struct stat *ret_facts, struct conv_error *error)
{
    struct fp_error cause;
    const int fd = fp_trusted_open(AT_FDCWD, path, S_IFREG, FP_TRUSTED_READ, &cause);
    if (fd < 0)
        (void)conv_fail_with(error, path, &cause);
    else if (fstat(fd, ret_facts) == 0)
        return fd;
    else
        (void)conv_fail(error, path, FP_ERR_READ, errno, 0, "cannot read");
    if (fd >= 0)
        (void)close(fd); /* only looked at */
    return -1;
}

static enum fp_status put_file(struct packing *work, const struct conv_pack_file *file)
{
    struct stat facts;
    const int fd = open_trusted(file->path, &facts, work->error);
    if (fd < 0)
        return work->error->cause.status;
    enum fp_status status = begin_entry(work, file->place, (uint64_t)facts.st_size);
    if (status == FP_OK)
        status = copy(work, file->path, fd, (uint64_t)facts.st_size);
    (void)close(fd); /* only read from */
    return status;
}

static int by_place(const void *left, const void *right)
{
    const struct conv_pack_file *one = left, *other = right;
    return strcmp(one->place, other->place);
}

/* What it will take, so that progress is known, and a pack is refused before it is made that nobody could open. */
static enum fp_status measure(struct packing *work, const struct conv_pack_file *files, size_t count)
{
    if (count > CONV_PACK_FILES_MAX)
        return conv_fail(work->error, files[0].path, FP_ERR_LIMIT, 0, 0,
                         "and others are %zu files, and a pack has %u at most: make several", count,
                         CONV_PACK_FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct stat facts;
        const int fd = open_trusted(files[i].path, &facts, work->error);
        if (fd < 0)
            return work->error->cause.status;
        (void)close(fd); /* only looked at */
        work->total += (uint64_t)facts.st_size;
    }
    if (work->total > CONV_SPOOL_BYTES_MAX)
        return conv_fail(work->error, files[0].path, FP_ERR_LIMIT, 0, 0,
                         "and others take more than the %u GiB that a pack may hold: make several",
                         (unsigned)(CONV_SPOOL_BYTES_MAX >> 30));
    return FP_OK;
}

/* Put the digest into the name that the file will have, now that it is known. */
static enum fp_status name_it(struct packing *work, uint64_t digest)
{
    char *mark = strrchr(work->out.path, CONV_PACK_DIGEST), *named = NULL;
    if (mark == NULL)
        return FP_OK;
    if (asprintf(&named, "%.*s%08llx%s", (int)(mark - work->out.path), work->out.path,
                 (unsigned long long)(digest >> 32), mark + 1) < 0)
        return conv_fail_memory(work->error, work->out_path, "a name");
    free(work->out.path);
    work->out.path = named;
    return FP_OK;
}

/* Finish the file under its name. */
static enum fp_status finish(struct packing *work, bool named, struct conv_packed *ret_packed)
{
    struct conv_packed packed = {.bytes_in = work->bytes_in};
    if (archive_write_close(work->archive) != ARCHIVE_OK)
        return unwritten(work);
    packed.bytes = work->out.bytes;
    packed.digest = XXH64_digest(work->state);
    enum fp_status status = named && work->out.path != NULL ? name_it(work, packed.digest) : FP_OK;
    packed.path = status == FP_OK ? strdup(work->out.path != NULL ? work->out.path : "-") : NULL;
    if (status == FP_OK && packed.path == NULL)
        status = conv_fail_memory(work->error, work->out_path, "a name");
    if (status == FP_OK && wl_file_finish(&work->out) != FP_OK) {
        work->error->output = true;
        status = conv_fail_with(work->error, packed.path, &work->out.error);
    }
    if (status == FP_OK)
        *ret_packed = packed;
    else
        free(packed.path);
    return status;
}

enum fp_status conv_pack_write(struct conv_pack_file *files, size_t count, const char *out_path, bool named,
                               bool overwrite, const struct conv_pack_watch *watch,
                               struct conv_packed *ret_packed, struct conv_error *error)
{
    struct packing work = {.out = {.fd = -1}, .out_path = out_path, .watch = watch, .error = error};
    memset(error, 0, sizeof *error);
    qsort(files, count, sizeof *files, by_place);
    enum fp_status status = measure(&work, files, count);
    if (status == FP_OK)
        status = begin(&work, out_path, overwrite);
    if (status == FP_OK)
        status = put_mark(&work);
    for (size_t i = 0; i < count && status == FP_OK; i++)
        status = put_file(&work, &files[i]);
    if (status == FP_OK)
        status = finish(&work, named, ret_packed);
    if (work.archive != NULL) {
        if (status != FP_OK) {
            work.given_up = true;
            (void)archive_write_fail(work.archive);  /* or closing would fill up the entry */
            (void)archive_write_close(work.archive); /* or freeing it would leak its buffers */
        }
        (void)archive_write_free(work.archive); /* closed */
    }
    (void)XXH64_freeState(work.state); /* frees only; NULL is nothing to it */
    conv_announce_temporary(NULL);
    wl_file_abandon(&work.out);
    return status;
}
