/* demangle.h - symbols as people write functions: C++, Rust. */
#ifndef MALLAB_SITES_NAMES_DEMANGLE_H
#define MALLAB_SITES_NAMES_DEMANGLE_H

#define DEMANGLE_BYTES_MAX                                                                                   \
    8192u /* of a mangled name; longer ones stay as they are, for they can become huge */

/* demangle - `_ZN3fooEv` becomes foo(), and std::string is called so; Rust's names, of both manglings, lose their hash; clones of a
 * function (.cold, .part.0, .isra.0) their number, and a version behind '@' goes. What cannot be read stays as it is.
 * Source    libiberty's demangler. For a child with limits: a name may be made to cost time and memory.
 * Returns   a string to be freed; NULL: no memory. */
char *demangle(const char *symbol);

#endif
