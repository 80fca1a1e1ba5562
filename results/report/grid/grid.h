/* grid.h - a table of words, printed for a terminal, as Markdown or as CSV.
 *
 *   column  a heading, and what a narrow page does with it
 *   group   words above several columns: neighbours with the same words stand below one of them
 *   below   a line below a row, under its second column
 *
 * Rows are filled from left to right, one cell for each column. The grid makes all words fit for the form that it prints,
 * so they may be anybody's, and copies them; it knows nothing of results or JSON. */
#ifndef MALLAB_RESULTS_REPORT_GRID_GRID_H
#define MALLAB_RESULTS_REPORT_GRID_GRID_H

#include "footprint/base/support.h"
#include "results/report/grid/lines.h"

struct res_column {
    const char *heading;
    const char *group; /* NULL: none */
    const char *alone; /* what it is called where no group stands above it; NULL: as its heading */
    bool right;        /* aligned */
    bool
        own_line; /* the first column: words for which there is no room beside the others stand on a line of their own */
    bool open;           /* the last column: its cells may go beyond the page, and set no width */
    bool hidden;         /* nowhere printed */
    unsigned gap;        /* blanks before it on a terminal */
    unsigned least;      /* its width there at least */
    unsigned expendable; /* 1 is the first that a narrow terminal does without, then 2; 0: it never does */
};

struct res_grid {
    struct res_column *columns;
    size_t column_count;
    struct res_grid_row *rows;
    size_t row_count;
    bool *left_out; /* by column: for want of room, in any text so far */
};

/* res_grid_begin - an empty grid. res_grid_release - drop all of it. */
void res_grid_begin(struct res_grid *grid, const struct res_column *columns, size_t column_count);
void res_grid_release(struct res_grid *grid);

/* res_grid_add - the next cell, behind the last of a row the first of a new one. NULL: no words.
 * res_grid_own - the same, and words are freed.
 * res_grid_bare - likewise, and CSV has them without quotes. res_grid_number - a number so; none where it is not finite.
 * res_grid_role - the role of the cell added last. */
void res_grid_add(struct res_grid *grid, const char *words);
void res_grid_own(struct res_grid *grid, char *words);
void res_grid_bare(struct res_grid *grid, char *words);
void res_grid_number(struct res_grid *grid, double number);
void res_grid_role(struct res_grid *grid, enum res_role role);

/* res_grid_below - a line below the row filled last. */
void res_grid_below(struct res_grid *grid, const char *words);

/* res_grid_text / _markdown / _csv / _html - print what was added, and forget the rows.
 * text: aligned, within RES_TABLE_COLUMNS where that can be. A column without words is left out; where there is no room, the
 * expendable ones are, by rank. */
void res_grid_text(struct res_grid *grid, const struct res_style *style, struct res_text *text);
void res_grid_markdown(struct res_grid *grid, struct res_text *text);
void res_grid_csv(struct res_grid *grid, struct res_text *text);

/* res_grid_screen - as text on the screen that answers, with a blank line below, and release it. */
void res_grid_screen(struct res_grid *grid, const struct res_style *style, struct res_text *text);

/* res_grid_html - as a table of a page, whose heads sort where there are several rows. Colours are classes: good, bad, doubt. */
void res_grid_html(struct res_grid *grid, const char *caption, struct res_text *text);

/* res_grid_left_out - "version, page faults": which columns no room was for. The caller's to free; NULL: all were shown. */
char *res_grid_left_out(const struct res_grid *grid);

#endif
