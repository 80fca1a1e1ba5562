/* attach_segment.c - the segment that a process is recorded in: found, begun, checked, mapped.
 *
 * Laws of this file: attach.h has them. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shim/attach.h"
#include "shim/raw.h"

/* From here on only what was copied into the view is believed.
 * Returns NULL with *ret_view set, else the reason why this is no segment for us. */
static const char *view_of(struct seg_header *header, uint64_t file_bytes, struct seg_view *ret_view)
{
    struct seg_fixed fixed;
    if (atomic_load_explicit(&header->magic, memory_order_acquire) != SEG_MAGIC)
        return "the segment is not one of mallab's";
    memcpy(&fixed, &header->fixed, sizeof fixed);
    if (fixed.version != SEG_VERSION)
        return "the segment is of another version of mallab";
    if (!seg_chunk_count_is_valid(fixed.chunk_count))
        return "the segment's header is damaged";
    *ret_view = seg_view_at(header, fixed.chunk_count);
    if (file_bytes != ret_view->bytes)
        return "the segment's header is damaged";
    ret_view->fixed = fixed;
    return NULL;
}

/* At a multiple of the chunk size, so that cursors carry their place in the chunk. */
static void *map_aligned(int fd, size_t size)
{
    const size_t mask = SEG_CHUNK_BYTES - 1;
    const long area = raw_mmap(NULL, size + SEG_CHUNK_BYTES, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    uintptr_t start, end, wanted;
    if (area < 0)
        return NULL;
    start = (uintptr_t)area;
    end = start + size + SEG_CHUNK_BYTES;
    wanted = (start + mask) & ~mask;
    if (raw_mmap((void *)wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd) < 0) {
        raw_munmap((void *)start, size + SEG_CHUNK_BYTES);
        return NULL;
    }
    if (wanted > start)
        raw_munmap((void *)start, wanted - start);
    if (end > wanted + size)
        raw_munmap((void *)(wanted + size), end - wanted - size);
    /* Core dumps of the program are not the place for records. */
    (void)raw_call(SYS_madvise, (long)wanted, (long)size, MADV_DONTDUMP, 0, 0, 0);
    return (void *)wanted;
}

const char ATTACH_OUT_OF_REACH[] =
    "cannot open the recording's shared memory: another root directory or /dev/shm, "
    "no descriptor free, or the recording has ended";

/* Returns NULL on success, else the reason. No descriptor stays open. */
static const char *map_segment(const char *path)
{
    struct stat status = {0};
    struct seg_header *segment;
    struct seg_view view;
    const char *reason;
    const long fd = raw_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd == -EACCES)
        return "cannot open the recording's shared memory, which is another user's: put 'mallab record' "
               "behind what "
               "changes the user";
    if (fd < 0)
        return ATTACH_OUT_OF_REACH;
    if (raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) != 0 || !S_ISREG(status.st_mode)) {
        raw_close((int)fd);
        return "the segment is not a regular file";
    }
    if (status.st_size < (off_t)sizeof *segment) {
        raw_close((int)fd);
        return "the segment is too small";
    }
    segment = map_aligned((int)fd, (size_t)status.st_size);
    raw_close((int)fd);
    if (segment == NULL)
        return "cannot map the segment (is there a limit on address space?)";
    reason = view_of(segment, (uint64_t)status.st_size, &view);
    /* In a user namespace below the collector's, its user has another number: ours. */
    if (reason == NULL && view.fixed.owner_uid != status.st_uid &&
        status.st_uid != (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0))
        reason = "the recording's shared memory belongs to another user";
    if (reason != NULL) {
        raw_munmap(segment, (size_t)status.st_size);
        return reason;
    }
    shim_segment = view;
    return NULL;
}

void attach_count_other(void)
{
    const char *given = text_getenv("MALLAB_SEGMENT");
    const long fd = given != NULL && given[0] != '\0' ? raw_open(given, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat status = {0};
    char name[SEG_PROGRAM] = "";
    struct seg_header *segment;
    struct seg_view view;
    uint64_t number;
    long area;
    if (fd < 0)
        return;
    if (raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)sizeof *segment) {
        area = raw_mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd);
        segment = (struct seg_header *)area;
        if (area > 0 && view_of(segment, (uint64_t)status.st_size, &view) == NULL &&
            view.fixed.owner_uid == status.st_uid) {
            number = atomic_fetch_add_explicit(&segment->others, 1, memory_order_relaxed);
            text_append(name, sizeof name, attach_program);
            if (number < SEG_OTHERS)
                memcpy(segment->other_names[number], name, sizeof name);
        }
        if (area > 0)
            raw_munmap(segment, sizeof *segment);
    }
    raw_close((int)fd);
}

bool attach_is_named(void)
{
    const char *given = text_getenv("MALLAB_SEGMENT");
    return given != NULL && given[0] != '\0';
}

const char *attach_find_segment(const char *name)
{
    static char message[1280];
    char path[512];
    if (attach_is_named())
        return map_segment(text_getenv("MALLAB_SEGMENT"));
    if (!spawn_collector(name, path, sizeof path, message, sizeof message))
        return message;
    if (message[0] != '\0') /* whoever looks into $MALLAB_OUT finds an older recording there */
        attach_say("$MALLAB_OUT holds something already; recording into ", message);
    return map_segment(path);
}
