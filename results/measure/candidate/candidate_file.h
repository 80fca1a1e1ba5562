/* candidate_file.h - one candidate's INI file. Private to results/. */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATE_FILE_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATE_FILE_H

#include "results/measure/candidate/candidates.h"

/* res_candidate_parse - the text of a file to a candidate, without an origin.
 * ret_candidate  filled, released with res_candidate_release; untouched on failure.
 * Returns        NULL; else the first problem, without the file's name, the caller's to free. */
char *res_candidate_parse(const char *text, size_t length, struct res_candidate *ret_candidate);

/* res_candidate_name_is_valid - whether a candidate, or a replay binary, can be called so. */
bool res_candidate_name_is_valid(const char *name);

/* res_candidate_release - what it holds. */
void res_candidate_release(struct res_candidate *candidate);

#endif
