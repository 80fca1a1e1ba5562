/* record.h - the words that the shim stores for a call and the collector reads.
 *
 * A chunk is a sequence of records of one to three 64-bit words. A record's first word is written last and is
 * never 0, so that a reader of a zeroed chunk, or of a chunk whose writer was killed, sees each record whole or
 * not at all; the first word that is 0 is the end. Its low 4 bits tell what it is:
 *
 *   1 - 11           a call in one word (fp_record_code): bits 4-47 address / 16, 48-63 size. extra is the one that
 *                    a program rarely departs from: 1 for calloc, else 0
 *   FP_RECORD_WIDE   any call or mark, three words: bits 4-11 call, 16-63 address; size; extra
 *   FP_RECORD_EPOCH  one word: bits 4-63 epoch of what follows
 *   FP_RECORD_STAMP  two words: bits 4-63 epoch of what follows; raw clock (segment's: TSC ticks, or ns of
 *                    CLOCK_MONOTONIC)
 *   FP_RECORD_LONG   any call or mark, two words: bits 4-11 call, 16-63 address; bits 0-31 size, 32-63 extra
 *
 * A LONG whose call is FP_RECORD_THREAD is none: what follows is another thread's, whose lane has the number `size` and whose
 * thread id is `extra`. It ends a group.
 *
 * Nearly all calls of real programs fit one word, and the memory that records pass through on their way to another
 * processor is most of what recording costs. Addresses have 48 bits (user space on x86-64, and on aarch64
 * without LVA, ends below).
 *
 * Epochs: see docs/order.md. A lane writes a stamp first in each chunk and at each multiple of a group's bytes,
 * FP_RECORD_GROUP_BYTES or four times as many while its process has one lane only; no record crosses such a
 * multiple, what is left before it is filled with epochs. */
#ifndef MALLAB_FOOTPRINT_FP_RECORD_H
#define MALLAB_FOOTPRINT_FP_RECORD_H

#include <stdint.h>

#include "footprint/base/call.h"

enum {
    FP_RECORD_CODE_MASK = 15,
    FP_RECORD_SHORT_CODES = 11,
    FP_RECORD_WIDE = 12,
    FP_RECORD_EPOCH = 13,
    FP_RECORD_STAMP = 14,
    FP_RECORD_LONG = 15,
};

#define FP_RECORD_GROUP_BYTES 128u /* a lane stamps at each multiple (or fourth): 14 calls to a stamp */

#define FP_RECORD_THREAD 255u /* no call and no mark (call.h) */

#define FP_RECORD_SHORT_SIZE_BITS 16u
#define FP_RECORD_ADDRESS_BITS    48u

/* fp_record_code - the code of a call that may stand in one word, 0 for one that may not. */
static inline unsigned fp_record_code(unsigned call)
{
    switch (call) {
    case FP_CALL_MALLOC:
        return 1;
    case FP_CALL_FREE:
        return 2;
    case FP_CALL_CALLOC:
        return 3;
    case FP_CALL_REALLOC:
        return 4;
    case FP_MARK_RESIZE_FROM:
        return 5;
    case FP_CALL_NEW:
        return 6;
    case FP_CALL_NEW_ARRAY:
        return 7;
    case FP_CALL_DELETE:
        return 8;
    case FP_CALL_DELETE_ARRAY:
        return 9;
    case FP_CALL_DELETE_SIZED:
        return 10;
    case FP_CALL_DELETE_ARRAY_SIZED:
        return 11;
    default:
        return 0;
    }
}

/* fp_record_extra - the extra that a call in one word stands for. */
static inline uint64_t fp_record_extra(unsigned call)
{
    return call == FP_CALL_CALLOC ? 1 : 0;
}

/* fp_record_is_short - whether these numbers fit one word; the call is judged by fp_record_code. */
static inline int fp_record_is_short(uint64_t address, uint64_t size)
{
    return (size >> FP_RECORD_SHORT_SIZE_BITS | address >> FP_RECORD_ADDRESS_BITS |
            (address & FP_RECORD_CODE_MASK)) == 0;
}

static inline uint64_t fp_record_short(unsigned code, uint64_t address, uint64_t size)
{
    return code | address | size << FP_RECORD_ADDRESS_BITS;
}

/* fp_record_first - the first word of FP_RECORD_LONG or _WIDE. */
static inline uint64_t fp_record_first(unsigned code, unsigned call, uint64_t address)
{
    return (uint64_t)code | (uint64_t)call << 4 | address << 16;
}

/* fp_record_epoch - the first word of FP_RECORD_EPOCH or _STAMP. */
static inline uint64_t fp_record_epoch(unsigned code, uint64_t epoch)
{
    return (uint64_t)code | epoch << 4;
}

static inline uint64_t fp_record_epoch_of(uint64_t word)
{
    return word >> 4;
}

/* fp_record_is_thread - whether a first word is that of a FP_RECORD_THREAD. */
static inline int fp_record_is_thread(uint64_t word)
{
    return (word & 0xffff) == (FP_RECORD_LONG | FP_RECORD_THREAD << 4);
}

#endif
