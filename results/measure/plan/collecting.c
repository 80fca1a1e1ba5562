/* collecting.c - see collecting.h. */
#include "results/measure/plan/collecting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/fleet/fleet.h"
#include "results/measure/plan/cell.h"
#include "results/measure/plan/cell_files.h"
#include "results/measure/plan/manifest.h"
#include "results/measure/result/result.h"

struct res_collecting {
    struct res_plan plan;
    int cells; /* -1: no cell has come back yet */
    uint64_t next;
    struct res_fleet_input *input;
    struct res_fleet_missing *missing;
    size_t missing_count;
    struct res_fleet_left left;
};

bool res_is_plan(const char *path)
{
    char *manifest = res_path_join(path, RES_PLAN_MANIFEST);
    const bool is_plan = access(manifest, F_OK) == 0;
    free(manifest);
    return is_plan;
}

/* ---- what is no cell's result ----------------------------------------------------------------- */

/* Of names only: what is in a cell's own file is seen when it is taken. */
static void count_left(struct res_collecting *collecting)
{
    const int fd = openat(collecting->cells, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL) {
        if (fd >= 0)
            (void)close(fd); /* only read from */
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint64_t cell = 0;
        const enum res_cell_file kind = res_cell_file_of(entry->d_name, &cell);
        collecting->left.temporary += kind == RES_CELL_TEMPORARY;
        collecting->left.doubled += (kind == RES_CELL_OTHER && fp_has_ending(entry->d_name, ".json")) ||
                                    (kind == RES_CELL_RESULT && cell >= collecting->plan.row_count);
    }
    (void)closedir(directory); /* only read from */
}

/* ---- beginning ------------------------------------------------------------------------------ */

static int weights_of(const struct res_plan *plan)
{
    int weights = RES_WEIGHTS_HOSTS;
    for (int i = 0; RES_FLEET_WEIGHTS[i] != NULL; i++)
        weights = strcmp(RES_FLEET_WEIGHTS[i], plan->weights) == 0 ? i : weights;
    return weights;
}

static struct res_fleet_input *input_of(const struct res_plan *plan)
{
    const char **names = res_calloc(plan->candidate_count, sizeof *names);
    for (size_t i = 0; i < plan->candidate_count; i++)
        names[i] = plan->candidates[i].name;
    const struct res_fleet_asked asked = {.candidates = names,
                                          .candidate_count = plan->candidate_count,
                                          .weights = weights_of(plan),
                                          .all_hosts = plan->all_hosts};
    struct res_fleet_input *input = res_fleet_begin(&asked);
    free(names);
    return input;
}

struct res_collecting *res_collecting_begin(const char *directory, char **ret_problem)
{
    struct res_plan plan;
    int fd = -1;
    if (!res_plan_load(directory, &plan, &fd, ret_problem))
        return NULL;
    struct res_collecting *collecting = res_calloc(1, sizeof *collecting);
    char *problem = NULL;
    collecting->plan = plan;
    collecting->input = input_of(&plan);
    collecting->cells = res_cells_open(fd, false, &problem);
    const bool is_none = collecting->cells < 0 && faccessat(fd, "cells", F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    (void)close(fd); /* only read from */
    if (collecting->cells < 0 && !is_none) {
        *ret_problem = problem;
        res_collecting_finish(collecting, NULL);
        return NULL;
    }
    free(problem);
    if (collecting->cells >= 0)
        count_left(collecting);
    return collecting;
}

/* ---- one cell ------------------------------------------------------------------------------- */

/* Takes over the cause. */
static void miss(struct res_collecting *collecting, uint64_t cell, char *cause)
{
    const struct res_plan_row *row = &collecting->plan.rows[cell];
    const size_t count = collecting->missing_count;
    if ((count & (count - 1)) == 0) /* full at powers of two */
        collecting->missing = res_realloc(collecting->missing, count > 0 ? 2 * count : 1,
                                          sizeof *collecting->missing);
    const char *slash = strrchr(row->workload, '/');
    collecting->missing[collecting->missing_count++] = (struct res_fleet_missing){
        .cell = cell,
        .label = res_strdup(row->label),
        .workload = res_strdup(slash != NULL ? slash + 1 : row->workload),
        .cause = cause,
    };
}

/* What a result says of the cell that it is. */
static char *strangeness_of(const struct res_plan *plan, uint64_t cell, const struct res_result *result)
{
    const struct res_plan_row *row = &plan->rows[cell];
    const struct res_result_cell *told = result->cell;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, row->file_digest);
    if (told == NULL)
        return res_strdup("its file is a result of no cell");
    if (told->plan == NULL || strcmp(told->plan, plan->digest) != 0)
        return res_printf("its file is of another plan (%.32s)", told->plan != NULL ? told->plan : "none");
    if (told->id != cell)
        return res_printf("its file is of cell %" PRIu64, told->id);
    if (told->label == NULL || strcmp(told->label, row->label) != 0 || told->block != row->block)
        return res_printf("its file is of '%.60s', block %" PRIu64, told->label != NULL ? told->label : "",
                          told->block);
    if (result->workload_count != 1 || result->workloads[0].file_digest == NULL ||
        strcmp(result->workloads[0].file_digest, digest) != 0)
        return res_strdup("its file is of another workload");
    char *lacks = res_cell_incomplete(result, row);
    char *words = lacks != NULL ? res_printf("its file is no whole cell: %s", lacks) : NULL;
    free(lacks);
    return words;
}

static void take_result(struct res_collecting *collecting, uint64_t cell, struct res_result *result)
{
    const struct res_plan_row *row = &collecting->plan.rows[cell];
    char *cause = strangeness_of(&collecting->plan, cell, result);
    if (cause != NULL) {
        miss(collecting, cell, cause);
        return;
    }
    res_entry_figures_complete(result);
    res_verdicts_fill(result);
    const struct res_fleet_cell asked = {.label = row->label, .share = row->share, .block = row->block};
    const enum res_fleet_taken taken = res_fleet_take(collecting->input, &asked, result,
                                                      &result->workloads[0], &cause);
    collecting->left.doubled += taken == RES_FLEET_DOUBLED;
    if (taken == RES_FLEET_REFUSED)
        miss(collecting, cell, cause);
}

static void take_file(struct res_collecting *collecting, uint64_t cell, int fd)
{
    struct res_result result;
    bool is_other = false;
    char *problem = NULL;
    if (res_result_load_fd(fd, "-", &result, &is_other, &problem)) {
        take_result(collecting, cell, &result);
        res_result_release(&result);
        return;
    }
    collecting->left.torn++;
    miss(collecting, cell,
         res_printf("its file cannot be read: %s; remove it, and run the cell again", problem));
    free(problem);
}

static char *cause_of(int cells, uint64_t cell)
{
    char *why = cells >= 0 ? res_cell_why(cells, cell) : NULL;
    return why != NULL ? why : res_strdup("no result yet");
}

static void take_cell(struct res_collecting *collecting, uint64_t cell)
{
    struct fp_error error = {.status = FP_ERR_OPEN, .sys_errno = ENOENT};
    char words[256];
    const int fd = collecting->cells >= 0 ? res_cell_open(collecting->cells, cell, &error) : -1;
    if (fd >= 0) {
        take_file(collecting, cell, fd);
        (void)close(fd); /* only read from */
    } else if (error.status == FP_ERR_OPEN && error.sys_errno == ENOENT) {
        miss(collecting, cell, cause_of(collecting->cells, cell));
    } else {
        char *plain = res_text_plain(fp_error_text(&error, NULL, words, sizeof words));
        miss(collecting, cell, res_printf("its file is not taken: %s", plain));
        free(plain);
    }
}

bool res_collecting_next(struct res_collecting *collecting, uint64_t *ret_done, uint64_t *ret_all)
{
    const bool more = collecting->next < collecting->plan.row_count;
    if (more)
        take_cell(collecting, collecting->next++);
    *ret_done = collecting->next;
    *ret_all = collecting->plan.row_count;
    return more;
}

/* ---- all of them ---------------------------------------------------------------------------- */

void res_collecting_finish(struct res_collecting *collecting, struct res_fleet *ret_fleet)
{
    if (ret_fleet != NULL) {
        res_fleet_finish(collecting->input, ret_fleet);
        ret_fleet->schema = res_strdup(RES_FLEET_SCHEMA);
        ret_fleet->mallab_version = res_strdup(MALLAB_VERSION);
        ret_fleet->missing = collecting->missing;
        ret_fleet->missing_count = collecting->missing_count;
        ret_fleet->left = collecting->left;
        if (strcmp(collecting->plan.selection, "all") != 0)
            ret_fleet->selection = res_strdup(collecting->plan.selection);
        collecting->missing_count = 0;
    }
    for (size_t i = 0; i < collecting->missing_count; i++) {
        free(collecting->missing[i].label);
        free(collecting->missing[i].workload);
        free(collecting->missing[i].cause);
    }
    if (ret_fleet == NULL)
        free(collecting->missing);
    res_fleet_input_free(collecting->input);
    res_plan_release(&collecting->plan);
    if (collecting->cells >= 0)
        (void)close(collecting->cells); /* only read from */
    free(collecting);
}
