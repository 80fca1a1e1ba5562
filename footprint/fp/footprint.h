/* footprint.h - read and write footprints (.fp): one process image, as its shim saw it.
 *
 * A footprint is a header, blocks, and a trailer (docs/format.md). A block holds consecutive marks
 * of one lane; blocks of different lanes come in any order, blocks of one lane in theirs.
 * Every block stands by itself: it can be checked and decoded without any other.
 *
 *   lane    one thread's stream of marks, numbered from 0 in order of first appearance;
 *           lane 0 is not necessarily the main thread (see fp_lane.is_main)
 *   mark    one event, or one half of a realloc, or a fork, a thread's exit, a gap
 *   epoch   the order word: a mark with a lower epoch never has to follow one with a higher
 *   time    nanoseconds since recording began (CLOCK_MONOTONIC), known at stamps only
 *
 * One thread at a time per reader or writer. Nothing here prints. */
#ifndef MALLAB_FOOTPRINT_FP_FOOTPRINT_H
#define MALLAB_FOOTPRINT_FP_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/call.h"
#include "footprint/base/meta.h"
#include "footprint/base/status.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/usage.h"

#define FP_VERSION         1u /* bump when a reader of the former version would misread; docs/format.md */
#define FP_BLOCK_MARKS_MAX 65536u
#define FP_LANES_MAX       1048576u

/* before: so many marks ago the block named the same address; 0: the file does not tell, whether it did or not. */
struct fp_mark {
    uint64_t address; /* of the object: result of an allocation, argument of a release; 0 is NULL */
    uint16_t shape;   /* index into fp_block.shapes */
    uint16_t before;
    uint32_t epoch; /* less fp_block.base_epoch */
};

struct fp_stamp {
    uint32_t mark; /* the stamp was taken before this mark of the block (may equal mark_count) */
    uint64_t time_ns;
};

/* A decoded block. Arrays belong to whoever filled the struct. */
struct fp_block {
    uint32_t lane;
    uint64_t sequence;    /* 0, 1, 2 ... within the lane; a jump means lost blocks */
    uint64_t base_epoch;  /* epochs of the marks are not below it and less than 2^32 above */
    uint32_t mark_count;  /* 1 .. FP_BLOCK_MARKS_MAX */
    uint32_t shape_count; /* 1 .. mark_count */
    uint32_t stamp_count; /* 0 .. mark_count + 1; marks and times do not decrease */
    const struct fp_mark *marks;
    const struct fp_shape *shapes;
    const struct fp_stamp *stamps;
    /* The site of each mark: fp_sites.h. NULL: the block tells none. */
    const uint32_t *sites;
};

struct fp_lane {
    uint32_t thread_id; /* the kernel's */
    bool is_main;       /* thread_id equals the process id */
    uint64_t marks;     /* marks stored */
};

/* Written last; its absence says that the writer did not finish. */
struct fp_trailer {
    uint64_t end_time_ns;
    uint64_t lost[FP_LOSS_COUNT];
    uint32_t lane_count;
    const struct fp_lane *lanes;
    bool ran_on; /* the process went on when recording ended */
    /* The collector was killed. If the process went on, nobody counted the calls lost then. */
    bool uncounted;
};

/* ---- writing ------------------------------------------------------------------------------- */

struct fp_writer;

struct fp_writer_options {
    uint32_t process_id;
    uint64_t start_unix_ns;    /* wall clock at time 0 */
    int zstd_level;            /* 0: the default, 1 */
    uint64_t size_limit_bytes; /* 0: none. A block that would pass it is refused with FP_ERR_LIMIT */
};

/* fp_writer_create - create a footprint exclusively, mode 0600, never through a symbolic link.
 * directory_fd  AT_FDCWD or an open directory that path is relative to; not kept.
 * meta          borrowed for the call, meta_count entries, may be NULL when 0.
 * ret_error     filled unless FP_OK; may be NULL.
 * ret_writer    the caller owns it; end it with fp_writer_finish or fp_writer_abandon.
 * Returns       FP_OK; FP_ERR_EXISTS, FP_ERR_OPEN, FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status fp_writer_create(int directory_fd, const char *path, const struct fp_writer_options *options,
                                const struct fp_meta *meta, size_t meta_count, struct fp_error *ret_error,
                                struct fp_writer **ret_writer);

/* fp_writer_resume - go on with a footprint that has no trailer.
 * options      process_id and start_unix_ns are the file's own and not looked at.
 * whole_bytes  where its last whole block ends: what stands behind is cut off. A reader tells it, in
 *              tail_error.offset.
 * Returns      FP_OK; FP_ERR_OPEN, FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status fp_writer_resume(int directory_fd, const char *path, const struct fp_writer_options *options,
                                uint64_t whole_bytes, struct fp_error *ret_error,
                                struct fp_writer **ret_writer);

/* Blocks are appended by fp_writer_columns (columns.h). fp_writer_bytes: written so far, whole blocks. */
uint64_t fp_writer_bytes(const struct fp_writer *writer);
const struct fp_error *fp_writer_error(const struct fp_writer *writer);

/* fp_writer_usage - append what the process used as a whole; of several the last one counts. Not held against the limit of size.
 * Returns   FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_ARGUMENT (a text that the file cannot hold): the file is as before. */
enum fp_status fp_writer_usage(struct fp_writer *writer, const struct fp_usage *usage);

/* fp_writer_finish - append the trailer, close, and free the writer, whatever the result.
 * Returns   FP_OK; FP_ERR_WRITE (the file is valid but has no trailer). */
enum fp_status fp_writer_finish(struct fp_writer *writer, const struct fp_trailer *trailer,
                                struct fp_error *ret_error);

/* fp_writer_abandon - close without a trailer and free; NULL is accepted. */
void fp_writer_abandon(struct fp_writer *writer);

/* ---- reading ------------------------------------------------------------------------------- */

struct fp_reader;

/* The place of a block, known from a scan of the block headers, without decoding. */
struct fp_block_entry {
    uint64_t offset;
    uint32_t lane;
    uint32_t mark_count;
    uint64_t sequence;
    uint64_t base_epoch;
    bool continues; /* its sites are told by what the block before it had, which is the same lane's */
};

struct fp_reader_info {
    uint32_t version;
    uint32_t process_id;
    uint64_t start_unix_ns;
    uint64_t file_bytes;
    uint64_t mark_count; /* of all blocks */
    uint32_t lane_count; /* highest lane seen + 1 */
    size_t block_count;
    const struct fp_block_entry *blocks; /* in file order */
    size_t meta_count;
    const struct fp_meta *meta;
    const struct fp_usage *usage; /* NULL: the file does not tell */
    const struct fp_sites *sites; /* NULL: likewise */
    bool has_trailer;             /* false: the file is cut short, see tail_error */
    struct fp_trailer trailer;    /* zeroes without one */
    struct fp_error tail_error;   /* why the scan stopped before a trailer: FP_ERR_TRUNCATED or
                                   worse; blocks before that offset are usable */
};

/* fp_reader_open - open a footprint, through the door (trusted.h), and scan its block headers.
 * fp_reader_open_at: of a directory, by its descriptor.
 * Returns   FP_OK, also for a file that is cut short after its header (info.has_trailer is false);
 *           FP_ERR_OPEN, FP_ERR_READ, FP_ERR_FOREIGN, FP_ERR_VERSION, FP_ERR_TRUNCATED (inside its
 *           header), FP_ERR_CORRUPT, FP_ERR_CHECKSUM (header), FP_ERR_MEMORY, FP_ERR_UNTRUSTED, with ret_error filled;
 *           of FP_ERR_FOREIGN and FP_ERR_TRUNCATED ret_error->no_header tells a file that may get its header yet. */
enum fp_status fp_reader_open(const char *path, struct fp_error *ret_error, struct fp_reader **ret_reader);
enum fp_status fp_reader_open_at(int directory_fd, const char *path, struct fp_error *ret_error,
                                 struct fp_reader **ret_reader);

/* fp_reader_info - facts of the file; valid until fp_reader_close. */
const struct fp_reader_info *fp_reader_info(const struct fp_reader *reader);

/* fp_reader_meta - the value of a key, NULL when absent. Valid until fp_reader_close. */
const char *fp_reader_meta(const struct fp_reader *reader, const char *key);

/* fp_reader_meta_number - the value of a key as a number, 0 when absent. */
uint64_t fp_reader_meta_number(const struct fp_reader *reader, const char *key);

/* Storage for one decoded block, reused from block to block. Zero-initialise before first use. */
struct fp_block_buffer {
    struct fp_mark *marks;
    struct fp_shape *shapes;
    struct fp_stamp *stamps;
    uint32_t *sites;
    size_t marks_capacity, shapes_capacity, stamps_capacity, sites_capacity;
};

/* fp_reader_block - read, check and decode block number `index` of info.blocks.
 * buffer     receives the arrays; grown as needed, bounded by FP_BLOCK_MARKS_MAX.
 * ret_block  points into buffer; valid until buffer is used again or released.
 * Returns    FP_OK; FP_ERR_READ, FP_ERR_CHECKSUM, FP_ERR_CORRUPT, FP_ERR_MEMORY with
 *            fp_reader_error() filled: its offset is the block's or, within it, the column's. */
enum fp_status fp_reader_block(struct fp_reader *reader, size_t index, struct fp_block_buffer *buffer,
                               struct fp_block *ret_block);
const struct fp_error *fp_reader_error(const struct fp_reader *reader);
void fp_block_buffer_release(struct fp_block_buffer *buffer);

/* fp_reader_close - close and free; NULL is accepted. */
void fp_reader_close(struct fp_reader *reader);

#endif
