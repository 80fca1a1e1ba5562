/* demangle.h - symbols as people write functions: C++, Rust. */
#ifndef MALLAB_SITES_NAMES_DEMANGLE_H
#define MALLAB_SITES_NAMES_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_BYTES_MAX                                                                                   \
    8192u /* of a mangled name; longer ones stay as they are, for they can become huge */

/* demangle - `_ZN3fooEv` becomes foo(), and std::string is called so; Rust's names lose their hash; clones of a function (.cold, .part.0, .isra.0) its
 * number, and a version behind '@' goes. What cannot be read stays as it is.
 * Uses libstdc++'s own function where that library is there; it is not linked. For a child with limits: the name may be made
 * to cost time and memory.
 * Returns   a string to be freed; NULL: no memory. */
char *demangle(const char *symbol);

/* demangle_rust - a name of Rust's v0 mangling (_R...) as a path, without arguments of generics.
 * Returns   false: it is none, or too strange; ret_text is of no use then. */
bool demangle_rust(const char *symbol, char *ret_text, size_t size);

#endif
