/* pprof.h - a profile as pprof reads it (`go tool pprof`, speedscope, Grafana, Parca): gzip of the protocol buffer that
 * github.com/google/pprof/blob/main/proto/profile.proto describes, written by hand.
 *
 * All metrics are in one file, as sample types: "live", "bytes". Where a metric is compared with another, the
 * difference stands in its place. */
#ifndef MALLAB_SITES_SHOW_PPROF_H
#define MALLAB_SITES_SHOW_PPROF_H

#include "sites/show/site_profile.h"

/* site_pprof - the whole file, the caller's to free. Recursion is left out. shown: the metric that viewers begin with.
 * Returns  the bytes, and their number; NULL where they would be more than 2 GiB unpacked, or zlib has no memory. The same
 *          profile gives the same bytes with the same zlib. */
char *site_pprof(const struct site_profile *profile, uint32_t shown, size_t *ret_length);

#endif
