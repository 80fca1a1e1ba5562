/* csv.h - cells of CSV (RFC 4180), for every table that mallab writes so. Separators are the caller's.
 *
 * Text may be anybody's: what a spreadsheet would take for a formula (it begins with = + - @ or their wide forms) gets an
 * apostrophe before it, as OWASP's "CSV Injection" says; a lone "-" is none. Numbers stay numbers, negative ones too. */
#ifndef MALLAB_RESULTS_REPORT_GRID_CSV_H
#define MALLAB_RESULTS_REPORT_GRID_CSV_H

#include <jansson.h>

#include "results/measure/base/support.h"

/* res_csv_text - a quoted cell; NULL: an empty one. */
void res_csv_text(struct res_text *text, const char *words);

/* res_csv_real - a number; an empty cell for what is not finite. */
void res_csv_real(struct res_text *text, double value);

/* res_csv_value - a JSON value: a string quoted, numbers and truth values as they are; nothing for others and NULL. */
void res_csv_value(struct res_text *text, const json_t *value);

#endif
