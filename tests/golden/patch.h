/* patch.h - a footprint or workload in memory, to be changed on purpose: blocks are found, columns replaced, and
 * checksums made right again, so that what a reader refuses is the defect and not its checksum.
 *
 * For the golden files and the fuzzers. The bytes may be anything; nothing here relies on what they say. */
#ifndef MALLAB_TESTS_PATCH_H
#define MALLAB_TESTS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/blockio.h"

#define IMAGE_FOOTPRINT "MALLABFP"
#define IMAGE_WORKLOAD  "MALLABWL"

/* A column that decompresses to more is left as it is. */
#define IMAGE_COLUMN_MAX (4u << 20)

struct image {
    uint8_t *bytes;
    size_t size, capacity;
};

/* Raw columns of one block; each is an allocation of its own. */
struct image_columns {
    unsigned count;
    struct bytes columns[BLOCK_COLUMNS_MAX];
};

/* image_load, image_store - from and to a file. Return false with errno set. */
bool image_load(struct image *image, const char *path);
bool image_store(const struct image *image, const char *path);

/* image_set - replace everything by a copy of size bytes. Ends the program when memory is short, as all below. */
void image_set(struct image *image, const void *bytes, size_t size);
void image_release(struct image *image);
bool image_is_workload(const struct image *image);

/* image_end - offset behind the last block: the file's size, less the footer of a workload. */
size_t image_end(const struct image *image);

/* image_next_block - offset of the block after the one at `at` (0: the first); 0 when none is whole. */
size_t image_next_block(const struct image *image, size_t at);

/* image_find_block - offset of block number `nth` among those of a type; 0 when there is none. */
size_t image_find_block(const struct image *image, unsigned type, unsigned nth);

/* image_splice - replace `removed` bytes at an offset by `added` others. */
void image_splice(struct image *image, size_t at, size_t removed, const void *bytes, size_t added);

/* Checksums of the file header, of one block (payload and header), and place and checksum of the footer. */
void image_seal_header(struct image *image);
void image_seal_block(struct image *image, size_t at);
void image_seal_footer(struct image *image);

/* image_seal_all - make any bytes into a file whose frame a reader accepts: magic, version, block sizes that
 * fit, numbers of windows, every checksum, the footer. Contents stay. */
void image_seal_all(struct image *image, const char magic[8]);

/* image_get_columns - decompress a block's columns. Returns false when its table contradicts its payload.
 * ret_columns is to be zero or from an earlier call; release it at the end. */
bool image_get_columns(const struct image *image, size_t at, struct image_columns *ret_columns);
void image_columns_release(struct image_columns *columns);

/* image_set_columns - store columns as they are, seal the block, and mend the footer. */
void image_set_columns(struct image *image, size_t at, const struct image_columns *columns);

/* image_add_to_number - of the block at an offset: replace the varint `index` of a column by the old value plus add, and
 * seal. A block that cannot be unpacked ends the program: one made by a writer can. Returns at. */
size_t image_add_to_number(struct image *image, size_t at, unsigned column, unsigned index, uint64_t add);

#endif
