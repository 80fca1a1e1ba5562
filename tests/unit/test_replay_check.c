/* test_replay_check - every broken promise is found, at the op that shows it; a sound allocator breaks none. And the tree
 * of addresses against a plain list. */
#include <malloc.h>

#include "harness.h"
#include "replay/base/own_process.h"
#include "replay/exec/promise_check.h"
#include "unit/random.h"

#define IDS 300u

static void *slots[IDS + 1];
static struct rep_check check;
static unsigned char pool[1 << 16] __attribute__((aligned(4096)));
static void *answer; /* what the stand-ins return */

static void *stand_in(size_t size)
{
    return answer;
}

static void *stand_in_2(size_t first, size_t second)
{
    return answer;
}

static void *stand_in_realloc(void *object, size_t size)
{
    return answer;
}

static void stand_in_free(void *object)
{
}

static void begin(void)
{
    static const struct rep_calls CALLS = {.malloc = stand_in,
                                           .calloc = stand_in_2,
                                           .realloc = stand_in_realloc,
                                           .memalign = stand_in_2,
                                           .free = stand_in_free};
    const struct rep_loop loop = {
        .calls = CALLS, .slots = slots, .touch = REP_TOUCH_PAGE, .touch_step = REP_PAGE_BYTES};
    memset(slots, 0, sizeof slots);
    memset(pool, 0, sizeof pool);
    CHECK(rep_check_init(&check, &loop, IDS));
}

BEFORE_EACH
{
    begin();
}

static char said[sizeof((struct rep_check_problem *)NULL)->text];

static bool run(uint8_t call, uint32_t id, uint64_t size, uint8_t align_log2, void *returned)
{
    static uint64_t number;
    struct rep_check_problem problem;
    const struct wl_op op = {.id = id, .call = call, .align_log2 = align_log2, .count = 1, .size = size};
    answer = returned;
    const bool kept = rep_check_op(&check, &op, number++, &problem);
    snprintf(said, sizeof said, "%s", kept ? "" : problem.text);
    return kept;
}

#define BROKEN(words, call, id, size, align_log2, returned)                                                  \
    do {                                                                                                     \
        CHECK(!run(call, id, size, align_log2, returned));                                                   \
        if (strstr(said, words) == NULL)                                                                     \
            HARNESS_FAIL("it says '%s', expected '%s'", said, words);                                        \
    } while (0)

TEST(sound_objects_pass)
{
    struct rep_check_problem problem;
    CHECK(run(FP_CALL_MALLOC, 1, 100, 0, pool));
    CHECK(run(FP_CALL_MALLOC, 2, 20000, 0, pool + 112));
    CHECK(run(FP_CALL_CALLOC, 3, 100, 0, pool + 30000));
    memcpy(pool + 40000, pool + 112, 20000);
    CHECK(run(FP_CALL_REALLOC, 2, 20010, 0, pool + 40000));
    CHECK(run(FP_CALL_MALLOC, 4, 24, 0, pool + 112));
    CHECK(run(FP_CALL_FREE, 1, 0, 0, NULL));
    CHECK(run(FP_CALL_FREE, 0, 0, 0, NULL));
    CHECK(run(FP_CALL_MALLOC, 1, 0, 0, NULL)); /* a request of nothing */
    CHECK(run(FP_CALL_FREE, 1, 0, 0, NULL));
    CHECK(rep_check_end(&check, &problem));
    CHECK_U64(atomic_load(&check.verified), 6);
}

TEST(misaligned_and_overlapping_are_seen_at_birth)
{
    BROKEN("no multiple of 16", FP_CALL_MALLOC, 1, 16, 0, pool + 8);
    CHECK(run(FP_CALL_MALLOC, 1, 15, 0, pool + 8)); /* nothing of 16 bytes fits */
    BROKEN("no multiple of 256", FP_CALL_MEMALIGN, 2, 64, 8, pool + 128);
    CHECK(run(FP_CALL_MALLOC, 2, 64, 0, pool + 128));
    BROKEN("overlapping: its 32 bytes lie in the object of 64 bytes", FP_CALL_MALLOC, 3, 32, 0, pool + 176);
    BROKEN("overlapping: its 200 bytes", FP_CALL_MALLOC, 3, 200, 0, pool + 64);
    BROKEN("", FP_CALL_MALLOC, 3, 8, 0, NULL); /* NULL has no words here */
    CHECK_STR(said, "");
}

TEST(contents_are_kept)
{
    struct rep_check_problem problem;
    CHECK(run(FP_CALL_MALLOC, 1, 4096, 0, pool));
    pool[4095] ^= 1;
    BROKEN("overwritten while the program had it: byte 4,095 of the object of 4,096 bytes", FP_CALL_FREE, 1,
           0, 0, NULL);
    static const uint64_t PLACES[] = {0, 63, 4096, 8192 + 7, 20000 - 64, 20000 - 1}; /* of a large one */
    for (size_t i = 0; i < COUNT_OF(PLACES); i++) {
        CHECK(run(FP_CALL_MALLOC, 1, 20000, 0, pool));
        pool[PLACES[i]] ^= 0x80;
        BROKEN("overwritten", FP_CALL_FREE, 1, 0, 0, NULL);
    }
    CHECK(run(FP_CALL_MALLOC, 1, 100, 0, pool));
    memcpy(pool + 1024, pool, 100);
    pool[1024 + 49] ^= 1;
    BROKEN("not kept when it was resized: byte 49", FP_CALL_REALLOC, 1, 50, 0, pool + 1024);
    pool[30000 + 300 - 30000 % 16] = 1;
    BROKEN("not zero: byte 300", FP_CALL_CALLOC, 5, 301, 0, pool + 30000 - 30000 % 16);
    CHECK(run(FP_CALL_MALLOC, 6, 100, 0, pool + 8192));
    pool[8192] ^= 1;
    CHECK(!rep_check_end(&check, &problem));
    CHECK(strstr(problem.text, "seen at the end") != NULL);
}

TEST(the_tree_agrees_with_a_list)
{
    struct {
        uintptr_t begin;
        size_t bytes;
    } list[IDS + 1] = {0};
    uint64_t state = 7;
    for (unsigned step = 0; step < 200000; step++) {
        const uint64_t random = test_random(&state);
        const uint32_t id = 1 + (uint32_t)(random >> 33) % IDS;
        if (list[id].bytes != 0) {
            rep_extent_remove(&check, id);
            list[id].bytes = 0;
            continue;
        }
        const uintptr_t from = 1000 + (random >> 20) % 20000;
        const size_t bytes = 1 + (random >> 50) % 60;
        bool overlaps = false;
        for (uint32_t i = 1; i <= IDS; i++)
            overlaps |= list[i].bytes != 0 && from < list[i].begin + list[i].bytes &&
                        list[i].begin < from + bytes;
        const uint32_t other = rep_extent_add(&check, id, (const void *)from, bytes);
        CHECK((other != 0) == overlaps);
        if (other == 0) {
            list[id].begin = from;
            list[id].bytes = bytes;
        } else {
            CHECK(list[other].bytes != 0 && from < list[other].begin + list[other].bytes &&
                  list[other].begin < from + bytes);
        }
    }
    for (uint32_t i = 1; i <= IDS; i++)
        rep_extent_remove(&check, i);
    CHECK_U64(check.root, 0);
}
