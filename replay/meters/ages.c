/* ages.c - a ring of live objects for each thread. */
#include "replay/meters/ages.h"

#include "replay/base/storage.h"

static uint32_t end_of(const struct rep_ages *ages, uint32_t thread)
{
    return ages->id_max + 1 + thread;
}

bool rep_ages_init(struct rep_ages *ages, const struct wl_summary *summary)
{
    /* Both below 2^32 together: WL_IDS_MAX, WL_THREADS_MAX. */
    const size_t nodes = (size_t)summary->id_max + 1 + summary->thread_count;
    *ages = (struct rep_ages){.id_max = summary->id_max, .thread_count = summary->thread_count};
    ages->older = rep_storage_map(nodes, sizeof *ages->older);
    ages->younger = rep_storage_map(nodes, sizeof *ages->younger);
    ages->sizes = rep_storage_map((size_t)summary->id_max + 1, sizeof *ages->sizes);
    if (ages->older == NULL || ages->younger == NULL || ages->sizes == NULL)
        return false;
    for (uint32_t thread = 0; thread < summary->thread_count; thread++) {
        const uint32_t end = end_of(ages, thread);
        ages->older[end] = ages->younger[end] = end;
    }
    return true;
}

static void take_out(struct rep_ages *ages, uint32_t id)
{
    ages->younger[ages->older[id]] = ages->younger[id];
    ages->older[ages->younger[id]] = ages->older[id];
    ages->sizes[id] = 0;
    ages->objects--;
}

static void take_in(struct rep_ages *ages, uint32_t id, uint32_t thread)
{
    const uint32_t end = end_of(ages, thread), last = ages->older[end];
    ages->older[id] = last;
    ages->younger[id] = end;
    ages->younger[last] = ages->older[end] = id;
    ages->objects++;
}

static void follow(struct rep_ages *ages, const struct wl_op *op, uint32_t thread)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    const bool keeps_age = kind == FP_KIND_RESIZE && (op->align_log2 & WL_OP_FRESH) == 0 &&
                           ages->sizes[op->id] != 0;
    if (op->id == 0)
        return;
    if (ages->sizes[op->id] != 0 && !keeps_age)
        take_out(ages, op->id);
    if (kind == FP_KIND_RELEASE)
        return;
    if (!keeps_age)
        take_in(ages, op->id, thread);
    const bool counts = fp_call_extra_of(op->call) == FP_EXTRA_COUNT;
    const uint64_t bytes = op->size * (counts ? op->count : 1);
    ages->sizes[op->id] = bytes < UINT32_MAX ? (uint32_t)bytes + 1 : UINT32_MAX;
}

void rep_ages_follow(struct rep_ages *ages, const struct wl_window *window)
{
    const struct wl_op *op = window->ops;
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++)
            follow(ages, op++, window->runs[run].thread);
}

static uint32_t object_or_end(const struct rep_ages *ages, uint32_t node)
{
    return node <= ages->id_max ? node : 0;
}

uint32_t rep_ages_oldest(const struct rep_ages *ages, uint32_t thread)
{
    return object_or_end(ages, ages->younger[end_of(ages, thread)]);
}

uint32_t rep_ages_next(const struct rep_ages *ages, uint32_t id)
{
    return object_or_end(ages, ages->younger[id]);
}
