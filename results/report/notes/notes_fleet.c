/* notes_fleet.c - what many workloads say together, in a line each: the answer, who would lose, and what the figures do not rest on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/fleet/fleet_candidates.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/noting.h"

#define NAMED_MOST 4u /* hosts by name in a line */

/* Names of a list, the first of them: "a, b and 3 more". The name may be NULL behind those. */
static void add_names(struct res_noting *to, const char *name, size_t at, size_t count)
{
    if (at < NAMED_MOST)
        say(to, "%s%s", at > 0 ? ", " : "", name);
    else if (at == NAMED_MOST)
        say(to, " and %zu more", count - at);
}

/* A label, with the workload's name where hosts of one label have several. The caller's to free. */
static char *shown_name(const struct res_fleet *fleet, const char *label, const char *workload)
{
    size_t same = 0;
    for (size_t i = 0; i < fleet->host_count; i++)
        same += strcmp(fleet->hosts[i].label, label) == 0;
    return same > 1 && workload != NULL ? res_printf("%s/%s", label, workload) : res_strdup(label);
}

/* "3.4 % less CPU time on average (2.1 to 4.6)" */
static void say_less(struct res_noting *to, const struct res_fleet_change *change, const char *what)
{
    const double near = 100 * (1 - change->high), far = 100 * (1 - change->low);
    say(to, "%s less %s on average", RES_SHARE(1 - change->ratio), what);
    if (isfinite(near) && isfinite(far))
        say(to, near < 9.95 ? " (%.1f to %.1f)" : " (%.0f to %.0f)", near, far);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const struct res_fleet_candidate *least_of(const struct res_fleet *fleet, bool memory)
{
    const struct res_fleet_candidate *least = NULL;
    double before = INFINITY;
    for (size_t i = 1; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &fleet->candidates[i];
        const struct res_fleet_change *change = memory ? &candidate->peak : &candidate->time;
        if (change->verdict == RES_LESS && change->ratio < before) {
            least = candidate;
            before = change->ratio;
        }
    }
    return least;
}

/* Whether a pair of candidates was shown to differ. */
static bool differ(const struct res_fleet *fleet, const char *one, const char *other)
{
    for (size_t i = 0; i < fleet->against_count; i++) {
        const struct res_fleet_pair *pair = &fleet->against[i];
        if (pair->one == NULL || pair->other == NULL)
            continue;
        const bool is_it = (strcmp(pair->one, one) == 0 && strcmp(pair->other, other) == 0) ||
                           (strcmp(pair->one, other) == 0 && strcmp(pair->other, one) == 0);
        if (is_it)
            return pair->verdict == RES_LESS || pair->verdict == RES_MORE;
    }
    return true;
}

static void say_rivals(struct res_noting *to, const struct res_fleet_candidate *least)
{
    size_t count = 0;
    for (size_t i = 1; i < to->fleet->candidate_count; i++) {
        const struct res_fleet_candidate *other = &to->fleet->candidates[i];
        if (other == least || other->time.verdict != RES_LESS || differ(to->fleet, least->name, other->name))
            continue;
        say(to, "%s%s", count == 0 ? "; not told apart from it: " : ", ", other->name);
        count++;
    }
}

static const char *time_words(const struct res_fleet *fleet)
{
    return fleet->of_time == RES_FLEET_OF_PROCESS ? "CPU time" : "time in malloc";
}

static bool is_spread_known(const struct res_fleet *fleet)
{
    return fleet->all_hosts || fleet->n_eff >= RES_FLEET_LEAST_EFFECTIVE;
}

static void note_answer(struct res_noting *to)
{
    const struct res_fleet *fleet = to->fleet;
    const struct res_fleet_candidate *time = least_of(fleet, false), *memory = least_of(fleet, true);
    if (!is_spread_known(fleet)) {
        say(to, "none over all: spread unknown, %llu workload%s; with 5 of equal share it is told",
            (unsigned long long)fleet->workloads, fleet->workloads == 1 ? "" : "s");
        return;
    }
    if (time != NULL) {
        say(to, "%s takes ", time->name);
        say_less(to, &time->time, time_words(fleet));
        if (isfinite(time->cpu.saved) && time->cpu.saved > 0)
            say(to, ", %s of %s in all", RES_DURATION(time->cpu.saved), RES_DURATION(time->cpu.baseline));
        if (time->peaks.low > 1 && time != memory)
            say(to, ", but peaks of all hosts are %s more", RES_SHARE(time->peaks.ratio - 1));
        say_rivals(to, time);
    } else {
        say(to, "stay with %s for time: over all none is shown to take less %s", fleet->baseline,
            time_words(fleet));
    }
    if (memory != NULL) {
        say(to, "; %s holds ", memory->name);
        say_less(to, &memory->peak, "at the peak");
    }
}

/* ---- who loses ------------------------------------------------------------------------------- */

static void note_losers(struct res_noting *to)
{
    for (size_t i = 1; i < to->fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &to->fleet->candidates[i];
        for (size_t k = 0; k < candidate->loser_count; k++) {
            const struct res_fleet_named *loser = &candidate->losers[k];
            char *name = k < NAMED_MOST ? shown_name(to->fleet, loser->label, loser->workload) : NULL;
            char *words = name != NULL ? res_printf("%s %+.0f %%", name, 100 * (loser->ratio - 1)) : NULL;
            if (k == 0)
                say(to, "%s takes over %.0f %% more %s on ", candidate->name, 100 * to->fleet->loser_limit,
                    time_words(to->fleet));
            add_names(to, words, k, candidate->loser_count);
            free(words);
            free(name);
        }
        res_note_end(to);
    }
}

static const char *first_failure(const struct res_fleet *fleet, size_t candidate)
{
    for (size_t i = 0; i < fleet->host_count; i++)
        if (fleet->hosts[i].entries[candidate].failed != NULL)
            return fleet->hosts[i].entries[candidate].failed;
    return "not known why";
}

static void note_failed_on(struct res_noting *to)
{
    for (size_t i = 0; i < to->fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &to->fleet->candidates[i];
        for (size_t k = 0; k < candidate->failed.count; k++) {
            if (k == 0)
                say(to, "%s on ", candidate->name);
            add_names(to, candidate->failed.items[k], k, candidate->failed.count);
        }
        if (candidate->failed.count > 0)
            say(to, ": %s%s", first_failure(to->fleet, i), candidate->failed.count > 1 ? " (the first)" : "");
        res_note_end(to);
    }
}

/* ---- what the figures are not of ------------------------------------------------------------- */

/* Hosts that a common figure lacks for what is known of them, and why the first does. */
static void say_without(struct res_noting *to, bool memory)
{
    const struct res_fleet *fleet = to->fleet;
    const char *why = NULL, *what = memory ? "memory" : "time";
    size_t count = 0, at = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < fleet->host_count; i++) {
            const struct res_fleet_host *host = &fleet->hosts[i];
            const char *doubt = memory ? host->no_trust_memory : host->no_trust_time;
            const bool is_other = (memory ? host->of_memory != fleet->of_memory
                                          : host->of_time != fleet->of_time);
            if (doubt == NULL && !is_other && host->share > 0)
                continue;
            if (pass == 0) {
                why = why != NULL     ? why
                      : doubt != NULL ? doubt
                      : is_other      ? "that of the program is not recorded"
                                      : "it has no share";
                count++;
            } else {
                if (at == 0)
                    say(to, "%s of ", what);
                char *name = at < NAMED_MOST ? shown_name(fleet, host->label, host->workload) : NULL;
                add_names(to, name, at++, count);
                free(name);
            }
        }
    }
    if (count > 0)
        say(to, " is in no common figure: %s%s", why, count > 1 ? " (the first)" : "");
}

static void note_without_time(struct res_noting *to)
{
    say_without(to, false);
}

static void note_without_memory(struct res_noting *to)
{
    say_without(to, true);
}

static void note_of_malloc(struct res_noting *to)
{
    const bool time = to->fleet->of_time == RES_FLEET_OF_MALLOC;
    const bool memory = to->fleet->of_memory == RES_FLEET_OF_MALLOC;
    if (time || memory)
        say(to, "%s of most programs %s not recorded: figures are of %s, larger than what a program shows",
            time && memory ? "CPU time and memory"
            : time         ? "CPU time"
                           : "memory",
            time && memory ? "are" : "is",
            time && memory ? "malloc and its heap"
            : time         ? "the time in malloc"
                           : "the heap");
}

static void note_machines(struct res_noting *to)
{
    const struct res_texts *machines = &to->fleet->machines;
    for (size_t i = 0; machines->count > 1 && i < machines->count; i++) {
        if (i == 0)
            say(to, "cells ran on %zu kinds, and are averaged over them: ", machines->count);
        add_names(to, machines->items[i], i, machines->count);
    }
}

static void note_few_workloads(struct res_noting *to)
{
    if (!to->fleet->all_hosts && is_spread_known(to->fleet) && to->fleet->n_eff < RES_FLEET_FEW_EFFECTIVE)
        say(to,
            "among %.0f workloads of equal share there may be none of a rare kind that loses: the range says "
            "nothing of those",
            floor(to->fleet->n_eff));
}

/* Who is drawn by chance stands for others, with an error that the range has; who is chosen for being in the middle has none that is known. */
static void note_representatives(struct res_noting *to)
{
    const char *selection = to->fleet->selection;
    if (selection != NULL && strstr(selection, "representatives") != NULL)
        say(to, "%s: for tuning and CI; how far the others are from them nobody knows, the range neither",
            selection);
}

static void note_drawn(struct res_noting *to)
{
    const char *selection = to->fleet->selection;
    if (selection != NULL && strstr(selection, "representatives") == NULL)
        say(to, "%s, which count for all", selection);
}

static void note_these_hosts(struct res_noting *to)
{
    if (to->fleet->all_hosts)
        say(to, "ranges are of these %llu hosts alone, as --all-hosts says: of others they say nothing",
            (unsigned long long)to->fleet->workloads);
}

static void note_missing_cells(struct res_noting *to)
{
    if (to->fleet->missing_count > 0)
        say(to, "%zu cell%s of the plan: figures are of those that are there", to->fleet->missing_count,
            to->fleet->missing_count == 1 ? "" : "s");
}

const struct res_note_row RES_FLEET_ROWS[] = {
    {"verdict", RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_answer},
    {"loses", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_losers},
    {"failed", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_failed_on},
    {"missing", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_missing_cells},
    {"machines", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_machines},
    {"chosen", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_representatives},
    {"drawn", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_drawn},
    {"basis", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_of_malloc},
    {"without", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_without_time},
    {"without", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_without_memory},
    {"range", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_these_hosts},
    {"range", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_few_workloads},
    {0},
};
