/* json_values.c - see json_values.h. */
#include "results/measure/base/json_values.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

json_t *res_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *res_json_whole(double value)
{
    return isfinite(value) ? json_integer((json_int_t)llround(value)) : json_null();
}

json_t *res_json_text(const char *words)
{
    json_t *string = NULL;
    if (words != NULL) {
        char *plain = res_text_plain(words);
        string = json_string(plain);
        free(plain);
    }
    return string != NULL ? string : json_null();
}
