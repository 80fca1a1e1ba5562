/* stacks.h - the call stacks of a process' sites, with names.
 *
 *   sites     counts, nodes and modules of one process (convert/sites/sites.h)
 *   frame     a function of a stack: what a call returns into, or what is inlined there (sites/names/names.h)
 *   wrapper   a function that only hands on what it is asked for: operator new, g_malloc, xmalloc. Who allocates is whoever
 *             called it
 *
 * Functions come first, which are quick, then the lines of those that allocate; site_stacks_lines asks for those of stacks shown. One thread
 * at a time. Programs' rooms only: want of memory ends the program. */
#ifndef MALLAB_SITES_STACKS_STACKS_H
#define MALLAB_SITES_STACKS_STACKS_H

#include "convert/sites/sites.h"
#include "sites/names/names.h"

#define SITE_FRAMES_MAX                                                                                      \
    4096u /* of a stack, inlined ones among them; what is further from the allocation is left out */

struct site_stacks {
    const struct conv_sites *sites; /* borrowed */
    struct names *names;
    struct fp_module_map map;
    uint32_t *questions; /* by number of node: its question; NO_QUESTION: it is on no site's stack */
    uint32_t *modules;   /* by number of node: its module among those of names */
    uint32_t module_count;
    bool *wrappers; /* by number of node */
};

struct site_stack_frame {
    const struct names_frame *words; /* lasts until site_stacks_lines or the release */
    const char *module;
    uint32_t node;
};

/* site_modules_add - a recording's modules to names. executable: the program's path; "": not known.
 * Returns  their numbers there, and room for one more. The caller's to free. */
uint32_t *site_modules_add(const struct fp_sites *stacks, const char *executable, struct names *names);

/* site_stacks_make - stacks with the names of their functions. options: of names. */
struct site_stacks site_stacks_make(const struct conv_sites *sites, const struct names_options *options);
void site_stacks_release(struct site_stacks *stacks);

/* site_stacks_lines - ask for files, lines and inlined functions of a stack; site_stacks_settle answers for all asked. */
void site_stacks_lines(struct site_stacks *stacks, uint32_t site);
void site_stacks_settle(struct site_stacks *stacks);

/* site_stack_frames - of a site, from the allocation up; of one node first what is inlined innermost.
 * ret_frames  room for SITE_FRAMES_MAX. ret_cut: why the stack ends; may be NULL. Returns how many there are. */
size_t site_stack_frames(const struct site_stacks *stacks, uint32_t site, struct site_stack_frame *ret_frames,
                         enum fp_cut *ret_cut);

/* site_stack_caller - the node that allocates: the first from the allocation up that is no wrapper, or the outermost one.
 * 0: the stack has no frames. */
uint32_t site_stack_caller(const struct site_stacks *stacks, uint32_t site);

/* site_node_function - the function of a node, its physical one. site_node_module: the module's name. Never NULL. */
const char *site_node_function(const struct site_stacks *stacks, uint32_t node);
const char *site_node_module(const struct site_stacks *stacks, uint32_t node);

#endif
