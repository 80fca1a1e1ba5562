/* slots.h - the slots by which loaded modules call the malloc family, turned to our hooks and back.
 *
 *   slot    a word of a module's global offset table that a JUMP_SLOT or GLOB_DAT relocation fills in
 *   theirs  what it held: the first definition in the loader's order, but for ours; or, not bound yet, an address in the
 *           module's own linkage table
 *
 * A slot that holds neither is left: it leads to a definition that we do not forward to. One that is not bound is left too where
 * the process has several definitions and the module may have come by dlopen: it may come to be bound to any. Pages that the
 * loader has made read-only are made writable for the moment of a store; where the loader is not done with a module yet, that
 * module is left to the next look.
 *
 * Laws: those of shim.h; it holds the loader's lock of the list of modules while it looks, by dl_iterate_phdr(3). */
#ifndef MALLAB_SHIM_PRELOAD_SLOTS_H
#define MALLAB_SHIM_PRELOAD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct slots_count {
    uint64_t turned, left, modules;
};

/* slots_turn - turn all that can be. slots_turn_new - the same, where modules came since. slots_turn_back - those that still
 * hold ours. Each at a time by one thread; another's call returns at once. */
struct slots_count slots_turn(void);
void slots_turn_new(void);
struct slots_count slots_turn_back(void);

#pragma GCC visibility pop

#endif
