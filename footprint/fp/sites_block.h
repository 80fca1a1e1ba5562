/* sites_block.h - nodes and modules as the columns of blocks, and back. Private to footprint/. docs/format.md, "Sites and modules blocks".
 *
 * A file may have many blocks of either; what its reader has of them so far is a struct sites_store. */
#ifndef MALLAB_FOOTPRINT_FP_SITES_BLOCK_H
#define MALLAB_FOOTPRINT_FP_SITES_BLOCK_H

#include "footprint/base/arrays.h"
#include "footprint/fp/site_model.h"

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
