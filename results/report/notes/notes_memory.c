/* notes_memory.c - resident memory: on which clock, where it goes, what is in no figure of it. */
#include <math.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/figures/verdict.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/noting.h"

static bool has_recorded_clock(const struct res_result_workload *workload)
{
    return workload->memory_rounds > 0;
}

/* Candidates whose memory on the machine's clock is not what the program would have had. */
static void say_followers(struct res_noting *to)
{
    const char *before = "; by it these give memory back, and had little time to: ";
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        if (entry->predicted)
            continue;
        say(to, "%s%s", before, entry->name);
        before = ", ";
    }
}

static void note_timed_memory(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (has_recorded_clock(workload))
        return;
    say(to, "resident is of the timed runs, on the machine's clock: %s",
        workload->duration_ns == 0                            ? "the workload has no recorded time"
        : res_count_told(to->result->memory_rounds_asked) > 0 ? "no pass on the recorded one was finished"
                                                              : "no pass on the recorded one was asked for");
    say_followers(to);
}

/* ---- where memory goes ----------------------------------------------------------------------- */

static void say_share(struct res_noting *to, const char *word, const struct res_waste_at *at, double bytes)
{
    if (bytes >= 0)
        say(to, ", %s %.0f %%", word, 100 * bytes / at->resident_bytes);
}

/* Results of former versions have counts below 0, which were no figures (replay/meters/waste.h): with what they made of
 * the rest. */
static void say_waste(struct res_noting *to, const struct res_result_entry *entry)
{
    const struct res_waste_at *at = &entry->waste->peak;
    const double rest = at->rest_bytes + (at->cached_bytes < 0 ? at->cached_bytes : 0) +
                        (at->metadata_bytes < 0 ? at->metadata_bytes : 0);
    say(to, "%s %s: live %.0f %%", entry->name, FP_BYTES(at->resident_bytes),
        100 * at->live_bytes / at->resident_bytes);
    say_share(to, "rounding", at, at->rounding_bytes);
    /* Only what is in memory concerns: where the counts add up to more than is resident, the rest of memory is all that
     * can be cached. */
    if (at->cached_bytes >= 0)
        say_share(to, rest < 0 ? "cached at most" : "cached", at,
                  fmax(rest < 0 ? at->cached_bytes + rest : at->cached_bytes, 0));
    say_share(to, "metadata", at, at->metadata_bytes);
    say_share(to, "rest", at, rest);
    if (at->huge_page_bytes > 0)
        say_share(to, "in huge pages", at, at->huge_page_bytes);
}

/* It is looked where all threads rest, which is not at the peak itself: both live figures are told. */
static void say_moment(struct res_noting *to)
{
    const struct res_waste_figures *waste = to->workload->candidates[0].waste;
    say(to, "resident near the live peak, ");
    if (waste != NULL && isfinite(waste->peak.live_bytes))
        say(to, "where all threads rest (%s live then, %s at the peak), ", FP_BYTES(waste->peak.live_bytes),
            FP_BYTES((double)to->workload->live_peak_bytes));
    say(to, "as the allocators tell: ");
}

static void note_waste(struct res_noting *to)
{
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        if (entry->waste == NULL || !(entry->waste->peak.resident_bytes > 0))
            continue;
        if (to->words.text == NULL)
            say_moment(to);
        else
            say(to, "; ");
        say_waste(to, entry);
    }
}

/* ---- a limit --------------------------------------------------------------------------------- */

/* "; jemalloc ran into it in 3 of 13 runs, up to 12 times, and went on, ..." */
static void say_pressure(struct res_noting *to)
{
    bool any = false;
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        const struct res_limited *limited = entry->limit;
        if (limited == NULL || limited->runs_at_limit == 0)
            continue;
        say(to, "%s %s in %s of %s runs, up to %s times",
            any ? "," : "; ran into it and went on:", entry->name, FP_GROUPED(limited->runs_at_limit),
            FP_GROUPED(limited->runs), FP_GROUPED(limited->at_limit_count_max));
        any = true;
    }
    if (any)
        say(to, ". The kernel found pages to take back each time; next time it may find none");
}

static void note_limit(struct res_noting *to)
{
    const struct res_result *result = to->result;
    if (result->limit_bytes == 0)
        return;
    const char *bytes = FP_BYTES((double)result->limit_bytes);
    if (result->limit_by != NULL && strncmp(result->limit_by, "cgroup", 6) == 0) {
        say(to,
            "each candidate could hold %s in memory, as in a container: %s, without swap, the harness' own "
            "added",
            bytes, result->limit_by);
        say_pressure(to);
        return;
    }
    say(to, "each candidate could map %s (RLIMIT_DATA: private writable memory, resident or not)", bytes);
    if (result->limit_by_why != NULL)
        say(to, ", not hold it as in a container: %s", result->limit_by_why);
}

/* ---- what is in no figure, or is not what it seems ------------------------------------------- */

static void note_end_of_run(struct res_noting *to)
{
    if (res_is_torn_down(to->workload))
        say(to,
            "it held %s live of %s at its peak, as a program does that has freed all before it exits: end "
            "and idle are of that, and not of a service at rest",
            FP_BYTES(to->workload->candidates[0].runs[0].live_end_bytes),
            FP_BYTES((double)to->workload->live_peak_bytes));
}

static void note_unpredicted(struct res_noting *to, const struct res_result_entry *entry)
{
    if (has_recorded_clock(to->workload) && entry->not_predicted_why != NULL)
        say(to, "memory of %s is not predicted: %s", entry->name, entry->not_predicted_why);
}

const char *res_notes_live(int live)
{
    switch (live) {
    case RES_LIVE_FROM_MIDDLE:
        return "what was live when the recording begins is not known: live bytes and resident memory are "
               "lower bounds";
    case RES_LIVE_PAUSED:
        return "what was made or released in pauses is not known: live bytes and resident memory are not "
               "exact";
    case RES_LIVE_LEFT_BEHIND:
        return "what merged processes left behind when they ended stays live: live bytes and resident memory "
               "are upper bounds";
    default:
        return NULL;
    }
}

/* Figures of memory that look like any others, and are not. */
static void note_live(struct res_noting *to)
{
    const char *words = res_notes_live(to->workload->live);
    if (words != NULL)
        say(to, "%s", words);
}

const struct res_note_row RES_MEMORY_ROWS[] = {
    {"memory", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_timed_memory},
    {"waste", RES_NOTE_INFO, RES_TOLD_TEXT, .make = note_waste},
    {"limit", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_limit},
    {"at end", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_end_of_run},
    {"unpredicted", RES_NOTE_WARNING, RES_TOLD_DETAILS, .each = note_unpredicted},
    {"live", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_live},
    {0},
};
