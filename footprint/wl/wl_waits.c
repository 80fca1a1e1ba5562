/* wl_waits.c - whether a window's waits keep its threads from racing for an object.
 *
 * Replay runs the threads of a window in parallel and hands each call the pointer that the op before it left: a
 * file whose waits are missing would have it free what another thread is just allocating. */
#include <string.h>

#include "footprint/wl/wl_decode.h"

#define PREFETCH_AHEAD 16u /* ops: about a memory latency at 5 ns an op */

/* A thread's number among those of the window, in the order of their first runs. */
static uint32_t local_of(struct wl_decoder *decoder, uint32_t thread, uint32_t *count)
{
    struct wl_waits_thread *known = &decoder->waits_threads[thread];
    if (known->window != decoder->ids.window) {
        known->window = decoder->ids.window; /* counted up before each window is checked, so never 0 */
        known->local = (*count)++;
        if (known->local < WINDOW_WAITERS_MAX) {
            memset(decoder->known[known->local], 0, sizeof decoder->known[0]);
            for (uint32_t i = 0; i < WINDOW_WAITERS_MAX; i++)
                decoder->known[i][known->local] = 0;
        }
    }
    return known->local;
}

/* Whether op `i`, which names an object that op `before` named last, is held back until that has finished. */
static bool is_ordered(const struct wl_decoder *decoder, uint32_t local, uint32_t before,
                       const struct wl_wait *wait)
{
    const uint32_t other = decoder->locals[before];
    if (other == local)
        return true;
    if (wait != NULL && decoder->locals[wait->on] == other && wait->on >= before)
        return true;
    return local < WINDOW_WAITERS_MAX && other < WINDOW_WAITERS_MAX && decoder->known[local][other] > before;
}

static bool check_run(struct wl_decoder *decoder, const struct wl_run *run, uint32_t local, uint32_t first,
                      const struct wl_window *window, const struct wl_wait **wait)
{
    const struct wl_wait *const waits_end = window->waits + window->wait_count;
    const uint32_t tag = decoder->waits_tag << 16;
    for (uint32_t i = first; i < first + run->op_count; i++) {
        const struct wl_wait *own = NULL;
        uint32_t *touched = &decoder->touched[decoder->ops[i].id];
        if (i + PREFETCH_AHEAD < window->op_count)
            __builtin_prefetch(&decoder->touched[decoder->ops[i + PREFETCH_AHEAD].id], 1);
        decoder->locals[i] = (uint16_t)local;
        if (*wait < waits_end && (*wait)->op == i) {
            const uint32_t other = decoder->locals[(*wait)->on];
            own = (*wait)++;
            if (other == local) {
                decoder->refused = i + 1;
                return false;
            }
            if (local < WINDOW_WAITERS_MAX && other < WINDOW_WAITERS_MAX &&
                decoder->known[local][other] <= own->on)
                decoder->known[local][other] = own->on + 1;
        }
        if (decoder->ops[i].id == 0)
            continue;
        if ((*touched & 0xffff0000u) == tag && !is_ordered(decoder, local, *touched & 0xffff, own)) {
            decoder->refused = i + 1;
            return false;
        }
        *touched = tag | i;
    }
    return true;
}

bool wl_waits_hold(struct wl_decoder *decoder, const struct wl_window *window)
{
    const struct wl_wait *wait = window->waits;
    uint32_t threads = 0;
    uint32_t first = 0;
    bool hold = true;
    if (window->run_count <= 1)
        return window->wait_count == 0;
    /* Notes of earlier windows are known by their tag, so the table is cleared once in 65,535 windows. */
    if (++decoder->waits_tag > 0xffff) {
        memset(decoder->touched, 0, ((size_t)decoder->ids.capacity + 1) * sizeof *decoder->touched);
        decoder->waits_tag = 1;
    }
    for (uint32_t i = 0; i < window->run_count && hold; i++) {
        const uint32_t local = local_of(decoder, window->runs[i].thread, &threads);
        hold = check_run(decoder, &window->runs[i], local, first, window, &wait);
        first += window->runs[i].op_count;
    }
    return hold;
}
