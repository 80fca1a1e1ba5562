/* slots.h - the words by which loaded modules call the malloc family, turned to our hooks and back.
 *
 *   definition  the address of a function in the table of symbols of the module that defines it: what the loader binds by that name
 *               from now on, also modules that it loads, before their constructors run, and what dlsym(3) says
 *   slot        a word that a relocation of a module fills in: of its linkage table, or of its data, as a pointer to a function there
 *   theirs      what it held: the first definition in the loader's order, but for ours; or, not bound yet, an address in the
 *               module's own linkage table, which stays until the loader binds it
 *
 * A slot that holds neither is left, counted and its module named: it leads to a definition that we do not forward to. Pages that the
 * loader has made read-only are made writable for the moment of a store; where the loader is not done with a module yet, it
 * is left.
 *
 * Laws: those of shim.h; it holds the loader's lock of the list of modules while it looks, by dl_iterate_phdr(3). late.c sees to it
 * that one thread at a time is here. */
#ifndef MALLAB_SHIM_PRELOAD_SLOTS_H
#define MALLAB_SHIM_PRELOAD_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/shared/late_report.h"

#pragma GCC visibility push(hidden)

struct slots_count {
    uint64_t turned, left, modules;
    char left_in[LATE_LEFT]; /* "libx.so (2), the program (1)" */
};

/* slots_turn - turn all that can be; back: those that hold ours. */
struct slots_count slots_turn(bool back);

/* slots_define - turn the definitions alone, for what the loader binds from now on. Returns whether malloc and free are ours. */
bool slots_define(void);

/* slots_other_malloc - behind slots_define: the path of a module that has a malloc which does not lead to us; NULL: none has. */
const char *slots_other_malloc(void);

/* slots_theirs - the addresses of the malloc family that slots were turned from, 0 where there is none. */
void slots_theirs(uint64_t *ret_words, size_t most);

#pragma GCC visibility pop

#endif
