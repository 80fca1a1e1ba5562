/* head.h - the filter that lets the first calls pass, of all threads together. Private to convert/. */
#ifndef MALLAB_CONVERT_SELECT_HEAD_H
#define MALLAB_CONVERT_SELECT_HEAD_H

#include "convert/base/source.h"

struct conv_head {
    uint64_t left; /* calls that may still pass; marks are no calls */
    struct conv_sink next;
};

/* conv_head_init - calls > 0. There is nothing to release. */
void conv_head_init(struct conv_head *head, uint64_t calls, struct conv_sink next);

/* conv_head_sink - the filter; its data is head. Its events() answers FP_END behind the last call. */
struct conv_sink conv_head_sink(struct conv_head *head);

#endif
