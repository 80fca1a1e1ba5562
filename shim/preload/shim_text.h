/* shim_text.h - strings without stdio, the environment before libc has it. */
#ifndef MALLAB_SHIM_PRELOAD_SHIM_TEXT_H
#define MALLAB_SHIM_PRELOAD_SHIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* text_append - append to a terminated string in size bytes, cutting what does not fit. */
void text_append(char *text, size_t size, const char *more);
void text_append_number(char *text, size_t size, uint64_t number);

/* text_environment - the environment vector, read from /proc while libc has not set environ yet.
 * Returns a NULL-terminated vector that lasts for ever, possibly empty. */
char **text_environment(void);

/* text_take_environment - what a library that is loaded late has for one. Borrowed for ever. */
void text_take_environment(char **vector);

/* text_environment_counts - whether our environment is to be heeded: not in a program that has rights which its starter, who
 * made the environment, has not (setuid, setgid, file capabilities: AT_SECURE). The library does nothing there. */
bool text_environment_counts(void);

/* text_getenv - a variable's value, NULL when unset.
 * text_given - likewise, and NULL when empty. */
const char *text_getenv(const char *name);
const char *text_given(const char *name);

/* text_base_name - what follows the last slash. */
const char *text_base_name(const char *path);

/* text_next_library - the next name of a list as LD_PRELOAD has it; NULL: there is none. list: is moved behind it. ret_base: its last part. */
const char *text_next_library(const char **list, size_t *ret_length, const char **ret_base);

/* text_called_name - what to call a program: the last part of argv[0] (a link's name, an applet's), or of the
 * executable's path where argv[0] is no plain name of less than `size` bytes (a title, empty, cut). */
void text_called_name(char *ret_name, size_t size, const char *called, const char *executable);

/* text_matches - whether one of the patterns, separated by commas, is the whole name; '*' stands for any characters,
 * '?' for one. An empty pattern matches nothing. */
bool text_matches(const char *patterns, const char *name);

#endif
