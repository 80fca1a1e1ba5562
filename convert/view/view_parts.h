/* view_parts.h - the parts of a view: footprints that appear, grow and vanish. Private to view/. */
#ifndef MALLAB_CONVERT_VIEW_VIEW_PARTS_H
#define MALLAB_CONVERT_VIEW_VIEW_PARTS_H

#include "convert/view/view.h"

/* conv_view_part_free - close it too; NULL is accepted. */
void conv_view_part_free(struct conv_view_part *part);

/* conv_view_parts_list - see which parts the directory has; those that are gone and read are dropped. Opens none.
 * Returns  FP_OK, or the status in error: no directory, no memory. */
enum fp_status conv_view_parts_list(struct conv_view *view, struct conv_error *error);

/* conv_view_parts_measure - how large the files are, for the progress. */
void conv_view_parts_measure(struct conv_view *view);

/* conv_view_parts_count_bytes - add them up, into view->bytes and view->bytes_written. */
void conv_view_parts_count_bytes(struct conv_view *view);

/* conv_view_part_refresh - open it if need be, and give turns to the blocks that were appended. The reader stays NULL for
 * what cannot be read yet, or is not to be.
 * Returns  FP_OK, or the status in error. */
enum fp_status conv_view_part_refresh(struct conv_view *view, struct conv_view_part *part,
                                      struct conv_error *error);

/* conv_view_part_fail, conv_view_no_memory - fill error, naming the part's file, or the recording. Return its status. */
enum fp_status conv_view_part_fail(const struct conv_view *view, const struct conv_view_part *part,
                                   const struct fp_error *cause, struct conv_error *error);
enum fp_status conv_view_no_memory(const struct conv_view *view, struct conv_error *error);

#endif
