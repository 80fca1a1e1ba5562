/* wl_pack.h - windows compressed and written on another processor, in their order, while the next one is gathered.
 *
 * Private to footprint/. One window at a time: whoever gathers faster waits. What is written is the same with the other
 * thread as without. */
#ifndef MALLAB_FOOTPRINT_WL_WL_PACK_H
#define MALLAB_FOOTPRINT_WL_WL_PACK_H

#include "footprint/wl/window.h"
#include "footprint/wl/wl_file.h"

struct wl_pack;

/* wl_pack_start - begin to serve a file, which from here on is the other thread's between wl_pack_take and wl_pack_wait.
 * columns   as large as those to come.
 * Returns   NULL when there is one processor, or no memory or thread to be had: pack in place then. */
struct wl_pack *wl_pack_start(struct wl_file *file, int level, const struct bytes columns[WINDOW_COLUMNS]);

/* wl_pack_take - give a window away. columns become others, of the same capacity and any contents.
 * Returns   FP_OK, or what an earlier window ended with: nothing is taken any more then. */
enum fp_status wl_pack_take(struct wl_pack *pack, const struct block_header *header,
                            struct bytes columns[WINDOW_COLUMNS]);

/* wl_pack_wait - until all that was taken is written. Returns FP_OK, or what the first failure was; the file's error
 * says more. NULL is FP_OK. */
enum fp_status wl_pack_wait(struct wl_pack *pack);

/* wl_pack_stop - wait, end the thread, free; NULL is accepted. */
void wl_pack_stop(struct wl_pack *pack);

/* wl_pack_window - the work itself: compress and append. */
enum fp_status wl_pack_window(struct wl_file *file, struct block_header *header,
                              const struct bytes columns[WINDOW_COLUMNS], ZSTD_CCtx *context, int level,
                              struct bytes *packed);

#endif
