/* digest.c - XXH64 over executed ops. */
#include "replay/base/digest.h"

#include <string.h>

/* Ops are hashed as they stand in memory: no byte of them is padding. */
_Static_assert(sizeof(struct wl_op) == 16, "struct wl_op has no padding");

void rep_digest_init(struct rep_digest *digest)
{
    (void)XXH64_reset(&digest->state, 0); /* fails for NULL only, as do the updates below */
    digest->ops = 0;
}

void rep_digest_add(struct rep_digest *digest, const struct wl_op *ops, size_t count)
{
    (void)XXH64_update(&digest->state, ops, count * sizeof *ops);
    digest->ops += count;
}

void rep_digest_combine(struct rep_digest *total, const struct rep_digest *thread)
{
    const uint64_t words[2] = {thread->ops, XXH64_digest(&thread->state)};
    (void)XXH64_update(&total->state, words, sizeof words);
    total->ops += thread->ops;
}

uint64_t rep_digest_value(const struct rep_digest *total)
{
    return XXH64_digest(&total->state);
}
