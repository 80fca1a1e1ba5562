/* test_convert_balance.c - live objects from blocks in the order in which they are written: what is live in the end is
 * what convert finds, however the threads' blocks came; with one thread also in between, and where frees are unknown or
 * lost. Addresses that hold nothing do not pile up. */
#include "convert/convert.h"
#include "convert/view/tally.h"

#include "unit/harness.h"
#include "unit/history.h"
#include "unit/scratch.h"

static struct conv_error error;

/* What convert finds in a history. */
static struct conv_survey survey_of(const struct history *history)
{
    const char *path = scratch_path("history.fp");
    struct conv_survey survey = {0};
    (void)unlink(path);
    CHECK_U64(history_write(history, path, 1, true), FP_OK);
    CHECK_U64(conv_survey_file(path, NULL, &survey, &error), FP_OK);
    return survey;
}

/* Take a history's blocks, each lane's in its order, the lanes' mixed at random. */
static void take_blocks(struct history *history, struct conv_tally *tally)
{
    size_t *next = calloc(history->lane_count, sizeof *next);
    struct fp_block_buffer buffer = {0};
    size_t left = history->block_count;
    while (left > 0) {
        const uint32_t lane = (uint32_t)(history_random(history) % history->lane_count);
        size_t run = 1 + history_random(history) % 4; /* a lane may be far ahead of others */
        for (; run > 0 && next[lane] < history->lanes[lane].note_count; run--, left--) {
            struct fp_block block;
            history_block(history, lane, next[lane]++, &buffer, &block);
            CHECK_U64(conv_tally_block(tally, &block), FP_OK);
        }
    }
    fp_block_buffer_release(&buffer);
    free(next);
}

/* Objects at the end of a history in which nothing is amiss. */
static uint64_t objects_of(const struct history *history)
{
    uint64_t objects = 0;
    for (uint32_t i = 0; i < history->lane_count; i++) {
        const struct history_lane *lane = &history->lanes[i];
        for (size_t k = 0; k < lane->count; k++) {
            const unsigned call = lane->marks[k].shape.call;
            objects += call == FP_CALL_MALLOC || call == FP_CALL_REALLOC;
            objects -= call == FP_CALL_FREE || call == FP_MARK_RESIZE_FROM;
        }
    }
    return objects;
}

/* ret_difference: bytes that the result is off by. */
static void compare(const struct history_options *options, uint64_t seed, size_t block_marks,
                    uint64_t *ret_bytes, uint64_t *ret_difference)
{
    const unsigned failures = harness_failures;
    struct conv_tally_sum sum = {0};
    struct conv_tally tally;
    struct conv_survey survey;
    struct history history;
    history_init(&history, options->threads, seed);
    history_simulate(&history, options);
    history_cut(&history, block_marks);
    survey = survey_of(&history);
    CHECK(conv_tally_init(&tally, &sum));
    take_blocks(&history, &tally);
    CHECK_U64(tally.events, survey.events);
    CHECK_U64(tally.threads, options->threads);
    CHECK_U64(tally.balance.objects, objects_of(&history));
    CHECK_U64(sum.live.objects, objects_of(&history));
    *ret_difference += tally.balance.bytes > survey.live_bytes_end
                           ? tally.balance.bytes - survey.live_bytes_end
                           : survey.live_bytes_end - tally.balance.bytes;
    *ret_bytes += survey.live_bytes_end;
    CHECK_U64(conv_tally_end(&tally), FP_OK);
    CHECK_U64(sum.live.objects, 0);
    CHECK_U64(sum.live.bytes, 0);
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++)
        CHECK_U64(sum.live.class_objects[i] + sum.live.class_bytes[i], 0);
    CHECK_U64(tally.balance.objects, objects_of(&history)); /* still told */
    if (harness_failures != failures)
        fprintf(stderr, "repeat with: seed %" PRIu64 ", %u threads, %zu events, %u objects, blocks of %zu\n",
                seed, options->threads, options->events, options->objects, block_marks);
    conv_tally_release(&tally);
    conv_survey_release(&survey);
    history_release(&history);
}

TEST(threads_come_out_as_convert_has_them)
{
    uint64_t bytes = 0, difference = 0;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        uint64_t unused = 0;
        const bool long_epochs = seed % 7 ==
                                 0; /* convert repairs some of the order then, and is no judge of sizes */
        const struct history_options options = {.threads = 2 + (uint32_t)(seed % 5),
                                                .events = 3000,
                                                .objects = 40 + (uint32_t)(seed % 5) * 40,
                                                .bump_every = 16,
                                                .bump_ns = long_epochs ? 100000 : 1000,
                                                .resize_share = seed % 3 == 0 ? 15 : 0};
        compare(&options, seed, seed % 2 == 0 ? 50 : 4000, long_epochs ? &unused : &bytes,
                long_epochs ? &unused : &difference);
    }
    /* Of two objects at one address in one epoch, the size kept may be the other's. */
    CHECK(difference * 50 <= bytes);
}

TEST(one_thread_comes_out_exactly)
{
    uint64_t bytes = 0, difference = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct history_options options = {.threads = 1,
                                                .events = 5000,
                                                .objects = 100,
                                                .bump_every = 16,
                                                .bump_ns = 1000,
                                                .resize_share = seed % 3 == 0 ? 15 : 0};
        compare(&options, seed, 300, &bytes, &difference);
    }
    CHECK_U64(difference, 0);
}

/* One thread of a program whose frees are in part unseen, and which frees what was there before: at random. */
TEST(one_thread_is_exact_where_frees_are_unknown_or_lost)
{
    static const unsigned calls[] = {FP_CALL_MALLOC, FP_CALL_MALLOC, FP_CALL_FREE, FP_CALL_FREE,
                                     FP_MARK_RESIZE_FROM};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct conv_tally_sum sum = {0};
        struct conv_tally tally;
        struct conv_survey survey;
        struct history history;
        uint64_t epoch = 1;
        history_init(&history, 1, seed);
        for (unsigned i = 0; i < 4000; i++) {
            const unsigned call = calls[history_random(&history) % 5];
            const uint64_t address = 16 * (1 + history_random(&history) % 60);
            epoch += history_random(&history) % 8 == 0;
            history_add(&history, 0, call, address, call == FP_CALL_MALLOC ? 1 + i % 500 : 0, epoch, i * 100);
            if (call == FP_MARK_RESIZE_FROM && history_random(&history) % 40 != 0) /* else it never returns */
                history_add(&history, 0, FP_CALL_REALLOC,
                            history_random(&history) % 4 == 0 ? 0 : 16 * (1 + history_random(&history) % 60),
                            history_random(&history) % 300, epoch, UINT64_MAX);
            if (i % 1000 == 999)
                history_add(&history, 0, FP_MARK_GAP, 0, 5, epoch, UINT64_MAX);
        }
        history_cut(&history, 200);
        survey = survey_of(&history);
        CHECK(conv_tally_init(&tally, &sum));
        tally.balance.alone = true;
        take_blocks(&history, &tally);
        CHECK_U64(tally.lost_calls, 20);
        CHECK_U64(conv_tally_end(&tally), FP_OK); /* reallocs that never returned are settled by then */
        CHECK_U64(tally.balance.objects, survey.live_objects_end);
        CHECK_U64(tally.balance.bytes, survey.live_bytes_end);
        CHECK_U64(tally.events, survey.events);
        conv_tally_release(&tally);
        conv_survey_release(&survey);
        history_release(&history);
    }
}

/* A lone lane's peak is that of every moment, not of the ends of blocks. */
TEST(the_peak_of_one_thread_is_exact)
{
    struct conv_tally_sum sum = {0};
    struct conv_tally tally;
    struct conv_survey survey;
    struct history history;
    history_init(&history, 1, 1);
    for (uint64_t i = 0; i < 500; i++)
        history_add(&history, 0, FP_CALL_MALLOC, 16 + 16 * i, 100, 1, i * 10);
    for (uint64_t i = 0; i < 500; i++)
        history_add(&history, 0, FP_CALL_FREE, 16 + 16 * i, 0, 1, UINT64_MAX);
    history_cut(&history, 2000);
    survey = survey_of(&history);
    CHECK(conv_tally_init(&tally, &sum));
    tally.balance.alone = true;
    take_blocks(&history, &tally);
    CHECK_U64(sum.live.objects_peak, 500);
    CHECK_U64(sum.live.bytes_peak, survey.live_bytes_peak);
    CHECK_U64(sum.live.objects, 0);
    CHECK_U64(sum.class_allocations[7], 500); /* 64-127 */
    conv_tally_release(&tally);
    conv_survey_release(&survey);
    history_release(&history);
}

/* ---- addresses, one by one ------------------------------------------------------------------- */

static struct conv_live_sum live;
static struct conv_balance balance;
#define P 4096u

static void begin(void)
{
    live = (struct conv_live_sum){0};
    CHECK(conv_balance_init(&balance, &live));
}

static void add(uint64_t epoch, uint32_t lane, uint64_t bytes)
{
    CHECK(conv_balance_add(&balance, P, bytes, (struct conv_moment){epoch, lane}));
}

static bool drop(uint64_t epoch, uint32_t lane)
{
    bool known = false;
    uint64_t bytes;
    CHECK(conv_balance_remove(&balance, P, (struct conv_moment){epoch, lane}, &known, &bytes));
    return known;
}

static void end(uint64_t objects, uint64_t bytes)
{
    CHECK_U64(balance.objects, objects);
    CHECK_U64(balance.bytes, bytes);
    CHECK_U64(balance.table.count, objects + balance.vacant);
    conv_balance_release(&balance);
    CHECK_U64(live.objects, 0);
}

TEST(a_free_seen_before_its_allocation_cancels_it)
{
    begin();
    CHECK(!drop(6, 1));
    CHECK_U64(balance.objects, 0);
    add(5, 0, 10);
    end(0, 0);
}

TEST(an_allocation_seen_after_a_later_one_makes_no_object)
{
    begin();
    CHECK(!drop(6, 1)); /* of what lane 0 allocated at 5, not seen yet */
    add(7, 1, 20);
    CHECK_U64(balance.objects, 1);
    add(5, 0, 10);
    end(1, 20);
    begin();
    add(9, 1, 20);
    add(5, 0, 10); /* its free is to come */
    CHECK_U64(balance.bytes, 20);
    CHECK(!drop(7, 2));
    end(1, 20);
}

TEST(an_allocation_over_a_live_object_expects_a_free)
{
    begin();
    add(5, 0, 10);
    add(8, 1, 20);
    CHECK_U64(balance.bytes, 20);
    CHECK(drop(9, 1));
    CHECK(!drop(6, 2));
    end(0, 0);
}

TEST(a_failed_realloc_takes_nothing_away)
{
    uint64_t bytes = 0;
    bool known;
    begin();
    add(5, 0, 10);
    CHECK(conv_balance_remove(&balance, P, (struct conv_moment){6, 0}, &known, &bytes) && known);
    CHECK(conv_balance_restore(&balance, P, known, bytes, (struct conv_moment){6, 0}));
    CHECK_U64(balance.bytes, 10);
    CHECK(drop(7, 0));
    CHECK(conv_balance_remove(&balance, P, (struct conv_moment){8, 0}, &known, &bytes) && !known);
    CHECK(conv_balance_restore(&balance, P, known, bytes, (struct conv_moment){8, 0}));
    end(0, 0);
}

TEST(addresses_that_hold_nothing_are_forgotten)
{
    size_t most = 0;
    begin();
    add(1, 0, 10);
    for (uint64_t epoch = 2; epoch < 4000; epoch++) {
        for (uint64_t i = 0; i < 100; i++) { /* always others: frees of what was there before */
            bool known;
            uint64_t bytes;
            CHECK(conv_balance_remove(&balance, 2 * P + 16 * (epoch * 100 + i),
                                      (struct conv_moment){epoch, (uint32_t)(epoch % 3)}, &known, &bytes));
        }
        conv_balance_settle(&balance, epoch);
        most = balance.table.count > most ? balance.table.count : most;
    }
    CHECK(most > 60000 && most < 70000);
    CHECK(drop(4000, 1)); /* what is live stays */
    CHECK_U64(balance.objects, 0);
    conv_balance_release(&balance);
}

TEST(a_pause_is_no_loss)
{
    struct conv_tally_sum sum = {0};
    struct conv_tally tally;
    const struct fp_shape shapes[] = {
        {FP_MARK_GAP, 0, FP_GAP_PAUSE}, {FP_MARK_GAP, 7, 0}, {FP_MARK_THREAD_EXIT, 0, 0}};
    const struct fp_mark marks[] = {{.shape = 0}, {.shape = 1}, {.shape = 2}};
    const struct fp_block block = {.mark_count = 3, .shape_count = 3, .marks = marks, .shapes = shapes};
    CHECK(conv_tally_init(&tally, &sum));
    CHECK_U64(conv_tally_block(&tally, &block), FP_OK);
    CHECK_U64(sum.lost_calls, 7);
    CHECK_U64(tally.threads, 1);
    CHECK_U64(tally.threads_exited, 1);
    CHECK_U64(tally.events, 0);
    conv_tally_release(&tally);
}

RUN_TESTS(T(threads_come_out_as_convert_has_them), T(one_thread_comes_out_exactly),
          T(one_thread_is_exact_where_frees_are_unknown_or_lost), T(the_peak_of_one_thread_is_exact),
          T(a_free_seen_before_its_allocation_cancels_it),
          T(an_allocation_seen_after_a_later_one_makes_no_object),
          T(an_allocation_over_a_live_object_expects_a_free), T(a_failed_realloc_takes_nothing_away),
          T(addresses_that_hold_nothing_are_forgotten), T(a_pause_is_no_loss))
