/* notes_memory.c - resident memory: on which clock, where it goes, what is in no figure of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/report/notes/advice.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/noting.h"

#define TORN_DOWN 0.1 /* live at the end over live at the peak; below, figures of the end need a word */

static bool has_recorded_clock(const struct res_result_workload *workload)
{
    return workload->memory_rounds > 0;
}

/* Candidates whose memory on the machine's clock is not what the program would have had. */
static void say_followers(struct res_noting *noting)
{
    const char *before = "; by it these give memory back, and had little time to: ";
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        if (entry->predicted)
            continue;
        res_note_say(noting, "%s%s", before, entry->name);
        before = ", ";
    }
}

void res_note_timed_memory(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    if (has_recorded_clock(workload))
        return;
    res_note_say(noting, "resident is of the timed runs, on the machine's clock: %s",
                 workload->duration_ns == 0                ? "the workload has no recorded time"
                 : noting->result->memory_rounds_asked > 0 ? "no pass on the recorded one was finished"
                                                           : "no pass on the recorded one was asked for");
    say_followers(noting);
}

void res_note_clock(struct res_noting *noting)
{
    const uint64_t rounds = noting->workload->memory_rounds;
    if (rounds > 0)
        res_note_say(noting,
                     "resident is of %s more run%s of each, in which recorded time passed for the "
                     "allocator, as what it gives back follows the clock; times are of the machine's clock",
                     FP_GROUPED(rounds), rounds == 1 ? "" : "s");
}

/* Who sees 0.98x for the first time takes it for a mistake. */
void res_note_below(struct res_noting *noting)
{
    const double live = (double)noting->workload->live_peak_bytes;
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        if (!(live > 0 && entry->figures.peak_bytes / live < 0.995)) /* as it is printed */
            continue;
        res_note_say(noting,
                     "peak over live is the resident peak over the most bytes that the program held at a "
                     "time; it is below 1x where pages of large objects were never written to: nobody holds "
                     "them");
        return;
    }
}

void res_note_idle(struct res_noting *noting)
{
    const double idle_ms = (double)noting->result->memory_idle_ms;
    char before[160];
    const char *comma = before;
    if (!(idle_ms > 0) || !has_recorded_clock(noting->workload))
        return;
    snprintf(before, sizeof before,
             "resident after %s more, with 0.5 MB in 1,000 objects made and freed every tenth of a second: ",
             RES_DURATION(idle_ms * 1e6));
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        const double own = entry->memory_count > 0 ? entry->memory_runs[0].idle_own_bytes : NAN;
        if (!isfinite(entry->figures.idle_bytes))
            continue;
        res_note_say(noting, "%s%s %s", comma, entry->name, FP_BYTES(entry->figures.idle_bytes));
        if (own >= 0.5)
            res_note_say(noting, " (without %s that these objects added)", FP_BYTES(own));
        comma = ", ";
    }
}

/* ---- where memory goes ----------------------------------------------------------------------- */

static void say_share(struct res_noting *noting, const char *word, const struct res_waste_at *at,
                      double bytes)
{
    if (bytes >= 0)
        res_note_say(noting, ", %s %.0f %%", word, 100 * bytes / at->resident_bytes);
}

/* Results of former versions have counts below 0, which were no figures (replay/meters/waste.h): with what they made of
 * the rest. */
static void say_waste(struct res_noting *noting, const struct res_result_entry *entry)
{
    const struct res_waste_at *at = &entry->waste->peak;
    const double rest = at->rest_bytes + (at->cached_bytes < 0 ? at->cached_bytes : 0) +
                        (at->metadata_bytes < 0 ? at->metadata_bytes : 0);
    res_note_say(noting, "%s %s: live %.0f %%", entry->name, FP_BYTES(at->resident_bytes),
                 100 * at->live_bytes / at->resident_bytes);
    say_share(noting, "rounding", at, at->rounding_bytes);
    /* Only what is in memory concerns: where the counts add up to more than is resident, the rest of memory is all that
     * can be cached. */
    if (at->cached_bytes >= 0)
        say_share(noting, rest < 0 ? "cached at most" : "cached", at,
                  fmax(rest < 0 ? at->cached_bytes + rest : at->cached_bytes, 0));
    say_share(noting, "metadata", at, at->metadata_bytes);
    say_share(noting, "rest", at, rest);
    if (at->huge_page_bytes > 0)
        say_share(noting, "in huge pages", at, at->huge_page_bytes);
}

/* It is looked where all threads rest, which is not at the peak itself: both live figures are told. */
static void say_moment(struct res_noting *noting)
{
    const struct res_waste_figures *waste = noting->workload->candidates[0].waste;
    res_note_say(noting, "resident near the live peak, ");
    if (waste != NULL && isfinite(waste->peak.live_bytes))
        res_note_say(noting, "where all threads rest (%s live then, %s at the peak), ",
                     FP_BYTES(waste->peak.live_bytes), FP_BYTES((double)noting->workload->live_peak_bytes));
    res_note_say(noting, "as the allocators tell: ");
}

void res_note_waste(struct res_noting *noting)
{
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        if (entry->waste == NULL || !(entry->waste->peak.resident_bytes > 0))
            continue;
        if (noting->words.text == NULL)
            say_moment(noting);
        else
            res_note_say(noting, "; ");
        say_waste(noting, entry);
    }
}

/* ---- a limit --------------------------------------------------------------------------------- */

/* "; jemalloc ran into it in 3 of 13 runs, up to 12 times, and went on, ..." */
static void say_pressure(struct res_noting *noting)
{
    bool any = false;
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        const struct res_limited *limited = entry->limit;
        if (limited == NULL || limited->runs_at_limit == 0)
            continue;
        res_note_say(noting, "%s %s in %s of %s runs, up to %s times",
                     any ? "," : "; ran into it and went on:", entry->name,
                     FP_GROUPED(limited->runs_at_limit), FP_GROUPED(limited->runs),
                     FP_GROUPED(limited->at_limit_count_max));
        any = true;
    }
    if (any)
        res_note_say(noting, ". The kernel found pages to take back each time; next time it may find none");
}

void res_note_limit(struct res_noting *noting)
{
    const struct res_result *result = noting->result;
    if (result->limit_bytes == 0)
        return;
    const char *bytes = FP_BYTES((double)result->limit_bytes);
    if (result->limit_by != NULL && strncmp(result->limit_by, "cgroup", 6) == 0) {
        res_note_say(noting,
                     "each candidate could hold %s in memory, as in a container: %s, without swap, the "
                     "harness' own added",
                     bytes, result->limit_by);
        say_pressure(noting);
        return;
    }
    res_note_say(
        noting, "each candidate could map %s (RLIMIT_DATA: private writable memory, resident or not)", bytes);
    if (result->limit_by_why != NULL)
        res_note_say(noting, ", not hold it as in a container: %s", result->limit_by_why);
}

/* ---- what is in no figure, or is not what it seems ------------------------------------------- */

void res_note_start(struct res_noting *noting)
{
    const struct res_result_entry *base = res_result_entry_named(noting->workload, noting->result->baseline);
    const char *before = "before their first call these hold more than the baseline: ";
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        const double more = base != NULL ? entry->figures.start_bytes - base->figures.start_bytes : NAN;
        if (!(more > 0 && more >= RES_START_MATTERS * base->figures.peak_bytes))
            continue;
        res_note_say(noting, "%s%s %s", before, entry->name, FP_BYTES(more));
        before = ", ";
    }
    if (noting->words.text != NULL)
        res_note_say(noting, ". Resident figures are without it, the program has it too");
}

static double live_at_end(const struct res_result_workload *workload)
{
    const struct res_result_entry *first = &workload->candidates[0];
    return first->run_count > 0 ? first->runs[0].live_end_bytes : NAN;
}

bool res_is_torn_down(const struct res_result_workload *workload)
{
    const double end = live_at_end(workload), peak = (double)workload->live_peak_bytes;
    return end >= 0 && peak > 0 && end < TORN_DOWN * peak;
}

void res_note_end_of_run(struct res_noting *noting)
{
    if (res_is_torn_down(noting->workload))
        res_note_say(noting,
                     "it held %s live of %s at its peak, as a program does that has freed all before it "
                     "exits: end and idle are of that, and not of a service at rest",
                     FP_BYTES(live_at_end(noting->workload)),
                     FP_BYTES((double)noting->workload->live_peak_bytes));
}

void res_note_unpredicted(struct res_noting *noting)
{
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        if (has_recorded_clock(noting->workload) && entry->not_predicted_why != NULL)
            res_note_say(noting, "memory of %s is not predicted: %s", entry->name, entry->not_predicted_why);
        res_note_end(noting);
    }
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
        return "what merged processes left behind when they ended stays live: live bytes and resident "
               "memory are upper bounds";
    default:
        return NULL;
    }
}

/* Figures of memory that look like any others, and are not. */
void res_note_live(struct res_noting *noting)
{
    const char *words = res_notes_live(noting->workload->live);
    if (words != NULL)
        res_note_say(noting, "%s", words);
}
