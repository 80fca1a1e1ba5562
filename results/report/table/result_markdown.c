/* result_markdown.c - a result as Markdown for documents and as CSV for programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/figures/pareto.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/csv.h"
#include "results/report/grid/escape.h"
#include "results/report/notes/deploy.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_number(struct res_text *text, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    res_text_add(text, ",", 1);
    if (json_is_number(value))
        res_csv_value(text, value);
}

static void csv_real(struct res_text *text, double value)
{
    res_text_add(text, ",", 1);
    res_csv_real(text, value);
}

/* One field, names parted by blanks: no candidate's name has any. "-": unbeaten, empty: not compared. */
static void csv_beaten_by(struct res_text *text, const json_t *names)
{
    struct res_text field = {0};
    size_t index;
    json_t *name;
    json_array_foreach(names, index, name)
    {
        res_text_printf(&field, "%s%s", index > 0 ? " " : "", json_string_value(name));
    }
    res_text_add(text, ",", 1);
    res_csv_text(text, field.text != NULL ? field.text : json_is_array(names) ? "-" : "");
    free(field.text);
}

static void csv_entry(struct res_text *text, const json_t *workload, const json_t *entry, const char *role,
                      const json_t *beaten_by)
{
    static const char *const time_keys[] = {
        "quiet_ns_per_op", "typical_ns_per_op", "typical_ns_per_op_deviation",
        "ratio",           "ratio_low",         "ratio_high"};
    static const char *const resident_keys[] = {"peak_bytes",     "mean_bytes", "end_bytes",
                                                "idle_bytes",     "peak_ratio", "peak_ratio_low",
                                                "peak_ratio_high"};
    const json_t *time = json_object_get(entry, "time");
    const json_t *resident = json_object_get(entry, "resident");
    res_csv_text(text, json_string_value(json_object_get(workload, "name")));
    res_text_printf(text, ",%s,", role);
    res_csv_text(text, json_string_value(json_object_get(entry, "name")));
    res_text_add(text, ",", 1);
    res_csv_text(text, json_string_value(json_object_get(entry, "version")));
    csv_number(text, workload, "ops");
    csv_number(text, workload, "rounds");
    for (size_t i = 0; i < sizeof time_keys / sizeof time_keys[0]; i++)
        csv_number(text, time, time_keys[i]);
    res_text_add(text, ",", 1);
    res_csv_text(text, json_string_value(json_object_get(time, "verdict")));
    for (size_t i = 0; i < sizeof resident_keys / sizeof resident_keys[0]; i++)
        csv_number(text, resident, resident_keys[i]);
    res_text_add(text, ",", 1);
    res_csv_text(text, json_string_value(json_object_get(resident, "peak_verdict")));
    res_text_add(text, ",", 1);
    res_csv_text(text, json_string_value(json_object_get(entry, "failed")));
    csv_number(text, json_object_get(entry, "latency"), "p99_ns");
    csv_number(text, json_object_get(entry, "latency"), "p99_9_ns");
    csv_number(text, json_object_get(entry, "system_calls"), "total");
    csv_number(text, json_object_get(entry, "placement"), "tlb_misses_per_object");
    csv_number(text, json_object_get(entry, "placement"), "page_bytes_per_byte");
    csv_number(text, json_object_get(entry, "placement"), "line_bytes_per_byte");
    csv_real(text, res_entry_blow_up(workload, entry));
    csv_real(text, res_entry_faults(entry));
    csv_beaten_by(text, beaten_by);
    res_text_add(text, "\n", 1);
}

char *res_table_csv(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    struct res_text text = {0};
    size_t index, place;
    json_t *workload, *candidate;
    res_text_printf(&text,
                    "workload,role,candidate,version,ops,rounds,quiet_ns_per_op,typical_ns_per_op,"
                    "typical_ns_per_op_deviation,ratio,ratio_low,ratio_high,verdict,peak_bytes,mean_bytes,"
                    "end_bytes,idle_bytes,peak_ratio,peak_ratio_low,peak_ratio_high,peak_verdict,failed,"
                    "latency_p99_ns,latency_p99_9_ns,system_calls,tlb_misses_per_object,page_bytes_per_byte,"
                    "line_bytes_per_byte,blow_up,faults_minor,beaten_by\n");
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        const json_t *floor = json_object_get(workload, "floor");
        json_t *pareto = res_pareto(workload);
        json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
        {
            csv_entry(&text, workload, candidate, "candidate", json_array_get(pareto, place));
        }
        csv_entry(&text, workload, json_object_get(workload, "control"), "control", NULL);
        if (json_is_object(floor))
            csv_entry(&text, workload, floor, "floor", NULL);
        json_decref(pareto);
    }
    return text.text;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static double md_value(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void md_ns(struct res_text *text, double value)
{
    if (isfinite(value))
        res_text_printf(text, " %.2f |", value);
    else
        res_text_printf(text, " - |");
}

static void md_percent(struct res_text *text, const json_t *object, const char *ratio, const char *low,
                       const char *high, const char *verdict)
{
    const double values[] = {md_value(object, ratio), md_value(object, low), md_value(object, high)};
    const char *word = json_string_value(json_object_get(object, verdict));
    if (isfinite(values[0]) && isfinite(values[1]) && isfinite(values[2]))
        res_text_printf(text, " %+.1f %% (%+.1f to %+.1f), ", (values[0] - 1) * 100, (values[1] - 1) * 100,
                        (values[2] - 1) * 100);
    else if (isfinite(values[0]))
        res_text_printf(text, " %+.1f %%, ", (values[0] - 1) * 100);
    else
        res_text_printf(text, " ");
    res_markdown_add(text, word);
    res_text_printf(text, " |");
}

static void md_bytes(struct res_text *text, double bytes)
{
    char words[32];
    res_text_printf(text, " %s |", isfinite(bytes) ? fp_text_bytes(bytes, words) : "-");
}

/* What a workload's table has; the first line and all others are made from it. */
struct md_table {
    const json_t *workload;
    const char *baseline;
    json_t *pareto;
    bool has_latency;
};

static void md_memory(struct res_text *text, const struct md_table *table, const json_t *candidate)
{
    const json_t *resident = json_object_get(candidate, "resident");
    const char *clock = json_string_value(json_object_get(resident, "clock"));
    md_bytes(text, md_value(resident, "peak_bytes"));
    if (json_is_string(json_object_get(candidate, "failed")))
        res_text_printf(text, " - |");
    else if (strcmp(json_string_value(json_object_get(candidate, "name")), table->baseline) == 0)
        res_text_printf(text, " baseline |");
    else if (clock != NULL && strcmp(clock, "recorded") == 0 &&
             json_is_false(json_object_get(resident, "predicted")))
        res_text_printf(text, " not predicted |");
    else
        md_percent(text, resident, "peak_ratio", "peak_ratio_low", "peak_ratio_high", "peak_verdict");
    md_bytes(text, md_value(resident, "mean_bytes"));
    md_bytes(text, md_value(resident, "end_bytes"));
    md_bytes(text, md_value(resident, "idle_bytes"));
    res_text_printf(text, " %s |", RES_FACTOR(res_entry_blow_up(table->workload, candidate)));
    res_text_printf(text, " %s |", RES_NUMBER(res_entry_faults(candidate)));
}

static void md_candidate(struct res_text *text, const struct md_table *table, size_t place,
                         const json_t *candidate)
{
    const char *baseline = table->baseline;
    const json_t *time = json_object_get(candidate, "time");
    const json_t *latency = json_object_get(candidate, "latency");
    const char *name = json_string_value(json_object_get(candidate, "name"));
    res_text_printf(text, "| ");
    res_markdown_add(text, name);
    if (res_pareto_is_unbeaten(table->pareto, place))
        res_text_printf(text, " \\*");
    res_text_printf(text, " | ");
    res_markdown_add(text, json_string_value(json_object_get(candidate, "version")));
    res_text_printf(text, " |");
    md_ns(text, md_value(time, "quiet_ns_per_op"));
    md_ns(text, md_value(time, "typical_ns_per_op"));
    if (json_is_string(json_object_get(candidate, "failed")))
        res_text_printf(text, " failed |");
    else if (strcmp(name, baseline) == 0)
        res_text_printf(text, " baseline |");
    else
        md_percent(text, time, "ratio", "ratio_low", "ratio_high", "verdict");
    if (table->has_latency) {
        md_ns(text, md_value(latency, "p99_ns"));
        md_ns(text, md_value(latency, "p99_9_ns"));
    }
    md_memory(text, table, candidate);
    res_text_printf(text, "\n");
}

static void md_heads(struct res_text *text, const struct md_table *table)
{
    res_text_printf(text, "| candidate | version | ns/op quiet | ns/op typical | time against ");
    res_markdown_add(text, table->baseline);
    res_text_printf(text, " (95 %%) |%s resident peak | peak against ",
                    table->has_latency ? " p99, ns | p99.9, ns |" : "");
    res_markdown_add(text, table->baseline);
    res_text_printf(text, " (95 %%) | mean | end | idle | peak over live | page faults |\n");
    res_text_printf(text,
                    "| --- | --- | ---: | ---: | --- |%s ---: | --- | ---: | ---: | ---: | ---: | ---: |\n",
                    table->has_latency ? " ---: | ---: |" : "");
}

static void md_table(struct res_text *text, const char *baseline, const json_t *workload)
{
    struct md_table table = {.workload = workload, .baseline = baseline, .pareto = res_pareto(workload)};
    bool any_unbeaten = false;
    size_t place;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
    {
        table.has_latency = table.has_latency || json_is_object(json_object_get(candidate, "latency"));
        any_unbeaten = any_unbeaten || res_pareto_is_unbeaten(table.pareto, place);
    }
    md_heads(text, &table);
    json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
    {
        md_candidate(text, &table, place, candidate);
    }
    res_text_printf(text, "\n");
    if (any_unbeaten)
        res_text_printf(text, "\\* %s\n\n", RES_PARETO_LEGEND);
    json_decref(table.pareto);
}

/* No mark of Markdown counts in a block of code, and what begins a line of it is the name of a variable. */
static void md_deploy(struct res_text *text, const json_t *result, const json_t *workload)
{
    json_t *advised = res_deploy_advised(result, workload), *row;
    size_t index;
    json_array_foreach(advised, index, row)
    {
        res_text_printf(text, "\nTo paste, ");
        res_markdown_add(text, json_string_value(json_object_get(row, "name")));
        res_text_printf(text, ":\n\n```sh\n%s\n```\n", json_string_value(json_object_get(row, "line")));
    }
    json_decref(advised);
}

char *res_table_markdown(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    struct res_text text = {0};
    const char *baseline = json_string_value(json_object_get(result, "baseline"));
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        char digits[32];
        char *advice = res_advice(result, workload);
        res_text_printf(&text, "%s### ", index > 0 ? "\n" : "");
        char *program = res_workload_program(workload);
        res_markdown_add(&text, json_string_value(json_object_get(workload, "name")));
        if (program != NULL) {
            res_text_printf(&text, " (");
            res_markdown_add(&text, program);
            res_text_printf(&text, ")");
        }
        free(program);
        char *incomplete = res_incomplete_words(workload);
        if (incomplete != NULL) {
            res_text_printf(&text, "\n\n**Incomplete**: ");
            res_markdown_add(&text, incomplete);
        }
        free(incomplete);
        res_text_printf(
            &text, "\n\n%s ops, %lld rounds\n\n",
            fp_text_grouped((unsigned long long)json_integer_value(json_object_get(workload, "ops")), digits),
            (long long)json_integer_value(json_object_get(workload, "rounds")));
        md_table(&text, baseline, workload);
        res_markdown_add(&text, advice);
        res_text_printf(&text, "\n");
        md_deploy(&text, result, workload);
        free(advice);
    }
    return text.text != NULL ? text.text : res_strdup("\n");
}
