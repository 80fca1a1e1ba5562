/* fleet_screen.h - what many workloads say together, on 80 columns: for each candidate the time over all with its range, where another host
 * typically lies and how many hosts are faster and slower; what all hosts hold; and the fleet's notes. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_FLEET_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_FLEET_SCREEN_H

#include "results/measure/result/fleet_result.h"
#include "results/report/grid/grid.h"
#include "results/report/grid/lines.h"

/* res_fleet_screen - add it to a text. The fleet has its notes (res_notes_fleet). */
void res_fleet_screen(struct res_text *text, const struct res_fleet *fleet, const struct res_style *style);

/* res_fleet_head - its first line, as words: "fleet of 12 workloads (n_eff 11.2, shares by cpu), against glibc". The caller's to free. */
char *res_fleet_head(const struct res_fleet *fleet);

/* res_fleet_time_grid / res_fleet_memory_grid - begin a grid with the rows of either table: for other forms of the same. */
void res_fleet_time_grid(struct res_grid *grid, const struct res_fleet *fleet);
void res_fleet_memory_grid(struct res_grid *grid, const struct res_fleet *fleet);

#endif
