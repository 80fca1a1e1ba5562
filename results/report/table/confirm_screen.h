/* confirm_screen.h - the screen of `mallab confirm`: what ran, and a row for each candidate. The notes of the result follow it. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_CONFIRM_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_CONFIRM_SCREEN_H

#include <jansson.h>

#include "footprint/base/support.h"
#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"
#include "results/report/grid/lines.h"

/* res_confirm_screen - add it; result has a confirmation. Within RES_SCREEN_COLUMNS where words allow it. */
void res_confirm_screen(struct res_text *text, const struct res_result *result,
                        const struct res_style *style);

/* res_confirm_markdown - the same as a table of Markdown. */
void res_confirm_markdown(struct res_text *text, const struct res_result *result);

/* res_confirm_grid - its table. res_confirm_ran, res_confirm_counts - what ran, the caller's to free, and what its figures are of. */
void res_confirm_grid(struct res_grid *grid, const struct res_result *result);
char *res_confirm_ran(const struct res_confirmation *about);
const char *res_confirm_counts(const struct res_confirmation *about);

#endif
