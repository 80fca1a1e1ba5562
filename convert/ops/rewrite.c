/* rewrite.c - check ops against what is alive, and hand them to a writer. */
#include "convert/ops/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/error.h"
#include "footprint/base/memory_bound.h"

void conv_rewrite_init(struct conv_rewrite *rewrite, struct wl_writer *writer)
{
    *rewrite = (struct conv_rewrite){.writer = writer};
}

void conv_rewrite_release(struct conv_rewrite *rewrite)
{
    free(rewrite->objects);
    fp_memory_give(rewrite->capacity * sizeof *rewrite->objects);
    *rewrite = (struct conv_rewrite){0};
}

struct fp_shape conv_op_shape(const struct wl_op *op)
{
    struct fp_shape shape = {op->call, op->size, 0};
    if (fp_call_extra_of(op->call) == FP_EXTRA_COUNT)
        shape.extra = op->count;
    else if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT)
        shape.extra = UINT64_C(1) << (op->align_log2 & ~WL_OP_FRESH);
    return shape;
}

bool conv_op_allocates(const struct wl_op *op)
{
    return fp_call_kind_of(op->call) == FP_KIND_ALLOCATE || (op->align_log2 & WL_OP_FRESH) != 0;
}

uint64_t conv_op_bytes(const struct wl_op *op)
{
    const struct fp_shape shape = conv_op_shape(op);
    return fp_shape_bytes(&shape);
}

static bool make_room(struct conv_rewrite *rewrite, uint32_t id)
{
    const size_t before = rewrite->capacity;
    if (!CONV_RESERVE_COUNTED(rewrite->objects, rewrite->capacity, (size_t)id + 1))
        return false;
    memset(rewrite->objects + before, 0, (rewrite->capacity - before) * sizeof *rewrite->objects);
    return true;
}

static enum fp_status allocate(struct conv_rewrite *rewrite, uint32_t thread, const struct wl_op *op,
                               uint64_t time_ns, const char **ret_what)
{
    const struct fp_shape shape = conv_op_shape(op);
    struct conv_rewrite_object *object;
    enum fp_status status;
    *ret_what = "allocates object 0, which is NULL";
    if (op->id == 0)
        return FP_ERR_CORRUPT;
    /* Bounds the memory that a single line can ask for. */
    *ret_what = "allocates an object whose number is above that of the allocations so far";
    if (op->id > rewrite->allocations + 1 || op->id >= WL_IDS_MAX)
        return FP_ERR_CORRUPT;
    *ret_what = "no memory for more objects";
    if (op->id >= rewrite->capacity && !make_room(rewrite, op->id))
        return FP_ERR_MEMORY;
    *ret_what = "allocates an object that is alive";
    object = &rewrite->objects[op->id];
    if (object->written_id != 0)
        return FP_ERR_CORRUPT;
    *ret_what = NULL;
    status = wl_writer_allocate(rewrite->writer, thread, &shape, time_ns, &object->written_id);
    object->bytes = fp_shape_bytes(&shape);
    rewrite->allocations++;
    return status;
}

enum fp_status conv_rewrite_op(struct conv_rewrite *rewrite, uint32_t thread, const struct wl_op *op,
                               uint64_t time_ns, const char **ret_what)
{
    const struct fp_shape shape = conv_op_shape(op);
    struct conv_rewrite_object *object;
    enum fp_status status;
    if (conv_op_allocates(op))
        return allocate(rewrite, thread, op, time_ns, ret_what);
    if (op->id == 0 && fp_call_kind_of(op->call) == FP_KIND_RELEASE) {
        *ret_what = NULL;
        return wl_writer_release(rewrite->writer, thread, &shape, time_ns, 0, 0);
    }
    object = op->id < rewrite->capacity ? &rewrite->objects[op->id] : NULL;
    *ret_what = fp_call_kind_of(op->call) == FP_KIND_RELEASE ? "releases an object that is not alive"
                                                             : "resizes an object that is not alive";
    if (object == NULL || object->written_id == 0)
        return FP_ERR_CORRUPT;
    *ret_what = NULL;
    if (fp_call_kind_of(op->call) == FP_KIND_RESIZE) {
        status = wl_writer_resize(rewrite->writer, thread, &shape, time_ns, object->written_id,
                                  object->bytes);
        object->bytes = fp_shape_bytes(&shape);
        return status;
    }
    status = wl_writer_release(rewrite->writer, thread, &shape, time_ns, object->written_id, object->bytes);
    object->written_id = 0;
    return status;
}
