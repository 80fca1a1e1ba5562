/* advice_noise.h - the part of the advice that is about noise: what it may have hidden, and how to see more. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_NOISE_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_NOISE_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/base/support.h"

/* Of the baseline's ratio to itself; NAN, and not large, where a workload has no control. */
struct res_advice_noise {
    double low, high;
    bool is_large;
};

/* res_advice_noise_of - of a workload of a result (result_json.h). */
struct res_advice_noise res_advice_noise_of(const json_t *workload);

/* res_advice_remedy - add how to see more: a quieter machine, or so many rounds. */
void res_advice_remedy(struct res_text *text, const json_t *workload);

/* res_advice_noise - add what to do where the noise may have hidden a difference; nothing where it has not.
 * undecided  names of the candidates without a verdict on time; NULL: there are none. */
void res_advice_noise(struct res_text *text, const struct res_advice_noise *noise, const char *undecided,
                      const json_t *workload);

#endif
