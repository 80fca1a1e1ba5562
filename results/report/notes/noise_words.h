/* noise_words.h - how sure times are, in words: the same below a table and on a page. Plain; the caller's to free. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOISE_WORDS_H
#define MALLAB_RESULTS_REPORT_NOTES_NOISE_WORDS_H

#include <jansson.h>

/* res_noise_words - what the baseline against itself differs by, and what a change has to be to count. */
char *res_noise_words(const json_t *result, const json_t *workload);

/* res_unsteady_words - whose runs differed so much that their median means little; NULL: nobody's. */
char *res_unsteady_words(const json_t *workload);

#endif
