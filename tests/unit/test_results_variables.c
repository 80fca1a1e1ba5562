/* test_results_variables.c - settings reach the environment that their allocator reads; inline candidates and the
 * ranges of a candidate's file are read, or refused with a reason. */
#include "footprint/base/support.h"
#include "results/measure/candidate/candidates.h"
#include "unit/harness.h"

#define GLIBC    "[allocator]\nname = glibc\nreplay = glibc\nlibrary = libc.so.6\nproof = glibc\n"
#define JEMALLOC "[allocator]\nname = je\nreplay = jemalloc\nlibrary = libjemalloc.so.2\nproof = jemalloc\n"

static struct res_candidate *parse(struct res_registry *registry, const char *text)
{
    const size_t before = registry->candidate_count;
    (void)res_registry_parse(registry, "test.ini", text,
                             strlen(text)); /* the count says whether it was taken */
    return registry->candidate_count > before ? registry->candidates[before] : NULL;
}

/* The value of a variable after one setting was applied to a candidate of this kind. */
static void applied(const char *proof, const char *setting, const char *value, const char *variable,
                    const char *expected)
{
    struct res_candidate candidate = {.name = (char[]){"x"}, .proof = res_strdup(proof)};
    char *problem = res_setting_apply(&candidate, setting, value);
    CHECK(problem == NULL);
    CHECK_U64(candidate.environment.count, 1);
    if (candidate.environment.count == 1) {
        CHECK_STR(candidate.environment.items[0].name, variable);
        CHECK_STR(candidate.environment.items[0].value, expected);
    }
    res_pairs_release(&candidate.environment);
    free(candidate.proof);
    free(problem);
}

TEST(each_allocator_gets_its_settings_its_own_way)
{
    applied("jemalloc", "narenas", "1", "MALLOC_CONF", "narenas:1");
    applied("glibc", "arena_max", "2", "GLIBC_TUNABLES", "glibc.malloc.arena_max=2");
    applied("glibc", "glibc.pthread.rseq", "0", "GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    applied("mimalloc", "decommit_delay", "0", "MIMALLOC_DECOMMIT_DELAY", "0");
    applied("tcmalloc", "release_rate", "0.5", "TCMALLOC_RELEASE_RATE", "0.5");
    applied("tbb", "TBB_MALLOC_USE_HUGE_PAGES", "1", "TBB_MALLOC_USE_HUGE_PAGES", "1");
}

TEST(settings_that_lead_nowhere_are_refused)
{
    static const char *const WRONG[][2] = {
        {"scudo", "foo"}, {"glibc", "a b"}, {"glibc", ""}, {"glibc", "LD_PRELOAD"}};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        struct res_candidate candidate = {.name = (char[]){"x"}, .proof = res_strdup(WRONG[i][0])};
        char *problem = res_setting_apply(&candidate, WRONG[i][1], "1");
        CHECK(problem != NULL);
        CHECK_U64(candidate.environment.count, 0);
        free(candidate.proof);
        free(problem);
    }
}

TEST(an_inline_candidate_adds_to_what_its_base_sets)
{
    struct res_registry registry = {0};
    char *problem = NULL;
    const struct res_candidate *base = parse(&registry, JEMALLOC
                                             "clock = yes\n[environment]\nMALLOC_CONF = tcache:false\nA = b\n"
                                             "[expect]\nopt.tcache = false\n");
    const char *text = "je+narenas=1+dirty_decay_ms=0+B=c";
    CHECK(base != NULL);
    const struct res_candidate *candidate = res_registry_add_inline(&registry, base, text, &problem);
    CHECK(candidate != NULL && problem == NULL);
    if (candidate != NULL) {
        CHECK_STR(candidate->name, text);
        CHECK_STR(candidate->replay, "jemalloc");
        CHECK(res_candidate_follows_clock(candidate));
        CHECK_U64(candidate->environment.count, 3);
        CHECK_STR(candidate->environment.items[0].value, "tcache:false,narenas:1,dirty_decay_ms:0");
        CHECK_STR(candidate->environment.items[1].value, "b");
        CHECK_STR(candidate->environment.items[2].value, "c");
        CHECK_U64(candidate->expected.count, 1);
        CHECK(res_registry_add_inline(&registry, base, text, &problem) == candidate);
    }
    CHECK_STR(base->environment.items[0].value, "tcache:false");
    res_registry_release(&registry);
}

TEST(inline_text_is_told_from_names)
{
    CHECK(res_setting_inline("jemalloc") == NULL);
    CHECK(res_setting_inline("glibc+nocache") == NULL);
    CHECK(res_setting_inline("glibc+=1") == NULL);
    CHECK(res_setting_inline("/opt/c++/x=y/lib.so") == NULL);
    const char *text = "glibc+nocache+arena_max=1";
    CHECK(res_setting_inline(text) == text + strlen("glibc+nocache"));
}

static void inline_refused(const char *text, const char *words)
{
    struct res_registry registry = {0};
    char *problem = NULL;
    const struct res_candidate *base = parse(&registry, GLIBC);
    CHECK(res_registry_add_inline(&registry, base, text, &problem) == NULL);
    CHECK(problem != NULL && strstr(problem, words) != NULL);
    free(problem);
    res_registry_release(&registry);
}

TEST(inline_defects_are_named)
{
    char long_text[300] = "glibc+arena_max=";
    memset(long_text + strlen(long_text), '1', sizeof long_text - strlen(long_text) - 1);
    inline_refused(long_text, "longer than");
    inline_refused("glibc+arena_max=", "is not SETTING=VALUE");
    inline_refused("glibc+arena_max=1+x", "is not SETTING=VALUE");
    inline_refused("glibc+LD_PRELOAD=x.so", "is not allowed");
}

TEST(sections_of_a_file_are_read_and_checked)
{
    struct res_registry registry = {0};
    const struct res_candidate *candidate = parse(&registry,
                                                  GLIBC "settings = unproven\n[ranges]\narena_max = 1, 2\n"
                                                        "[expect]\nglibc.malloc.arena_max = 2\n");
    CHECK(candidate != NULL);
    if (candidate != NULL) {
        CHECK_STR(candidate->settings, "unproven");
        CHECK_U64(candidate->ranges.count, 1);
        char *second = res_range_value(&candidate->ranges.items[0], 1);
        CHECK_STR(second, "2");
        CHECK(res_range_value(&candidate->ranges.items[0], 2) == NULL);
        free(second);
        CHECK_STR(candidate->expected.items[0].name, "glibc.malloc.arena_max");
    }
    static const char *const WRONG[] = {
        GLIBC "settings = proven\n",         GLIBC "[ranges]\narena_max = 1,,2\n",
        GLIBC "[ranges]\narena_max = a+b\n", GLIBC "[ranges]\na b = 1\n",
        GLIBC "[ranges]\nx = 1\nx = 2\n",    GLIBC "[expect]\nx =\n",
        GLIBC "[expect]\nx = 1\nx = 2\n"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        struct res_registry other = {0};
        if (parse(&other, WRONG[i]) != NULL)
            HARNESS_FAIL("accepted: %s", WRONG[i]);
        CHECK_U64(other.warning_count, 1);
        res_registry_release(&other);
    }
    res_registry_release(&registry);
}
