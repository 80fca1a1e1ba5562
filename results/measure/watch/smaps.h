/* smaps.h - what of a process' anonymous memory is the heap's, from the text of /proc/PID/smaps.
 *
 *   anonymous   pages that no file backs any more, or ever did: what the kernel calls "Anonymous" of a mapping
 *   heap        anonymous pages of "[heap]", of mappings without a name, and of the allocator's own library with its .bss
 *   apart       all other anonymous pages: written pages of files (.data, relocated pointers), stacks of main threads, .bss
 *               (of a mapping without a name that begins where a writable one of a file ends, as many pages as its last loaded segment has in
 *               memory behind those of the file),
 *               and what the program itself maps where libmallab-apart.so is preloaded, which gives such mappings a
 *               name (shim/preload/apart.c)
 *
 * Stacks of other threads have no name and count as heap: some 8 to 100 KiB a thread that runs.
 * A library that an allocator needs is in memory once, also where the program needs it too: libstdc++ and libm, of which
 * jemalloc and tcmalloc take 1 to 2 MB into a C program, are in every C++ program already.
 *
 *   resident   pages of a name in memory, written ones included, but what is the heap's. A name may have several
 *              mappings; .bss counts to its file
 *   brought    what a process holds under a candidate besides its heap and does not under the baseline. Of a name:
 *                the candidate's startup less the baseline's startup or the program's under the baseline, whichever of the
 *                two is more; and nothing where that is negative
 *                less the baseline's startup, of a file that the candidate's startup does not have at all: it is held to
 *                be the baseline's alone. What of it the program needs by itself is not known, and then this is too low
 *                and where the candidate's startup has libunwind and the baseline's not, the tables: tcmalloc of gperftools
 *                walks the stack whenever its heap grows, and reads the unwinding tables (.eh_frame_hdr and .eh_frame) of the
 *                code it meets there. Which that is, is not known: taken are those of the file with most in memory, and of
 *                them as large a part as of the file
 *
 * Source: Linux, Documentation/filesystems/proc.rst, "/proc/PID/smaps". */
#ifndef MALLAB_RESULTS_MEASURE_WATCH_SMAPS_H
#define MALLAB_RESULTS_MEASURE_WATCH_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RES_FILES_MAX 256u /* names of a process; of more, some are as if they were not there */

struct res_file {
    uint64_t name; /* a hash of it */
    uint64_t resident_bytes;
    uint64_t written_bytes; /* of these, the process' own: no other has them */
    double tables_share;    /* of an ELF file, so much of it are unwinding tables; 0: none, or not known */
};

struct res_files {
    struct res_file all[RES_FILES_MAX];
    size_t count;
    bool walk_stacks; /* libunwind is among them */
};

/* res_files_name - the number that stands for a name here. */
uint64_t res_files_name(const char *name);

/* res_files_add - so many bytes more of a name, written ones among them. */
void res_files_add(struct res_files *files, uint64_t name, uint64_t bytes, uint64_t written_bytes);

/* res_files_keep_written - drop what processes that were forked have in common. */
void res_files_keep_written(struct res_files *files);

/* res_files_raise - to the highest of both, each name by itself: from sample to sample. */
void res_files_raise(struct res_files *files, const struct res_files *sample);

/* res_files_brought - see `brought` above, in bytes; may be negative.
 * startup, base_startup  of a program that never calls malloc, under the candidate and under the baseline.
 * program                of the real program under the baseline. */
double res_files_brought(const struct res_files *startup, const struct res_files *base_startup,
                         const struct res_files *program);

struct res_smaps {
    uint64_t heap_bytes;
    uint64_t apart_bytes;
    uint64_t own_bytes;     /* of these, what the program maps itself, as far as it is told */
    struct res_files files; /* all that is resident and not the heap's, by name */
};

/* res_smaps_parse - add up the mappings of a text, which may be cut at its end: then the last mapping may be missing. Of
 * mappings that overlap the one behind counts: the text comes in pieces, and what grew between two of them is in both.
 * What an ELF file said of itself is remembered: one thread only, and files that do not change meanwhile.
 * text       length bytes, not terminated. Lines that are not understood are passed over.
 * allocator  path of the allocator's library; NULL: none is counted so, as libc's, whose data are mostly not malloc's. */
struct res_smaps res_smaps_parse(const char *text, size_t length, const char *allocator);

#endif
