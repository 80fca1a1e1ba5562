/* run_limit_group.h - the limit of the control group that this process is in.
 *
 *   base  what the group holds that is the harness': its usage, less what the kernel can take back (cache), less what was
 *         resident and anonymous when the allocator was loaded, which is the allocator's. Tables of pages and stacks in the
 *         kernel that the harness needed are in it; those that come with the allocator's memory are not, and count, as
 *         they do in a container
 *
 * run_limit.h has the order in which these are called; errors are in errno. No malloc. */
#ifndef MALLAB_REPLAY_SYSTEM_RUN_LIMIT_GROUP_H
#define MALLAB_REPLAY_SYSTEM_RUN_LIMIT_GROUP_H

#include <stdbool.h>

#include "replay/system/run_limit.h"

/* rep_limit_group_join - become a member. When whoever started us dies, so do we: nobody would remove the group.
 * group  borrowed until the lift. */
bool rep_limit_group_join(const char *group);

bool rep_limit_group_set(uint64_t bytes, struct rep_limit *ret_limit);

/* rep_limit_group_lift - no limit from now on; limit may be NULL. */
void rep_limit_group_lift(struct rep_limit *limit);

#endif
