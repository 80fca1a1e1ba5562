/* doctor_programs.h - the checks of `mallab doctor` for which the programs themselves are asked; the others are results/doctor/. */
#ifndef MALLAB_CLI_DOCTOR_DOCTOR_PROGRAMS_H
#define MALLAB_CLI_DOCTOR_DOCTOR_PROGRAMS_H

#include "cli/base/cli.h"
#include "results/measure/machine/doctor_checks.h"

/* cli_doctor_replay - area "measuring": the clock and the counters, chosen and opened as the replay will. */
void cli_doctor_replay(struct res_doctor *doctor);

/* cli_doctor_installed - area "installed": our own programs, allocators, and what others' programs are for. Returns an exit
 * code: a directory of candidates that cannot be read is told on stderr. */
int cli_doctor_installed(const struct cli_verb *verb, struct res_doctor *doctor);

#endif
