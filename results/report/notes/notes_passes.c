/* notes_passes.c - what the passes behind the rounds found: single calls, the kernel's part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/noting.h"

#define CALLS_SHOWN 4u /* of those made most; the JSON has all */

/* ---- latency --------------------------------------------------------------------------------- */

/* NULL: it has no figures. */
static const struct res_latency_figures *latency_of(const struct res_result_entry *entry)
{
    return entry->latency != NULL && entry->latency->by_call_count > 0 ? entry->latency : NULL;
}

/* Of the first candidate that has any: all made the same calls. */
static const struct res_latency_figures *first_latency(const struct res_result_workload *workload)
{
    RES_EACH_CANDIDATE(entry, workload)
    {
        if (latency_of(entry) != NULL)
            return latency_of(entry);
    }
    return NULL;
}

static void note_latency_failed(struct res_noting *to, const struct res_result_entry *entry)
{
    if (entry->latency != NULL && entry->latency->unavailable != NULL)
        say(to, "%s was not measured: %s", entry->name, entry->latency->unavailable);
}

/* at  where in its latency the percentile lies. */
static const struct res_percentile *percentile_of(const struct res_result_entry *entry, size_t at)
{
    return entry->latency != NULL
               ? (const struct res_percentile *)(const void *)((const char *)entry->latency + at)
               : NULL;
}

/* "jemalloc -12.1% [-20.3 -3.2] faster" */
static void say_percentile(struct res_noting *to, const char *name, const struct res_percentile *percentile,
                           const char *verdict)
{
    const char *interval = percentile != NULL ? RES_INTERVAL(percentile->low, percentile->high) : "";
    say(to, "%s %s%s%s%s%s", name, RES_PERCENT(percentile != NULL ? percentile->ratio : NAN),
        *interval != '\0' ? " " : "", interval, *verdict != '\0' ? " " : "", verdict);
}

/* Against the baseline's, and the baseline's own noise. Results of before have no ratios, and no such note. */
static void say_percentiles(struct res_noting *to, size_t at)
{
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        const struct res_percentile *own = percentile_of(entry, at);
        if (own == NULL || !isfinite(own->ratio))
            continue;
        say(to, "%s", to->words.text != NULL ? ", " : "");
        say_percentile(to, entry->name, own, own->verdict >= 0 ? RES_TIME_VERDICTS[own->verdict] : "");
    }
    if (to->words.text == NULL)
        return;
    say(to, "; ");
    char *itself = res_printf("%s against itself", to->workload->candidates[0].name);
    say_percentile(to, itself, percentile_of(&to->workload->control, at), "");
    free(itself);
}

static void note_p99(struct res_noting *to)
{
    say_percentiles(to, offsetof(struct res_latency_figures, p99));
}

static void note_p99_9(struct res_noting *to)
{
    say_percentiles(to, offsetof(struct res_latency_figures, p99_9));
}

static bool typical_of(const struct res_result_entry *entry, const void *which, double *ret_ns)
{
    const struct res_latency_figures *latency = latency_of(entry);
    *ret_ns = NAN;
    for (size_t i = 0; latency != NULL && i < latency->by_call_count; i++)
        if (latency->by_call[i].call != NULL && strcmp(latency->by_call[i].call, which) == 0)
            *ret_ns = latency->by_call[i].typical_ns;
    return true;
}

static int compare_by_count(const void *left, const void *right)
{
    const struct res_call_figures *const *a = left, *const *b = right;
    const double one = (*a)->count, other = (*b)->count;
    return one != other ? (other > one) - (other < one) : (*a > *b) - (*a < *b);
}

/* "malloc: glibc 12.1, jemalloc 9.80", for each of the calls made most often. */
static void note_calls(struct res_noting *to)
{
    const struct res_latency_figures *latency = first_latency(to->workload);
    const size_t count = latency != NULL ? latency->by_call_count : 0;
    const struct res_call_figures **calls = res_calloc(count + 1, sizeof *calls);
    size_t named = 0;
    for (size_t i = 0; i < count; i++)
        if (latency->by_call[i].call != NULL)
            calls[named++] = &latency->by_call[i];
    qsort(calls, named, sizeof *calls, compare_by_count);
    for (size_t i = 0; i < named && i < CALLS_SHOWN; i++) {
        say(to, "%s: ", calls[i]->call);
        (void)res_note_each(to, typical_of, calls[i]->call, res_ns_words);
        res_note_end(to);
    }
    free(calls);
}

/* ---- what was asked of the kernel ------------------------------------------------------------ */

/* "glibc 50: brk 44, mremap 4, mmap 1, munmap 1" */
static void say_system_calls(struct res_noting *to, const struct res_system_calls *calls)
{
    const struct {
        const char *name;
        double count;
    } kinds[] = {
        {"mmap", calls->mmap},         {"munmap", calls->munmap}, {"mremap", calls->mremap},
        {"madvise", calls->madvise},   {"brk", calls->brk},       {"futex", calls->futex},
        {"mprotect", calls->mprotect}, {"other", calls->other},
    };
    const char *before = ": ";
    say(to, " %s", RES_NUMBER(calls->total));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!(kinds[i].count > 0))
            continue;
        say(to, "%s%s %s", before, kinds[i].name, RES_NUMBER(kinds[i].count));
        before = ", ";
    }
}

static void note_system_calls(struct res_noting *to)
{
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        const struct res_system_calls *calls = entry->system_calls;
        if (calls == NULL)
            continue;
        say(to, "%s%s", to->words.text != NULL ? "; " : "", entry->name);
        if (calls->unavailable != NULL)
            say(to, " unavailable (%s)", calls->unavailable);
        else
            say_system_calls(to, calls);
    }
}

static void note_group(struct res_noting *to)
{
    if (to->workload->group_processes > 1)
        say(to, "latency of calls, and what is resident split, are of one process: --process PID chooses it");
}

const struct res_note_row RES_PASS_ROWS[] = {
    {"group", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_group},
    {"latency", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .each = note_latency_failed},
    {"p99", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_p99},
    {"p99.9", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_p99_9},
    {"ns a call", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_calls},
    {"syscalls", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_system_calls},
    {0},
};
