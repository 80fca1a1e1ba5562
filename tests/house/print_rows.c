/* print_rows.c - the rows of a result as JSON: its schema, and tables for docs/results.md. */
#include <stdio.h>
#include <stdlib.h>

#include "house/fields_schema.h"
#include "results/measure/result/result.h"

static json_t *table_of(const struct res_described *described, const char *prefix)
{
    char *text = res_described_list(described, prefix);
    json_t *table = json_string(text != NULL ? text : "");
    free(text);
    return table;
}

int main(void)
{
    json_t *printed = json_pack("{s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "schema",
                                res_described_schema(&RES_RESULT), "fleet",
                                res_described_schema(&RES_FLEET_DOCUMENT), "tables", "result",
                                table_of(&RES_RESULT, ""), "workload", table_of(&RES_RESULT_WORKLOAD, ""),
                                "entry", table_of(&RES_RESULT_ENTRY, ""), "note", table_of(&RES_NOTE, ""));
    json_dumpf(printed, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(printed);
    return 0;
}
