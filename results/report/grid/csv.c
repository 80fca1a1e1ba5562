/* csv.c - see csv.h. */
#include "results/report/grid/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

void res_csv_real(struct res_text *text, double value)
{
    if (isfinite(value))
        res_text_printf(text, "%.9g", value);
}

void res_csv_value(struct res_text *text, const json_t *value)
{
    if (json_is_string(value))
        res_csv_text(text, json_string_value(value));
    else if (json_is_integer(value))
        res_text_printf(text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        res_csv_real(text, json_real_value(value));
    else if (json_is_boolean(value))
        res_text_printf(text, "%s", json_is_true(value) ? "true" : "false");
}
