/* memory_words.h - what a result says of waste and of a memory limit, in words for the lines below the table. */
#ifndef MALLAB_RESULTS_MEMORY_WORDS_H
#define MALLAB_RESULTS_MEMORY_WORDS_H

#include <jansson.h>

/* res_waste_words - of all candidates of a workload. Returns a text, the caller's, or NULL when nothing is known. */
char *res_waste_words(const json_t *workload);

/* res_limit_words - of the memory limit of a result. Returns likewise; NULL when there was none. */
char *res_limit_words(const json_t *result);

#endif
