/* shim.h - what the files of the preloaded library share.
 *
 *   next   the definitions behind ours in the lookup order (dlsym RTLD_NEXT): the allocator under the program
 *
 * Everything here may run inside malloc, before libc's constructors, in signal handlers and in forked children
 * of threaded parents: no malloc, no stdio, no lock that a fork could leave held, errno restored. */
#ifndef MALLAB_SHIM_PRELOAD_SHIM_H
#define MALLAB_SHIM_PRELOAD_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "shim/preload/lane.h"
#include "shim/shared/segment.h"

#define SHIM_EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden) /* for declarations too: no detour over the GOT */

/* ---- boot.c: the next definitions, and memory while they are being looked up ----------------- */

enum next_operator {
    NEXT_NEW,
    NEXT_NEW_ARRAY,
    NEXT_NEW_NOTHROW,
    NEXT_NEW_ARRAY_NOTHROW,
    NEXT_NEW_ALIGNED,
    NEXT_NEW_ARRAY_ALIGNED,
    NEXT_NEW_ALIGNED_NOTHROW,
    NEXT_NEW_ARRAY_ALIGNED_NOTHROW,
    NEXT_DELETE,
    NEXT_DELETE_ARRAY,
    NEXT_DELETE_NOTHROW,
    NEXT_DELETE_ARRAY_NOTHROW,
    NEXT_DELETE_SIZED,
    NEXT_DELETE_ARRAY_SIZED,
    NEXT_DELETE_ALIGNED,
    NEXT_DELETE_ARRAY_ALIGNED,
    NEXT_DELETE_SIZED_ALIGNED,
    NEXT_DELETE_ARRAY_SIZED_ALIGNED,
    NEXT_DELETE_ALIGNED_NOTHROW,
    NEXT_DELETE_ARRAY_ALIGNED_NOTHROW,
    NEXT_OPERATOR_COUNT
};

struct shim_next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t); /* NULL where the allocator has none, as the rest below */
    void (*free)(void *);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*clock_gettime)(clockid_t, struct timespec *); /* libc's, which makes no system call */
    void *operators[NEXT_OPERATOR_COUNT];
    bool is_libc; /* malloc is libc's own */
    struct boot_object {
        uintptr_t first, past;
    } allocator, ours; /* where they lie in memory; empty where the allocator is libc */
};

extern struct shim_next shim_next;

/* boot_resolve - fill shim_next's C half; idempotent. Returns false while this very thread is resolving
 * (the caller is nested in dlsym and must use boot_allocate), true when shim_next is usable. */
bool boot_resolve(void);

/* boot_operator - the next definition of a C++ operator, looked up at its first use: libstdc++ may have been
 * loaded long after us, and privately for the caller. Returns NULL when the process has none. */
void *boot_operator(enum next_operator which, const void *caller);

/* boot_make_ready - look up all operators that the process has now: later the program may be confined. */
void boot_make_ready(void);

/* boot_is_allocators - whether a call from within the allocator that returns to this address is the allocator's: it returns into
 * the same object, or, where a jump was its last instruction, into our hook. Never where the allocator is libc's, which calls
 * none of its exported names. */
static inline bool boot_is_allocators(const void *code)
{
    return (uintptr_t)code - shim_next.allocator.first <
               shim_next.allocator.past - shim_next.allocator.first ||
           (uintptr_t)code - shim_next.ours.first < shim_next.ours.past - shim_next.ours.first;
}

/* boot_allocate - memory for calls nested in boot_resolve; zeroed, never returned. NULL when used up. */
void *boot_allocate(size_t alignment, size_t size);
size_t boot_usable_size(const void *address);

extern char boot_buffer[];
#define BOOT_BUFFER_BYTES 65536u

static inline bool boot_owns(const void *address)
{
    return (uintptr_t)address - (uintptr_t)boot_buffer < BOOT_BUFFER_BYTES;
}

/* ---- attach.c: this process and its segment --------------------------------------------------- */

/* What fork wipes: a child starts from PROCESS_NEW whatever its parent was doing. */
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
    uint64_t lost_contact;     /* the collector was found dead, or silent for too long */
    bool foreign;              /* in another pid namespace than the collector */
    _Atomic uint64_t given_up; /* heartbeat of the silence that was given up on; 0: none */
    _Atomic uint32_t silences; /* given up on so far */
    _Atomic uint32_t calling;  /* threads in a section of confine.h */
};

/* Ordinary memory: children inherit the mapping and this. header is NULL while there is none. */
extern struct seg_view shim_segment;
extern struct shim_process *shim_process;

/* attach_process - bring the process to PROCESS_ON or PROCESS_OFF; safe against races and forks.
 * Returns whether it is on. errno may change. */
bool attach_process(void);

/* attach_wipe_mapping - zeroed private memory that a fork wipes; NULL on failure. */
void *attach_wipe_mapping(size_t size);

/* ---- spawn.c: a collector of our own ------------------------------------------------------------ */

/* spawn_collector - start mallab-collect outside the program's sight and wait until it is ready.
 * name            the program's base name, for the output directory.
 * ret_path        receives the segment's path; ret_message the reason of a failure, for one line, or the directory
 *                 that was begun because the one named was taken; else "".
 * Returns         whether the segment is ready. */
bool spawn_collector(const char *name, char *ret_path, size_t path_size, char *ret_message,
                     size_t message_size);

/* ---- note.c ------------------------------------------------------------------------------------------- */

/* note_take_name - the segment's path, by which the recording's socket is named: of a process that found it without $MALLAB_SEGMENT.
 * note_wanted - whether somebody records this tree, and is to be told. */
void note_take_name(const char *segment_path);
bool note_wanted(void);

/* note_send - tell the collector why this process is not recorded, or what it becomes; by system calls only.
 * of_child  it is about a process that this one starts, and whose number is not known yet.
 * Returns   whether it was told, or nobody is to be told. */
bool note_send(const char *program, const char *reason, bool of_child);

/* ---- shim_text.c: strings without stdio, the environment before libc has it ------------------------- */

/* text_append - append to a terminated string in size bytes, cutting what does not fit. */
void text_append(char *text, size_t size, const char *more);
void text_append_number(char *text, size_t size, uint64_t number);

/* text_environment - the environment vector, read from /proc while libc has not set environ yet.
 * Returns a NULL-terminated vector that lasts for ever, possibly empty. */
char **text_environment(void);

/* text_environment_counts - whether our environment is to be heeded: not in a program that has rights which its starter, who
 * made the environment, has not (setuid, setgid, file capabilities: AT_SECURE). The library does nothing there. */
bool text_environment_counts(void);

/* text_getenv - a variable's value, NULL when unset. */
const char *text_getenv(const char *name);

/* text_base_name - what follows the last slash. */
const char *text_base_name(const char *path);

/* text_called_name - what to call a program: the last part of argv[0] (a link's name, an applet's), or of the
 * executable's path where argv[0] is no plain name of less than `size` bytes (a title, empty, cut). */
void text_called_name(char *ret_name, size_t size, const char *called, const char *executable);

/* text_matches - whether one of the patterns, separated by commas, is the whole name; '*' stands for any characters,
 * '?' for one. An empty pattern matches nothing. */
bool text_matches(const char *patterns, const char *name);

/* ---- fork.c: forks and ends of threads ------------------------------------------------------------ */

/* fork_arm_process / fork_arm_thread - register the handlers; once per address space, once per lane.
 * They may call malloc. */
void fork_arm_process(void);

/* fork_begin_process - a process image begins: count its forks anew.
 * Returns the number of the fork that made it, 0 when there was none, or none that we saw (a raw clone). */
uint32_t fork_begin_process(void);
void fork_arm_thread(struct lane *lane);

/* ---- patience.c -------------------------------------------------------------------------------------- */

/* lane_collector_is_gone - whether the collector is dead, or silent for longer than this process waits for it. Steps
 * the process's count of silences: for slow paths that can do without an answer only. */
bool lane_collector_is_gone(void);

/* lane_silence_is_given_up - whether the present silence was given up on already. lane_give_up - give up on the silence that
 * began with this heartbeat. lane_patience_ns - how long this process waits in the next one. Without a system call. */
bool lane_silence_is_given_up(void);
void lane_give_up(uint64_t heartbeat);
uint64_t lane_patience_ns(void);

/* ---- lane.c, lane_chunk.c, lane_record.c --------------------------------------------------------- */

/* lane_forget_inherited - in a forked child: never hand out a lane that the parent may have used. */
void lane_forget_inherited(void);

/* The id of the calling thread, as it was when it got its lane; a forked child reads its parent's until it has one. */
extern __thread uint32_t lane_thread __attribute__((tls_model("initial-exec")));

/* lane_make_ready - memory for the lanes of threads that begin when none can be mapped any more (confine.h). */
void lane_make_ready(void);

/* lane_ring - wake the collector; of a confined process it learns at its next round. */
void lane_ring(void);

/* lane_wake - lane_ring, where the collector sleeps at least so deep. */
void lane_wake(enum seg_sleep least);

/* lane_close_chunk - hand the lane's chunk to the collector; the next record opens another. */
void lane_close_chunk(struct lane *lane);

/* lane_write_mark - record a mark that is no call, outside any hook. */
void lane_write_mark(unsigned mark, uint64_t number);

#pragma GCC visibility pop

#endif
