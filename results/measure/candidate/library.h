/* library.h - what a shared library is, without loading it into this process.
 *
 * The allocator is loaded by a child that is thrown away: an allocator's constructor may start threads, read the
 * environment, or replace what this process uses. */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

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

/* res_program_needs - whether a program is linked with a library: its own headers name that; what libraries need in turn is not looked at.
 * library  a name or path, of which the last part counts. */
bool res_program_needs(const char *path, const char *library);

/* The hidden first word of a program's command line by which res_library_probe starts the program again; its main
 * then returns res_library_answer(second word). A program without it only finds libraries that dlopen can load. */
#define RES_LIBRARY_PROBE "--probe-library"

/* res_library_answer - tell on stdout what the library of this name is that was preloaded. Returns an exit code. */
int res_library_answer(const char *name);

/* ---- library_build.c: which build of a library it was: two files may have one name and version, and not be the same.
 *
 *   id      the build id that the linker wrote into the file (an ELF note), in hexadecimal
 *   digest  XXH3, 128 bits, of the whole file, as xxh128sum(1) prints it
 *
 * The file may be anybody's: it is read once, within bounds, and no size in it is trusted. */

/* Strings are its own; NULL: not known. */
struct res_build {
    char *id, *digest;
};

/* res_build_of - of a file. What it has no id, or cannot be read of, is NULL. Release with res_build_release.
 * res_build_id - the id in an ELF file of this machine's class, length bytes; NULL: it has none. The caller's to free. */
struct res_build res_build_of(const char *path);
char *res_build_id(const unsigned char *file, size_t length);

/* res_build_copy - both texts made plain. */
struct res_build res_build_copy(const struct res_build *build);
void res_build_release(struct res_build *build);

/* res_builds_differ - whether both are known, and not the same. */
bool res_builds_differ(const struct res_build *one, const struct res_build *other);

/* res_build_change - "libfoo.so.2 1.2: another build (id 12ab -> 34cd)"; NULL where they are not known to differ. library: its
 * path or name. version: NULL: not known. The caller's to free. */
char *res_build_change(const char *library, const char *version, const struct res_build *then,
                       const struct res_build *now);

#endif
