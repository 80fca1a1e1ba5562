/* notes.h - the lines around a table: what was replayed, what the figures rest on, what is missing, what to do. */
#ifndef MALLAB_RESULTS_NOTES_H
#define MALLAB_RESULTS_NOTES_H

#include <jansson.h>
#include <stdbool.h>

#include "results/support.h"

/* res_notes_head - the line above the table, and an empty one. */
void res_notes_head(struct res_text *text, const json_t *workload);

/* res_notes_foot - the lines below the table, the advice last, none wider than RES_TABLE_COLUMNS where words allow.
 * is_last  also what holds for all workloads of the result: said once, with the last. */
void res_notes_foot(struct res_text *text, const json_t *result, const json_t *workload, bool is_last);

/* res_notes_counters - the processor's counters per op, or why there are none. */
void res_notes_counters(struct res_text *text, const json_t *workload);

/* res_notes_placement - what of the program's own speed the time figures leave out: how well objects lie.
 * Nothing where there was no such pass. */
void res_notes_placement(struct res_text *text, const json_t *workload);

/* res_notes_passes - what the passes of passes.h found, and the binding: nothing where there were none.
 * res_notes_disturbances - a line for each. */
void res_notes_passes(struct res_text *text, const json_t *workload);
void res_notes_disturbances(struct res_text *text, const json_t *result);

/* res_notes_add - a label, and words up to the last column, following lines indented below the first. words: plain. */
void res_notes_add(struct res_text *text, const char *label, const char *words);

/* res_notes_memory - on which clock resident memory was measured, what is left after a rest, and of whom it does not
 * predict the program's (notes_memory.c). Results of before say nothing. */
void res_notes_memory(struct res_text *text, const json_t *result, const json_t *workload);

#endif
