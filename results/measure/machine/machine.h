/* machine.h - what the figures were measured on. */
#ifndef MALLAB_RESULTS_MEASURE_MACHINE_MACHINE_H
#define MALLAB_RESULTS_MEASURE_MACHINE_MACHINE_H

#include <jansson.h>

#define RES_MACHINE_VARIABLE "MALLAB_MACHINE"

/* res_machine_describe - the `machine` object of the results: architecture, cpu, cpus (logical, usable), cores (physical), memory_bytes, kernel,
 * libc, transparent_huge_pages, governor, load_1_minute, virtual_machine. What cannot be found out is null.
 * `name` is what the user calls it, $MALLAB_MACHINE, and null without: the host's own name is left out, because results are
 * made to be published.
 * Returns a new reference. */
json_t *res_machine_describe(void);

#endif
