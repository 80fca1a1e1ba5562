/* groups.h - sites put together: by stack, by who allocates, by function, by module.
 *
 *   stack      each call stack by itself
 *   site       the place that allocates (wrappers left out) and the function that called it
 *   function   the function that allocates
 *   module     the file that it is in
 *
 * Counts of a group are the sums of its sites'. */
#ifndef MALLAB_SITES_STACKS_GROUPS_H
#define MALLAB_SITES_STACKS_GROUPS_H

#include "footprint/base/support.h"
#include "sites/stacks/stacks.h"

enum site_by { SITE_BY_SITE, SITE_BY_STACK, SITE_BY_FUNCTION, SITE_BY_MODULE };

struct site_group {
    struct conv_site_counts counts; /* site: that of the stack with most bytes */
    double lead_bytes;              /* of that stack */
    size_t stacks;                  /* how many there are */
    char *key;                      /* what they have in common */
};

/* site_groups_make - sites grouped, by rising key.
 * filter      stacks are left out unless a function's or module's name of theirs holds these words; NULL: none is.
 * ret_groups  end them with site_groups_release. Returns how many there are. */
size_t site_groups_make(const struct site_stacks *stacks, enum site_by by, const char *filter,
                        struct site_group **ret_groups);
void site_groups_release(struct site_group *groups, size_t count);

/* site_group_words - a group on one line: "parse x.cc:16 < main x.cc:20". Lines are there after site_stacks_lines and
 * site_stacks_settle of counts.site. The caller's to free. */
char *site_group_words(const struct site_stacks *stacks, const struct site_group *group, enum site_by by);

/* site_stack_words - a stack, a line a frame, from the allocation up, each with so many blanks before it; most: frames. */
void site_stack_words(const struct site_stacks *stacks, uint32_t site, unsigned blanks, size_t most,
                      struct res_text *text);

/* site_cut_words - why a stack ends where it does, for a sentence: "no unwind table there". NULL for FP_CUT_NONE. */
const char *site_cut_words(enum fp_cut cut);

#endif
