/* hooks.c - the C half of what we wrap.
 *
 * Laws of this file: forward to the next definition exactly what came in, return exactly what it returned, leave
 * errno as it left it. An allocation is recorded after the allocator returned, a release before it is entered, a
 * realloc on both sides (docs/order.md). Only malloc and free have a fast path of their own; the rest share
 * turn.h. realloc(NULL, n) consumes nothing, so it has no FP_MARK_RESIZE_FROM. */
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

/* ---- malloc and free ---------------------------------------------------------------------------- */

static __attribute__((noinline)) void *malloc_slow(size_t size, const void *caller)
{
    struct lane *lane;
    const enum turn turn = turn_slow(&lane, caller);
    if (turn == TURN_BOOT)
        return boot_or_enomem(0, size);
    void *address = shim_next.malloc(size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_MALLOC, address, size, 0);
    return address;
}

/* Stands out of line, and returns the address, so that malloc keeps two registers over its call and not four. */
static __attribute__((noinline)) void *malloc_finish(struct lane *lane, void *address, size_t size)
{
    lane = lane_record_slow(lane, FP_CALL_MALLOC, (uintptr_t)address, size, 0);
    lane_set_gate(lane, GATE_OPEN);
    return address;
}

void *malloc(size_t size)
{
    struct lane *lane = shim_lane;
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN))
        return malloc_slow(size, TURN_CALLER);
    lane_set_gate(lane, GATE_FORWARD);
    void *address = shim_next.malloc(size);
    lane_set_gate(lane, GATE_RECORD);
    if (unlikely(!lane_store(lane, true, fp_record_code(FP_CALL_MALLOC), (uintptr_t)address, size)))
        return malloc_finish(lane, address, size);
    lane_set_gate(lane, GATE_OPEN);
    return address;
}

static __attribute__((noinline)) void free_slow(void *address, const void *caller)
{
    struct lane *lane;
    const enum turn turn = turn_slow(&lane, caller);
    if (turn == TURN_BOOT)
        return; /* only boot memory can exist by now, and it is never returned */
    if (turn == TURN_RECORD)
        lane = turn_record(lane, FP_CALL_FREE, address, 0, 0);
    shim_next.free(address);
    if (turn == TURN_RECORD)
        turn_done(lane);
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
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN || large_suspects(address))) {
        free_slow(address, TURN_CALLER);
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

void *calloc(size_t count, size_t size)
{
    struct lane *lane;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT) {
        size_t bytes;
        if (__builtin_mul_overflow(count, size, &bytes))
            bytes = SIZE_MAX;
        return boot_or_enomem(0, bytes); /* zeroed: static and never reused */
    }
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

static struct lane *resize_from(struct lane *lane, const void *address)
{
    if (address == NULL)
        return lane;
    return turn_record(lane, FP_MARK_RESIZE_FROM, address, 0, 0);
}

void *realloc(void *address, size_t size)
{
    struct lane *lane;
    void *result;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT)
        return address != NULL ? move_from_boot(address, size) : boot_or_enomem(0, size);
    if (unlikely(boot_owns(address))) {
        result = move_from_boot(address, size);
    } else {
        if (turn == TURN_RECORD)
            lane = resize_from(lane, address);
        result = shim_next.realloc(address, size);
    }
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_REALLOC, result, size, 0);
    return result;
}

static void *next_reallocarray(void *address, size_t count, size_t size)
{
    size_t bytes;
    if (shim_next.reallocarray != NULL)
        return shim_next.reallocarray(address, count, size);
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return shim_next.realloc(address, bytes);
}

void *reallocarray(void *address, size_t count, size_t size)
{
    struct lane *lane;
    void *result;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
    if (unlikely(turn == TURN_BOOT || boot_owns(address))) {
        size_t bytes;
        if (__builtin_mul_overflow(count, size, &bytes)) {
            errno = ENOMEM;
            result = NULL;
        } else {
            result = address != NULL ? move_from_boot(address, bytes) : boot_or_enomem(0, bytes);
        }
    } else {
        if (turn == TURN_RECORD) {
            lane = resize_from(lane, address);
            lane_set_gate(lane, lane_gate(lane) | GATE_PASS);
        }
        result = next_reallocarray(address, count, size);
    }
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_REALLOCARRAY, result, size, count);
    return result;
}

/* ---- C23 releases: where the allocator has none, they are free ------------------------------------- */

void free_sized(void *address, size_t size)
{
    struct lane *lane;
    if (unlikely(boot_owns(address)))
        return;
    enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT)
        return;
    if (turn == TURN_RECORD)
        lane = turn_record(lane, FP_CALL_FREE_SIZED, address, size, 0);
    if (shim_next.free_sized != NULL)
        shim_next.free_sized(address, size);
    else
        shim_next.free(address);
    if (turn == TURN_RECORD)
        turn_done(lane);
}

void free_aligned_sized(void *address, size_t alignment, size_t size)
{
    struct lane *lane;
    if (unlikely(boot_owns(address)))
        return;
    enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT)
        return;
    if (turn == TURN_RECORD)
        lane = turn_record(lane, FP_CALL_FREE_ALIGNED_SIZED, address, size, alignment);
    if (shim_next.free_aligned_sized != NULL)
        shim_next.free_aligned_sized(address, alignment, size);
    else
        shim_next.free(address);
    if (turn == TURN_RECORD)
        turn_done(lane);
}

/* ---- alignment --------------------------------------------------------------------------------------- */

int posix_memalign(void **ret_address, size_t alignment, size_t size)
{
    struct lane *lane;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
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

static void *aligned(unsigned call, void *(*next)(size_t, size_t), size_t alignment, size_t size,
                     const void *caller)
{
    struct lane *lane;
    const enum turn turn = turn_take(&lane, caller);
    if (turn == TURN_BOOT)
        return boot_or_enomem(alignment, size);
    if (next == NULL)
        next = call == FP_CALL_MEMALIGN ? shim_next.memalign : shim_next.aligned_alloc;
    void *address = next != NULL ? next(alignment, size) : by_posix_memalign(alignment, size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, call, address, size, alignment);
    return address;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(FP_CALL_ALIGNED_ALLOC, shim_next.aligned_alloc, alignment, size, TURN_CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(FP_CALL_MEMALIGN, shim_next.memalign, alignment, size, TURN_CALLER);
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *valloc(size_t size)
{
    struct lane *lane;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT)
        return boot_or_enomem(PAGE_ALIGNMENT, size);
    void *address = shim_next.valloc != NULL ? shim_next.valloc(size) : by_posix_memalign(page_bytes(), size);
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_VALLOC, address, size, 0);
    return address;
}

void *pvalloc(size_t size)
{
    struct lane *lane;
    void *address;
    const enum turn turn = turn_take(&lane, TURN_CALLER);
    if (turn == TURN_BOOT)
        return boot_or_enomem(PAGE_ALIGNMENT, size);
    if (shim_next.pvalloc != NULL) {
        address = shim_next.pvalloc(size);
    } else {
        const size_t mask = page_bytes() - 1;
        address = by_posix_memalign(mask + 1, size > SIZE_MAX - mask ? size : (size + mask) & ~mask);
    }
    if (turn == TURN_RECORD)
        turn_allocated(lane, FP_CALL_PVALLOC, address, size, 0);
    return address;
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
