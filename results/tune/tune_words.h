/* tune_words.h - what a search found, in sentences: for the lines below its table. The caller's to free; not yet plain. */
#ifndef MALLAB_RESULTS_TUNE_WORDS_H
#define MALLAB_RESULTS_TUNE_WORDS_H

#include <jansson.h>

/* res_tune_advice - what to do, and the doubt. Claims nothing that the verdicts do not.
 * res_tune_marks - what the mark before a row means.
 * res_tune_tried - how many were tried, dropped and why.
 * res_tune_basis - on which rounds the figures rest, the noise, and the time spent. */
char *res_tune_advice(const json_t *result);
char *res_tune_marks(const json_t *tune);
char *res_tune_tried(const json_t *tune);
char *res_tune_basis(const json_t *result);

#endif
