/* sites_without.h - `mallab sites --without`: what a program would save if it did without some of its call sites, measured by
 * replaying it with and without them. */
#ifndef MALLAB_CLI_VERBS_SITES_WITHOUT_H
#define MALLAB_CLI_VERBS_SITES_WITHOUT_H

#include "cli/options/measure_options.h"
#include "cli/verbs/site_reading.h"

/* cli_sites_without - replay both in turn, and print memory and time that are saved, by allocator.
 * reading   of one process; its answer is a table, CSV or a result (docs/results.md).
 * without   with words; the caller releases it.
 * measure   allocators, baseline, rounds, seed.
 * budget_ns what the replays may take; 0: a minute and 8 rounds at least, or where measure has rounds, any time.
 * Returns   an exit code, told. */
int cli_sites_without(const struct cli_verb *verb, const struct cli_sites *reading,
                      const struct cli_measure *measure, uint64_t budget_ns, struct cli_without *without);

#endif
