/* machine.h - what the figures were measured on. */
#ifndef MALLAB_RESULTS_MEASURE_MACHINE_MACHINE_H
#define MALLAB_RESULTS_MEASURE_MACHINE_MACHINE_H

#include "results/measure/result/result.h"

#define RES_MACHINE_VARIABLE "MALLAB_MACHINE"

/* res_machine_describe - this machine; what cannot be found out is not known. Its name is what the user calls it,
 * $MALLAB_MACHINE: the host's own is left out, because results are made to be published. */
void res_machine_describe(struct res_machine *ret_machine);

#endif
