/* sites_screen.c - a grid: sites below each other, candidates side by side. */
#include "results/report/table/sites_screen.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/figure_words.h"

#define ROWS_SHOWN   10u
#define ROWS_ON_PAGE 50u

/* Columns: what is live, what is held under each candidate, the site: on the page the site is first. */
static void begin(struct res_grid *grid, const struct res_sites *sites, const char *group, bool site_first)
{
    const size_t count = sites->candidate_count + 2;
    struct res_column *columns = res_calloc(count, sizeof *columns), *next = columns;
    if (site_first)
        *next++ = (struct res_column){.heading = "site"};
    *next++ = (struct res_column){.heading = "live", .right = true};
    for (size_t i = 0; i < sites->candidate_count; i++)
        *next++ = (struct res_column){
            .heading = sites->candidates[i].name, .group = group, .alone = group, .right = true, .gap = 2};
    if (!site_first)
        *next++ = (struct res_column){.heading = "by site", .open = true, .gap = 2};
    res_grid_begin(grid, columns, count);
    free(columns);
}

static void add_bytes(struct res_grid *grid, double bytes, struct res_bytes_unit unit)
{
    res_grid_add(grid, isfinite(bytes) ? RES_IN_UNIT(bytes, unit) : "-");
}

/* live: NAN: not told. held: of a candidate, by its number. */
static void add_row(struct res_grid *grid, const struct res_sites *sites, const char *words, double live,
                    const struct res_site *site, struct res_bytes_unit unit, bool site_first)
{
    if (site_first)
        res_grid_add(grid, words);
    if (isfinite(live))
        add_bytes(grid, live, unit);
    else
        res_grid_add(grid, "");
    for (size_t i = 0; i < sites->candidate_count; i++) {
        const double of_site = site != NULL && i < site->cost_count ? site->costs[i].held_bytes : NAN;
        add_bytes(grid, site != NULL ? of_site : sites->candidates[i].own_bytes, unit);
    }
    if (!site_first)
        res_grid_add(grid, words);
}

static struct res_bytes_unit unit_of(const struct res_sites *sites)
{
    double most = sites->peak_bytes;
    for (size_t i = 0; i < sites->candidate_count; i++)
        if (sites->candidates[i].resident_bytes > most)
            most = sites->candidates[i].resident_bytes;
    return res_bytes_unit_of(most);
}

static void fill(struct res_grid *grid, const struct res_sites *sites, size_t rows, bool site_first)
{
    const struct res_bytes_unit unit = unit_of(sites);
    char *group = res_printf("held at the peak, %s", unit.name);
    begin(grid, sites, group, site_first);
    for (size_t i = 0; i < sites->row_count && i < rows; i++)
        add_row(grid, sites, sites->rows[i].words, sites->rows[i].live_bytes, &sites->rows[i], unit,
                site_first);
    add_row(grid, sites, "[allocator's own]", NAN, NULL, unit, site_first);
    free(group);
}

void res_sites_screen(struct res_text *text, const struct res_result_workload *workload,
                      const struct res_style *style)
{
    const struct res_sites *sites = workload->sites;
    if (sites == NULL)
        return;
    res_text_add(text, "\n", 1);
    if (sites->unavailable != NULL) {
        res_lines_printf(text, "by site", "not measured: %s", sites->unavailable);
        return;
    }
    struct res_grid grid;
    fill(&grid, sites, ROWS_SHOWN, false);
    res_grid_text(&grid, style, text);
    res_grid_release(&grid);
}

json_t *res_sites_json(const struct res_result_workload *workload)
{
    struct res_grid grid;
    if (workload->sites == NULL || workload->sites->unavailable != NULL)
        return json_null();
    fill(&grid, workload->sites, ROWS_ON_PAGE, true);
    json_t *object = res_grid_json(&grid);
    res_grid_release(&grid);
    return object;
}
