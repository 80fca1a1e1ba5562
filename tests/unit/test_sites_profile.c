/* test_sites_profile.c - profiles: equal stacks, lines, differences, names; sites of many modules, and addresses that would collide. */
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "footprint/fp/fp_sites.h"
#include "footprint/wl/workload.h"
#include "sites/names/names.h"
#include "sites/show/site_profile.h"
#include "sites/stacks/stacks.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/site_module.h"

/* Functions by their letters, from the top; one module. */
static uint32_t stack_of(struct site_profile *profile, const char *letters)
{
    uint32_t node = SITE_TOP;
    for (; *letters != '\0'; letters++) {
        const struct site_frame_words words = {.function = (char[2]){*letters}, .module = "m"};
        node = site_profile_node(profile, node, site_profile_frame(profile, &words));
    }
    return node;
}

static struct site_profile profile_of(const char *const *stacks, size_t count)
{
    struct site_profile profile = {0};
    const uint32_t live = site_profile_metric(&profile, SITE_LIVE);
    for (size_t i = 0; i < count; i++)
        site_profile_add(&profile, stack_of(&profile, stacks[i]), live, (double)(i + 1));
    return profile;
}

#define PROFILE(...)                                                                                         \
    profile_of((const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))

/* Takes the profile over. */
static void check_folded(struct site_profile profile, const char *expected)
{
    OWNED_TEXT *text = site_folded(&profile, 0);
    CHECK_STR(text, expected);
    site_profile_release(&profile);
}

TEST(equal_stacks_are_one)
{
    struct site_profile profile = PROFILE("abc", "abd", "abc", "ab");
    CHECK_U64(profile.frame_count, 4);
    CHECK_U64(profile.node_count, 4);
    check_folded(profile, "a;b 4\na;b;c 4\na;b;d 2\n");
}

TEST(repeated_frames_are_left_out)
{
    check_folded(PROFILE("abbbc"), "a;b;c 1\n");
    check_folded(PROFILE("abcbcbcd"), "a;b;c;d 1\n");
    check_folded(PROFILE("abcab", "abcabc"), "a;b;c 2\na;b;c;a;b 1\n"); /* only what is whole */
    check_folded(PROFILE("aabaab"), "a;b 1\n");
    check_folded(PROFILE("abcdefghiabcdefghi"), "a;b;c;d;e;f;g;h;i;a;b;c;d;e;f;g;h;i 1\n");
}

TEST(lines_are_of_a_function)
{
    struct site_profile profile = {0};
    const uint32_t metric = site_profile_metric(&profile, SITE_COUNT);
    for (uint32_t line = 1; line <= 3; line++) {
        const struct site_frame_words words = {"f", "m", "f.cc", line};
        site_profile_add(
            &profile, site_profile_node(&profile, SITE_TOP, site_profile_frame(&profile, &words)), metric, 1);
    }
    OWNED(site_profile)
    lines = site_profile_fold(&profile, false), functions = site_profile_fold(&profile, true);
    CHECK_U64(lines.node_count, 3);
    CHECK_U64(functions.node_count, 1);
    CHECK_U64(site_profile_own(&functions, 0, metric), 3);
    check_folded(profile, "f 3\n");
}

TEST(two_recordings_are_compared)
{
    struct site_profile now = PROFILE("ab", "ac"), before = PROFILE("ad", "ac");
    site_profile_merge(&now, &before);
    site_profile_release(&before);
    check_folded(now, "a;b 0 1\na;c 2 2\na;d 1 0\n");
}

TEST(values_that_are_no_number_are_left_out)
{
    OWNED(site_profile) profile = PROFILE("a");
    site_profile_add(&profile, 0, 0, NAN);
    site_profile_add(&profile, 0, 0, INFINITY);
    CHECK_U64(site_profile_own(&profile, 0, 0), 1);
    site_profile_add(&profile, 0, 0, 1e300);
    CHECK_U64(site_profile_own(&profile, 0, 0), 0);
}

/* A node has a value in each metric, whichever came first, and arrays grow under both. */
TEST(nodes_and_metrics_grow)
{
    OWNED(site_profile) profile = {0};
    uint32_t parent = SITE_TOP;
    for (uint32_t i = 0; i < 5000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        const struct site_frame_words words = {.function = name};
        parent = site_profile_node(&profile, i % 100 != 0 ? parent : SITE_TOP,
                                   site_profile_frame(&profile, &words));
        site_profile_add(&profile, parent, site_profile_metric(&profile, (enum site_value)(i / 2000)), 1);
    }
    CHECK_U64(profile.node_count, 5000);
    CHECK_U64(profile.metric_count, 3);
    for (uint32_t node = 0; node < 5000; node++)
        for (uint32_t metric = 0; metric < 3; metric++)
            CHECK_U64((uint64_t)site_profile_own(&profile, node, metric), node / 2000 == metric);
}

TEST(names_are_made_harmless)
{
    struct site_profile profile = {0};
    char name[] = "a;</script><!--\\\"&\n\x1b\xff\xe2\x80\xae";
    const struct site_frame_words words = {.function = name, .module = ""};
    site_profile_title(&profile, "</script>\n");
    const uint32_t live = site_profile_metric(&profile, SITE_LIVE);
    site_profile_add(&profile, site_profile_node(&profile, SITE_TOP, site_profile_frame(&profile, &words)),
                     live, 1);
    OWNED_TEXT *page = site_flame_page(&profile, live);
    CHECK(strstr(page, "\"title\":\"\\u003c/script\\u003e\\u005cx0a\"") != NULL);
    CHECK(
        strstr(page,
               "\"a;\\u003c/"
               "script\\u003e\\u003c!--\\u005c\\u0022\\u0026\\u005cx0a\\u005cx1b\\u005cxff\\u005cu202e\"") !=
        NULL);
    check_folded(profile, "a:</script><!--\\\"&\\x0a\\x1b\\xff\\u202e 1\n");
}

/* Without the program that reads modules no question is answered. */
TEST(what_has_no_name_is_told_apart)
{
    const struct names_options options = {.program = "/nonexistent"};
    const struct names_module modules[] = {{.path = "/lib/one.so"}, {.path = "/lib/two.so"}};
    struct names *names = names_new(&options);
    uint32_t questions[2];
    size_t count;
    for (size_t i = 0; i < 2; i++) {
        uint32_t module;
        names_add_module(names, &modules[i], &module);
        names_ask(names, module, 16 + i, false, &questions[i]);
    }
    CHECK_U64(names_resolve(names), FP_OK);
    const struct names_frame *one = names_frames(names, questions[0], &count);
    const struct names_frame *two = names_frames(names, questions[1], &count);
    CHECK_STR(one->function, "one.so+0x10");
    CHECK_STR(two->function, "two.so+0x11");
    names_free(names);
}

TEST(who_only_hands_on_is_known_by_its_name)
{
    static const char *const HANDS_ON[] = {
        "operator new(unsigned long)",
        "std::__new_allocator<int>::allocate(unsigned long, void const*)",
        "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)",
        "alloc::alloc::alloc",
        "alloc::raw_vec::finish_grow",
        "<alloc::raw_vec::RawVecInner>::grow_amortized",
        "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
        "<hashbrown::raw::RawTableInner>::new_uninitialized::<alloc::alloc::Global>",
        "__rust_alloc",
        "g_malloc0",
    };
    static const char *const ALLOCATES[] = {
        "main",
        "allocate(int)",
        "web::alloc::take",
        "<web::Page as core::clone::Clone>::clone",
        "<web::Page as alloc::string::ToString>::to_string",
        "web::std::of(std::string const&)",
    };
    for (size_t i = 0; i < COUNT_OF(HANDS_ON); i++)
        CHECK_U64(site_wrapper_by_name(HANDS_ON[i]), true);
    for (size_t i = 0; i < COUNT_OF(ALLOCATES); i++)
        CHECK_U64(site_wrapper_by_name(ALLOCATES[i]), false);
}

TEST(a_profile_of_nothing)
{
    struct site_profile profile = {0};
    OWNED_TEXT *page = site_flame_page(&profile, 0);
    CHECK(strstr(page, "\"parents\":[]") != NULL);
    site_profile_metric(&profile, SITE_LIVE);
    check_folded(profile, "");
}

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
    OWNED(fp_stacks) stacks = {0};
    bound_time();
    for (uint64_t part = 0; part < PARTS; part++)
        for (int again = 0; again < 2; again++) {
            const struct fp_sites told = make_modules(part * MODULES);
            CHECK(fp_stacks_add(&stacks, &told));
        }
    CHECK_U64(stacks.sites.module_count, (uint64_t)PARTS * MODULES);
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
