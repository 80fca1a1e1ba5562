/* notes_unproven.c - settings of which nothing tells whether the allocator heeded them: its row may be that of its default. */
#include <stdlib.h>
#include <string.h>

#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

/* Of one candidate, by what its first run read back. */
static void add_names(struct res_text *words, const json_t *candidate)
{
    const json_t *run = json_array_get(json_object_get(candidate, "runs"), 0);
    json_t *settings = json_object_get(json_object_get(run, "proof"), "settings"), *setting;
    const char *key;
    size_t listed = 0;
    json_object_foreach(settings, key, setting)
    {
        const char *from = json_string_value(json_object_get(setting, "from"));
        if (from == NULL || strcmp(from, "nobody") != 0)
            continue;
        char *name = res_cell_plain(candidate, "name", "?"), *plain = res_text_plain(key);
        if (listed++ == 0)
            res_text_printf(words, "%s%s with %s", words->text != NULL ? "; " : "", name, plain);
        else
            res_text_printf(words, ", %s", plain);
        free(plain);
        free(name);
    }
}

char *res_unproven_words(const json_t *workload)
{
    struct res_text words = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        add_names(&words, candidate);
    }
    if (words.text != NULL)
        res_text_printf(&words, ": nothing tells whether the allocator reads it ('settings = unproven')");
    return words.text;
}

void res_notes_unproven(struct res_text *text, const json_t *workload)
{
    char *words = res_unproven_words(workload);
    if (words != NULL)
        res_lines_add(text, "unproven", words);
    free(words);
}
