/* passes.c - latency, syscalls and placement passes over the entries of a trial. */
#include "results/measure/experiment/passes.h"

#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/experiment/experiment.h"

/* In the passes that count: the control would count the same. */
static bool takes_part(const struct res_entry *entry)
{
    return !entry->is_control && entry->failed == NULL;
}

static void drop_latency(struct res_passes *passes)
{
    json_decref(passes->latency);
    free(passes->latency_failed);
    passes->latency = NULL;
    passes->latency_failed = NULL;
}

/* Returns false when the experiment was stopped. */
static bool one_latency(struct res_entry *entry, const struct res_passes_runner *runner)
{
    struct res_passes *passes = &entry->passes;
    char *reason = NULL;
    if (passes->latency_failed != NULL)
        return true;
    const json_t *run = runner->run(runner->context, entry, "--latency", &reason);
    if (run == NULL && reason == NULL)
        return false;
    json_t *latency = json_object_get(run, "latency");
    if (reason == NULL && !json_is_object(latency))
        reason = res_strdup("its result has no 'latency'");
    if (passes->latency == NULL)
        passes->latency = json_array();
    if (reason == NULL)
        json_array_append(passes->latency, latency);
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

/* One run of each, whose object `key` is kept in the member of res_passes at `offset`. */
static bool once_each(struct res_trial *trial, const struct res_passes_runner *runner, const char *option,
                      const char *key, size_t offset, bool with_floor)
{
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_entry *entry = &trial->entries[i];
        json_t **member = (json_t **)((char *)&entry->passes + offset);
        char *reason = NULL;
        if (!takes_part(entry) || (entry->is_floor && !with_floor))
            continue;
        const json_t *run = runner->run(runner->context, entry, option, &reason);
        if (run == NULL && reason == NULL)
            return false;
        json_t *found = json_object_get(run, key);
        if (reason == NULL && !json_is_object(found))
            reason = res_printf("its result has no '%s'", key);
        *member = reason == NULL ? json_incref(found) : json_pack("{s:s}", "unavailable", reason);
        free(reason);
    }
    return true;
}

bool res_passes_syscalls(struct res_trial *trial, const struct res_passes_runner *runner)
{
    return once_each(trial, runner, "--syscalls", "system_calls", offsetof(struct res_passes, system_calls),
                     true);
}

bool res_passes_placement(struct res_trial *trial, const struct res_passes_runner *runner)
{
    return once_each(trial, runner, "--placement", "placement", offsetof(struct res_passes, placement),
                     false);
}

void res_passes_release(struct res_passes *passes)
{
    drop_latency(passes);
    json_decref(passes->system_calls);
    passes->system_calls = NULL;
    json_decref(passes->placement);
    passes->placement = NULL;
}
