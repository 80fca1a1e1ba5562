/* ops_check.h - an independent account of a workload: every op is held against what the ops before it did.
 *
 * Not the writer's bookkeeping nor the reader's: an own table of objects, an own notion of which ops come before which.
 * It takes windows as they are decoded, so that a test can hand it what no reader would. Private to convert/. */
#ifndef MALLAB_CONVERT_CHECK_OPS_CHECK_H
#define MALLAB_CONVERT_CHECK_OPS_CHECK_H

#include "footprint/wl/workload.h"

/* The kinds of faults; they are named in JSON. */
enum conv_fault {
    CONV_FAULT_NONE = 0,
    CONV_FAULT_REFUSED,   /* what the file's own reader does not accept: frame, columns, checksums, limits */
    CONV_FAULT_FRAME,     /* counts of a window do not fit each other */
    CONV_FAULT_CALL,      /* no call of the family, or a size beyond the format */
    CONV_FAULT_ID,        /* an object number that cannot be */
    CONV_FAULT_TWO_HANDS, /* an allocation gets an object that is alive */
    CONV_FAULT_RELEASE_OF_DEAD, /* a release of an object that is not alive */
    CONV_FAULT_RESIZE_OF_DEAD,  /* a resize of one */
    CONV_FAULT_WAIT,    /* a wait that does not point back to another thread's op, or stands out of turn */
    CONV_FAULT_RACE,    /* two threads use an object, and nothing orders them */
    CONV_FAULT_TIME,    /* recorded time falls, or leaves its window */
    CONV_FAULT_FACTS,   /* figures of a window are not those of its ops */
    CONV_FAULT_THREAD,  /* an op of a thread outside its windows, or figures of a thread are not its ops' */
    CONV_FAULT_SUMMARY, /* figures of the whole are not those of the ops */
    CONV_FAULT_ORDER,   /* of a recording: no order of its events is legal, one had to be repaired */
    CONV_FAULT_COUNT,
};

/* conv_fault_name - "refused", "two_hands", ...; "none" for CONV_FAULT_NONE and outside the enum. Static. */
const char *conv_fault_name(enum conv_fault fault);

struct conv_violation {
    enum conv_fault fault; /* CONV_FAULT_NONE: the file is legal */
    bool has_window, has_op;
    uint64_t window;       /* number, from 0 */
    uint64_t op;           /* number in the workload, from 0 */
    uint64_t op_in_window; /* index within the window */
    uint64_t offset;       /* of the window's block, or of what cannot be read, in the file */
    uint64_t line;         /* of a text, from 1; 0: not about a line */
    char what[256];
};

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
