/* workload.h - read and write workloads (.wl): what replay executes.
 *
 * A workload is one legal order of all threads' ops, cut into windows (docs/format.md).
 *
 *   op      one call: thread, call, object id, size, count or alignment
 *   id      number of a slot; 0 is NULL; recycled after the release, so the highest id stays
 *           near the peak of live objects plus one window's ops
 *   window  consecutive ops of all threads. No thread begins window k+1 before every thread has
 *           finished window k: orders between windows need no further note, and at each window's end
 *           all threads rest, which is where replay samples memory and the live figures hold exactly
 *   wait    op `op` must not begin before op `on`, of another thread and earlier in the same window,
 *           has finished. Waits that follow from others are left out. Within a thread, order is kept
 *   time    recorded nanoseconds since recording began: of each 16th op of a window, and of noted ones: those on both sides
 *           of a pause, which would else be spread over it. Ops between are taken to follow each other at even distances
 *   touched of a large object that was not in memory as a whole in the program: the share that was, known from the
 *           op on by which it got its size
 *   site    who allocated: 0 not known, below FP_SITE_FIRST why it is not (enum fp_cut), else the node of the
 *           stack's innermost frame, as in footprint/fp/fp_sites.h. Nodes are numbered without gaps in the order in which
 *           ops first need them. A node's address is an offset in its module's file: its epoch is the module's number
 *
 * Ids are not chosen by the caller: the writer assigns them and the reader finds them again by
 * the same rule (window.h). A released id is reused by the thread that released it within the same
 * window, by any thread after it; so reuse never needs a wait. */
#ifndef MALLAB_FOOTPRINT_WL_WORKLOAD_H
#define MALLAB_FOOTPRINT_WL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/call.h"
#include "footprint/base/meta.h"
#include "footprint/base/status.h"
#include "footprint/fp/fp_sites.h"

#define WL_VERSION        1u
#define WL_WINDOW_OPS_MAX 65536u
#define WL_THREADS_MAX    1048576u
#define WL_THREADS_IDLE   65536u /* threads that a file may name beyond its ops */
#define WL_IDS_MAX        (UINT32_C(1) << 31)
#define WL_TIME_STRIDE    16u /* a recorded time for every 16th op of a window */
/* The least pause from which on the recorder looks at the clock at each call (shim/preload/lane_record.c). */
#define WL_PAUSE_NS UINT64_C(250000)

/* One op. It has 16 bytes, so that a batch stays in cache. */
struct wl_op {
    uint32_t id;        /* the object; 0: NULL (a free of NULL, a realloc of NULL allocates: see below) */
    uint8_t call;       /* enum fp_call */
    uint8_t align_log2; /* calls with an alignment; 0 otherwise */
    uint16_t count;     /* calloc, reallocarray: elements, 1 where size is the product */
    uint64_t size;      /* bytes, of one element where count matters */
};
/* realloc and reallocarray keep the id: wl_op.id is the object before and after. A realloc of NULL is
 * an allocation whose call is FP_CALL_REALLOC: WL_OP_FRESH is set in align_log2 of such an op. */
#define WL_OP_FRESH 0x80u

struct wl_run { /* consecutive ops of one thread */
    uint32_t thread;
    uint32_t op_count;
};

struct wl_wait {
    uint32_t op; /* index within the window */
    uint32_t on; /* lower index within the window, other thread */
};

struct wl_noted {
    uint32_t op;      /* index within the window; not one of those that have a time anyway */
    uint64_t time_ns; /* not below that of the op before that has one, nor above that of the next */
};

#define WL_TOUCHED_MAX (UINT32_C(1) << 22) /* such shares in a workload: 64 MiB in a reader */

struct wl_touched {
    uint64_t op;    /* number of an allocation or resize in the workload */
    uint32_t share; /* below FP_SHARE_WHOLE, of which it is a part: of the object's bytes, from its start */
};

/* The state at a window's end, exact in the recorded order. */
struct wl_facts {
    uint64_t first_op;                 /* number of the window's first op in the workload */
    uint64_t start_ns, end_ns;         /* recorded time */
    uint64_t live_bytes, live_objects; /* at the end */
    uint64_t live_bytes_peak;          /* within the window */
};

struct wl_thread {
    uint32_t thread_id; /* of the recording */
    bool is_main;       /* at most one: replayed on the process's first thread */
    bool exited;        /* its exit was recorded; otherwise it lives to the end */
    uint64_t ops;
    uint64_t first_window, last_window; /* of its ops */
};

/* Written last. */
struct wl_summary {
    uint64_t ops, windows;
    uint64_t duration_ns;
    uint64_t requested_bytes; /* sum over allocations and resizes, saturating */
    uint64_t live_bytes_peak, live_objects_peak;
    uint64_t live_bytes_end, live_objects_end;
    uint64_t largest_size;   /* bytes of the largest single request */
    uint32_t id_max;         /* highest id used */
    uint32_t window_ops_max; /* ops of the largest window */
    uint32_t thread_count;
    uint32_t threads_at_once_max; /* most threads alive in one window */
    uint64_t ops_by_call[FP_CALL_COUNT];
    const struct wl_thread *threads;
};

/* wl_threads_at_once - most threads that are between their first window and their end in one window.
 * first    of `count` threads that are `stride` bytes apart; may be NULL where there is none.
 * Returns  false: no memory. */
bool wl_threads_at_once(const struct wl_thread *first, uint32_t count, size_t stride, uint64_t windows,
                        uint32_t *ret_most);

/* ---- writing ------------------------------------------------------------------------------- */

struct wl_writer;

struct wl_writer_options {
    uint32_t window_ops; /* 1 .. WL_WINDOW_OPS_MAX; 0: the default, 8192 */
    int zstd_level;      /* 0: the default, 1 */
    uint64_t pause_ns;   /* of ops so far apart the times are noted; 0: those of wl_writer_note_time alone */
    /* The sites that numbers of wl_writer_site name. Borrowed until the writer is gone. NULL: no op has a site. */
    const struct fp_sites *sites;
    const char *program; /* name of the file that is the module without a path; NULL: not known */
    bool in_place;       /* no thread of the writer's own. The bytes written are the same */
    int descriptor; /* above 0: write there, sequentially; never closed, and path only names it in errors */
};

/* wl_writer_create - begin a workload in a temporary file beside path; wl_writer_finish renames
 * it, so that no half file ever stands under the final name.
 * path       "-" writes to standard output.
 * overwrite  false: FP_ERR_EXISTS when path exists.
 * meta       borrowed for the call.
 * ret_writer the caller owns it; end it with wl_writer_finish or wl_writer_abandon.
 * Returns    FP_OK; FP_ERR_EXISTS, FP_ERR_OPEN, FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_writer_create(const char *path, bool overwrite, const struct wl_writer_options *options,
                                const struct fp_meta *meta, size_t meta_count, struct fp_error *ret_error,
                                struct wl_writer **ret_writer);

/* wl_writer_thread - announce the next thread; threads are numbered from 0 in this order.
 * Returns   FP_OK; FP_ERR_LIMIT, FP_ERR_MEMORY. */
enum fp_status wl_writer_thread(struct wl_writer *writer, uint32_t thread_id, bool is_main,
                                uint32_t *ret_thread);

/* wl_writer_thread_exit - note that the thread's exit was recorded. */
void wl_writer_thread_exit(struct wl_writer *writer, uint32_t thread);

/* The three kinds of ops, in the one order of all threads. time_ns: recorded time, 0 when unknown; what
 * decreases is raised to the last. shape.call decides the kind; FP_ERR_ARGUMENT where it is another.
 *
 * wl_writer_allocate  ret_id receives the id of the new object. A realloc of NULL goes here.
 * wl_writer_resize    id names the object before and after; old_bytes: requested before.
 * wl_writer_release   id as given out, or 0 for NULL; bytes: what had been requested.
 * Alignments that are no power of two are raised to the next; products of count and size that do not
 * fit struct wl_op are stored as count 1. Sizes at or above 2^48 are refused with FP_ERR_LIMIT.
 * Return    FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_LIMIT, FP_ERR_ARGUMENT. */
enum fp_status wl_writer_allocate(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                  uint64_t time_ns, uint32_t *ret_id);
enum fp_status wl_writer_resize(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                uint64_t time_ns, uint32_t id, uint64_t old_bytes);
enum fp_status wl_writer_release(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                 uint64_t time_ns, uint32_t id, uint64_t bytes);
const struct fp_error *wl_writer_error(const struct wl_writer *writer);

/* wl_writer_touched - the share of a live object's bytes that was in memory since its allocation or last resize; the whole
 * is what readers take for granted. Told twice, the larger one counts. Ignored for an object of
 * which nothing was heard for 2^31 ops, and beyond WL_TOUCHED_MAX shares.
 * Returns   FP_OK; FP_ERR_MEMORY; FP_ERR_ARGUMENT: not a live object, or more than the whole. */
enum fp_status wl_writer_touched(struct wl_writer *writer, uint32_t id, uint32_t share);

/* wl_writer_touched_as - unless its own share is told, an object has that of the object of its kin that was allocated or
 * resized last before it and has one; else of the first one; else `otherwise`. Call it when the object has got its size.
 * kin        below WL_KINS; the caller's, for objects that are used alike.
 * otherwise  at most FP_SHARE_WHOLE.
 * Ignored where wl_writer_touched is, and beyond half as many.
 * Returns    as wl_writer_touched. */
enum fp_status wl_writer_touched_as(struct wl_writer *writer, uint32_t id, uint32_t kin, uint32_t otherwise);
#define WL_KINS 128u

/* wl_writer_site - the op that comes next, an allocation or a resize, is of that site; of 0 if this is not called. */
void wl_writer_site(struct wl_writer *writer, uint32_t site);

/* wl_writer_note_time - the time of the op that comes next is to be noted. */
void wl_writer_note_time(struct wl_writer *writer);

/* wl_writer_cut - end the window here, if it holds any op: what comes next begins another.
 * Returns   FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_writer_cut(struct wl_writer *writer);

/* wl_writer_note - a further meta entry, for what is known at the conversion's end only (counts of
 * irregularities). Copied; written by wl_writer_finish before the summary, in the order of the calls, and
 * found by wl_reader_meta and in wl_reader_info.meta after the entries given to wl_writer_create.
 * Returns    FP_OK; FP_ERR_MEMORY, FP_ERR_LIMIT (too many or too long), FP_ERR_ARGUMENT (a newline or '='). */
enum fp_status wl_writer_note(struct wl_writer *writer, const char *key, const char *value);

/* wl_writer_finish - write the last window and the summary, sync, rename, free the writer.
 * end_ns       recorded time of the end.
 * ret_summary  may be NULL; its threads pointer is NULL.
 * ret_bytes    size of the file, may be NULL.
 * Returns      FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY (nothing stands under the final name). */
enum fp_status wl_writer_finish(struct wl_writer *writer, uint64_t end_ns, struct wl_summary *ret_summary,
                                uint64_t *ret_bytes, struct fp_error *ret_error);

/* wl_writer_abandon - remove what is unfinished and free; NULL is accepted. */
void wl_writer_abandon(struct wl_writer *writer);

/* ---- reading ------------------------------------------------------------------------------- */

struct wl_reader;

/* wl_reader_open - open a workload and read its summary.
 * The file is mapped read-only (it must not shrink while open). All memory that wl_reader_next will ever
 * need is mapped and touched here, by mmap and never by malloc, because replay links the allocator under test.
 * Returns   FP_OK; FP_ERR_OPEN, FP_ERR_READ, FP_ERR_FOREIGN, FP_ERR_VERSION, FP_ERR_TRUNCATED (no
 *           summary: the conversion did not finish), FP_ERR_CORRUPT, FP_ERR_CHECKSUM, FP_ERR_MEMORY. */
enum fp_status wl_reader_open(const char *path, struct fp_error *ret_error, struct wl_reader **ret_reader);

/* wl_reader_open_sites - likewise; its windows tell their ops' sites, which takes 4 bytes more for each op of two windows. */
enum fp_status wl_reader_open_sites(const char *path, struct fp_error *ret_error,
                                    struct wl_reader **ret_reader);

/* Facts of an open workload. Pointers are the reader's, valid until it is closed. */
struct wl_reader_info {
    struct wl_summary summary;
    const void *file; /* as it is mapped */
    size_t file_bytes;
    /* XXH64 of the windows as stored: two files with one digest hold the same ops. Made at open from the windows' checksums. Not the
     * digest of executed ops that a run prints. */
    uint64_t digest;
    /* 1 + the highest number of a site, at least FP_SITE_FIRST; 0: the workload has no sites. However it was opened. */
    uint32_t site_end;
    const struct fp_meta *meta;
    size_t meta_count, meta_first;    /* of the entries, those given to wl_writer_create; notes follow */
    const struct wl_touched *touched; /* all shares, by rising op */
    size_t touched_count;
    /* The block of the window that wl_reader_next handed out, or refused, last: where it begins in the file; after FP_ERR_CORRUPT
     * the index, and 1, of the op in it that cannot be, 0: it is about none. */
    size_t window_at;
    uint32_t refused;
};
const struct wl_reader_info *wl_reader_info(const struct wl_reader *reader);

/* wl_reader_stacks - the stacks and modules of the sites. Takes malloc: not for a replay.
 * ret_stacks  node_end is site_end. Paths of modules are names of files without a directory. End it with
 *             fp_stacks_release, which accepts zeroes.
 * Returns     FP_OK (none where the workload has no sites); FP_ERR_CORRUPT, FP_ERR_CHECKSUM, FP_ERR_MEMORY with wl_reader_error. */
enum fp_status wl_reader_stacks(struct wl_reader *reader, struct fp_stacks *ret_stacks);

const struct wl_summary *wl_reader_summary(const struct wl_reader *reader);
const char *wl_reader_meta(const struct wl_reader *reader, const char *key);

/* wl_reader_meta_number - the same as a number, any that the file says; 0: it is not there. */
uint64_t wl_reader_meta_number(const struct wl_reader *reader, const char *key);

/* wl_reader_check - hold every window, part of call stacks and shares as stored against its checksum, decoding nothing; reads the
 * whole file once. FP_OK, or FP_ERR_CHECKSUM or FP_ERR_CORRUPT with wl_reader_error. */
enum fp_status wl_reader_check(struct wl_reader *reader);

/* A decoded window. Pointers are the reader's, valid until the call of wl_reader_next after the next: a replay decodes
 * one window while it executes the one before. */
struct wl_window {
    struct wl_facts facts;
    uint32_t op_count;
    uint32_t run_count;
    uint32_t wait_count;
    uint32_t time_count;         /* (op_count + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE */
    const struct wl_op *ops;     /* in the one order of all threads */
    const struct wl_run *runs;   /* their op_counts add up to op_count */
    const struct wl_wait *waits; /* by rising op */
    const uint64_t *times_ns;    /* recorded time of ops 0, 16, 32, ... */
    uint32_t noted_count;
    /* The notes in rising order of ops. The last op is among them, if it has no other time. */
    const struct wl_noted *noted;
    uint32_t touched_count;
    const struct wl_touched *touched; /* of this window's ops */
    /* The site of each op that gave the object its size; 0 for other ops. Below site_end. NULL: the workload has none, or
     * was opened by wl_reader_open. */
    const uint32_t *sites;
};

/* wl_reader_next - decode the next window, checking every bound: ids within summary.id_max and live or
 * dead as the op needs, threads within thread_count, waits pointing back, totals within the summary.
 * Returns   FP_OK; FP_END after the last window; FP_ERR_CHECKSUM, FP_ERR_CORRUPT with
 *           wl_reader_error() filled. */
enum fp_status wl_reader_next(struct wl_reader *reader, struct wl_window *ret_window);

/* wl_window_time - the recorded time of an op of a window, by index: noted or between two that are; in ns. */
uint64_t wl_window_time(const struct wl_window *window, uint32_t op);

/* wl_reader_highest_live - the highest live bytes at the end of a window, by the facts alone: nothing is decoded, and no window
 * handed out is disturbed. A window that cannot be read ends the search: wl_reader_next says why. */
uint64_t wl_reader_highest_live(struct wl_reader *reader);

/* wl_reader_rewind - make the next call of wl_reader_next return the first window again. */
void wl_reader_rewind(struct wl_reader *reader);
const struct fp_error *wl_reader_error(const struct wl_reader *reader);
void wl_reader_close(struct wl_reader *reader);

#endif
