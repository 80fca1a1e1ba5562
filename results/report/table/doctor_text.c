/* doctor_text.c - the checks of `mallab doctor` for people. */
#include "results/report/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/report/grid/grid.h"

#define NAME_COLUMN  6  /* "bad   " */
#define FOUND_COLUMN 28 /* where words begin */

static const char *word_of(const json_t *check, const char *key)
{
    const char *text = json_string_value(json_object_get(check, key));
    return text != NULL ? text : "";
}

static void add_check(struct res_text *text, const json_t *check, const struct res_style *style)
{
    const char *state = word_of(check, "state");
    const enum res_role role = strcmp(state, "bad") == 0    ? RES_ROLE_BAD
                               : strcmp(state, "note") == 0 ? RES_ROLE_DOUBT
                                                            : RES_ROLE_GOOD;
    res_text_printf(text, "  %s%-*s%s%-*s", res_colour_begin(style, role), NAME_COLUMN, state,
                    res_colour_end(style, role), FOUND_COLUMN - NAME_COLUMN - 2, word_of(check, "name"));
    res_lines_wrap(text, word_of(check, "found"), FOUND_COLUMN);
    if (strcmp(state, "ok") == 0)
        return;
    res_text_printf(text, "%*s", FOUND_COLUMN, "");
    res_lines_wrap(text, word_of(check, "why"), FOUND_COLUMN);
    if (json_is_null(json_object_get(check, "remedy")))
        return;
    char *remedy = res_printf("-> %s", word_of(check, "remedy"));
    res_text_printf(text, "%*s", FOUND_COLUMN, "");
    res_lines_wrap(text, remedy, FOUND_COLUMN);
    free(remedy);
}

char *res_doctor_text(const struct res_doctor *doctor, const struct res_style *style, bool all)
{
    struct res_text text = {0};
    const char *area = "";
    size_t index;
    json_t *check;
    json_array_foreach(doctor->checks, index, check)
    {
        if (!all && strcmp(word_of(check, "state"), "ok") == 0)
            continue;
        if (strcmp(area, word_of(check, "area")) != 0) {
            area = word_of(check, "area");
            res_text_printf(&text, "%s%s\n", text.length > 0 ? "\n" : "", area);
        }
        add_check(&text, check, style);
    }
    if (text.length > 0)
        res_text_add(&text, "\n", 1);
    res_text_printf(&text, "%zu bad, %zu to note, %zu ok", doctor->count[RES_DOCTOR_BAD],
                    doctor->count[RES_DOCTOR_NOTE], doctor->count[RES_DOCTOR_OK]);
    res_text_printf(&text, "%s\n",
                    doctor->count[RES_DOCTOR_BAD] > 0 ? ": what is bad spoils figures or recordings" : "");
    return text.text;
}
