/* lane_pool.h - where lanes come from, and go to when their threads have ended. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_POOL_H
#define MALLAB_SHIM_PRELOAD_LANE_POOL_H

#include "shim/preload/lane.h"

/* The id of the calling thread, as it was when it got its lane; a forked child reads its parent's until it has one. */
extern __thread uint32_t lane_thread __attribute__((tls_model("initial-exec")));

/* lane_take - a lane for the calling thread, live; of a thread that is gone, or one that nobody had. NULL: no memory. */
struct lane *lane_take(void);

/* lane_forget_inherited - in a forked child: never hand out a lane that the parent may have used. */
void lane_forget_inherited(void);

/* lane_wipe_all - make all lanes what a forked child finds: for a moment at which no thread is in a hook. */
void lane_wipe_all(void);

/* lane_make_ready - memory for the lanes of threads that begin when none can be mapped any more (confine.h). */
void lane_make_ready(void);

#endif
