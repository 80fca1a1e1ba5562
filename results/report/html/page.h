/* page.h - a page while it is written, for the files of this folder: elements with escaped words, and charts.
 *
 * Words may be anybody's: they are made plain and escaped here. A chart is an empty element and an object for the scripts, which draw it and
 * nothing else: all words of it are made in C. */
#ifndef MALLAB_RESULTS_REPORT_HTML_PAGE_H
#define MALLAB_RESULTS_REPORT_HTML_PAGE_H

#include <jansson.h>

#include "footprint/base/support.h"
#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"

struct res_page {
    struct res_text body;
    json_t *charts;         /* those so far */
    struct res_texts names; /* of allocators that have a colour, which is theirs on every chart */
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

/* res_page_chart - a chart; its object is taken over: "kind", and what charts.js says of that. */
void res_page_chart(struct res_page *page, const char *title, json_t *chart);

/* res_page_colour - of an allocator, by its name. */
size_t res_page_colour(struct res_page *page, const char *name);

/* res_page_notes - the notes of a result or workload: first the warnings that stand above everything, then the verdict with what is to be
 * pasted; the rest by res_page_rest. */
void res_page_notes(struct res_page *page, const struct res_note *notes, size_t count);
void res_page_rest(struct res_page *page, const struct res_note *notes, size_t count);

/* Charts of a workload (workload_charts.c), each where its data is. */
void res_page_rounds(struct res_page *page, const struct res_result *result,
                     const struct res_result_workload *workload);
void res_page_resident(struct res_page *page, const struct res_result_workload *workload);
void res_page_latency(struct res_page *page, const struct res_result_workload *workload);

/* res_page_whole - the page of the build with a title, a body and its charts in its gaps. All of it is released. The caller's to free. */
char *res_page_whole(struct res_page *page, const char *title);

#endif
