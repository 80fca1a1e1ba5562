/* folded.h - a profile as folded stacks, which flamegraph.pl, inferno, speedscope and others read: a line for each stack,
 * "main;parse;alloc 4096", from its top to its end, and the value, rounded. */
#ifndef MALLAB_SITES_SHOW_FOLDED_H
#define MALLAB_SITES_SHOW_FOLDED_H

#include "sites/show/site_profile.h"

/* site_folded - the stacks of one metric that have a value; where it is compared with another (site_profile_merge) two
 * values stand in a line, before and after, as difffolded.pl writes them. Recursion is left out, equal lines are one.
 * Returns  text, the caller's to free; never NULL. The same profile gives the same bytes. */
char *site_folded(const struct site_profile *profile, uint32_t metric);

#endif
