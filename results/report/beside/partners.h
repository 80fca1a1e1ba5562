/* partners.h - two results of the same workloads: which belong together, and what else differs.
 *
 *   partner     the workload of the earlier result with the same digest (of the ops executed), recorded on the same host
 *   comparable  a difference that forbids comparing: other workloads, another machine; others are only told */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_PARTNERS_H
#define MALLAB_RESULTS_REPORT_BESIDE_PARTNERS_H

#include "results/report/beside/beside.h"

/* res_partner - the workload of `earlier` that is the same as `workload` of `result`; by digest and the host's label,
 * where both have one, and where none fits by name, for callers that allow it (res_workloads_problem). NULL: none. Borrowed. */
const struct res_result_workload *res_partner(const struct res_result *earlier,
                                              const struct res_result *result,
                                              const struct res_result_workload *workload);

/* res_workloads_problem - why the workloads cannot be compared: no digest of one is in the other. NULL when they can.
 * res_machine_problem - likewise when processor, their number or architecture differ.
 * One line, the caller's to free. */
char *res_workloads_problem(const struct res_result *earlier, const struct res_result *result);
char *res_machine_problem(const struct res_result *earlier, const struct res_result *result);

/* res_changed_libraries - which libraries are not those of the earlier result, a line each, or that it does not say: of the candidates
 * that both have, and the C library that all of them call.
 * res_library_change - of one candidate: "jemalloc: version 5.2 then, 5.3 now", or as res_build_change; NULL: none. The caller's to free.
 * res_differences_add - settings and parts of the machine that differ. res_lone_add - workloads that only one of both has. */
struct res_texts res_changed_libraries(const struct res_result *earlier, const struct res_result *result);
char *res_library_change(const struct res_result_entry *then, const struct res_result_entry *now);
void res_differences_add(struct res_beside *beside, const struct res_result *earlier,
                         const struct res_result *result);
void res_lone_add(struct res_beside *beside, const struct res_result *earlier,
                  const struct res_result *result);

#endif
