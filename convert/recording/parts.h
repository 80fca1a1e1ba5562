/* parts.h - the footprints of one process image: one, or one for each window of its recording. Private to convert/.
 *
 *   part    one footprint. STEM.fp, or STEM.wNNNN.fp by window; a lane's blocks go on from part to part, so that all
 *           of them, read one after the other, are what one footprint would have been
 *   begin   the image's first part has number 1 (meta `part`); windows before it that are gone are a beginning that
 *           is missing, not a gap
 *
 * docs/format.md, "Windows". */
#ifndef MALLAB_CONVERT_RECORDING_PARTS_H
#define MALLAB_CONVERT_RECORDING_PARTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "footprint/fp/footprint.h"

/* The parts of an image that are meant when one of them is named. */
enum conv_extent {
    CONV_EXTENT_ONE,    /* only that one */
    CONV_EXTENT_ALL,    /* all that are there */
    CONV_EXTENT_BEFORE, /* those of earlier windows */
};

struct conv_part {
    char *path;
    struct fp_reader *reader;
    const struct fp_reader_info *info;
    size_t first_block; /* number of its first block among all */
    uint32_t window;    /* by its name; 0: the recording is not cut into windows */
    uint64_t number;    /* among the image's parts, from 1 */
};

struct conv_parts {
    struct conv_part *parts;
    size_t count;
    uint32_t lane_count;
    size_t block_count;
    uint64_t mark_count, file_bytes;
    struct fp_lane *lanes; /* lane_count, as the trailers have them; NULL when there is none */
    bool is_open;          /* conv_parts_close has something to do */
    bool has_trailer;      /* every part has its own */
    uint64_t lost[FP_LOSS_COUNT];
    uint64_t end_time_ns;
    bool ran_on, uncounted; /* as the last trailer says (footprint.h) */
    uint64_t begin_ns; /* of the first part's window, since recording began; 0 for the image's first part */
    bool from_begin;   /* its first part is the image's first */
    const struct conv_part *cut; /* the first one that ends early or oddly; NULL: none */
};

/* conv_is_footprint - a filter for scandir(3): whether it has the name of a footprint, and is not hidden. */
int conv_is_footprint(const struct dirent *entry);

/* conv_parts_open - open the parts meant by `path` and `extent`, in the order of their windows.
 * Returns FP_OK, also with count 0 for CONV_EXTENT_BEFORE; else the status in error. */
enum fp_status conv_parts_open(const char *path, enum conv_extent extent, struct conv_parts *ret_parts,
                               struct conv_error *error);
void conv_parts_close(struct conv_parts *parts);

/* conv_parts_of_block - the part that holds a block, by its number among all. */
const struct conv_part *conv_parts_of_block(const struct conv_parts *parts, size_t block);

/* conv_parts_meta - a value of the first part's meta data, NULL when absent. */
const char *conv_parts_meta(const struct conv_parts *parts, const char *key);

#endif
