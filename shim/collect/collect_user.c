/* collect_user.c - what other users can do to a recording: whom it believes, and pages that they took away. */
#include "shim/collect/collect_tell.h"

#include <limits.h>
#include <unistd.h>

#include "shim/collect/collect_image.h"
#include "shim/collect/collect_proc.h"
#include "shim/shared/raw.h"

#define ANCESTORS_MOST 64u

static bool is_image(const struct collector *collector, uint32_t pid)
{
    const struct collect_image *image;
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        if (image->pid == pid)
            return true;
    return false;
}

/* By the kernel's word: it, or one that it descends from, is recorded, or is the command. */
static bool is_of_tree(const struct collector *collector, uint32_t pid)
{
    struct look_times times = {0};
    for (unsigned i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
        if (is_image(collector, pid) || pid == collector->options.command_pid ||
            pid == collector->options.leader_pid)
            return true;
        pid = look_at_times(pid, &times) ? times.parent : 0;
    }
    return false;
}

bool user_is_believed(struct collector *collector, const struct ucred *sender)
{
    return sender->uid == 0 || sender->uid == geteuid() || is_of_tree(collector, (uint32_t)sender->pid);
}

/* Of what was in pages that vanished nobody knows: it is one call, and the processes are recorded no further. */
void user_give_up_spoiled(struct collector *collector)
{
    struct collect_image *image;
    FOR_EACH_SEGMENT (segment, collector) {
        struct seg_header *header = segment->view.header;
        if (!segment->spoiled || get_relaxed(&header->stopped))
            continue;
        collector->spoiled++;
        atomic_store_explicit(&header->stopped, 1, memory_order_seq_cst);
        atomic_store_explicit(&header->closing, SEG_CLOSED, memory_order_seq_cst);
        raw_futex_wake(&header->closing, INT_MAX);
        for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
            if (image->segment == segment) {
                image->lost[FP_LOSS_SPOILED]++;
                image_finish(collector, image, IMAGE_RUNNING);
            }
    }
}
