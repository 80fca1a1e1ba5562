/* test_replay_storage - mappings are present and zero, stacks distinct and reused, absurd sizes refused. */
#include <sys/mman.h>

#include "harness.h"
#include "replay/base/own_process.h"

TEST(mappings_are_present)
{
    unsigned char present[16];
    char *memory = rep_storage_map(15, 4096);
    CHECK(memory != NULL);
    CHECK_U64(mincore(memory, 15 * 4096, present), 0);
    for (unsigned i = 0; i < 15; i++) {
        CHECK(present[i] & 1);
        CHECK_U64(memory[i * 4096], 0);
    }
    rep_storage_unmap(memory, 15, 4096);
    memory = rep_storage_map(0, 8);
    CHECK(memory != NULL);
    rep_storage_unmap(memory, 0, 8);
    rep_storage_unmap(NULL, 1, 8);
}

TEST(absurd_sizes_are_refused)
{
    CHECK(rep_storage_map(SIZE_MAX, 16) == NULL);
    CHECK(rep_storage_map(SIZE_MAX, 1) == NULL);
    CHECK(rep_storage_map((size_t)1 << 50, 1) == NULL);
}

TEST(stacks_are_distinct)
{
    enum { COUNT = 5 };
    struct rep_stacks stacks;
    char *taken[COUNT];
    uint32_t numbers[COUNT], again;
    CHECK(rep_stacks_init(&stacks, COUNT));
    CHECK(stacks.stack_bytes >= REP_STACK_BYTES);
    for (unsigned i = 0; i < COUNT; i++) {
        taken[i] = rep_stacks_take(&stacks, &numbers[i]);
        CHECK(taken[i] != NULL);
        memset(taken[i], 1, stacks.stack_bytes); /* all of it is there, and below it no other stack's */
        for (unsigned j = 0; j < i; j++)
            CHECK(taken[j] + stacks.stack_bytes < taken[i] || taken[i] + stacks.stack_bytes < taken[j]);
    }
    CHECK(rep_stacks_take(&stacks, &again) == NULL);
    rep_stacks_give(&stacks, numbers[3]);
    CHECK(rep_stacks_take(&stacks, &again) == taken[3]);
    CHECK_U64(again, numbers[3]);
}
