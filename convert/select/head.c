/* head.c - so many calls and no more. */
#include "convert/select/head.h"

void conv_head_init(struct conv_head *head, uint64_t calls, struct conv_sink next)
{
    *head = (struct conv_head){.left = calls, .next = next};
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_head *head = data;
    size_t passing = 0;
    enum fp_status status;
    while (passing < count && head->left > 0)
        head->left -= fp_call_kind_of(events[passing++].call) != FP_KIND_NONE;
    status = passing > 0 ? head->next.events(head->next.data, events, passing) : FP_OK;
    return status == FP_OK && head->left == 0 ? FP_END : status;
}

static enum fp_status inherit(void *data, const struct conv_event *objects, size_t count)
{
    const struct conv_head *head = data;
    return head->next.inherit(head->next.data, objects, count);
}

static bool is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_head *head = data;
    return head->next.is_live(head->next.data, address, ret_bytes);
}

struct conv_sink conv_head_sink(struct conv_head *head)
{
    return (struct conv_sink){.data = head, .events = take_events, .is_live = is_live, .inherit = inherit};
}
