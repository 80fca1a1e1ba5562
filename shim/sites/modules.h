/* modules.h - the ELF files that the program has loaded, and the rules of their addresses.
 *
 *   module   found by _dl_find_object (glibc 2.35), which takes no lock and allocates nothing, when an address is met of which
 *            no rule is known; kept with what tells it from another file in its place
 *   epoch    0, or how many files lay there before, each of which was unloaded
 *   rules    address -> rule, one word an entry, shared by all threads; an entry that another address pushed out is read anew
 *   code     without a file, compiled at run time: its bytes are looked at where a call returns into it (processor_thunk)
 *
 * Laws: no lock, no allocation, no system call but by modules_copy, once for an address of code without a file; all of it lies in memory that a fork wipes. What is read of a module is what
 * the loader itself reads: its header, its notes, its .eh_frame. A module's unloading is noticed by modules_check, after which
 * no rule and no walk from before is believed (`generation`). */
#ifndef MALLAB_SHIM_SITES_MODULES_H
#define MALLAB_SHIM_SITES_MODULES_H

#include <stdatomic.h>

#include "footprint/fp/record.h"
#include "shim/sites/cfi.h"

#define MODULES_MOST  1024u
#define RULES_BITS    15u
#define SITE_KEY_BITS (CODE_BITS - CODE_LOW_BITS)

/* The result of _dl_find_object(3), which older headers do not have. */
struct modules_found {
    unsigned long long flags;
    void *start, *end;
    void *link_map;
    void *frame_header;
    unsigned long long reserved[7];
};

typedef int (*modules_find)(void *address, struct modules_found *found);

/* Copies bytes that may be no memory, without a fault. False: there are none, or nobody may ask. */
typedef bool (*modules_copy)(uint64_t address, uint8_t *ret_bytes, uint32_t count);

struct module {
    _Atomic uint32_t state; /* enum module_state */
    _Atomic uint32_t told;  /* not 0: somebody tells of it */
    uint32_t epoch;
    uintptr_t start, end, base;
    const void *link_map, *frame_header; /* as found */
    uint64_t identity;                   /* of its header and build id */
    struct cfi_segment frames;           /* header 0: it has none that is read */
    uintptr_t code, code_end;            /* of the executable segment, as far as it is readable */
};

enum module_state { MODULE_NONE = 0, MODULE_LOADED = 1, MODULE_GONE = 2 };

struct modules {
    modules_find find;
    modules_copy copy;          /* NULL: code without a file is not looked at */
    _Atomic uint32_t code_next; /* the next rule whose code is looked at again */
    _Atomic uint32_t has_code;  /* not 0: some rules are of kind CFI_CODE */
    _Atomic uint32_t count;     /* claimed; those above MODULES_MOST are not kept */
    _Atomic uint32_t generation;
    _Atomic uint32_t epochs;      /* not 0: some module has another epoch than 0 */
    uintptr_t own_start, own_end; /* of the recorder's own library */
    _Atomic uint64_t rules[1u << RULES_BITS];
    struct module items[MODULES_MOST];
};

/* modules_begin - in zeroed memory.
 * find      _dl_find_object.
 * own       an address within the recorder's library. */
void modules_begin(struct modules *modules, modules_find find, const void *own);

/* modules_rule_slow - the rule of an address that the cache does not have; see modules_rule.
 * ret_fresh  set where there is a module that nobody has told of yet (modules_untold); else untouched. */
uint32_t modules_rule_slow(struct modules *modules, uint64_t address, bool *ret_fresh);

/* modules_untold - a module that the caller has to tell of; NULL: none. */
const struct module *modules_untold(struct modules *modules);

/* An address of code and its entry determine each other: multiplied by an odd number it gives the place and a tag; the entry has
 * the tag above the rule. Two addresses that meet share a pair of places: the tag has the bit that tells them apart. */
#define MODULES_FACTOR  UINT64_C(0x4f1bbcdcbfa53e0b)
#define MODULES_INVERSE UINT64_C(0x270957fa0feedda3)

_Static_assert(MODULES_FACTOR *MODULES_INVERSE == 1, "one undoes what the other does");

static inline uint64_t modules_mix(uint64_t address)
{
    return (address >> CODE_LOW_BITS) * MODULES_FACTOR & ((UINT64_C(1) << SITE_KEY_BITS) - 1);
}

/* modules_place - the place of a mixed address, the first of the pair. */
static inline uint32_t modules_place(uint64_t mixed)
{
    return (uint32_t)(mixed >> (SITE_KEY_BITS - RULES_BITS)) & ~1u;
}

/* modules_tag - the rest of it, which with the rule is the entry: never 0 as no rule is of kind CFI_NONE. */
static inline uint64_t modules_tag(uint64_t mixed)
{
    return (mixed & ((UINT64_C(1) << (SITE_KEY_BITS - RULES_BITS + 1)) - 1)) << CFI_RULE_BITS;
}

#define RULE_MASK ((UINT64_C(1) << CFI_RULE_BITS) - 1)

/* modules_address - the address of an entry at a place of either of the pair. */
static inline uint64_t modules_address(uint32_t place, uint64_t entry)
{
    const uint64_t mixed = (uint64_t)(place & ~1u) << (SITE_KEY_BITS - RULES_BITS) | entry >> CFI_RULE_BITS;
    return (mixed * MODULES_INVERSE & ((UINT64_C(1) << SITE_KEY_BITS) - 1)) << CODE_LOW_BITS;
}

/* modules_rule_known - the rule that the cache has; 0: none. */
static inline uint32_t modules_rule_known(const struct modules *modules, uint64_t address)
{
    const uint64_t mixed = modules_mix(address), tag = modules_tag(mixed);
    const _Atomic uint64_t *pair = &modules->rules[modules_place(mixed)];
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t entry = atomic_load_explicit(&pair[i], memory_order_relaxed);
        if (__builtin_expect((entry & ~RULE_MASK) == tag, 1))
            return (uint32_t)(entry & RULE_MASK);
    }
    return 0;
}

/* modules_rule_plain - the rule that a walk goes by: of code that was looked at and understood it is one of kind CFI_SP. */
static inline uint32_t modules_rule_plain(uint32_t rule)
{
    return cfi_rule_kind(rule) == CFI_CODE && cfi_rule_bits(rule) != 0
               ? cfi_rule_make(CFI_SP, cfi_rule_bits(rule))
               : rule;
}

/* modules_rule - the rule at an instruction, given the address behind it: a return address, or CODE_STEP more than an
 * instruction that was interrupted. Below 2^CODE_BITS. */
static inline uint32_t modules_rule(struct modules *modules, uint64_t address, bool *ret_fresh)
{
    const uint32_t rule = modules_rule_known(modules, address);
    return __builtin_expect(rule != 0, 1) ? rule : modules_rule_slow(modules, address, ret_fresh);
}

/* modules_epoch - the epoch of the module that an address lies in, 0 where none does. */
uint32_t modules_epoch(const struct modules *modules, uint64_t address);

/* modules_is_call - whether the bytes before a return address are a call, in code that can be read.
 * modules_is_none - whether they are something else there: nothing called, somebody put the address where it is.
 * modules_target  - where that call leads to, if its bytes say; else 0. */
bool modules_is_call(const struct modules *modules, uint64_t address);
bool modules_is_none(const struct modules *modules, uint64_t address);
uint64_t modules_target(const struct modules *modules, uint64_t address);

/* modules_check - look whether all modules are still there; a step of the generation where one is not.
 * thorough   that another file in the place of one, with all addresses the same, is seen, too.
 * Returns    whether there was a step. */
bool modules_check(struct modules *modules, bool thorough);

/* modules_check_code - look at some of the code without a file again, others each time; a step of the generation where a rule was
 * of other code. Returns whether there was a step. */
bool modules_check_code(struct modules *modules);

/* modules_text - a module as its records tell it (record.h). Returns its bytes, at most FP_RECORD_MODULE_BYTES_MAX. */
uint32_t modules_text(const struct modules *modules, const struct module *module,
                      uint8_t ret_text[FP_RECORD_MODULE_BYTES_MAX + FP_RECORD_PIECE_BYTES]);

#endif
