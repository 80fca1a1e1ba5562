/* attach_segment.c - the segment that a process is recorded in: found, begun, checked, mapped.
 *
 * Laws of this file: attach.h has them. */
#include "shim/preload/attach_segment.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "footprint/base/trust_rule.h"
#include "shim/preload/note.h"
#include "shim/preload/shim.h"
#include "shim/preload/shim_text.h"
#include "shim/preload/spawn.h"
#include "shim/shared/raw.h"

#define OPEN_TRIES   100u
#define OPEN_WAIT_NS 1000000u

/* The segment's file, opened twice: what the collector tells is mapped by a descriptor that cannot write. */
struct opened {
    int fd, told_fd;
    struct stat status;
};

static void close_opened(const struct opened *opened)
{
    raw_close(opened->told_fd);
    raw_close(opened->fd);
}

/* Copy the header into the view: from here on only the copy is believed. Returns NULL with
 * *ret_view set but for its addresses, else the reason why this is no segment for us. */
static const char *read_view(const struct opened *opened, struct seg_view *ret_view)
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
    if ((uint64_t)opened->status.st_size != ret_view->bytes)
        return "the segment's header is damaged";
    ret_view->fixed = header.fixed;
    return NULL;
}

/* At a multiple of the chunk size, so that cursors carry their place in the chunk. */
static bool map_aligned(const struct opened *opened, struct seg_view *view)
{
    const size_t mask = SEG_CHUNK_BYTES - 1, size = view->bytes, told = view->shared_offset;
    const struct seg_fixed fixed = view->fixed;
    const long area = raw_mmap(NULL, size + SEG_CHUNK_BYTES, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return false;
    uintptr_t start = (uintptr_t)area;
    uintptr_t end = start + size + SEG_CHUNK_BYTES;
    uintptr_t wanted = (start + mask) & ~mask;
    if (raw_mmap((void *)wanted, told, PROT_READ, MAP_SHARED | MAP_FIXED, opened->told_fd) < 0 ||
        raw_call(SYS_mmap, (long)(wanted + told), (long)(size - told), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, opened->fd, (long)told) < 0) {
        raw_munmap((void *)start, size + SEG_CHUNK_BYTES);
        return false;
    }
    if (wanted > start)
        raw_munmap((void *)start, wanted - start);
    if (end > wanted + size)
        raw_munmap((void *)(wanted + size), end - wanted - size);
    /* Core dumps of the program are not the place for records. */
    (void)raw_call(SYS_madvise, (long)wanted, (long)size, MADV_DONTDUMP, 0, 0, 0);
    *view = seg_view_at((void *)wanted, fixed.chunk_count);
    view->fixed = fixed;
    return true;
}

const char ATTACH_OUT_OF_REACH[] =
    "cannot open the recording's shared memory: another root directory or /dev/shm, "
    "no descriptor free, or the recording has ended";

/* While a collector looks whether anybody has its segment (collect_proc.c), the file cannot be opened without waiting. */
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

/* A segment that may be believed (footprint/base/trust_rule.h), by the descriptors that are mapped then. In a user namespace below the
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
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    const uid_t user = (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    struct stat told = {0};
    const char *reason = NULL;
    const long fd = open_soon(path, O_RDWR | flags);
    if (fd == -EACCES)
        return "cannot open the recording's shared memory, which is another user's: put 'mallab record' "
               "behind what "
               "changes the user";
    if (fd < 0)
        return ATTACH_OUT_OF_REACH;
    long told_fd = raw_open(path, O_RDONLY | flags);
    if (told_fd < 0) {
        raw_close((int)fd);
        return ATTACH_OUT_OF_REACH;
    }
    *ret_opened = (struct opened){.fd = (int)fd, .told_fd = (int)told_fd};
    if (raw_call(SYS_fstat, fd, (long)&ret_opened->status, 0, 0, 0, 0) != 0 ||
        raw_call(SYS_fstat, told_fd, (long)&told, 0, 0, 0, 0) != 0)
        reason = "the segment cannot be looked at";
    else if (told.st_ino != ret_opened->status.st_ino || told.st_dev != ret_opened->status.st_dev)
        reason = "the segment was exchanged while it was opened";
    else
        reason = REASONS[fp_distrust(&ret_opened->status, S_IFREG, user, true)];
    if (reason != NULL)
        close_opened(ret_opened);
    return reason;
}

/* Returns NULL on success, else the reason. No descriptor stays open. */
static const char *map_segment(const char *path)
{
    struct opened opened;
    struct seg_view view;
    const char *reason = open_segment(path, &opened);
    if (reason != NULL)
        return reason;
    reason = read_view(&opened, &view);
    if (reason == NULL && !map_aligned(&opened, &view))
        reason = "cannot map the segment (is there a limit on address space?)";
    close_opened(&opened);
    if (reason == NULL)
        shim_segment = view;
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
