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
#include "footprint/base/support.h"
#include "results/measure/base/fields.h"
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

/* site_stacks_make - stacks with the names of their functions. options: of names. */
struct site_stacks site_stacks_make(const struct conv_sites *sites, const struct names_options *options);
void site_stacks_release(struct site_stacks *stacks);

/* site_stacks_lines - ask for files, lines and inlined functions of a stack; site_stacks_settle answers for all asked. */
void site_stacks_lines(struct site_stacks *stacks, uint32_t site);
void site_stacks_settle(struct site_stacks *stacks);

/* site_stack_frames - the frames of a site, from the allocation up; of one node first what is inlined innermost.
 * ret_frames  room for SITE_FRAMES_MAX. ret_cut: why the stack ends; may be NULL. Returns how many there are. */
size_t site_stack_frames(const struct site_stacks *stacks, uint32_t site, struct site_stack_frame *ret_frames,
                         enum fp_cut *ret_cut);

/* site_stack_caller - the node that allocates: the first from the allocation up that is no wrapper, or the outermost one.
 * 0: the stack has no frames. */
uint32_t site_stack_caller(const struct site_stacks *stacks, uint32_t site);

/* site_node_function - the function of a node, its physical one. site_node_module: the module's name. Never NULL. */
const char *site_node_function(const struct site_stacks *stacks, uint32_t node);
const char *site_node_module(const struct site_stacks *stacks, uint32_t node);

/* ---- wrappers (wrappers.c) ---- */

#define SITE_WRAPPER_CALLERS 16u /* places that call an unnamed one, at least */

#define SITE_SHORT_NAME 512u

/* site_short_name - without return type, parameters and what stands in angles: "std::vector<>::push_back". A name of an operator
 * or of a script's function stays as it is. ret_name: terminated, cut at size. */
void site_short_name(const char *function, char *ret_name, size_t size);

/* site_begins - whether a name begins with one of those, which stand with | between. */
bool site_begins(const char *name, const char *beginnings);

/* site_wrapper_by_name - whether a function of this name is one. */
bool site_wrapper_by_name(const char *function);

/* site_is_unnamed - whether a function is told by its place only: "libx.so+0x1a2b40". */
bool site_is_unnamed(const char *function);

/* site_wrappers_find - the wrappers, by number of node. The caller's to free. */
bool *site_wrappers_find(const struct site_stacks *stacks);

/* ---- what is live and no leak (left_out.c) ----
 *
 *   kept      the C library, the loader or the C++ library allocated it for itself: stdio's buffers, locales, loaded modules,
 *             libstdc++'s pool for exceptions. Known by the function that the program called: one that hands memory to its caller
 *             (strdup, fopen, getline; rows in left_out.c) keeps nothing. So is what the run-time of Rust and Python allocates to begin
 *   ignored   a function's or module's name on its stack is one of the user's patterns */
enum site_part { SITE_SHOWN, SITE_KEPT, SITE_IGNORED, SITE_PARTS };

struct site_sum {
    double bytes, objects; /* live */
};

/* site_patterns_read - a pattern a line, with or without "leak:" before it, as LeakSanitizer's suppressions have them; what begins
 * with # is passed over. A pattern is found anywhere in a name; * stands for any characters, ^ and $ for its begin and end.
 * Returns   false with errno set: the file cannot be read. */
bool site_patterns_read(const char *path, struct res_texts *ret_patterns);

/* site_parts_find - the part of each site, by its place among stacks->sites->counts, and the sums of each part. The caller's to free. */
unsigned char *site_parts_find(const struct site_stacks *stacks, const struct res_texts *patterns,
                               struct site_sum ret_sums[SITE_PARTS]);

/* ---- sites put together: by stack, by who allocates, by function, by module (groups.c) ----
 *
 *   stack      each call stack by itself
 *   site       the place that allocates (wrappers left out) and the function that called it
 *   function   the function that allocates
 *   module     the file that it is in
 *
 * Counts of a group are the sums of its sites'. */
enum site_by { SITE_BY_SITE, SITE_BY_STACK, SITE_BY_FUNCTION, SITE_BY_MODULE };

struct site_group {
    struct conv_site_counts counts; /* site: that of the stack with most bytes */
    double lead_bytes;              /* of that stack */
    size_t stacks;                  /* how many there are */
    char *key;                      /* what they have in common */
};

/* site_totals - the sum of all sites' counts; of a sample without what was not chosen. */
struct conv_site_counts site_totals(const struct conv_sites *sites);

/* site_groups_make - sites grouped, by rising key.
 * parts       of site_parts_find: only sites that are SITE_SHOWN; NULL: all.
 * ret_groups  end them with site_groups_release. Returns how many there are. */
size_t site_groups_make(const struct site_stacks *stacks, enum site_by by, const unsigned char *parts,
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
