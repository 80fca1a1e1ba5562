/* test_replay_loop - each call reaches its function with its arguments; new memory is touched, old is not. */
#include <sys/mman.h>

#include "harness.h"
#include "replay/base/op.h"
#include "replay/exec/latency_pass.h"
#include "replay/exec/loop.h"

#define OPS_MAX   64u /* that a test executes at once */
#define MIXED_OPS 4u

/* What the stand-ins were called with last. */
static struct {
    char name[32];
    void *object;
    size_t first, second;
    unsigned calls;
    char order[OPS_MAX + 1];    /* the first letters of all calls so far */
    uintptr_t numbers[OPS_MAX]; /* and their objects, or sizes where there was none */
} seen;

static unsigned char *memory; /* what they return */
static bool refuse;

#define REFUSED_BYTES 7777u

static void *see(const char *name, void *object, size_t first, size_t second)
{
    snprintf(seen.name, sizeof seen.name, "%s", name);
    seen.object = object;
    seen.first = first;
    seen.second = second;
    seen.order[seen.calls % OPS_MAX] = name[0];
    seen.numbers[seen.calls++ % OPS_MAX] = object != NULL ? (uintptr_t)object : first;
    return refuse || first == REFUSED_BYTES ? NULL : memory;
}

/* A stand-in of each form. */
#define STAND_IN(name, object, first, second, ...)                                                           \
    static void *see_##name(__VA_ARGS__)                                                                     \
    {                                                                                                        \
        return see(#name, object, first, second);                                                            \
    }
#define STAND_IN_VOID(name, first, second, ...)                                                              \
    static void see_##name(__VA_ARGS__)                                                                      \
    {                                                                                                        \
        (void)see(#name, object, first, second);                                                             \
    }
#define MAKES(name)         STAND_IN(name, NULL, a, 0, size_t a)
#define MAKES_OF_TWO(name)  STAND_IN(name, NULL, a, b, size_t a, size_t b)
#define MAKES_NOTHROW(name) STAND_IN(name, NULL, a, nothrow == NULL, size_t a, const void *nothrow)
#define MAKES_OF_TWO_NOTHROW(name)                                                                           \
    STAND_IN(name, NULL, a, nothrow != NULL ? b : 0, size_t a, size_t b, const void *nothrow)
#define RESIZES(name)        STAND_IN(name, object, a, 0, void *object, size_t a)
#define RESIZES_OF_TWO(name) STAND_IN(name, object, a, b, void *object, size_t a, size_t b)
#define ENDS(name)           STAND_IN_VOID(name, 0, 0, void *object)
#define ENDS_OF_ONE(name)    STAND_IN_VOID(name, a, 0, void *object, size_t a)
#define ENDS_OF_TWO(name)    STAND_IN_VOID(name, a, b, void *object, size_t a, size_t b)
#define ENDS_NOTHROW(name)   STAND_IN_VOID(name, 0, nothrow == NULL, void *object, const void *nothrow)
#define ENDS_OF_ONE_NOTHROW(name)                                                                            \
    STAND_IN_VOID(name, a, nothrow == NULL, void *object, size_t a, const void *nothrow)
#define STORES(name)                                                                                         \
    static int see_##name(void **ret_object, size_t a, size_t b)                                             \
    {                                                                                                        \
        *ret_object = see(#name, NULL, a, b);                                                                \
        return *ret_object != NULL ? 0 : 12;                                                                 \
    }

/* Each call, its function's name and form, where the loop has it, and what it is to get for an op of 48 bytes (or 3 of 48), alignment 64. */
/* clang-format off */
#define CALLS(ROW) \
    ROW(MALLOC, malloc, MAKES, malloc, 48, 0)                                                                              \
    ROW(CALLOC, calloc, MAKES_OF_TWO, calloc, 3, 48)                                                                       \
    ROW(REALLOC, realloc, RESIZES, realloc, 48, 0)                                                                         \
    ROW(REALLOCARRAY, reallocarray, RESIZES_OF_TWO, reallocarray, 3, 48)                                                   \
    ROW(FREE, free, ENDS, free, 0, 0)                                                                                      \
    ROW(FREE_SIZED, free_sized, ENDS_OF_ONE, free_sized, 48, 0)                                                            \
    ROW(FREE_ALIGNED_SIZED, free_aligned_sized, ENDS_OF_TWO, free_aligned_sized, 64, 48)                                   \
    ROW(POSIX_MEMALIGN, posix_memalign, STORES, posix_memalign, 64, 48)                                                    \
    ROW(ALIGNED_ALLOC, aligned_alloc, MAKES_OF_TWO, aligned_alloc, 64, 48)                                                 \
    ROW(MEMALIGN, memalign, MAKES_OF_TWO, memalign, 64, 48)                                                                \
    ROW(VALLOC, valloc, MAKES, valloc, 48, 0)                                                                              \
    ROW(PVALLOC, pvalloc, MAKES, pvalloc, 48, 0)                                                                           \
    ROW(NEW, new, MAKES, new_plain[0], 48, 0)                                                                              \
    ROW(NEW_ARRAY, new_array, MAKES, new_plain[1], 48, 0)                                                                  \
    ROW(NEW_NOTHROW, new_nothrow, MAKES_NOTHROW, new_nothrow[0], 48, 0)                                                    \
    ROW(NEW_ARRAY_NOTHROW, new_array_nothrow, MAKES_NOTHROW, new_nothrow[1], 48, 0)                                        \
    ROW(NEW_ALIGNED, new_aligned, MAKES_OF_TWO, new_aligned[0], 48, 64)                                                    \
    ROW(NEW_ARRAY_ALIGNED, new_array_aligned, MAKES_OF_TWO, new_aligned[1], 48, 64)                                        \
    ROW(NEW_ALIGNED_NOTHROW, new_aligned_nothrow, MAKES_OF_TWO_NOTHROW, new_aligned_nothrow[0], 48, 64)                    \
    ROW(NEW_ARRAY_ALIGNED_NOTHROW, new_array_aligned_nothrow, MAKES_OF_TWO_NOTHROW, new_aligned_nothrow[1], 48, 64)        \
    ROW(DELETE, delete, ENDS, delete_plain[0], 0, 0)                                                                       \
    ROW(DELETE_ARRAY, delete_array, ENDS, delete_plain[1], 0, 0)                                                           \
    ROW(DELETE_NOTHROW, delete_nothrow, ENDS_NOTHROW, delete_nothrow[0], 0, 0)                                             \
    ROW(DELETE_ARRAY_NOTHROW, delete_array_nothrow, ENDS_NOTHROW, delete_nothrow[1], 0, 0)                                 \
    ROW(DELETE_SIZED, delete_sized, ENDS_OF_ONE, delete_sized[0], 48, 0)                                                   \
    ROW(DELETE_ARRAY_SIZED, delete_array_sized, ENDS_OF_ONE, delete_sized[1], 48, 0)                                       \
    ROW(DELETE_ALIGNED, delete_aligned, ENDS_OF_ONE, delete_aligned[0], 64, 0)                                             \
    ROW(DELETE_ARRAY_ALIGNED, delete_array_aligned, ENDS_OF_ONE, delete_aligned[1], 64, 0)                                 \
    ROW(DELETE_SIZED_ALIGNED, delete_sized_aligned, ENDS_OF_TWO, delete_sized_aligned[0], 48, 64)                          \
    ROW(DELETE_ARRAY_SIZED_ALIGNED, delete_array_sized_aligned, ENDS_OF_TWO, delete_sized_aligned[1], 48, 64)              \
    ROW(DELETE_ALIGNED_NOTHROW, delete_aligned_nothrow, ENDS_OF_ONE_NOTHROW, delete_aligned_nothrow[0], 64, 0)             \
    ROW(DELETE_ARRAY_ALIGNED_NOTHROW, delete_array_aligned_nothrow, ENDS_OF_ONE_NOTHROW, delete_aligned_nothrow[1], 64, 0)
/* clang-format on */

#define ROW_STAND_IN(call, name, form, member, first, second) form(name)
CALLS(ROW_STAND_IN)

static void *slots[8];

#define ROW_MEMBER(call, name, form, member, first, second) .calls.member = see_##name,
static struct rep_loop loop = {CALLS(ROW_MEMBER).slots = slots};

static size_t execute(const struct wl_op *ops, size_t count)
{
    uint8_t code[OPS_MAX + 1] = {0};
    rep_code_make(code, ops, count);
    return rep_loop_run(&loop, ops, code, count);
}

static void *(*before_each_call)(void *unused);

static void check_each_call(void)
{
#define ROW_EXPECTED(call, name, form, member, first, second) {FP_CALL_##call, #name, first, second},
    static const struct {
        uint8_t call;
        const char *name;
        size_t first, second;
    } expected[] = {CALLS(ROW_EXPECTED)};
    CHECK_U64(COUNT_OF(expected), FP_CALL_COUNT - 1);
    loop.touch = REP_TOUCH_NONE;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const uint8_t call = expected[i].call;
        const bool counted = call == FP_CALL_CALLOC || call == FP_CALL_REALLOCARRAY;
        const bool allocates = fp_call_kind_of(call) == FP_KIND_ALLOCATE;
        const struct wl_op op = {
            .id = 2, .call = call, .align_log2 = 6, .count = counted ? 3 : 0, .size = 48};
        slots[2] = allocates ? NULL : memory + 5;
        memset(&seen, 0, sizeof seen);
        if (before_each_call != NULL)
            (void)before_each_call(NULL);
        CHECK_U64(execute(&op, 1), 1);
        CHECK_STR(seen.name, expected[i].name);
        CHECK_U64(seen.calls, 1);
        CHECK_U64(seen.first, expected[i].first);
        CHECK_U64(seen.second, expected[i].second);
        CHECK(allocates || seen.object == memory + 5);
        if (fp_call_kind_of(call) != FP_KIND_RELEASE)
            CHECK(slots[2] == memory);
    }
}

TEST(each_call_reaches_its_function)
{
    check_each_call();
}

/* The op's entry is written, the next one is not, and the function sees what it is told. */
static struct rep_latency latency;
static uint32_t timed_calls;

static void *enter(void *result)
{
    CHECK(timed_calls == 0 || latency.ticks[timed_calls - 1] != UINT64_MAX);
    latency.ticks[timed_calls] = latency.ticks[timed_calls + 1] = UINT64_MAX;
    rep_latency_enter(&latency, timed_calls++);
    return result;
}

TEST(a_stand_in_of_the_latency_pass_passes_everything_on)
{
    const struct wl_summary summary = {.window_ops_max = 64, .thread_count = 1};
    const struct rep_calls calls = loop.calls;
    struct rep_clock clock;
    rep_clock_init(&clock);
    CHECK(rep_latency_init(&latency, &summary, 0, &loop.calls));
    rep_latency_calibrate(&latency, &clock);
    before_each_call = enter;
    check_each_call();
    CHECK_U64(timed_calls, FP_CALL_COUNT - 1);
    CHECK_U64(latency.ticks[timed_calls], UINT64_MAX);
    refuse = true;
    CHECK_U64(loop.calls.posix_memalign((void **)enter(&slots[1]), 64, 48), 12);
    refuse = false;
    before_each_call = NULL;
    loop.calls = calls;
}

TEST(fresh_resizes_begin_from_null)
{
    const struct wl_op ops[] = {
        {.id = 1, .call = FP_CALL_REALLOC, .align_log2 = WL_OP_FRESH, .size = 8},
        {.id = 1, .call = FP_CALL_REALLOCARRAY, .align_log2 = WL_OP_FRESH, .count = 2, .size = 8},
    };
    loop.touch = REP_TOUCH_NONE;
    for (size_t i = 0; i < 2; i++) {
        slots[1] = memory + 9; /* of the id's former object, released since */
        CHECK_U64(execute(&ops[i], 1), 1);
        CHECK(seen.object == NULL);
    }
}

#define MEMORY_BYTES 65536u

/* Run one op over untouched memory, and count the bytes that were written; ret_last: the last of them. */
static uint32_t touched_by(const struct wl_op *op, enum rep_touch touch, size_t step, size_t *ret_last)
{
    uint32_t count = 0;
    memset(memory, 0, MEMORY_BYTES);
    loop.touch = touch;
    loop.touch_step = step;
    CHECK_U64(execute(op, 1), 1);
    *ret_last = SIZE_MAX;
    for (size_t i = 0; i < MEMORY_BYTES; i++) {
        if (memory[i] != 0) {
            count++;
            *ret_last = i;
        }
    }
    return count;
}

TEST(new_memory_is_touched)
{
    const struct wl_op small = {.id = 1, .call = FP_CALL_MALLOC, .size = 100};
    const struct wl_op page = {.id = 1, .call = FP_CALL_NEW, .size = 4096};
    const struct wl_op large = {.id = 1, .call = FP_CALL_CALLOC, .count = 3, .size = 4097};
    const struct wl_op nothing = {.id = 1, .call = FP_CALL_MALLOC, .size = 0};
    size_t last;
    CHECK_U64(touched_by(&small, REP_TOUCH_PAGE, 4096, &last), 1);
    CHECK_U64(last, 0);
    CHECK_U64(touched_by(&page, REP_TOUCH_PAGE, 4096, &last), 1);
    CHECK_U64(touched_by(&large, REP_TOUCH_PAGE, 4096, &last), 4);
    CHECK_U64(last, 3 * 4096);
    CHECK_U64(touched_by(&nothing, REP_TOUCH_PAGE, 4096, &last), 0);
    CHECK_U64(touched_by(&large, REP_TOUCH_NONE, 4096, &last), 0);
    /* `none` has nothing behind the first byte. */
    CHECK_U64(touched_by(&large, REP_TOUCH_PAGE, REP_TOUCH_FIRST_ONLY, &last), 1);
    CHECK_U64(last, 0);
}

TEST(resizes_touch_what_is_new)
{
    struct wl_op grown = {.id = 1, .call = FP_CALL_REALLOC, .size = 40000};
    struct wl_op array = {.id = 1, .call = FP_CALL_REALLOCARRAY, .count = 4, .size = 10000};
    size_t last;
    rep_op_set_pages(&grown, 3);
    rep_op_set_pages(&array, 3);
    CHECK_U64(touched_by(&grown, REP_TOUCH_PAGE, 4096, &last), 7);
    CHECK_U64(memory[2 * 4096], 0);
    CHECK_U64(memory[3 * 4096], 1);
    CHECK_U64(touched_by(&array, REP_TOUCH_PAGE, 4096, &last), 7);
    CHECK_U64(seen.second, 10000);
    rep_op_set_pages(&grown, 10); /* shrunk, or grown within its last page */
    CHECK_U64(touched_by(&grown, REP_TOUCH_PAGE, 4096, &last), 0);
}

/* By `page` only a share from the start, whichever field holds it; the others are as ever. */
TEST(objects_with_a_share_are_touched_so_far)
{
    static const uint8_t calls[] = {FP_CALL_MALLOC, FP_CALL_CALLOC, FP_CALL_REALLOC, FP_CALL_REALLOCARRAY,
                                    FP_CALL_NEW};
    size_t last;
    for (size_t i = 0; i < sizeof calls; i++) {
        const bool counted = calls[i] == FP_CALL_CALLOC || calls[i] == FP_CALL_REALLOCARRAY;
        struct wl_op op = {
            .id = 1, .call = calls[i], .count = counted ? 2 : 1, .size = counted ? 8 * 4096 : 16 * 4096};
        rep_op_set_share(&op, 128);
        CHECK_U64(touched_by(&op, REP_TOUCH_PAGE, 4096, &last), 8);
        CHECK_U64(last, 7 * 4096);
        CHECK_U64(touched_by(&op, REP_TOUCH_NONE, 4096, &last), 0);
        rep_op_set_share(&op, 0);
        CHECK_U64(touched_by(&op, REP_TOUCH_PAGE, 4096, &last), 0);
    }
}

/* From each kind of call the loop goes on to each other by another way. */
TEST(ops_are_executed_in_their_order)
{
    static const struct {
        char letter;
        struct wl_op op;
    } kinds[] = {{'m', {.id = 1, .call = FP_CALL_MALLOC, .size = 100}},
                 {'f', {.id = 1, .call = FP_CALL_FREE}},
                 {'c', {.id = 1, .call = FP_CALL_CALLOC, .count = 2, .size = 50}},
                 {'r', {.id = 1, .call = FP_CALL_REALLOC, .align_log2 = WL_OP_FRESH, .size = 100}},
                 {'d', {.id = 1, .call = FP_CALL_DELETE}}};
    const unsigned kind_count = COUNT_OF(kinds);
    loop.touch = REP_TOUCH_NONE;
    for (unsigned length = 0; length <= 6; length++) {
        unsigned sequences = 1;
        for (unsigned i = 0; i < length; i++)
            sequences *= kind_count;
        for (unsigned sequence = 0; sequence < sequences; sequence++) {
            struct wl_op ops[6];
            char expected[7] = {0};
            for (unsigned i = 0, rest = sequence; i < length; i++, rest /= kind_count) {
                ops[i] = kinds[rest % kind_count].op;
                expected[i] = kinds[rest % kind_count].letter;
            }
            memset(&seen, 0, sizeof seen);
            CHECK_U64(execute(ops, length), length);
            CHECK_STR(seen.order, expected);
        }
    }
}

/* Each op has its own object and size, and a refusal ends the run at the very op. */
TEST(ops_have_their_own_objects)
{
    for (unsigned order = 0; order < 1u << MIXED_OPS; order++) {
        for (unsigned refused = 0; refused <= MIXED_OPS; refused++) {
            struct wl_op ops[MIXED_OPS];
            unsigned expected = MIXED_OPS;
            for (unsigned i = 0; i < MIXED_OPS; i++) {
                const bool releases = (order >> i & 1) != 0;
                ops[i] = (struct wl_op){.id = i + 1, .call = releases ? FP_CALL_FREE : FP_CALL_MALLOC};
                slots[i + 1] = releases ? memory + i : NULL;
                if (!releases)
                    ops[i].size = i == refused ? REFUSED_BYTES : 64 + i;
                if (!releases && i == refused)
                    expected = i;
            }
            memset(&seen, 0, sizeof seen);
            loop.touch = REP_TOUCH_NONE;
            CHECK_U64(execute(ops, MIXED_OPS), expected);
            CHECK_U64(seen.calls, expected < MIXED_OPS ? expected + 1 : expected);
            for (unsigned i = 0; i < expected; i++) {
                const bool releases = (order >> i & 1) != 0;
                CHECK(slots[i + 1] == (releases ? memory + i : memory));
                CHECK_U64(seen.numbers[i], releases ? (size_t)(uintptr_t)(memory + i) : 64 + i);
            }
        }
    }
}

TEST(null_ends_the_run)
{
    const struct wl_op ops[] = {
        {.id = 1, .call = FP_CALL_MALLOC, .size = 0},
        {.id = 0, .call = FP_CALL_FREE},
        {.id = 2, .call = FP_CALL_MALLOC, .size = 1},
        {.id = 3, .call = FP_CALL_MALLOC, .size = 1},
    };
    loop.touch = REP_TOUCH_PAGE;
    loop.touch_step = 4096;
    refuse = true;
    slots[1] = memory;
    memset(&seen, 0, sizeof seen);
    CHECK_U64(execute(ops, 4), 2); /* nothing for nothing is no failure */
    CHECK_U64(seen.calls, 3);
    CHECK(slots[1] == NULL);
    refuse = false;
}

PREPARE
{
    memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
}
