/* slots_fleet.c - the words of slots about many workloads together: who would lose, and what figures do not rest on. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

#define NAMED_MOST 4u /* hosts by name in a line */

/* Names of a list, the first of them: "a, b and 3 more". The name may be NULL behind those. */
static void add_name(struct res_text *words, const char *name, size_t at, size_t count)
{
    if (at < NAMED_MOST)
        say("%s%s", at > 0 ? ", " : "", name);
    else if (at == NAMED_MOST)
        say(" and %zu more", count - at);
}

/* A label, with the workload's name where hosts of one label have several. The caller's to free. */
static char *shown_name(const struct res_fleet *fleet, const char *label, const char *workload)
{
    size_t same = 0;
    for (size_t i = 0; i < fleet->host_count; i++)
        same += strcmp(fleet->hosts[i].label, label) == 0;
    return same > 1 && workload != NULL ? res_printf("%s/%s", label, workload) : res_strdup(label);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const struct res_fleet_candidate *named(const struct res_about *about)
{
    const struct res_fleet *fleet = about->fleet;
    for (size_t i = 1; i < fleet->candidate_count && about->answer->candidate != NULL; i++)
        if (strcmp(fleet->candidates[i].name, about->answer->candidate) == 0)
            return &fleet->candidates[i];
    return NULL;
}

static void add_range(struct res_text *words, const struct res_fleet_change *change)
{
    const double near = 100 * (1 - change->high), far = 100 * (1 - change->low);
    if (isfinite(near) && isfinite(far))
        say(near < 9.95 ? "%.1f to %.1f" : "%.0f to %.0f", near, far);
}

SLOT_WORD(fleet_baseline, about->fleet->baseline)
SLOT_IF(fleet_workloads, true, "%s workload%s", FP_GROUPED(about->fleet->workloads),
        about->fleet->workloads == 1 ? "" : "s")
SLOT_WORD(fleet_time, about->fleet->of_time == RES_FLEET_OF_PROCESS ? "CPU time" : "time in malloc")
SLOT_IF(fleet_less_time, named(about) != NULL, "%s", RES_SHARE(1 - named(about)->time.ratio))
SLOT_IF(fleet_less_peak, named(about) != NULL, "%s", RES_SHARE(1 - named(about)->peak.ratio))
SLOT_DO(fleet_range_time, add_range(words, &named(about)->time))
SLOT_DO(fleet_range_peak, add_range(words, &named(about)->peak))
SLOT_IF(fleet_saved, about->answer->saved > 0, "%s of %s", RES_DURATION(about->answer->saved),
        RES_DURATION(named(about)->cpu.baseline))
SLOT_IF(fleet_price, isfinite(about->answer->price), "%s", RES_SHARE(about->answer->price))

SLOT(fleet_rivals)
{
    const struct res_fleet_candidate *least = named(about);
    const char *comma = "";
    for (size_t i = 1; i < about->fleet->candidate_count; i++) {
        const struct res_fleet_candidate *other = &about->fleet->candidates[i];
        if (other == least || other->time.verdict != RES_LESS || !(other->time.low <= least->time.high))
            continue;
        say("%s%s", comma, other->name);
        comma = ", ";
    }
}

/* ---- who loses ------------------------------------------------------------------------------- */

bool res_each_fleet_candidate(struct res_about *about)
{
    return about->at < about->fleet->candidate_count;
}

static const struct res_fleet_candidate *current(const struct res_about *about)
{
    return &about->fleet->candidates[about->at];
}

SLOT_WORD(fleet_candidate, current(about)->name)
SLOT_IF(loser_limit, true, "%.0f %%", 100 * about->fleet->loser_limit)
SLOT(losers)
{
    for (size_t i = 0; i < current(about)->loser_count; i++) {
        const struct res_fleet_named *loser = &current(about)->losers[i];
        RES_FREED char *name = shown_name(about->fleet, loser->label, loser->workload);
        RES_FREED char *told = res_printf("%s %+.0f %%", name, 100 * (loser->ratio - 1));
        add_name(words, told, i, current(about)->loser_count);
    }
}

static void add_texts(struct res_text *words, const struct res_texts *names)
{
    for (size_t i = 0; i < names->count; i++)
        add_name(words, names->items[i], i, names->count);
}

SLOT_DO(failed_on, add_texts(words, &current(about)->failed))
SLOT(failed_on_why)
{
    const struct res_fleet *fleet = about->fleet;
    size_t host = 0;
    while (host < fleet->host_count && fleet->hosts[host].entries[about->at].failed == NULL)
        host++;
    say("%s%s", host < fleet->host_count ? fleet->hosts[host].entries[about->at].failed : "not known why",
        current(about)->failed.count > 1 ? " (the first)" : "");
}

/* ---- what the figures are not of ------------------------------------------------------------- */

/* Tells why a common figure lacks a host; NULL: it does not. */
static const char *lacks(const struct res_fleet *fleet, const struct res_fleet_host *host, bool memory)
{
    const char *doubt = memory ? host->no_trust_memory : host->no_trust_time;
    const bool is_other = memory ? host->of_memory != fleet->of_memory : host->of_time != fleet->of_time;
    return doubt != NULL     ? doubt
           : is_other        ? "that of the program is not recorded"
           : host->share > 0 ? NULL
                             : "it has no share";
}

/* Hosts that it lacks, or why the first of them. */
static void add_lacking(const struct res_about *about, struct res_text *words, bool memory, bool why)
{
    const struct res_fleet *fleet = about->fleet;
    const char *first = NULL;
    size_t count = 0, at = 0;
    for (size_t i = 0; i < fleet->host_count; i++) {
        const char *reason = lacks(fleet, &fleet->hosts[i], memory);
        first = first != NULL ? first : reason;
        count += reason != NULL;
    }
    if (why && first != NULL)
        say("%s%s", first, count > 1 ? " (the first)" : "");
    for (size_t i = 0; !why && i < fleet->host_count; i++) {
        if (lacks(fleet, &fleet->hosts[i], memory) == NULL)
            continue;
        RES_FREED char *name = shown_name(fleet, fleet->hosts[i].label, fleet->hosts[i].workload);
        add_name(words, name, at++, count);
        if (at > NAMED_MOST)
            break;
    }
}

SLOT_DO(without_time, add_lacking(about, words, false, false))
SLOT_DO(without_time_why, add_lacking(about, words, false, true))
SLOT_DO(without_memory, add_lacking(about, words, true, false))
SLOT_DO(without_memory_why, add_lacking(about, words, true, true))

SLOT(fleet_unrecorded)
{
    const bool time = about->fleet->of_time == RES_FLEET_OF_MALLOC;
    const bool memory = about->fleet->of_memory == RES_FLEET_OF_MALLOC;
    if (time || memory)
        say("%s", time && memory ? "CPU time and memory are" : time ? "CPU time is" : "memory is");
}

SLOT_IF(missing_count, about->fleet->missing_count > 0, "%zu", about->fleet->missing_count)
SLOT(missing_names)
{
    for (size_t i = 0; i < about->fleet->missing_count; i++)
        add_name(words, about->fleet->missing[i].label, i, about->fleet->missing_count);
}
SLOT_IF(left_out_count, about->fleet->left_out_count > 0, "%zu", about->fleet->left_out_count)
SLOT(left_out_names)
{
    for (size_t i = 0; i < about->fleet->left_out_count; i++)
        add_name(words, about->fleet->left_out[i].file, i, about->fleet->left_out_count);
}

bool res_each_mixed(struct res_about *about)
{
    return about->at < about->fleet->mixed_count;
}

SLOT_WORD(mixed_what, about->fleet->mixed[about->at].what)
SLOT(mixed_kinds)
{
    const struct res_fleet_mixed *mixed = &about->fleet->mixed[about->at];
    for (size_t i = 0; i < mixed->kind_count; i++) {
        RES_FREED char *told = res_printf("%s in %s",
                                          mixed->kinds[i].value != NULL ? mixed->kinds[i].value : "?",
                                          FP_GROUPED(mixed->kinds[i].results));
        add_name(words, told, i, mixed->kind_count);
    }
}
