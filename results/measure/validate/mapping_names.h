/* mapping_names.h - what of a process' resident memory is whose, by the names of its mappings: program, libraries, stack.
 *
 * A library that an allocator needs is in memory once, also where the program needs it too: libstdc++ and libm, of which
 * jemalloc and tcmalloc take 1 to 2 MB into a C program, are in every C++ program already.
 *
 *   resident   pages of a name in memory, written ones included, but what is the heap's (smaps.h). A name may have several
 *              mappings; .bss counts to its file
 *   brought    what a process holds under a candidate besides its heap and does not under the baseline. Of a name:
 *                the candidate's startup less the baseline's startup or the program's under the baseline, whichever of the
 *                two is more; and nothing where that is negative
 *                less the baseline's startup, of a file that the candidate's startup does not have at all: it is held to
 *                be the baseline's alone. What of it the program needs by itself is not known, and then this is too low
 */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_MAPPING_NAMES_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_MAPPING_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define RES_FILES_MAX 256u /* names of a process; of more, some are as if they were not there */

struct res_file {
    uint64_t name; /* a hash of it */
    uint64_t resident_bytes;
};

struct res_files {
    struct res_file all[RES_FILES_MAX];
    size_t count;
};

/* res_files_name - the number that stands for a name here. */
uint64_t res_files_name(const char *name);

/* res_files_add - so many bytes more of a name. */
void res_files_add(struct res_files *files, uint64_t name, uint64_t bytes);

/* res_files_raise - to the highest of both, each name by itself: from sample to sample. */
void res_files_raise(struct res_files *files, const struct res_files *sample);

/* res_files_brought - see `brought` above, in bytes; may be negative.
 * startup, base_startup  of a program that never calls malloc, under the candidate and under the baseline.
 * program                of the real program under the baseline. */
double res_files_brought(const struct res_files *startup, const struct res_files *base_startup,
                         const struct res_files *program);

#endif
