/* chosen.c - the objects that are chosen and live. Laws: those of shim.h. */
#include "shim/preload/chosen.h"

#include <string.h>

struct shim_chosen shim_chosen;

__thread uint64_t chosen_left __attribute__((tls_model("initial-exec")));

/* Put one word of a bucket in the place of another. */
static bool replace(uintptr_t bucket, uintptr_t former, uintptr_t address)
{
    for (unsigned way = 0; way < CHOSEN_WAYS; way++) {
        uintptr_t seen = get_relaxed(&shim_chosen.objects[bucket][way]);
        if (seen == former && swap_relaxed(&shim_chosen.objects[bucket][way], &seen, address))
            return true;
    }
    return false;
}

bool chosen_add(uintptr_t address)
{
    const uint32_t bucket = chosen_bucket(address);
    if (shim_chosen.mean == 0 || address == 0)
        return true;
    if (!replace(bucket, 0, address))
        return false;
    add_relaxed(&shim_chosen.counts[bucket], 1); /* the program passes it on to other threads behind this */
    return true;
}

bool chosen_take(uintptr_t address)
{
    const uint32_t bucket = chosen_bucket(address);
    if (address == 0 || !replace(bucket, address, 0))
        return false;
    sub_relaxed(&shim_chosen.counts[bucket], 1);
    return true;
}

void chosen_forget(void)
{
    if (shim_chosen.mean != 0)
        memset(&shim_chosen, 0, sizeof shim_chosen);
}
