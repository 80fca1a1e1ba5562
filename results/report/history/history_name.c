/* history_name.c - a result's file name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/support.h"
#include "results/report/history/result_history.h"

#define PART_MAX 64u /* bytes: three parts and the ending stay far below NAME_MAX */

char *res_history_machine(const struct res_machine *machine)
{
    if (machine->name != NULL && *machine->name != '\0')
        return res_strdup(machine->name);
    return res_printf("%s, %.0f CPUs", machine->cpu != NULL ? machine->cpu : "unknown processor",
                      fmax(machine->cpus, 0));
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

char *res_history_name(const struct res_result *result, unsigned number)
{
    const char *first = result->workload_count > 0 ? result->workloads[0].name : "";
    const time_t seconds = (time_t)(result->created_unix_ns / 1000000000);
    char date[32] = "nodate", more[24] = "", again[16] = "";
    struct tm parts;
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &parts);
    if (result->workload_count > 1)
        snprintf(more, sizeof more, "+%zu", result->workload_count - 1);
    if (number > 1)
        snprintf(again, sizeof again, "-%u", number);
    char *plain = res_strdup(first);
    const size_t length = strlen(plain);
    if (length > 3 && strcmp(plain + length - 3, ".wl") == 0)
        plain[length - 3] = '\0';
    char *workload = fit_for_name(plain, "workload");
    char *called = res_history_machine(&result->machine), *machine = fit_for_name(called, "machine");
    char *name = res_printf("%s%s.%s.%s%s.json", workload, more, machine, date, again);
    free(plain);
    free(called);
    free(workload);
    free(machine);
    return name;
}
