/* exec.c - look at what the program is about to become, and say so where no recorder can be in it.
 *
 * A static program, a setuid one, one whose environment was cleared: none loads us, and from outside a program that
 * lives for a moment is not seen. Here it is seen by the one that starts it, without privileges, and told to the
 * recording's collector (note.c).
 *
 * Laws of this file: it runs in children that share their parent's memory (vfork) and in signal handlers. System
 * calls only, no allocation, a small stack, errno as it was; and whatever is found, the call goes on unchanged, but for
 * programs of sanitizers and of musl (footprint/base/): with us they would not run, so they get an LD_PRELOAD without us.
 * Not wrapped: fexecve, execveat, whose programs are seen from outside if they live. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "footprint/base/loader.h"
#include "footprint/base/sanitizer.h"
#include "shim/preload/confine.h"
#include "shim/preload/note.h"
#include "shim/preload/shim_text.h"
#include "shim/preload/usage_note.h"
#include "shim/shared/raw.h"

#define PATH_BYTES    1024u
#define ALONE_ENTRIES 1024u /* of an environment that is passed on without us */
#define ALONE_BYTES   2048u /* of its LD_PRELOAD */

typedef int (*exec_type)(const char *, char *const[], char *const[]);
typedef int (*spawn_type)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                          const posix_spawnattr_t *, char *const[], char *const[]);

static struct {
    exec_type execve, execvpe;
    spawn_type posix_spawn, posix_spawnp;
} next;

/* dlsym is nothing for a vfork's child: looked up before main, and for constructors that exec, at their first call. */
__attribute__((constructor)) static void resolve(void)
{
    if (next.posix_spawnp != NULL)
        return;
    *(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&next.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&next.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
    (void)note_wanted(); /* while the environment still has it */
}

/* ---- what stands in its way ------------------------------------------------------------------------- */

static long read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    return raw_call(SYS_pread64, fd, (long)bytes, (long)size, (long)offset, 0, 0);
}

/* The words are those of record/target.c and record/tree_watch.c, so that one program is named once. */
static const char MUSL[] = LOADER_MUSL_OBSTACLE;

static const char *obstacle_in_file(int fd)
{
    ElfW(Ehdr) head;
    struct stat status = {0};
    const uid_t user = (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    const gid_t group = (gid_t)raw_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
    if (raw_call(SYS_pread64, fd, (long)&head, sizeof head, 0, 0, 0) != (long)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL; /* a script, or nothing that is executed */
    if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_phentsize != sizeof(ElfW(Phdr)))
        return "is built for another machine type than this mallab";
    if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
        return NULL;
    const enum loader loader = loader_of(fd, &head, read_at);
    if (loader == LOADER_MUSL)
        return MUSL;
    if (loader == LOADER_NONE)
        return "is statically linked: no library can be preloaded into it";
    if (raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 &&
        (((status.st_mode & S_ISUID) != 0 && status.st_uid != user) ||
         ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != group)))
        return "is setuid or setgid: the loader takes no preloaded library into it";
    if (user != 0 && raw_call(SYS_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0)
        return "has file capabilities: the loader takes no preloaded library into it";
    return NULL;
}

/* Where we stand in LD_PRELOAD, from our name on; NULL: nowhere. */
static const char *preloaded(char *const *environment)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, "LD_PRELOAD=", 11) == 0 && strstr(*environment, "libmallab.so") != NULL)
            return strstr(*environment, "libmallab.so");
    return NULL;
}

/* Whether the loader can read us: the process may be another user's by now. */
static bool is_readable(const char *name)
{
    char path[PATH_BYTES];
    const char *first = name, *past = name + strcspn(name, ": ");
    while (first[-1] != '=' && first[-1] != ':' && first[-1] != ' ')
        first--;
    const size_t length = (size_t)(past - first);
    if (length >= sizeof path)
        return true; /* nobody asks about such a path */
    memcpy(path, first, length);
    path[length] = '\0';
    return raw_call(SYS_faccessat, AT_FDCWD, (long)path, R_OK, 0, 0, 0) != -EACCES;
}

/* A collector that was killed hears nothing; whoever writes what it left counts it (--recover). */
static void tell(const char *name, const char *obstacle, bool of_child)
{
    if (!note_send(name, obstacle, of_child) && shim_segment.header != NULL)
        add_relaxed(&shim_segment.shared->unattached, 1);
}

/* Tell what stands in our way in a program. Returns whether it has to be executed without us, or it would not run. */
static bool look(const char *path, char *const *environment, bool of_child)
{
    const char *sanitizer = NULL, *const us = preloaded(environment);
    char words[192] = SANITIZER_OBSTACLE;
    /* The open must not wait; the kernel refuses what is no path. */
    const long fd = raw_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    const char *name = text_base_name(path);
    const char *obstacle = obstacle_in_file((int)fd);
    if (obstacle == NULL && us != NULL)
        sanitizer = sanitizer_of((int)fd, read_at);
    raw_close((int)fd);
    if (sanitizer != NULL) {
        text_append(words, sizeof words, sanitizer);
        text_append(words, sizeof words, SANITIZER_OBSTACLE_REST);
        obstacle = words;
    }
    if (obstacle == NULL && us != NULL && !is_readable(us))
        obstacle = "was started by a user who cannot read libmallab.so: install mallab where all can read it";
    if (obstacle == NULL && us == NULL)
        obstacle =
            "was started with an environment without LD_PRELOAD: put 'mallab record' behind what clears it";
    if (obstacle != NULL && raw_may_execute(path) && strncmp(name, "mallab", 6) != 0)
        tell(name, obstacle, of_child);
    return sanitizer != NULL || obstacle == MUSL;
}

/* Look at the program that execvp would find: the first in PATH that may be executed. */
static bool look_for(const char *file, char *const *environment, bool of_child)
{
    const char *list = text_getenv("PATH");
    char path[PATH_BYTES];
    if (strchr(file, '/') != NULL)
        return look(file, environment, of_child);
    for (list = list != NULL ? list : "/bin:/usr/bin"; *list != '\0';) {
        const size_t length = strcspn(list, ":");
        if (length > 0 && length + strlen(file) + 2 <= sizeof path) {
            memcpy(path, list, length);
            path[length] = '\0';
            text_append(path, sizeof path, "/");
            text_append(path, sizeof path, file);
            if (raw_may_execute(path))
                return look(path, environment, of_child);
        }
        list += length;
        list += *list == ':';
    }
    return false;
}

/* ---- without us ------------------------------------------------------------------------------------------ */

struct alone {
    char *entries[ALONE_ENTRIES];
    char preload[ALONE_BYTES];
};

/* LD_PRELOAD with all that is in it but us; NULL where that is nothing, or does not fit. */
static char *others_preloaded(const char *entry, char *ret_text, size_t size)
{
    size_t used = strcspn(entry, "=") + 1;
    const size_t empty = used;
    memcpy(ret_text, entry, used);
    for (entry += used; *entry != '\0'; entry += *entry != '\0') {
        const size_t length = strcspn(entry, ": ");
        const char *name = entry + length;
        while (name > entry && name[-1] != '/')
            name--;
        if (length > 0 && strncmp(name, "libmallab.so", 12) != 0) {
            if (used + length + 2 > size)
                return NULL;
            if (used > empty)
                ret_text[used++] = ':';
            memcpy(ret_text + used, entry, length);
            used += length;
        }
        entry += length;
    }
    ret_text[used] = '\0';
    return used > empty ? ret_text : NULL;
}

/* The environment, without us in it; as it is where it is larger than anybody's. */
static char *const *without_us(struct alone *alone, char *const *environment)
{
    size_t used = 0;
    for (char *const *entry = environment; *entry != NULL; entry++) {
        char *kept = *entry;
        if (strncmp(kept, "LD_PRELOAD=", 11) == 0)
            kept = others_preloaded(kept, alone->preload, sizeof alone->preload);
        if (used + 1 == ALONE_ENTRIES)
            return environment;
        if (kept != NULL)
            alone->entries[used++] = kept;
    }
    alone->entries[used] = NULL;
    return alone->entries;
}

/* ---- the calls ------------------------------------------------------------------------------------------ */

enum named_by { BY_PATH, BY_FILE };

/* Look at the program, where there is something to look at in this environment. Returns whether it has to be executed without
 * us. */
static bool is_to_be_alone(enum named_by by, const char *name, char *const *environment, bool of_child)
{
    resolve();
    if (likely(confine_is_on() || !(note_wanted() || preloaded(environment) != NULL)))
        return false;
    return by == BY_FILE ? look_for(name, environment, of_child) : look(name, environment, of_child);
}

/* The room is taken only where it is needed, not in the caller's frame. */
static __attribute__((noinline)) int execute_alone(exec_type call, const char *name, char *const arguments[],
                                                   char *const environment[])
{
    struct alone alone;
    return call(name, arguments, without_us(&alone, environment));
}

static int execute(enum named_by by, const char *name, char *const arguments[], char *const environment[])
{
    const bool alone = is_to_be_alone(by, name, environment, false);
    const exec_type call = by == BY_FILE ? next.execvpe : next.execve;
    usage_note(SEG_USAGE_EXEC);
    const int failed = unlikely(alone) ? execute_alone(call, name, arguments, environment)
                                       : call(name, arguments, environment);
    usage_note(SEG_USAGE_NONE);
    return failed;
}

SHIM_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    return execute(BY_PATH, path, arguments, environment);
}

SHIM_EXPORT int execv(const char *path, char *const arguments[])
{
    return execute(BY_PATH, path, arguments, text_environment());
}

SHIM_EXPORT int execvp(const char *file, char *const arguments[])
{
    return execute(BY_FILE, file, arguments, text_environment());
}

SHIM_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return execute(BY_FILE, file, arguments, environment);
}

static __attribute__((noinline)) int spawn_alone(spawn_type spawn, pid_t *ret_pid, const char *name,
                                                 const posix_spawn_file_actions_t *actions,
                                                 const posix_spawnattr_t *attributes, char *const arguments[],
                                                 char *const environment[])
{
    struct alone alone;
    return spawn(ret_pid, name, actions, attributes, arguments, without_us(&alone, environment));
}

SHIM_EXPORT int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const arguments[],
                            char *const environment[])
{
    if (unlikely(is_to_be_alone(BY_PATH, path, environment, true)))
        return spawn_alone(next.posix_spawn, ret_pid, path, actions, attributes, arguments, environment);
    return next.posix_spawn(ret_pid, path, actions, attributes, arguments, environment);
}

SHIM_EXPORT int posix_spawnp(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const arguments[],
                             char *const environment[])
{
    if (unlikely(is_to_be_alone(BY_FILE, file, environment, true)))
        return spawn_alone(next.posix_spawnp, ret_pid, file, actions, attributes, arguments, environment);
    return next.posix_spawnp(ret_pid, file, actions, attributes, arguments, environment);
}

/* The words of execl and its like, as a vector. */
#define GATHER(first, ret_words)                                                                             \
    do {                                                                                                     \
        size_t count = 1;                                                                                    \
        va_list given;                                                                                       \
        va_start(given, first);                                                                              \
        while (va_arg(given, char *) != NULL)                                                                \
            count++;                                                                                         \
        va_end(given);                                                                                       \
        ret_words = __builtin_alloca((count + 1) * sizeof *ret_words);                                       \
        va_start(given, first);                                                                              \
        ret_words[0] = (char *)(uintptr_t)first;                                                             \
        for (size_t i = 1; i <= count; i++)                                                                  \
            ret_words[i] = va_arg(given, char *);                                                            \
        va_end(given);                                                                                       \
    } while (0)

SHIM_EXPORT int execl(const char *path, const char *word, ...)
{
    char **words;
    GATHER(word, words);
    return execv(path, words);
}

SHIM_EXPORT int execlp(const char *file, const char *word, ...)
{
    char **words;
    GATHER(word, words);
    return execvp(file, words);
}

SHIM_EXPORT int execle(const char *path, const char *word, ...)
{
    char **words, *const *environment;
    va_list list;
    GATHER(word, words);
    va_start(list, word);
    while (va_arg(list, char *) != NULL)
        ;
    environment = va_arg(list, char *const *); /* behind the NULL */
    va_end(list);
    return execve(path, words, environment);
}
