/* site_model.h - the sites of allocations as a coded column: guessed by those before, so that most take next to nothing.
 *
 * Five tables say which site came where all was as it is now: the two sites before, how many calls without a site since, and the
 * shape; the site before and the shape; the shape; and the first two once more without the shape. The first that has a guess is
 * asked, then the next; where none is right, the site is told by its distance to the one before, which is small: stacks that
 * begin alike have neighbouring numbers. Tables that were right before others have not to learn what these know. */
#ifndef MALLAB_FOOTPRINT_FP_SITE_MODEL_H
#define MALLAB_FOOTPRINT_FP_SITE_MODEL_H

#include "footprint/base/call.h"
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

/* site_shape_hash - what tells shapes apart for guesses. */
static inline uint64_t site_shape_hash(const struct fp_shape *shape)
{
    return (shape->size * 64 + shape->call + shape->extra * UINT64_C(0x632be59bd9b4e019)) *
           UINT64_C(0x9e3779b97f4a7c15);
}

/* site_model_other - a call without a site. */
static inline void site_model_other(struct site_model *model)
{
    model->others += model->others < SITE_OTHERS_MOST;
}

/* site_model_put - the site of the next allocation, below FP_SITES_MAX. The coder has room for SITE_BYTES_MOST. */
void site_model_put(struct site_model *model, struct range_coder *coder, uint64_t shape_hash, uint32_t site);

/* site_model_get - the same, read: UINT32_MAX where it is none that a site can be. */
uint32_t site_model_get(struct site_model *model, struct range_coder *coder, uint64_t shape_hash);

#endif
