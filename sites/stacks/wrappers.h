/* wrappers.h - which functions only hand on what they are asked for.
 *
 * A function with a name is one by its name: rows in wrappers.c. So is all that a Python function calls, where a perf map names
 * those: the interpreter allocates for them. One without (stripped code) is one where it stands next to the
 * allocation, after other wrappers, and is called from many places: sqlite3's and python's own malloc are so. A guess, which
 * moves only under what heading an allocation stands; `--by stack` shows all frames. */
#ifndef MALLAB_SITES_STACKS_WRAPPERS_H
#define MALLAB_SITES_STACKS_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

#define SITE_WRAPPER_CALLERS 16u /* places that call an unnamed one, at least */

struct site_stacks;

#define SITE_SHORT_NAME 512u

/* site_short_name - without return type, parameters and what stands in angles: "std::vector<>::push_back". A name of an operator
 * or of a script's function stays as it is. ret_name: terminated, cut at size. */
void site_short_name(const char *function, char *ret_name, size_t size);

/* site_wrapper_by_name - whether a function of this name is one. */
bool site_wrapper_by_name(const char *function);

/* site_is_unnamed - whether a function is told by its place only: "libx.so+0x1a2b40". */
bool site_is_unnamed(const char *function);

/* site_wrappers_find - by number of node. The caller's to free. */
bool *site_wrappers_find(const struct site_stacks *stacks);

#endif
