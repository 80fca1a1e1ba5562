/* candidates.h - the allocators that can be compared: one INI file each (allocators/), or any library by its path.
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
 * Nothing here loads an allocator into the calling process (candidates.h does that in a child). */
#ifndef MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATES_H
#define MALLAB_RESULTS_MEASURE_CANDIDATE_CANDIDATES_H

#include "results/measure/base/fields.h"

/* ---- library.c: what a shared library is, without loading it into this process.
 * The allocator is loaded by a child that is thrown away: an allocator's constructor may start threads, read the
 * environment, or replace what this process uses. */

/* Strings belong to the caller. */
struct res_library {
    char *path;    /* the file, symbolic links resolved; NULL when it cannot be loaded, or has no malloc */
    char *version; /* what the library says of itself, else the digits behind ".so."; may be NULL */
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

/* ---- library.c: which build of a library it was: two files may have one name and version, and not be the same.
 * The file may be anybody's: it is read once, within bounds. */

struct res_build {
    char *digest; /* XXH3, 128 bits, of the whole file, as xxh128sum(1) prints it; its own. NULL: not known */
};

/* res_build_of - the build of a file; not known where that cannot be read. */
struct res_build res_build_of(const char *path);

/* res_builds_differ - whether both are known, and not the same. */
bool res_builds_differ(const struct res_build *one, const struct res_build *other);

/* res_build_change - "libfoo.so.2 1.2: another build (digest 12ab -> 34cd)"; NULL where they are not known to differ. library: its
 * path or name. version: NULL: not known. The caller's to free. */
char *res_build_change(const char *library, const char *version, const struct res_build *then,
                       const struct res_build *now);

struct res_candidate; /* these stand below */
struct res_registry;

/* ---- variables.c: a candidate's settings: as variables of its environment, or by the allocator's own names for them.
 *   setting    `narenas`, `arena_max`, `release_rate`, `DECOMMIT_DELAY`: what the allocator calls it. Where it goes
 *              depends on the candidate's `proof`: jemalloc MALLOC_CONF, glibc GLIBC_TUNABLES, mimalloc MIMALLOC_NAME,
 *              tcmalloc TCMALLOC_NAME. A name of capitals is a variable itself, of any allocator
 *   inline     BASE+SETTING=VALUE[+SETTING=VALUE...]: a candidate without a file, for one try. No value holds '+' or
 *              ',', so that shells and lists bear it unquoted; BASE is a candidate or the path of a library */

/* res_variable_problem - whether a candidate may set this variable: NULL, or why not (the caller's to free). LD_* could
 * load another allocator than the one that is named, or hide from the proof. */
char *res_variable_problem(const char *name);

/* res_variables_add - append to a list. Returns NULL, or the problem: a name that is none, or there already; too many. */
char *res_variables_add(struct res_pairs *list, const char *name, const char *value);

/* res_setting_apply - put a setting into a candidate's environment; one that is there already comes to stand before
 * it, and allocators take the last.
 * Returns   NULL, or the problem in one line, the caller's to free. */
char *res_setting_apply(struct res_candidate *candidate, const char *setting, const char *value);

/* res_ranges_problem - whether a setting of the candidate's ranges cannot be put into its environment: why not, or
 * NULL. */
char *res_ranges_problem(const struct res_candidate *candidate);

/* res_range_value - a value of a setting's list by its number, the caller's to free; NULL: it has fewer. */
char *res_range_value(const struct res_pair *range, size_t number);

/* res_setting_inline - where the first "+SETTING=" of an inline candidate begins; NULL when the text is none. */
const char *res_setting_inline(const char *text);

/* res_registry_add_inline - make the candidate that the text describes.
 * base      what stands before the first setting, resolved or not; it is copied.
 * Returns   the candidate, the one made before for the same text; NULL with ret_problem set. */
struct res_candidate *res_registry_add_inline(struct res_registry *registry, const struct res_candidate *base,
                                              const char *text, char **ret_problem);

#define RES_NAME_MAX        32u /* bytes of a candidate's name: a column of the table */
#define RES_INLINE_NAME_MAX 96u /* of one that is named by its settings (variables.c) */
#define RES_INI_BYTES_MAX   (64u * 1024u)
#define RES_INI_LINE_MAX    198u /* what inih as Debian builds it reads as one line (INI_MAX_LINE 200) */
#define RES_CANDIDATES_MAX  256u
#define RES_VARIABLES_MAX   64u

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
    struct res_pairs environment, expected;
    struct res_pairs ranges; /* names of settings, and values with commas between */

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

/* res_registry_find - the candidate of this name; NULL when unknown. Valid until res_registry_release, as are those below. */
struct res_candidate *res_registry_find(const struct res_registry *registry, const char *name);

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
