/* collect_segment.c - the file behind the shared memory: made privately, filled ahead, removed at the end.
 *
 *   held    chunks that have memory behind them: all of them soon, where there is plenty, else as ready grows
 *   ready   chunks in use, of those; more as need be
 *
 * Memory is put behind a chunk (fallocate) before a process may claim it: on a full tmpfs a store into a hole is a
 * SIGBUS in the recorded program. */
#include "shim/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/json_read.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it */
#endif

#define READY_AT_START 64u
#define HELD_AT_ONCE   256u
#define BUMP_NS        1000u /* docs/order.md */
#define NAME_TRIES     100

static bool random_name(const char *folder, char *ret_path, size_t size)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    return (size_t)snprintf(ret_path, size, "%s/mallab-%u-%016llx", folder, (unsigned)geteuid(),
                            (unsigned long long)number) < size;
}

static int create_file(const char *folder, char *ret_path, size_t size)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        int fd;
        if (!random_name(folder, ret_path, size))
            return -1;
        fd = open(ret_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* RLIMIT_FSIZE counts for shared memory too. It is meant for the files we keep, not for this one. */
static bool resize(int fd, uint64_t bytes)
{
    struct rlimit before, without = {RLIM_INFINITY, RLIM_INFINITY};
    bool resized;
    if (getrlimit(RLIMIT_FSIZE, &before) != 0)
        return ftruncate(fd, (off_t)bytes) == 0;
    (void)setrlimit(RLIMIT_FSIZE, &without); /* refused to ordinary users: then the limit holds */
    resized = ftruncate(fd, (off_t)bytes) == 0;
    (void)setrlimit(RLIMIT_FSIZE, &before);
    return resized;
}

static uint64_t pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

static bool lay_out(struct collect_segment *segment, const struct collect_options *options)
{
    struct seg_view layout;
    uint64_t chunks = options->memory_bytes / SEG_CHUNK_BYTES;
    void *area;
    if (chunks > SEG_CHUNKS_MOST)
        chunks = SEG_CHUNKS_MOST;
    for (;; chunks /= 2) {
        if (chunks < SEG_CHUNKS_LEAST)
            chunks = SEG_CHUNKS_LEAST;
        layout = seg_view_at(NULL, (uint32_t)chunks);
        if (resize(segment->fd, layout.bytes))
            break;
        if (chunks == SEG_CHUNKS_LEAST)
            return false;
    }
    if (posix_fallocate(segment->fd, 0, (off_t)layout.chunks_offset) != 0)
        return false;
    area = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
    if (area == MAP_FAILED)
        return false;
    segment->view = seg_view_at(area, (uint32_t)chunks);
    segment->hold_all = room_is_ample(segment->fd, layout.bytes);
    return segment_grow(segment, READY_AT_START);
}

static bool create_in(struct collect_segment *segment, const struct collect_options *options,
                      const char *folder)
{
    segment->fd = create_file(folder, segment->path, sizeof segment->path);
    if (segment->fd < 0)
        return false;
    /* Ours alone; whoever looks whether we live holds it for an instant. Where there are no locks, process ids tell. */
    (void)flock(segment->fd, LOCK_EX);
    if (lay_out(segment, options))
        return true;
    (void)unlink(segment->path); /* a leftover of zero value */
    (void)close(segment->fd);
    if (segment->view.header != NULL)
        (void)munmap(segment->view.header, segment->view.bytes); /* address space at worst */
    segment->view.header = NULL;
    segment->fd = -1;
    segment->grown_out = false; /* here, not in the next place */
    return false;
}

bool segment_create(struct collect_segment *segment, const struct collect_options *options,
                    const char **ret_reason)
{
    if (create_in(segment, options, "/dev/shm"))
        return true;
    /* A container without /dev/shm: the output directory, where pages cost more. main() made it absolute. */
    if (options->out[0] == '/' && create_in(segment, options, options->out))
        return true;
    *ret_reason = "no shared memory: /dev/shm is not usable or full (try a smaller --memory)";
    return false;
}

void segment_publish(struct collect_segment *segment)
{
    segment->view.header->fixed = segment->view.fixed;
    atomic_store_explicit(&segment->view.header->magic, SEG_MAGIC, memory_order_release);
}

/* Memory behind all chunks below an index; on a full file system behind as many as before. */
static bool hold(struct collect_segment *segment, uint32_t until)
{
    const struct seg_view *view = &segment->view;
    const uint32_t held = seg_held(view);
    if (until <= held)
        return true;
    if (segment->grown_out ||
        posix_fallocate(segment->fd, (off_t)(view->chunks_offset + (uint64_t)held * SEG_CHUNK_BYTES),
                        (off_t)(until - held) * SEG_CHUNK_BYTES) != 0) {
        segment->grown_out = true;
        return false;
    }
    /* release: pairs with the acquire in seg_grow_ready; the memory is there before the index is allowed */
    atomic_store_explicit(&view->header->held, until, memory_order_release);
    return true;
}

/* Little by little: 128 MiB take 25 ms, which neither the start nor a program that is waiting for us is to pay. */
void segment_hold_more(struct collect_segment *segment)
{
    const uint32_t held = seg_held(&segment->view), all = segment->view.fixed.chunk_count;
    if (!segment->hold_all || held == all)
        return;
    if (!hold(segment, held + HELD_AT_ONCE < all ? held + HELD_AT_ONCE : all))
        segment->hold_all = false; /* somebody was faster */
}

bool segment_grow(struct collect_segment *segment, uint32_t count)
{
    const struct seg_view *view = &segment->view;
    const uint32_t ready = segment_ready(segment), all = view->fixed.chunk_count;
    uint32_t until;
    if (ready == all)
        return false;
    until = count < all - ready ? ready + count : all;
    if (!hold(segment, until))
        until = seg_held(view);
    if (until <= ready)
        return false;
    /* Zeroed here and not in the program's first touch; without it the kernel does the same, later. */
    (void)madvise(seg_chunk(view, ready), (size_t)(until - ready) * SEG_CHUNK_BYTES, MADV_POPULATE_WRITE);
    return seg_grow_ready(view, ready, until) && segment_ready(segment) > ready;
}

void segment_remove(struct collect_segment *segment)
{
    if (segment->fd < 0)
        return;
    (void)unlink(segment->path); /* gone already is as good */
    (void)close(segment->fd);
    segment->fd = -1;
}

uint64_t process_start_ticks(uint32_t pid)
{
    char path[64], stat[1024] = "";
    const char *at;
    unsigned field = 2; /* which ends at the last ')' */
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%u/stat", pid); /* fits */
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    (void)!fgets(stat, sizeof stat, file); /* an empty line has no ')' */
    (void)fclose(file);                    /* only read */
    for (at = strrchr(stat, ')'); at != NULL && field < 22; field++) {
        at = strchr(at, ' ');
        if (at != NULL)
            at++;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

bool process_is_zombie(uint32_t pid)
{
    char path[32], text[256];
    const char *state;
    ssize_t got;
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%u/stat", pid); /* fits */
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    state = strrchr(text, ')'); /* the name before it may hold anything */
    return state != NULL && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

/* Another process may have got a dead collector's number; and a killed one that nobody waits for, as under a first
 * process that reaps none, answers kill(2) for ever. */
static bool is_alive(const struct seg_fixed *fixed)
{
    const uint64_t start = process_start_ticks(fixed->collector_pid);
    if ((kill((pid_t)fixed->collector_pid, 0) != 0 && errno == ESRCH) ||
        process_is_zombie(fixed->collector_pid)) /* it has one thread: the leading one */
        return false;
    return start == 0 || fixed->collector_start == 0 || start == fixed->collector_start;
}

/* Read a segment's header from its file. Returns whether it is one of ours; ret_alive: whether its collector lives.
 * A collector of another pid namespace is known by the lock that it holds on the file for as long as it lives. */
static bool read_header(int directory_fd, const char *path, struct seg_header *ret_header, bool *ret_alive)
{
    const int fd = openat(directory_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool whole, locked;
    if (fd < 0)
        return false;
    whole = read(fd, ret_header, sizeof *ret_header) == (ssize_t)sizeof *ret_header;
    locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
    (void)close(fd); /* only read; a lock that we got goes with it */
    if (!whole || ret_header->magic != SEG_MAGIC || ret_header->fixed.version != SEG_VERSION ||
        ret_header->fixed.owner_uid != geteuid() || ret_header->fixed.collector_pid == 0)
        return false;
    *ret_alive = ret_header->fixed.pid_namespace == pid_namespace() ? is_alive(&ret_header->fixed) : locked;
    return true;
}

/* recording.json's segment_path and the header there; false: none, or none of ours. */
static bool segment_named(int directory_fd, char *ret_path, size_t size, struct seg_header *ret_header,
                          bool *ret_alive)
{
    const char *path;
    bool found = false;
    struct fp_json_bound bound;
    json_t *recording = NULL;
    const json_t *inode;
    struct stat directory;
    const int fd = openat(directory_fd, "recording.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bound = fp_json_directory_bound(directory_fd, fd);
    (void)fp_json_read(fd, &bound, &recording, NULL); /* NULL stays */
    (void)close(fd);
    path = json_string_value(json_object_get(recording, "segment_path"));
    /* A copy's shared memory is the original's, and so is what to recover. */
    inode = json_object_get(json_object_get(recording, "collector"), "directory_inode");
    if (json_is_integer(inode) && fstat(directory_fd, &directory) == 0 &&
        (uint64_t)json_integer_value(inode) != directory.st_ino)
        path = NULL;
    if (path != NULL && strlen(path) < size && read_header(AT_FDCWD, path, ret_header, ret_alive)) {
        (void)snprintf(ret_path, size, "%s", path); /* length checked above */
        found = true;
    }
    json_decref(recording);
    return found;
}

bool segment_of_dead_collector(int directory_fd, char *ret_path, size_t size, struct seg_header *ret_header)
{
    bool alive;
    return segment_named(directory_fd, ret_path, size, ret_header, &alive) && !alive;
}

/* Whether a recording still waits for what is in its dead collector's segment. */
static bool is_wanted(const struct seg_header *header, const char *name)
{
    char path[512];
    struct seg_header found;
    bool wanted;
    int directory_fd;
    if (strnlen(header->directory, sizeof header->directory) == sizeof header->directory ||
        header->directory[0] != '/')
        return false;
    directory_fd = open(header->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return false;
    wanted = segment_of_dead_collector(directory_fd, path, sizeof path, &found) &&
             strlen(path) > strlen(name) && strcmp(path + strlen(path) - strlen(name), name) == 0;
    (void)close(directory_fd);
    return wanted;
}

void segment_remove_stale(void)
{
    DIR *directory = opendir("/dev/shm");
    const struct dirent *entry;
    char prefix[32];
    if (directory == NULL)
        return;
    (void)snprintf(prefix, sizeof prefix, "mallab-%u-", (unsigned)geteuid()); /* fits */
    while ((entry = readdir(directory)) != NULL) {
        struct seg_header header;
        bool alive;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            read_header(dirfd(directory), entry->d_name, &header, &alive) && !alive &&
            !is_wanted(&header, entry->d_name))
            (void)unlinkat(dirfd(directory), entry->d_name, 0); /* another collector may have been faster */
    }
    (void)closedir(directory); /* only read */
}

/* The path is believed only if a segment of ours stands there and its collector lives; the shim checks again. */
bool segment_path_of_recording(int directory_fd, char *ret_path, size_t size)
{
    struct seg_header header;
    bool alive;
    return segment_named(directory_fd, ret_path, size, &header, &alive) && alive &&
           header.closing != SEG_CLOSED;
}
