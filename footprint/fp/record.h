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
 * Nor are these, of a recording with call stacks (fp_sites.h):
 *
 *   FP_RECORD_SITE    LONG: the site of the allocation or resize that follows is `size`; without it, the one that is predicted
 *                     (struct fp_site_predictor)
 *   FP_RECORD_NODE    LONG: `address` is the node's; second word: bits 0-23 its number, 24-47 its parent, 48-63 the epoch
 *   FP_RECORD_MODULE  WIDE: a piece of FP_RECORD_PIECE_BYTES of a module, a struct fp_record_module with build id and path behind;
 *                     of `address` bits 0-15 are the piece's number, 16-31 the bytes of all
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
#include <string.h>

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

/* No calls and no marks (call.h). */
#define FP_RECORD_THREAD 255u
#define FP_RECORD_SITE   254u
#define FP_RECORD_NODE   253u
#define FP_RECORD_MODULE 252u

#define FP_RECORD_PIECE_BYTES      16u
#define FP_RECORD_MODULE_BYTES_MAX 1120u

#define FP_RECORD_SHORT_SIZE_BITS 16u
#define FP_RECORD_ADDRESS_BITS    48u

/* clang-format off */
/* The calls that may stand in one word, by their codes. */
#define FP_RECORD_SHORTS(X) \
    X(1, FP_CALL_MALLOC) X(2, FP_CALL_FREE) X(3, FP_CALL_CALLOC) X(4, FP_CALL_REALLOC) X(5, FP_MARK_RESIZE_FROM) \
    X(6, FP_CALL_NEW) X(7, FP_CALL_NEW_ARRAY) X(8, FP_CALL_DELETE) X(9, FP_CALL_DELETE_ARRAY) \
    X(10, FP_CALL_DELETE_SIZED) X(11, FP_CALL_DELETE_ARRAY_SIZED)
#define FP_RECORD_CODE_OF(code, call) case (call): return (code);
#define FP_RECORD_CALL_OF(code, call) [code] = call,
/* clang-format on */

/* fp_record_code - the code of a call that may stand in one word, 0 for one that may not. */
static inline unsigned fp_record_code(unsigned call)
{
    switch (call) {
        FP_RECORD_SHORTS(FP_RECORD_CODE_OF)
    default:
        return 0;
    }
}

/* fp_record_call - fp_record_code backwards, FP_CALL_NONE for what is none. */
static inline unsigned fp_record_call(unsigned code)
{
    static const uint8_t CALLS[FP_RECORD_SHORT_CODES + 1] = {FP_RECORD_SHORTS(FP_RECORD_CALL_OF)};
    return code <= FP_RECORD_SHORT_CODES ? CALLS[code] : FP_CALL_NONE;
}

/* fp_call_has_site - whether a call allocates or resizes, and so has a site where sites are recorded. */
static inline int fp_call_has_site(unsigned call)
{
    return (call >= FP_CALL_MALLOC && call <= FP_CALL_REALLOCARRAY) ||
           (call >= FP_CALL_POSIX_MEMALIGN && call <= FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW);
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

/* fp_record_words - how many words a record has that begins with this one, if it is one. */
static inline uint32_t fp_record_words(uint64_t word)
{
    const unsigned code = word & FP_RECORD_CODE_MASK;
    return code == FP_RECORD_WIDE ? 3 : code == FP_RECORD_LONG || code == FP_RECORD_STAMP ? 2 : 1;
}

static inline uint64_t fp_record_epoch_of(uint64_t word)
{
    return word >> 4;
}

/* fp_record_is_of_sites - whether a first word is that of a FP_RECORD_SITE, _NODE or _MODULE. */
static inline int fp_record_is_of_sites(uint64_t word)
{
    const uint64_t low = word & 0xffff;
    return low == (FP_RECORD_LONG | FP_RECORD_SITE << 4) || low == (FP_RECORD_LONG | FP_RECORD_NODE << 4) ||
           low == (FP_RECORD_WIDE | FP_RECORD_MODULE << 4);
}

/* fp_record_node - the second word of a FP_RECORD_NODE, and what is in it. */
static inline uint64_t fp_record_node(uint32_t site, uint32_t parent, uint16_t epoch)
{
    return site | (uint64_t)parent << 24 | (uint64_t)epoch << 48;
}

static inline uint32_t fp_record_node_site(uint64_t word)
{
    return (uint32_t)word & 0xffffff;
}

static inline uint32_t fp_record_node_parent(uint64_t word)
{
    return (uint32_t)(word >> 24) & 0xffffff;
}

static inline uint16_t fp_record_node_epoch(uint64_t word)
{
    return (uint16_t)(word >> 48);
}

/* The head of a FP_RECORD_MODULE; then build_id_bytes of the build id, then the path without its end. */
struct fp_record_module {
    uint64_t start, end, base;
    uint16_t epoch;
    uint8_t build_id_bytes;
    uint8_t unused[5];
};

/* fp_record_piece - the `address` of a FP_RECORD_MODULE, and what is in its first word. */
static inline uint64_t fp_record_piece(uint32_t number, uint32_t bytes)
{
    return number | (uint64_t)bytes << 16;
}

static inline uint32_t fp_record_piece_number(uint64_t word)
{
    return (uint32_t)(word >> 16) & 0xffff;
}

static inline uint32_t fp_record_piece_bytes(uint64_t word)
{
    return (uint32_t)(word >> 32) & 0xffff;
}

/* fp_record_is_thread - whether a first word is that of a FP_RECORD_THREAD. */
static inline int fp_record_is_thread(uint64_t word)
{
    return (word & 0xffff) == (FP_RECORD_LONG | FP_RECORD_THREAD << 4);
}

/* ---- sites that are predicted ---------------------------------------------------------------------- */

/* A guess at the site of a thread's next allocation, so that a recorder writes only those that are others.
 *
 * Programs repeat themselves: the two sites before and the size tell the next in 86 to 99.7 of 100 allocations. Recorder and
 * collector run the same predictor over the same allocations of a chunk, each begins it anew with the chunk, and with a thread
 * that begins within one. A record of one word stays one word. */
#define FP_SITE_GUESS_BITS 10u

/* Zeroes are one that begins. */
struct fp_site_predictor {
    uint32_t before, last; /* sites of the two allocations before */
    uint32_t guesses[1u << FP_SITE_GUESS_BITS];
};

/* fp_site_guess - the place of the guess for an allocation of so many bytes, as its record has them. */
static inline uint32_t *fp_site_guess(struct fp_site_predictor *predictor, uint64_t size)
{
    const uint64_t mixed = (predictor->last * UINT64_C(0x9e3779b97f4a7c15)) ^
                           (predictor->before * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
                           (size * UINT64_C(0x165667b19e3779f9));
    return &predictor->guesses[(mixed * UINT64_C(0xd6e8feb86659fd93)) >> (64 - FP_SITE_GUESS_BITS)];
}

/* fp_site_settle - the allocation was of this site. */
static inline void fp_site_settle(struct fp_site_predictor *predictor, uint32_t *guess, uint32_t site)
{
    *guess = site;
    predictor->before = predictor->last;
    predictor->last = site;
}

static inline void fp_site_begin(struct fp_site_predictor *predictor)
{
    memset(predictor, 0, sizeof *predictor);
}

#endif
