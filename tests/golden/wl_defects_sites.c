/* wl_defects_sites.c - damaged workloads: call sites of windows, and the blocks of their stacks. */
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/sites_block.h"
#include "footprint/wl/window.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

/* ---- windows ------------------------------------------------------------------------------- */

static size_t coded_sites_cut(struct image *image)
{
    return defect_coded(image, BLOCK_WINDOW, WINDOW_SITES, true) + HEADER;
}

static size_t coded_sites_too_many(struct image *image)
{
    return defect_coded(image, BLOCK_WINDOW, WINDOW_SITES, false) + HEADER;
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

#define SITES "sites.wl"

const struct defect WL_SITES_DEFECTS[] = {
    {"coded-sites-cut.wl", SITES, "window", FP_ERR_CORRUPT, coded_sites_cut},
    {"coded-sites-too-many.wl", SITES, "window", FP_ERR_CORRUPT, coded_sites_too_many},
    {"nodes-out-of-order.wl", SITES, "open", FP_ERR_CORRUPT, nodes_out_of_order},
    {"nodes-after-modules.wl", SITES, "open", FP_ERR_CORRUPT, nodes_after_modules},
    {"module-with-directory.wl", SITES, "stacks", FP_ERR_CORRUPT, module_with_directory},
    {"module-with-load-address.wl", SITES, "stacks", FP_ERR_CORRUPT, module_with_load_address},
    {"module-of-no-length.wl", SITES, "stacks", FP_ERR_CORRUPT, module_of_no_length},
    {"modules-twice.wl", SITES, "open", FP_ERR_CORRUPT, modules_twice},
    {0},
};
