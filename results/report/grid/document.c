/* document.c - see document.h. */
#include "results/report/grid/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void add_words(struct res_document *document, const char *format, va_list arguments)
{
    char *words = NULL;
    if (vasprintf(&words, format, arguments) < 0)
        res_no_memory();
    char *plain = res_text_plain(words);
    if (document->style == NULL)
        res_markdown_add(&document->text, plain);
    else if (document->style->html)
        res_html_add(&document->text, plain);
    else
        res_text_printf(&document->text, "%s", plain);
    free(plain);
    free(words);
}

void res_document_heading(struct res_document *document, unsigned level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool html = document->style != NULL && document->style->html;
    if (document->style == NULL)
        res_text_printf(&document->text, "%.*s ", (int)level, "######");
    if (html)
        res_text_printf(&document->text, "<h%u>", level);
    add_words(document, format, arguments);
    if (html)
        res_text_printf(&document->text, "</h%u>", level);
    res_text_printf(&document->text, document->style == NULL ? "\n\n" : "\n");
    va_end(arguments);
}

void res_document_line(struct res_document *document, const char *format, ...)
{
    struct res_document words = {.style = document->style};
    va_list arguments;
    va_start(arguments, format);
    add_words(&words, format, arguments);
    va_end(arguments);
    if (document->style == NULL)
        res_text_printf(&document->text, "- %s\n", words.text.text);
    else if (document->style->html)
        res_text_printf(&document->text, "<p class=\"small\">%s</p>\n", words.text.text);
    else
        res_lines_wrap(&document->text, words.text.text, 0);
    free(words.text.text);
}

void res_document_names(struct res_document *document, const char *what, const struct res_texts *names,
                        size_t most)
{
    for (size_t i = 0; i < names->count && (most == 0 || i < most); i++)
        res_document_line(document, "%s: %s", what, names->items[i]);
    if (most > 0 && names->count > most)
        res_document_line(document, "%s: %zu more", what, names->count - most);
}

void res_document_table(struct res_document *document, struct res_grid *grid)
{
    if (document->style == NULL)
        res_grid_markdown(grid, &document->text);
    else if (document->style->html)
        res_grid_html(grid, "Figures", &document->text);
    else
        res_grid_text(grid, document->style, &document->text);
}

void res_document_gap(struct res_document *document)
{
    res_text_add(&document->text, "\n", 1);
}
