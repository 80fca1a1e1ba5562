/* candidates.h - which allocators can be compared: one INI file each (allocators/), or any library by its path.
 *
 *   [allocator]
 *   name = jemalloc            as in -a; letters, digits, . _ + -
 *   description = ...          one line
 *   replay = jemalloc          the binary mallab-replay-jemalloc, linked against it
 *   preload = LIBRARY          instead of replay: preloaded into mallab-replay-glibc
 *   library = libjemalloc.so.2 name or path of the library that must serve the calls; implied by preload
 *   proof = mallctl            which proof the run demands (replay's --proof); optional
 *   clock = yes                whether it follows the clock: then a run on the recorded clock (replay's --clock) in
 *                              which it never asks for the time has failed; yes or no [no]
 *   package = libjemalloc2     Debian's, named when the library is missing
 *   settings = unproven        let settings pass of which the allocator tells nothing; optional
 *   [environment]
 *   MALLOC_CONF = ...          settings of this candidate; LD_* is refused. The allocator must confirm them
 *   [expect]
 *   opt.narenas = 1            what it must confirm besides, by its own name
 *   [ranges]
 *   narenas = 1, 2, 4          values that a setting may be tried with
 *
 * The files may come from anybody: a wrong one is left out with a warning, the others stand.
 * Nothing here loads an allocator into the calling process (library.h does that in a child). */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATES_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/candidate/library.h"

#define RES_NAME_MAX        32u /* bytes of a candidate's name: a column of the table */
#define RES_INLINE_NAME_MAX 96u /* of one that is named by its settings (variables.h) */
#define RES_INI_BYTES_MAX   (64u * 1024u)
#define RES_INI_LINE_MAX    198u /* what inih as Debian builds it reads as one line (INI_MAX_LINE 200) */
#define RES_CANDIDATES_MAX  256u
#define RES_VARIABLES_MAX   64u

struct res_variable {
    char *name;
    char *value;
};

/* A candidate. Strings are its own; those that were not given are NULL. */
struct res_candidate {
    char *name;
    char *description;
    char *replay;  /* never NULL: the suffix of the replay binary */
    char *preload; /* library to preload, as given */
    char *library; /* NULL only for `none` */
    char *proof;
    char *clock; /* "yes" or "no" */
    char *package;
    char *settings; /* "unproven" or NULL */
    char *origin;   /* the INI file; NULL when given by path or built in */
    struct res_variable *environment;
    size_t variable_count;
    struct res_variable *expected;
    size_t expected_count;
    struct res_variable *ranges; /* names of settings, and values with commas between */
    size_t range_count;

    /* Set by res_candidate_resolve. */
    bool resolved, found;
    char *path; /* real path of the library */
    char *version;
    struct res_build build;
    char *program; /* the replay binary */
    char *missing; /* one line: what is missing and what to do; NULL when found */
};

/* res_candidate_follows_clock - whether it is known to. */
bool res_candidate_follows_clock(const struct res_candidate *candidate);

/* All that is known. Zero-initialise before use. */
struct res_registry {
    struct res_candidate **candidates; /* by name; each stays where it is until the release */
    size_t candidate_count;
    char **warnings; /* one line for each file that was left out */
    size_t warning_count;
};

/* res_registry_load - read every *.ini of a directory.
 * ret_problem  set to one line (the caller's to free) when the directory cannot be read.
 * Returns      false then; true also when single files were left out (registry->warnings). */
bool res_registry_load(struct res_registry *registry, const char *directory, char **ret_problem);

/* res_registry_parse - add one candidate from the text of an INI file, length bytes, not terminated.
 * origin   its name, for messages; kept as a copy.
 * Returns  true when it was added; otherwise a warning was. */
bool res_registry_parse(struct res_registry *registry, const char *origin, const char *text, size_t length);

/* res_registry_find - by name; NULL when unknown. Valid until res_registry_release, as are those below. */
struct res_candidate *res_registry_find(const struct res_registry *registry, const char *name);

/* res_registry_linked - the candidate without settings that a program is linked with; NULL: it is the C library's, or none that is known. */
struct res_candidate *res_registry_linked(const struct res_registry *registry, const char *program);

/* res_registry_add_path - make a candidate of a library given by its path; its name is the file's, cut at ".so".
 * Returns  the candidate, the one made before for the same path; NULL with ret_problem set when its name is taken. */
struct res_candidate *res_registry_add_path(struct res_registry *registry, const char *path,
                                            char **ret_problem);

/* res_registry_copy - a candidate with what another has, but its name, ranges, origin and description (NULL).
 * Returns  NULL with ret_problem set when there are too many. */
struct res_candidate *res_registry_copy(struct res_registry *registry, const struct res_candidate *base,
                                        const char *name, char **ret_problem);

/* res_registry_add_none - add the built-in `none`: the replay that calls no allocator. */
struct res_candidate *res_registry_add_none(struct res_registry *registry);

void res_registry_release(struct res_registry *registry);

/* res_candidate_resolve - find its replay binary and its library, once.
 * program_directories  where the replay binaries may be; NULL-terminated.
 * Returns  candidate->found. */
bool res_candidate_resolve(struct res_candidate *candidate, const char *const *program_directories);

#endif
