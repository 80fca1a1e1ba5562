/* rewrite.h - ops that exist already, with ids of their own, given to a workload writer again.
 *
 * The writer gives ids by its rule (footprint/wl/workload.h); where the ops came from a workload in the same order, both are
 * the same. Private to convert/. */
#ifndef MALLAB_CONVERT_OPS_REWRITE_H
#define MALLAB_CONVERT_OPS_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

struct conv_rewrite_object {
    uint32_t written_id; /* 0: not alive */
    uint64_t bytes;
};

struct conv_rewrite {
    struct wl_writer *writer; /* borrowed */
    struct conv_rewrite_object *objects;
    size_t capacity;
    uint64_t allocations;
};

/* conv_rewrite_init - nothing alive. conv_rewrite_release frees what it holds; memory is 16 bytes per id. */
void conv_rewrite_init(struct conv_rewrite *rewrite, struct wl_writer *writer);
void conv_rewrite_release(struct conv_rewrite *rewrite);

/* conv_rewrite_op - one op. Ids are checked: an allocation's must be at most the number of allocations so far and not
 * alive, the others' must be alive (a release may name 0).
 * time_ns   recorded time, as wl_writer_allocate takes it.
 * Returns   FP_OK; FP_ERR_CORRUPT with *ret_what saying what is wrong with the op; FP_ERR_MEMORY with *ret_what; else
 *           the writer's (wl_writer_error), *ret_what NULL. */
enum fp_status conv_rewrite_op(struct conv_rewrite *rewrite, uint32_t thread, const struct wl_op *op,
                               uint64_t time_ns, const char **ret_what);

/* conv_op_shape - what the program asked for, as the op has it. conv_op_allocates - whether the op makes an object: a
 * realloc of NULL does. conv_op_bytes - bytes requested, count and size multiplied. */
struct fp_shape conv_op_shape(const struct wl_op *op);
bool conv_op_allocates(const struct wl_op *op);
uint64_t conv_op_bytes(const struct wl_op *op);

#endif
