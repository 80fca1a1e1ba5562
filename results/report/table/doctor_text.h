/* doctor_text.h - the checks of `mallab doctor` for people. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_DOCTOR_TEXT_H
#define MALLAB_RESULTS_REPORT_TABLE_DOCTOR_TEXT_H

#include "results/measure/machine/doctor_checks.h"
#include "results/report/grid/lines.h"

/* res_doctor_text - the checks for people, by area, ending in a newline; no line is wider than RES_TABLE_COLUMNS where
 * words allow. all: false leaves out those that are ok. The caller's to free. */
char *res_doctor_text(const struct res_doctor *doctor, const struct res_style *style, bool all);

#endif
