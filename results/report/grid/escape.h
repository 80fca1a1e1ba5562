/* escape.h - anybody's words, made fit for the form that they are written in. */
#ifndef MALLAB_RESULTS_REPORT_GRID_ESCAPE_H
#define MALLAB_RESULTS_REPORT_GRID_ESCAPE_H

#include "footprint/base/support.h"

/* res_markdown_add - add words to Markdown as they read: on one line, marks escaped, "-" for NULL. */
void res_markdown_add(struct res_text *text, const char *words);

/* res_csv_text - add a quoted cell of CSV (RFC 4180); NULL: an empty one.
 * What a spreadsheet would take for a formula (it begins with = + - @ or their wide forms) gets an apostrophe before it,
 * as OWASP's "CSV Injection" says; a lone "-" is none. */
void res_csv_text(struct res_text *text, const char *words);

#endif
