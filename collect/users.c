/* users.c - users other than ours: who may have shared memory, and gets it. */
#include "collect/steps.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shim/shared/raw.h"

#define ANCESTORS_MOST 64u

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

bool user_is_believed(struct collector *collector, const struct ucred *sender)
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
    if (!user_is_believed(collector, sender) ||
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

void user_answer(struct collector *collector, const struct seg_ask *ask, const struct ucred *sender,
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

/* Nobody knows what was in pages that vanished: it counts as one call, and the processes are recorded no further. */
void user_give_up_spoiled(struct collector *collector)
{
    FOR_EACH_SEGMENT (segment, collector) {
        struct seg_header *header = segment->view.header;
        if (!segment->spoiled || get_relaxed(&header->stopped))
            continue;
        collector->spoiled++;
        atomic_store_explicit(&header->stopped, 1, memory_order_seq_cst);
        atomic_store_explicit(&header->closing, SEG_CLOSED, memory_order_seq_cst);
        raw_futex_wake(&header->closing, INT_MAX);
        FOR_EACH_IMAGE (image, collector)
            if (image->segment == segment) {
                image->lost[FP_LOSS_SPOILED]++;
                image_finish(collector, image, IMAGE_RUNNING);
            }
    }
}
