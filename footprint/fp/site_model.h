/* site_model.h - the sites of allocations as a coded column: guessed by those before, so that most take next to nothing.
 *
 * Five tables say which site came where all was as it is now: the two sites before, how many calls without a site since, and the
 * shape; the site before and the shape; the shape; and the first two once more without the shape. The first that has a guess is
 * asked, then the next; where none is right, the site is told by its distance to the one before, which is small: stacks that
 * begin alike have neighbouring numbers. Tables that were right before others have not to learn what these know. */
#ifndef MALLAB_FOOTPRINT_FP_SITE_MODEL_H
#define MALLAB_FOOTPRINT_FP_SITE_MODEL_H

#include "footprint/base/blockio.h"
#include "footprint/fp/range_coder.h"

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

#endif
