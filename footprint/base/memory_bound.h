/* memory_bound.h - the memory that this process lets a file ask for, and what was taken of that.
 *
 * What grows with the content of a file (live objects, ids, threads' stacks, decoded blocks) is counted here before it is
 * mapped or allocated; beyond the bound it is refused. The count is of these tables, not of the process: the same file gets
 * the same answer each time. One bound a process. No malloc.
 *
 *   bound   MALLAB_MAX_MEMORY of the environment, in bytes, which `--max-memory` sets: so it holds for the programs that
 *           are started, too. Else what the files are worth, FP_MEMORY_BASE_BYTES and FP_MEMORY_RATIO times their
 *           sizes, but no more than half of the least of: the machine's memory, the control group's limit, RLIMIT_AS and
 *           RLIMIT_DATA. */
#ifndef MALLAB_FOOTPRINT_BASE_MEMORY_BOUND_H
#define MALLAB_FOOTPRINT_BASE_MEMORY_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FP_MEMORY_VARIABLE "MALLAB_MAX_MEMORY"

/* A recording takes about a byte for an event, and a live object about 60 bytes of memory; a loop of one call packs to a
 * fiftieth of that. */
#define FP_MEMORY_BASE_BYTES (UINT64_C(1) << 30)
#define FP_MEMORY_RATIO      UINT64_C(2000)

/* fp_memory_bound - in bytes. */
uint64_t fp_memory_bound(void);

/* fp_memory_input - a file is read that has so many bytes; 0: nobody knows, as of a pipe. From the first one on the files'
 * sizes count; without any they do not. */
void fp_memory_input(uint64_t bytes);

/* fp_memory_reason - where it comes from, for a message: "as was asked", "half of what there is". Static. */
const char *fp_memory_reason(void);

/* fp_memory_forget_input - the files so far are done with: what is read next is bounded by its own size. */
void fp_memory_forget_input(void);

/* fp_memory_is_asked - whether somebody set it. */
bool fp_memory_is_asked(void);

/* fp_memory_take - count so many bytes that are about to be taken. False: that would be beyond the bound; nothing is counted,
 * and fp_memory_refused says so from then on.
 * fp_memory_give - they were given back. */
bool fp_memory_take(uint64_t bytes);
void fp_memory_give(uint64_t bytes);

/* fp_memory_held - what is counted at the moment: 0 where everything was given back. For tests. */
uint64_t fp_memory_held(void);

/* fp_memory_change - count something that grew or shrank: from so many bytes to so many. As fp_memory_take. */
bool fp_memory_change(uint64_t from_bytes, uint64_t to_bytes);

/* fp_memory_refused - whether something was refused since the last call of fp_memory_forget. */
bool fp_memory_refused(void);
void fp_memory_forget(void);

#endif
