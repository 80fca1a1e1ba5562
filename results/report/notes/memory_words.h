/* memory_words.h - what a result says of waste, in words for the lines below the table. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_MEMORY_WORDS_H
#define MALLAB_RESULTS_REPORT_NOTES_MEMORY_WORDS_H

#include <jansson.h>

/* res_waste_words - of all candidates of a workload. Returns a text, the caller's, or NULL when nothing is known. */
char *res_waste_words(const json_t *workload);

#endif
