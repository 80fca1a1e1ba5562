/* advice_idle.h - the part of the advice that is about rest: a long-lived program that mostly waits pays for what is
 * resident then, and the peak says nothing of it. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_IDLE_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_IDLE_H

#include <jansson.h>

#include "results/measure/base/support.h"

/* res_advice_idle - add "; at rest NAME keeps least: ..." (or "when all is freed again", of a program recorded to its end) for the candidate with the least memory after the rest, where
 * that is less than the baseline's by a tenth of it in every single run, and predicted. Adds nothing otherwise. */
void res_advice_idle(struct res_text *text, const json_t *workload);

#endif
