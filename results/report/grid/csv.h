/* csv.h - numbers and JSON values as cells of CSV (escape.h has text). */
#ifndef MALLAB_RESULTS_REPORT_GRID_CSV_H
#define MALLAB_RESULTS_REPORT_GRID_CSV_H

#include <jansson.h>

#include "results/report/grid/escape.h"

/* res_csv_real - a number; an empty cell for what is not finite. */
void res_csv_real(struct res_text *text, double value);

/* res_csv_value - a JSON value: a string quoted, numbers and truth values as they are; nothing for others and NULL. */
void res_csv_value(struct res_text *text, const json_t *value);

#endif
