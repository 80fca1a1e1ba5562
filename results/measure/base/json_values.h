/* json_values.h - values of ours as JSON has them: what is not known is null. Each returns a new reference. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_JSON_VALUES_H
#define MALLAB_RESULTS_MEASURE_BASE_JSON_VALUES_H

#include <jansson.h>

/* res_json_number / res_json_whole - a figure, as it is or rounded to a whole number, which must be within int64's range; null
 * where it is not finite. */
json_t *res_json_number(double value);
json_t *res_json_whole(double value);

/* res_json_text - words, made plain (res_text_plain); null for NULL. */
json_t *res_json_text(const char *words);

#endif
