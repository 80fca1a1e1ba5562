/* The mapping that an address lies in, by both ways of asking. */
#include <pthread.h>
#include <sys/mman.h>

#include "shim/sites/walk.h"
#include "unit/harness.h"

#define PAGE 4096u

typedef bool ask_fn(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high);

static void check_mapping(ask_fn *ask)
{
    uint8_t *area = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t low = 0, high = 0;
    CHECK(area != MAP_FAILED);
    CHECK(mprotect(area + PAGE, 3 * PAGE, PROT_READ | PROT_WRITE) == 0);
    for (unsigned at = PAGE; at < 4 * PAGE; at += PAGE - 1) {
        CHECK(ask((uintptr_t)area + at, &low, &high));
        CHECK(low == (uintptr_t)area + PAGE && high == (uintptr_t)area + 4 * PAGE);
    }
    CHECK(munmap(area, 5 * PAGE) == 0);
}

TEST(the_kernel_tells_a_mapping)
{
    check_mapping(stack_bounds_of);
    check_mapping(stack_bounds_listed);
}

static void *in_thread(void *ret_found)
{
    uintptr_t low = 0, high = 0;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    *(bool *)ret_found = stack_bounds_of(here, &low, &high) && low < here &&
                         here < (uintptr_t)pthread_self() && (uintptr_t)pthread_self() < high;
    return NULL;
}

TEST(a_thread_lies_below_its_record)
{
    pthread_t thread;
    bool found = false;
    CHECK(pthread_create(&thread, NULL, in_thread, &found) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(found);
}

TEST(nothing_is_at_null)
{
    uintptr_t low, high;
    CHECK(!stack_bounds_of(0, &low, &high));
    CHECK(!stack_bounds_listed(0, &low, &high));
}
