/* lines.h - text for a terminal: its width and colours, words below a table that are wrapped at the page's width; and anybody's
 * words made fit for the form that they are written in. */
#ifndef MALLAB_RESULTS_REPORT_GRID_LINES_H
#define MALLAB_RESULTS_REPORT_GRID_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "footprint/base/support.h"
#include "results/measure/base/fields.h"

#define RES_TABLE_COLUMNS 100u /* of a page: lines take no more where words allow it */
#define RES_LABEL_COLUMNS 12   /* before the words of a line below a table */

#define RES_SCREEN_COLUMNS       78u /* of the screen that answers (table.h) */
#define RES_SCREEN_LABEL_COLUMNS 12  /* as RES_LABEL_COLUMNS there */

/* What a document is printed for: a terminal, Markdown, elements of a page. */
enum res_form { RES_FORM_TEXT, RES_FORM_MARKDOWN, RES_FORM_HTML };

struct res_style {
    enum res_form form;
    bool utf8;      /* the locale's character set; otherwise ASCII only */
    bool colour;    /* verdicts in colour by ANSI sequences */
    bool details;   /* below the table also what explains the figures */
    size_t columns; /* of a page; 0: RES_TABLE_COLUMNS */
};

/* res_page_begin - text goes to a terminal of so many columns: no line takes more, where words allow it. Before any text is made; 0: to none.
 * res_page_columns - of a page that has `most` anyway.
 * res_page_open - how far words may go that have no other bound: a terminal's columns; 0: as far as they want. */
void res_page_begin(size_t columns);
size_t res_page_columns(size_t most);
size_t res_page_open(void);

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

/* res_lines_add - a label, and words up to the last column, following lines indented below the first.
 * words  plain (res_text_plain). A number is not parted from its unit. */
void res_lines_add(struct res_text *text, const char *label, const char *words);

/* res_lines_screen - the same on the screen that answers.
 * res_lines_clauses - as many clauses of the words as so many columns hold, or all where the first is longer. The caller's to free. */
void res_lines_screen(struct res_text *text, const char *label, const char *words);
char *res_lines_clauses(const char *words, size_t columns);

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

/* ---- document.c: what is shown, said once: headings, lines and tables, printed for a terminal, as Markdown or as HTML.
 *
 * A builder calls these in the order of reading; the form decides how each looks. Words may be anybody's: they are made plain,
 * and escaped for the form, here. */

struct res_document {
    const struct res_style *style;
    struct res_text text; /* so far; res_document_end gives it */
};

/* res_document_heading - of a level, 1 the highest; a terminal has the words alone.
 * res_document_line    - a remark on what stands above: a line, or an item of a list.
 * res_document_names   - a line for each, or "what: name"; `most` at most and how many more; most 0: all.
 * res_document_table   - a grid as it was filled; its rows are gone then.
 * res_document_gap     - an empty line.
 * res_document_fold    - what follows is to be opened, under these words, up to the next with NULL; a terminal has none of it: the caller leaves
 *                        it out.
 * res_document_end     - all of it, of HTML the inside of a page. The caller's to free. */
void res_document_heading(struct res_document *document, unsigned level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void res_document_line(struct res_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void res_document_names(struct res_document *document, const char *what, const struct res_texts *names,
                        size_t most);
void res_document_table(struct res_document *document, struct res_grid *grid);
void res_document_gap(struct res_document *document);
void res_document_fold(struct res_document *document, const char *words);
char *res_document_end(struct res_document *document);

#endif
