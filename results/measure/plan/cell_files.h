/* cell_files.h - what lies in a plan's cells/: results as they come in, from several nodes at once.
 *
 *   17.json             the result of cell 17: whole, and never replaced. Its maker writes a temporary beside it, then links
 *                       it to this name, so that of two copies of a cell one is kept
 *   17.why              why the last try of cell 17 left no result: one line. Replaced by the next; void once the result is there
 *   17.json.HEX         a temporary, of a maker that is at work or was killed; likewise 17.why.HEX
 *
 * The directory may be shared: what is read there is ours or root's, and nobody else may write to it. */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_CELL_FILES_H
#define MALLAB_RESULTS_MEASURE_PLAN_CELL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/status.h"

enum res_cell_file { RES_CELL_OTHER, RES_CELL_RESULT, RES_CELL_WHY, RES_CELL_TEMPORARY };

/* res_cell_file_of - what a name in cells/ is. ret_cell: the cell's number, unless it is none of these. */
enum res_cell_file res_cell_file_of(const char *name, uint64_t *ret_cell);

/* res_cells_open - cells/ of a plan's directory, through the door (footprint/base/trusted.h); make: made where it is not there.
 * Returns  a descriptor, the caller's to close; -1 with ret_problem, the caller's to free. */
int res_cells_open(int directory, bool make, char **ret_problem);

/* res_cell_open - the result of a cell, to be read. One that has its temporary's name still is as good.
 * Returns  a descriptor, the caller's to close; -1 with ret_error (FP_ERR_OPEN with ENOENT: it is not there). */
int res_cell_open(int cells, uint64_t cell, struct fp_error *ret_error);

enum res_cell_outcome {
    RES_CELL_PUBLISHED,
    RES_CELL_WAS_THERE, /* another copy was first: this one is dropped */
    RES_CELL_FAILED,
};

/* res_cell_publish - make a text the result of a cell, unless there is one.
 * ret_problem  one line, the caller's to free, on RES_CELL_FAILED: nothing is published then. */
enum res_cell_outcome res_cell_publish(int cells, uint64_t cell, const char *text, size_t length,
                                       char **ret_problem);

/* res_cell_why - why there is no result: a plain line such as "other programs used 60 % of processor time (exit 75 on n1,
 *   try 2)"; NULL: nobody said. The caller's to free.
 * res_cell_set_why - say it. What cannot be written is left unsaid: stderr has it too.
 * res_cell_tries - how many tries have left none. */
char *res_cell_why(int cells, uint64_t cell);
void res_cell_set_why(int cells, uint64_t cell, int code, const char *cause);
uint64_t res_cell_tries(int cells, uint64_t cell);

/* res_node_name - what this machine calls itself, plain. The caller's to free. */
char *res_node_name(void);

#endif
