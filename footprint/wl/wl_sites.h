/* wl_sites.h - who allocated, in a workload: sites of the dictionary's shapes, and the blocks of their stacks (docs/format.md,
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

/* wl_sites_encode - fill the column of sites of the window's ops, whose shapes are told apart by their sites yet. */
void wl_sites_encode(struct wl_writer *writer);

/* wl_sites_put - append the blocks of stacks and modules. Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_sites_put(struct wl_writer *writer);

/* wl_sites_decode - the next shape's site, in version 4.
 * last      the site before it in the window that is not 0, at first 0; brought up to date.
 * Returns   false: it cannot be one of the workload's. */
static inline bool wl_sites_decode(struct cursor *cursor, uint32_t site_end, uint32_t *last,
                                   uint32_t *ret_site)
{
    const uint64_t told = get_varint(cursor);
    if (cursor->bad || told >> 28 != 0)
        return false;
    const int64_t site = told != 0 ? *last + unzigzag(told - 1) : 0;
    if (site < 0 || site >= site_end)
        return false;
    *last = told != 0 ? (uint32_t)site : *last;
    *ret_site = (uint32_t)site;
    return true;
}

#endif
