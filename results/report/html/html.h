/* html.h - results as one HTML file that needs nothing else: page, styles, scripts and data are in it.
 *
 * The page is put together when mallab is built (embed.py: report.html with report.css and the scripts) and has gaps for title, body and
 * charts. What fills them is made of results, which are untrusted: their words are escaped once, in C, and what charts need of them stands as
 * JSON in a script element of type application/json, in which no byte can end the element. Scripts only draw: whole without them are words
 * and tables. A content security policy allows the page its own scripts, by their hashes, and no request. */
#ifndef MALLAB_RESULTS_REPORT_HTML_HTML_H
#define MALLAB_RESULTS_REPORT_HTML_HTML_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"
#include "results/report/beside/result_history.h"

/* Points of a series in the page. Longer ones are drawn by the least and the greatest value of equal parts. */
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

#endif
