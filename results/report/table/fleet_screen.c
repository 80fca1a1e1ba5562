/* fleet_screen.c - see fleet_screen.h. */
#include "results/report/table/fleet_screen.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/report/grid/cells.h"
#include "results/report/notes/notes.h"

char *res_fleet_head(const struct res_fleet *fleet)
{
    struct res_text words = {0};
    res_text_printf(&words, "fleet of %s workloads", FP_GROUPED(fleet->workloads));
    if (fleet->n_eff < (double)fleet->workloads - 0.05 || fleet->weights != RES_WEIGHTS_HOSTS)
        res_text_printf(&words, " (n_eff %.1f, shares by %s)", fleet->n_eff,
                        RES_FLEET_WEIGHTS[fleet->weights]);
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

/* Whether a figure is there of any candidate. */
static bool is_known(const struct res_fleet *fleet, size_t offset)
{
    for (size_t i = 1; i < fleet->candidate_count; i++)
        if (isfinite(*(const double *)(const void *)((const char *)&fleet->candidates[i] + offset)))
            return true;
    return false;
}

#define KNOWN(member) is_known(fleet, offsetof(struct res_fleet_candidate, member))

void res_fleet_time_grid(struct res_grid *grid, const struct res_fleet *fleet)
{
    const char *time = fleet->of_time == RES_FLEET_OF_PROCESS ? "CPU time of the program" : "time in malloc";
    const struct res_column columns[] = {
        {.heading = "", .own_line = true},
        {.heading = "change", .group = time, .alone = time, .right = true, .gap = 2},
        {.heading = "95 % range", .group = time, .gap = 1, .hidden = !KNOWN(time.low)},
        {.heading = "another host", .group = time, .gap = 2, .hidden = !KNOWN(time.new_host_low)},
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
        add_range(grid, change->new_host_low, change->new_host_high);
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

void res_fleet_memory_grid(struct res_grid *grid, const struct res_fleet *fleet)
{
    double sum = 0, one = 0;
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        sum = fmax(sum, fleet->candidates[i].peaks.baseline);
        one = fmax(one, fleet->candidates[i].largest_bytes);
    }
    const struct res_bytes_unit all = res_bytes_unit_of(sum), host = res_bytes_unit_of(one);
    char *sums = res_printf("%s, sum of peaks, %s",
                            fleet->of_memory == RES_FLEET_OF_PROCESS ? "resident" : "heap", all.name);
    char *hosts = res_printf("a host, %s", host.name);
    const struct res_column columns[] = {
        {.heading = "", .own_line = true},
        {.heading = "all", .group = sums, .alone = sums, .right = true, .gap = 2},
        {.heading = "change", .group = sums, .right = true, .gap = 1},
        {.heading = "95 % range", .group = sums, .gap = 1, .hidden = !KNOWN(peaks.low)},
        {.heading = "change", .group = "sum of means", .alone = "sum of means", .right = true, .gap = 2},
        {.heading = "largest", .group = hosts, .alone = hosts, .right = true, .gap = 2},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &fleet->candidates[i];
        res_grid_add(grid, candidate->name);
        add_bytes(grid, candidate->peaks.baseline - candidate->peaks.saved, all);
        if (i > 0) {
            res_grid_add(grid, RES_PERCENT(candidate->peaks.ratio));
            add_range(grid, candidate->peaks.low, candidate->peaks.high);
            res_grid_add(grid, RES_PERCENT(candidate->means.ratio));
        } else {
            add_blanks(grid, 3);
        }
        add_bytes(grid, candidate->largest_bytes, host);
    }
    free(hosts);
    free(sums);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void res_fleet_screen(struct res_text *text, const struct res_fleet *fleet, const struct res_style *style)
{
    const struct res_style page = {
        .utf8 = style->utf8, .colour = style->colour, .columns = RES_SCREEN_COLUMNS};
    struct res_grid grid;
    char *head = res_fleet_head(fleet);
    res_text_printf(text, "%s\n", head);
    free(head);
    if (fleet->candidate_count > 1) {
        res_fleet_time_grid(&grid, fleet);
        res_grid_text(&grid, &page, text);
        res_grid_release(&grid);
        res_text_add(text, "\n", 1);
    }
    res_fleet_memory_grid(&grid, fleet);
    res_grid_text(&grid, &page, text);
    res_grid_release(&grid);
    res_text_add(text, "\n", 1);
    res_notes_screen(text, fleet->notes, fleet->note_count, NULL);
}
