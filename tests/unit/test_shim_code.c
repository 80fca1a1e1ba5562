/* test_shim_code.c - what the recorder knows of code and of stacks: modules' rules, code that changes, the mapping that an address lies in, by both
 * ways of asking. */
#include <pthread.h>
#include <sys/mman.h>

#include "shim/sites/modules.h"
#include "shim/sites/walk.h"
#include "unit/harness.h"

#if defined(__x86_64__)
#define CODE  UINT64_C(0x7f0000001000) /* where it is said to be */
#define AFTER (CODE + 4 + 6)           /* where its call returns to */

/* endbr64; sub rsp, 8; call rcx; add rsp, 8; ret: as CPython 3.13 has them */
static const uint8_t thunk[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08,
                                0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
static uint8_t code[sizeof thunk];
static unsigned copies;
static bool is_there;
static struct modules modules;

static int find_none(void *address, struct modules_found *found)
{
    return -1;
}

static bool copy(uint64_t address, uint8_t *ret_bytes, uint32_t count)
{
    copies++;
    if (!is_there || address < CODE || address - CODE > sizeof code || count > sizeof code - (address - CODE))
        return false;
    memcpy(ret_bytes, code + (address - CODE), count);
    return true;
}

static void begin(void)
{
    memset(&modules, 0, sizeof modules);
    memcpy(code, thunk, sizeof code);
    modules_begin(&modules, find_none, NULL);
    modules.copy = copy;
    is_there = true;
    copies = 0;
}

static uint32_t rule_of_code(void)
{
    bool fresh = false;
    return modules_rule(&modules, AFTER, &fresh);
}

/* All of the rules are looked at. Returns how many steps there were. */
static unsigned check_all(void)
{
    unsigned steps = 0;
    for (uint32_t i = 0; i < 1u << RULES_BITS; i++)
        steps += modules_check_code(&modules);
    return steps;
}

TEST(a_thunk_is_understood)
{
    begin();
    const uint32_t rule = rule_of_code();
    CHECK_U64(cfi_rule_kind(rule), CFI_CODE);
    CHECK_U64(modules_rule_plain(rule),
              cfi_rule_make(CFI_SP, 2)); /* 16 bytes, and the frame register is the caller's */
    CHECK_U64(rule_of_code(), rule);
    CHECK_U64(copies, 1);
    CHECK_U64(check_all(), 0);
    CHECK(copies > 1);
    CHECK_U64(modules_rule_known(&modules, AFTER), rule);
}

TEST(other_code_is_not)
{
    for (size_t i = 4; i < sizeof thunk; i++) {
        begin();
        code[i] ^= 0x08;
        CHECK_U64(rule_of_code(), cfi_rule_make(CFI_CODE, 0));
    }
}

TEST(code_that_changes_is_noticed)
{
    begin();
    (void)rule_of_code();
    const uint32_t generation = modules.generation;
    code[7] = code[13] = 0x18; /* a larger frame, and its call returns to the same address */
    CHECK_U64(check_all(), 1);
    CHECK_U64(modules.generation, generation + 1);
    CHECK_U64(rule_of_code(), cfi_rule_make(CFI_CODE, 0));
    is_there = false;
    CHECK_U64(check_all(), 0); /* nothing was believed of it */
    CHECK_U64(cfi_rule_kind(rule_of_code()), CFI_NONE);
}

#endif

TEST(an_address_is_its_rule_s)
{
    for (uint64_t address = 1; address < UINT64_C(1) << SITE_KEY_BITS; address = address * 3 + 1) {
        const uint64_t mixed = modules_mix(address << CODE_LOW_BITS);
        CHECK_U64(modules_address(modules_place(mixed) | 1, modules_tag(mixed) | 7),
                  address << CODE_LOW_BITS);
    }
}

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
