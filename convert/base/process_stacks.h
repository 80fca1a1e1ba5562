/* process_stacks.h - the call stacks of a process, put together from all that tells of them. */
#ifndef MALLAB_CONVERT_BASE_PROCESS_STACKS_H
#define MALLAB_CONVERT_BASE_PROCESS_STACKS_H

#include <stdbool.h>

#include "footprint/base/arrays.h"
#include "footprint/fp/fp_sites.h"

/* Zeroes are none. */
struct conv_stacks {
    struct fp_sites sites; /* of the arrays below */
    struct fp_site_node *nodes;
    struct fp_module *modules;
    char **paths;          /* of the modules */
    struct fp_index index; /* of the modules */
    char *executable;      /* the program's path; "": not known */
};

/* A recorder's stacks have half as many frames at most. Whoever asks something of each stack would take forever on those of a file
 * that is made for it. */
#define CONV_STACK_DEPTH_MAX 1024u

/* conv_stacks_add - add a part's: what was told first stands, as within one footprint. Deeper stacks are cut at the top (FP_CUT_DEEP). Returns false: no memory;
 * conv_stacks_release accepts it in either case. */
bool conv_stacks_add(struct conv_stacks *stacks, const struct fp_sites *from);
void conv_stacks_release(struct conv_stacks *stacks);

#endif
