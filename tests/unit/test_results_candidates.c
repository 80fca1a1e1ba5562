/* test_results_candidates.c - the candidates' INI files: good ones are read, hostile ones are left out with a reason, and the environment of a run
 * holds the candidate's settings and nothing else that steers an allocator; inline candidates and ranges are read, or refused with a reason. */
#include "footprint/base/support.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/run/run.h"
#include "unit/harness.h"

static struct res_registry registry;

BEFORE_EACH
{
    res_registry_release(&registry);
    memset(&registry, 0, sizeof registry);
}

static bool parse(const char *text)
{
    return res_registry_parse(&registry, "test.ini", text, strlen(text));
}

static const char *last_warning(void)
{
    return registry.warning_count > 0 ? registry.warnings[registry.warning_count - 1] : "";
}

/* The text is left out, and the reason holds these words. */
static void refused(const char *text, size_t length, const char *words)
{
    const size_t before = registry.candidate_count;
    CHECK(!res_registry_parse(&registry, "test.ini", text, length));
    CHECK_U64(registry.candidate_count, before);
    if (strstr(last_warning(), words) == NULL || strstr(last_warning(), "'test.ini'") == NULL)
        HARNESS_FAIL("the warning is '%s', expected the file and '%s'", last_warning(), words);
}

#define REFUSED(text, words) refused(text, sizeof(text) - 1, words)
#define GOOD                 "[allocator]\nname = good\nreplay = glibc\nlibrary = libc.so.6\n"

TEST(a_whole_file_is_read)
{
    CHECK(parse("; a comment\n[allocator]\nname = jemalloc+bg\ndescription = with a background thread\n"
                "replay = jemalloc\nlibrary = libjemalloc.so.2\nproof = jemalloc\npackage = "
                "libjemalloc2\nclock = yes\n"
                "[environment]\nMALLOC_CONF = background_thread:true,narenas:2\nGLIBC_TUNABLES=a=b:c=d\n"));
    const struct res_candidate *candidate = res_registry_find(&registry, "jemalloc+bg");
    REQUIRE(candidate != NULL);
    CHECK_STR(candidate->description, "with a background thread");
    CHECK_STR(candidate->replay, "jemalloc");
    CHECK_STR(candidate->library, "libjemalloc.so.2");
    CHECK_STR(candidate->proof, "jemalloc");
    CHECK_STR(candidate->package, "libjemalloc2");
    CHECK_STR(candidate->origin, "test.ini");
    CHECK(res_candidate_follows_clock(candidate));
    CHECK(candidate->preload == NULL);
    CHECK_U64(candidate->environment.count, 2);
    CHECK_STR(candidate->environment.items[0].name, "MALLOC_CONF");
    CHECK_STR(candidate->environment.items[0].value, "background_thread:true,narenas:2");
    CHECK_STR(candidate->environment.items[1].value, "a=b:c=d");
}

TEST(a_preloaded_library_runs_on_the_plain_binary)
{
    CHECK(parse("[allocator]\nname = tbb\npreload = libtbbmalloc_proxy.so.2\n"));
    const struct res_candidate *candidate = res_registry_find(&registry, "tbb");
    REQUIRE(candidate != NULL);
    CHECK_STR(candidate->replay, "glibc");
    CHECK_STR(candidate->library, "libtbbmalloc_proxy.so.2");
    CHECK(!res_candidate_follows_clock(candidate));
}

TEST(defects_are_named_and_the_file_left_out)
{
    REFUSED("", "no 'name'");
    REFUSED("[allocator]\nreplay = glibc\nlibrary = libc.so.6\n", "no 'name'");
    REFUSED("[allocator]\nname = x\nlibrary = libc.so.6\n", "exactly one of");
    REFUSED("[allocator]\nname = x\nreplay = glibc\npreload = a.so\nlibrary = libc.so.6\n", "exactly one of");
    REFUSED("[allocator]\nname = x\nreplay = glibc\n", "no 'library'");
    REFUSED("[allocator]\nname = a b\nreplay = glibc\nlibrary = l\n", "is no name");
    REFUSED("[allocator]\nname = ../x\nreplay = glibc\nlibrary = l\n", "is no name");
    REFUSED("[allocator]\nname = -n\nreplay = glibc\nlibrary = l\n", "is no name");
    REFUSED("[allocator]\nname = abcdefghijklmnopqrstuvwxyz0123456789\nreplay = glibc\nlibrary = l\n",
            "is no name");
    REFUSED("[allocator]\nname = x\nreplay = ../../bin/sh\nlibrary = l\n", "must name a binary");
    REFUSED("[allocator]\nname = x\nreplay = glibc\nlibrary =\n", "is empty");
    REFUSED("[allocator]\nname = x\nname = y\nreplay = glibc\nlibrary = l\n", "given twice");
    REFUSED("[allocator]\nname = x\ncolour = red\nreplay = glibc\nlibrary = l\n", "unknown key 'colour'");
    REFUSED(GOOD "clock = coarse\n", "'clock' is 'yes' or 'no', not 'coarse'");
    REFUSED(GOOD "[enviroment]\nA = b\n", "unknown section [enviroment]");
    REFUSED("name = x\n", "unknown section []");
    REFUSED(GOOD "this is no line\n", "line 5 is neither");
    REFUSED("\x7f"
            "ELF\x02\x01\x01 not text at all\n",
            "line 1 is neither");
}

TEST(the_environment_cannot_load_another_library)
{
    REFUSED(GOOD "[environment]\nLD_PRELOAD = /tmp/other.so\n", "not allowed");
    REFUSED(GOOD "[environment]\nLD_LIBRARY_PATH = /tmp\n", "not allowed");
    REFUSED(GOOD "[environment]\nA-B = c\n", "is no name of a variable");
    REFUSED(GOOD "[environment]\n1A = c\n", "is no name of a variable");
    REFUSED(GOOD "[environment]\nA = b\nA = c\n", "given twice");
}

TEST(what_the_parser_would_misread_is_refused_before)
{
    static char long_line[400] = GOOD "[environment]\nA = ";
    static char huge[RES_INI_BYTES_MAX + 100];
    const size_t begin = strlen(long_line);
    REFUSED("[allocator]\nname = x\0y\nreplay = glibc\nlibrary = l\n", "line 2 holds a NUL byte");
    memset(long_line + begin, 'v', sizeof long_line - begin - 1);
    refused(long_line, strlen(long_line), "line 6 is longer");
    memset(huge, '\n', sizeof huge);
    refused(huge, sizeof huge, "larger than");
}

TEST(more_variables_than_any_candidate_needs_are_refused)
{
    struct res_text text = {0};
    res_text_printf(&text, GOOD "[environment]\n");
    for (unsigned i = 0; i <= RES_VARIABLES_MAX; i++)
        res_text_printf(&text, "V%u = 1\n", i);
    refused(text.text, text.length, "more than");
    free(text.text);
}

TEST(control_characters_do_not_reach_the_terminal)
{
    CHECK(parse(GOOD "description = \x1b[31mred\xff\n"));
    CHECK_STR(res_registry_find(&registry, "good")->description, "\\x1b[31mred\\xff");
    CHECK(!parse("[allocator]\n\x1b[2Jkey = 1\n"));
    CHECK(strchr(last_warning(), '\x1b') == NULL);
}

TEST(names_are_unique_and_candidates_sorted)
{
    CHECK(parse("[allocator]\nname = zeta\nreplay = glibc\nlibrary = libc.so.6\n"));
    CHECK(parse("[allocator]\nname = alpha\nreplay = glibc\nlibrary = libc.so.6\n"));
    CHECK(!parse("[allocator]\nname = zeta\nreplay = jemalloc\nlibrary = l\n"));
    CHECK(strstr(last_warning(), "is taken by") != NULL);
    CHECK_STR(res_registry_find(&registry, "zeta")->replay, "glibc");
    CHECK_STR(registry.candidates[0]->name, "alpha");
    CHECK(res_registry_find(&registry, "beta") == NULL);
}

TEST(a_library_by_its_path_is_a_candidate)
{
    char *problem = NULL;
    struct res_candidate *candidate = res_registry_add_path(&registry, "/nowhere/libfast-malloc.so.1.2",
                                                            &problem);
    CHECK(candidate != NULL);
    CHECK_STR(candidate->name, "libfast-malloc");
    CHECK_STR(candidate->preload, "/nowhere/libfast-malloc.so.1.2");
    CHECK(res_registry_add_path(&registry, "/nowhere/libfast-malloc.so.1.2", &problem) == candidate);
    CHECK(problem == NULL);
    CHECK(res_registry_add_path(&registry, "/elsewhere/libfast-malloc.so", &problem) == NULL);
    CHECK(problem != NULL);
    free(problem);
    problem = NULL;
    CHECK(res_registry_add_path(&registry, "/nowhere/.so", &problem) == NULL);
    free(problem);
    const char *const nowhere[] = {"/nonexistent", NULL};
    CHECK(!res_candidate_resolve(candidate, nowhere));
    CHECK(candidate->missing != NULL && strstr(candidate->missing, "cannot be used") != NULL);
}

/* libm is there wherever a C library is, and is none that could serve a call. */
TEST(a_library_without_malloc_is_refused_before_any_run)
{
    char *problem = NULL;
    const char *const nowhere[] = {"/nonexistent", NULL};
    struct res_candidate *candidate = res_registry_add_path(&registry, "libm.so.6", &problem);
    CHECK(candidate != NULL);
    CHECK(!res_candidate_resolve(candidate, nowhere));
    CHECK_STR(candidate->missing, "cannot be used: it has no malloc of its own");
}

TEST(a_missing_library_names_its_package)
{
    const char *const nowhere[] = {"/nonexistent", NULL};
    CHECK(parse("[allocator]\nname = x\npreload = libno-such-malloc.so.9\npackage = libnosuch9\n"));
    CHECK(!res_candidate_resolve(registry.candidates[0], nowhere));
    CHECK_STR(registry.candidates[0]->missing, "libno-such-malloc.so.9 not found: apt install libnosuch9");
}

TEST(a_library_is_probed_without_being_loaded_here)
{
    struct res_library library;
    CHECK(res_library_probe("libc.so.6", &library));
    CHECK(library.path != NULL && library.path[0] == '/');
    CHECK(library.version != NULL && library.version[0] == '2');
    CHECK(library.problem == NULL);
    free(library.path);
    free(library.version);
    CHECK(!res_library_probe("/nonexistent/libx.so", &library));
    CHECK(library.path == NULL && library.problem != NULL);
    free(library.problem);
}

static const char *value_of(char **environment, const char *name)
{
    for (size_t i = 0; environment[i] != NULL; i++) {
        if (strncmp(environment[i], name, strlen(name)) == 0 && environment[i][strlen(name)] == '=')
            return environment[i] + strlen(name) + 1;
    }
    return NULL;
}

TEST(a_file_changed_under_its_name_is_another_build)
{
    const struct res_build none = res_build_of("/nowhere/lib.so"), directory = res_build_of("/");
    CHECK(none.digest == NULL && directory.digest == NULL);
    struct res_build own = res_build_of("/proc/self/exe");
    CHECK(own.digest != NULL && strlen(own.digest) == 32);
    char digest[] = "99", other_digest[] = "1123456789abcdef";
    const struct res_build one = {digest}, other = {other_digest};
    CHECK(!res_builds_differ(&one, &none) && !res_builds_differ(&one, &one));
    CHECK(res_build_change("/lib/x.so", "1", &one, &none) == NULL);
    char *words[] = {res_build_change("/lib/x.so.2", "1.2", &one, &other),
                     res_build_change("x.so", NULL, &other, &one)};
    CHECK_STR(words[0], "x.so.2 1.2: another build (digest 99 -> 1123456789ab)");
    CHECK_STR(words[1], "x.so: another build (digest 1123456789ab -> 99)");
    free(words[0]);
    free(words[1]);
    free(own.digest);
}

TEST(a_run_inherits_nothing_that_steers_an_allocator)
{
    static const char *const steering[] = {
        "LD_PRELOAD",     "LD_AUDIT",         "MALLOC_ARENA_MAX",      "MALLOC_CONF",
        "GLIBC_TUNABLES", "MIMALLOC_VERBOSE", "TCMALLOC_RELEASE_RATE", "MALLAB_OUT",
        "MALLAB_SEGMENT", "SCUDO_OPTIONS"};
    CHECK(parse(GOOD "[environment]\nMALLOC_CONF = narenas:2\nKEPT = candidate\n"));
    for (size_t i = 0; i < COUNT_OF(steering); i++)
        setenv(steering[i], "inherited", 1);
    setenv("KEPT", "inherited", 1);
    setenv("OTHER", "inherited", 1);
    char **environment = res_run_environment(res_registry_find(&registry, "good"));
    for (size_t i = 0; i < COUNT_OF(steering); i++) {
        if (strcmp(steering[i], "MALLOC_CONF") != 0 && value_of(environment, steering[i]) != NULL)
            HARNESS_FAIL("%s was inherited", steering[i]);
        unsetenv(steering[i]);
    }
    CHECK_STR(value_of(environment, "MALLOC_CONF"), "narenas:2");
    CHECK_STR(value_of(environment, "KEPT"), "candidate");
    CHECK_STR(value_of(environment, "OTHER"), "inherited");
    res_strings_free(environment);
}

#define GLIBC    "[allocator]\nname = glibc\nreplay = glibc\nlibrary = libc.so.6\nproof = glibc\n"
#define JEMALLOC "[allocator]\nname = je\nreplay = jemalloc\nlibrary = libjemalloc.so.2\nproof = jemalloc\n"

static struct res_candidate *parsed(const char *text)
{
    return parse(text) ? registry.candidates[registry.candidate_count - 1] : NULL;
}

/* The value of a variable after one setting was applied to a candidate of this kind. */
static void applied(const char *proof, const char *setting, const char *value, const char *variable,
                    const char *expected)
{
    struct res_candidate candidate = {.name = (char[]){"x"}, .proof = res_strdup(proof)};
    OWNED_TEXT *problem = res_setting_apply(&candidate, setting, value);
    CHECK(problem == NULL);
    CHECK_U64(candidate.environment.count, 1);
    if (candidate.environment.count == 1) {
        CHECK_STR(candidate.environment.items[0].name, variable);
        CHECK_STR(candidate.environment.items[0].value, expected);
    }
    res_pairs_release(&candidate.environment);
    free(candidate.proof);
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
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        struct res_candidate candidate = {.name = (char[]){"x"}, .proof = res_strdup(WRONG[i][0])};
        OWNED_TEXT *problem = res_setting_apply(&candidate, WRONG[i][1], "1");
        CHECK(problem != NULL);
        CHECK_U64(candidate.environment.count, 0);
        free(candidate.proof);
    }
}

TEST(an_inline_candidate_adds_to_what_its_base_sets)
{
    char *problem = NULL;
    const struct res_candidate *base = parsed(
        JEMALLOC "clock = yes\n[environment]\nMALLOC_CONF = tcache:false\nA = b\n"
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
    char *problem = NULL;
    const struct res_candidate *before = res_registry_find(&registry, "glibc"),
                               *base = before != NULL ? before : parsed(GLIBC);
    CHECK(res_registry_add_inline(&registry, base, text, &problem) == NULL);
    CHECK(problem != NULL && strstr(problem, words) != NULL);
    free(problem);
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
    const struct res_candidate *candidate = parsed(GLIBC "settings = unproven\n[ranges]\narena_max = 1, 2\n"
                                                         "[expect]\nglibc.malloc.arena_max = 2\n");
    REQUIRE(candidate != NULL);
    CHECK_STR(candidate->settings, "unproven");
    CHECK_U64(candidate->ranges.count, 1);
    OWNED_TEXT *second = res_range_value(&candidate->ranges.items[0], 1);
    CHECK_STR(second, "2");
    CHECK(res_range_value(&candidate->ranges.items[0], 2) == NULL);
    CHECK_STR(candidate->expected.items[0].name, "glibc.malloc.arena_max");
    static const char *const WRONG[] = {
        GLIBC "settings = proven\n",         GLIBC "[ranges]\narena_max = 1,,2\n",
        GLIBC "[ranges]\narena_max = a+b\n", GLIBC "[ranges]\na b = 1\n",
        GLIBC "[ranges]\nx = 1\nx = 2\n",    GLIBC "[expect]\nx =\n",
        GLIBC "[expect]\nx = 1\nx = 2\n"};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        if (parse(WRONG[i]))
            HARNESS_FAIL("accepted: %s", WRONG[i]);
        CHECK_U64(registry.warning_count, i + 1);
    }
}
