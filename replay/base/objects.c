/* objects.c - sizes by object id, and what addresses must be multiples of. */
#include "replay/base/objects.h"

#include "replay/base/op.h"
#include "replay/base/own_process.h"

bool rep_live_init(struct rep_live *live, uint32_t id_max)
{
    *live = (struct rep_live){.id_max = id_max};
    live->sizes = rep_storage_map((size_t)id_max + 1, sizeof *live->sizes);
    return live->sizes != NULL;
}

void rep_live_follow(struct rep_live *live, const struct wl_window *window, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct wl_op *op = &window->ops[i];
        uint64_t *size = &live->sizes[op->id];
        if (op->id == 0)
            continue;
        if (*size != 0) {
            live->bytes -= *size - 1;
            live->objects--;
            *size = 0;
        }
        if (fp_call_kind_of(op->call) == FP_KIND_RELEASE)
            continue;
        *size = rep_op_bytes(op) + 1;
        live->bytes += *size - 1;
        live->objects++;
    }
}

/* C: suitable for any object that fits, and no fundamental type needs more than 16. */
uint64_t rep_alignment_promised(const struct wl_op *op, uint64_t bytes)
{
    uint64_t alignment = 1;
    if (op->call == FP_CALL_VALLOC || op->call == FP_CALL_PVALLOC)
        return REP_PAGE_BYTES;
    while (alignment < 16 && alignment * 2 <= bytes)
        alignment *= 2;
    if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT) {
        const uint64_t asked = UINT64_C(1) << (op->align_log2 & ~WL_OP_FRESH & 63);
        alignment = asked > alignment ? asked : alignment;
    }
    return alignment;
}
