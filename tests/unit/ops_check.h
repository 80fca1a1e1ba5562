/* ops_check.h - an independent account of a workload: every op is held against what the ops before it did.
 *
 * Not the writer's bookkeeping nor the reader's: an own table of objects, an own notion of which ops come before which.
 * It takes windows as they are decoded, so that a test can hand it what no reader would. */
#ifndef MALLAB_TESTS_OPS_CHECK_H
#define MALLAB_TESTS_OPS_CHECK_H

#include "convert/check/verify.h"
#include "footprint/wl/workload.h"

/* Faults that the product's reader refuses before anybody could name them. */
#define CHECK_FAULT(number)   ((enum conv_fault)(CONV_FAULT_COUNT + (number)))
#define CHECK_FRAME           CHECK_FAULT(0) /* counts of a window do not fit each other */
#define CHECK_CALL            CHECK_FAULT(1) /* no call of the family, or a size beyond the format */
#define CHECK_ID              CHECK_FAULT(2) /* an object number that cannot be */
#define CHECK_TWO_HANDS       CHECK_FAULT(3) /* an allocation gets an object that is alive */
#define CHECK_RELEASE_OF_DEAD CHECK_FAULT(4) /* a release of an object that is not alive */
#define CHECK_RESIZE_OF_DEAD  CHECK_FAULT(5) /* a resize of one */
#define CHECK_WAIT                                                                                           \
    CHECK_FAULT(6) /* a wait that does not point back to another thread's op, or stands out of turn */
#define CHECK_RACE CHECK_FAULT(7) /* two threads use an object, and nothing orders them */
#define CHECK_TIME CHECK_FAULT(8) /* recorded time falls, or leaves its window */

struct check_object {
    uint64_t bytes;
    uint64_t window; /* number plus 1 of the window of the newest op on it */
    uint32_t index;  /* of that op within its window */
    uint32_t thread; /* of that op */
    bool live;
};

struct check_thread {
    uint64_t ops, first_window, last_window;
    uint64_t query;   /* number of the search that `reached` belongs to */
    uint32_t reached; /* ops of this thread up to this index are known to come before */
};

/* A thread knows, by waits of its own, that ops of another one up to `before` (exclusive) are done. */
struct check_known {
    uint32_t waiter, other; /* numbers plus 1; 0: an empty entry */
    uint32_t before;
};

struct check {
    const struct wl_summary *summary;
    struct check_object *objects; /* id_max + 1 */
    struct check_thread *threads; /* thread_count */
    uint32_t *op_threads;         /* of the window */
    struct check_known *known;    /* of the window; a hash table */
    uint32_t known_mask;
    uint64_t queries;
    uint64_t windows, ops, allocations, waits;
    uint64_t end_ns; /* of the last window */
    uint64_t live_bytes, live_objects, window_peak;
    struct wl_summary counted; /* what the summary should say; threads NULL */
    struct conv_violation violation;
};

/* check_init - nothing seen yet.
 * summary  borrowed until the release; its id_max, thread_count and window_ops_max are room, and limits.
 * Returns  false: no memory. check_release accepts it in either case. */
bool check_init(struct check *check, const struct wl_summary *summary);
void check_release(struct check *check);

/* check_window - the next window; offset: of its block in the file.
 * Returns  false with check->violation filled: nothing may follow. */
bool check_window(struct check *check, const struct wl_window *window, uint64_t offset);

/* check_fault - note a violation. Returns false. */
bool check_fault(struct check *check, enum conv_fault kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* check_end - all windows were given; compare the figures of threads and summary. Returns false likewise. */
bool check_end(struct check *check);

#endif
