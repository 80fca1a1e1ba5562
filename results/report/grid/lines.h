/* lines.h - words below a table: a label, and words wrapped at the page's width (style.h). */
#ifndef MALLAB_RESULTS_REPORT_GRID_LINES_H
#define MALLAB_RESULTS_REPORT_GRID_LINES_H

#include "footprint/base/support.h"

/* res_lines_add - a label, and words up to the last column, following lines indented below the first.
 * words  plain (res_text_plain). A number is not parted from its unit. */
void res_lines_add(struct res_text *text, const char *label, const char *words);

/* res_lines_printf - the same of words in a format, which are made plain here. */
void res_lines_printf(struct res_text *text, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* res_lines_wrap - likewise the words alone, where the text stands in the column `indent` already. */
void res_lines_wrap(struct res_text *text, const char *words, size_t indent);

/* res_lines_pad - blanks. */
void res_lines_pad(struct res_text *text, size_t count);

/* res_lines_end - end the line, without blanks before: they would only be noise in a diff of two texts. */
void res_lines_end(struct res_text *text);

#endif
