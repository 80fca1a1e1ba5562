/* json_kind.h - what a JSON of ours is, for who gives it to a verb that reads another one.
 *
 * Told by its schema ("mallab-compare/1"): docs/schema. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_JSON_KIND_H
#define MALLAB_RESULTS_MEASURE_RESULT_JSON_KIND_H

/* res_json_kind - "a result of 'mallab ab', 'tune' or 'validate'", by the value of the key `schema`; NULL when it is none
 * of ours, and for NULL.
 * ret_remedy   set to what reads or makes use of it: "show it with 'mallab report'". May be NULL. */
const char *res_json_kind(const char *schema, const char **ret_remedy);

/* res_json_kind_of_file - the same by what the file begins with. A file that cannot be read is none of ours. */
const char *res_json_kind_of_file(const char *path, const char **ret_remedy);

#endif
