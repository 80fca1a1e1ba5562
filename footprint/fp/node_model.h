/* node_model.h - nodes of stacks as a coded column: told by the node before, and by what calls from the same place.
 *
 * A walk makes a chain of nodes, so a node's parent is the node before or one of its callers. Its address lies in the function
 * that the parent's calls: mostly one that was called from there before, else near it. */
#ifndef MALLAB_FOOTPRINT_FP_NODE_MODEL_H
#define MALLAB_FOOTPRINT_FP_NODE_MODEL_H

#include "footprint/fp/fp_sites.h"
#include "footprint/fp/range_coder.h"

#define NODE_CALLED     4u /* addresses that are known of those called from one */
#define NODE_PLACE_BITS 13u
#define NODE_UP_MOST    128u
#define NODE_BYTES_MOST 56u /* of one node in the column */

/* What is known of a node that was told. */
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

#endif
