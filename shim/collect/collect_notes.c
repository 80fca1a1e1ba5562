/* collect_notes.c - what of the recorded tree is not recorded, as its processes and `mallab record` tell it.
 *
 * Each sends a datagram to a socket that has no place in any file system and the name of the segment's file (shim/preload/note.c,
 * record/watch.c). Any process of the machine can send one: its bytes are shown, and nothing else is done by them. */
#include "shim/collect/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "footprint/base/json_read.h"

#define NOTES_A_ROUND 256

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void notes_open(struct collector *collector)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = base_name(collector->segment.path);
    const int on = 1;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    collector->notes.fd = -1;
    if (fd < 0)
        return;                                     /* then nothing is told by anybody */
    if (strlen(name) + 1 < sizeof address.sun_path) /* it is of some 30 bytes */
        memcpy(address.sun_path + 1, name, strlen(name));
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) == 0)
        collector->notes.fd = fd;
    else
        (void)close(fd); /* nothing came by it */
}

/* ---- one note ------------------------------------------------------------------------------------ */

static void copy_plain(char *ret, size_t size, const char *bytes)
{
    size_t i = 0;
    for (; bytes[i] != '\0' && i + 1 < size; i++)
        ret[i] = (unsigned char)bytes[i] < ' ' || bytes[i] == 127 ? '?' : bytes[i];
    ret[i] = '\0';
}

/* "NAME\0REASON" of the sender, "NAME\0REASON\0" of a child that it is about to have, "NAME\0REASON\0PID" of another
 * process, with a '?' behind it where that is guessed from outside. */
static struct collect_unrecorded parse(const char *bytes, size_t length, uint32_t sender)
{
    struct collect_unrecorded note = {.pid = sender};
    const size_t why = strlen(bytes) + 1;
    copy_plain(note.name, sizeof note.name, bytes);
    copy_plain(note.why, sizeof note.why, why <= length ? bytes + why : "did not say why");
    if (why <= length) {
        const size_t third = why + strlen(bytes + why) + 1;
        if (third <= length) {
            note.pid = (uint32_t)strtoul(bytes + third, NULL, 10);
            note.guessed = strchr(bytes + third, '?') != NULL;
        }
    }
    return note;
}

static bool receive(int fd, struct collect_unrecorded *ret_note)
{
    char bytes[512];
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {bytes, sizeof bytes - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const struct cmsghdr *head;
    struct ucred sender = {0};
    ssize_t length;
    do {
        length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    if (length < 0)
        return false;
    bytes[length] = '\0';
    head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS &&
        head->cmsg_len >= CMSG_LEN(sizeof sender))
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
    *ret_note = parse(bytes, (size_t)length, sender.pid > 0 ? (uint32_t)sender.pid : 0);
    return true;
}

/* ---- the list ------------------------------------------------------------------------------------ */

/* What was left out as asked is no surprise. */
static bool is_asked_for(const struct collector *collector, const struct collect_unrecorded *note)
{
    const struct seg_shared *shared = collector->segment.view.shared;
    const uint32_t leader = atomic_load_explicit(&shared->leader_pid, memory_order_relaxed);
    const char *only = collector->options.only;
    char pattern[256];
    if (collector->options.no_follow && (note->pid == 0 || (leader != 0 && note->pid != leader)))
        return false;
    for (bool more = only != NULL; more; only++) {
        const size_t length = strcspn(only, ",");
        (void)snprintf(pattern, sizeof pattern, "%.*s", (int)length, only); /* a name is shorter */
        if (fnmatch(pattern, note->name, 0) == 0)
            return true;
        only += length;
        more = *only != '\0';
    }
    return collector->options.only == NULL;
}

/* To `mallab record`, which says it in its own time: "unrecorded INDEX PID NAME\tWHY". */
static void tell(const struct collector *collector, size_t index)
{
    const struct collect_unrecorded *note = &collector->notes.named[index];
    char line[COLLECT_LINE];
    const int length = snprintf(line, sizeof line, "unrecorded %zu %u %s\t%s\n", index, note->pid, note->name,
                                note->why); /* fits */
    if (collector->options.control_fd >= 0)
        (void)!send(collector->options.control_fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Each program once for each reason. A guess from outside gives way to what the process says itself.
 * Returns whether the list is another one. */
static bool add(struct collector *collector, const struct collect_unrecorded *note)
{
    struct collect_notes *notes = &collector->notes;
    for (size_t i = 0; i < notes->named_count; i++) {
        struct collect_unrecorded *before = &notes->named[i];
        if (strcmp(before->name, note->name) != 0)
            continue;
        if (before->guessed && !note->guessed && before->pid == note->pid) {
            *before = *note;
            tell(collector, i);
            return true;
        }
        if (note->guessed || strcmp(before->why, note->why) == 0)
            return false;
    }
    if (notes->named_count == COLLECT_UNRECORDED_MAX) {
        notes->more++;
        return notes->more == 1;
    }
    notes->named[notes->named_count] = *note;
    tell(collector, notes->named_count++);
    return true;
}

bool notes_take(struct collector *collector)
{
    struct collect_unrecorded note;
    bool changed = false;
    for (int i = 0; i < NOTES_A_ROUND && collector->notes.fd >= 0 && receive(collector->notes.fd, &note); i++)
        if (is_asked_for(collector, &note))
            changed = add(collector, &note) || changed;
    return changed;
}

/* ---- of a collector that was killed ------------------------------------------------------------ */

static json_t *load(int directory_fd)
{
    json_t *recording = NULL;
    const int fd = openat(directory_fd, "recording.json",
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    const struct fp_json_bound bound = fp_json_directory_bound(directory_fd, fd);
    (void)fp_json_read(fd, &bound, &recording, NULL); /* NULL stays */
    (void)close(fd);                                  /* only read from */
    return recording;
}

void notes_take_former(struct collector *collector)
{
    json_t *recording = load(collector->directory_fd);
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(recording, "not_recorded"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *why = json_string_value(json_object_get(item, "why"));
        const json_int_t pid = json_integer_value(json_object_get(item, "pid"));
        struct collect_unrecorded note = {.pid = pid > 0 && pid <= INT32_MAX ? (uint32_t)pid : 0};
        if (name == NULL || why == NULL)
            continue;
        copy_plain(note.name, sizeof note.name, name);
        copy_plain(note.why, sizeof note.why, why);
        (void)add(collector, &note); /* the JSON is written anew in any case */
    }
    json_decref(recording);
}
