/* tell.c - stops and programs that are not recorded: noted, told once, kept for recording.json; and other users, who ask. */
#include "collect/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "footprint/base/words.h"

#define ROOM_BYTES     262144u
#define NOTES_A_ROUND  256
#define ANCESTORS_MOST 64u

/* Tell `mallab record`, if it is there and its end is a socket; it may not read for a while, and must not stop us. */
__attribute__((format(printf, 2, 3))) static void tell(const struct collector *collector, const char *format,
                                                       ...)
{
    char line[COLLECT_LINE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments); /* fits */
    va_end(arguments);
    if (collector->options.control_fd >= 0)
        (void)!send(collector->options.control_fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool tell_changed(struct collector *collector)
{
    const bool changed = collector->notes.changed || collector->stop.told != collector->stop.by;
    collector->stop.told = collector->stop.by;
    collector->notes.changed = false;
    return changed;
}

/* ---- stops ---------------------------------------------------------------------------------------- */

const char *stop_name(enum collect_stop cause)
{
    static const char *const NAMES[] = {
        [STOP_NONE] = NULL,           [STOP_DISK_FULL] = "disk_full", [STOP_SIZE_LIMIT] = "size_limit",
        [STOP_DURATION] = "duration", [STOP_ASKED] = "end",           [STOP_ALONE] = "recorder_killed"};
    return NAMES[cause];
}

/* Each is told the first time: a disk that is full, and not, and full again would fill the terminal too. */
static bool is_first(struct collector *collector, enum collect_stop cause)
{
    const bool first = !(collector->stop.causes_told & 1u << cause);
    collector->stop.causes_told |= 1u << cause;
    return first;
}

void stop_note(struct collector *collector, enum collect_stop cause)
{
    if (collector->options.recover || collector->stop.by >= cause)
        return; /* the graver one stays */
    collector->stop.by = cause;
    collector->stop.after_ns = collect_elapsed_ns(collector);
    if (is_first(collector, cause))
        tell(collector, "stopped %s %llu\n", stop_name(cause), (unsigned long long)collector->stop.after_ns);
}

/* A little block may find room where the next one will not: a stop is over when somebody has made room. */
static bool has_room(const struct collector *collector)
{
    if (collector->stop.by == STOP_SIZE_LIMIT)
        return collector->options.keep != 0; /* what a new window removes */
    const uint64_t bytes = reserve_free_bytes(collector);
    return collector->stop.by == STOP_DISK_FULL && bytes >= ROOM_BYTES && bytes != UINT64_MAX;
}

void stop_over(struct collector *collector)
{
    if (collector->stop.by == STOP_NONE || !has_room(collector))
        return;
    FOR_EACH_IMAGE (image, collector)
        if (!image->writing && !image->between)
            return;
    collector->stop.by = STOP_NONE;
    if (is_first(collector, STOP_NONE))
        tell(collector, "resumed %llu\n", (unsigned long long)collect_elapsed_ns(collector));
}

void tell_seen(struct collector *collector)
{
    if (collector->control.seen_told)
        return;
    FOR_EACH_IMAGE (image, collector)
        if (image->pid == collector->options.command_pid)
            return;
    tell(collector, "seen\n");
    collector->control.seen_told = true;
}

/* ---- users other than ours: who may have shared memory, and gets it ----------------------------------
 *
 * Each user of a process of the tree has a segment. Who sends a datagram is the kernel's word (SCM_CREDENTIALS). What comes from strangers is
 * dropped: those of users without a segment that descend from no recorded process. */

static struct collect_segment *segment_of(struct collector *collector, uint32_t user)
{
    FOR_EACH_SEGMENT (segment, collector)
        if (segment->user == user)
            return segment;
    return NULL;
}

/* Tells by the kernel's word whether a process, or one that it descends from, is recorded, or is the command. */
static bool is_of_tree(const struct collector *collector, uint32_t pid)
{
    struct fp_proc_stat times = {0};
    for (unsigned i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
        if (image_of_process(collector, pid, SEG_NOBODY) != NULL || pid == collector->options.command_pid ||
            pid == collector->options.leader_pid)
            return true;
        pid = fp_proc_stat((pid_t)pid, &times) ? times.parent : 0;
    }
    return false;
}

static bool is_believed(struct collector *collector, const struct ucred *sender)
{
    return sender->uid == 0 || segment_of(collector, sender->uid) != NULL ||
           is_of_tree(collector, (uint32_t)sender->pid);
}

static struct collect_segment *find_or_make(struct collector *collector, uint32_t user)
{
    struct collect_segment *segment = segment_of(collector, user);
    if (segment != NULL || collector->segment_count == COLLECT_SEGMENTS_MOST)
        return segment;
    segment = &collector->segments[collector->segment_count];
    if (!segment_create_for(segment, &collector->segments[0], user))
        return NULL;
    put_relaxed(&segment->view.shared->leader_pid,
                get_relaxed(&collector->segments[0].view.shared->leader_pid));
    segment->can_look = collector->segments[0].can_look;
    /* No serial is another process's, whichever segment it is in. */
    segment->serials_seen = (uint64_t)collector->segment_count++ << 40;
    put_relaxed(&segment->view.shared->serials, segment->serials_seen);
    return segment;
}

/* The segment that the process gets descriptors of: never the recording's user's, which has a name. NULL: none. */
static struct collect_segment *decide(struct collector *collector, const struct ucred *sender,
                                      uint64_t serial, uint32_t *ret_slot)
{
    image_discover_all(collector); /* it may have come since this round began */
    struct collect_image *image = serial != SEG_NOBODY
                                      ? image_of_process(collector, (uint32_t)sender->pid, serial)
                                      : NULL;
    if (!is_believed(collector, sender) ||
        (image == NULL && (serial != SEG_NOBODY || collector->options.no_follow)))
        return NULL;
    struct collect_segment *segment = find_or_make(collector, sender->uid);
    if (segment == NULL || segment->spoiled || segment->told_fd < 0 ||
        (image != NULL && image->segment == segment))
        return NULL;
    if (image != NULL)
        *ret_slot = image_move(collector, image, segment);
    return image == NULL || *ret_slot < SEG_SLOT_COUNT ? segment : NULL;
}

static void answer(struct collector *collector, const struct seg_ask *ask, const struct ucred *sender,
                   const struct msghdr *from)
{
    uint32_t slot = SEG_SLOT_COUNT;
    const struct collect_segment *segment = decide(collector, sender, ask->serial, &slot);
    int fds[2] = {-1, -1};
    char path[32];
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof fds)];
    } control = {.head = {CMSG_LEN(sizeof fds), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec part = {&slot, sizeof slot};
    struct msghdr message = {
        .msg_name = from->msg_name, .msg_namelen = from->msg_namelen, .msg_iov = &part, .msg_iovlen = 1};
    if (segment != NULL) {
        /* Opened for it: with our own descriptor it would have our locks, too. */
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", segment->file.fd); /* fits */
        fds[1] = open(path, O_RDWR | O_CLOEXEC);
        fds[0] = segment->told_fd;
        memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    /* Or it waits in vain, and is not recorded. */
    (void)sendmsg(collector->notes.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)close(fds[1]); /* the process has its own; or there is none */
}

/* ---- one note of a program that is not recorded ---------------------------------------------------- */

void notes_open(struct collector *collector)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *slash = strrchr(collector->segments[0].path, '/');
    const char *name = slash != NULL ? slash + 1 : collector->segments[0].path;
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

/* "NAME\0REASON" of the sender, "NAME\0REASON\0" of a child that it is about to have, "NAME\0REASON\0PID" of another
 * process, with a '?' behind it where that is guessed from outside. */
static struct collect_unrecorded parse(const char *bytes, size_t length, uint32_t sender)
{
    struct collect_unrecorded note = {.pid = sender};
    const size_t why = strlen(bytes) + 1;
    (void)fp_text_plain(bytes, note.name, sizeof note.name);
    (void)fp_text_plain(why <= length ? bytes + why : "did not say why", note.why, sizeof note.why);
    const size_t third = why <= length ? why + strlen(bytes + why) + 1 : SIZE_MAX;
    if (third <= length) {
        note.pid = (uint32_t)strtoul(bytes + third, NULL, 10);
        note.guessed = strchr(bytes + third, '?') != NULL;
    }
    return note;
}

/* Take a datagram. Returns whether there was one; what strangers send is no note, and what is a question is answered. */
static bool receive(struct collector *collector, struct collect_unrecorded *ret_note, bool *ret_is_note)
{
    char bytes[512];
    struct sockaddr_un address;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {bytes, sizeof bytes - 1};
    struct msghdr message = {.msg_name = &address,
                             .msg_namelen = sizeof address,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct ucred sender = {0};
    ssize_t length;
    do {
        length = recvmsg(collector->notes.fd, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    if (length < 0)
        return false;
    bytes[length] = '\0';
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS &&
        head->cmsg_len >= CMSG_LEN(sizeof sender))
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
    struct seg_ask ask;
    memcpy(&ask, bytes, sizeof ask); /* of any content */
    const bool asks = (size_t)length == sizeof ask && ask.mark == SEG_ASK_MARK;
    *ret_is_note = !asks && is_believed(collector, &sender);
    if (asks)
        answer(collector, &ask, &sender, &message);
    *ret_note = parse(bytes, (size_t)length, sender.pid > 0 ? (uint32_t)sender.pid : 0);
    return true;
}

/* ---- the list ------------------------------------------------------------------------------------ */

/* A program that --only or --no-follow leaves out, as asked, is no surprise. */
static bool is_asked_for(const struct collector *collector, const struct collect_unrecorded *note)
{
    const uint32_t leader = get_relaxed(&collector->segments[0].view.shared->leader_pid);
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

/* Each program is listed once for each reason. A guess from outside comes last, and gives way to what the process said. */
static void add(struct collector *collector, const struct collect_unrecorded *note)
{
    struct collect_notes *notes = &collector->notes;
    for (size_t i = 0; i < notes->named_count; i++) {
        const struct collect_unrecorded *before = &notes->named[i];
        if (strcmp(before->name, note->name) == 0 && (note->guessed || strcmp(before->why, note->why) == 0))
            return;
    }
    notes->changed = notes->changed || notes->named_count < COLLECT_UNRECORDED_MAX || notes->more == 0;
    if (notes->named_count == COLLECT_UNRECORDED_MAX) {
        notes->more++;
        return;
    }
    notes->named[notes->named_count++] = *note;
    if (note->pid != 0)
        tell(collector, "unrecorded '%s' (process %u) %s\n", note->name, note->pid, note->why);
    else
        tell(collector, "unrecorded '%s' %s\n", note->name, note->why);
}

static bool has_come(const struct collector *collector, const struct collect_unrecorded *guess)
{
    char name[sizeof guess->name];
    for (size_t i = 0; i < collector->image_count; i++) {
        const struct collect_image *image = collector->images[i];
        (void)fp_text_plain(basename(image->executable), name, sizeof name);
        name[strlen(name) < strlen(guess->name) ? 0 : strlen(guess->name)] = '\0'; /* " (deleted)" */
        if ((image->pid == guess->pid || image->foreign) && strcmp(name, guess->name) == 0)
            return true;
    }
    return false;
}

static void drop_guesses(struct collector *collector)
{
    struct collect_notes *notes = &collector->notes;
    size_t kept = 0;
    for (size_t i = 0; i < notes->guessed_count; i++)
        if (!has_come(collector, &notes->guessed[i]))
            notes->guessed[kept++] = notes->guessed[i];
    notes->guessed_count = kept;
}

void notes_take(struct collector *collector)
{
    struct collect_notes *notes = &collector->notes;
    struct collect_unrecorded note;
    bool is_note;
    for (int i = 0; i < NOTES_A_ROUND && notes->fd >= 0 && receive(collector, &note, &is_note); i++) {
        if (!is_note)
            continue;
        if (note.guessed && notes->guessed_count == COLLECT_UNRECORDED_MAX)
            drop_guesses(collector);
        if (!is_asked_for(collector, &note) || (note.guessed && has_come(collector, &note)))
            continue;
        if (note.guessed && notes->guessed_count < COLLECT_UNRECORDED_MAX)
            notes->guessed[notes->guessed_count++] = note;
        else
            add(collector, &note);
    }
    drop_guesses(collector);
}

void notes_take_last(struct collector *collector)
{
    notes_take(collector);
    for (size_t i = 0; i < collector->notes.guessed_count; i++)
        add(collector, &collector->notes.guessed[i]);
}

void notes_add(struct collector *collector, const char *name, uint32_t pid, const char *why)
{
    struct collect_unrecorded note = {.pid = pid};
    (void)fp_text_plain(name, note.name, sizeof note.name);
    (void)fp_text_plain(why, note.why, sizeof note.why);
    add(collector, &note);
}

void notes_take_former(struct collector *collector)
{
    json_t *recording = segment_read_recording(collector->place.fd);
    const char *label = json_string_value(json_object_get(recording, FP_LABEL_META));
    const json_t *item;
    size_t i;
    if (fp_label_is_valid(label))
        collector->options.label = strdup(label); /* to the end */
    json_array_foreach(json_object_get(recording, "not_recorded"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *why = json_string_value(json_object_get(item, "why"));
        const json_int_t pid = json_integer_value(json_object_get(item, "pid"));
        if (name != NULL && why != NULL)
            notes_add(collector, name, pid > 0 && pid <= INT32_MAX ? (uint32_t)pid : 0, why);
    }
    json_decref(recording);
}
