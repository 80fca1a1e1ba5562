/* live_sizes.c - sizes by object id. */
#include "replay/base/live_sizes.h"

#include "replay/base/op.h"
#include "replay/base/storage.h"

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
