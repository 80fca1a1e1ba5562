/* site_model.h - models of call sites, and the coder of bits that they feed. Private to footprint/.
 *
 * A column of sites is mostly guessed right, and what a right guess takes is a hundredth of a bit to a few tenths: whole bits, as
 * zstd's literals have, would be most of the column. So bits are coded with the probabilities that they have turned out to have.
 * docs/notes/format.md, "Coded sites", is the specification. Writing and reading run the same code, so that they cannot part:
 * `reads` is a constant wherever these are inlined. */
#ifndef MALLAB_FOOTPRINT_FP_SITE_MODEL_H
#define MALLAB_FOOTPRINT_FP_SITE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/arrays.h"
#include "footprint/base/blockio.h"
#include "footprint/fp/fp_sites.h"

/* ---- the coder ----------------------------------------------------------------------------------------- */

#define RANGE_INLINE static inline __attribute__((always_inline))

#define RANGE_BITS       12u /* of a probability */
#define RANGE_HALF       (1u << (RANGE_BITS - 1))
#define RANGE_RATE       5u
#define RANGE_LEAST      (1u << 24)
#define RANGE_TAIL_BYTES 4u /* behind the last bit */
#define RANGE_TOP_BITS   3u /* of a number, below its highest one, which have probabilities */

/* A column: written at `at`, where the caller has made room, or read from there up to `end`. */
struct range_coder {
    uint32_t low; /* reading: the number that the column is, less what was left behind */
    uint32_t range;
    uint8_t *at;
    const uint8_t *from, *end;
    bool bad; /* it was read beyond its end; every bit is 0 or 1 by chance from then on */
};

/* range_write - begin a column in memory. range_end: finish it; returns the byte behind it.
 * range_read - begin to read one. range_done: whether it was read to its end, and nothing was amiss. */
static inline struct range_coder range_write(uint8_t *at)
{
    return (struct range_coder){.range = UINT32_MAX, .at = at};
}

static inline uint8_t *range_end(struct range_coder *coder)
{
    for (unsigned i = 0; i < RANGE_TAIL_BYTES; i++, coder->low <<= 8)
        *coder->at++ = (uint8_t)(coder->low >> 24);
    return coder->at;
}

static inline uint32_t range_next_byte(struct range_coder *coder)
{
    coder->bad |= coder->from == coder->end;
    return coder->from < coder->end ? *coder->from++ : 0;
}

static inline struct range_coder range_read(const uint8_t *from, size_t bytes)
{
    struct range_coder coder = {.range = UINT32_MAX, .from = from, .end = from + bytes};
    for (unsigned i = 0; i < RANGE_TAIL_BYTES; i++)
        coder.low = coder.low << 8 | range_next_byte(&coder);
    return coder;
}

static inline bool range_done(const struct range_coder *coder)
{
    return !coder->bad && coder->from == coder->end;
}

/* The part of the range up to `bound` is that of a bit that is set. */
RANGE_INLINE bool range_split(struct range_coder *coder, bool reads, uint32_t bound, bool bit)
{
    if (reads)
        bit = coder->low < bound;
    if (bit) {
        coder->range = bound;
    } else {
        coder->range -= bound;
        if (reads) {
            coder->low -= bound;
        } else {
            coder->low += bound;
            if (coder->low <
                bound) /* one is carried: the column as a number stays below 1, so it ends within it */
                for (uint8_t *before = coder->at - 1; ++*before == 0;)
                    before--;
        }
    }
    while (coder->range < RANGE_LEAST) {
        coder->range <<= 8;
        if (reads)
            coder->low = coder->low << 8 | range_next_byte(coder);
        else {
            *coder->at++ = (uint8_t)(coder->low >> 24);
            coder->low <<= 8;
        }
    }
    return bit;
}

/* range_bit - one bit. chance: of 2^RANGE_BITS, that it is set; brought up to date. Takes 7.1 bits at the most. */
RANGE_INLINE bool range_bit(struct range_coder *coder, bool reads, uint16_t *chance, bool bit)
{
    bit = range_split(coder, reads, (coder->range >> RANGE_BITS) * *chance, bit);
    if (bit)
        *chance += ((1u << RANGE_BITS) - *chance) >> RANGE_RATE;
    else
        *chance -= *chance >> RANGE_RATE;
    return bit;
}

/* Numbers: how many bits follow the highest one of the number and 1; then those. */
struct range_number {
    uint16_t length[64];                    /* a tree of 6 bits */
    uint16_t top[64][1u << RANGE_TOP_BITS]; /* by length, likewise */
};

/* range_begin - chances of an even half. */
static inline void range_begin(uint16_t *chances, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chances[i] = RANGE_HALF;
}

/* range_number - a number below 2^63; reads any up to 2^64 - 2 where the column is damaged. */
RANGE_INLINE uint64_t range_number(struct range_coder *coder, bool reads, struct range_number *model,
                                   uint64_t number)
{
    const uint64_t told = number + 1;
    unsigned length = reads ? 0 : 63u - (unsigned)__builtin_clzll(told), node = 1;
    for (unsigned i = 6; i-- > 0;)
        node = node << 1 | range_bit(coder, reads, &model->length[node], length >> i & 1);
    length = node & 63;
    uint64_t found = 1;
    node = 1;
    for (unsigned i = length; i-- > 0;) {
        const bool bit = !reads && (told >> i & 1) != 0;
        if (length - i <= RANGE_TOP_BITS) {
            const bool is = range_bit(coder, reads, &model->top[length][node], bit);
            node = node << 1 | is;
            found = found << 1 | is;
        } else {
            found = found << 1 | range_split(coder, reads, coder->range >> 1, bit);
        }
    }
    return found - 1;
}

/* ---- sites of allocations, guessed by those before -----------------------------------------------------
 *
 * Five tables say which site came where all was as it is now: the two sites before, how many calls without a site since, and the
 * shape; the site before and the shape; the shape; and the first two once more without the shape. The first that has a guess is
 * asked, then the next; where none is right, the site is told by its distance to the one before, which is small: stacks that
 * begin alike have neighbouring numbers. Tables that were right before others have not to learn what these know. */

#define SITE_GUESSES     5u
#define SITE_SURE        7u /* a guess counts how often it was right, up to this */
#define SITE_FIRST_BITS  16u
#define SITE_LATER_BITS  14u
#define SITE_SLOTS       ((1u << SITE_FIRST_BITS) + (SITE_GUESSES - 1) * (1u << SITE_LATER_BITS))
#define SITE_OTHERS_MOST 3u
#define SITE_BYTES_MOST  16u /* of one site in the column */

/* About half a MiB. */
struct site_model {
    uint32_t last, before; /* of the two allocations before, each and 1; 0: there is none */
    uint32_t others;       /* calls without a site since, SITE_OTHERS_MOST at most */
    uint32_t highest;      /* of all sites, and 1 */
    uint16_t hits[SITE_GUESSES][SITE_SURE + 1]
                 [SITE_GUESSES]; /* table, how sure it is, guesses that were wrong */
    uint16_t is_higher;
    struct range_number higher, distance;
    uint32_t generation;        /* slots of other ones count as empty */
    uint32_t slots[SITE_SLOTS]; /* generation 6 bits, site and 1 23 bits, how sure it is 3 bits */
};

/* site_model_begin - nothing is known. At first the memory is zeroed. */
void site_model_begin(struct site_model *model);

/* The calls of a block: the low and the high byte of the number of each one's shape. */
struct site_calls {
    const struct fp_shape *shapes;
    const uint8_t *low, *high; /* high: NULL where all are below 256 */
    uint32_t count;
};

/* site_column_put - the sites of those calls that allocate or resize, as a column. Each is below FP_SITES_MAX.
 * sites     by call; of others, anything.
 * at        has room for SITE_BYTES_MOST a call and RANGE_TAIL_BYTES. Returns the byte behind the column. */
uint8_t *site_column_put(struct site_model *model, const struct site_calls calls, const uint32_t *sites,
                         uint8_t *at);

/* site_column_get - the same, read: 0 for the other calls.
 * model     NULL: what it would have to know is lost, and so are the sites (FP_CUT_LOST).
 * end       sites are below it. Returns whether they are, and the column is read to its end. */
bool site_column_get(struct site_model *model, const struct site_calls calls, const struct column *column,
                     uint32_t end, uint32_t *ret_sites);

/* ---- nodes of stacks ------------------------------------------------------------------------------------
 *
 * Nodes are told by the node before, and by what calls from the same place: a walk makes a chain of nodes, so a node's parent is the
 * node before or one of its callers. Its address lies in the function that the parent's calls: mostly one that was called from there
 * before, else near it. */

#define NODE_CALLED     4u /* addresses that are known of those called from one */
#define NODE_PLACE_BITS 13u
#define NODE_UP_MOST    128u
#define NODE_BYTES_MOST 56u /* of one node in the column */

/* The facts of a node that was told. */
struct node_told {
    uint32_t parent, hash; /* of its address; 0: it was not told */
};

/* 260 KiB, and 8 bytes for each number up to the highest. */
struct node_model {
    uint32_t last; /* the number of the node before */
    uint64_t last_key;
    struct node_told *told; /* by number */
    size_t capacity;
    uint16_t is_next, is_below, is_known[NODE_CALLED + 1], is_nth[NODE_CALLED], is_same_epoch;
    struct range_number step, up, away, epoch, near, far;
    uint64_t called[1u << NODE_PLACE_BITS]
                   [NODE_CALLED]; /* newest first: address, and epoch above it; 0: none */
};

/* node_model_make - one for which nothing is known; NULL: no memory. node_model_begin: that again. node_model_free accepts NULL. */
struct node_model *node_model_make(void);
void node_model_begin(struct node_model *model);
void node_model_free(struct node_model *model);

/* node_model_put - a node that is valid, with a number above `before`, the one before in the block, or for the first
 * FP_SITE_FIRST - 1. The coder has room for NODE_BYTES_MOST. Returns false: no memory, and nothing is changed. */
bool node_model_put(struct node_model *model, struct range_coder *coder, uint32_t before,
                    const struct fp_site_entry *node);

/* node_model_get - the same, read and checked: number, parent, address are what they can be.
 * Returns   FP_OK; FP_ERR_CORRUPT, FP_ERR_MEMORY. */
enum fp_status node_model_get(struct node_model *model, struct range_coder *coder, uint32_t before,
                              struct fp_site_entry *ret_node);

/* ---- nodes and modules as the columns of blocks, and back. docs/format.md, "Sites and modules blocks" (sites_block.c).
 *
 * A file may have many blocks of either; what its reader has of them so far is a struct sites_store. */

/* A module takes at most so many bytes. */
#define MODULE_BYTES_MAX (6 * VARINT_BYTES_MAX + FP_BUILD_ID_MAX + FP_PATH_MAX)

struct sites_store {
    struct fp_stacks stacks;
    struct node_model *model; /* of nodes, once there are some */
    size_t text_bytes;
};

#define SITES_FLAG_CONTINUES 1u /* of a block's header: the model goes on from the block before */

/* sites_encode - header and column of a block of nodes.
 * model     of the file; `anew`: begins, else it goes on from the block before. Only good behind FP_OK, and once the block is written.
 * memory    receives the column's bytes (replaced), which must outlive them.
 * Returns   FP_OK, FP_ERR_MEMORY, FP_ERR_ARGUMENT. */
enum fp_status sites_encode(struct node_model *model, bool anew, const struct fp_site_entry *nodes,
                            size_t count, struct bytes *memory, struct block_header *ret_header,
                            struct column *ret_column);

/* modules_encode - likewise, one column. */
enum fp_status modules_encode(const struct fp_module *modules, size_t count, struct bytes *memory,
                              struct block_header *ret_header, struct column *ret_column);

/* stacks_scratch_bytes - most bytes that the column of a block of nodes or of modules can hold; 0: it says that it has more of them
 * than the format allows. */
size_t stacks_scratch_bytes(const struct block_header *header);

/* stacks_decode - add a block's nodes or modules to the store. One that is there already stays as it was told first.
 * Returns   FP_OK; FP_ERR_CORRUPT, FP_ERR_MEMORY with *ret_what; what stood in the block before the fault is kept. */
enum fp_status stacks_decode(const struct block_header *header, const struct column *column,
                             struct sites_store *store, const char **ret_what);

/* sites_release - free what a store holds. */
void sites_release(struct sites_store *store);

#endif
