/* style.h - how text for a terminal looks: its width, its characters, its colours. */
#ifndef MALLAB_RESULTS_REPORT_GRID_STYLE_H
#define MALLAB_RESULTS_REPORT_GRID_STYLE_H

#include <stdbool.h>

#define RES_TABLE_COLUMNS 100u /* of a page: lines take no more where words allow it */
#define RES_LABEL_COLUMNS 12   /* before the words of a line below a table (lines.h) */

struct res_style {
    bool utf8;    /* the locale's character set; otherwise ASCII only */
    bool colour;  /* verdicts in colour by ANSI sequences */
    bool details; /* below the table also what explains the figures */
};

/* What words mean to the reader. */
enum res_role {
    RES_ROLE_NONE,
    RES_ROLE_GOOD,
    RES_ROLE_BAD,
    RES_ROLE_DOUBT,
};

/* res_colour_begin / res_colour_end - what to write before and behind words of this role; "" without colours. Static. */
const char *res_colour_begin(const struct res_style *style, enum res_role role);
const char *res_colour_end(const struct res_style *style, enum res_role role);

#endif
