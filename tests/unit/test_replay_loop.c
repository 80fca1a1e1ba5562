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

#define STAND_IN_1(name)                                                                                     \
    static void *see_##name(size_t size)                                                                     \
    {                                                                                                        \
        return see(#name, NULL, size, 0);                                                                    \
    }
#define STAND_IN_2(name)                                                                                     \
    static void *see_##name(size_t first, size_t second)                                                     \
    {                                                                                                        \
        return see(#name, NULL, first, second);                                                              \
    }
#define STAND_IN_NOTHROW(name)                                                                               \
    static void *see_##name(size_t size, const void *nothrow)                                                \
    {                                                                                                        \
        return nothrow != NULL ? see(#name, NULL, size, 0) : NULL;                                           \
    }
#define RELEASE_1(name)                                                                                      \
    static void see_##name(void *object)                                                                     \
    {                                                                                                        \
        (void)see(#name, object, 0, 0);                                                                      \
    }
#define RELEASE_2(name)                                                                                      \
    static void see_##name(void *object, size_t first)                                                       \
    {                                                                                                        \
        (void)see(#name, object, first, 0);                                                                  \
    }
#define RELEASE_3(name)                                                                                      \
    static void see_##name(void *object, size_t first, size_t second)                                        \
    {                                                                                                        \
        (void)see(#name, object, first, second);                                                             \
    }
#define RELEASE_NOTHROW(name)                                                                                \
    static void see_##name(void *object, const void *nothrow)                                                \
    {                                                                                                        \
        if (nothrow != NULL)                                                                                 \
            (void)see(#name, object, 0, 0);                                                                  \
    }

STAND_IN_1(malloc)
STAND_IN_1(valloc)
STAND_IN_1(pvalloc)
STAND_IN_1(new)
STAND_IN_1(new_array)
STAND_IN_2(calloc)
STAND_IN_2(aligned_alloc)
STAND_IN_2(memalign)
STAND_IN_2(new_aligned)
STAND_IN_2(new_array_aligned)
STAND_IN_NOTHROW(new_nothrow)
STAND_IN_NOTHROW(new_array_nothrow)
RELEASE_1(free)
RELEASE_1(delete)
RELEASE_1(delete_array)
RELEASE_2(free_sized)
RELEASE_2(delete_sized)
RELEASE_2(delete_array_sized)
RELEASE_2(delete_aligned)
RELEASE_2(delete_array_aligned)
RELEASE_3(free_aligned_sized)
RELEASE_3(delete_sized_aligned)
RELEASE_3(delete_array_sized_aligned)
RELEASE_NOTHROW(delete_nothrow)
RELEASE_NOTHROW(delete_array_nothrow)

static void *see_realloc(void *object, size_t size)
{
    return see("realloc", object, size, 0);
}

static void *see_reallocarray(void *object, size_t count, size_t size)
{
    return see("reallocarray", object, count, size);
}

static int see_posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    *ret_object = see("posix_memalign", NULL, alignment, size);
    return *ret_object != NULL ? 0 : 12;
}

static void *see_new_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
    return nothrow != NULL ? see("new_aligned_nothrow", NULL, size, alignment) : NULL;
}

static void *see_new_array_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
    return nothrow != NULL ? see("new_array_aligned_nothrow", NULL, size, alignment) : NULL;
}

static void see_delete_aligned_nothrow(void *object, size_t alignment, const void *nothrow)
{
    (void)see("delete_aligned_nothrow", object, alignment, nothrow == NULL);
}

static void see_delete_array_aligned_nothrow(void *object, size_t alignment, const void *nothrow)
{
    (void)see("delete_array_aligned_nothrow", object, alignment, nothrow == NULL);
}

static void *slots[8];

static struct rep_loop loop = {
    .calls =
        {
            .malloc = see_malloc,
            .calloc = see_calloc,
            .realloc = see_realloc,
            .reallocarray = see_reallocarray,
            .free = see_free,
            .free_sized = see_free_sized,
            .free_aligned_sized = see_free_aligned_sized,
            .posix_memalign = see_posix_memalign,
            .aligned_alloc = see_aligned_alloc,
            .memalign = see_memalign,
            .valloc = see_valloc,
            .pvalloc = see_pvalloc,
            .new_plain = {see_new, see_new_array},
            .new_nothrow = {see_new_nothrow, see_new_array_nothrow},
            .new_aligned = {see_new_aligned, see_new_array_aligned},
            .new_aligned_nothrow = {see_new_aligned_nothrow, see_new_array_aligned_nothrow},
            .delete_plain = {see_delete, see_delete_array},
            .delete_nothrow = {see_delete_nothrow, see_delete_array_nothrow},
            .delete_sized = {see_delete_sized, see_delete_array_sized},
            .delete_aligned = {see_delete_aligned, see_delete_array_aligned},
            .delete_sized_aligned = {see_delete_sized_aligned, see_delete_array_sized_aligned},
            .delete_aligned_nothrow = {see_delete_aligned_nothrow, see_delete_array_aligned_nothrow},
        },
    .slots = slots,
};

static size_t execute(const struct wl_op *ops, size_t count)
{
    uint8_t code[OPS_MAX + 1] = {0};
    rep_code_make(code, ops, count);
    return rep_loop_run(&loop, ops, code, count);
}

static void *(*before_each_call)(void *unused);

static void check_each_call(void)
{
    static const struct {
        uint8_t call;
        const char *name;
        size_t first, second; /* expected, for an op of 48 bytes (or 3 of 48), alignment 64 */
    } expected[] = {
        {FP_CALL_MALLOC, "malloc", 48, 0},
        {FP_CALL_CALLOC, "calloc", 3, 48},
        {FP_CALL_REALLOC, "realloc", 48, 0},
        {FP_CALL_REALLOCARRAY, "reallocarray", 3, 48},
        {FP_CALL_FREE, "free", 0, 0},
        {FP_CALL_FREE_SIZED, "free_sized", 48, 0},
        {FP_CALL_FREE_ALIGNED_SIZED, "free_aligned_sized", 64, 48},
        {FP_CALL_POSIX_MEMALIGN, "posix_memalign", 64, 48},
        {FP_CALL_ALIGNED_ALLOC, "aligned_alloc", 64, 48},
        {FP_CALL_MEMALIGN, "memalign", 64, 48},
        {FP_CALL_VALLOC, "valloc", 48, 0},
        {FP_CALL_PVALLOC, "pvalloc", 48, 0},
        {FP_CALL_NEW, "new", 48, 0},
        {FP_CALL_NEW_ARRAY, "new_array", 48, 0},
        {FP_CALL_NEW_NOTHROW, "new_nothrow", 48, 0},
        {FP_CALL_NEW_ARRAY_NOTHROW, "new_array_nothrow", 48, 0},
        {FP_CALL_NEW_ALIGNED, "new_aligned", 48, 64},
        {FP_CALL_NEW_ARRAY_ALIGNED, "new_array_aligned", 48, 64},
        {FP_CALL_NEW_ALIGNED_NOTHROW, "new_aligned_nothrow", 48, 64},
        {FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW, "new_array_aligned_nothrow", 48, 64},
        {FP_CALL_DELETE, "delete", 0, 0},
        {FP_CALL_DELETE_ARRAY, "delete_array", 0, 0},
        {FP_CALL_DELETE_NOTHROW, "delete_nothrow", 0, 0},
        {FP_CALL_DELETE_ARRAY_NOTHROW, "delete_array_nothrow", 0, 0},
        {FP_CALL_DELETE_SIZED, "delete_sized", 48, 0},
        {FP_CALL_DELETE_ARRAY_SIZED, "delete_array_sized", 48, 0},
        {FP_CALL_DELETE_ALIGNED, "delete_aligned", 64, 0},
        {FP_CALL_DELETE_ARRAY_ALIGNED, "delete_array_aligned", 64, 0},
        {FP_CALL_DELETE_SIZED_ALIGNED, "delete_sized_aligned", 48, 64},
        {FP_CALL_DELETE_ARRAY_SIZED_ALIGNED, "delete_array_sized_aligned", 48, 64},
        {FP_CALL_DELETE_ALIGNED_NOTHROW, "delete_aligned_nothrow", 64, 0},
        {FP_CALL_DELETE_ARRAY_ALIGNED_NOTHROW, "delete_array_aligned_nothrow", 64, 0},
    };
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
