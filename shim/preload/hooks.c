/* hooks.c - the C half of what we wrap.
 *
 * Laws of this file: forward to the next definition exactly what came in, return exactly what it returned, leave
 * errno as it left it. An allocation is recorded after the allocator returned, a release before it is entered, a
 * realloc on both sides (docs/order.md). Only malloc and free have a fast path of their own; the rest share
 * turn.h. realloc(NULL, n) consumes nothing, so it has no FP_MARK_RESIZE_FROM. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shim/preload/boot.h"
#include "shim/preload/large.h"
#include "shim/preload/turn.h"

#define PAGE_ALIGNMENT 4096u /* for a valloc nested in dlsym; nobody's libc does that */

SHIM_EXPORT void *malloc(size_t size);
SHIM_EXPORT void *calloc(size_t count, size_t size);
SHIM_EXPORT void *realloc(void *address, size_t size);
SHIM_EXPORT void *reallocarray(void *address, size_t count, size_t size);
SHIM_EXPORT void free(void *address);
SHIM_EXPORT void free_sized(void *address, size_t size);
SHIM_EXPORT void free_aligned_sized(void *address, size_t alignment, size_t size);
SHIM_EXPORT int posix_memalign(void **ret_address, size_t alignment, size_t size);
SHIM_EXPORT void *aligned_alloc(size_t alignment, size_t size);
SHIM_EXPORT void *memalign(size_t alignment, size_t size);
SHIM_EXPORT void *valloc(size_t size);
SHIM_EXPORT void *pvalloc(size_t size);
SHIM_EXPORT size_t malloc_usable_size(void *address);

static void *boot_or_enomem(size_t alignment, size_t size)
{
    void *address = boot_allocate(alignment, size);
    if (address == NULL)
        errno = ENOMEM;
    return address;
}

/* ---- the steps of several ------------------------------------------------------------------------ */

/* If the allocator lacks a rarer form, the one that every allocator has serves it. */
static void *by_posix_memalign(size_t alignment, size_t size)
{
    void *address = NULL;
    const int error = shim_next.posix_memalign(&address,
                                               alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
    if (error == 0)
        return address;
    errno = error;
    return NULL;
}

/* Calls that take a size and no more. */
static __attribute__((noinline)) void *of_size(unsigned call, size_t size, const void *caller)
{
    struct lane *lane;
    const enum turn turn = turn_make(&lane, caller, size);
    if (turn == TURN_BOOT)
        return boot_or_enomem(call == FP_CALL_MALLOC ? 0 : PAGE_ALIGNMENT, size);
    void *(*const next)(size_t) = call == FP_CALL_MALLOC   ? shim_next.malloc
                                  : call == FP_CALL_VALLOC ? shim_next.valloc
                                                           : shim_next.pvalloc;
    const size_t mask = next == NULL ? (size_t)sysconf(_SC_PAGESIZE) - 1 : 0;
    const size_t whole = call == FP_CALL_PVALLOC && size <= SIZE_MAX - mask ? (size + mask) & ~mask : size;
    void *address = next != NULL ? next(size) : by_posix_memalign(mask + 1, whole);
    if (turn == TURN_RECORD)
        turn_allocated(lane, call, address, size, 0);
    return address;
}

static void *aligned(unsigned call, size_t alignment, size_t size, const void *caller)
{
    struct lane *lane;
    const enum turn turn = turn_make(&lane, caller, size);
    if (turn == TURN_BOOT)
        return boot_or_enomem(alignment, size);
    void *(*const next)(size_t, size_t) = call == FP_CALL_MEMALIGN ? shim_next.memalign
                                                                   : shim_next.aligned_alloc;
    void *address = next != NULL ? next(alignment, size) : by_posix_memalign(alignment, size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, call, address, size, alignment);
    return address;
}

/* ends: chosen_ends' answer. What the allocator has no other release for is freed. */
static __attribute__((noinline)) void release(unsigned call, void *address, size_t alignment, size_t size,
                                              bool ends, const void *caller)
{
    struct lane *lane;
    const enum turn turn = ends ? turn_take(&lane, caller) : TURN_FORWARD;
    if (turn == TURN_BOOT)
        return; /* only boot memory can exist by now, and it is never returned */
    if (turn == TURN_RECORD)
        lane = turn_record(lane, call, address, size, alignment);
    if (call == FP_CALL_FREE_SIZED && shim_next.free_sized != NULL)
        shim_next.free_sized(address, size);
    else if (call == FP_CALL_FREE_ALIGNED_SIZED && shim_next.free_aligned_sized != NULL)
        shim_next.free_aligned_sized(address, alignment, size);
    else
        shim_next.free(address);
    if (turn == TURN_RECORD)
        turn_done(lane);
}

/* ---- malloc and free ---------------------------------------------------------------------------- */

/* Stands out of line, and returns the address, so that malloc keeps two registers over its call and not four. */
static __attribute__((noinline)) void *malloc_finish(struct lane *lane, void *address, size_t size)
{
    lane = lane_record_slow(lane, FP_CALL_MALLOC, (uintptr_t)address, size, 0);
    lane_set_gate(lane, GATE_OPEN);
    return address;
}

void *malloc(size_t size)
{
    if (unlikely(chosen_passes(size)))
        return shim_next.malloc(size);
    struct lane *lane = shim_lane;
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN))
        return of_size(FP_CALL_MALLOC, size, TURN_CALLER);
    lane_set_gate(lane, GATE_FORWARD);
    void *address = shim_next.malloc(size);
    lane_set_gate(lane, GATE_RECORD);
    if (unlikely(!lane_store(lane, true, fp_record_code(FP_CALL_MALLOC), (uintptr_t)address, size)))
        return malloc_finish(lane, address, size);
    lane_set_gate(lane, GATE_OPEN);
    return address;
}

/* Finish a free that did not fit one word. */
static __attribute__((noinline)) void free_finish(struct lane *lane, void *address)
{
    lane = lane_record_slow(lane, FP_CALL_FREE, (uintptr_t)address, 0, 0);
    lane_set_gate(lane, GATE_OPEN);
    shim_next.free(address);
}

/* The gate is open while the next free runs, so that the call below is a jump without a frame. Whatever that
 * calls of ours (a thread's first free may set up the allocator's own thread data) is recorded like the program's
 * calls, as is its release later. */
void free(void *address)
{
    struct lane *lane = shim_lane;
    if (unlikely(boot_owns(address)))
        return;
    if (unlikely(!chosen_ends(address))) {
        shim_next.free(address);
        return;
    }
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN || large_suspects(address))) {
        release(FP_CALL_FREE, address, 0, 0, true, TURN_CALLER);
        return;
    }
    lane_set_gate(lane, GATE_RECORD);
    if (unlikely(!lane_store(lane, false, fp_record_code(FP_CALL_FREE), (uintptr_t)address, 0))) {
        free_finish(lane, address);
        return;
    }
    lane_set_gate(lane, GATE_OPEN);
    shim_next.free(address);
}

/* ---- calloc, realloc --------------------------------------------------------------------------------- */

/* The bytes of an array; SIZE_MAX where they have no number. */
static inline size_t product(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

void *calloc(size_t count, size_t size)
{
    struct lane *lane;
    const enum turn turn = turn_make(&lane, TURN_CALLER, product(count, size));
    if (turn == TURN_BOOT)
        return boot_or_enomem(0, product(count, size)); /* zeroed: static and never reused */
    void *address = shim_next.calloc(count, size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_CALLOC, address, size, count);
    return address;
}

/* Memory from before the look-up moves to the allocator at its first growth. */
static void *move_from_boot(void *address, size_t size)
{
    const size_t usable = boot_usable_size(address);
    void *moved = shim_next.malloc != NULL ? shim_next.malloc(size) : boot_or_enomem(0, size);
    if (moved != NULL)
        memcpy(moved, address, usable < size ? usable : size);
    return moved;
}

static void *next_reallocarray(void *address, size_t count, size_t size)
{
    if (shim_next.reallocarray != NULL)
        return shim_next.reallocarray(address, count, size);
    if (product(count, size) != SIZE_MAX)
        return shim_next.realloc(address, count * size);
    errno = ENOMEM;
    return NULL;
}

/* Inlined, so that each call is known. count: 1 for realloc. */
static inline __attribute__((always_inline)) void *resize(unsigned call, void *address, size_t count,
                                                          size_t size, const void *caller)
{
    struct lane *lane;
    void *result;
    const size_t bytes = product(count, size);
    const bool ends = chosen_ends(address);
    const uint64_t left = ends ? 0 : chosen_may_pass(bytes);
    const enum turn turn = unlikely(left != 0) ? TURN_FORWARD : turn_take(&lane, caller);
    if (unlikely(turn == TURN_BOOT || boot_owns(address))) {
        result = address != NULL ? move_from_boot(address, bytes) : boot_or_enomem(0, bytes);
    } else {
        if (turn == TURN_RECORD && address != NULL && ends)
            lane = turn_record(lane, FP_MARK_RESIZE_FROM, address, 0, 0);
        if (turn == TURN_RECORD && call == FP_CALL_REALLOCARRAY)
            lane_set_gate(lane, lane_gate(lane) | GATE_PASS);
        result = call == FP_CALL_REALLOC ? shim_next.realloc(address, size)
                                         : next_reallocarray(address, count, size);
        if (unlikely(result == NULL) && bytes != 0 && ends)
            (void)chosen_add((uintptr_t)address); /* it has just left room for itself */
    }
    if (turn == TURN_RECORD)
        turn_allocated(lane, call, result, size, call == FP_CALL_REALLOC ? 0 : count);
    chosen_passed(left, bytes);
    return result;
}

void *realloc(void *address, size_t size)
{
    return resize(FP_CALL_REALLOC, address, 1, size, TURN_CALLER);
}

void *reallocarray(void *address, size_t count, size_t size)
{
    return resize(FP_CALL_REALLOCARRAY, address, count, size, TURN_CALLER);
}

/* ---- C23 releases ------------------------------------------------------------------------------- */

void free_sized(void *address, size_t size)
{
    if (likely(!boot_owns(address)))
        release(FP_CALL_FREE_SIZED, address, 0, size, chosen_ends(address), TURN_CALLER);
}

void free_aligned_sized(void *address, size_t alignment, size_t size)
{
    if (likely(!boot_owns(address)))
        release(FP_CALL_FREE_ALIGNED_SIZED, address, alignment, size, chosen_ends(address), TURN_CALLER);
}

/* ---- alignment --------------------------------------------------------------------------------------- */

int posix_memalign(void **ret_address, size_t alignment, size_t size)
{
    struct lane *lane;
    const enum turn turn = turn_make(&lane, TURN_CALLER, size);
    if (turn == TURN_BOOT) {
        void *address = boot_allocate(alignment, size);
        if (address == NULL)
            return ENOMEM;
        *ret_address = address;
        return 0;
    }
    int error = shim_next.posix_memalign(ret_address, alignment, size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_POSIX_MEMALIGN, error == 0 ? *ret_address : NULL, size, alignment);
    return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(FP_CALL_ALIGNED_ALLOC, alignment, size, TURN_CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(FP_CALL_MEMALIGN, alignment, size, TURN_CALLER);
}

void *valloc(size_t size)
{
    return of_size(FP_CALL_VALLOC, size, TURN_CALLER);
}

void *pvalloc(size_t size)
{
    return of_size(FP_CALL_PVALLOC, size, TURN_CALLER);
}

/* ---- no call of ours, but it must know our own memory ------------------------------------------------ */

size_t malloc_usable_size(void *address)
{
    if (address == NULL)
        return 0;
    if (boot_owns(address))
        return boot_usable_size(address);
    if (!boot_resolve() || shim_next.malloc_usable_size == NULL)
        return 0;
    return shim_next.malloc_usable_size(address);
}

/* ---- jumps by which a signal handler leaves a call of ours that it interrupted: longjmp and its like ----
 *
 * Such a call never returns, so nobody opens the gate that it shut, and the thread's later calls would all pass for a handler's.
 * A jump that stays within the handler cannot be told from one that leaves it: then the call goes on behind it, is recorded, and
 * has been counted as lost besides. It runs in signal handlers; the jump goes on exactly as it came in. */

typedef void (*jump_type)(void *, int);

#define JUMPS(X)     X(longjmp) X(_longjmp) X(siglongjmp) X(__longjmp_chk)
#define NUMBER(name) JUMP_##name,
#define NAME(name)   #name,
enum jump { JUMPS(NUMBER) JUMP_COUNT };
static const char *const NAMES[JUMP_COUNT] = {JUMPS(NAME)};
static jump_type next[JUMP_COUNT];

/* Runs before main: dlsym is nothing for a signal handler. */
__attribute__((constructor)) static void resolve(void)
{
    for (unsigned i = 0; i < JUMP_COUNT; i++)
        if (next[i] == NULL)
            *(void **)&next[i] = dlsym(RTLD_NEXT, NAMES[i]);
    (void)dlerror(); /* the program must not find our failed look-ups */
}

static __attribute__((noreturn)) void jump(enum jump which, void *environment, int value)
{
    if (unlikely(next[which] == NULL))
        resolve(); /* for constructors that jump */
    turn_left();
    if (next[which] == NULL)
        __builtin_abort(); /* a C library without what the program calls in it */
    next[which](environment, value);
    __builtin_unreachable();
}

/* Defines jumps under other names for the compiler, which knows what these do. */
#define DEFINE_JUMP(name)                                                                                    \
    SHIM_EXPORT __attribute__((noreturn)) void shim_##name(void *environment, int value) __asm__(#name);     \
    void shim_##name(void *environment, int value)                                                           \
    {                                                                                                        \
        jump(JUMP_##name, environment, value);                                                               \
    }

JUMPS(DEFINE_JUMP)
