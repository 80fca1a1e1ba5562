/* wl_writer.h - a workload being written: the ops of one window, and what goes on from window to window.
 *
 * Private to footprint/. wl_writer.c fills a window; wl_encode.c has the shapes, turns it into a block and packs that; wl_summary.c
 * ends the file. */
#ifndef MALLAB_FOOTPRINT_WL_WL_WRITER_H
#define MALLAB_FOOTPRINT_WL_WL_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/wl/ids.h"
#include "footprint/wl/window.h"
#include "footprint/wl/wl_encode.h"
#include "footprint/wl/wl_file.h"

struct thread_state {
    struct wl_thread facts;
    uint32_t local_window; /* window number + 1 for which local is valid */
    uint32_t local;        /* number within the window */
};

#define WL_NO_THREAD UINT32_MAX

/* Numbers of ops are kept in 32 bits, for which no two may be further apart than that: every so many ops, what was
 * last named longer ago is noted as if it had been so long ago. Both are far beyond WINDOW_HISTORY. */
#define WL_AGE_EVERY (UINT64_C(1) << 30)
#define WL_AGE_MAX   (UINT32_C(1) << 31)

/* The shapes of the newest ops, to be found by a single look. */
#define SHAPE_RECENT_BITS      9
#define SHAPE_RECENT_EXTRA_MAX (UINT64_C(1) << 56)

#define SHAPE_TABLE_SLOTS (UINT32_C(1) << 17) /* twice WINDOW_SHAPES_MAX */

struct shape_recent {
    uint64_t size, key; /* call and, above it, extra; 0: empty */
    uint16_t index;     /* in the dictionary */
};

/* What a writer has of sites: wl_sites.h. */
struct wl_site_numbers {
    const struct fp_sites *stacks; /* the caller's; NULL: no op has a site */
    char *program;                 /* name of the module without a path */
    uint32_t *own;                 /* by number of the caller's: the workload's; 0: none yet */
    uint32_t *given; /* by number of the workload, from FP_SITE_FIRST on: which of the caller's it is */
    uint32_t count;  /* of those */
};

struct wl_writer {
    struct wl_file file;
    struct wl_pack *pack; /* NULL: windows are packed in place */
    ZSTD_CCtx *context;
    int level;
    uint32_t window_ops;

    /* the window being gathered */
    uint32_t *op_threads;
    struct wl_wait *waits;
    uint64_t *times;
    struct wl_noted *noted;
    uint32_t op_count, wait_count, local_count, noted_count;
    uint32_t ready_thread; /* whose op may come without further ado; WL_NO_THREAD: nobody's */
    uint32_t run_begin;    /* first of its ops that its facts do not count yet */
    uint64_t start_ns, live_peak;
    uint32_t shapes_before; /* size of the dictionary when the window began */
    bool shapes_reset;
    uint32_t known[WINDOW_WAITERS_MAX]
                  [WINDOW_WAITERS_MAX]; /* [waiter][other]: ops of other, as index + 1, known done */

    /* the workload so far */
    struct wl_summary summary;
    struct thread_state *threads;
    uint32_t threads_capacity;
    struct ids ids;
    uint64_t id_bytes; /* of the arrays by id, as counted (memory_bound.h) */
    uint32_t *last_op; /* by id: number of the newest op on it, low 32 bits */
    uint64_t aged_at;  /* ops, when wl_writer_age was run last */
    uint64_t now_ns;
    uint64_t live_bytes, live_objects;
    struct wl_site_numbers sites;
    uint32_t next_site;      /* wl_writer_site, as the caller numbers it */
    struct fp_shape *shapes; /* dictionary, normalised; .call may carry SHAPE_FRESH */
    uint32_t shape_count;
    uint32_t *op_sites; /* of the window's ops, as the workload numbers them; NULL: no op has one */
    struct site_model *site_model;
    uint32_t dictionary;   /* counts the times that it began anew */
    uint32_t *shape_table; /* SHAPE_TABLE_SLOTS; hash -> index + 1 */
    struct shape_recent recent[1u << SHAPE_RECENT_BITS];
    uint32_t last_literal;
    struct bytes columns[WINDOW_COLUMNS];
    struct bytes packed;
    uint64_t pause_ns;          /* options.pause_ns; UINT64_MAX where that is 0 */
    bool note_next;             /* wl_writer_note_time */
    struct wl_touched *touched; /* as told, until wl_touched_put */
    size_t touched_count, touched_capacity;
    size_t touched_as;             /* of those: shares that kin has */
    struct bytes notes;            /* meta text that belongs to the summary */
    size_t meta_count, meta_bytes; /* of both texts together */
    enum fp_status broken;         /* a window that could not be written: nothing may follow it */
};

/* wl_writer_age - see WL_AGE_EVERY. */
void wl_writer_age(struct wl_writer *writer);

/* wl_writer_end_run - count the ops that one thread made in a row. */
static inline void wl_writer_end_run(struct wl_writer *writer)
{
    struct wl_thread *facts;
    if (writer->ready_thread == WL_NO_THREAD || writer->op_count == writer->run_begin)
        return;
    facts = &writer->threads[writer->ready_thread].facts;
    facts->ops += writer->op_count - writer->run_begin;
    facts->last_window = writer->summary.windows;
    writer->run_begin = writer->op_count;
}

/* wl_summary_put - append the summary and the footer, behind all other blocks. writer->summary is whole but for the threads
 * at one time, which are counted here. Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_summary_put(struct wl_writer *writer);

/* wl_writer_fail - note why the writer failed, in its file's error. Returns status. */
enum fp_status wl_writer_fail(struct wl_writer *writer, enum fp_status status, const char *what);

#endif
