/* hooks_cxx.c - operator new and delete, in all their forms, under their Itanium names (64-bit).
 *
 * Laws of this file, besides those of hooks.c: a throwing new may leave through our frame by an exception, with no
 * landing pad here, so the gate is not shut across it. Instead the lane notes which operator is under way; the
 * malloc or aligned_alloc that serves it is recorded under the operator's name and size. Allocators that serve new
 * without passing through malloc (jemalloc, tcmalloc) leave the note in place, and it is recorded on return, or, by
 * a personality routine of our own, when an exception passes.
 * Operators nested in operators (new[] calls new, nothrow calls new) see the note and only forward.
 * Deletes do not throw: they are recorded first and forwarded with the gate shut. */
#include <stdlib.h>

#include "shim/preload/boot.h"
#include "shim/preload/turn.h"

typedef void *(*new_plain)(size_t);
typedef void *(*new_two)(size_t, size_t);           /* alignment, or the nothrow tag's address */
typedef void *(*new_three)(size_t, size_t, size_t); /* alignment, tag */
typedef void (*delete_plain)(void *);
typedef void (*delete_two)(void *, size_t);
typedef void (*delete_three)(void *, size_t, size_t);

/* The unwinder calls this for our frames (Itanium C++ ABI, "Exception Handling", level I): there is
 * no handler and nothing to clean up on the stack, but the note ends here. With a personality in C
 * we need neither libgcc nor libstdc++. */
__attribute__((used)) int shim_personality(int version, int actions, uint64_t exception_class,
                                           void *exception, void *context);

int shim_personality(int version, int actions, uint64_t exception_class, void *exception, void *context)
{
    enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };
    if (actions & CLEANUP_PHASE)
        turn_operator_left(shim_lane);
    return CONTINUE_UNWIND;
}

/* The frame that carries the personality must be the one that calls the next operator. */
#define UNWIND_THROUGH_US()                                                                                  \
    __asm__ volatile(".cfi_personality 0x1b, shim_personality") /* pc-relative, 32 bits */

/* Note the operator on the lane. Returns the lane when this call is the outermost operator and has to finish.
 * left: chosen_may_pass' answer. */
static inline struct lane *operator_enter(unsigned call, size_t size, size_t extra, void *frame,
                                          const void *caller, uint64_t left)
{
    struct lane *lane = shim_lane;
    if (unlikely(left != 0))
        return NULL;
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN)) {
        /* slow: no lane yet, nested in something, or a stale note, which turn_slow clears */
        if (turn_slow(&lane, caller) != TURN_RECORD)
            return NULL;
        turn_done(lane);
        if (lane_gate(lane) != GATE_OPEN) {
            /* In a handler, within the allocator: the malloc that serves it is recorded, or it is not seen. */
            if ((lane_gate(lane) & GATE_FORWARD) && !shim_next.is_libc)
                turn_count_reentrant(lane);
            return NULL;
        }
    }
    lane->as_size = size;
    lane->as_extra = extra;
    lane->as_frame = (uintptr_t)frame;
    lane->as_call = call;
    lane_set_gate(lane, GATE_AS);
    return lane;
}

static inline void *operator_leave(struct lane *lane, unsigned call, void *address, size_t size, size_t extra,
                                   void *frame)
{
    if (lane == NULL)
        return address;
    lane = shim_lane; /* a fork inside a new_handler leaves the child with another, or none */
    if (lane == NULL || lane->as_frame != (uintptr_t)frame)
        return address;
    lane->as_frame = 0;
    if (lane->as_call == 0)
        return address; /* recorded when it passed through malloc; the gate is open again */
    lane->as_call = 0;
    turn_allocated(lane, call, address, size, extra);
    return address;
}

/* A process without any operator new behind ours cannot throw bad_alloc either; ending is what the language
 * prescribes for an exception that cannot be thrown. */
static void *serve_without_next(size_t alignment, size_t size, bool nothrow)
{
    void *address = NULL;
    if (size == 0)
        size = 1;
    if (alignment != 0)
        (void)posix_memalign(&address, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
    else
        address = malloc(size);
    if (address == NULL && !nothrow)
        abort();
    return address;
}

#define CALLER TURN_CALLER
/* The place where a frame register would stand; but without one, which walks of the stack would have to follow. */
#define FRAME ((char *)__builtin_dwarf_cfa() - 2 * sizeof(void *))

#define DEFINE_NEW(name, call, parameters, arguments, alignment, nothrow, type)                              \
    SHIM_EXPORT void *name parameters;                                                                       \
    void *name parameters                                                                                    \
    {                                                                                                        \
        UNWIND_THROUGH_US();                                                                                 \
        const uint64_t left = chosen_may_pass(size);                                                         \
        struct lane *lane = operator_enter(FP_CALL_##call, size, alignment, FRAME, CALLER, left);            \
        const type next = (type)boot_operator(FP_CALL_##call, CALLER);                                       \
        void *address = next != NULL ? next arguments : serve_without_next(alignment, size, nothrow);        \
        chosen_passed(left, size);                                                                           \
        return operator_leave(lane, FP_CALL_##call, address, size, alignment, FRAME);                        \
    }

DEFINE_NEW(_Znwm, NEW, (size_t size), (size), 0, false, new_plain)
DEFINE_NEW(_Znam, NEW_ARRAY, (size_t size), (size), 0, false, new_plain)
DEFINE_NEW(_ZnwmRKSt9nothrow_t, NEW_NOTHROW, (size_t size, size_t tag), (size, tag), 0, true, new_two)
DEFINE_NEW(_ZnamRKSt9nothrow_t, NEW_ARRAY_NOTHROW, (size_t size, size_t tag), (size, tag), 0, true, new_two)
DEFINE_NEW(_ZnwmSt11align_val_t, NEW_ALIGNED, (size_t size, size_t alignment), (size, alignment), alignment,
           false, new_two)
DEFINE_NEW(_ZnamSt11align_val_t, NEW_ARRAY_ALIGNED, (size_t size, size_t alignment), (size, alignment),
           alignment, false, new_two)
DEFINE_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED_NOTHROW,
           (size_t size, size_t alignment, size_t tag), (size, alignment, tag), alignment, true, new_three)
DEFINE_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED_NOTHROW,
           (size_t size, size_t alignment, size_t tag), (size, alignment, tag), alignment, true, new_three)

/* ---- delete ---------------------------------------------------------------------------------------------- */

/* Returns whether the caller has to forward; ret_lane is NULL where nothing is recorded. */
static inline bool delete_enter(unsigned call, void *address, size_t size, size_t alignment,
                                const void *caller, struct lane **ret_lane)
{
    struct lane *lane;
    *ret_lane = NULL;
    if (unlikely(boot_owns(address)))
        return false;
    enum turn turn = chosen_ends(address) ? turn_take(&lane, caller) : TURN_FORWARD;
    if (turn == TURN_BOOT)
        return false;
    if (turn == TURN_RECORD)
        *ret_lane = turn_record(lane, call, address, size, alignment);
    if (*ret_lane != NULL)
        lane_set_gate(*ret_lane, lane_gate(*ret_lane) | GATE_PASS);
    return true;
}

static inline void delete_leave(struct lane *lane)
{
    if (lane != NULL)
        turn_done(lane);
}

#define DEFINE_DELETE(name, call, parameters, arguments, size_value, alignment_value, type)                  \
    SHIM_EXPORT void name parameters;                                                                        \
    void name parameters                                                                                     \
    {                                                                                                        \
        struct lane *lane;                                                                                   \
        type next;                                                                                           \
        if (!delete_enter(FP_CALL_##call, address, size_value, alignment_value, CALLER, &lane))              \
            return;                                                                                          \
        next = (type)boot_operator(FP_CALL_##call, CALLER);                                                  \
        if (next != NULL)                                                                                    \
            next arguments;                                                                                  \
        else                                                                                                 \
            shim_next.free(address);                                                                         \
        delete_leave(lane);                                                                                  \
    }

DEFINE_DELETE(_ZdlPv, DELETE, (void *address), (address), 0, 0, delete_plain)
DEFINE_DELETE(_ZdaPv, DELETE_ARRAY, (void *address), (address), 0, 0, delete_plain)
DEFINE_DELETE(_ZdlPvRKSt9nothrow_t, DELETE_NOTHROW, (void *address, size_t tag), (address, tag), 0, 0,
              delete_two)
DEFINE_DELETE(_ZdaPvRKSt9nothrow_t, DELETE_ARRAY_NOTHROW, (void *address, size_t tag), (address, tag), 0, 0,
              delete_two)
DEFINE_DELETE(_ZdlPvm, DELETE_SIZED, (void *address, size_t size), (address, size), size, 0, delete_two)
DEFINE_DELETE(_ZdaPvm, DELETE_ARRAY_SIZED, (void *address, size_t size), (address, size), size, 0, delete_two)
DEFINE_DELETE(_ZdlPvSt11align_val_t, DELETE_ALIGNED, (void *address, size_t alignment), (address, alignment),
              0, alignment, delete_two)
DEFINE_DELETE(_ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED, (void *address, size_t alignment),
              (address, alignment), 0, alignment, delete_two)
DEFINE_DELETE(_ZdlPvmSt11align_val_t, DELETE_SIZED_ALIGNED, (void *address, size_t size, size_t alignment),
              (address, size, alignment), size, alignment, delete_three)
DEFINE_DELETE(_ZdaPvmSt11align_val_t, DELETE_ARRAY_SIZED_ALIGNED,
              (void *address, size_t size, size_t alignment), (address, size, alignment), size, alignment,
              delete_three)
DEFINE_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED_NOTHROW,
              (void *address, size_t alignment, size_t tag), (address, alignment, tag), 0, alignment,
              delete_three)
DEFINE_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED_NOTHROW,
              (void *address, size_t alignment, size_t tag), (address, alignment, tag), 0, alignment,
              delete_three)
