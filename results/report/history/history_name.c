/* history_name.c - a result's file name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/history/result_history.h"

#define PART_MAX 64u /* bytes: three parts and the ending stay far below NAME_MAX */

char *res_history_machine(const json_t *result)
{
    const json_t *machine = json_object_get(result, "machine");
    char *name = res_cell_plain(machine, "name", "");
    if (*name != '\0')
        return name;
    free(name);
    char *cpu = res_cell_plain(machine, "cpu", "unknown processor");
    name = res_printf("%s, %lld CPUs", cpu, (long long)json_integer_value(json_object_get(machine, "cpus")));
    free(cpu);
    return name;
}

/* What is in parentheses, as the (R) of processors, is left out. */
static char *fit_for_name(const char *text, const char *otherwise)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+";
    char *fit = res_calloc(PART_MAX + 1, 1);
    size_t length = 0;
    for (; *text != '\0' && length < PART_MAX; text++) {
        const char *close = *text == '(' ? strchr(text, ')') : NULL;
        if (close != NULL)
            text = close;
        else if (strchr(allowed, *text) != NULL)
            fit[length++] = *text;
        else if (length > 0 && fit[length - 1] != '-') /* first, it would be taken for an option */
            fit[length++] = '-';
    }
    while (length > 0 && fit[length - 1] == '-')
        fit[--length] = '\0';
    if (length > 0)
        return fit;
    free(fit);
    return res_strdup(otherwise);
}

char *res_history_name(const struct res_result *typed_result, unsigned number)
{
    const json_t *result = typed_result->json;
    const json_t *workloads = json_object_get(result, "workloads");
    const char *first = json_string_value(json_object_get(json_array_get(workloads, 0), "name"));
    const time_t seconds = (time_t)(json_integer_value(json_object_get(result, "created_unix_ns")) /
                                    1000000000);
    char date[32] = "nodate", more[24] = "", again[16] = "";
    struct tm parts;
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &parts);
    if (json_array_size(workloads) > 1)
        snprintf(more, sizeof more, "+%zu", json_array_size(workloads) - 1);
    if (number > 1)
        snprintf(again, sizeof again, "-%u", number);
    char *plain = res_strdup(first != NULL ? first : "");
    const size_t length = strlen(plain);
    if (length > 3 && strcmp(plain + length - 3, ".wl") == 0)
        plain[length - 3] = '\0';
    char *workload = fit_for_name(plain, "workload");
    char *called = res_history_machine(result), *machine = fit_for_name(called, "machine");
    char *name = res_printf("%s%s.%s.%s%s.json", workload, more, machine, date, again);
    free(plain);
    free(called);
    free(workload);
    free(machine);
    return name;
}
