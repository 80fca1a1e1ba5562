/* library.h - what a shared library is, without loading it into this process.
 *
 * The allocator is loaded by a child that is thrown away: an allocator's constructor may start threads, read the
 * environment, or replace what this process uses. */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_H

#include <stdbool.h>

/* Strings belong to the caller. */
struct res_library {
    char *path; /* the file, symbolic links resolved; NULL when it cannot be loaded, or has no malloc */
    char *
        version; /* what the library says of itself, else the digits behind ".so." of its file; may be NULL */
    char *problem; /* why not, the loader's words where they are */
};

/* res_library_probe - find a library as the loader would.
 * name         "libjemalloc.so.2" or a path.
 * ret_library  all three fields are set, unused ones to NULL.
 * Returns      true when it can be loaded and has a malloc of its own: another's would not be called before the C library's. Not for processes with threads: it forks and goes on in the child. */
bool res_library_probe(const char *name, struct res_library *ret_library);

/* res_is_c_library - whether the path is of the C library, libc.so.6 wherever that lies: a candidate with its malloc preloads nothing. */
bool res_is_c_library(const char *path);

/* The hidden first word of a program's command line by which res_library_probe starts the program again; its main
 * then returns res_library_answer(second word). A program without it only finds libraries that dlopen can load. */
#define RES_LIBRARY_PROBE "--probe-library"

/* res_library_answer - tell on stdout what the library of this name is that was preloaded. Returns an exit code. */
int res_library_answer(const char *name);

#endif
