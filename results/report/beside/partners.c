/* partners.c - see beside.h. */
#include "results/report/beside/beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/verdict.h"

/* ---- partners ------------------------------------------------------------------------------- */

static bool same_text(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* Of several hosts' that called the same, the one of this workload's host; a label that one of both lacks tells nothing. */
static const struct res_result_workload *with_digest(const struct res_result *result,
                                                     const struct res_result_workload *workload)
{
    const struct res_result_workload *found = NULL;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *one = &result->workloads[i];
        if (!same_text(one->digest, workload->digest))
            continue;
        if (same_text(one->label, workload->label))
            return one;
        if (found == NULL && (one->label == NULL || workload->label == NULL))
            found = one;
    }
    return found;
}

/* of_host: of the same one. */
static bool any_common(const struct res_result *earlier, const struct res_result *result, bool of_host)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload workload = result->workloads[i];
        if (!of_host)
            workload.label = NULL;
        if (with_digest(earlier, &workload) != NULL)
            return true;
    }
    return false;
}

const struct res_result_workload *res_partner(const struct res_result *earlier,
                                              const struct res_result *result,
                                              const struct res_result_workload *workload)
{
    if (any_common(earlier, result, true))
        return with_digest(earlier, workload);
    if (earlier->workload_count == 1 && result->workload_count == 1)
        return &earlier->workloads[0];
    for (size_t i = 0; i < earlier->workload_count; i++) {
        if (strcmp(earlier->workloads[i].name, workload->name) == 0)
            return &earlier->workloads[i];
    }
    return NULL;
}

static const char *first_name(const struct res_result *result)
{
    return result->workload_count > 0 ? result->workloads[0].name : "none";
}

char *res_workloads_problem(const struct res_result *earlier, const struct res_result *result)
{
    if (any_common(earlier, result, true))
        return NULL;
    return res_printf("they replayed different workloads (then '%s', now '%s': %s), so their "
                      "figures do not compare; replay the same .wl file, or add --any-workload",
                      first_name(earlier), first_name(result),
                      any_common(earlier, result, false) ? "of another host" : "no digest in common");
}

/* ---- what differs --------------------------------------------------------------------------- */

/* A struct of each result, and the rows of both. */
struct two {
    const struct res_described *described;
    const void *then, *now;
};

static struct two machines_of(const struct res_result *earlier, const struct res_result *result)
{
    return (struct two){&RES_MACHINE, &earlier->machine, &result->machine};
}

/* A value for messages: JSON in one line. */
static char *value_text(const struct res_described *described, const void *from, const char *key)
{
    json_t *value = res_described_value(described, from, key);
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    char *cut = res_strndup(dumped != NULL ? dumped : "null", 80);
    char *plain = res_text_plain(cut);
    json_decref(value);
    free(dumped);
    free(cut);
    return plain;
}

char *res_machine_problem(const struct res_result *earlier, const struct res_result *result)
{
    static const char *const KEYS[] = {"cpu", "cpus", "cores", "architecture"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        const struct two machines = machines_of(earlier, result);
        if (res_described_same(machines.described, machines.then, machines.now, KEYS[i]))
            continue;
        char *words[] = {value_text(machines.described, machines.then, KEYS[i]),
                         value_text(machines.described, machines.now, KEYS[i])};
        char *problem = res_printf(
            "they come from different machines (%s: then %s, now %s); measure both on one, check "
            "against the baseline of the same run, or add --any-machine",
            KEYS[i], words[0], words[1]);
        free(words[0]);
        free(words[1]);
        return problem;
    }
    return NULL;
}

static void add_difference(struct res_beside *beside, const char *what, struct two two, const char *key)
{
    if (res_described_same(two.described, two.then, two.now, key))
        return;
    beside->differences = res_realloc(beside->differences, beside->difference_count + 1,
                                      sizeof *beside->differences);
    beside->differences[beside->difference_count++] = (struct res_differing){
        .what = what,
        .key = key,
        .then = value_text(two.described, two.then, key),
        .now = value_text(two.described, two.now, key),
    };
}

void res_differences_add(struct res_beside *beside, const struct res_result *earlier,
                         const struct res_result *result)
{
    static const char *const SETTINGS[] = {
        "label", "commit", "baseline", "rounds", "memory_rounds_asked", "memory_idle_ms", "one_thread"};
    static const char *const MACHINE[] = {"cpu",          "cpus",           "cores", "architecture",
                                          "memory_bytes", "kernel",         "libc",  "transparent_huge_pages",
                                          "governor",     "virtual_machine"};
    const struct two results = {&RES_RESULT, earlier, result};
    add_difference(beside, "mallab", results, "mallab_version");
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
        add_difference(beside, "settings", results, SETTINGS[i]);
    for (size_t i = 0; i < sizeof MACHINE / sizeof MACHINE[0]; i++)
        add_difference(beside, "machine", machines_of(earlier, result), MACHINE[i]);
}

/* ---- libraries ------------------------------------------------------------------------------ */

/* Takes the words; none, and what was told of another workload, are dropped. */
static void add_once(struct res_texts *lines, char *words)
{
    bool told = words == NULL;
    for (size_t i = 0; i < lines->count && !told; i++)
        told = strcmp(lines->items[i], words) == 0;
    if (!told)
        res_texts_add(lines, words);
    free(words);
}

char *res_library_change(const struct res_result_entry *then, const struct res_result_entry *now)
{
    const char *old = then->version != NULL ? then->version : "-";
    const char *new = now->version != NULL ? now->version : "-";
    if (strcmp(old, new) != 0)
        return res_printf("%s: version %s then, %s now", now->name, old, new);
    return res_build_change(now->library != NULL ? now->library : now->name, now->version, &then->build,
                            &now->build);
}

struct res_texts res_changed_libraries(const struct res_result *earlier, const struct res_result *result)
{
    struct res_texts lines = {.known = true};
    const struct res_machine *before = &earlier->machine, *machine = &result->machine;
    bool unknown = false;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_result_workload *partner = res_partner(earlier, result, workload);
        for (size_t k = 0; partner != NULL && k < workload->candidate_count; k++) {
            const struct res_result_entry *now = &workload->candidates[k];
            const struct res_result_entry *then = res_result_entry_named(partner, now->name);
            if (then == NULL)
                continue;
            add_once(&lines, res_library_change(then, now));
            unknown |= then->build.digest == NULL && now->build.digest != NULL;
        }
    }
    if (machine->libc != NULL && same_text(before->libc, machine->libc))
        add_once(&lines, res_build_change("libc.so.6", machine->libc + strcspn(machine->libc, "0123456789"),
                                          &before->libc_build, &machine->libc_build));
    if (unknown)
        res_texts_add(&lines, "which builds of the libraries the earlier result measured is not known");
    return lines;
}

/* ---- what only one of both has ------------------------------------------------------------------ */

void res_lone_add(struct res_beside *beside, const struct res_result *earlier,
                  const struct res_result *result)
{
    for (size_t i = 0; i < earlier->workload_count; i++)
        if (res_partner(result, earlier, &earlier->workloads[i]) == NULL)
            res_told_add(beside, res_printf("workload only then: %s", earlier->workloads[i].name));
    for (size_t i = 0; i < result->workload_count; i++)
        if (res_partner(earlier, result, &result->workloads[i]) == NULL)
            res_told_add(beside, res_printf("workload only now: %s", result->workloads[i].name));
}
