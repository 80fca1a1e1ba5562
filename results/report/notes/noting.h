/* noting.h - how notes are made, for the files of this folder.
 *
 * A maker of notes adds words with res_note_say. What it has said when it returns becomes one note; res_note_end makes a
 * note of what was said so far, for makers of several. A maker that says nothing makes none. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOTING_H
#define MALLAB_RESULTS_REPORT_NOTES_NOTING_H

#include "footprint/base/support.h"
#include "results/measure/result/result.h"

struct res_noting {
    const struct res_result *result;
    const struct res_result_workload *workload; /* NULL: notes on all of the result */
    const char *label;                          /* of the row, as all below */
    int severity;
    bool details;
    struct res_text words;  /* said so far */
    struct res_note *notes; /* made so far */
    size_t count;
};

/* One row of the table of notes. */
struct res_note_row {
    const char *label;
    enum res_severity severity;
    bool details;
    void (*make)(struct res_noting *noting);
};

#define res_note_say(noting, ...) res_text_printf(&(noting)->words, __VA_ARGS__)

void res_note_end(struct res_noting *noting);

/* res_note_end_with - the same, with a detail to copy: taken over. */
void res_note_end_with(struct res_noting *noting, char *detail);

/* RES_EACH_CANDIDATE - a loop over the candidates of a workload. */
#define RES_EACH_CANDIDATE(entry, workload)                                                                  \
    for (const struct res_result_entry *entry = (workload)->candidates;                                      \
         entry < (workload)->candidates + (workload)->candidate_count; entry++)

/* res_note_each - "glibc 12.1, jemalloc -": a figure of every candidate, in the words that `cell` makes of it (figure_words.h). Those of
 * which `figure` says false are left out. Returns whether one has a figure that is known. */
bool res_note_each(struct res_noting *noting,
                   bool (*figure)(const struct res_result_entry *entry, const void *which, double *ret_value),
                   const void *which, const char *(*cell)(double value, char *room));

/* ---- the makers, each for the row of its name in notes.c -------------------------------------- */

/* advice.c: advice, and what is to be pasted */
void res_note_advice(struct res_noting *noting);

/* notes_basis.c: what the figures rest on */
void res_note_noise(struct res_noting *noting);
void res_note_basis(struct res_noting *noting);
void res_note_unsteady(struct res_noting *noting);
void res_note_drift(struct res_noting *noting);
void res_note_outliers(struct res_noting *noting);
void res_note_machine(struct res_noting *noting);

/* notes_memory.c */
void res_note_timed_memory(struct res_noting *noting);
void res_note_clock(struct res_noting *noting);
void res_note_below(struct res_noting *noting);
void res_note_idle(struct res_noting *noting);
void res_note_waste(struct res_noting *noting);
void res_note_limit(struct res_noting *noting);
void res_note_start(struct res_noting *noting);
void res_note_end_of_run(struct res_noting *noting);
void res_note_unpredicted(struct res_noting *noting);
void res_note_live(struct res_noting *noting);

/* res_is_torn_down - whether a recording ends with little of what was live at its peak. */
bool res_is_torn_down(const struct res_result_workload *workload);

/* notes_passes.c */
void res_note_latency_failed(struct res_noting *noting);
void res_note_latency(struct res_noting *noting);
void res_note_p99(struct res_noting *noting);
void res_note_p99_9(struct res_noting *noting);
void res_note_calls(struct res_noting *noting);
void res_note_system_calls(struct res_noting *noting);
void res_note_placement(struct res_noting *noting);
void res_note_misaligned(struct res_noting *noting);
void res_note_counters(struct res_noting *noting);
void res_note_processes(struct res_noting *noting);

#endif
