/* page.c - see html.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report/html/html.h"

/* Made by embed.py. */
extern const char res_html_page[];
extern const size_t res_html_page_length;
extern const size_t res_html_page_gaps[]; /* offsets at which title, body and data go */

/* ---- elements -------------------------------------------------------------------------------- */

void res_page_mark(struct res_page *page, const char *format, ...)
{
    va_list arguments;
    RES_FREED char *marks = NULL;
    va_start(arguments, format);
    if (vasprintf(&marks, format, arguments) < 0)
        res_no_memory();
    va_end(arguments);
    res_text_add(&page->body.text, marks, strlen(marks));
}

void res_page_words(struct res_page *page, const char *tag, const char *kind, const char *words)
{
    if (words == NULL)
        return;
    res_page_mark(page, kind != NULL ? "<%s class=\"%s\">" : "<%s>", tag, kind);
    res_html_add(&page->body.text, words);
    res_page_mark(page, "</%s>\n", tag);
}

void res_page_own(struct res_page *page, const char *tag, const char *kind, char *words)
{
    res_page_words(page, tag, kind, words);
    free(words);
}

void res_page_part(struct res_page *page, const char *title, const char *explanation)
{
    res_page_mark(page, "<section class=\"part\">");
    res_page_words(page, "h3", NULL, title);
    res_page_words(page, "p", "explain", explanation);
}

void res_page_grid(struct res_page *page, const char *caption, struct res_grid *grid)
{
    res_grid_html(grid, caption, &page->body.text);
    res_grid_release(grid);
}

void res_page_chart(struct res_page *page, const char *title, bool is_headed, json_t *chart)
{
    json_object_set_new(chart, "title", json_string(title));
    res_page_mark(page, "<figure class=\"chart\">");
    res_page_words(page, "figcaption", NULL, is_headed ? NULL : title);
    res_page_mark(page, "<div data-chart=\"%zu\"></div></figure>\n", json_array_size(page->charts));
    json_array_append_new(page->charts, chart);
}

/* Others begin to look at a place that their name gives, so that one has the same colour on pages that have other allocators beside it. */
size_t res_page_colour(struct res_page *page, const char *name)
{
    static const char *const KNOWN[RES_PAGE_KNOWN] = {"glibc", "jemalloc", "tcmalloc", "mimalloc"};
    size_t place = 0;
    for (size_t i = 0; i < RES_PAGE_KNOWN; i++)
        if (strcmp(KNOWN[i], name) == 0)
            return i;
    for (const char *at = name; *at != '\0'; at++)
        place = place * 31 + (unsigned char)*at;
    for (size_t i = 0; i < RES_PAGE_OTHERS; i++, place++) {
        char **owner = &page->owners[place % RES_PAGE_OTHERS];
        if (*owner == NULL)
            *owner = res_strdup(name);
        if (strcmp(*owner, name) == 0)
            break;
    }
    return RES_PAGE_KNOWN + place % RES_PAGE_OTHERS;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Words in it are plain (res_json_text): only marks are left to hide. */
char *res_html_escaped(const json_t *data)
{
    struct res_text text = {0};
    RES_FREED char *plain = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    const char *rest = plain != NULL ? plain : "null";
    while (*rest != '\0') {
        const size_t harmless = strcspn(rest, "<>&");
        res_text_add(&text, rest, harmless);
        rest += harmless;
        if (*rest != '\0')
            res_text_printf(&text, "\\u%04x", (unsigned)(unsigned char)*rest++);
    }
    return text.text;
}

char *res_page_whole(struct res_page *page, const char *title)
{
    const size_t *gaps = res_html_page_gaps;
    struct res_text text = {0};
    char *charts = res_html_escaped(page->charts);
    res_text_add(&text, res_html_page, gaps[0]);
    res_html_add(&text, title);
    res_text_add(&text, res_html_page + gaps[0], gaps[1] - gaps[0]);
    res_text_add(&text, page->body.text.text, page->body.text.length);
    res_text_add(&text, res_html_page + gaps[1], gaps[2] - gaps[1]);
    res_text_add(&text, charts, strlen(charts));
    res_text_add(&text, res_html_page + gaps[2], res_html_page_length - gaps[2]);
    free(charts);
    free(page->body.text.text);
    for (size_t i = 0; i < RES_PAGE_OTHERS; i++)
        free(page->owners[i]);
    json_decref(page->charts);
    return text.text;
}
