/* wl_sites.h - who allocated, in a workload: the sites of its ops, and the blocks of their stacks (docs/format.md,
 * "Sites of a workload").
 *
 * Private to footprint/. A writer is given the stacks of a footprint, or of another workload. Its own numbers are given out when
 * an op first has a site, callers before those they call; so nodes that no op needs are left out, and the blocks follow the
 * windows. */
#ifndef MALLAB_FOOTPRINT_WL_WL_SITES_H
#define MALLAB_FOOTPRINT_WL_WL_SITES_H

#include "footprint/base/blockio.h"
#include "footprint/wl/wl_decode.h"
#include "footprint/wl/wl_writer.h"

#define WL_MODULE_NONE UINT16_MAX /* number of the module of what lies in none; FP_MODULES_MAX is lower */

/* wl_sites_begin - take the stacks, which last as long as the writer. program: NULL: not known. Returns false: no memory.
 * wl_sites_end accepts it in either case. */
bool wl_sites_begin(struct wl_site_numbers *numbers, const struct fp_sites *stacks, const char *program);
void wl_sites_end(struct wl_site_numbers *numbers);

/* wl_sites_number - the workload's number of a site of the caller's, whatever that is. */
uint32_t wl_sites_number(struct wl_site_numbers *numbers, uint32_t site);

/* wl_sites_encode - fill the column of sites of the window's ops. */
void wl_sites_encode(struct wl_writer *writer);

/* wl_sites_put - append the blocks of stacks and modules. Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_sites_put(struct wl_writer *writer);

#endif
