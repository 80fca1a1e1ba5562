/* sites_block.h - nodes and modules as the columns of blocks, and back. Private to footprint/. docs/format.md, "Sites and modules blocks".
 *
 * A footprint may have many of either; what the reader has of them so far is a struct sites_store.
 *
 * Nodes are told by the node before, and by what calls from the same place: a walk makes a chain of nodes, so a node's parent is the
 * node before or one of its callers. Its address lies in the function that the parent's calls: mostly one that was called from there
 * before, else near it. */
#ifndef MALLAB_FOOTPRINT_FP_SITES_BLOCK_H
#define MALLAB_FOOTPRINT_FP_SITES_BLOCK_H

#include "footprint/base/arrays.h"
#include "footprint/base/blockio.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/range_coder.h"

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

/* ---- blocks ------------------------------------------------------------------------------------------ */

/* A module takes at most so many bytes. */
#define MODULE_BYTES_MAX (6 * VARINT_BYTES_MAX + FP_BUILD_ID_MAX + FP_PATH_MAX)

struct sites_store {
    struct fp_sites sites;
    struct fp_site_node *nodes;
    struct fp_module *modules;
    struct fp_index index;    /* of the modules */
    struct node_model *model; /* of nodes, once there are some */
    size_t node_capacity, module_capacity, text_bytes;
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

/* sites_scratch_bytes, modules_scratch_bytes - most bytes that the columns of a block of count can hold. */
size_t sites_scratch_bytes(uint32_t count);
size_t modules_scratch_bytes(uint32_t count);

/* sites_decode, modules_decode - add a block's to the store. A node or module that is there already stays as it was told first.
 * Returns   FP_OK; FP_ERR_CORRUPT, FP_ERR_MEMORY with *ret_what; what stood in the block before the fault is kept. */
enum fp_status sites_decode(const struct block_header *header, const struct column *column,
                            struct sites_store *store, const char **ret_what);
enum fp_status modules_decode(const struct block_header *header, const struct column *column,
                              struct sites_store *store, const char **ret_what);

/* sites_release - free what a store holds. */
void sites_release(struct sites_store *store);

#endif
