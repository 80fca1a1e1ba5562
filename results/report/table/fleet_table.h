/* fleet_table.h - a fleet's hosts beside its candidates, below what they say together (fleet_screen.h): for a terminal, as Markdown
 * and as CSV.
 *
 *   leader  the candidate with the least common time. Hosts stand in the order of their time under it, the worst first; one on which it
 *           failed before all
 *   rows    of many hosts the worst and the best, unless details are asked for; CSV has all, a row for each host and candidate
 *
 * What is returned is the caller's to free. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_FLEET_TABLE_H
#define MALLAB_RESULTS_REPORT_TABLE_FLEET_TABLE_H

#include "results/measure/result/fleet_result.h"
#include "results/report/grid/grid.h"

#define RES_FLEET_WORST 8u /* rows of many hosts */
#define RES_FLEET_BEST  4u

/* res_fleet_hosts_grid - all hosts. Of a fleet with a candidate beside the baseline. */
void res_fleet_hosts_grid(struct res_grid *grid, const struct res_fleet *fleet);

char *res_fleet_text(const struct res_fleet *fleet, const struct res_style *style);
char *res_fleet_markdown(const struct res_fleet *fleet, bool details);

#endif
