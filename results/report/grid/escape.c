/* escape.c - see escape.h. */
#include "results/report/grid/escape.h"

#include <stdlib.h>
#include <string.h>

void res_markdown_add(struct res_text *text, const char *words)
{
    /* A bar would end the cell, and the rest are marks that a file's name may hold. */
    char *plain = res_text_plain(words != NULL ? words : "-");
    for (const char *byte = plain; *byte != '\0'; byte++) {
        if (strchr("|\\`*_<>[]#&~", *byte) != NULL)
            res_text_add(text, "\\", 1);
        res_text_add(text, byte, 1);
    }
    free(plain);
}

static bool begins_formula(const char *plain)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    if (plain[0] != '\0' && strchr("=+-@", plain[0]) != NULL)
        return strcmp(plain, "-") != 0;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strncmp(plain, wide[i], strlen(wide[i])) == 0)
            return true;
    return false;
}

void res_csv_text(struct res_text *text, const char *words)
{
    char *plain = res_text_plain(words != NULL ? words : ""); /* tabs and line ends are none any more */
    res_text_printf(text, begins_formula(plain) ? "\"'" : "\"");
    for (const char *at = plain; *at != '\0'; at++)
        res_text_add(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    res_text_add(text, "\"", 1);
    free(plain);
}
