/* verify_answer.c - the answer of `mallab info --verify`, as text and as JSON. */
#include "cli/describe/verify_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/json_bounds.h"
#include "convert/import/formats.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/json_values.h"

#define FIGURES 7

struct figure {
    const char *name;
    uint64_t value;
};

/* The figures of the parts that were looked at. Returns how many there are. */
static size_t figures_of(const struct conv_verdict *verdict, struct figure ret_figures[FIGURES])
{
    const struct figure workload[] = {{"ops", verdict->ops},
                                      {"windows", verdict->windows},
                                      {"threads", verdict->threads},
                                      {"allocations", verdict->allocations},
                                      {"waits", verdict->waits}};
    const struct figure recorded[] = {{"events", verdict->events},
                                      {"threads", verdict->threads},
                                      {"processes", verdict->processes},
                                      {"ordered_epochs", verdict->groups}};
    const bool is_workload = verdict->kind == CONV_KIND_WORKLOAD || verdict->kind == CONV_KIND_TEXT;
    const size_t count = is_workload ? sizeof workload / sizeof workload[0]
                                     : sizeof recorded / sizeof recorded[0];
    for (size_t i = 0; i < count; i++)
        ret_figures[i] = is_workload ? workload[i] : recorded[i];
    return count;
}

static void print_place(const struct conv_verdict *verdict)
{
    const struct conv_violation *violation = &verdict->violation;
    if (violation->has_op)
        printf("op              %" PRIu64 ", number %" PRIu64 " of its window\n", violation->op,
               violation->op_in_window);
    if (violation->has_window)
        printf("window          %" PRIu64 "\n", violation->window);
    if (violation->line > 0)
        printf("line            %" PRIu64 "\n", violation->line);
    if (violation->offset > 0)
        printf("offset          %" PRIu64 "\n", violation->offset);
}

void cli_verdict_print(const struct conv_verdict *verdict)
{
    struct figure figures[FIGURES];
    const size_t count = figures_of(verdict, figures);
    char *file = res_text_plain(verdict->file);
    char digits[32];
    if (verdict->violation.fault == CONV_FAULT_NONE) {
        printf("legal\n");
        for (size_t i = 0; i < count; i++)
            printf("%-16s%s\n", figures[i].name, fp_text_grouped(figures[i].value, digits));
    } else {
        printf("not legal: %s\n", verdict->violation.what);
        printf("kind            %s\n", conv_fault_name(verdict->violation.fault));
        print_place(verdict);
        printf("file            %s\n", file);
    }
    free(file);
}

static json_t *violation_json(const struct conv_violation *violation)
{
    json_t *object = json_object();
    cli_json_set(object, "kind", conv_fault_name(violation->fault));
    cli_json_set(object, "what", res_json_text(violation->what));
    cli_json_set(object, "window", violation->has_window ? cli_json_number(violation->window) : json_null());
    cli_json_set(object, "op", violation->has_op ? cli_json_number(violation->op) : json_null());
    cli_json_set(object, "op_in_window",
                 violation->has_op ? cli_json_number(violation->op_in_window) : json_null());
    cli_json_set(object, "offset_bytes", violation->offset);
    cli_json_set(object, "line", cli_json_known(violation->line));
    return object;
}

json_t *cli_verdict_json(const struct conv_verdict *verdict)
{
    const bool legal = verdict->violation.fault == CONV_FAULT_NONE;
    struct figure figures[FIGURES];
    const size_t count = figures_of(verdict, figures);
    json_t *object = json_object(), *verify = json_object(), *checked = json_object();
    for (size_t i = 0; i < count; i++)
        cli_json_set(checked, figures[i].name, figures[i].value);
    cli_json_set(verify, "legal", legal);
    cli_json_set(verify, "checked", checked);
    cli_json_set(verify, "violation", legal ? json_null() : violation_json(&verdict->violation));
    cli_json_set(object, "schema", "mallab-info/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "kind", conv_kind_name(verdict->kind));
    cli_json_set(object, "file", res_json_text(verdict->file));
    cli_json_set(object, "verify", verify);
    return object;
}
