/* test_shim_chosen.c - a sample of objects in the recorder: births are chosen with the chance that the format says, each chosen object is
 * found once, by whatever thread, also at an address that was another's; another recording begins with none; the thread's lane
 * is at rest between, and calls in between two states are passed on. */
#include <math.h>
#include <pthread.h>

#include "shim/preload/chosen.h"
#include "unit/lane_stage.h"

#define BIRTHS  2000000
#define ONE_IN  16
#define THREADS 8u
#define ROUNDS  40000u

static void set_up_sample(void)
{
    struct lane *lane;
    chosen_thread = (struct chosen_thread){0};
    set_up(0);
    shim_segment.fixed.one_in = ONE_IN;
    chosen_begin(1);
    CHECK(turn_take(&lane, NULL) == TURN_SAMPLED); /* it attaches */
}

/* Within 5 sigma of the chance: of a million samples one is not. */
TEST(births_are_chosen_by_their_weight)
{
    static const uint64_t sizes[] = {0, 16, FP_SAMPLE_LEAST_BYTES, 4 * FP_SAMPLE_LEAST_BYTES,
                                     FP_SAMPLE_ALL_BYTES - 1};
    set_up_sample();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const double chance = -expm1(-(double)fp_sample_weight(sizes[i]) / (ONE_IN * FP_SAMPLE_LEAST_BYTES));
        double chosen = 0;
        for (int birth = 0; birth < BIRTHS; birth++)
            if (!chosen_passes(sizes[i]))
                chosen += chosen_draws(fp_sample_weight(sizes[i]));
        CHECK(fabs(chosen - BIRTHS * chance) <= 5 * sqrt(BIRTHS * chance * (1 - chance)) + 1);
    }
    for (int birth = 0; birth < 1000; birth++) {
        CHECK(!chosen_passes(FP_SAMPLE_ALL_BYTES));
        CHECK(chosen_draws(FP_SAMPLE_ALL_BYTES));
    }
}

TEST(an_object_is_found_once)
{
    set_up_sample();
    CHECK(!chosen_is(NULL) && !chosen_take(NULL));
    CHECK(!chosen_is((void *)0x7fff00001000) && !chosen_take((void *)0x7fff00001000));
    CHECK(chosen_put(0x7fff00001000));
    CHECK(chosen_put(0x7fff00001000)); /* its release was not seen */
    CHECK(chosen_put(0x7fff00001008));
    CHECK(chosen_is((void *)0x7fff00001000) && !chosen_is((void *)0x7fff00001010));
    CHECK(chosen_take((void *)0x7fff00001000));
    CHECK(!chosen_take((void *)0x7fff00001000));
    CHECK(chosen_take((void *)0x7fff00001008));
    CHECK(!chosen_put(UINTPTR_MAX - 15)); /* no program has it */
    CHECK(!chosen_take((void *)(UINTPTR_MAX - 15)));
    (void)chosen_is((void *)(UINTPTR_MAX - 15));
}

TEST(another_recording_begins_with_none)
{
    set_up_sample();
    CHECK(chosen_put(0x5000));
    chosen_begin(1); /* a child's */
    CHECK(chosen_is((void *)0x5000));
    chosen_begin(2);
    CHECK(!chosen_is((void *)0x5000));
}

static void *put_and_take(void *data)
{
    uintptr_t failed = 0;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        /* Neighbours in one word, of many threads; and the same addresses again. */
        void *address = (void *)(0x7e0000000000 + (i % 8) * 64 + (uintptr_t)data * 8);
        failed += !chosen_put((uintptr_t)address);
        failed += !chosen_is(address);
        failed += !chosen_take(address);
        failed += chosen_is(address);
    }
    return (void *)failed;
}

TEST(threads_do_not_lose_each_others)
{
    pthread_t threads[THREADS];
    set_up_sample();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, put_and_take, (void *)i) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        CHECK(pthread_join(threads[i], &failed) == 0);
        CHECK_U64((uintptr_t)failed, 0);
    }
}

TEST(a_lane_rests_between_calls)
{
    struct lane *lane = NULL, *own;
    set_up_sample();
    own = chosen_thread.lane;
    CHECK(shim_lane == NULL && own != NULL);
    CHECK(turn_take(&lane, NULL) == TURN_SAMPLED);
    CHECK(chosen_put(0x6000));
    CHECK(turn_sampled_death(&lane, (void *)0x6010) == TURN_FORWARD);
    CHECK(turn_sampled_death(&lane, (void *)0x6000) == TURN_RECORD);
    CHECK(lane == own && shim_lane == own && chosen_thread.gap == 0);
    CHECK(turn_take(&lane, NULL) == TURN_FORWARD); /* the allocator's own, or a handler's */
    turn_done(own);
    CHECK(shim_lane == NULL && chosen_thread.lane == own && chosen_thread.gap != 0);
    (void)chosen_hold();
    CHECK(turn_take(&lane, NULL) == TURN_FORWARD);
    turn_left(); /* a jump out of a handler meanwhile */
    CHECK(turn_take(&lane, NULL) == TURN_SAMPLED);
    CHECK(turn_sampled_birth(&lane, FP_SAMPLE_ALL_BYTES) == TURN_RECORD);
    turn_left();
    CHECK(turn_take(&lane, NULL) == TURN_SAMPLED);
}

RUN_TESTS(T(births_are_chosen_by_their_weight), T(an_object_is_found_once),
          T(another_recording_begins_with_none), T(threads_do_not_lose_each_others),
          T(a_lane_rests_between_calls))
