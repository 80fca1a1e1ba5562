/* library_build.h - which build of a library it was: two files may have one name and version, and not be the same.
 *
 *   id      the build id that the linker wrote into the file (an ELF note), in hexadecimal
 *   digest  XXH3, 128 bits, of the whole file, as xxh128sum(1) prints it
 *
 * The file may be anybody's: it is read once, within bounds, and no size in it is trusted. */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_BUILD_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_LIBRARY_BUILD_H

#include <stdbool.h>
#include <stddef.h>

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
