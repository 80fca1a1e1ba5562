/* noting.h - how notes are made, for the files of this folder.
 *
 * A maker of notes adds words with say(). What it has said when it returns becomes one note; res_note_end makes a
 * note of what was said so far, for makers of several. A maker that says nothing makes none. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOTING_H
#define MALLAB_RESULTS_REPORT_NOTES_NOTING_H

#include "footprint/base/support.h"
#include "results/measure/result/result.h"

/* Where a note is told. */
enum res_told {
    RES_TOLD_ALWAYS,
    RES_TOLD_DETAILS, /* on the page, and where details are asked for */
    RES_TOLD_TEXT,    /* where they are asked for: the page has a part that shows it */
};

struct res_noting {
    const struct res_result *result;
    const struct res_result_workload *workload; /* NULL: notes on all of the result */
    const struct res_fleet *fleet;              /* instead of both: notes on a fleet */
    const char *label;                          /* of the row, as all below */
    int severity;
    enum res_told told;
    struct res_text words;  /* said so far */
    struct res_note *notes; /* made so far */
    size_t count;
};

/* One row: a maker, and what its notes have in common. Notes are printed in the order of their rows. */
struct res_note_row {
    const char *label;
    enum res_severity severity;
    enum res_told told;
    void (*make)(struct res_noting *to);
    void (*each)(struct res_noting *to,
                 const struct res_result_entry *entry); /* instead: for each candidate */
};

/* say - add words: to a note, or to another struct with `words`. */
#define say(to, ...) res_text_printf(&(to)->words, __VA_ARGS__)

void res_note_end(struct res_noting *to);

/* res_note_end_with - the same, with a detail to copy: taken over. */
void res_note_end_with(struct res_noting *to, char *detail);

/* RES_EACH_CANDIDATE - a loop over the candidates of a workload. */
#define RES_EACH_CANDIDATE(entry, workload)                                                                  \
    for (const struct res_result_entry *entry = (workload)->candidates;                                      \
         entry < (workload)->candidates + (workload)->candidate_count; entry++)

/* res_note_each - "glibc 12.1, jemalloc -": a figure of every candidate, in the words that `cell` makes of it (figure_words.h). Those of
 * which `figure` says false are left out. Returns whether one has a figure that is known. */
bool res_note_each(struct res_noting *to,
                   bool (*figure)(const struct res_result_entry *entry, const void *which, double *ret_value),
                   const void *which, const char *(*cell)(double value, char *room));

/* The rows of each file, up to one without a label. */
extern const struct res_note_row RES_VERDICT_ROWS[], RES_BASIS_ROWS[], RES_MEMORY_ROWS[], RES_PASS_ROWS[],
    RES_CONFIRMED_ROWS[], RES_CONFIRM_ROWS[], /* what was confirmed, also for all of a result; what would */
    RES_FLEET_ROWS[];

#endif
