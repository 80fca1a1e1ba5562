/* fleet_screen.c - a fleet: its candidates over all hosts, and the hosts beside them. */
#include "results/report/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

#define WORST 8u /* rows of many hosts */
#define BEST  4u

char *res_fleet_head(const struct res_fleet *fleet)
{
    struct res_text words = {0};
    res_text_printf(&words, "fleet of %s workloads", FP_GROUPED(fleet->workloads));
    if (fleet->n_eff < (double)fleet->workloads - 0.05)
        res_text_printf(&words, " (n_eff %.1f, shares as listed)", fleet->n_eff);
    res_text_printf(&words, ", against %s", fleet->baseline);
    return words.text;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void add_change(struct res_grid *grid, const struct res_fleet_change *change, bool memory)
{
    const char *verdict = (memory ? RES_MEMORY_VERDICTS : RES_TIME_VERDICTS)[change->verdict];
    const bool is_shown = change->verdict == RES_LESS || change->verdict == RES_MORE;
    res_grid_add(grid, RES_PERCENT(change->ratio));
    res_grid_role(grid, is_shown ? res_cell_role_large(verdict, change->ratio) : RES_ROLE_NONE);
}

static void add_range(struct res_grid *grid, double low, double high)
{
    res_grid_add(grid, isfinite(low) && isfinite(high) ? RES_INTERVAL(low, high) : "?");
}

static void add_count(struct res_grid *grid, uint64_t count, enum res_role role)
{
    res_grid_own(grid, res_printf("%s", FP_GROUPED(count)));
    res_grid_role(grid, count > 0 ? role : RES_ROLE_NONE);
}

static void add_blanks(struct res_grid *grid, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        res_grid_add(grid, "");
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Tells whether any candidate has a figure. */
static bool is_known(const struct res_fleet *fleet, size_t offset)
{
    for (size_t i = 1; i < fleet->candidate_count; i++)
        if (isfinite(*(const double *)(const void *)((const char *)&fleet->candidates[i] + offset)))
            return true;
    return false;
}

#define KNOWN(member) is_known(fleet, offsetof(struct res_fleet_candidate, member))

static void time_grid(struct res_grid *grid, const struct res_fleet *fleet)
{
    const char *time = fleet->of_time == RES_FLEET_OF_PROCESS ? "CPU time of the program" : "time in malloc";
    const struct res_column columns[] = {
        {.heading = "", .own_line = true},
        {.heading = "change", .group = time, .alone = time, .right = true, .gap = 2},
        {.heading = "95 % range", .group = time, .gap = 1, .hidden = !KNOWN(time.low)},
        {.heading = "faster", .group = "hosts", .right = true, .gap = 2},
        {.heading = "slower", .group = "hosts", .right = true, .gap = 1},
        {.heading = "neither", .group = "hosts", .right = true, .gap = 1},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 1; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &fleet->candidates[i];
        const struct res_fleet_change *change = &candidate->time;
        res_grid_add(grid, candidate->name);
        add_change(grid, change, false);
        add_range(grid, change->low, change->high);
        add_count(grid, change->less, RES_ROLE_GOOD);
        add_count(grid, change->more, RES_ROLE_BAD);
        add_count(grid, change->same + change->undecided, RES_ROLE_NONE);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void add_bytes(struct res_grid *grid, double bytes, struct res_bytes_unit unit)
{
    res_grid_add(grid, RES_IN_UNIT(bytes, unit));
}

static void memory_grid(struct res_grid *grid, const struct res_fleet *fleet)
{
    double sum = 0, one = 0;
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        sum = fmax(sum, fleet->candidates[i].peaks.baseline);
        one = fmax(one, fleet->candidates[i].largest_bytes);
    }
    const struct res_bytes_unit all = res_bytes_unit_of(sum), host = res_bytes_unit_of(one);
    RES_FREED char *sums = res_printf(
        "%s, sum of peaks, %s", fleet->of_memory == RES_FLEET_OF_PROCESS ? "resident" : "heap", all.name);
    RES_FREED char *hosts = res_printf("a host, %s", host.name);
    const struct res_column columns[] = {
        {.heading = "", .own_line = true},
        {.heading = "all", .group = sums, .alone = sums, .right = true, .gap = 2},
        {.heading = "change", .group = sums, .right = true, .gap = 1},
        {.heading = "on average", .group = sums, .right = true, .gap = 1},
        {.heading = "95 % range", .group = sums, .gap = 1, .hidden = !KNOWN(peak.low)},
        {.heading = "largest", .group = hosts, .alone = hosts, .right = true, .gap = 2},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &fleet->candidates[i];
        res_grid_add(grid, candidate->name);
        add_bytes(grid, candidate->peaks.baseline - candidate->peaks.saved, all);
        if (i > 0) {
            res_grid_add(grid, RES_PERCENT(candidate->peaks.ratio));
            res_grid_add(grid, RES_PERCENT(candidate->peak.ratio));
            add_range(grid, candidate->peak.low, candidate->peak.high);
        } else {
            add_blanks(grid, 3);
        }
        add_bytes(grid, candidate->largest_bytes, host);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

void res_fleet_screen(struct res_document *document, const struct res_fleet *fleet)
{
    struct res_grid grid;
    RES_FREED char *head = res_fleet_head(fleet);
    res_document_heading(document, 2, "%s", head);
    res_notes_lead(document, fleet->notes, fleet->note_count);
    if (fleet->candidate_count > 1) {
        time_grid(&grid, fleet);
        res_document_screen(document, "Time of all together", &grid);
        if (document->style->form == RES_FORM_MARKDOWN)
            res_document_gap(document);
    }
    memory_grid(&grid, fleet);
    res_document_screen(document, "Memory of all together", &grid);
    res_notes_rest(document, fleet->notes, fleet->note_count, NULL);
}

/* ---- which hosts, in which order ------------------------------------------------------------ */

/* The place of the leader; 0: there is nothing but the baseline. */
static size_t leader_of(const struct res_fleet *fleet)
{
    size_t leader = fleet->candidate_count > 1 ? 1 : 0;
    for (size_t i = 2; i < fleet->candidate_count; i++) {
        if (fleet->candidates[i].time.ratio < fleet->candidates[leader].time.ratio ||
            isnan(fleet->candidates[leader].time.ratio))
            leader = i;
    }
    return leader;
}

struct ranked {
    const struct res_fleet_host *host;
    double worse; /* INFINITY where the leader failed, -INFINITY where it has no figure */
    size_t place;
};

static int by_rank(const void *one, const void *other)
{
    const struct ranked *left = one, *right = other;
    if (left->worse != right->worse)
        return left->worse > right->worse ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* The hosts by rank, all of them. The caller's to free. */
static struct ranked *rank(const struct res_fleet *fleet, size_t leader)
{
    struct ranked *ranked = res_calloc(fleet->host_count + 1, sizeof *ranked);
    for (size_t i = 0; i < fleet->host_count; i++) {
        const struct res_fleet_entry *entry = &fleet->hosts[i].entries[leader];
        const double ratio = entry->time.ratio;
        ranked[i] = (struct ranked){.host = &fleet->hosts[i],
                                    .worse = entry->failed != NULL ? INFINITY
                                             : isfinite(ratio)     ? ratio
                                                                   : -INFINITY,
                                    .place = i};
    }
    qsort(ranked, fleet->host_count, sizeof *ranked, by_rank);
    return ranked;
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* Signs beside the figures of hosts; those that are shown are explained. */
enum { SIGN_UNDECIDED = 1, SIGN_SAME = 2, SIGN_IN_BRACKETS = 4 };

/* Signs in words, by commas: "? not told apart from the baseline, = the same". The caller's to free; NULL: there is none. */
static char *sign_words(unsigned signs)
{
    static const char *const WORDS[] = {"? not told apart from the baseline", "= the same",
                                        "(in no common figure)"};
    struct res_text text = {0};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if ((signs & 1u << i) != 0)
            res_text_printf(&text, "%s%s", text.length > 0 ? ", " : "", WORDS[i]);
    return text.text;
}

/* "-12.3%"; behind it '?' where it is not told apart from the baseline, '=' where it is the same; in brackets what is in no common figure.
 * Returns its sign, or 0. */
static unsigned add_host_change(struct res_grid *grid, const struct res_fleet_entry *entry,
                                const struct res_fleet_difference *difference, const char *const *verdicts,
                                const char *no_trust, bool padded)
{
    const char *percent = RES_PERCENT(difference->ratio);
    const bool is_figure = entry->failed == NULL && isfinite(difference->ratio);
    const unsigned sign = !is_figure                             ? 0
                          : no_trust != NULL                     ? SIGN_IN_BRACKETS
                          : difference->verdict == RES_UNDECIDED ? SIGN_UNDECIDED
                          : difference->verdict == RES_SAME      ? SIGN_SAME
                                                                 : 0;
    const char *mark = sign == SIGN_UNDECIDED ? "?" : sign == SIGN_SAME ? "=" : padded ? " " : "";
    if (!is_figure)
        res_grid_own(grid, res_printf("%s%s", entry->failed != NULL ? "failed" : "-", padded ? " " : ""));
    else
        res_grid_own(grid, sign == SIGN_IN_BRACKETS ? res_printf("(%s)", percent)
                                                    : res_printf("%s%s", percent, mark));
    res_grid_role(grid, entry->failed != NULL ? RES_ROLE_BAD
                        : no_trust != NULL || difference->verdict < 0
                            ? RES_ROLE_DOUBT
                            : res_cell_role_large(verdicts[difference->verdict], difference->ratio));
    return sign;
}

static bool has_peaks(const struct res_fleet *fleet)
{
    for (size_t i = 1; i < fleet->candidate_count; i++)
        if (fleet->candidates[i].peak.workloads > 0)
            return true;
    return false;
}

/* Hosts, then a column of time and one of the peak for each candidate. A narrow terminal does without peaks first, of candidates without the
 * last ones. */
static void hosts_begin(struct res_grid *grid, const struct res_fleet *fleet)
{
    const size_t others = fleet->candidate_count - 1;
    const bool peaks = has_peaks(fleet);
    RES_FREED struct res_column *columns = res_calloc(3 + 2 * others, sizeof *columns);
    char **alone = res_calloc(2 * others + 1, sizeof *alone);
    RES_FREED char *time = res_printf("time of %s against %s", RES_FLEET_OF[fleet->of_time], fleet->baseline);
    RES_FREED char *peak = res_printf("peak of %s",
                                      fleet->of_memory == RES_FLEET_OF_PROCESS ? "process" : "heap");
    columns[0] = (struct res_column){.heading = "host", .gap = 2, .own_line = true};
    columns[1] = (struct res_column){.heading = "workload", .gap = 2, .expendable = 1};
    columns[2] = (struct res_column){.heading = "share", .gap = 2, .right = true, .expendable = 2};
    for (size_t i = 0; i < others; i++) {
        const char *name = fleet->candidates[i + 1].name;
        const unsigned rank = (unsigned)(others - i);
        alone[i] = res_printf("%s, time", name);
        alone[others + i] = res_printf("%s, peak", name);
        columns[3 + i] = (struct res_column){.heading = name,
                                             .group = time,
                                             .alone = alone[i],
                                             .gap = 2,
                                             .right = true,
                                             .expendable = i > 0 ? 2 + (unsigned)others + rank : 0};
        columns[3 + others + i] = (struct res_column){.heading = name,
                                                      .group = peak,
                                                      .alone = alone[others + i],
                                                      .gap = 2,
                                                      .right = true,
                                                      .expendable = 2 + rank,
                                                      .hidden = !peaks};
    }
    res_grid_begin(grid, columns, 3 + 2 * others);
    for (size_t i = 0; i < 2 * others; i++)
        free(alone[i]);
    free(alone);
}

/* Returns its signs. */
static unsigned add_host(struct res_grid *grid, const struct res_fleet *fleet,
                         const struct res_fleet_host *host, bool padded)
{
    unsigned signs = 0;
    res_grid_add(grid, host->label);
    res_grid_add(grid, host->workload);
    res_grid_add(grid, RES_SHARE(host->share));
    for (size_t i = 1; i < fleet->candidate_count; i++)
        signs |= add_host_change(grid, &host->entries[i], &host->entries[i].time, RES_TIME_VERDICTS,
                                 host->no_trust_time, padded);
    for (size_t i = 1; i < fleet->candidate_count; i++)
        signs |= add_host_change(grid, &host->entries[i], &host->entries[i].peak, RES_MEMORY_VERDICTS,
                                 host->no_trust_memory, padded);
    return signs;
}

/* padded: figures stand below each other, whatever sign is behind them. Returns how many were left out between the worst and the best. */
static size_t add_hosts(struct res_grid *grid, const struct res_fleet *fleet, size_t leader, bool all,
                        bool padded, unsigned *ret_signs)
{
    RES_FREED struct ranked *ranked = rank(fleet, leader);
    const size_t shown = WORST + BEST;
    const size_t left = all || fleet->host_count <= shown + 1 ? 0 : fleet->host_count - shown;
    for (size_t i = 0; i < fleet->host_count; i++) {
        if (left > 0 && i == WORST)
            i += left;
        *ret_signs |= add_host(grid, fleet, ranked[i].host, padded);
    }
    return left;
}

/* ---- for people ----------------------------------------------------------------------------- */

/* "the worst 8 and the best 4 of 1,000 under jemalloc". */
static void add_title(struct res_document *document, const char *leader, size_t hosts, size_t left)
{
    res_document_gap(document);
    if (left > 0)
        res_document_heading(document, 3, "the worst %u and the best %u of %s hosts under %s", WORST, BEST,
                             RES_NUMBER((double)hosts), leader);
    else
        res_document_heading(document, 3, "%s hosts, the worst under %s first", RES_NUMBER((double)hosts),
                             leader);
}

void res_fleet_show(struct res_document *document, const struct res_fleet *fleet)
{
    const enum res_form form = document->style->form;
    struct res_grid grid;
    unsigned signs = 0;
    const size_t leader = leader_of(fleet);
    res_fleet_screen(document, fleet);
    if (leader == 0 || fleet->host_count == 0)
        return;
    hosts_begin(&grid, fleet);
    const size_t left = add_hosts(&grid, fleet, leader, form == RES_FORM_HTML || document->style->details,
                                  form == RES_FORM_TEXT, &signs);
    RES_FREED char *words = sign_words(signs);
    add_title(document, fleet->candidates[leader].name, fleet->host_count, left);
    if (form == RES_FORM_HTML && words != NULL)
        res_document_line(document, "%s", words);
    res_document_table(document, "Every host", &grid);
    if (form == RES_FORM_TEXT && (words != NULL || left > 0))
        res_text_printf(&document->text, "  %s%s%s\n", words != NULL ? words : "",
                        words != NULL && left > 0 ? "; " : "", left > 0 ? "--details has all hosts" : "");
    res_grid_release(&grid);
}
