/* names_child.h - the parts of mallab-names, the child with limits of memory and time: what it reads of modules is hostile. */
#ifndef MALLAB_SITES_NAMES_NAMES_CHILD_H
#define MALLAB_SITES_NAMES_NAMES_CHILD_H

#include <elfutils/libdw.h>

#include "sites/names/names.h"

/* The common places of all modules. */
struct name_places {
    const char *const *directories;
    size_t directory_count;
    bool may_fetch;
    uid_t owner;
};

struct name_request {
    const struct name_places *places;
    struct names_module module;
    uint32_t number; /* of the module */
    const struct name_question *questions;
    size_t count;
};

/* ---- give_up.c: what is given up before what a stranger may have made is read ----
 *
 *   user      root's: it becomes the owner of the recording, without a right beyond; of root's own recordings user nobody, with the
 *             right to read files alone (CAP_DAC_READ_SEARCH), for programs in directories that others may not enter
 *   calls     everybody's: no network, no new program, no file to write to, no new code: its system calls are a list (seccomp)
 *
 * It opens files itself, after that: which ones belong to a module (.gnu_debuglink, split DWARF, what dwz shares) stands in the files,
 * and what another user's recording names is opened with that user's rights. */

/* Tells whether a sanitizer is built in: clang has no macro for it, so meson.build tells. */
#ifdef MALLAB_SANITIZED
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* names_give_up - give up what can be given up. may_fetch: before that a child is started that may ask servers (debuginfod). It parses
 * nothing, and is the recording's owner, or nobody, without a right beyond; downloads of root's are kept nowhere.
 * Returns  false: we are root, and neither the user nor the system calls can be given up here: nothing is to be read.
 * names_fetch - have that child ask for a module, by build id. Returns  false: it has nothing. */
enum names_fetched { NAMES_FETCH_FILE, NAMES_FETCH_DEBUG };
bool names_give_up(uid_t owner, bool may_fetch);
bool names_fetch(const struct names_module *module, enum names_fetched what, char ret_path[NAMES_PATH_MAX]);

/* ---- debug_files.c: a module's file, and the one with its symbols and DWARF, by build id ----
 *
 * A file counts where its build id is the module's. Looked for, in this order:
 *   the file      its path as recorded, or of a name alone the usual places; in each directory: its path, its name, .build-id/xx/yyyy
 *   debug file    the file itself; in each directory, then in /usr/lib/debug: .build-id/xx/yyyy.debug; in each directory:
 *                 its name, with .debug, too; what the file's .gnu_debuglink names: beside it, in .debug, in /usr/lib/debug
 *   debuginfod    both, only where it may be asked */

struct debug_files {
    Elf *file, *debug; /* NULL: not found. debug may be the same as file */
    int fds[2];
    bool was_replaced; /* there is a file at the path, and it is another */
    bool is_damaged;   /* it cannot be read as ELF, and nobody knows whether it should be another */
};

/* debug_files_open - with_lines: the debug file should have DWARF.
 * ret   to be released with debug_files_release, in any case. */
void debug_files_open(const struct name_request *request, bool with_lines, struct debug_files *ret);
void debug_files_release(struct debug_files *files);

/* debug_files_set_alternative - give the DWARF of a debug file what it shares with others (.gnu_debugaltlink, as dwz makes
 * it), where the system's place does not have it but one of the directories does.
 * Returns   what is to be closed after dwarf: ret_elf, and the descriptor; -1: nothing was found, or there is no need. */
int debug_files_set_alternative(const struct name_places *places, Dwarf *dwarf, Dwarf **ret_alternative);

/* ---- dwarf_frames.c: what DWARF says of an address: the function, what is inlined into it there, files and lines ----
 *
 * Of each unit that is asked for the functions are read once, so that many addresses are cheap. */

struct dwarf_frames;

/* Texts are libdw's, until dwarf_frames_close. */
struct dwarf_frame {
    const char *name; /* as it is linked, to be demangled, where that is told; NULL: not known */
    const char *file; /* NULL: not known */
    uint32_t line;
    uint64_t start; /* of the function; 0: of what is inlined */
};

/* dwarf_frames_open - dwarf is borrowed. Returns NULL: it tells of no code, or there is no memory. */
struct dwarf_frames *dwarf_frames_open(Dwarf *dwarf);
void dwarf_frames_close(struct dwarf_frames *frames); /* NULL is accepted */

/* dwarf_frames_find - the function first, then what is inlined, the innermost last. Where no function is known but a
 * line is, one frame without a name.
 * Returns   how many, 0 to NAMES_INLINED_MAX. */
size_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
                         struct dwarf_frame ret_frames[NAMES_INLINED_MAX]);

/* ---- ranges of addresses with what they are of, to find the one that covers an address ----
 *
 * Ranges may nest and overlap. Filled, then sorted once, then asked: a search by halves and mostly one step. */

struct interval {
    uint64_t start, end; /* equal: nobody knows how long it is */
    uint64_t reach;      /* the highest end of it and all before it */
    const void *what;
    uint32_t rank;  /* of those with one start the highest is found */
    uint32_t order; /* in which it was added */
};

/* Zeroes are an empty one. */
struct intervals {
    struct interval *list;
    size_t count, capacity;
};

/* intervals_add - one more; what is borrowed. Returns false: no memory, or too many. */
bool intervals_add(struct intervals *intervals, uint64_t start, uint64_t bytes, uint32_t rank,
                   const void *what);

/* intervals_sort - after the last one was added, before the first search. */
void intervals_sort(struct intervals *intervals);

/* intervals_cover - the interval that begins last of those that cover the address; latest: the one that was added last.
 * Returns   NULL: none covers it. */
const struct interval *intervals_cover(const struct intervals *intervals, uint64_t address, bool latest);

void intervals_release(struct intervals *intervals);

/* ---- symbols.c: the functions that a file's symbols name, or a perf map's lines, as intervals; what is their name ---- */

#define PERF_MAP_BYTES_MAX (UINT64_C(512) << 20)

/* symbols_of_elf - all functions of its .symtab, or of its .dynsym.
 * type      SHT_SYMTAB or SHT_DYNSYM.
 * symbols   empty; what is char, the elf's as long as it is open.
 * Returns   false: it has no such table, or there is no memory. */
bool symbols_of_elf(Elf *elf, unsigned type, struct intervals *symbols);

/* symbols_of_perf_map - lines "START BYTES NAME", numbers in hex; others are passed over.
 * text      size bytes, the last of which is 0; changed, and what the intervals point at.
 * Returns   false: there is no memory. */
bool symbols_of_perf_map(char *text, size_t size, struct intervals *symbols);

/* symbols_name - the symbol that covers the address, or begins at start.
 * start     of the function, 0: not known.
 * latest    of several that cover it the last one: of a perf map, where code moves.
 * Returns   NULL: there is none. */
const struct interval *symbols_name(const struct intervals *symbols, uint64_t address, uint64_t start,
                                    bool latest);

/* demangle - `_ZN3fooEv` becomes foo(), and std::string is called so; Rust's names, of both manglings, lose their hash; clones of a
 * function (.cold, .part.0, .isra.0) their number, and a version behind '@' goes. What cannot be read stays as it is.
 * Source    libiberty's demangler. For a child with limits: a name may be made to cost time and memory.
 * Returns   a string to be freed; NULL: no memory. */
char *demangle(const char *symbol);

/* ---- module_names.c: answers the questions of one module ----
 *
 * First all functions by symbols, then, where lines are wanted, once more with DWARF: what the limits cut keeps the first. */

/* Takes replies. Texts are borrowed for the call; function and file may be NULL. */
struct name_sink {
    void (*take)(void *data, const struct name_reply *reply, const char *function, const char *file);
    void *data;
};

/* module_names - from NAME_REPLY_BEGINS to NAME_REPLY_DONE. */
void module_names(const struct name_request *request, const struct name_sink *sink);

#endif
