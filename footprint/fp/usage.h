/* usage.h - usage of a process image as a whole: processor time, page faults, memory; the allocator and the machine that it ran on; the
 * causes of loss.
 *
 * Figures are the image's: what the process had used before an exec is not in them. Memory is without the shared pages of
 * the recorder that the process had mapped (recorder_bytes). The block of a footprint that has it: docs/format.md, "Usage
 * block". */
#ifndef MALLAB_FOOTPRINT_FP_USAGE_H
#define MALLAB_FOOTPRINT_FP_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/meta.h"
#include "footprint/base/status.h"

#define FP_USAGE_UNKNOWN    UINT64_MAX /* a number that nobody could tell */
#define FP_USAGE_POINTS_MAX 256u
#define FP_USAGE_LONG_NS    UINT64_C(600000000000) /* of less nobody can tell how memory grows */

/* The causes of missing calls. Stored by number: append only. */
enum fp_loss {
    FP_LOSS_RING_FULL = 0,  /* the collector could not keep up, or was gone */
    FP_LOSS_REENTRANT = 1,  /* a signal handler called while a record was stored, or left a call by a jump */
    FP_LOSS_DISK_FULL = 2,  /* the file system, a quota or RLIMIT_FSIZE refused */
    FP_LOSS_SIZE_LIMIT = 3, /* --max-size was reached */
    FP_LOSS_BEFORE_START = 4, /* calls before the shim could attach */
    FP_LOSS_COLLECTOR = 5, /* the collector ended before it had written everything, or had no memory for it */
    FP_LOSS_CONFINED = 6,  /* a sandboxed thread for which the recorder would have had to ask the kernel */
    FP_LOSS_SPOILED = 7,   /* a recorded process wrote over what the recorder keeps in memory */
    FP_LOSS_COUNT = 8,
};

/* fp_loss_name - "ring_full", ...: keys of JSON output. NULL outside the enum. */
const char *fp_loss_name(unsigned loss);

/* fp_loss_sum - calls lost of all FP_LOSS_COUNT causes; UINT64_MAX where they are more, as a file may say: never 0 by wrapping. */
uint64_t fp_loss_sum(const uint64_t *lost);

/* fp_loss_add - to each cause of sum that of lost, likewise. */
void fp_loss_add(uint64_t *sum, const uint64_t *lost);

/* The ends of an image. Names are stored. */
enum fp_ended {
    FP_ENDED_UNKNOWN = 0, /* it is gone, and nobody could tell how */
    FP_ENDED_EXIT,        /* `code` is its exit status */
    FP_ENDED_SIGNAL,      /* `code` is the signal's number */
    FP_ENDED_EXEC,        /* another program took its place */
    FP_ENDED_RUNNING,     /* it went on when recording ended */
    FP_ENDED_COUNT,
};

/* The origins of the allocator under the program. Names are stored. */
enum fp_runs_on {
    FP_RUNS_ON_UNKNOWN = 0,
    FP_RUNS_ON_LIBC,
    FP_RUNS_ON_LINKED,    /* a library of the program's, or the program itself */
    FP_RUNS_ON_PRELOADED, /* $LD_PRELOAD or /etc/ld.so.preload names it */
    FP_RUNS_ON_DEEPBIND,  /* libc's, which libraries call past whatever is preloaded (RTLD_DEEPBIND) */
    FP_RUNS_ON_COUNT,
};

/* fp_ended_name - "exit", "signal", "exec", "running", "unknown". fp_runs_on_name - "libc", "linked", "preloaded", "deepbind", "unknown".
 * Static; NULL outside the enum. */
const char *fp_ended_name(enum fp_ended ended);
const char *fp_runs_on_name(enum fp_runs_on how);

/* One look at a process that runs. */
struct fp_usage_point {
    uint64_t time_ns; /* since recording began */
    uint64_t rss_bytes, rss_anon_bytes;
    uint64_t cpu_ns; /* user and system, since the image began */
};

#define FP_PROCESSORS_MAX 8192u /* the most that Linux can be built for */

/* Properties of the machine by which an allocator may size itself, or behave. */
struct fp_machine {
    uint64_t processors;             /* online; 1 to FP_PROCESSORS_MAX, as the next two */
    uint64_t affinity, affinity_end; /* that the process might use, at the first and at the last look */
    uint64_t quota_milli; /* thousandths of a processor for its group; not known: as many as it likes */
    uint64_t page_bytes, memory_bytes;
    uint64_t huge_pages; /* transparent ones: 0 on no memory, 1 where asked for, 2 on all */
    uint64_t overcommit; /* vm.overcommit_memory */
    char kernel[65];     /* its release; "": not known */
};

/* Numbers are FP_USAGE_UNKNOWN where they are not known, at most INT64_MAX else. */
struct fp_usage {
    uint64_t begin_ns, end_ns; /* of the image, since recording began */
    uint64_t cpu_user_ns, cpu_system_ns;
    uint64_t faults_minor, faults_major;
    uint64_t cpu_age_ns;     /* so long before its end were the four above looked at; 0: they are final */
    uint64_t rss_peak_bytes; /* VmHWM, which no look can miss */
    /* The most that was seen; or what the peak was above the most that looks saw of files and shared memory: too much where a
     * file was mapped between two looks. */
    uint64_t rss_anon_peak_bytes;
    uint64_t rss_end_bytes, rss_anon_end_bytes;
    uint64_t recorder_bytes; /* shared with the recorder, and left out of rss_peak_bytes and rss_end_bytes */
    uint64_t memory_age_ns;  /* so long before its end were the five above looked at; 0: they are final */
    uint64_t code;           /* exit status, or number of the signal */
    uint64_t cxx_library;    /* 1: it began with libstdc++, and its allocator is libc's */
    enum fp_ended ended;
    enum fp_runs_on runs_on;
    char allocator[32]; /* "glibc", "jemalloc", ...: the name of a candidate where it is one; "": not known */
    char version[64];   /* as the allocator tells it; "": it does not */
    char library[256];  /* path of what defines malloc; "" where that is the program itself, or not known */
    struct fp_machine machine;
    uint32_t point_count;
    struct fp_usage_point *points; /* by time; the struct's, on the heap; NULL without any */
};

/* fp_usage_init - nothing is known.
 * fp_usage_release - free the points. */
void fp_usage_init(struct fp_usage *usage);
void fp_usage_release(struct fp_usage *usage);

/* The numbers by name, for whoever stores or shows them all. */
struct fp_usage_number {
    const char *key;
    size_t offset; /* in struct fp_usage */
    uint64_t least, most;
    /* The way to one number for several processes. */
    enum { FP_OF_ONE, FP_LEAST, FP_SUM, FP_MOST, FP_OF_MACHINE } together;
};

extern const struct fp_usage_number FP_USAGE_NUMBERS[];
extern const size_t FP_USAGE_NUMBER_COUNT;

static inline uint64_t *fp_usage_at(struct fp_usage *usage, const struct fp_usage_number *number)
{
    return (uint64_t *)(void *)((char *)usage + number->offset);
}

/* fp_usage_put - set a number, unless it cannot be one of these: then it stays unknown. */
void fp_usage_put(struct fp_usage *usage, const struct fp_usage_number *number, uint64_t value);

/* fp_huge_pages_name - "never", "madvise", "always", as the kernel has it. Static; NULL for other numbers. */
const char *fp_huge_pages_name(uint64_t huge_pages);

/* fp_usage_ran_ns - how long the image ran; FP_USAGE_UNKNOWN where begin or end is. */
uint64_t fp_usage_ran_ns(const struct fp_usage *usage);

/* fp_usage_cpu_ns - user and system together; FP_USAGE_UNKNOWN where either is. */
uint64_t fp_usage_cpu_ns(const struct fp_usage *usage);

/* fp_usage_tell - all that is known as texts by key, of which fp_usage_take makes it again; but for the points. Words are borrowed
 * from the usage. */
#define FP_USAGE_TEXTS_MAX 32u /* the numbers and six words */
struct fp_usage_texts {
    struct fp_meta items[FP_USAGE_TEXTS_MAX];
    char digits[FP_USAGE_TEXTS_MAX][24];
    size_t count;
};
void fp_usage_tell(const struct fp_usage *usage, struct fp_usage_texts *ret_texts);

/* fp_usage_take - set what a key of text says; a key or a word that is not known here is passed over, as are numbers that
 * cannot be.
 * Returns  false for a number that is none. */
bool fp_usage_take(struct fp_usage *usage, const char *key, const char *value);

/* ---- a usage as the columns of a block, and back. Private to footprint/. docs/format.md, "Usage block". */

struct block_header;
struct bytes;
struct column;

enum usage_column { USAGE_TEXT = 0, USAGE_SERIES, USAGE_COLUMNS };

#define USAGE_NUMBERS_A_POINT   4u
#define USAGE_SERIES_BYTES_MAX  (FP_USAGE_POINTS_MAX * USAGE_NUMBERS_A_POINT * VARINT_BYTES_MAX)
#define USAGE_SCRATCH_BYTES_MAX (65536u + USAGE_SERIES_BYTES_MAX)

/* usage_encode - header and columns of a block.
 * text, series  receive the columns' bytes (replaced), which must outlive them.
 * ret_columns   USAGE_COLUMNS of them.
 * Returns       FP_OK, FP_ERR_MEMORY, FP_ERR_LIMIT. */
enum fp_status usage_encode(const struct fp_usage *usage, struct bytes *text, struct bytes *series,
                            struct block_header *ret_header, struct column *ret_columns);

/* usage_decode - check and read one; the text is changed in place.
 * ret_usage  set on FP_OK only; fp_usage_release ends it.
 * Returns    FP_OK; FP_ERR_CORRUPT with *ret_what; FP_ERR_MEMORY. */
enum fp_status usage_decode(const struct block_header *header, char *text, size_t text_size,
                            const struct column *series, struct fp_usage *ret_usage, const char **ret_what);

#endif
