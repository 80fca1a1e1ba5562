/* removal_screen.h - what is saved without some call sites (`mallab sites --without`), as a table and as CSV. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_REMOVAL_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_REMOVAL_SCREEN_H

#include "results/measure/result/result.h"
#include "results/report/grid/lines.h"

/* res_removal_screen, res_removal_csv - of a result that has a removal: added to text; the screen, where its two workloads are there. */
void res_removal_screen(struct res_text *text, const struct res_result *result,
                        const struct res_style *style);
void res_removal_csv(struct res_text *text, const struct res_result *result);

#endif
