/* memory_limit.h - a memory limit in a result: who died of it, who ran into it and went on.
 *
 *   limit  of an experiment: `limit_bytes`, and `limit_by`, the kernel's means (replay/system/run_limit.h)
 *   at it  a run that reached the limit of its group; the kernel took pages back, of the allocator or of files, and it went
 *          on. It had no room left: a container of that size is too small by little */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_MEMORY_LIMIT_H
#define MALLAB_RESULTS_MEASURE_FIGURES_MEMORY_LIMIT_H

#include "results/measure/result/result.h"
#include "results/measure/trial/trial.h"

/* res_limit_by - the JSON's word for the means of an experiment's limit; NULL when there is none. */
const char *res_limit_by(const struct res_options *options);

/* res_limit_entry - `limit` of an entry, over all its runs that tell, to be freed; NULL without a limit. */
struct res_limited *res_limit_entry(const struct res_options *options, const struct res_entry *entry);

#endif
