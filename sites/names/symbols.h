/* symbols.h - the functions that a file's symbols name, or a perf map's lines, as intervals; what is their name. */
#ifndef MALLAB_SITES_NAMES_SYMBOLS_H
#define MALLAB_SITES_NAMES_SYMBOLS_H

#include <libelf.h>

#include "sites/names/intervals.h"

#define PERF_MAP_BYTES_MAX (UINT64_C(512) << 20)

/* symbols_of_elf - all functions of its .symtab, or of its .dynsym.
 * type      SHT_SYMTAB or SHT_DYNSYM.
 * symbols   empty; what is char, the elf's as long as it is open.
 * Returns   false: it has no such table, or there is no memory. */
bool symbols_of_elf(Elf *elf, unsigned type, struct intervals *symbols);

/* symbols_of_perf_map - lines "START BYTES NAME", numbers in hex; others are passed over.
 * text      size bytes, the last of which is 0; changed, and what the intervals point at.
 * Returns   false: there is no memory. */
bool symbols_of_perf_map(char *text, size_t size, struct intervals *symbols);

/* symbols_name - of those that cover the address, or begin at start.
 * start     of the function, 0: not known.
 * latest    of several that cover it the last one: of a perf map, where code moves.
 * Returns   NULL: there is none. */
const struct interval *symbols_name(const struct intervals *symbols, uint64_t address, uint64_t start,
                                    bool latest);

/* demangle - `_ZN3fooEv` becomes foo(), and std::string is called so; Rust's names, of both manglings, lose their hash; clones of a
 * function (.cold, .part.0, .isra.0) their number, and a version behind '@' goes. What cannot be read stays as it is.
 * Source    libiberty's demangler. For a child with limits: a name may be made to cost time and memory.
 * Returns   a string to be freed; NULL: no memory. */
char *demangle(const char *symbol);

#endif
