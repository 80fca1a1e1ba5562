/* fields_schema.h - the rows of a struct (fields.h) as JSON Schema, and as a list for the docs. */
#ifndef MALLAB_TESTS_HOUSE_FIELDS_SCHEMA_H
#define MALLAB_TESTS_HOUSE_FIELDS_SCHEMA_H

#include <jansson.h>

#include "results/measure/base/fields.h"

/* res_described_schema - the JSON Schema (draft 2020-12) of what res_described_write makes: properties with type and
 * description, `required` where a key is always written. Structs and lists are schemas within. Rows without a line
 * of documentation, and what a JSON member holds, are left to whoever documents them. A new reference. */
json_t *res_described_schema(const struct res_described *described);

/* res_described_list - the rows with a line of documentation as a Markdown list, keys of one object in one line; NULL: none has one.
 * prefix  before each key: "candidates[]."; "" for none. The caller's to free. */
char *res_described_list(const struct res_described *described, const char *prefix);

#endif
