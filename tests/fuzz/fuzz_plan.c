/* fuzz_plan.c - any bytes as a plan's manifest: refused with one line, or a plan whose rows keep every promise of its header, and
 * that reads again as it is written. And as a name in cells/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/label.h"
#include "footprint/base/support.h"
#include "fuzz/target.h"
#include "results/measure/plan/cell_files.h"
#include "results/measure/plan/manifest.h"

static void check_row(const struct res_plan *plan, const struct res_plan_row *row)
{
    FUZZ_CHECK(fp_label_is_valid(row->label));
    FUZZ_CHECK(row->workload[0] != '\0' && row->workload[0] != '/' && row->workload[0] != '.');
    FUZZ_CHECK(strstr(row->workload, "/.") == NULL && strpbrk(row->workload, "\n\t\x1b") == NULL);
    FUZZ_CHECK(row->rounds > 0 && row->rounds <= 1000 && row->block < RES_PLAN_BLOCKS_MAX);
    FUZZ_CHECK(row->share > 0 && row->share < 1.1);
    FUZZ_CHECK(plan->row_count <= RES_PLAN_ROWS_MAX);
}

static void check_again(struct res_plan *plan)
{
    struct res_plan again;
    char *problem = NULL, *text = res_plan_text(plan);
    FUZZ_CHECK(res_plan_parse(text, strlen(text), &again, &problem));
    FUZZ_CHECK(again.row_count == plan->row_count && strcmp(again.digest, plan->digest) == 0);
    res_plan_release(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct res_plan plan;
    char *problem = NULL, *name = res_strndup((const char *)bytes, size);
    uint64_t cell = 0;
    if (res_cell_file_of(name, &cell) == RES_CELL_OTHER)
        FUZZ_CHECK(cell == 0);
    free(name);
    if (res_plan_parse((const char *)bytes, size, &plan, &problem)) {
        FUZZ_CHECK(problem == NULL && plan.row_count > 0 && plan.candidate_count > 0);
        FUZZ_CHECK(strcmp(plan.candidates[0].name, plan.baseline) == 0 && plan.load_percent <= 100);
        for (size_t i = 0; i < plan.row_count; i++)
            check_row(&plan, &plan.rows[i]);
        check_again(&plan);
        res_plan_release(&plan);
    } else {
        FUZZ_CHECK(problem != NULL && strchr(problem, '\n') == NULL && plan.rows == NULL);
        free(problem);
    }
    return 0;
}
