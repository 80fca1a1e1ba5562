/* sites_without.h - `mallab sites --without`: what a program would save if it did without some of its call sites, measured by
 * replaying it with and without them. */
#ifndef MALLAB_CLI_VERBS_SITES_WITHOUT_H
#define MALLAB_CLI_VERBS_SITES_WITHOUT_H

#include "cli/options/measure_options.h"
#include "cli/verbs/site_reading.h"

/* cli_sites_without - replay and print peak resident memory of both, by allocator.
 * reading   of one process; its answer is a table or CSV.
 * without   with words; the caller releases it.
 * measure   allocators, baseline, rounds.
 * Returns   an exit code, told. */
int cli_sites_without(const struct cli_verb *verb, const struct cli_sites *reading,
                      const struct cli_measure *measure, struct cli_without *without);

#endif
