/* defects.h - the invalid golden files: what is wrong with each, and what a reader has to say.
 *
 * Each is a valid golden file with one change; checksums are made right again wherever they are not the defect. */
#ifndef MALLAB_TESTS_DEFECTS_H
#define MALLAB_TESTS_DEFECTS_H

#include "golden/patch.h"

struct defect {
    const char *name;  /* file in invalid/ */
    const char *base;  /* file in valid/ */
    const char *stage; /* as in struct dump_result */
    enum fp_status status;
    /* Applies the defect. Returns the offset that the reader has to name. */
    size_t (*make)(struct image *image);
};

/* Each ended by an entry without a name. */
extern const struct defect FP_DEFECTS[];
extern const struct defect WL_TOUCHED_DEFECTS[]; /* of the shares of large objects */
extern const struct defect WL_SITES_DEFECTS[];   /* of call sites */
extern const struct defect WL_DEFECTS[];
extern const struct defect WL_SUMMARY_DEFECTS[];

/* Changes that both formats share (defects.c). */
size_t defect_truncated_header(struct image *image);
size_t defect_foreign(struct image *image);
size_t defect_newer_version(struct image *image);
size_t defect_header_checksum(struct image *image);
size_t defect_meta_without_equals(struct image *image);

/* defect_column - replace a column of block `nth` of a type by other bytes; returns the block's offset. */
size_t defect_column(struct image *image, unsigned type, unsigned nth, unsigned column, const void *bytes,
                     size_t size);

/* defect_coded - the first such block's coded column misses its last byte, or has one left over behind it; likewise. */
size_t defect_coded(struct image *image, unsigned type, unsigned column, bool cut);

/* defect_table - overwrite an entry of the column table (raw and stored size), payload unchanged, and
 * seal. Returns the block's offset. */
size_t defect_table(struct image *image, unsigned type, unsigned nth, unsigned column, uint32_t raw,
                    uint32_t stored);

/* defect_bomb - replace a column by a zstd frame that states and yields `frame_bytes` zeroes in a few bytes, while
 * the column table says `table_bytes`. Returns the block's offset. */
size_t defect_bomb(struct image *image, unsigned type, unsigned nth, unsigned column, uint32_t frame_bytes,
                   uint32_t table_bytes);

/* defect_column_offset - where a column's stored bytes begin in the file. */
size_t defect_column_offset(const struct image *image, size_t block, unsigned column);

#endif
