/* notes.h - the lines around a table: what was replayed, what the figures rest on, what is missing, what to do. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOTES_H
#define MALLAB_RESULTS_REPORT_NOTES_NOTES_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/base/support.h"
#include "results/report/table/table.h"

#define RES_START_MATTERS 0.02

/* res_notes_head - the lines above the table, and an empty one: what was replayed, and what its recording lacks.
 * res_incomplete_words - the latter as one sentence, plain, the caller's to free; NULL where it lacks nothing. */
void res_notes_head(struct res_text *text, const json_t *workload);
char *res_incomplete_words(const json_t *workload);

/* res_notes_foot - the lines below the table, none wider than RES_TABLE_COLUMNS where words allow: the advice, the
 * noise, what the figures rest on and what is doubtful about them; with style->details also what explains them.
 * is_last  also what holds for all workloads of the result: said once, with the last. */
void res_notes_foot(struct res_text *text, const json_t *result, const json_t *workload,
                    const struct res_style *style, bool is_last);

/* res_notes_counters - the processor's counters per op, or why there are none. */
void res_notes_counters(struct res_text *text, const json_t *workload);

/* res_notes_placement - what of the program's own speed the time figures leave out: how well objects lie.
 * Nothing where there was no such pass. */
void res_notes_placement(struct res_text *text, const json_t *workload);

/* res_notes_misaligned - who handed out addresses that break a promise, as the placement pass saw. Nothing where nobody did. */
void res_notes_misaligned(struct res_text *text, const json_t *workload);

/* res_notes_passes - what the passes of passes.h found: nothing where there were none.
 * res_notes_binding - processors and priority, where they are not what they are by default.
 * res_notes_disturbances - what disturbed, each kind as it was seen last; remedies are in the warnings and the JSON. */
void res_notes_passes(struct res_text *text, const json_t *workload);
void res_notes_binding(struct res_text *text, const json_t *workload);
void res_notes_disturbances(struct res_text *text, const json_t *result);

/* res_notes_unproven - settings that passed without proof, by candidate. Nothing where there are none.
 * res_unproven_words - the same as one sentence: plain, the caller's to free; NULL where there are none. */
void res_notes_unproven(struct res_text *text, const json_t *workload);
char *res_unproven_words(const json_t *workload);

/* res_notes_why - "NAME: WHAT WHY": the name of an entry (candidate, point), and the reason that an object states at a key.
 * what  "" or words with a blank behind them. Nothing is added where the object states none. */
void res_notes_why(struct res_text *text, const char *label, const json_t *entry, const char *what,
                   const json_t *object, const char *key);

/* notes_memory.c:
 * res_notes_memory - what a peak below the live bytes is; on which clock resident memory was measured; without details only where it was not the recorded
 * one. Results of before say nothing.
 * res_notes_idle - what is left after a rest.
 * res_notes_start - who holds more than the baseline before the first call, where that is RES_START_MATTERS of the baseline's
 * peak or more: it is in no other figure.
 * res_start_words - the same as one sentence: plain, the caller's to free; NULL where nobody does.
 * res_notes_end - that the recording ends with little live: then end and idle are of a program that was torn down.
 * res_end_words - the same as one sentence: plain, the caller's to free; NULL where more is live, or nothing tells.
 * res_notes_unpredicted - of whom it does not predict the program's, and why. */
void res_notes_memory(struct res_text *text, const json_t *result, const json_t *workload, bool details);
void res_notes_idle(struct res_text *text, const json_t *result, const json_t *workload);
void res_notes_start(struct res_text *text, const json_t *result, const json_t *workload);
char *res_start_words(const json_t *result, const json_t *workload);
void res_notes_end(struct res_text *text, const json_t *workload);
char *res_end_words(const json_t *workload);
void res_notes_unpredicted(struct res_text *text, const json_t *workload);

#endif
