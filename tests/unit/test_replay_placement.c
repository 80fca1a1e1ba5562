/* test_replay_placement - the simulated TLB, the cover of pages and lines and the order of ages beside hand-computed cases
 * and plain models; moments and sums of the pass on slots made up here. */
#include "harness.h"
#include "replay_windows.h"

#include "replay/meters/placement.h"

/* ---- the simulated TLB ---------------------------------------------------------------------- */

static uint64_t misses_of(struct rep_tlb *tlb, uint64_t first, uint64_t count)
{
    uint64_t misses = 0;
    for (uint64_t page = first; page < first + count; page++)
        misses += !rep_tlb_visit(tlb, page);
    return misses;
}

TEST(what_fits_misses_once)
{
    struct rep_tlb tlb = {0};
    CHECK(!rep_tlb_visit(&tlb, 0)); /* page 0 is no empty entry */
    CHECK(rep_tlb_visit(&tlb, 0));
    CHECK_U64(misses_of(&tlb, 0, 64), 63);
    CHECK_U64(misses_of(&tlb, 0, 64), 0);
    CHECK_U64(misses_of(&tlb, 0, 64), 0);
}

TEST(one_page_more_misses_always)
{
    struct rep_tlb tlb = {0};
    for (unsigned turn = 0; turn < 3; turn++)
        CHECK_U64(misses_of(&tlb, 100, 65), 65);
}

TEST(the_least_recently_used_goes)
{
    struct rep_tlb tlb = {0};
    (void)misses_of(&tlb, 0, 64);
    CHECK(rep_tlb_visit(&tlb, 0));   /* now 1 is the oldest use */
    CHECK(!rep_tlb_visit(&tlb, 64)); /* takes its place */
    CHECK(rep_tlb_visit(&tlb, 0));
    CHECK(rep_tlb_visit(&tlb, 2));
    CHECK(!rep_tlb_visit(&tlb, 1)); /* takes that of 3 */
    CHECK(!rep_tlb_visit(&tlb, 3));
    CHECK(rep_tlb_visit(&tlb, 63));
}

/* A whole random walk, and the same from its end, leave the same entries in the same order. */
TEST(filled_from_the_end)
{
    struct made made = {.seed = 3};
    for (unsigned pages = 1; pages < 200; pages += 9) {
        uint64_t walk[1000];
        struct rep_tlb whole = {0}, from_end = {0};
        for (unsigned i = 0; i < 1000; i++) {
            walk[i] = made_pick(&made, pages);
            (void)rep_tlb_visit(&whole, walk[i]);
        }
        for (unsigned i = 1000; i > 0; i--)
            if (!rep_tlb_earlier(&from_end, walk[i - 1]))
                break;
        CHECK_U64(from_end.count, whole.count);
        for (uint32_t i = 0; i < whole.count; i++)
            CHECK_U64(from_end.pages[i], whole.pages[i]);
    }
}

/* ---- cover ---------------------------------------------------------------------------------- */

static uint64_t key_at(uint64_t address, uint32_t bytes)
{
    return rep_cover_key((const void *)(uintptr_t)address, bytes);
}

TEST(pages_and_lines_by_hand)
{
    uint64_t scratch[5], pages, lines;
    uint64_t keys[] = {
        key_at(0x7fff00001000 - 16, 2048), /* the last line of a page, the next page to its line 31 */
        key_at(0x10000, 1),
        key_at(0x10001, 63), /* ends its line */
        key_at(0x10040, 64), /* the next line */
        key_at(0x7ffe00000, 64 + 1),
    };
    rep_cover_count(keys, scratch, 5, &pages, &lines);
    CHECK_U64(pages, 2 + 1 + 1);
    CHECK_U64(lines, (1 + 32) + 2 + 2);
    for (unsigned i = 1; i < 5; i++)
        CHECK(rep_cover_address(keys[i - 1]) < rep_cover_address(keys[i]));
    CHECK_U64(rep_cover_address(keys[0]), 0x10000);
    rep_cover_count(keys, scratch, 0, &pages, &lines);
    CHECK_U64(pages + lines, 0);
}

/* Objects side by side with random gaps, handed over in random order, beside a bit for each unit. */
TEST(pages_and_lines_beside_a_map)
{
    enum { OBJECTS = 3000, SPAN = OBJECTS * 2600 };
    static uint64_t keys[OBJECTS], scratch[OBJECTS];
    static bool page_held[SPAN / 4096 + 1], line_held[SPAN / 64 + 1];
    struct made made = {.seed = 11};
    const uint64_t base = UINT64_C(0xfffffff) << 24;
    uint64_t at = 0, expected_pages = 0, expected_lines = 0, pages, lines;
    for (unsigned i = 0; i < OBJECTS; i++) {
        const uint32_t bytes = 1 + made_pick(&made, made_pick(&made, 4) == 0 ? REP_SMALL_BYTES : 100);
        at += made_pick(&made, 3) == 0 ? 0 : made_pick(&made, 500);
        for (uint64_t byte = at; byte < at + bytes; byte++)
            page_held[byte / 4096] = line_held[byte / 64] = true;
        keys[i] = key_at(base + at, bytes);
        at += bytes;
        const unsigned other = made_pick(&made, i + 1);
        const uint64_t key = keys[i];
        keys[i] = keys[other];
        keys[other] = key;
    }
    for (unsigned i = 0; i <= SPAN / 4096; i++)
        expected_pages += page_held[i];
    for (unsigned i = 0; i <= SPAN / 64; i++)
        expected_lines += line_held[i];
    rep_cover_count(keys, scratch, OBJECTS, &pages, &lines);
    CHECK_U64(pages, expected_pages);
    CHECK_U64(lines, expected_lines);
}

/* ---- ages ----------------------------------------------------------------------------------- */

static const struct wl_op HISTORY[] = {
    {.call = FP_CALL_MALLOC, .id = 1, .size = 10},
    {.call = FP_CALL_MALLOC, .id = 2, .size = 20},
    {.call = FP_CALL_CALLOC, .id = 3, .size = 30, .count = 4},
    {.call = FP_CALL_REALLOC, .id = 4, .size = 40, .align_log2 = WL_OP_FRESH},
    {.call = FP_CALL_MALLOC, .id = 5, .size = (uint64_t)1 << 40}, /* second thread from here */
    {.call = FP_CALL_FREE, .id = 2},
    {.call = FP_CALL_REALLOC, .id = 1, .size = 11},
    {.call = FP_CALL_FREE, .id = 0},
    {.call = FP_CALL_MALLOC, .id = 2, .size = 0},
};
#define HISTORY_OPS (sizeof HISTORY / sizeof HISTORY[0])

TEST(ages_by_hand)
{
    static const struct wl_run runs[] = {{.thread = 0, .op_count = 4}, {.thread = 1, .op_count = 5}};
    const struct wl_window window = {.op_count = HISTORY_OPS, .run_count = 2, .ops = HISTORY, .runs = runs};
    const struct wl_summary summary = {.id_max = 5, .thread_count = 3};
    struct rep_ages ages;
    CHECK(rep_ages_init(&ages, &summary));
    CHECK_U64(rep_ages_oldest(&ages, 0), 0);
    rep_ages_follow(&ages, &window);
    CHECK_U64(ages.objects, 5);
    CHECK_U64(rep_ages_oldest(&ages, 0), 1); /* as old as before it was resized */
    CHECK_U64(rep_ages_next(&ages, 1), 3);
    CHECK_U64(rep_ages_next(&ages, 3), 4);
    CHECK_U64(rep_ages_next(&ages, 4), 0);
    CHECK_U64(rep_ages_oldest(&ages, 1), 5);
    CHECK_U64(rep_ages_next(&ages, 5), 2);
    CHECK_U64(rep_ages_next(&ages, 2), 0);
    CHECK_U64(rep_ages_oldest(&ages, 2), 0);
    CHECK_U64(ages.sizes[1], 12);
    CHECK_U64(ages.sizes[2], 1);
    CHECK_U64(ages.sizes[3], 121);
    CHECK_U64(ages.sizes[5], UINT32_MAX);
}

/* Birth numbers beside the rings, over a whole workload of many threads. */
TEST(ages_beside_a_plain_model)
{
    static uint32_t born[SOME_OPS + 1], thread_of[SOME_OPS + 1];
    struct made *made = make_workload(5);
    struct rep_ages ages;
    struct wl_window window;
    CHECK(rep_ages_init(&ages, &made->summary));
    while (made_next(made, &window) == FP_OK) {
        rep_ages_follow(&ages, &window);
        for (uint32_t i = 0; i < window.op_count; i++) {
            const uint32_t at = (uint32_t)window.facts.first_op + i, id = window.ops[i].id;
            if (window.ops[i].call == FP_CALL_MALLOC) {
                born[id] = at + 1;
                thread_of[id] = made->thread_of[at];
            } else if (window.ops[i].call == FP_CALL_FREE_SIZED) {
                born[id] = 0;
            }
        }
        uint64_t walked = 0;
        for (uint32_t thread = 0; thread < SOME_THREADS; thread++) {
            uint32_t last = 0;
            for (uint32_t id = rep_ages_oldest(&ages, thread); id != 0; id = rep_ages_next(&ages, id)) {
                CHECK_U64(thread_of[id], thread);
                CHECK(born[id] > last);
                last = born[id];
                walked++;
            }
        }
        CHECK_U64(walked, window.facts.live_objects);
        CHECK_U64(ages.objects, window.facts.live_objects);
    }
    free(made);
}

/* ---- the pass ------------------------------------------------------------------------------- */

#define PASS_WINDOWS 40u
#define PASS_OPS     10u

/* One thread that allocates PASS_OPS objects of 100 bytes a window, the second half of windows frees them again. */
static struct rep_placement placement_of(void **slots, uint64_t untimed)
{
    static struct wl_op ops[PASS_OPS];
    static const struct wl_run run = {.thread = 0, .op_count = PASS_OPS};
    const uint32_t half = PASS_WINDOWS / 2, ids = half * PASS_OPS;
    const struct wl_summary summary = {.ops = (uint64_t)PASS_WINDOWS * PASS_OPS,
                                       .id_max = ids,
                                       .thread_count = 1,
                                       .live_bytes_peak = (uint64_t)ids * 100};
    struct rep_placement placement;
    CHECK(rep_placement_init(&placement, &summary, untimed, slots));
    for (uint32_t number = 0; number < PASS_WINDOWS; number++) {
        const bool rising = number < half;
        const uint32_t before = rising ? number : PASS_WINDOWS - number;
        for (uint32_t i = 0; i < PASS_OPS; i++) {
            const uint32_t id = rising ? number * PASS_OPS + i + 1 : before * PASS_OPS - i;
            ops[i] = (struct wl_op){.id = id, .call = rising ? FP_CALL_MALLOC : FP_CALL_FREE, .size = 100};
        }
        const uint64_t peak = (uint64_t)(rising ? before + 1 : before) * PASS_OPS * 100;
        const struct wl_window window = {
            .facts = {.first_op = (uint64_t)number * PASS_OPS, .end_ns = number + 1, .live_bytes_peak = peak},
            .op_count = PASS_OPS,
            .run_count = 1,
            .ops = ops,
            .runs = &run,
        };
        rep_placement_window(&placement, &window);
    }
    return placement;
}

#define PASS_IDS (PASS_WINDOWS / 2 * PASS_OPS)

TEST(moments_are_even_and_the_peak_is_one_more)
{
    static void *slots[PASS_IDS + 1];
    for (uintptr_t id = 1; id <= PASS_IDS; id++)
        slots[id] = (void *)(0x100000 + id * 128);
    const struct rep_placement placement = placement_of(slots, 0);
    CHECK_U64(placement.moment_count, REP_PLACEMENT_MOMENTS);
    uint64_t objects = 0;
    for (uint32_t i = 0; i < REP_PLACEMENT_MOMENTS; i++) {
        /* 400 ops, a step of 24: the first window end at or behind each step. */
        const uint64_t ops = ((i + 1) * 24 + PASS_OPS - 1) / PASS_OPS * PASS_OPS;
        CHECK_U64(placement.moments[i].ops, ops);
        CHECK_U64(placement.moments[i].time_ns, ops / PASS_OPS);
        CHECK_U64(placement.moments[i].objects, ops <= 200 ? ops : 400 - ops);
        CHECK_U64(placement.moments[i].bytes, placement.moments[i].objects * 100);
        objects += placement.moments[i].objects;
    }
    CHECK(placement.peak.taken);
    CHECK_U64(placement.peak.ops, 200);
    CHECK_U64(placement.peak.objects, 200);
    const struct rep_placement_sample total = rep_placement_total(&placement);
    CHECK_U64(total.objects, objects);
    CHECK_U64(total.tlb_misses, 0); /* 7 pages at most */
    CHECK_U64(rep_placement_distance(&total), 256);
    /* 100 bytes from a line's start hold two lines each. */
    CHECK_U64(total.lines, 2 * objects);
}

TEST(a_page_each_misses_where_there_are_more_than_entries)
{
    static void *slots[PASS_IDS + 1];
    for (uintptr_t id = 1; id <= PASS_IDS; id++)
        slots[id] = (void *)(0x100000 + id * 8192);
    const struct rep_placement placement = placement_of(slots, 0);
    for (uint32_t i = 0; i < REP_PLACEMENT_MOMENTS; i++) {
        const struct rep_placement_sample *moment = &placement.moments[i];
        CHECK_U64(moment->tlb_misses, moment->objects <= REP_TLB_ENTRIES ? 0 : moment->objects);
        CHECK_U64(moment->pages, moment->objects);
        CHECK_U64(moment->next_same_page, 0);
        CHECK_U64(moment->next, moment->objects - 1);
    }
    CHECK_U64(rep_placement_distance(&placement.peak), 16384);
}

TEST(what_is_inherited_is_no_moment)
{
    static void *slots[PASS_IDS + 1];
    for (uintptr_t id = 1; id <= PASS_IDS; id++)
        slots[id] = (void *)(0x100000 + id * 128);
    slots[7] = NULL; /* an object that the allocator did not give: not visited */
    const struct rep_placement placement = placement_of(slots, 230);
    CHECK(placement.moments[0].ops > 230);
    /* 170 ops, a step of 11: of 17 windows the first and the 12th end behind none that is new. */
    CHECK_U64(placement.moment_count, 15);
    CHECK_U64(placement.moments[0].objects, 400 - placement.moments[0].ops - 1);
    CHECK(!placement.peak.taken); /* it was before */
}

RUN_TESTS(T(what_fits_misses_once), T(one_page_more_misses_always), T(the_least_recently_used_goes),
          T(filled_from_the_end), T(pages_and_lines_by_hand), T(pages_and_lines_beside_a_map),
          T(ages_by_hand), T(ages_beside_a_plain_model), T(moments_are_even_and_the_peak_is_one_more),
          T(a_page_each_misses_where_there_are_more_than_entries), T(what_is_inherited_is_no_moment))
