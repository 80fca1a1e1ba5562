/* processor.h - frames on the stack of this processor: the same names from a file each.
 *
 *   frame register   x86-64's rbp, aarch64's x29
 *   base             what the CFA is counted from: sp or the frame register
 *   slot             where a return address stands
 *   rule             of cfi.h: its kind, and above it PROCESSOR_RULE_BITS in which each processor has what its frames need
 *
 * Laws: those of walk.h. On a processor that has no file all compiles, and no stack is walked. */
#ifndef MALLAB_SHIM_SITES_PROCESSOR_H
#define MALLAB_SHIM_SITES_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
