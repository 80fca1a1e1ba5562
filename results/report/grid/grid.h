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

#include "results/measure/base/fields.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"

/* ---- lines.c: text for a terminal: its width and colours, words below a table that are wrapped at the page's width; and anybody's
 * words made fit for the form that they are written in. */

#define RES_TABLE_COLUMNS 100u /* of a page: lines take no more where words allow it */
#define RES_LABEL_COLUMNS 12   /* before the words of a line below a table */

#define RES_SCREEN_COLUMNS       78u /* of the screen that answers (table.h) */
#define RES_SCREEN_LABEL_COLUMNS 12  /* as RES_LABEL_COLUMNS there */

/* The forms of a document: a terminal, Markdown, elements of a page. */
enum res_form { RES_FORM_TEXT, RES_FORM_MARKDOWN, RES_FORM_HTML };

struct res_style {
    enum res_form form;
    bool utf8;      /* the locale's character set; otherwise ASCII only */
    bool colour;    /* verdicts in colour by ANSI sequences */
    bool details;   /* below the table also what explains the figures */
    bool of_file;   /* of a result that was kept: its figures are shown again */
    bool is_kept;   /* its user has named the file that it goes to */
    size_t columns; /* of a page; 0: RES_TABLE_COLUMNS */
};

/* res_page_begin - text goes to a terminal of so many columns: no line takes more, where words allow it. Before any text is made; 0: to none.
 * res_page_columns - the columns of a page that has `most` anyway.
 * res_page_open - how far words may go that have no other bound: a terminal's columns; 0: as far as they want. */
void res_page_begin(size_t columns);
size_t res_page_columns(size_t most);
size_t res_page_open(void);

/* The meaning of words to the reader. */
enum res_role {
    RES_ROLE_NONE,
    RES_ROLE_GOOD,
    RES_ROLE_BAD,
    RES_ROLE_DOUBT,
};

/* res_colour_begin / res_colour_end - what to write before and behind words of this role; "" without colours. Static. */
const char *res_colour_begin(const struct res_style *style, enum res_role role);
const char *res_colour_end(const struct res_style *style, enum res_role role);

/* res_lines_add - a label, and words up to the last column, following lines indented below the first.
 * words  plain (res_text_plain). A number is not parted from its unit. */
void res_lines_add(struct res_text *text, const char *label, const char *words);

/* res_lines_screen - the same on the screen that answers.
 * res_lines_clauses - as many clauses of the words as so many columns hold, or all where the first is longer. The caller's to free. */
void res_lines_screen(struct res_text *text, const char *label, const char *words);
char *res_lines_clauses(const char *words, size_t columns);

/* res_lines_cut - as many characters of the first `length` bytes as so many columns hold, one at least. The caller's to free. */
char *res_lines_cut(const char *words, size_t length, size_t columns);

/* res_lines_printf - the same of words in a format, which are made plain here. */
void res_lines_printf(struct res_text *text, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* res_lines_wrap - likewise the words alone, where the text stands in the column `indent` already. */
void res_lines_wrap(struct res_text *text, const char *words, size_t indent);

/* res_lines_wrap_open - likewise, up to res_page_open; a word that is longer than a line is cut. */
void res_lines_wrap_open(struct res_text *text, const char *words, size_t indent);

/* res_lines_pad - blanks. */
void res_lines_pad(struct res_text *text, size_t count);

/* res_lines_end - end the line, without blanks before: they would only be noise in a diff of two texts. */
void res_lines_end(struct res_text *text);

/* res_markdown_add - add words to Markdown as they read: on one line, marks escaped, "-" for NULL. */
void res_markdown_add(struct res_text *text, const char *words);

/* res_html_add - add words as text of an HTML element, or a value in quotes; nothing for NULL. What nobody sees is made visible. */
void res_html_add(struct res_text *text, const char *words);

/* res_csv_text - add a quoted cell of CSV (RFC 4180); NULL: an empty one.
 * What a spreadsheet would take for a formula (it begins with = + - @ or their wide forms) gets an apostrophe before it,
 * as OWASP's "CSV Injection" says; a lone "-" is none. */
void res_csv_text(struct res_text *text, const char *words);

struct res_grid;

/* ---- lines.c: what is shown, said once: headings, lines and tables, printed for a terminal, as Markdown or as HTML.
 * A builder calls these in the order of reading; the form decides how each looks. Words may be anybody's: they are made plain,
 * and escaped for the form, here. */

struct res_document {
    const struct res_style *style;
    struct res_text text; /* so far; res_document_end gives it */
};

/* res_document_heading - a heading of a level, 1 the highest; a terminal has the words alone.
 * res_document_line    - a remark on what stands above: a line, or an item of a list.
 * res_document_names   - a line for each; `most` at most and how many more; most 0: all.
 * res_document_table   - a grid as it was filled; its rows are gone then. caption: of a page, for who does not see it.
 * res_document_screen  - the same on the screen that answers, on a terminal with an empty line below; the grid is released.
 * res_document_gap     - an empty line.
 * res_document_end     - all of it, of HTML the inside of a page. The caller's to free. */
void res_document_heading(struct res_document *document, unsigned level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void res_document_line(struct res_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void res_document_names(struct res_document *document, const struct res_texts *names, size_t most);
void res_document_table(struct res_document *document, const char *caption, struct res_grid *grid);
void res_document_screen(struct res_document *document, const char *caption, struct res_grid *grid);
void res_document_gap(struct res_document *document);
char *res_document_end(struct res_document *document);

struct res_column {
    const char *heading;
    const char *group;   /* NULL: none */
    const char *alone;   /* what it is called where no group stands above it; NULL: as its heading */
    bool right;          /* aligned */
    bool own_line;       /* the first column: words without room beside the others get a line of their own */
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
 * expendable ones are, by rank, and a line below names them. */
void res_grid_text(struct res_grid *grid, const struct res_style *style, struct res_text *text);
void res_grid_markdown(struct res_grid *grid, struct res_text *text);
void res_grid_csv(struct res_grid *grid, struct res_text *text);

/* res_grid_html - as a table of a page. Colours are classes: good, bad, doubt. */
void res_grid_html(struct res_grid *grid, const char *caption, struct res_text *text);

/* ---- lines.c: single figures of a result (result.h) as text, as table and notes print them.
 * Strings belong to the caller. A figure that is not there is NAN as a number and "-" as text. */

/* res_verdict_shown - the verdict on a ratio of time with its interval as it is shown. The verdict `same` says only that no
 * difference was shown: it is called so where the range leaves out every difference of more than RES_CELL_SAME, else RES_CELL_NOT_SHOWN,
 * as undecided.
 * Returns  a word of RES_TIME_VERDICTS, or that one. The JSON keeps `same`. */
#define RES_CELL_NOT_SHOWN "not shown"
#define RES_CELL_SAME      0.05 /* of a ratio */
const char *res_verdict_shown(enum res_verdict verdict, double low, double high);

/* res_cell_role - what a verdict says: faster, less and within are good; slower, more and over bad; undecided and not shown doubt.
 * res_cell_role_large - likewise; none where a difference is shown and too small to act on (RES_COLOUR_LEAST). */
enum res_role res_cell_role(const char *verdict);
enum res_role res_cell_role_large(const char *verdict, double ratio);

#endif
