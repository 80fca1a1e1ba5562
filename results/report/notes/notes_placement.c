/* notes_placement.c - below the table: how well each allocator places live objects for the program's own code. */
#include <math.h>
#include <stdlib.h>

#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

/* "glibc 0.42, jemalloc 0.08": one figure of every candidate; false when none has it. */
static bool add_figures(struct res_text *words, const json_t *candidates, const char *key, int digits)
{
    const char *comma = "";
    bool any = false;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *placement = json_object_get(candidate, "placement");
        const double value = res_cell_number(placement, key);
        if (!json_is_object(placement))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        if (isfinite(value))
            res_text_printf(words, "%s%s %.*f", comma, name, digits, value);
        else
            res_text_printf(words, "%s%s -", comma, name);
        any = any || isfinite(value);
        comma = ", ";
        free(name);
    }
    return any;
}

static void add_reasons(struct res_text *text, const json_t *candidates)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        res_notes_why(text, "placement", candidate, "not measured: ", json_object_get(candidate, "placement"),
                      "unavailable");
    }
}

static char *misaligned_words(const json_t *candidate)
{
    const json_t *alignment = json_object_get(json_object_get(candidate, "placement"), "alignment");
    const json_t *first = json_object_get(alignment, "first");
    if (!json_is_object(first))
        return NULL;
    char *name = res_cell_plain(candidate, "name", "?"), *call = res_cell_plain(first, "call", "?");
    const char *misaligned = RES_NUMBER(res_cell_number(alignment, "misaligned")),
               *looked = RES_NUMBER(res_cell_number(alignment, "looked")),
               *op = RES_NUMBER(res_cell_number(first, "op")),
               *bytes = RES_NUMBER(res_cell_number(first, "size_bytes"));
    char *words = res_printf(
        "%s breaks a promise: %s of %s objects looked at are misaligned, the first at op %s, %s of %s "
        "bytes at an address that is no multiple of %.0f; --check looks at each",
        name, misaligned, looked, op, call, bytes, res_cell_number(first, "promised_bytes"));
    free(call);
    free(name);
    return words;
}

void res_notes_misaligned(struct res_text *text, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        char *words = misaligned_words(candidate);
        if (words != NULL)
            res_lines_add(text, "misaligned", words);
        free(words);
    }
}

void res_notes_placement(struct res_text *text, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct res_text words = {0};
    add_reasons(text, candidates);
    res_text_printf(&words, "misses of a small simulated TLB for each live object visited: ");
    if (add_figures(&words, candidates, "tlb_misses_per_object", 3)) {
        res_text_printf(&words, "; bytes of pages held for each live byte: ");
        (void)add_figures(&words, candidates, "page_bytes_per_byte", 2);
        res_text_printf(&words, ". Fewer is better for the program's own code, which no replay executes");
        res_lines_add(text, "placement", words.text);
    }
    free(words.text);
}
