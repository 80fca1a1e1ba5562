/* attach_segment.c - the segment that a process is recorded in: found, begun, checked, mapped.
 *
 * Laws of this file: those of attach.h; and where it starts a collector, under a plain LD_PRELOAD, the program must never see a
 * child, a SIGCHLD or a descriptor that it did not make. So the collector is the child of a child: the first is cloned with exit
 * signal 0 and waited for with __WCLONE, which no ordinary wait() answers to; the second is adopted by init when the first ends.
 * Both share our memory until the exec, so they run on stacks of their own, with signals blocked, by raw system calls only. */
#include "shim/preload/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "footprint/base/trusted.h"
#include "footprint/base/words.h"
#include "shim/preload/lane_chunk.h"

#define OPEN_TRIES       100u
#define OPEN_WAIT_NS     1000000u
#define STACK_BYTES      65536u
#define PATH_BYTES       1024u
#define READY_TIMEOUT_MS 10000
#define ENTRIES_MOST     65536u

/* ---- a collector of our own --------------------------------------------------------------------- */

struct spawn {
    char program[PATH_BYTES];
    char out[PATH_BYTES];
    char ready_number[12];
    char leader_number[12];
    char *arguments[15];
    char **environment;
    int ready_fd;
    volatile long error; /* of the exec, set by the grandchild in our memory */
    _Alignas(16) char stacks[2][STACK_BYTES];
};

static bool find_program(char *ret_path)
{
    Dl_info info;
    ret_path[0] = '\0';
    if (dladdr((void *)(uintptr_t)attach_find_segment, &info) != 0 && info.dli_fname != NULL) {
        const size_t folder = (size_t)(text_base_name(info.dli_fname) - info.dli_fname);
        if (folder < PATH_BYTES - 32) {
            memcpy(ret_path, info.dli_fname, folder);
            ret_path[folder] = '\0';
            text_append(ret_path, PATH_BYTES, "mallab-collect");
            if (raw_may_execute(ret_path))
                return true;
        }
    }
    ret_path[0] = '\0';
    text_append(ret_path, PATH_BYTES, MALLAB_LIBEXECDIR "/mallab-collect");
    return raw_may_execute(ret_path);
}

/* The collector must not record itself, nor whatever it would start. */
static bool is_kept(const char *entry)
{
    return strncmp(entry, "LD_PRELOAD=", 11) != 0 && strncmp(entry, "MALLAB_", 7) != 0;
}

static void prepare(struct spawn *spawn, const char *name)
{
    const char *given = text_given("MALLAB_OUT"), *only = text_given("MALLAB_ONLY");
    const char *sites = text_given("MALLAB_SITES"), *label = text_given("MALLAB_LABEL");
    char **environment = text_environment();
    size_t kept = 0, argument = 0;

    if (given != NULL) {
        text_append(spawn->out, PATH_BYTES, given);
    } else {
        text_append(spawn->out, PATH_BYTES, "mallab-");
        text_append(spawn->out, PATH_BYTES, name);
        text_append(spawn->out, PATH_BYTES, ".");
        text_append_number(spawn->out, PATH_BYTES, raw_getpid());
    }
    text_append_number(spawn->ready_number, sizeof spawn->ready_number, (uint64_t)spawn->ready_fd);
    text_append_number(spawn->leader_number, sizeof spawn->leader_number, raw_getpid());
    spawn->arguments[argument++] = spawn->program;
    spawn->arguments[argument++] = (char *)(uintptr_t) "--out";
    spawn->arguments[argument++] = spawn->out;
    spawn->arguments[argument++] = (char *)(uintptr_t) "--ready-fd";
    spawn->arguments[argument++] = spawn->ready_number;
    spawn->arguments[argument++] = (char *)(uintptr_t) "--leader";
    spawn->arguments[argument++] = spawn->leader_number;
    spawn->arguments[argument++] = (char *)(uintptr_t)(given == NULL ? "--unique" : "--join");
    if (only != NULL) {
        spawn->arguments[argument++] = (char *)(uintptr_t) "--only";
        spawn->arguments[argument++] = (char *)(uintptr_t)only;
    }
    if (sites != NULL && strcmp(sites, "0") != 0) {
        spawn->arguments[argument++] = (char *)(uintptr_t) "--sites";
        spawn->arguments[argument++] = (char *)(uintptr_t)sites;
    }
    if (label != NULL && fp_label_is_valid(label)) {
        spawn->arguments[argument++] = (char *)(uintptr_t) "--label";
        spawn->arguments[argument++] = (char *)(uintptr_t)label;
    } else if (label != NULL) {
        note_say("recorded without $MALLAB_LABEL, which is not " FP_LABEL_TAKES, "");
    }
    for (; *environment != NULL && kept + 1 < ENTRIES_MOST; environment++)
        if (is_kept(*environment))
            spawn->environment[kept++] = *environment;
}

/* The collector keeps no descriptor of the program's open: a reader of its pipe would wait for our
 * end too. */
static void close_all_but(int kept)
{
    const long null = raw_open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        (void)raw_call(SYS_dup3, null, fd, 0, 0, 0, 0); /* fails only for null itself, already in place */
    if (kept > 3)
        (void)raw_call(SYS_close_range, 3, kept - 1, 0, 0, 0, 0);
    (void)raw_call(SYS_close_range, kept + 1, ~0u, 0, 0, 0,
                   0); /* the collector closes again, for old kernels */
}

static int grandchild(void *argument)
{
    struct spawn *spawn = argument;
    uint64_t none = 0;
    int kept = spawn->ready_fd;
    if (kept < 3) {
        const long moved = raw_call(SYS_fcntl, kept, F_DUPFD, 3, 0, 0, 0);
        if (moved < 0) {
            spawn->error = -moved;
            return 1;
        }
        kept = (int)moved;
        spawn->ready_number[0] = '\0';
        text_append_number(spawn->ready_number, sizeof spawn->ready_number, (uint64_t)kept);
    }
    close_all_but(kept);
    (void)raw_call(SYS_fcntl, kept, F_SETFD, 0, 0, 0, 0);
    (void)raw_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0, 0);
    spawn->error = -raw_call(SYS_execve, (long)spawn->program, (long)spawn->arguments,
                             (long)spawn->environment, 0, 0, 0);
    return 1;
}

/* clone(2) through libc's stub: it only switches stacks, and it calls no handlers. */
static int child(void *argument)
{
    struct spawn *spawn = argument;
    if (clone(grandchild, spawn->stacks[1] + STACK_BYTES, CLONE_VM | CLONE_VFORK, spawn) < 0)
        spawn->error = EAGAIN;
    return 0;
}

/* Signals are blocked meanwhile: a handler of the program's must not run in a child on our little stack. */
static bool start(struct spawn *spawn)
{
    uint64_t all = ~UINT64_C(0), before = 0;
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all, 0, 0);
    int pid = clone(child, spawn->stacks[0] + STACK_BYTES, CLONE_VM | CLONE_VFORK, spawn);
    if (pid > 0)
        while (raw_call(SYS_wait4, pid, 0, __WCLONE, 0, 0, 0) == -EINTR)
            ;
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
    return pid > 0 && spawn->error == 0;
}

static bool read_ready(int fd, char *ret_line, size_t size)
{
    const uint64_t deadline = raw_now_ns() + READY_TIMEOUT_MS * UINT64_C(1000000);
    size_t used = 0;
    while (used + 1 < size && raw_now_ns() < deadline) {
        struct pollfd ready = {fd, POLLIN, 0};
        struct timespec timeout = {1, 0};
        long got = raw_call(SYS_ppoll, (long)&ready, 1, (long)&timeout, 0, 0, 0);
        if (got == 0 || got == -EINTR)
            continue;
        got = raw_read(fd, ret_line + used, size - 1 - used);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got; /* to the end of the pipe, so that the collector has let go of it */
    }
    ret_line[used] = '\0';
    if (used == 0 || ret_line[used - 1] != '\n')
        return false;
    ret_line[used - 1] = '\0';
    return true;
}

static bool understand(const char *line, char *ret_path, size_t path_size, char *ret_message,
                       size_t message_size)
{
    ret_path[0] = ret_message[0] = '\0';
    if (strncmp(line, "ok ", 3) == 0) {
        const char *end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) - 3 : strlen(line + 3);
        if (length >= path_size)
            return false;
        memcpy(ret_path, line + 3, length);
        ret_path[length] = '\0';
        if (end != NULL)
            text_append(ret_message, message_size, end + 1);
        return true;
    }
    text_append(ret_message, message_size,
                strncmp(line, "error ", 6) == 0 ? line + 6 : "the collector said nothing");
    return false;
}

/* Start mallab-collect outside the program's sight and wait until it is ready.
 * name            the program's base name, for the output directory.
 * ret_path        receives the segment's path; ret_message the reason of a failure, for one line, or the directory
 *                 that was begun because the one named was taken; else "".
 * Returns         whether the segment is ready. */
static bool spawn_collector(const char *name, char *ret_path, size_t path_size, char *ret_message,
                            size_t message_size)
{
    const size_t area_bytes = sizeof(struct spawn) + ENTRIES_MOST * sizeof(char *);
    struct spawn *spawn;
    char line[2 * PATH_BYTES] = "";
    int ends[2] = {-1, -1};
    bool started, ok = false;
    long area = raw_mmap(NULL, area_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

    ret_message[0] = '\0';
    if (area < 0) {
        text_append(ret_message, message_size, "no memory to start the collector");
        return false;
    }
    spawn = (struct spawn *)area;
    spawn->environment = (char **)(spawn + 1);
    if (!find_program(spawn->program)) {
        text_append(ret_message, message_size, "mallab-collect not found beside libmallab.so");
    } else if (raw_call(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0, 0, 0) != 0) {
        text_append(ret_message, message_size, "no descriptor free to start the collector");
    } else {
        spawn->ready_fd = ends[1];
        prepare(spawn, name);
        started = start(spawn);
        raw_close(ends[1]);
        if (started) {
            (void)read_ready(ends[0], line, sizeof line); /* an empty line is understood as silence */
            ok = understand(line, ret_path, path_size, ret_message, message_size);
        } else {
            text_append(ret_message, message_size, "cannot start mallab-collect");
        }
        raw_close(ends[0]);
    }
    raw_munmap(spawn, area_bytes);
    return ok;
}

/* ---- the segment ------------------------------------------------------------------------------------ */

/* One file, or one for what is told and one for what is shared. */
struct opened {
    int fd, told_fd;
    uint64_t shared_at; /* where in fd the shared part begins */
    struct stat status; /* of fd */
};

static struct stat present;    /* of the mapped one's `fd` */
static char present_path[512]; /* "": it has none */

static void close_opened(const struct opened *opened)
{
    if (opened->told_fd != opened->fd)
        raw_close(opened->told_fd);
    raw_close(opened->fd);
}

/* Copy the header into the view: from here on only the copy is believed. Returns NULL with
 * *ret_view set but for its addresses, else the reason why this is no segment for us. */
static const char *read_view(struct opened *opened, struct seg_view *ret_view)
{
    struct seg_header header;
    if (raw_call(SYS_pread64, opened->told_fd, (long)&header, sizeof header, 0, 0, 0) != (long)sizeof header)
        return "the segment is too small";
    if (header.magic != SEG_MAGIC)
        return "the segment is not one of mallab's";
    if (header.fixed.version != SEG_VERSION)
        return "the segment is of another version of mallab";
    if (!seg_chunk_count_is_valid(header.fixed.chunk_count))
        return "the segment's header is damaged";
    *ret_view = seg_view_at(NULL, header.fixed.chunk_count);
    opened->shared_at = opened->told_fd != opened->fd ? 0 : ret_view->shared_offset;
    if ((uint64_t)opened->status.st_size != ret_view->bytes - ret_view->shared_offset + opened->shared_at)
        return "the segment's header is damaged";
    ret_view->fixed = header.fixed;
    return NULL;
}

/* Map it at an address, over whatever is there. Core dumps of the program are not the place for records. */
static bool map_at(const struct opened *opened, uintptr_t at, const struct seg_view *view)
{
    const size_t told = view->shared_offset;
    const bool mapped = raw_mmap((void *)at, told, PROT_READ, MAP_SHARED | MAP_FIXED, opened->told_fd) >= 0 &&
                        raw_call(SYS_mmap, (long)(at + told), (long)(view->bytes - told),
                                 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, opened->fd,
                                 (long)opened->shared_at) >= 0;
    (void)raw_call(SYS_madvise, (long)at, (long)view->bytes, MADV_DONTDUMP, 0, 0, 0);
    return mapped;
}

/* Maps at a multiple of the chunk size, so that cursors carry their place in the chunk. */
static bool map_aligned(const struct opened *opened, struct seg_view *view)
{
    const size_t mask = SEG_CHUNK_BYTES - 1, size = view->bytes;
    const struct seg_fixed fixed = view->fixed;
    const long area = raw_mmap(NULL, size + SEG_CHUNK_BYTES, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return false;
    uintptr_t start = (uintptr_t)area;
    uintptr_t end = start + size + SEG_CHUNK_BYTES;
    uintptr_t wanted = (start + mask) & ~mask;
    if (!map_at(opened, wanted, view)) {
        raw_munmap((void *)start, size + SEG_CHUNK_BYTES);
        return false;
    }
    if (wanted > start)
        raw_munmap((void *)start, wanted - start);
    if (end > wanted + size)
        raw_munmap((void *)(wanted + size), end - wanted - size);
    *view = seg_view_at((void *)wanted, fixed.chunk_count);
    view->fixed = fixed;
    return true;
}

const char ATTACH_OUT_OF_REACH[] =
    "cannot open the recording's shared memory: another root directory or /dev/shm, "
    "no descriptor free, or the recording has ended";

/* While a collector looks whether anybody has its segment (collect/processes.c), the file cannot be opened without waiting. */
static long open_soon(const char *path, int flags)
{
    _Atomic uint32_t nobodys = 0;
    long fd = raw_open(path, flags);
    for (unsigned tries = 0; fd == -EWOULDBLOCK && tries < OPEN_TRIES; tries++) {
        (void)raw_futex_wait(&nobodys, 0, OPEN_WAIT_NS); /* it ends by itself */
        fd = raw_open(path, flags);
    }
    return fd;
}

/* Takes the descriptors that the collector gave for our user. */
static struct opened take_given(const int *fds)
{
    struct opened opened = {.fd = fds[1], .told_fd = fds[0]};
    (void)raw_call(SYS_fstat, fds[1], (long)&opened.status, 0, 0, 0, 0); /* else its size is wrong */
    return opened;
}

static bool ask(struct opened *ret_opened)
{
    uint32_t slot;
    int fds[2];
    if (!note_ask(SEG_NOBODY, &slot, fds) || fds[1] < 0)
        return false;
    *ret_opened = take_given(fds);
    user_take_segment((uint32_t)raw_call(SYS_getuid, 0, 0, 0, 0, 0, 0));
    return true;
}

static const char ANOTHERS[] =
    "cannot open the recording's shared memory, which is another user's: put 'mallab record' behind what "
    "changes the user";

/* A segment that may be believed (footprint/base/trusted.h), by the descriptors that are mapped then. In a user namespace below the
 * collector's, our user and the segment's have another number, and the same one.
 * Returns NULL on success, else the reason. */
static const char *open_segment(const char *path, struct opened *ret_opened)
{
    static const char *const REASONS[] = {
        [FP_TRUSTED] = NULL,
        [FP_DISTRUST_KIND] = "the segment is not a regular file",
        [FP_DISTRUST_OWNER] = "the recording's shared memory belongs to another user",
        [FP_DISTRUST_WRITABLE] = "the recording's shared memory can be written to by other users",
        [FP_DISTRUST_NAMES] = "the recording's shared memory has several names (hard links)",
    };
    const uid_t user = (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    const char *reason = NULL;
    const long fd = open_soon(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd == -EACCES)
        return ANOTHERS;
    if (fd < 0)
        return ATTACH_OUT_OF_REACH;
    *ret_opened = (struct opened){.fd = (int)fd, .told_fd = (int)fd};
    if (raw_call(SYS_fstat, fd, (long)&ret_opened->status, 0, 0, 0, 0) != 0)
        reason = "the segment cannot be looked at";
    else
        reason = REASONS[fp_distrust(&ret_opened->status, S_IFREG, user, true)];
    user_take_segment(ret_opened->status.st_uid);
    if (reason != NULL)
        close_opened(ret_opened);
    return reason;
}

static const char *map_segment(const char *path)
{
    struct opened opened;
    struct seg_view view;
    const char *reason = open_segment(path, &opened);
    const bool given = reason == ANOTHERS && ask(&opened);
    if (reason != NULL && !given)
        return reason;
    reason = read_view(&opened, &view);
    if (reason == NULL && !map_aligned(&opened, &view))
        reason = "cannot map the segment (is there a limit on address space?)";
    close_opened(&opened);
    if (reason == NULL)
        shim_segment = view;
    present = opened.status;
    present_path[0] = '\0';
    text_append(present_path, sizeof present_path, given ? "" : path);
    return reason;
}

void attach_count_other(const char *program)
{
    const char *given = text_given("MALLAB_SEGMENT");
    char name[SEG_PROGRAM] = "";
    struct opened opened;
    struct seg_view view;
    uint64_t number;
    long area;
    if (given == NULL || open_segment(given, &opened) != NULL)
        return;
    if (read_view(&opened, &view) == NULL) {
        area = raw_call(SYS_mmap, 0, sizeof(struct seg_shared), PROT_READ | PROT_WRITE, MAP_SHARED, opened.fd,
                        (long)view.shared_offset);
        if (area > 0) {
            struct seg_shared *shared = (struct seg_shared *)area;
            number = add_relaxed(&shared->others, 1);
            text_append(name, sizeof name, program);
            if (number < SEG_OTHERS)
                memcpy(shared->other_names[number], name, sizeof name);
            raw_munmap(shared, sizeof *shared);
        }
    }
    close_opened(&opened);
}

uint32_t attach_owner(uint32_t before)
{
    struct stat now;
    if (raw_call(SYS_newfstatat, AT_FDCWD, (long)present_path, (long)&now, AT_SYMLINK_NOFOLLOW, 0, 0) != 0 ||
        now.st_ino != present.st_ino || now.st_dev != present.st_dev)
        return before;
    return now.st_uid;
}

bool attach_replace_segment(const int *fds)
{
    struct opened opened = take_given(fds);
    struct seg_view view;
    const bool mapped = read_view(&opened, &view) == NULL && view.bytes == shim_segment.bytes &&
                        map_at(&opened, (uintptr_t)shim_segment.header, &view);
    present_path[0] = '\0';
    close_opened(&opened);
    return mapped;
}

bool attach_leave_segment(void)
{
    const size_t bytes = shim_segment.bytes;
    const long area = raw_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return false;
    struct seg_header *header = (struct seg_header *)area;
    put_relaxed(&header->stopped, 1);
    put_relaxed(&header->closing, SEG_CLOSED);
    return raw_call(SYS_mremap, area, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                    (long)shim_segment.header, 0) >= 0;
}

const char *attach_find_segment(const char *name)
{
    static char message[1280];
    char path[512];
    if (text_given("MALLAB_SEGMENT") != NULL)
        return map_segment(text_given("MALLAB_SEGMENT"));
    if (!spawn_collector(name, path, sizeof path, message, sizeof message))
        return message;
    if (message[0] != '\0') /* whoever looks into $MALLAB_OUT finds an older recording there */
        note_say("$MALLAB_OUT holds something already; recording into ", message);
    const char *reason = map_segment(path);
    if (reason == NULL)
        note_take_name(path);
    return reason;
}
