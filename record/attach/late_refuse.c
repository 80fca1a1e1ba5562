/* late_refuse.c - looks from outside, before anything is touched.
 *
 * Laws of this file: what is read of the process may change as it is read; a wrong answer lets a later step fail, and no more. */
#include "record/attach/late_process.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "footprint/base/support.h"
#include "footprint/base/trusted.h"
#include "record/attach/late_record.h"
#include "shim/shared/program_file.h"

#define HEAD_BYTES  4096u
#define AUXV_MOST   64u
#define GLIBC_LEAST 34u /* 2.34: dlopen is in libc.so.6 */

/* The number behind a word at the begin of a line; -1: it is not there. */
static long field(const char *status, const char *word)
{
    uint64_t number;
    return fp_proc_number(status, word, 10, &number) ? (long)number : -1;
}

static bool id_of(const char *status, const char *word, unsigned *ret_id)
{
    unsigned ids[4]; /* real, effective, saved, of the file system */
    const char *line = strstr(status, word);
    if (line == NULL || sscanf(line + strlen(word), "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4 ||
        ids[0] != ids[1] || ids[0] != ids[2] || ids[0] != ids[3])
        return false;
    *ret_id = ids[0];
    return true;
}

bool late_ids(pid_t pid, unsigned *ret_user, unsigned *ret_group)
{
    const char *status = late_status(pid, pid);
    return id_of(status, "\nUid:", ret_user) && id_of(status, "\nGid:", ret_group);
}

/* getauxval(AT_SECURE) of the process. Where root has become its user, and it may not be looked into, that cannot be read: the library
 * asks for it again (shim/preload/attach.c). */
static bool is_secure(pid_t pid)
{
    Elf64_auxv_t entries[AUXV_MOST] = {{0}};
    (void)fp_proc_read(pid, "auxv", (char *)entries, sizeof entries); /* else it is all zero */
    for (size_t i = 0; i < AUXV_MOST && entries[i].a_type != AT_NULL; i++)
        if (entries[i].a_type == AT_SECURE)
            return entries[i].a_un.a_val != 0;
    return false;
}

bool late_is_ours(pid_t pid)
{
    unsigned user, group;
    return late_ids(pid, &user, &group) && user == geteuid() && group == getegid() && !is_secure(pid);
}

/* Reading nothing at no address asks for the same right as ptrace(2). */
static bool may_trace(pid_t pid)
{
    char byte;
    const struct iovec to = {&byte, 1}, from = {NULL, 1};
    return process_vm_readv(pid, &to, 1, &from, 1, 0) >= 0 || errno == EFAULT;
}

static char *refuse_status(const struct late_process *process)
{
    char name[64];
    const char *status = late_status(process->pid, process->pid);
    const int pid = (int)process->pid;
    unsigned user = 0, group = 0;
    if (status[0] == '\0')
        return res_printf("there is no process %d", pid);
    const bool has_memory = strstr(status, "\nVmSize:") != NULL;
    const bool is_one = id_of(status, "\nUid:", &user) && id_of(status, "\nGid:", &group);
    if (!has_memory && (pid == 2 || field(status, "\nPPid:") == 2)) /* kthreadd */
        return res_printf("process %d is a thread of the kernel: it calls no malloc", pid);
    if (is_one && user != geteuid())
        return res_printf("process %d belongs to user %s: root attaches to it, 'sudo mallab record --pid %d'",
                          pid, fp_trusted_user(user, name, sizeof name), pid);
    if (!is_one || group != getegid() || is_secure(process->pid))
        return res_printf("process %d has rights of its own (setuid, setgid, capabilities), or another group",
                          pid);
    if (field(status, "\nTracerPid:") > 0)
        return res_printf("process %d is traced by process %ld, as by a debugger: that has to let go of it",
                          pid, field(status, "\nTracerPid:"));
    if (!may_trace(process->pid) && late_user_by_root())
        return res_printf("process %d may not be traced, not by this root either (a container without "
                          "CAP_SYS_PTRACE, or a process of another one): attach from outside of it, or "
                          "start the program under 'mallab record'",
                          pid);
    if (!may_trace(process->pid))
        return res_printf("process %d may not be traced by its user (it has changed its user or has "
                          "capabilities, kernel.yama.ptrace_scope, a container): root with CAP_SYS_PTRACE "
                          "may, 'sudo mallab record --pid %d'",
                          pid, pid);
    if (field(status, "\nSeccomp:") > 0)
        return res_printf("process %d has shut itself in (seccomp), and loading a library may end it: start "
                          "it under 'mallab record'",
                          pid);
    if (strstr(status, "x86_Thread_features:\tshstk") != NULL)
        return res_printf("process %d runs with shadow stacks, which a call from outside would end", pid);
    return NULL;
}

/* Finds a sanitizer by the names of the libraries, or by a function that the executable has from one. */
static const char *sanitizer_in(const struct late_process *process)
{
    static const char *const functions[] = {"__asan_init", "__tsan_init", "__hwasan_init", "__msan_init"};
    for (size_t i = 0; i < process->module_count; i++)
        if (sanitizer_by_name(basename(process->modules[i].path)) != NULL)
            return sanitizer_by_name(basename(process->modules[i].path));
    for (size_t i = 0; process->module_count > 0 && i < sizeof functions / sizeof functions[0]; i++)
        if (late_symbol(process, &process->modules[0], functions[i]) != 0)
            return sanitizer_by_name(functions[i]);
    return NULL;
}

/* Recognises Go by a note near its begin, or by what Go's own tools look for in its data, where -buildid= has left out the note: no C function can be
 * called on the stacks of Go, and words that are left on them look as if it had not returned. */
static bool is_of_go(const struct late_process *process, const struct late_module *module)
{
    static const char note[8] = "\4\0\0\0Go\0", info[15] = "\xff Go buildinf:";
    char head[HEAD_BYTES];
    return late_process_read(process, module->first, head, sizeof head) &&
           (memmem(head, sizeof head, note, sizeof note) != NULL ||
            late_module_bytes(process, module, false, info, sizeof info - 1) != 0);
}

static char *refuse_modules(const struct late_process *process)
{
    const struct late_module *libc = late_module_of_kind(process, LATE_LIBC);
    const char *sanitizer = sanitizer_in(process);
    if (late_process_is_late(process))
        return res_printf("process %d has too many mappings or symbols to be looked at in time",
                          (int)process->pid);
    if (sanitizer != NULL)
        return res_printf("'%s' " SANITIZER_OBSTACLE "%s" SANITIZER_OBSTACLE_REST, process->name, sanitizer);
    for (size_t i = 0; i < process->module_count; i++)
        if (is_of_go(process, &process->modules[i]))
            return res_printf("'%s' is written in Go, on whose stacks no C function can be called: start the "
                              "program under 'mallab record'",
                              basename(process->modules[i].path));
        else if (strcmp(basename(process->modules[i].path), "libmallab.so") == 0)
            return res_printf("process %d has the recorder preloaded already: 'mallab record --control DIR' "
                              "commands its recording",
                              (int)process->pid);
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct late_mapping *at = &process->mappings[i];
        if (at->executable && at->module >= 0 && process->modules[at->module].kind == LATE_LIBC &&
            &process->modules[at->module] != libc)
            return res_printf("process %d has more than one C library, as dlmopen loads them: start it under "
                              "'mallab record', which names who calls another one",
                              (int)process->pid);
    }
    if (libc == NULL || late_symbol(process, libc, "dlopen") == 0)
        return res_printf(
            "process %d is statically linked, or runs on another C library than glibc 2.%u or later",
            (int)process->pid, GLIBC_LEAST);
    if (process->module_count > 0 && process->modules[0].kind == LATE_NEVER)
        return res_printf("'%s' has an allocator within itself: its calls pass no slot that could be turned",
                          process->name);
    return NULL;
}

/* Nothing runs there that could be attached to. */
static char *refuse_ended(const struct late_process *process)
{
    const char *status = late_status(process->pid, process->pid);
    const bool is_zombie = strstr(status, "\nState:\tZ") != NULL;
    const long threads = is_zombie ? field(status, "\nThreads:") : 0;
    return res_printf(threads > 1 ? "the first thread of process %d has ended: its others are not attached to"
                      : is_zombie ? "process %d has ended (zombie): its parent has not asked how yet"
                                  : "there is no process %d",
                      (int)process->pid);
}

char *late_refuse(struct late_process *process)
{
    if (process->start_ticks == 0)
        return refuse_ended(process);
    char *problem = refuse_status(process);
    if (problem == NULL && !late_process_refresh(process))
        problem = res_printf("the memory of process %d cannot be looked at: %s", (int)process->pid,
                             strerror(errno));
    if (problem == NULL)
        problem = refuse_modules(process);
    if (problem == NULL && late_process_ended(process))
        problem = res_printf("process %d has just ended", (int)process->pid);
    return problem;
}
