/* places.h - where the other programs of mallab are, and their libraries and candidates: beside this program in the build tree, or
 * installed. */
#ifndef MALLAB_FOOTPRINT_BASE_PLACES_H
#define MALLAB_FOOTPRINT_BASE_PLACES_H

/* res_program_directories - where the sibling programs may be, NULL-terminated, valid to the end. */
const char *const *res_program_directories(void);

/* res_own_program / res_own_library - "mallab-collect", "libmallab.so". The caller's to free; NULL: not there. */
char *res_own_program(const char *name);
char *res_own_library(const char *name);

/* res_allocators_directory - where the candidates' INI files are. The caller's to free; never NULL. */
char *res_allocators_directory(void);

#endif
