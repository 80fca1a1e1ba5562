/* Shows: the site of every op of a workload comes back as the stack that it was told with, whatever numbers the source had, over
 * windows and threads; nothing else of the file changes by it; whoever does not ask for
 * sites sees none; no directory and no load address is in the file. */
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/fp/site_model.h"
#include "footprint/wl/workload.h"
#include "unit/busy.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/readers.h"
#include "unit/scratch.h"
#include "unit/site_module.h"

#define OPS        200000u
#define THREADS    3u
#define MODULES    4u
#define NODE_END   60000u
#define MODULE_GAP UINT64_C(0x10000000)
#define BASE       UINT64_C(0x7f0000000000)

static const char *path;
static struct fp_site_node nodes[NODE_END];
static struct fp_module modules[MODULES];
static struct fp_sites sites = {
    .node_end = NODE_END, .nodes = nodes, .module_count = MODULES, .modules = modules};
static uint32_t told[OPS];
static uint64_t random_state;

/* A tree of stacks over some modules, one of which is the program; some nodes are lost, some lie in no module, some are cut. */
static void make_stacks(void)
{
    static const char *const paths[MODULES] = {"", "/usr/lib/libone.so", "/home/somebody/secret/libtwo.so",
                                               "libthree.so"};
    random_state = 3;
    for (uint32_t i = 0; i < MODULES; i++)
        modules[i] = (struct fp_module){.start = BASE + i * MODULE_GAP + 0x1000,
                                        .end = BASE + i * MODULE_GAP + MODULE_GAP / 2,
                                        .base = BASE + i * MODULE_GAP,
                                        .build_id_bytes = 2,
                                        .build_id = {7, (uint8_t)i},
                                        .path = paths[i]};
    for (uint32_t i = FP_SITE_FIRST; i < NODE_END; i++) {
        const uint64_t at = test_random(&random_state);
        const uint32_t depth = 1 + (uint32_t)(at >> 32) % 9;
        if (at % 50 == 0)
            continue; /* lost */
        nodes[i].address = BASE + at % (MODULES * MODULE_GAP) + 1;
        nodes[i].parent = i < FP_SITE_FIRST + depth ? (uint32_t)(at >> 40) % FP_CUT_COUNT : i - depth;
    }
}

static void tell(struct wl_writer *writer, uint32_t op)
{
    told[op] = (uint32_t)(test_random(&random_state) % (op % 2 == 0 ? 300 : NODE_END + 20));
    wl_writer_site(writer, told[op]);
}

static void write_ops(bool with_sites, bool are_told, uint32_t ops)
{
    random_state = 9;
    memset(told, 0, sizeof told);
    busy_sites = with_sites ? &sites : NULL;
    busy_tell = are_told ? tell : NULL;
    path = scratch_path("sites.wl");
    write_busy(path, THREADS, 5000, ops);
}

static const struct fp_module *module_at(uint64_t address)
{
    const struct fp_site_node node = {.address = address};
    return fp_site_module(&sites, &node);
}

/* What is left of the modules' paths. */
static const char *const NAMES[MODULES] = {"busy", "libone.so", "libtwo.so", "libthree.so"};

/* What a number of the source's reads as. */
static uint32_t settled(uint32_t site)
{
    if (site >= FP_SITE_FIRST)
        return site < NODE_END && nodes[site].address != 0 ? site : FP_CUT_LOST;
    return site < FP_CUT_COUNT ? site : FP_CUT_LOST;
}

static void check_stack(const struct fp_sites *stacks, uint32_t site, uint32_t expected)
{
    expected = settled(expected);
    while (expected >= FP_SITE_FIRST && expected < NODE_END && site >= FP_SITE_FIRST) {
        const struct fp_site_node node = fp_site_node_at(stacks, site);
        const struct fp_module *from = module_at(nodes[expected].address),
                               *module = fp_site_module(stacks, &node);
        CHECK((from == NULL) == (module == NULL));
        if (module != NULL) {
            CHECK_U64(node.address - module->base, nodes[expected].address - from->base);
            CHECK(strcmp(module->path, NAMES[from - modules]) == 0);
            CHECK_U64(module->build_id[1], from->build_id[1]);
        }
        CHECK(node.address < MODULE_GAP && node.parent < site);
        site = node.parent;
        expected = settled(nodes[expected].parent);
    }
    CHECK_U64(site, expected);
}

TEST(sites_come_back_as_their_stacks)
{
    struct wl_reader *reader = NULL;
    OWNED(fp_stacks) stacks;
    struct wl_window window;
    uint32_t seen = 0;
    make_stacks();
    write_ops(true, true, OPS);
    CHECK_U64(wl_reader_open_sites(path, NULL, &reader), FP_OK);
    CHECK_U64(wl_reader_stacks(reader, &stacks), FP_OK);
    CHECK_U64(stacks.sites.node_end, wl_reader_info(reader)->site_end);
    CHECK(stacks.sites.module_count == MODULES);
    while (wl_reader_next(reader, &window) == FP_OK)
        for (uint32_t i = 0; i < window.op_count; i++, seen++)
            check_stack(&stacks.sites, window.sites[i], told[seen]);
    CHECK_U64(seen, OPS);
    wl_reader_close(reader);
}

TEST(who_does_not_ask_sees_no_sites)
{
    struct wl_window window;
    write_ops(true, true, 10000);
    WL_READER *reader = wl_opened(path);
    CHECK(wl_reader_info(reader)->site_end > FP_SITE_FIRST);
    CHECK_U64(wl_reader_next(reader, &window), FP_OK);
    CHECK(window.sites == NULL);
}

static char *read_file(size_t *ret_size)
{
    struct stat facts;
    FILE *file = fopen(path, "re");
    CHECK(file != NULL && fstat(fileno(file), &facts) == 0);
    char *bytes = malloc((size_t)facts.st_size);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)facts.st_size, file) == (size_t)facts.st_size);
    (void)fclose(file); /* only read from */
    *ret_size = (size_t)facts.st_size;
    return bytes;
}

TEST(without_stacks_the_file_is_as_ever)
{
    size_t sizes[2];
    char *bytes[2];
    struct wl_reader *reader = NULL;
    OWNED(fp_stacks) stacks;
    write_ops(false, false, 10000);
    bytes[0] = read_file(&sizes[0]);
    write_ops(false, true, 10000); /* sites are told, and nobody wants them */
    bytes[1] = read_file(&sizes[1]);
    CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
    CHECK_U64(wl_reader_open_sites(path, NULL, &reader), FP_OK);
    CHECK_U64(wl_reader_info(reader)->site_end, 0);
    CHECK_U64(wl_reader_stacks(reader, &stacks), FP_OK);
    CHECK_U64(stacks.sites.node_end, 0);
    wl_reader_close(reader);
    free(bytes[0]);
    free(bytes[1]);
    CHECK(unlink(path) == 0);
}

/* A block of two nodes as sites_encode makes it, but of anything. */
static enum fp_status status_of(struct fp_site_entry second)
{
    const struct fp_site_entry first = {FP_SITE_FIRST, {.address = 0x1000, .parent = 0, .epoch = 1}};
    uint8_t bytes[2 * NODE_BYTES_MOST + RANGE_TAIL_BYTES];
    struct range_coder coder = range_write(bytes);
    struct sites_store store = {0};
    struct node_model *model = node_model_make();
    const char *what = "";
    CHECK(model != NULL && node_model_put(model, &coder, FP_SITE_FIRST - 1, &first) &&
          node_model_put(model, &coder, FP_SITE_FIRST, &second));
    node_model_free(model);
    const struct column column = {bytes, (size_t)(range_end(&coder) - bytes)};
    const struct block_header header = {.type = BLOCK_SITES, .count = 2};
    const enum fp_status status = stacks_decode(&header, &column, &store, &what);
    sites_release(&store);
    return status;
}

TEST(a_node_that_cannot_be_is_refused)
{
    const struct fp_site_entry node = {FP_SITE_FIRST + 1, {0x2000, FP_SITE_FIRST, 2}};
    struct fp_site_entry other = node;
    CHECK_U64(status_of(node), FP_OK);
    other.node.parent =
        other.site + 1; /* comes later: a circle could be made so; the form has no number for a node itself */
    CHECK_U64(status_of(other), FP_ERR_CORRUPT);
    other = node;
    other.node.address = 0; /* which stands for none */
    CHECK_U64(status_of(other), FP_ERR_CORRUPT);
    other.node.epoch = 0;
    CHECK_U64(status_of(other), FP_ERR_CORRUPT);
}
