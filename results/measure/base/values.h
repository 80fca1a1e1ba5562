/* values.h - figures and words as JSON values. Each is a new reference, the caller's. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_VALUES_H
#define MALLAB_RESULTS_MEASURE_BASE_VALUES_H

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "results/measure/base/support.h"

/* res_value_number - null where there is none (NAN, infinite), which JSON cannot write. */
static inline json_t *res_value_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* res_value_whole - likewise, rounded: bytes, counts. */
static inline json_t *res_value_whole(double value)
{
    return isfinite(value) ? json_integer((json_int_t)llround(value)) : json_null();
}

/* res_value_text - words that anybody may have written, made plain (res_text_plain); NULL: null. */
static inline json_t *res_value_text(const char *words)
{
    if (words == NULL)
        return json_null();
    char *plain = res_text_plain(words);
    json_t *string = json_string(plain);
    free(plain);
    return string;
}

#endif
