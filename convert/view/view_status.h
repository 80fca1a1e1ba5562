/* view_status.h - what recording.json says of a recording at the moment. Private to view/. */
#ifndef MALLAB_CONVERT_VIEW_VIEW_STATUS_H
#define MALLAB_CONVERT_VIEW_VIEW_STATUS_H

#include "convert/view/view_state.h"

/* conv_view_take_status - read recording.json into view->root and view->status. */
enum fp_status conv_view_take_status(struct conv_view *view, struct conv_error *error);

/* conv_view_take_ends - from it, which processes have ended. */
void conv_view_take_ends(struct conv_view *view);

#endif
