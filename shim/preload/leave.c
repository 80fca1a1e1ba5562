/* leave.c - jumps by which a signal handler leaves a call of ours that it interrupted: longjmp and its like, wrapped.
 *
 * Such a call never returns, so nobody opens the gate that it shut, and the thread's later calls would all pass for a handler's.
 * A jump that stays within the handler cannot be told from one that leaves it: then the call goes on behind it, is recorded, and
 * has been counted as lost besides.
 *
 * Laws of this file: it runs in signal handlers; the jump goes on exactly as it came in. */
#include <dlfcn.h>
#include <stdlib.h>

#include "shim/preload/turn.h"

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
        abort(); /* a C library without what the program calls in it */
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
