/* layout.c - see layout.h. */
#include "results/report/grid/layout.h"

#include <stdlib.h>

#include "results/report/table/table.h"

void res_layout_pad(struct res_text *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        res_text_add(text, " ", 1);
}

void res_layout_end_line(struct res_text *text)
{
    while (text->length > 0 && text->text[text->length - 1] == ' ')
        text->length--;
    res_text_add(text, "\n", 1);
}

void res_layout_word(struct res_text *text, const char *word, size_t length, size_t indent, size_t *column)
{
    char *copy = res_strndup(word, length);
    const size_t columns = res_text_columns(copy);
    if (*column > indent && *column + 1 + columns > RES_TABLE_COLUMNS) {
        res_text_printf(text, "\n%*s", (int)indent, "");
        *column = indent;
    } else if (*column > indent) {
        res_text_add(text, " ", 1);
        ++*column;
    }
    res_text_add(text, word, length);
    *column += columns;
    free(copy);
}
