/* cfi.h - the way out of a function's frame at an instruction, read from its module's .eh_frame.
 *
 *   module    an ELF file as the loader mapped it; of its memory only the segment that holds .eh_frame_hdr is read
 *   rule      in 31 bits, so that with a part of the address it makes one word of the cache (modules.h): where the caller's
 *             stack pointer (CFA) was, and where the return address and the frame register are saved
 *
 * Laws: no call of anything, no memory but the arguments'. A module on disk is input: every offset is held against the
 * segment's bounds before it is followed, every loop ends with the bytes. What is not understood is said so, never guessed.
 * The layout is that of the LSB, chapter "Exception Frames", and of DWARF 5, section 6.4. */
#ifndef MALLAB_SHIM_SITES_CFI_H
#define MALLAB_SHIM_SITES_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- frames on the stack of this processor: the same names from a file each.
 *
 *   frame register   x86-64's rbp, aarch64's x29
 *   base             what the CFA is counted from: sp or the frame register
 *   slot             where a return address stands
 *   rule             its kind, and above it PROCESSOR_RULE_BITS in which each processor has what its frames need
 *
 * Laws: those of walk.h. On a processor that has no file all compiles, and no stack is walked. */

#define PROCESSOR_RULE_BITS 28u

/* The ways to find the caller's value of a register. */
enum saved_how {
    SAVED_NOT,      /* the register has it */
    SAVED_AT_CFA,   /* so many bytes from the CFA */
    SAVED_AT_FRAME, /* where the frame register points to */
    SAVED_LOST,
};

struct saved {
    enum saved_how how;
    int64_t bytes;
};

#if defined(__aarch64__)
#include "shim/sites/processor_aarch64.h"
#else
#include "shim/sites/processor_x86_64.h"
#endif

enum cfi_kind {
    CFI_NONE = 0,     /* nothing is known: the module tells nothing of this address */
    CFI_SP = 1,       /* CFA = sp + offset */
    CFI_FRAME = 2,    /* CFA = frame register + offset */
    CFI_AT_FRAME = 3, /* CFA = the word at frame register - offset: functions that align their stack */
    CFI_END = 4,      /* there is no caller */
    CFI_SIGNAL = 5,   /* the kernel's frame of a signal; what it interrupted stands there */
    CFI_OTHER = 6,    /* it is told in a way that has no rule here */
    CFI_CODE =
        7, /* of code without a file, looked at (modules.h): bits of a rule of kind CFI_SP; 0: it is not understood */
};

#define CFI_RULE_BITS (3u + PROCESSOR_RULE_BITS)

static inline uint32_t cfi_rule_make(enum cfi_kind kind, uint32_t bits)
{
    return (uint32_t)kind | bits << 3;
}

static inline enum cfi_kind cfi_rule_kind(uint32_t rule)
{
    return (enum cfi_kind)(rule & 7);
}

/* cfi_rule_bits - what the processor's file has functions for. */
static inline uint32_t cfi_rule_bits(uint32_t rule)
{
    return rule >> 3 & ((1u << PROCESSOR_RULE_BITS) - 1);
}

/* The readable bytes around .eh_frame_hdr. */
struct cfi_segment {
    uintptr_t start, end;
    uintptr_t header; /* of .eh_frame_hdr, within */
};

/* cfi_find - the rule that holds at an instruction; for a return address the caller passes the byte before it.
 * Returns   a rule: of kind CFI_NONE where no function of the module covers the address, or .eh_frame has no table that
 *           can be searched; CFI_OTHER where it has another rule or is damaged. */
uint32_t cfi_find(const struct cfi_segment *segment, uintptr_t address);

/* cfi_begin - where the function begins that covers an address, of any processor's code. Returns 0: none is told to. */
uintptr_t cfi_begin(const struct cfi_segment *segment, uintptr_t address);

/* cfi_reads - an aligned word of a stack, from sp on and below `high`.
 * shift  from the stack's addresses to where its words are read: 0, or to a copy of them. */
static inline __attribute__((always_inline)) bool cfi_reads(uint64_t shift, uint64_t place, uint64_t sp,
                                                            uint64_t high, uint64_t *ret_word)
{
    if (place < sp || place % 8 != 0 || place > high - 8)
        return false;
    *ret_word = *(const uint64_t *)(uintptr_t)(place + shift);
    return true;
}

/* cfi_step - from a frame to the one outside of it, by a rule that has a CFA and is not linked.
 * shift, high  as cfi_reads has them.
 * sp, fp       of the frame; then of the outer one. An fp of 0 is not known, and no rule that needs it leads anywhere.
 * Returns      false: a place is outside of the stack. */
static inline __attribute__((always_inline)) bool cfi_step(uint32_t rule, uint64_t shift, uint64_t high,
                                                           uint64_t *sp, uint64_t *fp, uint64_t *ret_slot,
                                                           uint64_t *ret_address)
{
    const uint32_t bits = cfi_rule_bits(rule);
    const uint64_t base = cfi_rule_kind(rule) == CFI_SP ? *sp : *fp;
    uint64_t cfa = base + processor_offset(bits), outer = *fp, word;
    if (cfi_rule_kind(rule) == CFI_AT_FRAME &&
        !cfi_reads(shift, *fp - processor_offset(bits), *sp, high, &cfa))
        return false;
    const uint64_t slot = processor_slot(bits, base, cfa);
    if (cfa <= *sp || cfa % 8 != 0 || cfa > high || slot >= cfa || !cfi_reads(shift, slot, *sp, high, &word))
        return false;
    if (processor_loses_frame(bits))
        outer = 0;
    else if (!processor_keeps_frame(bits) &&
             !cfi_reads(shift, processor_frame_place(bits, slot, *fp), *sp, high, &outer))
        return false;
    *ret_slot = slot;
    *ret_address = processor_code(word);
    *sp = cfa;
    *fp = outer;
    return true;
}

#endif
