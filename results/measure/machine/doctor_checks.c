/* doctor_checks.c - the list of checks, and its text. */
#include "results/measure/machine/doctor_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/grid/lines.h"

#define NAME_COLUMN  6  /* "bad   " */
#define FOUND_COLUMN 28 /* where words begin */

static const char *const STATES[] = {"ok", "note", "bad"}; /* in the order of the enum */

void res_doctor_begin(struct res_doctor *doctor, const char *root)
{
    *doctor = (struct res_doctor){.root = root, .checks = json_array()};
}

void res_doctor_release(struct res_doctor *doctor)
{
    json_decref(doctor->checks);
    *doctor = (struct res_doctor){0};
}

void res_doctor_add(struct res_doctor *doctor, const char *area, const char *name,
                    enum res_doctor_state state, char *found, const char *why, const char *remedy)
{
    char *plain = res_text_plain(found);
    json_array_append_new(doctor->checks,
                          json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?}", "area", area, "name", name, "state",
                                    STATES[state], "found", plain, "why", why, "remedy", remedy));
    doctor->count[state]++;
    free(plain);
    free(found);
}

bool res_doctor_read(const struct res_doctor *doctor, const char *path, char *ret_text, size_t size)
{
    const bool read = res_file_begin(doctor->root, path, ret_text, size);
    size_t length = strlen(ret_text);
    while (length > 0 && ret_text[length - 1] == '\n')
        ret_text[--length] = '\0';
    return read;
}

/* ---- text ----------------------------------------------------------------------------------- */

static const char *string_of(const json_t *check, const char *key)
{
    const char *string = json_string_value(json_object_get(check, key));
    return string != NULL ? string : "";
}

static void add_check(struct res_text *text, const json_t *check, const struct res_style *style)
{
    const char *state = string_of(check, "state");
    const enum res_role role = strcmp(state, "bad") == 0    ? RES_ROLE_BAD
                               : strcmp(state, "note") == 0 ? RES_ROLE_DOUBT
                                                            : RES_ROLE_GOOD;
    res_text_printf(text, "  %s%-*s%s%-*s", res_colour_begin(style, role), NAME_COLUMN, state,
                    res_colour_end(style, role), FOUND_COLUMN - NAME_COLUMN - 2, string_of(check, "name"));
    res_lines_wrap(text, string_of(check, "found"), FOUND_COLUMN);
    if (strcmp(state, "ok") == 0)
        return;
    res_text_printf(text, "%*s", FOUND_COLUMN, "");
    res_lines_wrap(text, string_of(check, "why"), FOUND_COLUMN);
    if (json_is_null(json_object_get(check, "remedy")))
        return;
    char *remedy = res_printf("-> %s", string_of(check, "remedy"));
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
        if (!all && strcmp(string_of(check, "state"), "ok") == 0)
            continue;
        if (strcmp(area, string_of(check, "area")) != 0) {
            area = string_of(check, "area");
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
