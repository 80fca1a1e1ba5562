/* fuzz_candidates.c - any bytes as a candidate's file and as an inline candidate: taken whole or refused with a
 * reason; what is taken can be put into an environment, which names no LD_ variable. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "fuzz/target.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/run/run.h"

static void check_environment(const struct res_candidate *candidate)
{
    for (size_t i = 0; i < candidate->environment.count; i++)
        FUZZ_CHECK(strncmp(candidate->environment.items[i].name, "LD_", 3) != 0);
    FUZZ_CHECK(res_ranges_problem(candidate) == NULL);
}

static void check_file(const uint8_t *bytes, size_t size)
{
    struct res_registry registry = {0};
    const bool taken = res_registry_parse(&registry, "fuzz.ini", (const char *)bytes, size);
    FUZZ_CHECK(taken ? registry.candidate_count == 1 : registry.warning_count == 1);
    if (taken)
        check_environment(registry.candidates[0]);
    res_registry_release(&registry);
}

static void check_inline(const char *text)
{
    static const char FILE_OF_BASE[] = "[allocator]\nname = je\nreplay = je\nlibrary = l\nproof = jemalloc\n";
    struct res_registry registry = {0};
    char *problem = NULL;
    FUZZ_CHECK(res_registry_parse(&registry, "base.ini", FILE_OF_BASE, sizeof FILE_OF_BASE - 1));
    if (res_setting_inline(text) != NULL) {
        const struct res_candidate *candidate = res_registry_add_inline(&registry, registry.candidates[0],
                                                                        text, &problem);
        FUZZ_CHECK((candidate == NULL) == (problem != NULL));
        if (candidate != NULL) {
            FUZZ_CHECK(strlen(candidate->name) <= RES_INLINE_NAME_MAX);
            check_environment(candidate);
        }
    }
    free(problem);
    res_registry_release(&registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = res_strndup((const char *)bytes, size);
    check_file(bytes, size);
    check_inline(text);
    free(text);
    return 0;
}
