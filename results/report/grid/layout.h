/* layout.h - lines of a text for people: columns, ends, words that are wrapped. */
#ifndef MALLAB_RESULTS_REPORT_GRID_LAYOUT_H
#define MALLAB_RESULTS_REPORT_GRID_LAYOUT_H

#include "results/measure/base/support.h"

/* res_layout_pad - blanks. */
void res_layout_pad(struct res_text *text, size_t count);

/* res_layout_end_line - end the line, without blanks before: they would only be noise in a diff of two texts. */
void res_layout_end_line(struct res_text *text);

/* res_layout_word - a word, behind a blank; below, where the line would be longer than RES_TABLE_COLUMNS (table.h).
 * indent  the column in which lines begin.
 * column  on which the text stands, from 0; moved. At indent, no blank is written. */
void res_layout_word(struct res_text *text, const char *word, size_t length, size_t indent, size_t *column);

#endif
