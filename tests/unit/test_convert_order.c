/* test_convert_order.c - the merge of lanes gives a legal order: every lane keeps its own, every address
 * alternates between allocated and free, whatever way the threads were preempted. */
#include "convert/order/lane_cursor.h"

#include "unit/harness.h"
#include "unit/history.h"

/* A sink that believes nothing. */
struct checker {
    const struct history *history;
    size_t *position; /* by lane: next mark expected */
    bool *live;       /* by address / 16 */
    uint64_t *sizes;  /* likewise, of what is live */
    size_t live_capacity;
    size_t events, out_of_lane, illegal, wrong_sizes;
    bool lane_order_matters;
};

static bool *live_of(struct checker *checker, uint64_t address)
{
    const size_t at = address / 16;
    if (at >= checker->live_capacity) {
        const size_t capacity = at * 2 + 1024;
        checker->live = realloc(checker->live, capacity);
        memset(checker->live + checker->live_capacity, 0, capacity - checker->live_capacity);
        checker->sizes = realloc(checker->sizes, capacity * sizeof *checker->sizes);
        checker->live_capacity = capacity;
    }
    return &checker->live[at];
}

static void check_address(struct checker *checker, const struct conv_event *event)
{
    const bool allocates = event->call == FP_CALL_MALLOC || event->call == FP_CALL_REALLOC;
    if (event->address == 0 || event->call == CONV_MARK_LANE_END)
        return;
    bool *live = live_of(checker, event->address);
    checker->illegal += *live == allocates;
    checker->wrong_sizes += event->call == FP_CALL_DELETE_SIZED && *live &&
                            checker->sizes[event->address / 16] != event->size;
    *live = allocates;
    checker->sizes[event->address / 16] = event->size;
}

static enum fp_status check_events(void *data, const struct conv_event *events, size_t count)
{
    struct checker *checker = data;
    for (size_t i = 0; i < count; i++) {
        const struct conv_event *event = &events[i];
        const struct history_lane *lane = &checker->history->lanes[event->lane];
        const size_t at = checker->position[event->lane];
        check_address(checker, event);
        if (event->call == CONV_MARK_LANE_END)
            continue;
        checker->events++;
        if (at >= lane->count || lane->marks[at].address != event->address ||
            lane->marks[at].shape.call != event->call || lane->marks[at].shape.size != event->size)
            checker->out_of_lane++;
        checker->position[event->lane]++;
    }
    return FP_OK;
}

static bool check_is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct checker *checker = data;
    if (!*live_of(data, address))
        return false;
    *ret_bytes = checker->sizes[address / 16];
    return true;
}

static void order_and_check(struct history *history, uint32_t group_events, struct conv_survey *survey,
                            struct checker *ret)
{
    struct checker checker = {.history = history};
    const struct conv_sink sink = {.data = &checker, .events = check_events, .is_live = check_is_live};
    const struct conv_blocks blocks = history_blocks(history);
    checker.position = calloc(history->lane_count, sizeof *checker.position);
    memset(survey, 0, sizeof *survey);
    CHECK_U64(conv_order_run(&blocks, UINT64_C(1) << 30, group_events, &sink, survey), FP_OK);
    free(checker.position);
    free(checker.live);
    free(checker.sizes);
    *ret = checker;
}

static size_t marks_of(const struct history *history)
{
    size_t marks = 0;
    for (uint32_t i = 0; i < history->lane_count; i++)
        marks += history->lanes[i].count;
    return marks;
}

/* Returns how many events had to be moved out of their lane's order; 0 is asked for unless `harsh`. */
static uint64_t simulate_and_check(const struct history_options *options, uint64_t seed, size_t block_marks,
                                   bool harsh)
{
    OWNED(history) history;
    struct conv_survey survey;
    struct checker checker;
    const unsigned failures = harness_failures;
    history_init(&history, options->threads, seed);
    history_simulate(&history, options);
    history_cut(&history, block_marks);
    order_and_check(&history, 0, &survey, &checker);
    CHECK_U64(checker.events, marks_of(&history));
    CHECK_U64(checker.illegal, 0);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        if (i != CONV_ORDER_REPAIRED)
            CHECK_U64(survey.irregular[i], 0);
    if (harsh) {
        CHECK(survey.irregular[CONV_ORDER_REPAIRED] * 50 < checker.events);
    } else {
        CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 0);
        CHECK_U64(checker.out_of_lane, 0);
    }
    if (options->sized_share == 100 && options->resize_share == 0)
        CHECK_U64(checker.wrong_sizes, 0); /* with all sizes stated, those at an epoch's end follow too */
    else
        CHECK(checker.wrong_sizes * 500 <= checker.events); /* a realloc does not state the size it takes */
    if (harness_failures != failures)
        fprintf(stderr, "repeat with: seed %" PRIu64 ", %u threads, %zu events, %u objects\n", seed,
                options->threads, options->events, options->objects);
    return survey.groups_searched;
}

TEST(preempted_threads_come_out_legal)
{
    uint64_t searched = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const struct history_options options = {.threads = 1 + (uint32_t)(seed % 4),
                                                .events = 4000,
                                                .objects = 40 + (uint32_t)(seed % 5) * 40,
                                                .bump_every = 16,
                                                .bump_ns = 1000,
                                                .resize_share = seed % 3 == 0 ? 15 : 0};
        searched += simulate_and_check(&options, seed, seed % 2 == 0 ? 50 : 4000, false);
    }
    CHECK(searched > 0); /* greedy order alone would not have done */
}

/* Releases that state a size leave only orders in which it is their object's: none is paired with another. */
TEST(stated_sizes_are_heeded)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct history_options options = {.threads = 2 + (uint32_t)(seed % 3),
                                                .events = 4000,
                                                .objects = 40 + (uint32_t)(seed % 5) * 40,
                                                .bump_every = 16,
                                                .bump_ns = 1000,
                                                .resize_share = seed % 3 == 0 ? 15 : 0,
                                                .sized_share = 100};
        (void)simulate_and_check(&options, seed, seed % 2 == 0 ? 50 : 4000, false);
    }
}

/* ---- histories made by hand ------------------------------------------------------------------ */

static struct history history;
static struct conv_survey survey;
static struct checker checker;

static void begin(uint32_t lanes)
{
    history_init(&history, lanes, 1);
}

/* As history_add. */
static void add(uint32_t lane, unsigned call, uint64_t address, uint64_t size, uint64_t epoch,
                uint64_t time_ns)
{
    history_add(&history, lane, call, address, size, epoch, time_ns);
}

/* What comes of it is in survey and checker. */
static void order(size_t block_marks, uint32_t group_events)
{
    history_cut(&history, block_marks);
    order_and_check(&history, group_events, &survey, &checker);
    history_release(&history);
}

/* Both lanes free x and take it again: only the sizes tell who came first. */
TEST(sizes_decide_where_addresses_do_not)
{
    const uint64_t x = 16;
    begin(3);
    add(2, FP_CALL_MALLOC, x, 64, 0, 0);
    add(0, FP_CALL_DELETE_SIZED, x, 32, 5, 100);
    add(0, FP_CALL_MALLOC, x, 48, 5, UINT64_MAX);
    add(1, FP_CALL_DELETE_SIZED, x, 64, 5, 200);
    add(1, FP_CALL_MALLOC, x, 32, 5, UINT64_MAX);
    add(2, FP_CALL_DELETE_SIZED, x, 48, 9, 300);
    order(100, 0);
    CHECK_U64(checker.events, 6);
    CHECK_U64(checker.illegal, 0);
    CHECK_U64(checker.wrong_sizes, 0);
    CHECK_U64(survey.groups_searched, 0);
}

/* A program that states wrong sizes is still put in an order that its addresses allow. */
TEST(wrong_sizes_do_not_spoil_the_order)
{
    const uint64_t x = 16;
    begin(3);
    add(2, FP_CALL_MALLOC, x, 64, 0, 0);
    add(0, FP_CALL_DELETE_SIZED, x, 8, 5, 100);
    add(0, FP_CALL_MALLOC, x, 8, 5, UINT64_MAX);
    add(1, FP_CALL_DELETE_SIZED, x, 9, 5, 200);
    order(100, 0);
    CHECK_U64(checker.events, 4);
    CHECK_U64(checker.illegal, 0);
    CHECK_U64(checker.out_of_lane, 0);
    CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 0);
}

/* Six threads passing four blocks around: some groups are beyond the search. All events are kept, every
 * address still alternates, and few events leave their lane's order. */
TEST(what_cannot_be_searched_is_repaired)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const struct history_options options = {
            .threads = 6, .events = 3000, .objects = 4, .bump_every = 16, .bump_ns = 1000};
        (void)simulate_and_check(&options, seed, 1000, true);
    }
}

TEST(one_thread_needs_no_epochs)
{
    const struct history_options options = {
        .threads = 1, .events = 20000, .objects = 100, .bump_every = 16, .bump_ns = UINT64_MAX};
    (void)simulate_and_check(&options, 7, 333, false);
}

/* Greedy order takes lane 0's free of x first and is stuck then: only lane 1's free may come first. */
TEST(a_stuck_group_is_searched)
{
    const uint64_t x = 16, z = 32, w = 48;
    begin(3);
    add(0, FP_CALL_MALLOC, x, 1, 0, 0);
    add(0, FP_CALL_FREE, x, 0, 5, 100);
    add(0, FP_CALL_MALLOC, z, 1, 5, UINT64_MAX);
    add(1, FP_CALL_FREE, x, 0, 5, 200);
    add(1, FP_CALL_MALLOC, w, 1, 5, UINT64_MAX);
    add(1, FP_CALL_FREE, z, 0, 5, UINT64_MAX);
    add(2, FP_CALL_FREE, w, 0, 5, 300);
    add(2, FP_CALL_MALLOC, x, 1, 5, UINT64_MAX);
    order(100, 0);
    CHECK_U64(checker.events, 8);
    CHECK_U64(checker.out_of_lane, 0);
    CHECK_U64(checker.illegal, 0);
    CHECK_U64(survey.groups_searched, 1);
    CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 0);
}

/* Counts allow an order, the lanes' own orders do not: an event is moved, all are kept, and the state at the
 * group's end is the one that the counts demand. */
TEST(a_group_without_order_is_repaired_inside)
{
    const uint64_t x = 16, y = 32;
    begin(2);
    add(0, FP_CALL_MALLOC, x, 1, 0, 0);
    add(0, FP_CALL_MALLOC, y, 1, 0, UINT64_MAX);
    add(0, FP_CALL_MALLOC, x, 1, 5, 100);
    add(0, FP_CALL_FREE, y, 0, 5, UINT64_MAX);
    add(1, FP_CALL_MALLOC, y, 1, 5, 100);
    add(1, FP_CALL_FREE, x, 0, 5, UINT64_MAX);
    add(1, FP_CALL_FREE, x, 0, 9, 500);
    add(0, FP_CALL_FREE, y, 0, 9, 500);
    order(100, 0);
    CHECK_U64(checker.events, 8);
    CHECK_U64(checker.illegal, 0);
    CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 1);
}

/* A free that nothing in the group can make legal must not hold up the others. */
TEST(an_irregular_event_does_not_block)
{
    begin(2);
    add(0, FP_CALL_FREE, 16, 0, 5, 100);
    add(0, FP_CALL_MALLOC, 32, 1, 5, UINT64_MAX);
    add(1, FP_CALL_FREE, 32, 0, 5, 100);
    add(1, FP_CALL_FREE, 16, 0, 5, UINT64_MAX);
    order(100, 0);
    CHECK_U64(checker.events, 4);
    CHECK_U64(checker.out_of_lane, 0);
    CHECK_U64(checker.illegal, 2); /* both frees of 16, and nothing else */
    CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 0);
}

/* A realloc that failed gives its old address back, which another lane may free in the same epoch. */
TEST(a_failed_realloc_returns_its_address)
{
    begin(2);
    add(1, FP_CALL_MALLOC, 16, 1, 0, 0);
    add(1, FP_MARK_RESIZE_FROM, 16, 0, 5, 200);
    add(1, FP_CALL_REALLOC, 0, 100, 5, UINT64_MAX);
    add(0, FP_CALL_FREE, 16, 0, 5, 300);
    order(100, 0);
    CHECK_U64(checker.events, 4);
    CHECK_U64(survey.groups_searched, 0);
    CHECK_U64(survey.irregular[CONV_ORDER_REPAIRED], 0);
}

/* An epoch with more events than are looked at together is cut by time: nothing is lost, memory is bounded. */
TEST(an_oversized_epoch_is_cut_by_time)
{
    begin(3);
    for (uint32_t i = 0; i < 3000; i++) {
        const uint32_t lane = i % 3;
        add(lane, FP_CALL_MALLOC, 16 + 16 * lane, 1, 1, 100 + i * 10);
        add(lane, FP_CALL_FREE, 16 + 16 * lane, 0, 1, UINT64_MAX);
    }
    order(70, 60);
    CHECK_U64(checker.events, 6000);
    CHECK_U64(checker.out_of_lane, 0);
    CHECK_U64(checker.illegal, 0);
    CHECK_U64(survey.irregular[CONV_OVERSIZED_GROUPS], 1);
}
