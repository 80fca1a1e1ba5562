/* variables.h - a candidate's settings: as variables of its environment, or by the allocator's own names for them.
 *
 *   setting    `narenas`, `arena_max`, `release_rate`, `DECOMMIT_DELAY`: what the allocator calls it. Where it goes
 *              depends on the candidate's `proof`: jemalloc MALLOC_CONF, glibc GLIBC_TUNABLES, mimalloc MIMALLOC_NAME,
 *              tcmalloc TCMALLOC_NAME. A name of capitals is a variable itself, of any allocator
 *   inline     BASE+SETTING=VALUE[+SETTING=VALUE...]: a candidate without a file, for one try. No value holds '+' or
 *              ',', so that shells and lists bear it unquoted; BASE is a candidate or the path of a library */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_VARIABLES_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_VARIABLES_H

#include "results/measure/candidate/candidates.h"

/* res_variable_problem - whether a candidate may set this variable: NULL, or why not (the caller's to free). LD_* could
 * load another allocator than the one that is named, or hide from the proof. */
char *res_variable_problem(const char *name);

/* res_variables_add - append to a list. Returns NULL, or the problem: a name that is none, or there already; too many.
 * res_variables_free, res_variables_copy - of a whole list. */
char *res_variables_add(struct res_variable **list, size_t *count, const char *name, const char *value);
void res_variables_free(struct res_variable *list, size_t count);
struct res_variable *res_variables_copy(const struct res_variable *list, size_t count);

/* res_setting_apply - put a setting into a candidate's environment; one that is there already comes to stand before
 * it, and allocators take the last.
 * Returns   NULL, or the problem in one line, the caller's to free. */
char *res_setting_apply(struct res_candidate *candidate, const char *setting, const char *value);

/* res_ranges_problem - whether a setting of the candidate's ranges cannot be put into its environment: why not, or
 * NULL. */
char *res_ranges_problem(const struct res_candidate *candidate);

/* res_range_value - a value of a setting's list by its number, the caller's to free; NULL: it has fewer. */
char *res_range_value(const struct res_variable *range, size_t number);

/* res_setting_inline - where the first "+SETTING=" of an inline candidate begins; NULL when the text is none. */
const char *res_setting_inline(const char *text);

/* res_registry_add_inline - make the candidate that the text describes.
 * base      what stands before the first setting, resolved or not; it is copied.
 * Returns   the candidate, the one made before for the same text; NULL with ret_problem set. */
struct res_candidate *res_registry_add_inline(struct res_registry *registry, const struct res_candidate *base,
                                              const char *text, char **ret_problem);

#endif
