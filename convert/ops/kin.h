/* kin.h - objects that are used alike: of which no share is told, the share of others (docs/notes/format.md, "Shares of kin").
 *
 * Kin were made by the same kind of call and are of as many pages. The recorder tells the shares of large objects, but not of
 * all, and of middling ones by sample. */
#ifndef MALLAB_CONVERT_OPS_KIN_H
#define MALLAB_CONVERT_OPS_KIN_H

#include "convert/ops/live_table.h"
#include "footprint/wl/workload.h"

/* conv_has_kin - whether an object of this call and so many bytes has kin: middling ones, and from calloc all of a page and
 * more. */
bool conv_has_kin(unsigned call, uint64_t bytes);

/* conv_tell_kin - tell the writer of an object with kin, which has just got its size by this call. Returns the writer's. */
enum fp_status conv_tell_kin(struct wl_writer *writer, unsigned call, struct conv_object object);

#endif
