/* run_batches.c - batches out of runs. */
#include "results/measure/figures/run_batches.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

#define NS_MOST     1e18 /* of a run; more is none */
#define OPS_UNKNOWN 1e6  /* of a result that does not tell */

struct res_run_batches res_run_batches_of(const struct res_run *runs, size_t count)
{
    struct res_run_batches found = {0};
    if (count == 0)
        return found;
    size_t cut = runs[0].batch_count;
    for (size_t i = 0; i < count; i++)
        cut = runs[i].batch_count == cut ? cut : 0;
    found.ops = (double)runs[0].ops - (double)runs[0].inherited_ops;
    if (!(found.ops > 0))
        found.ops = cut > 0 ? 0 : OPS_UNKNOWN;
    found.rounds = res_calloc(count, sizeof *found.rounds);
    found.whole = res_calloc(count, sizeof *found.whole);
    found.batches = (struct res_batches){found.rounds, count, cut > 0 ? cut : 1};
    for (size_t i = 0; i < count; i++) {
        const double ops = (double)runs[i].ops - (double)runs[i].inherited_ops;
        const double ns = runs[i].ns_per_op * (ops > 0 ? ops : OPS_UNKNOWN);
        const bool has_time = ns >= 0 && ns < NS_MOST;
        found.whole[i] = has_time ? (uint64_t)llround(ns) : 0;
        found.rounds[i] = cut > 0 ? runs[i].batch_ns : &found.whole[i];
        if (cut == 0 && !has_time)
            found.batches.round_count = 0;
    }
    return found;
}

void res_run_batches_release(struct res_run_batches *batches)
{
    free(batches->rounds);
    free(batches->whole);
    *batches = (struct res_run_batches){0};
}
