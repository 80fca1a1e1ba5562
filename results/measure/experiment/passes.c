/* passes.c - behind the rounds: runs that watch. */
#include "results/measure/experiment/passes.h"

#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"

static void drop_latency(struct res_passes *passes)
{
    json_decref(passes->latency);
    free(passes->latency_failed);
    passes->latency = NULL;
    passes->latency_failed = NULL;
}

/* The page shows one pass of a candidate: the cells of the others' maps, and the histograms by call, would be most of a result. */
static void thin(const struct res_entry *entry, json_t *latency)
{
    size_t i;
    json_t *call;
    if (entry->is_control || entry->failed != NULL || entry->is_floor ||
        json_array_size(entry->passes.latency) > 0)
        json_object_set_new(json_object_get(latency, "map"), "cells", json_array());
    json_array_foreach(json_object_get(latency, "by_call"), i, call)
        json_object_set_new(call, "histogram", json_pack("{s:[], s:[], s:[]}", "low_ns", "high_ns", "count"));
}

/* Returns false when the experiment was stopped. */
static bool one_latency(struct res_entry *entry, const struct res_passes_runner *runner)
{
    struct res_passes *passes = &entry->passes;
    char *reason = NULL;
    if (passes->latency_failed != NULL)
        return true;
    const json_t *run = runner->run(runner->context, entry, &reason);
    if (run == NULL && reason == NULL)
        return false;
    json_t *latency = json_object_get(run, "latency");
    if (reason == NULL && !json_is_object(latency))
        reason = res_strdup("its result has no 'latency'");
    if (passes->latency == NULL)
        passes->latency = json_array();
    if (reason == NULL) {
        thin(entry, latency);
        json_array_append(passes->latency, latency);
    }
    passes->latency_failed = reason;
    return true;
}

bool res_passes_latency(struct res_trial *trial, unsigned passes, struct res_random *random,
                        const struct res_passes_runner *runner)
{
    bool whole = true;
    for (unsigned pass = 0; pass < passes && whole; pass++) {
        size_t *order = res_shuffled(random, trial->entry_count);
        for (size_t i = 0; i < trial->entry_count && whole; i++)
            if (trial->entries[order[i]].failed == NULL)
                whole = one_latency(&trial->entries[order[i]], runner);
        free(order);
    }
    for (size_t i = 0; i < trial->entry_count && !whole; i++)
        drop_latency(&trial->entries[i].passes);
    return whole;
}

void res_passes_leave_out_latency(struct res_trial *trial, const struct res_options *options, const char *why)
{
    for (size_t i = 0; i < trial->entry_count && options->latency_passes > 0; i++) {
        trial->entries[i].passes.latency = json_array();
        trial->entries[i].passes.latency_failed = res_strdup(why);
    }
}

void res_passes_release(struct res_passes *passes)
{
    drop_latency(passes);
}
