/* late_process.h - a running program, its stacks, and calls in it; private to record/attach. */
#ifndef MALLAB_RECORD_ATTACH_LATE_PROCESS_H
#define MALLAB_RECORD_ATTACH_LATE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "shim/sites/cfi.h"

/* ---- a running program from outside: who it is, whether the recorder may be loaded into it, its modules, its memory.
 *
 *   process   held by a pidfd and its start time, so that its id cannot become another's unnoticed
 *   module    consecutive mappings of one file, the first of which has the ELF header; read in the program's memory, never on
 *             disk: what is there is what runs, also when the file was replaced since
 *   kind      what it means for a frame of a stack to lie in a module
 *
 * Whatever is read of the process is hostile: bounded, checked, and never more than a reason to refuse. */

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

/* late_status - /proc/PID/status of a thread, the process's first where that is its id; "": it cannot be read. Until the next call. */
const char *late_status(pid_t pid, pid_t thread);

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

/* late_ids - the user and group of a process. Returns false where it has several of a kind, or has ended. */
bool late_ids(pid_t pid, unsigned *ret_user, unsigned *ret_group);

/* late_is_ours - whether a process is our user's and group's, and has no rights beyond. */
bool late_is_ours(pid_t pid);

/* ---- the place of a stopped thread: what its stack leads through, and whether a function may be called there.
 *
 *   whole     the walk came by rules to the frame that has no caller
 *   safe      no frame but those that start a thread or main lies in libc, the loader or an allocator; or the innermost ones are
 *             libc's wrapper of a system call that waits and holds no lock of libc's
 *
 * x86-64. */

enum late_spot {
    LATE_PLACE_SAFE = 0,
    LATE_PLACE_LIBC,     /* within libc, the loader or an allocator */
    LATE_PLACE_RECORDER, /* within our library */
    LATE_PLACE_UNKNOWN, /* code without a table of frames, a signal's handler, another stack than a thread's own */
    LATE_PLACE_NARROW, /* too little room on its stack */
};

/* late_place_words - its words for people. Static. */
const char *late_place_words(enum late_spot place);

/* late_stack_place - where a function might be called. The process's mappings are as late_process_refresh read them. */
enum late_spot late_stack_place(struct late_process *process, const struct user_regs_struct *registers);

/* ---- the system call that it is in -----------------------------------------------------------------
 *
 * The kernel begins most calls anew that a stop has interrupted, but not behind a return from a signal's handler, as which a
 * thread comes back from what we make it call; and some end as interrupted wherever they are (signal(7)). So the registers are
 * set to where the call begins. registers: of a thread that stands still, as PTRACE_GETREGS has them. */

/* late_wait_may_call - whether the call is one that waits without a lock, and could be made again as it was.
 * ret_frames  so many of libc's may lie on the stack for it. */
bool late_wait_may_call(const struct late_process *process, const struct user_regs_struct *registers,
                        unsigned *ret_frames);

/* late_wait_look - the call that a thread waits in, without stopping it: its number, arguments but the first, rsp and rip. Returns
 * false where it runs. */
bool late_wait_look(const struct late_process *process, pid_t thread, struct user_regs_struct *ret);

/* late_wait_hears_all - whether a thread that stands still hears all signals: false where it waits for a signal (pause, sigsuspend) that a handler could
 * take before the call begins anew, which then would wait for ever. */
bool late_wait_hears_all(const struct late_process *process, pid_t thread,
                         const struct user_regs_struct *registers);

/* late_wait_is_lost - whether a call was interrupted of which it is not known how to begin it anew behind a return from a signal. */
bool late_wait_is_lost(const struct late_process *process, const struct user_regs_struct *registers);

/* late_wait_renew - set registers so that an interrupted call begins anew. Returns whether they are others than before. */
bool late_wait_renew(const struct late_process *process, pid_t thread, struct user_regs_struct *registers);

/* late_wait_mend - the same in a thread that is let go and makes no call, where the stop would be seen; else nothing. */
void late_wait_mend(const struct late_process *process, pid_t thread,
                    const struct user_regs_struct *registers);

/* ---- a thread of a running program made to call a function, as a signal handler is called.
 *
 *   frame   what the kernel lays on the stack for a handler: below it the function's return address, which is libc's own
 *           return from signals. All registers, those of SSE and AVX among them, and the mask of signals stand in it
 *   call    the frame is written while the thread is stopped, then its registers are set at once. From there on it needs nobody:
 *           the function runs, returns, and the thread goes on where it was, also when we are killed
 *
 * A system call that the stop has interrupted begins anew behind the function, as behind a handler with SA_RESTART. Signals are
 * blocked in the thread while the function runs. One that was stopped goes on, on every way out; the kernel sees to that where we
 * are killed. x86-64. */

#define LATE_TEXT_MOST 1024u

struct late_call {
    uint64_t function;
    const char *text; /* its first argument, below LATE_TEXT_MOST bytes */
    uint64_t number;  /* its second one */
};

struct late_cost {
    uint64_t stopped_ns; /* while a tracer held threads */
    unsigned looks;      /* at how many threads */
};

/* late_call_safely - find a thread in a safe place (above), one after the other, within a time, and let it make the call.
 * Returns  whether a thread is making it; else ret_problem says why none does, the caller's. */
bool late_call_safely(struct late_process *process, const struct late_call *call, uint64_t within_ns,
                      struct late_cost *ret_cost, char **ret_problem);

/* late_frame_begin - lay the frame on the thread's stack and set its registers, once, when the frame stands. From then on it makes
 * the call when it is let go, whatever becomes of us.
 * stopped_at  its registers.
 * restorer    to where signals' handlers return.
 * Returns     false where the thread was left as it was: in a restartable sequence (rseq(2)), in a call that cannot be begun anew,
 *             with registers that cannot be kept, or with a stack that cannot be written. */
bool late_frame_begin(const struct late_process *process, pid_t thread,
                      const struct user_regs_struct *stopped_at, const struct late_call *call,
                      uint64_t restorer);

#endif
