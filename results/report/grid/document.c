/* document.c - see lines.h. */
#include "results/report/grid/lines.h"

#include "results/report/grid/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((format(printf, 2, 0))) void add_words(struct res_document *document, const char *format,
                                                            va_list arguments)
{
    char *words = NULL;
    if (vasprintf(&words, format, arguments) < 0)
        res_no_memory();
    char *plain = res_text_plain(words);
    if (document->style->form == RES_FORM_MARKDOWN)
        res_markdown_add(&document->text, plain);
    else if (document->style->form == RES_FORM_HTML)
        res_html_add(&document->text, plain);
    else
        res_text_printf(&document->text, "%s", plain);
    free(plain);
    free(words);
}

void res_document_heading(struct res_document *document, unsigned level, const char *format, ...)
{
    const enum res_form form = document->style->form;
    va_list arguments;
    va_start(arguments, format);
    if (form == RES_FORM_MARKDOWN)
        res_text_printf(&document->text, "%.*s ", (int)level, "######");
    else if (form == RES_FORM_HTML)
        res_text_printf(&document->text, "<h%u>", level);
    add_words(document, format, arguments);
    if (form == RES_FORM_HTML)
        res_text_printf(&document->text, "</h%u>", level);
    res_text_printf(&document->text, form == RES_FORM_MARKDOWN ? "\n\n" : "\n");
    va_end(arguments);
}

void res_document_line(struct res_document *document, const char *format, ...)
{
    struct res_document words = {.style = document->style};
    va_list arguments;
    va_start(arguments, format);
    add_words(&words, format, arguments);
    va_end(arguments);
    const char *line = words.text.text != NULL ? words.text.text : "";
    if (document->style->form == RES_FORM_TEXT)
        res_lines_wrap(&document->text, line, 0);
    else
        res_text_printf(&document->text,
                        document->style->form == RES_FORM_HTML ? "<p class=\"small\">%s</p>\n" : "- %s\n",
                        line);
    free(words.text.text);
}

void res_document_names(struct res_document *document, const char *what, const struct res_texts *names,
                        size_t most)
{
    const char *colon = what != NULL ? ": " : "";
    what = what != NULL ? what : "";
    for (size_t i = 0; i < names->count && (most == 0 || i < most); i++)
        res_document_line(document, "%s%s%s", what, colon, names->items[i]);
    if (most > 0 && names->count > most)
        res_document_line(document, "%s%s%zu more", what, colon, names->count - most);
}

void res_document_table(struct res_document *document, struct res_grid *grid)
{
    if (document->style->form == RES_FORM_MARKDOWN)
        res_grid_markdown(grid, &document->text);
    else if (document->style->form == RES_FORM_HTML)
        res_grid_html(grid, "Figures", &document->text);
    else
        res_grid_text(grid, document->style, &document->text);
}

void res_document_gap(struct res_document *document)
{
    res_text_add(&document->text, "\n", 1);
}

void res_document_fold(struct res_document *document, const char *words)
{
    if (words != NULL)
        res_text_printf(&document->text, "\n<details>\n<summary>%s</summary>\n\n", words);
    else
        res_text_printf(&document->text, "\n</details>\n");
}

char *res_document_end(struct res_document *document)
{
    if (document->text.text == NULL)
        res_text_add(&document->text, "", 0);
    return document->text.text;
}
