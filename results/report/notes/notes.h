/* notes.h - the lines around a table as data: what was replayed, what the figures rest on, what is missing, what to do.
 *
 * A note is made once from the members of a result (result.h), kept in its JSON, and printed alike by table, Markdown
 * and page, in the order in which it stands there. It is worth a line where a reader does something with it; what only
 * explains a figure has `details`. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOTES_H
#define MALLAB_RESULTS_REPORT_NOTES_NOTES_H

#include "footprint/base/support.h"
#include "results/measure/result/result.h"

#define RES_VERDICT_LABEL "verdict" /* of the lines that answer */

/* res_notes_fill - make the notes of a result and of its workloads. Those that it had are dropped: the words follow from
 * the figures, and a file from anywhere is not to put words into our mouth, least of all commands to paste. So are the verdicts (verdict.h). */
void res_notes_fill(struct res_result *result);

/* res_notes_fleet - make those of a fleet, likewise. res_notes_fill makes a result's fleet anew, with its notes. */
void res_notes_fleet(struct res_fleet *fleet);

/* res_notes_tried - the candidates that the verdict names as worth it, each once.
 * Of a result with its verdicts (verdict.h). Returns how many. */
#define RES_TRIED_MAX 3u /* the best of time, of the peak, at rest */
size_t res_notes_tried(const struct res_result_workload *workload,
                       const struct res_result_entry *ret_entries[RES_TRIED_MAX]);

/* res_notes_details - a line for each note that is told where details are asked for, none wider than RES_TABLE_COLUMNS where words allow it. */
void res_notes_details(struct res_text *text, const struct res_note *notes, size_t count);

/* res_notes_screen - those without details on the screen that answers (table.h): a label has one line, the verdict two.
 * command  behind what is to be pasted; NULL: not known.
 * details  each has all its lines. */
void res_notes_screen(struct res_text *text, const struct res_note *notes, size_t count, const char *command,
                      bool details);

/* res_notes_markdown - the same without details: a list, and what is to be pasted as a block of code. */
void res_notes_markdown(struct res_text *text, const struct res_note *notes, size_t count);

/* res_notes_recorded - what the recording lacks, which is told above a table; NULL: nothing. Borrowed. */
const char *res_notes_recorded(const struct res_result_workload *workload);

/* res_notes_title - a workload's name, and what was recorded where that does not say it: "3.wl (python3)". The caller's to free. */
char *res_notes_title(const struct res_result_workload *workload);

/* res_deploy_line - "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=narenas:1".
 * entry    its library and environment count. The C library's own malloc is in every program already and takes no
 *          LD_PRELOAD.
 * Returns  the caller's to free, fit for a terminal; NULL: nothing is to be set. */
char *res_deploy_line(const struct res_result_entry *entry);

/* res_notes_add_time_share - a share of the program's CPU time, in words: "about 7 %" of the one reading of its recording, or "5-8 %" where a
 * confirmation ran it more often. */
void res_notes_add_time_share(struct res_text *words, const struct res_result_workload *workload,
                              double share);

#endif
