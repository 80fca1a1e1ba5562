/* test_convert_races.c - which ops the checker says may race, held against clocks that every op carries, a way it does not
 * go. */
#include "unit/paper.h"

/* Whether all ops on one object are ordered, by the clock that each op has: for every thread, how many of its ops come
 * before. */
static bool is_free_of_races(const struct wl_window *window, uint32_t *ret_op)
{
    static uint32_t clocks[64][THREADS], now[THREADS][THREADS], threads[64];
    uint32_t index = 0, wait = 0;
    memset(now, 0, sizeof now);
    for (uint32_t run = 0; run < window->run_count; run++)
        for (uint32_t i = 0; i < window->runs[run].op_count; i++, index++) {
            const uint32_t thread = window->runs[run].thread;
            threads[index] = thread;
            if (wait < window->wait_count && window->waits[wait].op == index) {
                const uint32_t on = window->waits[wait++].on;
                for (uint32_t k = 0; k < THREADS; k++)
                    if (clocks[on][k] > now[thread][k])
                        now[thread][k] = clocks[on][k];
            }
            now[thread][thread] = index + 1;
            memcpy(clocks[index], now[thread], sizeof now[thread]);
            for (uint32_t before = 0; before < index; before++)
                if (window->ops[before].id == window->ops[index].id && window->ops[index].id != 0 &&
                    clocks[index][threads[before]] <= before) {
                    *ret_op = index;
                    return false;
                }
        }
    return true;
}

TEST(races_are_those_that_clocks_tell)
{
    static struct paper paper;
    unsigned races = 0, orders_by_others = 0;
    paper_load(&paper);
    for (unsigned w = 0; w < paper.summary.windows; w++) {
        const uint32_t waits = paper.windows[w].window.wait_count;
        /* Every wait left out, then moved: to whatever op came before. */
        for (uint32_t i = 0; i < waits; i++)
            for (unsigned moved = 0; moved < 2; moved++) {
                struct conv_violation violation;
                struct wl_wait *wait;
                uint32_t op = 0;
                paper_load(&paper);
                wait = &paper.windows[w].waits[i];
                if (moved != 0) {
                    wait->on = (uint32_t)random_below(wait->op);
                } else {
                    memmove(wait, wait + 1, (waits - i - 1) * sizeof *wait);
                    paper.windows[w].window.wait_count--;
                }
                violation = paper_judge(&paper);
                if (violation.fault == CONV_FAULT_WAIT)
                    continue; /* moved to an op of its own thread */
                if (is_free_of_races(&paper.windows[w].window, &op)) {
                    CHECK_STR(conv_fault_name(violation.fault), "none");
                    orders_by_others++;
                } else {
                    CHECK_STR(conv_fault_name(violation.fault), "race");
                    CHECK_U64(violation.op_in_window, op);
                    races++;
                }
            }
    }
    CHECK(races > 100 && orders_by_others > 10); /* else nothing was shown */
}

/* 0 makes an object, 1 waits for that, 2 waits for 1 and releases it. */
TEST(orders_by_way_of_a_third_thread_count)
{
    const struct wl_op ops[] = {{.id = 1, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 2, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 3, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 1, .call = FP_CALL_FREE}};
    const struct wl_run runs[] = {{0, 1}, {1, 2}, {2, 1}};
    const struct wl_thread threads[] = {{.ops = 1}, {.ops = 2}, {.ops = 1}};
    const struct wl_summary summary = {
        .id_max = 3, .window_ops_max = 4, .thread_count = 3, .duration_ns = 640, .threads = threads};
    const uint64_t times[] = {0};
    for (uint32_t on = 1; on <= 2; on++) { /* op 1 does not wait for op 0, op 2 does */
        const struct wl_wait waits[] = {{2, 0}, {3, on}};
        const struct wl_window window = {
            .facts = {.live_bytes = 16, .live_objects = 2, .live_bytes_peak = 24},
            .op_count = 4,
            .run_count = 3,
            .wait_count = 2,
            .time_count = 1,
            .ops = ops,
            .runs = runs,
            .waits = waits,
            .times_ns = times};
        struct check check;
        CHECK(check_init(&check, &summary));
        CHECK_U64(check_window(&check, &window, 0), on == 2);
        CHECK_U64(check.violation.fault, on == 2 ? CONV_FAULT_NONE : CONV_FAULT_RACE);
        check_release(&check);
    }
}
