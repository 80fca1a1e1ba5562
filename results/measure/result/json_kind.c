/* json_kind.c - the schemas, and what becomes of each. */
#include "results/measure/result/json_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

#define HEAD_BYTES 65536u /* the schema is one of the first keys that our writers write */

static const struct {
    const char *schema, *words, *remedy;
} KINDS[] = {
    {"mallab-experiment/", "a result of 'mallab ab', 'tune' or 'validate'",
     "show it with 'mallab report', or hold it against another with 'mallab compare'"},
    {"mallab-run/", "one run of 'mallab replay --json'", "'mallab ab' makes results of many"},
    {"mallab-compare/", "a comparison by 'mallab compare --json'", "name the two results that it compares"},
    {"mallab-check/", "what 'mallab check --json' found", "name the result that was checked"},
    {"mallab-history/", "a history by 'mallab report --json DIR'", "name the results, or their directory"},
    {"mallab-recording/", "a recording's list of processes", "name the directory that it lies in"},
    {"mallab-info/", "what 'mallab info --json' printed", "name the file that it tells of"},
    {"mallab-convert/", "what 'mallab convert --json' printed", "name the workload that was converted"},
    {"mallab-convert-each/", "what 'mallab convert --each --json' printed", "name one of its workloads"},
    {"mallab-allocators/", "what 'mallab allocators --json' printed", "'mallab ab' makes results"},
    {"mallab-doctor/", "what 'mallab doctor --json' printed", "'mallab ab' makes results"},
    {"mallab-status/", "what 'mallab record --attach-to --json' printed", "name the recording"},
    {"mallab-top/", "what 'mallab top --json' printed", "name the recording"},
    {"mallab-report/", "the data of a page by 'mallab report --format html'", "name the results themselves"},
};

const char *res_json_kind(const char *schema, const char **ret_remedy)
{
    for (size_t i = 0; schema != NULL && i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strncmp(schema, KINDS[i].schema, strlen(KINDS[i].schema)) != 0)
            continue;
        if (ret_remedy != NULL)
            *ret_remedy = KINDS[i].remedy;
        return KINDS[i].words;
    }
    return NULL;
}

const char *res_json_kind_of_file(const char *path, const char **ret_remedy)
{
    static const char KEY[] = "\"schema\"";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *head = res_calloc(HEAD_BYTES + 1, 1);
    const size_t length = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    head[length] = '\0';
    const char *at = head + strspn(head, " \t\r\n");
    const char *key = *at == '{' ? strstr(at, KEY) : NULL;
    const char *words = NULL;
    if (key != NULL) {
        key += sizeof KEY - 1;
        key += strspn(key, " \t\r\n:");
        words = *key == '"' ? res_json_kind(key + 1, ret_remedy) : NULL;
    }
    free(head);
    return words;
}
