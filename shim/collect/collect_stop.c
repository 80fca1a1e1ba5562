/* collect_stop.c - what ended recording, or interrupts it, while the program runs on: told at once, and in recording.json. */
#include "shim/collect/collect.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>

#define ROOM_BYTES 262144u

const char *stop_name(enum collect_stop cause)
{
    static const char *const NAMES[] = {[STOP_NONE] = NULL,
                                        [STOP_DISK_FULL] = "disk_full",
                                        [STOP_SIZE_LIMIT] = "size_limit",
                                        [STOP_DURATION] = "duration",
                                        [STOP_ASKED] = "end"};
    return NAMES[cause];
}

/* To `mallab record`, if it is there and its end is a socket; it may not read for a while, and must not stop us. */
static void tell(const struct collector *collector, const char *what, const char *cause)
{
    char line[80];
    const int length = snprintf(line, sizeof line, "%s%s %llu\n", what, cause,
                                (unsigned long long)collect_elapsed_ns(collector)); /* fits */
    if (collector->options.control_fd >= 0)
        (void)!send(collector->options.control_fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void stop_note(struct collector *collector, enum collect_stop cause)
{
    if (collector->options.recover || collector->stopped_by >= cause)
        return; /* the graver one stays */
    collector->stopped_by = cause;
    collector->stopped_ns = collect_elapsed_ns(collector);
    if (collector->stops_told & 1u << cause)
        return; /* a disk that is full, and not, and full again would fill the terminal too */
    collector->stops_told |= 1u << cause;
    tell(collector, "stopped ", stop_name(cause));
}

/* A little block may find room where the next one will not: it is over when somebody has made room. */
static bool has_room(const struct collector *collector)
{
    struct statvfs space;
    if (collector->stopped_by == STOP_SIZE_LIMIT)
        return collector->options.keep != 0; /* what a new window removes */
    return collector->stopped_by == STOP_DISK_FULL && fstatvfs(collector->directory_fd, &space) == 0 &&
           (uint64_t)space.f_bavail * space.f_frsize >= ROOM_BYTES;
}

void stop_over(struct collector *collector)
{
    if (collector->stopped_by == STOP_NONE || !has_room(collector))
        return;
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        const struct collect_image *image = collect_image_in(collector, slot);
        if (image != NULL && !image->writing && !image->between)
            return;
    }
    collector->stopped_by = STOP_NONE;
    if (collector->stops_told & 1u << STOP_NONE)
        return;
    collector->stops_told |= 1u << STOP_NONE;
    tell(collector, "resumed", "");
}

bool stop_changed(struct collector *collector)
{
    const bool changed = collector->stop_told != collector->stopped_by;
    collector->stop_told = collector->stopped_by;
    return changed;
}
