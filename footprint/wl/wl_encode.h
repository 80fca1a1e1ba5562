/* wl_encode.h - a gathered window as columns of a block, compressed and written.
 *
 * Private to footprint/. Windows are packed on another processor, in their order, while the next one is gathered: one at a
 * time, whoever gathers faster waits. What is written is the same with the other thread as without. */
#ifndef MALLAB_FOOTPRINT_WL_WL_ENCODE_H
#define MALLAB_FOOTPRINT_WL_WL_ENCODE_H

#include "footprint/wl/window.h"
#include "footprint/wl/wl_file.h"

struct wl_writer;
struct wl_pack;

/* wl_window_flush - encode and append the window, and make room for the next. After a failure the window is still
 * there and may be in the file in part: the workload ends here, and every further call returns the same. */
enum fp_status wl_window_flush(struct wl_writer *writer);

/* wl_shapes_reset - begin the dictionary anew. */
void wl_shapes_reset(struct wl_writer *writer);

/* wl_put_shape_slow - wl_put_shape (wl_put.h) for a shape that was not used of late. */
bool wl_put_shape_slow(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                       uint16_t *ret_index);

/* wl_pack_start - begin to serve a file, which is the other thread's from a flush to wl_pack_wait.
 * columns   as large as those to come.
 * Returns   NULL when there is one processor, or no memory or thread to be had: pack in place then. */
struct wl_pack *wl_pack_start(struct wl_file *file, int level, const struct bytes columns[WINDOW_COLUMNS]);

/* wl_pack_wait - until all that was taken is written. Returns FP_OK, or what the first failure was; the file's error
 * says more. NULL is FP_OK. */
enum fp_status wl_pack_wait(struct wl_pack *pack);

/* wl_pack_stop - wait, end the thread, free; NULL is accepted. */
void wl_pack_stop(struct wl_pack *pack);

#endif
