/* doctor_checks.c - the list of checks. */
#include "results/measure/machine/doctor_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

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
