/* test_shim_large.c - what is noted of large objects: shares of pages, suspects, the table's room, and that it stops. */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/large.h"
#include "unit/harness.h"

/* Whether malloc is glibc's: not under a sanitizer. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                  \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_GLIBC_S false
#else
#define IS_GLIBC_S true
#endif

#define PAGE 4096u
#define MIB  (UINT64_C(1) << 20)

struct shim_next shim_next;
struct seg_view shim_segment; /* of whose ticks none are saved */

static _Atomic uint64_t clock_step, clock_now; /* of each reading */

uint64_t lane_clock(void)
{
    return atomic_fetch_add(&clock_now, clock_step) + clock_step;
}

bool filters_let_pass(uint32_t tried)
{
    return tried == 7;
}

static char *map(size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(at != MAP_FAILED);
    (void)madvise(at, bytes, MADV_NOHUGEPAGE); /* else one write brings 512 pages */
    return at;
}

/* Of each state of a process there is one in its life: a child each. */
static void in_child(bool is_libc, bool wanted, uint32_t filters, void (*test)(void))
{
    int ended = -1;
    if (getenv("MALLAB_EMULATED") != NULL)
        return; /* what /proc tells of its memory is the emulator's */
    const pid_t child = fork();
    if (child == 0) {
        shim_next.is_libc = is_libc;
        large_begin(wanted, filters);
        test();
        _exit(harness_failures == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &ended, 0) == child);
    CHECK_U64((unsigned)ended, 0);
}

#define IN_CHILD(test_name)                                                                                  \
    static void in_child_##test_name(void);                                                                  \
    TEST(test_name)                                                                                          \
    {                                                                                                        \
        in_child(false, true, 7, in_child_##test_name);                                                      \
    }                                                                                                        \
    static void in_child_##test_name(void)

static void write_value(char *at, size_t bytes, char value)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        at[i + 100] = value;
}

static void write_pages(char *at, size_t bytes)
{
    write_value(at, bytes, 1);
}

/* Of an object from realloc all counts that is in memory. */
static uint32_t share_of(char *at, uint64_t bytes)
{
    uint32_t share = 9999;
    large_made(FP_CALL_REALLOC, (uintptr_t)at, bytes, 0);
    CHECK(large_suspects(at));
    CHECK(large_take(at, &share));
    return share;
}

IN_CHILD(shares_are_those_of_pages)
{
    char *at = map(64 * MIB);
    CHECK_U64(share_of(at, 4 * MIB), 0);
    write_pages(at, 2 * MIB);
    CHECK_U64(share_of(at, 4 * MIB), 128);
    CHECK_U64(share_of(at, 2 * MIB), FP_SHARE_WHOLE);
    CHECK_U64(share_of(at, 2 * MIB + PAGE), FP_SHARE_WHOLE - 1); /* not all is less than all */
    CHECK_U64(share_of(at + 2 * MIB - PAGE, 8 * MIB), 1);        /* and some is more than none */
    CHECK_U64(share_of(at + 100, 2 * MIB - 100), FP_SHARE_WHOLE);
    /* beyond 16 MiB by samples: exact to one of 64 slices */
    write_pages(at, 32 * MIB);
    CHECK_U64(share_of(at, 64 * MIB), 128);
}

IN_CHILD(what_is_not_known_is_not_told)
{
    char *at = map(MIB);
    uint32_t share;
    CHECK(!large_take(at, &share)); /* never made */
    CHECK(!large_take(NULL, &share));
    large_made(FP_CALL_MALLOC, (uintptr_t)at, FP_MIDDLING_BYTES - 1, 0);
    CHECK(!large_take(at, &share)); /* small */
    large_made(FP_CALL_DELETE_SIZED, (uintptr_t)at, MIB, 0);
    CHECK(!large_take(at, &share)); /* a release that states its size makes nothing */
    large_made(FP_CALL_CALLOC, (uintptr_t)at, 1024, 1024);
    CHECK(large_take(at, &share)); /* a product */
    large_made(FP_CALL_CALLOC, (uintptr_t)at, UINT64_MAX / 2, 16);
    CHECK(!large_take(at, &share)); /* that no allocator has */
    large_made(FP_CALL_NEW, (uintptr_t)at, MIB, 0);
    CHECK(munmap(at, MIB) == 0);
    CHECK(!large_take(at, &share)); /* unmapped meanwhile */
    CHECK(!large_take(at, &share)); /* and taken out by that */
}

/* Looks rest 48 times as long as they took. The clock steps by 1 at each reading: a look takes 1. */
IN_CHILD(looks_rest)
{
    char *at = map(4 * MIB);
    clock_step = 1;
    CHECK_U64(share_of(at, 2 * MIB), 0);
    write_pages(at, 4 * MIB);
    CHECK_U64(share_of(at, 2 * MIB), 0);              /* as last seen */
    CHECK_U64(share_of(at, 4 * MIB), FP_SHARE_WHOLE); /* of another size */
    clock_now += 100;                                 /* twice: each look's rest is added */
    CHECK_U64(share_of(at, 2 * MIB), FP_SHARE_WHOLE);
}

static uint32_t used_share(char *at, uint64_t bytes, size_t written)
{
    uint32_t share = 9999;
    large_made(FP_CALL_MALLOC, (uintptr_t)at, bytes, 0);
    write_pages(at, written);
    CHECK(large_take(at, &share));
    return share;
}

/* Of few pages: what an earlier object left there is not taken for used. */
IN_CHILD(what_others_left_is_not_taken_for_used)
{
    const size_t bytes = 32 * PAGE;
    char *at = map(MIB);
    CHECK_U64(used_share(at, bytes, 8 * PAGE), 64);
    CHECK_U64(used_share(at, bytes, 2 * PAGE), 64);      /* 8 are there: as the last one whose use is known */
    CHECK_U64(used_share(at, bytes, 16 * PAGE), 128);    /* up to the last that is new */
    CHECK_U64(used_share(at, bytes, 2 * PAGE), 64);      /* as of those that lay in fresh memory */
    CHECK_U64(used_share(at, bytes / 2, 2 * PAGE), 256); /* of another size: all that is there */
    CHECK_U64(used_share(at + MIB / 2, bytes, 0), 0);    /* nothing at all */
    CHECK_U64(used_share(at, bytes, 0), 56);             /* the mean moves by an eighth */
    /* An object amid pages shares the first and the last one with others, who wrote there before. */
    at += 3 * MIB / 4;
    write_pages(at, 1);
    write_pages(at + 20 * PAGE, 1);
    CHECK_U64(used_share(at + 16, 20 * PAGE, 5 * PAGE), (5 * 256 + 10) / 21);
}

/* What is used of an object in memory that others wrote to shows in what stands there. */
static uint32_t rewritten_share(unsigned call, char *at, uint64_t bytes, size_t written, char value)
{
    uint32_t share = 9999;
    large_made(call, (uintptr_t)at, bytes, call == FP_CALL_CALLOC);
    write_value(at, written, value);
    CHECK(large_take(at, &share));
    return share;
}

IN_CHILD(contents_tell_what_was_used)
{
    const size_t middling = 8 * PAGE, few = 32 * PAGE, many = 4 * MIB;
    char *at = map(many);
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, middling, 3 * PAGE, 1), 96); /* fresh */
    write_value(at, many, 2);
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, middling, 2 * PAGE, 3), 64);
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, middling, 2 * PAGE, 3),
              96); /* the same: as in fresh memory */
    CHECK_U64(rewritten_share(FP_CALL_NEW, at + 16, middling, 2 * PAGE, 4), (2 * 256 + 4) / 9);
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, few, 4 * PAGE, 5), 32);
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, many, MIB, 6), 64); /* by 64 pages of 1,024 */
}

IN_CHILD(of_what_calloc_zeroed_counts_what_was_written)
{
    const size_t middling = 8 * PAGE, few = 32 * PAGE, many = 4 * MIB;
    char *at = map(many);
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, middling, 0, 0), 0);
    write_value(at, many, 0); /* all is in memory, as an allocator leaves it that writes its zeros */
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, middling, 0, 0), 0);
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, middling, 2 * PAGE, 1), 64);
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, few, 8 * PAGE, 1), 64);
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, many, MIB, 1), 64);
    /* Not readable: what is in memory counts, and nobody is hurt. */
    CHECK(mprotect(at, PAGE, PROT_NONE) == 0);
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, middling, 0, 0), FP_SHARE_WHOLE);
}

/* Of middling objects the first of a size is looked at, and others when they do not rest: 96 times as long as it took. */
IN_CHILD(middling_objects_are_looked_at_by_sample)
{
    const size_t bytes = 8 * PAGE;
    char *at = map(MIB);
    uint32_t share;
    clock_step = 1;
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, bytes, 2 * PAGE, 1), 64); /* two looks: 192 of rest */
    large_made(FP_CALL_MALLOC, (uintptr_t)at, bytes, 0);
    CHECK(!large_take(at, &share));
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, bytes + PAGE, 2 * PAGE, 2),
              (2 * 256 + 4) / 9); /* of another size */
    CHECK_U64(rewritten_share(FP_CALL_CALLOC, at, bytes, 8 * PAGE, 3), FP_SHARE_WHOLE);
    large_made(FP_CALL_CALLOC, (uintptr_t)at, bytes, 1);
    CHECK(!large_take(at, &share));
    clock_now += 600;
    CHECK_U64(rewritten_share(FP_CALL_MALLOC, at, bytes, 4 * PAGE, 4), 128);
}

/* No more of them than make few others suspect, where there are no headers. */
IN_CHILD(middling_objects_are_few_at_a_time)
{
    char *at = map(100 * 4 * PAGE);
    uint32_t share, known = 0;
    for (size_t i = 0; i < 100; i++)
        large_made(FP_CALL_MALLOC, (uintptr_t)at + i * 4 * PAGE, 4 * PAGE, 0);
    for (size_t i = 0; i < 100; i++)
        known += large_take(at + i * 4 * PAGE, &share);
    CHECK_U64(known, 32);
    large_made(FP_CALL_MALLOC, (uintptr_t)at, 4 * PAGE, 0);
    CHECK(large_take(at, &share)); /* there is room again */
}

/* No look while it rests, but for one that is due; then as last seen, or not told. */
IN_CHILD(looks_at_few_pages_rest)
{
    const size_t bytes = 32 * PAGE;
    char *at = map(MIB);
    uint32_t share;
    clock_step = 1;
    CHECK_U64(used_share(at, bytes, 8 * PAGE), 64); /* two looks, of 1 each: 96 of rest */
    CHECK_U64(used_share(at + MIB / 2, bytes, 16 * PAGE), 64);
    large_made(FP_CALL_MALLOC, (uintptr_t)at, bytes / 2, 0);
    CHECK(!large_take(at, &share));
    clock_now += 100;
    CHECK_U64(used_share(at + MIB / 2 + 16 * PAGE, bytes / 2, 4 * PAGE), 64);
}

/* More objects than there is room for: none is told wrong, and most are there. */
IN_CHILD(more_objects_than_room)
{
    const size_t count = 40000;
    char *at = map(count * PAGE);
    uint32_t share, known = 0;
    for (size_t i = 0; i < count; i++)
        large_made(FP_CALL_MALLOC, (uintptr_t)at + i * PAGE, FP_LARGE_BYTES, 0);
    for (size_t i = 0; i < count; i++)
        known += large_take(at + i * PAGE, &share);
    CHECK(known > 8000 && known <= 16384);
    for (size_t i = 0; i < count; i++)
        CHECK(shim_next.is_libc || !large_suspects(at + i * PAGE)); /* every bit was taken back */
}

/* Two threads release one object, as a faulty program does: it leaves the table once. */
#define TURNS 4000

static _Atomic uint32_t turn, answered, taken;
static char *contested;

static void *take_each_turn(void *nothing)
{
    uint32_t share;
    for (unsigned i = 0; i < TURNS; i++) {
        while (turn == i)
            (void)sched_yield();
        taken += large_take(contested, &share);
        answered++;
    }
    return nothing;
}

IN_CHILD(an_object_leaves_once)
{
    pthread_t other;
    uint32_t share, most = 0;
    contested = map(MIB);
    CHECK(pthread_create(&other, NULL, take_each_turn, NULL) == 0);
    for (unsigned i = 0; i < TURNS; i++) {
        taken = 0;
        large_made(FP_CALL_REALLOC, (uintptr_t)contested, FP_LARGE_BYTES, 0);
        turn++;
        taken += large_take(contested, &share);
        while (answered == i)
            (void)sched_yield();
        most = taken > most ? taken : most;
    }
    CHECK(pthread_join(other, NULL) == 0);
    CHECK_U64(most, 1);
    CHECK(!large_suspects(contested)); /* it was counted out once */
    CHECK(munmap(contested, MIB) == 0);
}

/* glibc's: the word before an object has its size. */
static void test_header(void)
{
    char *volatile large = malloc(MIB), *volatile small = malloc(1000);
    uint32_t share;
    CHECK(large_suspects(large) && !large_suspects(small) && !large_suspects(NULL));
    large_made(FP_CALL_MALLOC, (uintptr_t)large, MIB, 0);
    CHECK(large_take(large, &share) && share > 0); /* all of it under MALLOC_PERTURB_ */
    free(large);
    free(small);
}

IN_CHILD(once_stopped_it_stays_so)
{
    char *at = map(MIB);
    uint32_t share;
    large_made(FP_CALL_MALLOC, (uintptr_t)at, MIB, 0);
    large_stop();
    CHECK(!large_suspects(at));
    CHECK(!large_take(at, &share));
    large_begin(true, 7); /* a child's: once stopped, for ever */
    large_made(FP_CALL_MALLOC, (uintptr_t)at, MIB, 0);
    CHECK(!large_suspects(at));
}

static void stays_off(void)
{
    char *at = map(MIB);
    uint32_t share;
    large_made(FP_CALL_MALLOC, (uintptr_t)at, MIB, 0);
    CHECK(!large_suspects(at) && !large_take(at, &share));
}

TEST(headers_tell_where_the_allocator_is_glibcs)
{
    if (IS_GLIBC_S)
        in_child(true, true, 7, test_header);
}

TEST(off_where_unwanted_or_behind_filters_that_nobody_tried)
{
    in_child(false, false, 7, stays_off);
    in_child(false, true, 0, stays_off);
}
