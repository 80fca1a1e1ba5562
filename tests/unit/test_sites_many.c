/* test_sites_many.c - files made so that each of many modules or stacks would be compared with each other take no more time than
 * others of their size: the processor time of each test is bounded far above what it needs, far below what that would take. */
#include <sys/resource.h>
#include <unistd.h>

#include "convert/base/process_stacks.h"
#include "footprint/wl/workload.h"
#include "sites/names/names.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/site_module.h"

enum { MODULES = FP_MODULES_MAX, NODES = 1000000, PARTS = 40, QUESTIONS = 300000, SECONDS = 20 };

static struct fp_site_node nodes[FP_SITE_FIRST + NODES];
static struct fp_module modules[MODULES];

/* Whoever takes longer is ended by SIGXCPU. */
static void bound_time(void)
{
    struct rusage usage;
    struct rlimit limit;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0);
    limit.rlim_cur = (rlim_t)usage.ru_utime.tv_sec + (rlim_t)usage.ru_stime.tv_sec + SECONDS;
    CHECK(setrlimit(RLIMIT_CPU, &limit) == 0);
}

static struct fp_sites make_modules(uint64_t first)
{
    for (uint64_t i = 0; i < MODULES; i++)
        modules[i] = (struct fp_module){
            .start = (first + i) << 16, .end = (first + i + 1) << 16, .path = "lib"};
    return (struct fp_sites){.node_end = FP_SITE_FIRST, .modules = modules, .module_count = MODULES};
}

TEST(modules_of_many_parts)
{
    struct conv_stacks stacks = {0};
    bound_time();
    for (uint64_t part = 0; part < PARTS; part++)
        for (int again = 0; again < 2; again++) {
            const struct fp_sites told = make_modules(part * MODULES);
            CHECK(conv_stacks_add(&stacks, &told));
        }
    CHECK_U64(stacks.sites.module_count, (uint64_t)PARTS * MODULES);
    conv_stacks_release(&stacks);
}

TEST(nodes_in_many_modules)
{
    struct fp_sites sites = make_modules(1);
    const struct wl_writer_options options = {
        .window_ops = 50000, .pause_ns = WL_PAUSE_NS, .sites = &sites, .program = "prog"};
    struct wl_writer *writer = NULL;
    char path[] = "/tmp/mallab-test-XXXXXX";
    uint32_t thread, id;
    bound_time();
    for (uint32_t i = 0; i < NODES; i++)
        nodes[FP_SITE_FIRST + i] = (struct fp_site_node){.address = 1 + i,
                                                         .parent = FP_CUT_NONE}; /* before all */
    sites.nodes = nodes;
    sites.node_end = FP_SITE_FIRST + NODES;
    CHECK(close(mkstemp(path)) == 0);
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct fp_shape shape = {FP_CALL_MALLOC, 16, 0};
        wl_writer_site(writer, FP_SITE_FIRST + i);
        CHECK_U64(wl_writer_allocate(writer, thread, &shape, i, &id), FP_OK);
    }
    CHECK_U64(wl_writer_finish(writer, NODES, NULL, NULL, NULL), FP_OK);
    CHECK(unlink(path) == 0);
}

/* Modules overlap at random, in two epochs: of several the last counts, whoever asks. */
TEST(a_map_finds_what_one_by_one_is_found)
{
    struct fp_sites sites = {.modules = modules};
    struct fp_module_map map;
    uint64_t random = 5;
    for (sites.module_count = 0; sites.module_count < 200; sites.module_count++) {
        for (uint32_t i = 0; i < sites.module_count; i++) {
            const uint64_t at = test_random(&random);
            modules[i] = (struct fp_module){.start = at % 500, .epoch = (uint16_t)(at >> 60 & 1), .path = ""};
            modules[i].end = modules[i].start + 1 + (at >> 20) % (at >> 50 & 1 ? 400 : 9);
        }
        CHECK(fp_module_map_make(&sites, &map));
        for (uint32_t i = 0; i < 2000; i++) {
            const struct fp_site_node node = {.address = i / 2, .epoch = i % 3 != 0};
            CHECK(fp_module_map_find(&map, &node) == fp_site_module(&sites, &node));
        }
        fp_module_map_release(&map);
    }
}

TEST(many_modules_to_name)
{
    struct names *names = names_new(&(struct names_options){0});
    uint32_t number;
    bound_time();
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const struct names_module module = {
            .path = "/a/library", .build_id = (const uint8_t *)&i, .build_id_bytes = sizeof i};
        CHECK_U64(names_add_module(names, &module, &number), FP_OK);
        CHECK_U64(number, i);
    }
    names_free(names);
}

/* What a factor that everybody can read makes collide. */
TEST(addresses_that_would_collide)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t inverse = factor;
    struct names *names = names_new(&(struct names_options){0});
    uint32_t module, question;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    bound_time();
    CHECK_U64(names_add_module(names, &(struct names_module){.path = "lib"}, &module), FP_OK);
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        CHECK_U64(names_ask(names, module, i * inverse, false, &question), FP_OK);
        CHECK_U64(question, i);
    }
    names_free(names);
}
