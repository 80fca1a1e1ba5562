/* support.h - memory, strings and messages for the programs' rooms (record, results, cli), which end when memory ends.
 *
 * What these programs hold in memory can be made again by running them again, and their temporary
 * files are removed at exit; so running out of memory is one message and exit code 1, not a status that
 * every caller would have to pass on. A library of its own, never used by footprint's others, convert, shim or replay.
 *
 * Everything returned belongs to the caller and is freed with free(). */
#ifndef MALLAB_FOOTPRINT_BASE_SUPPORT_H
#define MALLAB_FOOTPRINT_BASE_SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* res_calloc / res_realloc / res_strdup - as in libc, but they do not return NULL; res_strdup of NULL is NULL.
 * count, size  their product must not overflow: checked, and treated as no memory. */
void *res_calloc(size_t count, size_t size);
void *res_realloc(void *memory, size_t count, size_t size);
char *res_strdup(const char *text);
char *res_strndup(const char *text, size_t length_max);

/* res_no_memory - what they do instead. */
_Noreturn void res_no_memory(void);

/* res_printf - format into a new string. */
char *res_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* res_say - one line on stderr in the name of a verb (NULL: of mallab itself), fit for a terminal whatever is in it. */
void res_say(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
void res_say_list(const char *verb, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* A string that grows. Zero-initialise; text is NULL while nothing was added. */
struct res_text {
    char *text;
    size_t length;
    size_t capacity;
};

void res_text_add(struct res_text *text, const char *bytes, size_t length);
void res_text_printf(struct res_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* res_text_columns - columns of a terminal that a UTF-8 string takes. Foreign words are passed through res_text_plain first. */
size_t res_text_columns(const char *text);

/* res_text_plain - a copy in which what drives a terminal, turns text around or is not seen is spelled out
 * (footprint/base/words.h). The caller's to free. */
char *res_text_plain(const char *text);

/* res_text_duration - nanoseconds in the unit that fits: "850 ns", "1.24 s", "3 min 20 s", "10 h 02 min".
 * ret_text  at least 32 bytes. Returns ret_text. */
char *res_text_duration(double duration_ns, char *ret_text);

/* res_path_join - "directory/name". */
char *res_path_join(const char *directory, const char *name);

/* res_find_program - the first directory of a NULL-terminated list that holds an executable of this name.
 * Returns the path, or NULL when none does. */
char *res_find_program(const char *const *directories, const char *name);

/* res_find_in_path - as execvp(3) finds a program: the first executable one in $PATH. The caller's to free.
 * ret_denied   set to true when one is there but not executable; may be NULL. */
char *res_find_in_path(const char *name, bool *ret_denied);

/* res_file_begin - the first bytes of the file `path` below `root` ("": the root of all), at most size - 1, as a string.
 * Returns false, with "", when it cannot be opened. */
bool res_file_begin(const char *root, const char *path, char *ret_text, size_t size);

/* res_program_directories - where the sibling programs may be, NULL-terminated, valid to the end. */
const char *const *res_program_directories(void);

/* res_own_program / res_own_library - "mallab-collect", "libmallab.so". The caller's to free; NULL: not there. */
char *res_own_program(const char *name);
char *res_own_library(const char *name);

/* res_allocators_directory - where the candidates' INI files are. The caller's to free; never NULL. */
char *res_allocators_directory(void);

#endif
