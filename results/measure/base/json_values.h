/* json_values.h - values of ours as JSON has them, and JSON's as we have them: what is not known is null and NAN. JSON values and
 * strings that are returned are the caller's, where nothing else is said. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_JSON_VALUES_H
#define MALLAB_RESULTS_MEASURE_BASE_JSON_VALUES_H

#include <jansson.h>

/* res_json_number / res_json_whole - a figure, as it is or rounded to a whole number, which must be within int64's range; null
 * where it is not finite. */
json_t *res_json_number(double value);
json_t *res_json_whole(double value);

/* res_json_text - words, made plain (res_text_plain); null for NULL. */
json_t *res_json_text(const char *words);

/* res_cell_number - a number of an object, NAN when it is missing or none. */
double res_cell_number(const json_t *object, const char *key);

/* res_cell_string - the same as it is, borrowed: for a grid, which makes it fit. */
const char *res_cell_string(const json_t *object, const char *key, const char *otherwise);

#endif
