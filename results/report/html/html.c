/* html.c - the page of the build with the data of results in its gap. */
#include "results/report/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/plain.h"
#include "footprint/base/support.h"

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

/* The character that an escape stands for, of one beyond 16 bits its half; 0: an escape of two bytes. */
static uint32_t escaped_character(const char *escape)
{
    char digits[5] = "";
    if (escape[1] != 'u')
        return 0;
    memcpy(digits, escape + 2, 4); /* jansson writes four */
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* Tags, U+E0000 to U+E03FF, begin with this half. */
#define TAG_HALF 0xdb40u

char *res_html_escaped(const json_t *data)
{
    struct res_text text = {0};
    char *plain = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    /* Outside of strings JSON has none of these four. */
    const char *rest = plain != NULL ? plain : "null";
    uint32_t last = 0;
    while (*rest != '\0') {
        const size_t harmless = strcspn(rest, "<>&\\");
        res_text_add(&text, rest, harmless);
        rest += harmless;
        if (*rest == '\\') {
            /* A character that is not seen is shown as its escape. Other escapes are two bytes, or so begin. */
            const uint32_t character = escaped_character(rest);
            if (character != 0 &&
                (fp_character_is_hidden(character) || character == TAG_HALF || last == TAG_HALF))
                res_text_add(&text, "\\", 1);
            res_text_add(&text, rest, 2);
            rest += 2;
            last = character;
        } else if (*rest != '\0') {
            res_text_printf(&text, "\\u%04x", (unsigned)(unsigned char)*rest++);
        }
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
