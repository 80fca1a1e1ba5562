/* doctor_noise.h - `mallab doctor --noise`. */
#ifndef MALLAB_CLI_DOCTOR_DOCTOR_NOISE_H
#define MALLAB_CLI_DOCTOR_DOCTOR_NOISE_H

#include <jansson.h>

#include "cli/base/cli.h"
#include "results/measure/machine/doctor_checks.h"

/* cli_doctor_noise - area "measuring": glibc against itself on a workload made for it.
 * ret_noise  set to the figures, a new reference; json_null() where there are none.
 * Returns    an exit code, the cause being told on stderr. */
int cli_doctor_noise(const struct cli_verb *verb, struct res_doctor *doctor, json_t **ret_noise);

#endif
