/* loop.h - the timed code: ops in, allocator calls out, and nothing else.
 *
 *   slot   where the address of an object stands, by object id; slot 0 holds NULL
 *   touch  a write into new memory, so that it becomes resident as it would in the program. It stays
 *          within the timed part: a fault on memory that the allocator had to fetch is its doing */
#ifndef MALLAB_REPLAY_EXEC_LOOP_H
#define MALLAB_REPLAY_EXEC_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/base/op.h"
#include "replay/exec/calls.h"

enum rep_touch {
    REP_TOUCH_NONE = 0, /* of a check, which fills all of it */
    REP_TOUCH_PAGE = 1, /* one byte at the start, one per further page */
};

struct rep_loop {
    struct rep_calls calls;
    void **slots; /* by id, 0 .. the workload's id_max */
    enum rep_touch touch;
    size_t touch_step; /* bytes between writes of REP_TOUCH_PAGE; REP_TOUCH_FIRST_ONLY for none */
    bool far; /* more slots than caches hold: each is fetched before its op's turn, at nobody's cost */
};

enum {
    REP_LOOP_AHEAD = 12,     /* ops: about a memory latency at 8 ns an op */
    REP_SLOTS_NEAR = 1 << 16 /* slots, half a megabyte: what a core's own cache holds */
};

/* The stubs of `none` have no memory behind their addresses beyond a few bytes, and a loop that touched
 * more there than one byte would charge the harness with the faults of an allocator. */
#define REP_TOUCH_FIRST_ONLY ((size_t)1 << 62)

/* rep_loop_run - execute count ops. code: theirs (op.h); one byte behind it is read, and not heeded; so are
 * REP_LOOP_AHEAD ops behind ops, where `far` is set: their ids name slots.
 * Returns   count; less when the allocator returned NULL for a request of at least one byte: then it is
 *           the index of that op, and nothing after it was executed. */
size_t rep_loop_run(const struct rep_loop *loop, const struct wl_op *ops, const uint8_t *code, size_t count);

#endif
