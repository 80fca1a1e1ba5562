/* html.h - results as one HTML file that needs nothing else: page, styles, scripts and data are in it.
 *
 * The page is put together when mallab is built (embed.py: report.html with report.css and the scripts) and has gaps for title, body and
 * charts. What fills them is made of results, which are untrusted: their words are escaped once, in C, and what charts need of them stands as
 * JSON in a script element of type application/json, in which no byte can end the element. Scripts only draw: whole without them are words
 * and tables. A content security policy allows the page its own scripts, by their hashes, and no request. */
#ifndef MALLAB_RESULTS_REPORT_HTML_HTML_H
#define MALLAB_RESULTS_REPORT_HTML_HTML_H

#include "results/report/beside/beside.h"

/* Points of a series in the page. Longer ones are drawn by the greatest value of equal parts. */
#define RES_HTML_POINTS_MAX 8000u

struct res_html_source {
    const char *name;                /* of the file, for people; borrowed */
    const struct res_result *result; /* borrowed */
};

/* res_html - the whole page, for one or more results; the caller's to free. The same results, under the same names, give the same bytes. */
char *res_html(const struct res_html_source *sources, size_t count);

/* res_html_history - the page of a history, finished (res_history_finish); else as res_html. */
char *res_html_history(const struct res_history *history);

/* res_html_document - the page of a document in the form RES_FORM_HTML, whose text is freed; likewise. */
char *res_html_document(const char *title, char *document);

/* res_html_escaped - JSON as text that can stand in a script element: ASCII, without '<', '>' and '&'. To be freed. */
char *res_html_escaped(const json_t *data);

/* ---- page.c: a page while it is written, for the files of this folder: elements with escaped words, and charts.
 * Words may be anybody's: they are made plain and escaped here. A chart is an empty element and an object for the scripts, which draw it and
 * nothing else: all words of it are made in C. */

/* Colours of report.css: of allocators that mallab knows, and of others. */
#define RES_PAGE_KNOWN  4u
#define RES_PAGE_OTHERS 8u

struct res_page {
    struct res_document body;      /* in the form RES_FORM_HTML */
    json_t *charts;                /* those so far */
    char *owners[RES_PAGE_OTHERS]; /* names of others that have a colour; NULL: none has it */
};

/* res_page_mark - marks as they are. res_page_words - an element of a class, NULL: none, with words; nothing for NULL words. */
void res_page_mark(struct res_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void res_page_words(struct res_page *page, const char *tag, const char *kind, const char *words);

/* res_page_own - likewise, and the words are freed. */
void res_page_own(struct res_page *page, const char *tag, const char *kind, char *words);

/* res_page_part - the head of a part of a workload, and a line that explains it; NULL: none. It ends with res_page_mark("</section>"). */
void res_page_part(struct res_page *page, const char *title, const char *explanation);

/* res_page_grid - a table; the grid is released. */
void res_page_grid(struct res_page *page, const char *caption, struct res_grid *grid);

/* res_page_chart - a chart; its object is taken over: "kind", and what charts.js says of that. is_headed: its title stands above it. */
void res_page_chart(struct res_page *page, const char *title, bool is_headed, json_t *chart);

/* res_page_colour - the colour of an allocator, by its name: the same on every page. */
size_t res_page_colour(struct res_page *page, const char *name);

/* Charts of a workload (workload_charts.c), each where its data is. */
void res_page_time(struct res_page *page, const struct res_result *result,
                   const struct res_result_workload *workload);
void res_page_resident(struct res_page *page, const struct res_result_workload *workload);
void res_page_latency(struct res_page *page, const struct res_result_workload *workload);

/* res_page_whole - the page of the build with a title, a body and its charts in its gaps. All of it is released. The caller's to free. */
char *res_page_whole(struct res_page *page, const char *title);

#endif
