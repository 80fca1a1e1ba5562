/* machine.h - what the figures were measured on. */
#ifndef MALLAB_RESULTS_MACHINE_H
#define MALLAB_RESULTS_MACHINE_H

#include <jansson.h>

/* res_machine_describe - the `machine` object of the results: architecture, cpu, cpus (logical, usable), cores (physical), memory_bytes, kernel,
 * libc, transparent_huge_pages, governor, load_1_minute, virtual_machine. What cannot be found out is null.
 * The machine's name is left out: results are made to be published.
 * Returns a new reference. */
json_t *res_machine_describe(void);

#endif
