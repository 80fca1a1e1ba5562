/* boot.h - the definitions behind ours in the lookup order (dlsym RTLD_NEXT): the allocator under the program.
 *
 * While they are being looked up, calls come back to us that there is nothing to forward to yet: they get memory of ours. */
#ifndef MALLAB_SHIM_PRELOAD_BOOT_H
#define MALLAB_SHIM_PRELOAD_BOOT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "footprint/base/call.h"
#include "shim/preload/shim.h"
#include "shim/shared/late_report.h"

#pragma GCC visibility push(hidden) /* as in shim.h */

/* The C++ operators have a place each, in the order of their calls' numbers. */
#define NEXT_OPERATOR_COUNT (FP_CALL_COUNT - FP_CALL_NEW)

/* The C half of the malloc family, malloc last; the operators of C++ in the order of the calls' numbers, from FP_CALL_NEW on. */
/* clang-format off */
#define BOOT_FAMILY(X) \
    X(calloc) X(realloc) X(reallocarray) X(free) X(free_sized) X(free_aligned_sized) X(posix_memalign) \
    X(aligned_alloc) X(memalign) X(valloc) X(pvalloc) X(malloc)
#define BOOT_OPERATORS(X) \
    X(0, _Znwm) X(1, _Znam) X(2, _ZnwmRKSt9nothrow_t) X(3, _ZnamRKSt9nothrow_t) \
    X(4, _ZnwmSt11align_val_t) X(5, _ZnamSt11align_val_t) X(6, _ZnwmSt11align_val_tRKSt9nothrow_t) \
    X(7, _ZnamSt11align_val_tRKSt9nothrow_t) X(8, _ZdlPv) X(9, _ZdaPv) X(10, _ZdlPvRKSt9nothrow_t) \
    X(11, _ZdaPvRKSt9nothrow_t) X(12, _ZdlPvm) X(13, _ZdaPvm) X(14, _ZdlPvSt11align_val_t) \
    X(15, _ZdaPvSt11align_val_t) X(16, _ZdlPvmSt11align_val_t) X(17, _ZdaPvmSt11align_val_t) \
    X(18, _ZdlPvSt11align_val_tRKSt9nothrow_t) X(19, _ZdaPvSt11align_val_tRKSt9nothrow_t)
/* clang-format on */

struct shim_next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t); /* NULL where the allocator has none, as the rest below */
    void (*free)(void *);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*clock_gettime)(clockid_t, struct timespec *); /* libc's, which makes no system call */
    void *operators[NEXT_OPERATOR_COUNT];
    bool is_libc; /* malloc is libc's own */
    struct boot_object {
        uintptr_t first, past;
    } allocator, ours; /* where they lie in memory; empty where the allocator is libc */
};

extern struct shim_next shim_next;

/* boot_resolve - fill shim_next's C half; idempotent. Returns false while this very thread is resolving
 * (the caller is nested in dlsym and must use boot_allocate), true when shim_next is usable. */
bool boot_resolve(void);

/* boot_operator - the next definition of a C++ operator, looked up at its first use: libstdc++ may have been
 * loaded long after us, and privately for the caller. Returns NULL when the process has none. */
void *boot_operator(unsigned call, const void *caller);

/* boot_make_ready - look up all operators that the process has now: later the program may be confined. */
void boot_make_ready(void);

/* boot_is_allocators - whether a call from within the allocator that returns to this address is the allocator's: it returns into
 * the same object, or, where a jump was its last instruction, into our hook. Never where the allocator is libc's, which calls
 * none of its exported names. */
static inline bool boot_is_allocators(const void *code)
{
    return (uintptr_t)code - shim_next.allocator.first <
               shim_next.allocator.past - shim_next.allocator.first ||
           (uintptr_t)code - shim_next.ours.first < shim_next.ours.past - shim_next.ours.first;
}

/* boot_allocate - memory for calls nested in boot_resolve; zeroed, never returned. NULL when used up. */
void *boot_allocate(size_t alignment, size_t size);
size_t boot_usable_size(const void *address);

extern char boot_buffer[];
#define BOOT_BUFFER_BYTES 65536u

static inline bool boot_owns(const void *address)
{
    return (uintptr_t)address - (uintptr_t)boot_buffer < BOOT_BUFFER_BYTES;
}

/* ---- which allocator is under the program: the definition of malloc behind ours, or one that stands in front. */

/* runs_on_put - what was found before main, into a slot: of a forked child all of it, of a fresh image nothing yet. */
void runs_on_put(struct seg_slot *slot);

/* runs_on_deepbind - libraries call libc's past whatever is preloaded: it is not to be exchanged by a preload. */
void runs_on_deepbind(void);

/* runs_on_ask - find it, for a process that is on; where no call of the allocator is under way. */
void runs_on_ask(void);

/* ---- look for a symbol in one loaded object, and nowhere else; without dlsym, which allocates where there is none. */

/* elf_object_of - the loaded object that an address lies in; NULL: in none. */
const struct link_map *elf_object_of(const void *address);

/* elf_symbol - the address of a function that the object defines under that name; NULL: it has none. */
void *elf_symbol(const struct link_map *object, const char *name);

/* elf_symbol_behind - its entry for a function of that name, the next one behind `former`, which is one of another version; NULL: there
 * is none. */
const ElfW(Sym) *
    elf_symbol_behind(const struct link_map *object, const char *name, const ElfW(Sym) * former);

/* elf_at - the address that an entry of its dynamic section tells; NULL: it has none of that tag.
 * elf_value - the number that one tells; 0: it has none. */
const void *elf_at(const struct link_map *object, int64_t tag);
uint64_t elf_value(const struct link_map *object, int64_t tag);

/* An object by its program headers. */
struct elf_image {
    struct link_map object;      /* of which l_addr and l_ld are filled in */
    uintptr_t first, past;       /* of all its segments */
    uintptr_t relro, relro_past; /* what the loader makes read-only; 0: nothing */
};

struct elf_image elf_image_of(const struct dl_phdr_info *info);

static inline bool elf_has(const struct elf_image *image, uintptr_t address)
{
    return address >= image->first && address < image->past;
}

/* elf_first_symbol - likewise of the first object in the loader's order that has one, but for our own library. */
void *elf_first_symbol(const char *name);

/* ---- the words by which loaded modules call the malloc family, turned to our hooks and back.
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
