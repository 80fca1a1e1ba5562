/* late_process.h - a running program from outside: who it is, whether the recorder may be loaded into it, its modules, its memory.
 *
 *   process   held by a pidfd and its start time, so that its id cannot become another's unnoticed
 *   module    consecutive mappings of one file, the first of which has the ELF header; read in the program's memory, never on
 *             disk: what is there is what runs, also when the file was replaced since
 *   kind      what it means for a frame of a stack to lie in a module
 *
 * Whatever is read of the process is hostile: bounded, checked, and never more than a reason to refuse. */
#ifndef MALLAB_RECORD_ATTACH_LATE_PROCESS_H
#define MALLAB_RECORD_ATTACH_LATE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shim/sites/cfi.h"

enum late_kind {
    LATE_PROGRAM,  /* the executable, and libraries that are none of the following */
    LATE_LIBC,     /* may hold locks: calls may not be made from within, but for some */
    LATE_NEVER,    /* the loader, an allocator */
    LATE_RECORDER, /* our library */
};

struct late_module {
    uint64_t first, past; /* of its mappings */
    uint64_t bias;        /* added to its own addresses */
    uint64_t data_past;   /* of its data, which is not all of its file */
    enum late_kind kind;
    char *path; /* as /proc/PID/maps has it */
    uint64_t dynamic, dynamic_bytes;
    uint64_t symbols, names, hash; /* addresses there; 0: none */
    bool looked;                   /* for its frames' table, which follows; frames.header 0: it has none */
    uint64_t frames_at;            /* where the copy's first byte stands in the process */
    void *frames_copy;
    struct cfi_segment frames;
};

struct late_mapping {
    uint64_t first, past;
    bool writable, executable;
    int module; /* its number; -1: none */
};

#define LATE_NAME_BYTES 64

struct late_process {
    pid_t pid;
    int pidfd;
    uint64_t start_ticks;
    uint64_t deadline_ns; /* on fp_now_ns' clock; from then on nothing of it is read any more; 0: none */
    char name[LATE_NAME_BYTES]; /* its executable's, as text */
    struct late_mapping *mappings;
    struct late_module *modules;
    size_t mapping_count, mapping_room, module_count, module_room;
    uint64_t frames_bytes; /* copied so far */
};

/* late_process_open - hold the process, and look whether it can be attached to at all.
 * within_ns    sets its deadline.
 * ret_problem  one line unless true; the caller's.
 * Close it with late_process_close, whatever it returned. */
bool late_process_open(pid_t pid, uint64_t within_ns, struct late_process *ret_process, char **ret_problem);
void late_process_close(struct late_process *process);

/* late_process_name - as the kernel calls it: its file's name, or what it has named itself. As text, without a slash. */
void late_process_name(pid_t pid, char ret_name[LATE_NAME_BYTES]);

/* late_process_ended - whether it has ended, or its id is another's by now. */
bool late_process_ended(const struct late_process *process);

/* late_process_is_late - whether its deadline is over: what it has mapped or tells is made to take for ever. */
bool late_process_is_late(const struct late_process *process);

/* late_is_stopped - whether a process stands still by SIGSTOP or its like: nothing can be called in it. */
bool late_is_stopped(pid_t pid);

/* late_process_refresh - read its mappings and modules anew. What was read of modules that stay is kept. */
bool late_process_refresh(struct late_process *process);

/* late_proc_read - a file of /proc/PID, with a zero byte behind it, the caller's; NULL: it cannot be opened. ret_length may be NULL. */
char *late_proc_read(pid_t pid, const char *name, size_t *ret_length);

/* late_process_read - bytes of its memory: all of them, or false; also when its deadline is over. */
bool late_process_read(const struct late_process *process, uint64_t address, void *ret_bytes, size_t size);

/* late_rest - sleep for below a second, or shorter. */
void late_rest(long ns);

/* late_mapping_of - the mapping that an address lies in; NULL: in none. */
const struct late_mapping *late_mapping_of(const struct late_process *process, uint64_t address);

/* late_module_of_kind - the first module of a kind; NULL: there is none. */
struct late_module *late_module_of_kind(const struct late_process *process, enum late_kind kind);

/* late_symbol - the address of what a module defines under a name, by DT_GNU_HASH; 0: nothing.
 * late_module_bytes - the address of these bytes in a module's code, or else in its data; 0: they are not there. */
uint64_t late_symbol(const struct late_process *process, const struct late_module *module, const char *name);
uint64_t late_module_bytes(const struct late_process *process, const struct late_module *module, bool in_code,
                           const void *bytes, size_t size);

/* late_frames_prepare - read the tables of all modules now, so that no thread stands still for it. */
void late_frames_prepare(struct late_process *process);

/* late_frame_rule - the rule by which a frame at an address is left (cfi.h); CFI_NONE where nothing is known. */
uint32_t late_frame_rule(struct late_process *process, int module, uint64_t address);

/* late_refuse - look whether a process can be attached to at all; its mappings are read on the way. Nothing that it has a path to is
 * opened or asked about: that may be a file system of its own, which does not answer.
 * Returns  one line, the caller's; NULL: nothing is in the way. */
char *late_refuse(struct late_process *process);

/* late_status_id - the user or group of a process, by a line of its /proc/PID/status ("\nUid:"), where all four are the same. */
bool late_status_id(const char *status, const char *word, unsigned *ret_id);

/* late_is_ours - whether a process is our user's and group's, and has no rights beyond. */
bool late_is_ours(pid_t pid);

#endif
