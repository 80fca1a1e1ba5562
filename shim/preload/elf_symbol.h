/* elf_symbol.h - look for a symbol in one loaded object, and nowhere else; without dlsym, which allocates where there is none. */
#ifndef MALLAB_SHIM_PRELOAD_ELF_SYMBOL_H
#define MALLAB_SHIM_PRELOAD_ELF_SYMBOL_H

#include <link.h>

#pragma GCC visibility push(hidden)

/* elf_object_of - the loaded object that an address lies in; NULL: in none. */
const struct link_map *elf_object_of(const void *address);

/* elf_symbol - the address of a function that the object defines under that name; NULL: it has none. */
void *elf_symbol(const struct link_map *object, const char *name);

/* elf_symbol_behind - its entry for a function of that name, the next one behind `former`, which is one of another version; NULL: there
 * is none. */
const ElfW(Sym) *
    elf_symbol_behind(const struct link_map *object, const char *name, const ElfW(Sym) * former);

/* elf_first_symbol - likewise of the first object in the loader's order that has one, but for our own library. */
void *elf_first_symbol(const char *name);

#pragma GCC visibility pop

#endif
