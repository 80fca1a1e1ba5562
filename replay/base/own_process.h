/* own_process.h - this process: what the kernel tells of it, its functions by name, and its own calls of malloc. */
#ifndef MALLAB_REPLAY_BASE_OWN_PROCESS_H
#define MALLAB_REPLAY_BASE_OWN_PROCESS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* rep_proc_number - the number behind the first `key` of a file, "VmHWM:" of /proc/self/status, in the file's unit (kB).
 * Without the allocator; within the first 4 KiB.
 * Returns  it; `otherwise` when the file cannot be read or does not have it. */
uint64_t rep_proc_number(const char *path, const char *key, uint64_t otherwise);

/* rep_processors - how many this process may use: as many threads run at a time (exec.h). taskset(1) says which. By the
 * kernel's word, whatever the allocator is told (system/processors.h). */
unsigned rep_processors(void);

/* rep_symbol - look it up. ret_pointer: to the pointer to be set. False when there is none. */
static inline bool rep_symbol(const char *name, void *ret_pointer)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(ret_pointer, &found, sizeof found); /* ISO C has no cast from data to function pointer */
    return found != NULL;
}

/* rep_library_of - where the library begins that a function of this name comes from; NULL: there is none. */
static inline const void *rep_library_of(const char *name)
{
    Dl_info info;
    const void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && dladdr(found, &info) != 0 ? info.dli_fbase : NULL;
}

/* rep_usable_size - malloc_usable_size of the library that malloc comes from; NULL: it has none. Another library's would read
 * headers that are not there. */
static inline size_t (*rep_usable_size(void))(void *)
{
    size_t (*usable_size)(void *);
    return rep_symbol("malloc_usable_size", &usable_size) &&
                   rep_library_of("malloc_usable_size") == rep_library_of("malloc")
               ? usable_size
               : NULL;
}

/* rep_watch - from now on count the calls of malloc's family that the harness makes besides those that are replayed.
 * none.c defines the family itself and notes each call; so a run with `none` proves that the harness makes none. With
 * other allocators nobody notes any. rep_watch_count - how many were noted. */
void rep_watch(void);
uint64_t rep_watch_count(void);

/* rep_watch_note - a call is made; counted unless this thread pauses. */
void rep_watch_note(void);

/* rep_watch_pause / rep_watch_resume - bracket what the C library allocates for itself: pthread_create and pthread_join,
 * for the vector of thread-local storage. Per thread. */
void rep_watch_pause(void);
void rep_watch_resume(void);

#endif
