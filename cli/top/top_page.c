/* top_page.c - lines and numbers of a frame. */
#include "cli/top/top_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "footprint/base/words.h"

#define HEAD_COLUMNS 41 /* where the second fact of a line begins */
#define SIDE_COLUMNS 78 /* of two tables side by side */

/* ---- numbers -------------------------------------------------------------------------------- */

const char *top_number(double value, char ret_text[TOP_NUMBER_BYTES])
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    if (value < 999999.5)
        return fp_text_grouped((unsigned long long)(value + 0.5), ret_text);
    while (value >= 999.5 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    snprintf(ret_text, TOP_NUMBER_BYTES,
             value < 9.995   ? "%.2f %c"
             : value < 99.95 ? "%.1f %c"
                             : "%.0f %c",
             value, units[unit]);
    return ret_text;
}

const char *top_rate(const struct cli_top_moment *moment, uint64_t now, uint64_t before,
                     char ret_text[TOP_NUMBER_BYTES])
{
    if (moment->catching_up) {
        snprintf(ret_text, TOP_NUMBER_BYTES, "-");
        return ret_text;
    }
    return top_number(cli_top_per_second(moment, now, before), ret_text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

void top_page_put(struct top_page *page, const char *format, ...)
{
    char *line = NULL;
    va_list list;
    size_t end = 0;
    if (page->lines_left == 0)
        return;
    page->lines_left--;
    va_start(list, format);
    const int length = vasprintf(&line, format, list);
    va_end(list);
    if (length < 0)
        return;
    for (unsigned column = 0; line[end] != '\0'; end++) {
        if (((unsigned char)line[end] & 0xc0) == 0x80)
            continue;
        if (column++ == page->columns)
            break;
    }
    while (end > 0 && line[end - 1] == ' ')
        end--;
    line[end] = '\0';
    res_text_printf(page->out, "%s\n", line);
    free(line);
}

bool top_page_is_narrow(const struct top_page *page)
{
    return page->columns < SIDE_COLUMNS;
}

void top_page_facts(struct top_page *page, const char *left_name, const char *left, const char *right_name,
                    const char *right)
{
    if (top_page_is_narrow(page)) {
        top_page_put(page, "%-11s%s", left_name, left);
        top_page_put(page, "%-11s%s", right_name, right);
    } else {
        top_page_put(page, "%-11s%-*s%-9s%s", left_name, HEAD_COLUMNS - 12, left, right_name, right);
    }
}
