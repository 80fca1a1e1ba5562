/* wl_defects_sites.c - damaged workloads: call sites of windows, and the blocks of their stacks. */
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/sites_block.h"
#include "footprint/wl/window.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

/* ---- windows ------------------------------------------------------------------------------- */

/* How many new shapes the first window has. */
static size_t shapes_of(const struct image *image)
{
    struct image_columns columns = {0};
    size_t count = 0;
    if (!image_get_columns(image, image_find_block(image, BLOCK_WINDOW, 0), &columns))
        return 0; /* the base is a golden file: it has that block */
    for (size_t i = 0; i < columns.columns[WINDOW_SITES].size; i++)
        count += columns.columns[WINDOW_SITES].at[i] < 0x80;
    image_columns_release(&columns);
    return count;
}

/* As many sites as there are shapes, and `more`: the first is 16 and `above`, the others are the same. */
static size_t window_sites(struct image *image, unsigned above, int more)
{
    const size_t count = shapes_of(image);
    uint8_t bytes[64];
    memset(bytes, 1, sizeof bytes);
    bytes[0] = (uint8_t)(1 + 2 * (16 + above));
    return defect_column(image, BLOCK_WINDOW, 0, WINDOW_SITES, bytes, (size_t)((int)count + more)) + HEADER;
}

static size_t site_beyond_nodes(struct image *image)
{
    return window_sites(image, 40, 0);
}

/* The second one's difference to the first is the largest number that there is: their sum is none. */
static size_t site_far_beyond(struct image *image)
{
    const size_t count = shapes_of(image);
    uint8_t bytes[64];
    memset(bytes, 1, sizeof bytes);
    bytes[0] = 1 + 2 * 16;
    memset(bytes + 1, 0xff, VARINT_BYTES_MAX - 1);
    return defect_column(image, BLOCK_WINDOW, 0, WINDOW_SITES, bytes, count - 1 + VARINT_BYTES_MAX) + HEADER;
}

static size_t site_of_release(struct image *image)
{
    return window_sites(image, 0, 0);
}

static size_t sites_too_few(struct image *image)
{
    return window_sites(image, 0, -1);
}

static size_t coded_sites_cut(struct image *image)
{
    return defect_coded(image, BLOCK_WINDOW, WINDOW_SITES, true) + HEADER;
}

static size_t coded_sites_too_many(struct image *image)
{
    return defect_coded(image, BLOCK_WINDOW, WINDOW_SITES, false) + HEADER;
}

static size_t sites_left_over(struct image *image)
{
    static const uint8_t none[40] = {0};
    return defect_column(image, BLOCK_WINDOW, 1, WINDOW_SITES, none, sizeof none) + HEADER;
}

static size_t sites_in_version_3(struct image *image)
{
    put_u16(image->bytes + 8, 3);
    image_seal_header(image);
    return image_find_block(image, BLOCK_SITES, 0);
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static size_t nodes_out_of_order(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_SITES, 0);
    put_u64(image->bytes + at + 32, 17); /* its base */
    image_seal_block(image, at);
    return at;
}

static size_t nodes_after_modules(struct image *image)
{
    const size_t nodes = image_find_block(image, BLOCK_SITES, 0);
    const size_t modules = image_find_block(image, BLOCK_MODULES, 0);
    uint8_t copy[4096];
    const size_t bytes = modules - nodes;
    if (bytes > sizeof copy)
        return 0;
    memcpy(copy, image->bytes + nodes, bytes);
    image_splice(image, image_find_block(image, BLOCK_SUMMARY, 0), 0, copy, bytes);
    image_splice(image, nodes, bytes, NULL, 0);
    image_seal_footer(image);
    return nodes;
}

static size_t node_in_circle(struct image *image)
{
    uint8_t parents[16];
    memset(parents, 0, sizeof parents);
    parents[0] = 16;
    return defect_column(image, BLOCK_SITES, 0, SITES_PARENTS, parents, sizeof parents) + HEADER;
}

/* The second node is 18, and so all behind it one more. */
static size_t nodes_with_gap(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_SITES, 0);
    return image_add_to_number(image, at, SITES_NUMBERS, 1, 1);
}

static size_t node_of_no_module(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_SITES, 0);
    /* Both that lie in no module, which are the highest, get the number of one that there is not. */
    return image_add_to_number(image, at, SITES_ADDRESSES, 6, 0 - (UINT64_C(1) << FP_ADDRESS_BITS));
}

/* ---- modules ------------------------------------------------------------------------------------ */

/* One module: start, bytes, base, number, no build id, a path of one byte. */
static size_t one_module(struct image *image, const char *bytes, size_t size)
{
    const size_t at = image_find_block(image, BLOCK_MODULES, 0);
    put_u32(image->bytes + at + 12, 1);
    return defect_column(image, BLOCK_MODULES, 0, 0, bytes, size);
}

static size_t module_with_directory(struct image *image)
{
    (void)one_module(image, "\x01\x01\x02\x00\x00\x01/", 7);
    return image_find_block(image, BLOCK_SITES, 0);
}

static size_t module_with_load_address(struct image *image)
{
    (void)one_module(image, "\x10\x10\x02\x00\x00\x01x", 7);
    return image_find_block(image, BLOCK_SITES, 0);
}

static size_t module_of_no_length(struct image *image)
{
    return one_module(image, "\x01\x00\x02\x00\x00\x01x", 7) + HEADER;
}

static size_t modules_twice(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_MODULES, 0),
                 end = image_find_block(image, BLOCK_SUMMARY, 0);
    uint8_t copy[4096];
    if (end - at > sizeof copy)
        return 0;
    memcpy(copy, image->bytes + at, end - at);
    image_splice(image, end, 0, copy, end - at);
    image_seal_footer(image);
    return end;
}

#define SITES "v4-sites.wl"
#define CODED "v5-sites.wl"

const struct defect WL_SITES_DEFECTS[] = {
    {"site-beyond-nodes.wl", SITES, "window", FP_ERR_CORRUPT, site_beyond_nodes},
    {"site-far-beyond.wl", SITES, "window", FP_ERR_CORRUPT, site_far_beyond},
    {"site-of-release.wl", SITES, "window", FP_ERR_CORRUPT, site_of_release},
    {"sites-too-few.wl", SITES, "window", FP_ERR_CORRUPT, sites_too_few},
    {"sites-left-over.wl", SITES, "window", FP_ERR_CORRUPT, sites_left_over},
    {"coded-sites-cut.wl", CODED, "window", FP_ERR_CORRUPT, coded_sites_cut},
    {"coded-sites-too-many.wl", CODED, "window", FP_ERR_CORRUPT, coded_sites_too_many},
    {"sites-in-version-3.wl", SITES, "open", FP_ERR_CORRUPT, sites_in_version_3},
    {"nodes-out-of-order.wl", SITES, "open", FP_ERR_CORRUPT, nodes_out_of_order},
    {"nodes-after-modules.wl", SITES, "open", FP_ERR_CORRUPT, nodes_after_modules},
    {"node-in-circle.wl", SITES, "stacks", FP_ERR_CORRUPT, node_in_circle},
    {"nodes-with-gap.wl", SITES, "stacks", FP_ERR_CORRUPT, nodes_with_gap},
    {"node-of-no-module.wl", SITES, "stacks", FP_ERR_CORRUPT, node_of_no_module},
    {"module-with-directory.wl", SITES, "stacks", FP_ERR_CORRUPT, module_with_directory},
    {"module-with-load-address.wl", SITES, "stacks", FP_ERR_CORRUPT, module_with_load_address},
    {"module-of-no-length.wl", SITES, "stacks", FP_ERR_CORRUPT, module_of_no_length},
    {"modules-twice.wl", SITES, "open", FP_ERR_CORRUPT, modules_twice},
    {0},
};
