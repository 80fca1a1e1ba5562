/* document.h - what is shown, said once: headings, lines and tables, printed for a terminal, as Markdown or as HTML.
 *
 * A builder calls these in the order of reading; the form decides how each looks. Words may be anybody's: they are made plain,
 * and escaped for the form, here. */
#ifndef MALLAB_RESULTS_REPORT_GRID_DOCUMENT_H
#define MALLAB_RESULTS_REPORT_GRID_DOCUMENT_H

#include "results/measure/base/fields.h"
#include "results/report/grid/grid.h"

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
