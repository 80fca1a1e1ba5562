/* csv.c - see csv.h. */
#include "results/report/grid/csv.h"

#include <math.h>

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
