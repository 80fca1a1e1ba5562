/* shim.h - the common part of the preloaded library's files: the segment, the process, strings, and the laws.
 *
 * Everything here may run inside malloc, before libc's constructors, in signal handlers and in forked children
 * of threaded parents: no malloc, no stdio, no lock that a fork could leave held, errno restored. */
#ifndef MALLAB_SHIM_PRELOAD_SHIM_H
#define MALLAB_SHIM_PRELOAD_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/shared/raw.h"
#include "shim/shared/segment.h"

/* The same sources are a second library, which is loaded into a running program (late.c) instead of being preloaded. */
#if defined(MALLAB_SHIM_LATE)
#define SHIM_IS_LATE true
#define SHIM_EXPORT  __attribute__((visibility("hidden"))) /* slots lead to it, no symbol */
#else
#define SHIM_IS_LATE false
#define SHIM_EXPORT  __attribute__((visibility("default")))
#endif

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define cold_path           __attribute__((cold, noinline))

#pragma GCC visibility push(hidden) /* for declarations too: no detour over the GOT */

/* A fork wipes this: a child starts from PROCESS_NEW whatever its parent was doing. */
enum process_state {
    PROCESS_NEW = 0,
    PROCESS_ATTACHING = 1,
    PROCESS_ON = 2,
    PROCESS_OFF = 3,
};

struct shim_process {
    _Atomic uint32_t state; /* futex */
    uint32_t slot_index;
    struct seg_slot *slot;
    const struct seg_slot_note *note; /* of that slot */
    uint64_t serial;                  /* of this image; the slot has it for the collector, as the next two */
    uint64_t first_cut;
    _Atomic uint32_t lane_count;
    uint64_t lost_contact;       /* the collector was found dead, or silent for too long */
    uint32_t pid;                /* as it knows it */
    bool foreign;                /* in another pid namespace than the collector */
    _Atomic uint64_t given_up;   /* heartbeat of the silence that was given up on; 0: none */
    _Atomic uint32_t silences;   /* given up on so far */
    _Atomic uint32_t calling;    /* threads in a section of confine.h */
    _Atomic uint32_t generation; /* of the segment: odd while the process moves to another (user.c); futex */
    struct sites_process *sites; /* lane_sites.c; NULL: stacks are not recorded */
};

/* Both of attach.c. Ordinary memory: children inherit the mapping and this. header is NULL while there is none. */
extern struct seg_view shim_segment;
extern struct shim_process *shim_process;

/* ---- strings without stdio, the environment before libc has it (shim_text.c) ---- */

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

#pragma GCC visibility pop

#endif
