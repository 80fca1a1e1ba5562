/* pack_open.c - libarchive hands out the files of a pack; what they are called and how large they are is judged here.
 *
 * Laws: nothing is written but below the directory's descriptor; no name is used that has not passed take_name; no file is opened
 * that is there already; no link, device or directory of the pack is made; each byte is counted before it is written. */
#include "convert/pack/pack_open.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/base/grow.h"
#include "convert/base/limits.h"
#include "footprint/base/label.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"

#define BUFFER_BYTES 65536u
#define MARK_BYTES   64u /* more than any version's */
#define PARTS        3u  /* LABEL/NAME/FILE */

struct unpacking {
    const char *path, *directory;
    int fd, root; /* the pack; the directory */
    struct archive *archive;
    struct conv_pack pack;
    uint64_t packed_bytes;
    const struct conv_pack_watch *watch;
    struct conv_error *error;
};

/* A name in the pack, taken apart. */
struct place {
    char parts[PARTS][CONV_PACK_PART_MAX + 1];
    size_t count;
};

/* ---- the archive ----------------------------------------------------------------------------- */

/* Only what unpacks inside this process, and only what a pack is. */
static struct archive *new_archive(void)
{
    struct archive *archive = archive_read_new();
    if (archive != NULL && archive_read_support_filter_zstd(archive) == ARCHIVE_OK &&
        archive_read_support_format_tar(archive) == ARCHIVE_OK)
        return archive;
    if (archive != NULL)
        (void)archive_read_free(archive); /* nothing was read */
    return NULL;
}

static uint64_t position_of(struct archive *archive)
{
    const int64_t bytes = archive_filter_bytes(archive, -1);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static enum fp_status refuse(struct unpacking *work, enum fp_status status, const char *what,
                             const char *name)
{
    return conv_fail(work->error, work->path, status, 0, position_of(work->archive), "%s%s%.120s%s", what,
                     name != NULL ? " '" : "", name != NULL ? name : "", name != NULL ? "'" : "");
}

static enum fp_status unreadable(struct unpacking *work)
{
    const int number = archive_errno(work->archive);
    const char *words = archive_error_string(work->archive);
    if (number == EIO || number == EISDIR || number == ENOMEM)
        return conv_fail(work->error, work->path, number == ENOMEM ? FP_ERR_MEMORY : FP_ERR_READ, number,
                         position_of(work->archive), "cannot read");
    return conv_fail(work->error, work->path, FP_ERR_CORRUPT, 0, position_of(work->archive),
                     "cannot unpack: %.200s", words != NULL ? words : "damaged");
}

/* The mark's text. Returns false where the entry is none, or does not read. */
static bool read_mark(struct archive *archive, struct archive_entry *entry, char ret_text[MARK_BYTES])
{
    const char *name = archive_entry_pathname(entry);
    la_ssize_t size = 0;
    if (name == NULL || strcmp(name, CONV_PACK_MARK) != 0 || archive_entry_filetype(entry) != AE_IFREG)
        return false;
    size = archive_read_data(archive, ret_text, MARK_BYTES - 1);
    ret_text[size > 0 ? size : 0] = '\0';
    return strncmp(ret_text, CONV_PACK_SCHEMA, strlen(CONV_PACK_SCHEMA)) == 0;
}

static bool is_zstd(int fd)
{
    static const unsigned char MAGIC[] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char bytes[sizeof MAGIC];
    return pread(fd, bytes, sizeof bytes, 0) == sizeof bytes && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

bool conv_pack_detect(const char *path)
{
    char text[MARK_BYTES];
    struct archive_entry *entry;
    struct stat facts;
    if (stat(path, &facts) != 0 ||
        !S_ISREG(facts.st_mode)) /* who writes to a pipe would take us for its reader */
        return false;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct archive *archive = is_zstd(fd) ? new_archive() : NULL;
    const bool found = archive != NULL && archive_read_open_fd(archive, fd, BUFFER_BYTES) == ARCHIVE_OK &&
                       archive_read_next_header(archive, &entry) == ARCHIVE_OK &&
                       read_mark(archive, entry, text);
    if (archive != NULL)
        (void)archive_read_free(archive); /* only looked into */
    (void)close(fd);                      /* only read from */
    return found;
}

static enum fp_status no_pack(struct unpacking *work)
{
    (void)conv_fail(work->error, work->path, FP_ERR_FOREIGN, 0, 0, "not a pack of 'mallab pack'");
    return conv_no_remedy(work->error);
}

static enum fp_status check_mark(struct unpacking *work)
{
    struct archive_entry *entry;
    char text[MARK_BYTES], *end;
    const int result = archive_read_next_header(work->archive, &entry);
    if (result == ARCHIVE_FATAL && archive_errno(work->archive) == EIO)
        return unreadable(work);
    if (result != ARCHIVE_OK || !read_mark(work->archive, entry, text))
        return no_pack(work);
    const unsigned long version = strtoul(text + strlen(CONV_PACK_SCHEMA), &end, 10);
    if (version != CONV_PACK_VERSION || *end != '\n')
        return conv_fail(work->error, work->path, FP_ERR_VERSION, 0, 0,
                         "is a pack of version %.20lu, this mallab reads %d", version, CONV_PACK_VERSION);
    return FP_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* One part up to the slash or the end. Returns what is behind it; NULL: no pack has such a part. */
static const char *take_part(const char *at, struct place *place)
{
    const size_t length = strcspn(at, "/");
    if (place->count == PARTS || length == 0 || length > CONV_PACK_PART_MAX || at[0] == '.')
        return NULL;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)at[i] < ' ' || at[i] == 127)
            return NULL;
    memcpy(place->parts[place->count], at, length);
    place->parts[place->count++][length] = '\0';
    return at + length;
}

/* Whether the name is one that a pack may have. */
static bool take_name(const char *name, struct place *ret_place)
{
    struct place place = {.count = 0};
    const char *at = name != NULL ? take_part(name, &place) : NULL;
    while (at != NULL && *at == '/')
        at = take_part(at + 1, &place);
    if (at == NULL || place.count < 2)
        return false;
    const char *last = place.parts[place.count - 1];
    const bool is_labelled = strcmp(place.parts[0], CONV_PACK_NO_LABEL) == 0 ||
                             fp_label_is_valid(place.parts[0]);
    *ret_place = place;
    if (!is_labelled || fp_has_ending(last, ".wl"))
        return is_labelled;
    return place.count == PARTS && (fp_has_ending(last, ".fp") || strcmp(last, "recording.json") == 0);
}

/* ---- one file --------------------------------------------------------------------------------- */

/* Takes errno, of the output. */
static enum fp_status unwritten(struct unpacking *work)
{
    const int number = errno;
    work->error->output = true;
    return conv_fail(work->error, work->directory, FP_ERR_WRITE, number, 0, "cannot be unpacked into");
}

/* A directory of ours below another. Returns its descriptor; -1 with errno set. */
static int enter(int parent, const char *name, bool *ret_made)
{
    *ret_made = mkdirat(parent, name, 0700) == 0;
    if (!*ret_made && errno != EEXIST)
        return -1;
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static enum fp_status add_item(struct unpacking *work, const struct place *place)
{
    struct conv_pack *pack = &work->pack;
    char *path = NULL;
    if (!CONV_RESERVE(pack->items, pack->capacity, pack->count + 1) ||
        asprintf(&path, "%s/%s/%s", work->directory, place->parts[0], place->parts[1]) < 0)
        return conv_fail_memory(work->error, work->path, "the list of what it holds");
    pack->items[pack->count++] = path;
    return FP_OK;
}

/* Make the file that an entry is, and its directories. ret_fd: -1 unless FP_OK. */
static enum fp_status make_file(struct unpacking *work, const struct place *place, int *ret_fd)
{
    bool made, is_new = place->count == 2;
    int directory = enter(work->root, place->parts[0], &made);
    *ret_fd = -1;
    if (directory >= 0 && place->count == PARTS) {
        const int inner = enter(directory, place->parts[1], &is_new);
        const int saved = errno;
        (void)close(directory); /* only looked into */
        directory = inner;
        errno = saved;
    }
    if (directory < 0)
        return errno == ENOTDIR || errno == ELOOP
                   ? refuse(work, FP_ERR_CORRUPT, "has a file and a directory named", place->parts[1])
                   : unwritten(work);
    const char *name = place->parts[place->count - 1];
    const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int saved = errno;
    (void)close(directory); /* only looked into */
    errno = saved;
    if (fd < 0)
        return errno == EEXIST ? refuse(work, FP_ERR_CORRUPT, "holds twice", name) : unwritten(work);
    *ret_fd = fd;
    return is_new ? add_item(work, place) : FP_OK;
}

/* Whether what came out so far is in proportion to what went in, and wanted still. */
static enum fp_status check_bounds(struct unpacking *work)
{
    const uint64_t packed = position_of(work->archive);
    const struct conv_pack_watch *watch = work->watch;
    if (work->pack.bytes > CONV_SPOOL_BYTES_MAX)
        return conv_fail(work->error, work->path, FP_ERR_LIMIT, 0, packed, "unpacks to more than %u GiB",
                         (unsigned)(CONV_SPOOL_BYTES_MAX >> 30));
    if (work->pack.bytes > CONV_UNPACKED_FREE_BYTES + CONV_UNPACKED_RATIO_MAX * packed)
        return conv_fail(work->error, work->path, FP_ERR_LIMIT, 0, packed,
                         "unpacks to more than %u times its size (and %u MiB), which no pack does",
                         (unsigned)CONV_UNPACKED_RATIO_MAX, (unsigned)(CONV_UNPACKED_FREE_BYTES >> 20));
    if (watch != NULL && watch->go_on != NULL && !watch->go_on(watch->data, packed, work->packed_bytes))
        return conv_fail(work->error, work->path, FP_ERR_READ, EINTR, packed, "was not unpacked");
    return FP_OK;
}

static enum fp_status copy(struct unpacking *work, int fd, uint64_t size)
{
    char buffer[BUFFER_BYTES];
    uint64_t done = 0;
    enum fp_status status = FP_OK;
    while (status == FP_OK) {
        const la_ssize_t got = archive_read_data(work->archive, buffer, sizeof buffer);
        if (got < 0)
            return unreadable(work);
        if (got == 0)
            break;
        done += (uint64_t)got;
        work->pack.bytes += (uint64_t)got;
        status = check_bounds(work);
        if (status == FP_OK && !fp_write_all(fd, buffer, (size_t)got))
            return unwritten(work);
    }
    return status != FP_OK || done == size ? status : refuse(work, FP_ERR_CORRUPT, "ends early", NULL);
}

static enum fp_status take_entry(struct unpacking *work, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    struct place place;
    int fd;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL ||
        archive_entry_symlink(entry) != NULL || archive_entry_sparse_count(entry) > 0)
        return refuse(work, FP_ERR_CORRUPT, "holds what is no plain file", name);
    if (!take_name(name, &place))
        return refuse(work, FP_ERR_CORRUPT, "holds what no pack has", name);
    if (++work->pack.files > CONV_PACK_FILES_MAX)
        return conv_fail(work->error, work->path, FP_ERR_LIMIT, 0, position_of(work->archive),
                         "holds more than %u files", CONV_PACK_FILES_MAX);
    const int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
    if (size < 0)
        return refuse(work, FP_ERR_CORRUPT, "does not say how large it is:", name);
    enum fp_status status = make_file(work, &place, &fd);
    if (status == FP_OK)
        status = copy(work, fd, (uint64_t)size);
    if (fd >= 0 && close(fd) != 0 && status == FP_OK)
        status = unwritten(work);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum fp_status unpack(struct unpacking *work)
{
    struct archive_entry *entry;
    int result;
    enum fp_status status = check_mark(work);
    while (status == FP_OK && (result = archive_read_next_header(work->archive, &entry)) != ARCHIVE_EOF)
        status = result == ARCHIVE_OK ? take_entry(work, entry) : unreadable(work);
    if (status == FP_OK && work->pack.count == 0)
        status = refuse(work, FP_ERR_CORRUPT, "holds nothing", NULL);
    return status;
}

static enum fp_status begin(struct unpacking *work)
{
    struct stat facts;
    work->fd = open(work->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (work->fd < 0)
        return conv_fail(work->error, work->path, FP_ERR_OPEN, errno, 0, "cannot open");
    if (fstat(work->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return conv_fail(work->error, work->path, FP_ERR_FOREIGN, 0, 0, "is no regular file");
    if (!is_zstd(work->fd))
        return no_pack(work);
    work->packed_bytes = (uint64_t)facts.st_size;
    work->root = open(work->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (work->root < 0)
        return unwritten(work);
    work->archive = new_archive();
    if (work->archive == NULL)
        return conv_fail_memory(work->error, work->path, "unpacking");
    return archive_read_open_fd(work->archive, work->fd, BUFFER_BYTES) == ARCHIVE_OK ? FP_OK
                                                                                     : unreadable(work);
}

enum fp_status conv_pack_open(const char *path, const char *directory, const struct conv_pack_watch *watch,
                              struct conv_pack *ret_pack, struct conv_error *error)
{
    struct unpacking work = {
        .path = path, .directory = directory, .fd = -1, .root = -1, .watch = watch, .error = error};
    memset(error, 0, sizeof *error);
    enum fp_status status = begin(&work);
    if (status == FP_OK)
        status = unpack(&work);
    if (work.archive != NULL)
        (void)archive_read_free(work.archive); /* only read from */
    if (work.root >= 0)
        (void)close(work.root); /* only looked into */
    if (work.fd >= 0)
        (void)close(work.fd); /* only read from */
    if (status == FP_OK)
        *ret_pack = work.pack;
    else
        conv_pack_release(&work.pack);
    return status;
}

void conv_pack_release(struct conv_pack *pack)
{
    for (size_t i = 0; i < pack->count; i++)
        free(pack->items[i]);
    free(pack->items);
    *pack = (struct conv_pack){0};
}
