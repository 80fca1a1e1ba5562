/* wl_times.h - recorded times of a window's ops (docs/format.md, "Window block", column 8).
 *
 * Private to footprint/. Each 16th op has a time. Between them those are noted that a pause lies between: spread
 * evenly, they would come up to its whole length too early or too late. */
#ifndef MALLAB_FOOTPRINT_WL_WL_TIMES_H
#define MALLAB_FOOTPRINT_WL_WL_TIMES_H

#include "footprint/base/blockio.h"
#include "footprint/wl/wl_decode.h"
#include "footprint/wl/wl_writer.h"

#define WL_NOTED_BYTES_MAX (3u + VARINT_BYTES_MAX) /* of an op's gap and its time */

/* wl_times_note - the op of this index, the newest or the next, was at that time. */
void wl_times_note(struct wl_writer *writer, uint32_t op, uint64_t time_ns);

/* wl_times_note_pause - a pause lies between the newest op, at before_ns, and the next, at writer->now_ns. */
void wl_times_note_pause(struct wl_writer *writer, uint64_t before_ns);

/* wl_times_encode - fill the column of times. */
void wl_times_encode(struct wl_writer *writer);

/* wl_times_decode - the window's times and noted ops, into the decoder's arrays.
 * window     its op and time counts are set; gets noted_count.
 * Returns    whether everything is as docs/format.md has it. */
bool wl_times_decode(struct wl_decoder *decoder, const struct block_header *header,
                     const struct column *column, uint64_t end_units, struct wl_window *window);

#endif
