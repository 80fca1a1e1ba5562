/* html.c - the page of the build with the data of results in its gap. */
#include "results/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "results/support.h"

/* Made by embed.py. The length is 0 where uPlot was not there when mallab was configured. */
extern const char res_html_page[];
extern const size_t res_html_page_length;
extern const size_t res_html_page_gap; /* offset at which the data go */

const char *res_html_missing(void)
{
    return res_html_page_length > 0 ? NULL
                                    : "this mallab was built without uPlot, which draws the charts: run "
                                      "scripts/setup where npm reaches its "
                                      "registry, then 'meson setup --reconfigure BUILD' and 'ninja -C BUILD'";
}

char *res_html_escaped(const json_t *data)
{
    struct res_text text = {0};
    char *plain = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    /* Outside of strings JSON has none of these three. */
    const char *rest = plain != NULL ? plain : "null";
    while (*rest != '\0') {
        const size_t harmless = strcspn(rest, "<>&");
        res_text_add(&text, rest, harmless);
        rest += harmless;
        if (*rest != '\0')
            res_text_printf(&text, "\\u%04x", (unsigned)(unsigned char)*rest++);
    }
    free(plain);
    return text.text;
}

/* Takes over the reference. */
static char *page_of(json_t *data)
{
    struct res_text text = {0};
    char *escaped = res_html_escaped(data);
    res_text_add(&text, res_html_page, res_html_page_gap);
    res_text_add(&text, escaped, strlen(escaped));
    res_text_add(&text, res_html_page + res_html_page_gap, res_html_page_length - res_html_page_gap);
    free(escaped);
    json_decref(data);
    return text.text;
}

char *res_html(const struct res_html_source *sources, size_t count)
{
    return res_html_missing() == NULL ? page_of(res_html_data(sources, count)) : NULL;
}

char *res_html_history(const json_t *history)
{
    if (res_html_missing() != NULL)
        return NULL;
    return page_of(json_pack("{s:s, s:s, s:O}", "schema", "mallab-report/1", "mallab_version", MALLAB_VERSION,
                             "history", history));
}
