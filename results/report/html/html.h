/* html.h - results as one HTML file that needs nothing else: page, styles, scripts and data are in it.
 *
 * The page is put together when mallab is built (embed.py: report.html with report.css and the scripts) and has
 * two gaps, for the data and for the text that the screen shows, which stands in for the page where scripts are off. What fills them is
 * made of results, which are untrusted: names, paths and words in them reach the page as JSON in a script element of type
 * application/json, in which no byte can end the element, and from there only as text nodes; and as text without marks. A content security policy allows the page its own scripts, by their hashes, and no request. */
#ifndef MALLAB_RESULTS_REPORT_HTML_HTML_H
#define MALLAB_RESULTS_REPORT_HTML_HTML_H

#include <jansson.h>

#include "results/measure/result/result.h"
#include <stdbool.h>
#include <stddef.h>

/* Points of a series in the page. Longer ones are drawn by the least and the greatest value of equal parts. */
#define RES_HTML_POINTS_MAX 8000u

struct res_html_source {
    const char *name;                /* of the file, for people; borrowed */
    const struct res_result *result; /* borrowed */
};

/* res_html - the whole page, for one or more results; the caller's to free. The same results, under the same names, give the same bytes. */
char *res_html(const struct res_html_source *sources, size_t count);

/* res_html_history - the page of a history (results/report/history/result_history.h), the document of res_history_finish; else as res_html. */
char *res_html_history(const json_t *history);

/* res_html_data - what stands in the gap of data, before it is escaped: the results less their raw samples, of which `series`
 * is made (docs/report.md). A new reference. */
json_t *res_html_data(const struct res_html_source *sources, size_t count);

/* res_html_escaped - JSON as text that can stand in a script element: ASCII, without '<', '>' and '&'. To be freed. */
char *res_html_escaped(const json_t *data);

#endif
