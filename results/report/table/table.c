/* table.c - the table of a result: as text, for documents and for programs. */
#include "results/report/table/table.h"

#include <stdlib.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/figures/pareto.h"
#include "results/report/grid/escape.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/result_columns.h"

static bool any_unbeaten(const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++) {
        if (res_is_unbeaten(workload, i))
            return true;
    }
    return false;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void add_table(struct res_text *text, const struct res_result *result,
                      const struct res_result_workload *workload, const struct res_style *style)
{
    struct res_text left_out = {0};
    for (enum res_block block = RES_BLOCK_TIME; block <= RES_BLOCK_MEMORY; block++) {
        struct res_grid grid;
        res_columns_fill(&grid, result, workload, block, style->utf8);
        if (block == RES_BLOCK_MEMORY)
            res_text_add(text, "\n", 1);
        res_grid_text(&grid, style, text);
        char *names = res_grid_left_out(&grid);
        if (names != NULL)
            res_text_printf(&left_out, "%s%s", left_out.length > 0 ? ", " : "", names);
        free(names);
        res_grid_release(&grid);
    }
    if (any_unbeaten(workload))
        res_text_printf(text, "* %s\n", RES_PARETO_LEGEND);
    if (left_out.length > 0) {
        res_text_printf(&left_out, ", for want of room: --format md and --json have all");
        res_lines_add(text, "left out", left_out.text);
    }
    free(left_out.text);
}

char *res_table_text(const struct res_result *result, const struct res_style *style)
{
    struct res_text text = {0};
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        if (i > 0)
            res_text_add(&text, "\n", 1);
        res_notes_head(&text, workload);
        add_table(&text, result, workload, style);
        res_text_add(&text, "\n", 1);
        res_notes_text(&text, workload->notes, workload->note_count, style->details, NULL);
    }
    if (result->workload_count > 0)
        res_notes_text(&text, result->notes, result->note_count, style->details, NULL);
    if (!style->details)
        res_notes_more(&text, result);
    return text.text != NULL ? text.text : res_strdup("no workload was replayed\n");
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void md_head(struct res_text *text, const struct res_result_workload *workload)
{
    char *program = res_notes_program(workload);
    res_text_printf(text, "### ");
    res_markdown_add(text, workload->name);
    if (program != NULL) {
        res_text_printf(text, " (");
        res_markdown_add(text, program);
        res_text_printf(text, ")");
    }
    res_text_printf(text, "\n\n%s ops, %llu rounds", FP_GROUPED(workload->ops),
                    (unsigned long long)workload->rounds);
    const char *lacks = res_notes_recorded(workload);
    if (lacks != NULL) {
        res_text_printf(text, "; ");
        res_markdown_add(text, lacks);
    }
    res_text_printf(text, "\n\n");
    free(program);
}

static void md_workload(struct res_text *text, const struct res_result *result,
                        const struct res_result_workload *workload)
{
    struct res_grid grid;
    md_head(text, workload);
    res_columns_fill(&grid, result, workload, RES_BLOCK_BOTH, true);
    res_grid_markdown(&grid, text);
    res_grid_release(&grid);
    res_text_printf(text, "\n");
    if (any_unbeaten(workload))
        res_text_printf(text, "\\* %s\n\n", RES_PARETO_LEGEND);
    res_notes_markdown(text, workload->notes, workload->note_count);
}

char *res_table_markdown(const struct res_result *result)
{
    struct res_text text = {0};
    for (size_t i = 0; i < result->workload_count; i++) {
        if (i > 0)
            res_text_printf(&text, "\n");
        md_workload(&text, result, &result->workloads[i]);
    }
    res_notes_markdown(&text, result->notes, result->note_count);
    return text.text != NULL ? text.text : res_strdup("\n");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

char *res_table_csv(const struct res_result *result)
{
    struct res_text text = {0};
    struct res_grid grid;
    res_columns_csv(&grid, result);
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}
