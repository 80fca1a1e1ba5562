/* stacks_profile.h - a recording's call stacks as a profile. */
#ifndef MALLAB_SITES_SHOW_STACKS_PROFILE_H
#define MALLAB_SITES_SHOW_STACKS_PROFILE_H

#include "sites/show/site_profile.h"
#include "sites/stacks/stacks.h"

/* site_profile_take - add a process' sites to a profile: live at its peak, bytes and calls. A stack that was cut begins with
 * why, in brackets.
 * with_lines  also files, lines and inlined functions, which take long to look up. */
void site_profile_take(struct site_profile *profile, struct site_stacks *stacks, bool with_lines);

#endif
