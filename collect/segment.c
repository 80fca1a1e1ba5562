/* segment.c - the segment made, laid out, grown and removed; that of another recording found. */
#include "collect/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/json_read.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it */
#endif

#define HELD_AT_START 320u /* 10 MiB, a million calls: so many are kept while we do not work */
#define NAME_TRIES    100

/* ---- the segment ----------------------------------------------------------------------------------- */

static bool create_file(int folder_fd, struct fp_segment_file *file)
{
    file->folder_fd = folder_fd;
    for (int i = 0; folder_fd >= 0 && i < NAME_TRIES && fp_segment_name_make(file->name); i++) {
        file->fd = openat(folder_fd, file->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file->fd >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    fp_segment_close(file);
    return false;
}

/* RLIMIT_FSIZE counts for shared memory too. It is meant for the files we keep, not for this one. */
static bool resize(int fd, uint64_t bytes)
{
    struct rlimit before, without = {RLIM_INFINITY, RLIM_INFINITY};
    if (getrlimit(RLIMIT_FSIZE, &before) != 0)
        return ftruncate(fd, (off_t)bytes) == 0;
    (void)setrlimit(RLIMIT_FSIZE, &without); /* refused to ordinary users: then the limit holds */
    bool resized = ftruncate(fd, (off_t)bytes) == 0;
    (void)setrlimit(RLIMIT_FSIZE, &before);
    return resized;
}

/* The part of the segment that its processes write, in the file that it lies in. */
static off_t shared_at(const struct collect_segment *segment, uint64_t offset)
{
    return (off_t)(segment->told_fd >= 0 ? offset - segment->view.shared_offset : offset);
}

static bool lay_out(struct collect_segment *segment, const struct collect_options *options)
{
    struct seg_view layout;
    uint64_t chunks = options->memory_bytes / SEG_CHUNK_BYTES;
    if (chunks > SEG_CHUNKS_MOST)
        chunks = SEG_CHUNKS_MOST;
    for (;; chunks /= 2) {
        if (chunks < SEG_CHUNKS_LEAST)
            chunks = SEG_CHUNKS_LEAST;
        layout = seg_view_at(NULL, (uint32_t)chunks);
        if (resize(segment->file.fd, layout.bytes))
            break;
        if (chunks == SEG_CHUNKS_LEAST)
            return false;
    }
    if (posix_fallocate(segment->file.fd, 0, (off_t)layout.chunks_offset) != 0)
        return false;
    void *area = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->file.fd, 0);
    if (area == MAP_FAILED)
        return false;
    segment->view = seg_view_at(area, (uint32_t)chunks);
    if (!segment_grow(segment, HELD_AT_START))
        return false;
    return true;
}

/* folder_fd: this function's to close; folder: its path, for others. */
static bool create_in(struct collect_segment *segment, const struct collect_options *options, int folder_fd,
                      const char *folder)
{
    if (!create_file(folder_fd, &segment->file))
        return false;
    /* Ours alone; whoever looks whether we live holds it for an instant. Where there are no locks we are taken to live. */
    (void)flock(segment->file.fd, LOCK_EX);
    if ((size_t)snprintf(segment->path, sizeof segment->path, "%s/%s", folder, segment->file.name) <
            sizeof segment->path &&
        lay_out(segment, options))
        return true;
    segment_remove(segment); /* a leftover of zero value */
    if (segment->view.header != NULL)
        (void)munmap(segment->view.header, segment->view.bytes); /* address space at worst */
    segment->view.header = NULL;
    segment->grown_out = false; /* here, not in the next place */
    return false;
}

bool segment_create(struct collect_segment *segment, const struct collect_options *options, int directory_fd,
                    const char **ret_reason)
{
    if (create_in(segment, options, open(FP_SEGMENT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                  FP_SEGMENT_FOLDER))
        return true;
    /* A container without /dev/shm: the output directory, where pages cost more. main() made it absolute. */
    if (options->out[0] == '/' &&
        create_in(segment, options, fcntl(directory_fd, F_DUPFD_CLOEXEC, 0), options->out))
        return true;
    *ret_reason = "no shared memory: /dev/shm is not usable or full (try a smaller --memory)";
    return false;
}

void segment_publish(struct collect_segment *segment)
{
    segment->view.header->fixed = segment->view.fixed;
    put_release(&segment->view.header->magic, SEG_MAGIC);
}

/* Memory behind all chunks below an index; on a full file system behind as many as before. */
static bool hold(struct collect_segment *segment, uint32_t until)
{
    const struct seg_view *view = &segment->view;
    const uint32_t held = seg_held(view);
    if (until <= held)
        return true;
    if (segment->grown_out ||
        posix_fallocate(segment->file.fd,
                        shared_at(segment, view->chunks_offset + (uint64_t)held * SEG_CHUNK_BYTES),
                        (off_t)(until - held) * SEG_CHUNK_BYTES) != 0) {
        segment->grown_out = true;
        return false;
    }
    /* release: pairs with the acquire in seg_held; the memory is there before the index is allowed */
    put_release(&view->header->held, until);
    return true;
}

/* ---- those of other users ----------------------------------------------------------------------------- */

/* Linux 6.3, and headers since: asked for where programs in such files are forbidden (vm.memfd_noexec). */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* A file without a name, of so many bytes for good. */
static int create_nameless(const char *name, uint64_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && fchmod(fd, 0600) == 0 && resize(fd, bytes) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd); /* nobody has it */
    return -1;
}

/* If the kernel has no such seal (before Linux 5.1), the mode of 0600 keeps others from opening it for writing. */
static int open_for_reading(int fd)
{
    char path[32];
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fits */
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool segment_create_for(struct collect_segment *segment, const struct collect_segment *first, uint32_t user)
{
    const struct seg_view *model = &first->view;
    const size_t told = model->shared_offset, shared = model->bytes - told;
    char name[FP_SEGMENT_NAME_BYTES + 12];
    (void)snprintf(name, sizeof name, "%s.%u", first->file.name, user); /* fits */
    const int told_fd = create_nameless(name, told);
    *segment = (struct collect_segment){.user = user, .told_fd = -1, .file = {.folder_fd = -1, .fd = -1}};
    segment->file.fd = told_fd >= 0 ? create_nameless(name, shared) : -1;
    segment->chunks = calloc(model->fixed.chunk_count, sizeof *segment->chunks);
    char *area = mmap(NULL, model->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (segment->file.fd >= 0 && segment->chunks != NULL && area != MAP_FAILED &&
        mmap(area, told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, told_fd, 0) != MAP_FAILED &&
        mmap(area + told, shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, segment->file.fd, 0) !=
            MAP_FAILED)
        segment->told_fd = open_for_reading(told_fd);
    if (told_fd >= 0)
        (void)close(told_fd); /* it is mapped */
    segment->view = seg_view_at(area, model->fixed.chunk_count);
    segment->view.fixed = model->fixed;
    if (segment->told_fd >= 0) {
        memcpy(segment->view.header, model->header, sizeof *model->header);
        put_relaxed(&segment->view.header->held, 0);
    }
    if (segment->told_fd >= 0 &&
        posix_fallocate(segment->file.fd, 0, (off_t)(model->chunks_offset - told)) == 0 &&
        segment_grow(segment, HELD_AT_START)) {
        (void)snprintf(segment->path, sizeof segment->path, "/memfd:%s", name); /* as mappings are called */
        return true;
    }
    if (area != MAP_FAILED)
        (void)munmap(area, model->bytes); /* address space at worst */
    segment->view = (struct seg_view){0};
    free(segment->chunks);
    segment_remove(segment);
    return false;
}

static struct collect_segment *guarded;
static size_t guarded_count;

static void on_vanished(int number, siginfo_t *facts, void *context)
{
    const uintptr_t at = (uintptr_t)facts->si_addr & ~(uintptr_t)(SEG_PAGE_BYTES - 1);
    (void)context;
    for (size_t i = 0; i < guarded_count; i++) {
        const struct seg_view *view = &guarded[i].view;
        if (view->header != NULL && at - (uintptr_t)view->header < view->bytes &&
            mmap((void *)at, SEG_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) != MAP_FAILED) {
            guarded[i].spoiled = true;
            return;
        }
    }
    (void)signal(number, SIG_DFL); /* no page of theirs: it comes again, and ends us */
}

void segment_guard(struct collect_segment *segments, size_t count)
{
    struct sigaction action = {.sa_sigaction = on_vanished, .sa_flags = SA_SIGINFO};
    guarded = segments;
    guarded_count = count;
    (void)sigaction(SIGBUS, &action, NULL); /* cannot fail */
}

bool segment_grow(struct collect_segment *segment, uint32_t count)
{
    const struct seg_view *view = &segment->view;
    const uint32_t held = seg_held(view), all = view->fixed.chunk_count;
    if (held == all || !hold(segment, count < all - held ? held + count : all))
        return false;
    /* Zeroed here and not in the program's first touch; without it the kernel does the same, later. */
    (void)madvise(seg_chunk(view, held), (size_t)(seg_held(view) - held) * SEG_CHUNK_BYTES,
                  MADV_POPULATE_WRITE);
    return true;
}

void segment_remove(struct collect_segment *segment)
{
    if (segment->told_fd >= 0)
        (void)close(segment->told_fd); /* who has it mapped keeps it */
    else if (segment->file.fd >= 0)
        (void)fp_segment_remove(&segment->file); /* gone already is as good */
    fp_segment_close(&segment->file);
}

/* ---- one that is there already: to join it, to recover it, or to remove it --------------------------
 *
 * Directory, recording.json and segment are opened by fp_trusted_open, and what is found is handed on as the descriptor
 * that was checked. Whether a collector lives is told by its lock alone: the segment's own words were written where every
 * recorded process can write. */

/* Returns whether an open file is a segment of this version. */
static bool read_header(int fd, struct seg_header *ret_header)
{
    return pread(fd, ret_header, sizeof *ret_header, 0) == (ssize_t)sizeof *ret_header &&
           ret_header->magic == SEG_MAGIC && ret_header->fixed.version == SEG_VERSION &&
           ret_header->fixed.collector_pid != 0;
}

json_t *segment_read_recording(int directory_fd)
{
    const int fd = fp_trusted_open(directory_fd, "recording.json", S_IFREG, FP_TRUSTED_OWN, NULL);
    json_t *recording = NULL;
    if (fd < 0)
        return NULL;
    (void)fp_json_read(fd, &recording, NULL); /* NULL stays */
    (void)close(fd);                          /* only read from */
    return recording;
}

/* A copy's shared memory is the original's, and so is what to recover. */
static bool is_copy(int directory_fd, const json_t *recording)
{
    const json_t *inode = json_object_get(json_object_get(recording, "collector"), "directory_inode");
    struct stat facts;
    return json_is_integer(inode) && fstat(directory_fd, &facts) == 0 &&
           (uint64_t)json_integer_value(inode) != facts.st_ino;
}

/* The segment that a recording.json names, and the header there; false: none, or none of ours. */
static bool find_named(int directory_fd, enum fp_trusted_use use, struct fp_segment_file *ret_file,
                       struct seg_header *ret_header)
{
    json_t *recording = segment_read_recording(directory_fd);
    const char *path = json_string_value(json_object_get(recording, "segment_path"));
    bool found = path != NULL && !is_copy(directory_fd, recording) &&
                 fp_segment_open(directory_fd, path, use, ret_file, NULL);
    if (found && !read_header(ret_file->fd, ret_header)) {
        fp_segment_close(ret_file);
        found = false;
    }
    json_decref(recording);
    return found;
}

bool segment_of_dead_collector(int directory_fd, struct fp_segment_file *ret_file,
                               struct seg_header *ret_header)
{
    if (!find_named(directory_fd, FP_TRUSTED_SHARE, ret_file, ret_header))
        return false;
    if (!fp_segment_is_held(ret_file->fd))
        return true;
    fp_segment_close(ret_file);
    return false;
}

bool segment_tell_path(const struct fp_segment_file *file, const char *directory, char *ret_path, size_t size)
{
    const int length = snprintf(ret_path, size, "%s/%s", file->shared ? FP_SEGMENT_FOLDER : directory,
                                file->name);
    return length > 0 && (size_t)length < size;
}

bool segment_of_live_collector(int directory_fd, const char *directory, char *ret_path, size_t size)
{
    struct fp_segment_file file;
    struct seg_header header;
    if (!find_named(directory_fd, FP_TRUSTED_OWN, &file, &header))
        return false;
    bool found = fp_segment_is_held(file.fd) && header.closing != SEG_CLOSED &&
                 segment_tell_path(&file, directory, ret_path, size);
    fp_segment_close(&file);
    return found;
}

/* Tells whether a recording still waits for what is in its dead collector's segment. */
static bool is_wanted(const struct seg_header *header, const char *name)
{
    struct fp_segment_file file;
    struct seg_header found;
    bool wanted = false;
    if (strnlen(header->directory, sizeof header->directory) == sizeof header->directory ||
        header->directory[0] != '/')
        return false;
    int directory_fd = fp_trusted_open(AT_FDCWD, header->directory, S_IFDIR, FP_TRUSTED_OWN, NULL);
    if (directory_fd < 0)
        return false;
    if (segment_of_dead_collector(directory_fd, &file, &found)) {
        wanted = strcmp(file.name, name) == 0;
        fp_segment_close(&file);
    }
    (void)close(directory_fd); /* only looked into */
    return wanted;
}

static void remove_if_stale(int folder_fd, const char *name)
{
    struct fp_segment_file file = {
        .folder_fd = folder_fd,
        .fd = fp_trusted_open(folder_fd, name, S_IFREG, FP_TRUSTED_OWN, NULL),
    };
    struct seg_header header;
    if (file.fd < 0)
        return;
    (void)snprintf(file.name, sizeof file.name, "%s", name); /* fits: it has the pattern */
    if (read_header(file.fd, &header) && !fp_segment_is_held(file.fd) && !is_wanted(&header, name))
        (void)fp_segment_remove(&file); /* another collector may have been faster */
    (void)close(file.fd);               /* only read from */
}

void segment_remove_stale(void)
{
    DIR *folder = opendir(FP_SEGMENT_FOLDER);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (fp_segment_name_is_ours(entry->d_name))
            remove_if_stale(dirfd(folder), entry->d_name);
    if (folder != NULL)
        (void)closedir(folder); /* only read */
}
