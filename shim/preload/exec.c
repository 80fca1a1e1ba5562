/* exec.c - look at what the program is about to become: say so where no recorder can be in it, and keep it in where it can.
 *
 * A static program, a setuid one, one whose environment was cleared: none loads us, and from outside a program that
 * lives for a moment is not seen. Here it is seen by the one that starts it, without privileges, and told to the
 * recording's collector (note.c).
 *
 * Laws of this file: it runs in children that share their parent's memory (vfork) and in signal handlers. System
 * calls only, no allocation, a small stack, errno as it was; and whatever is found, the call goes on unchanged, but for
 * LD_PRELOAD: programs of sanitizers and of musl (footprint/base/) would not run with us, so they get one without us; a start
 * script that names another library there, or none, gets us in front of it; and one that clears the environment gets us
 * and our variables where --follow-cleared asks for it.
 * Not wrapped: fexecve, execveat, whose programs are seen from outside if they live. */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "shim/preload/attach.h"
#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/shared/program_file.h"

#define PATH_BYTES 1024u
#define PRELOAD    "LD_PRELOAD="

typedef int (*exec_type)(const char *, char *const[], char *const[]);
typedef int (*spawn_type)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                          const posix_spawnattr_t *, char *const[], char *const[]);

static struct {
    exec_type execve, execvpe;
    spawn_type posix_spawn, posix_spawnp;
    void *(*dlopen)(const char *, int);
    void *(*dlmopen)(Lmid_t, const char *, int);
} next;

/* The variables that a program's environment needs for us to be in it, kept before ours may be cleared. */
static struct {
    const char *library;  /* our path */
    const char *mark;     /* whoever has this one has inherited the others */
    bool follows;         /* also into an environment that was cleared */
    char variables[8192]; /* one behind the other */
    size_t used, count;
} kept = {.library = ""};

static void keep(void)
{
    const struct link_map *object = elf_object_of((const void *)(uintptr_t)keep);
    if (object != NULL)
        kept.library = object->l_name;
    kept.mark = text_given("MALLAB_SEGMENT") != NULL ? "MALLAB_SEGMENT="
                : text_given("MALLAB_OUT") != NULL   ? "MALLAB_OUT="
                                                     : PRELOAD;
    kept.follows = text_given("MALLAB_FOLLOW_CLEARED") != NULL;
    for (char **entry = text_environment(); *entry != NULL; entry++) {
        const size_t bytes = strlen(*entry) + 1;
        if (strncmp(*entry, "MALLAB_", 7) != 0 || bytes > sizeof kept.variables - kept.used)
            continue;
        memcpy(kept.variables + kept.used, *entry, bytes);
        kept.used += bytes;
        kept.count++;
    }
}

/* dlsym is nothing for a vfork's child: looked up before main, and for constructors that exec, at their first call. */
__attribute__((constructor)) static void resolve(void)
{
    if (next.posix_spawnp != NULL)
        return;
    *(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&next.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&next.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
    *(void **)&next.dlopen = dlsym(RTLD_NEXT, "dlopen");
    *(void **)&next.dlmopen = dlsym(RTLD_NEXT, "dlmopen");
    (void)note_wanted(); /* while the environment still has it */
    keep();
}

/* ---- what stands in its way ------------------------------------------------------------------------- */

static long read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    return raw_call(SYS_pread64, fd, (long)bytes, (long)size, (long)offset, 0, 0);
}

static enum program_obstacle look_into(int fd, struct program_file *ret_file)
{
    struct stat facts = {0};
    const uid_t user = (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    (void)raw_call(SYS_fstat, fd, (long)&facts, 0, 0, 0, 0); /* it cannot fail: the file is open */
    return program_look(fd, read_at, &facts, user, (gid_t)raw_call(SYS_getegid, 0, 0, 0, 0, 0, 0),
                        user != 0 && raw_call(SYS_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0,
                        ret_file);
}

static bool is_us(const char *base)
{
    return strncmp(base, "libmallab.so", 12) == 0;
}

/* The value of a variable; NULL: it is not there. of: with the '=' behind its name. */
static const char *value_in(char *const *environment, const char *of)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, of, strlen(of)) == 0)
            return *environment + strlen(of);
    return NULL;
}

struct preloaded {
    bool us, us_first, sanitizer;
};

static struct preloaded look_at_preload(char *const *environment)
{
    struct preloaded found = {0};
    const char *list = value_in(environment, PRELOAD), *base;
    size_t length;
    for (bool first = true; list != NULL && text_next_library(&list, &length, &base) != NULL; first = false) {
        found.us = found.us || is_us(base);
        found.us_first = found.us_first || (first && is_us(base));
        found.sanitizer = found.sanitizer || sanitizer_by_name(base) != NULL;
    }
    return found;
}

/* A collector that was killed hears nothing; whoever writes what it left counts it (--recover). */
static void tell(const char *name, const char *obstacle, bool of_child)
{
    if (!note_send(name, obstacle, of_child) && shim_segment.header != NULL)
        add_relaxed(&shim_segment.shared->unattached, 1);
}

enum company { AS_IT_IS, WITHOUT_US, WITH_US };

/* Tell what stands in our way in a program. Returns what its LD_PRELOAD is to be, so that it runs, and with us if it can. */
static enum company look(const char *path, char *const *environment, bool of_child)
{
    const struct preloaded preloaded = look_at_preload(environment);
    const char *sanitizer = NULL, *name = text_base_name(path);
    char words[192] = SANITIZER_OBSTACLE;
    struct program_file file;
    /* The open must not wait; the kernel refuses what is no path. */
    const long fd = raw_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return AS_IT_IS;
    const enum program_obstacle stands = look_into((int)fd, &file);
    const char *obstacle = program_words(stands);
    const bool adds = obstacle == NULL && !preloaded.us_first && !preloaded.sanitizer &&
                      kept.library[0] != '\0' && strncmp(name, "mallab", 6) != 0 &&
                      (kept.follows || value_in(environment, kept.mark) != NULL);
    if (obstacle == NULL && (preloaded.us || adds))
        sanitizer = sanitizer_of(&file);
    raw_close((int)fd);
    if (sanitizer != NULL) {
        text_append(words, sizeof words, sanitizer);
        text_append(words, sizeof words, SANITIZER_OBSTACLE_REST);
        obstacle = words;
    }
    if (obstacle == NULL && (preloaded.us || adds) && /* the process may be another user's by now */
        raw_call(SYS_faccessat, AT_FDCWD, (long)kept.library, R_OK, 0, 0, 0) == -EACCES)
        obstacle = "was started by a user who cannot read libmallab.so: install mallab where all can read it";
    if (obstacle == NULL && !preloaded.us && !adds)
        obstacle =
            "was started with an environment without LD_PRELOAD: put 'mallab record' behind what clears it";
    if (obstacle != NULL && raw_may_execute(path) && strncmp(name, "mallab", 6) != 0)
        tell(name, obstacle, of_child);
    if (preloaded.us && (sanitizer != NULL || stands == PROGRAM_MUSL))
        return WITHOUT_US;
    return adds && obstacle == NULL ? WITH_US : AS_IT_IS;
}

/* Look at the program that execvp would find: the first in PATH that may be executed. */
static enum company look_for(const char *file, char *const *environment, bool of_child)
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
    return AS_IT_IS;
}

/* ---- another environment ------------------------------------------------------------------------------ */

/* LD_PRELOAD with us in front, or without us, and all others; NULL where nothing is in it. */
static char *preload_of(const char *list, bool with_us, char *ret_entry)
{
    const char *library, *base;
    size_t length;
    char *const value = stpcpy(ret_entry, PRELOAD);
    char *end = with_us ? stpcpy(value, kept.library) : value;
    while ((library = text_next_library(&list, &length, &base)) != NULL) {
        if (is_us(base))
            continue;
        if (end > value)
            *end++ = ':';
        end = mempcpy(end, library, length);
    }
    *end = '\0';
    return end > value ? ret_entry : NULL;
}

static void fill(enum company company, char *const *environment, char **ret_entries, char *preload)
{
    const bool with_us = company == WITH_US;
    char *added = with_us && value_in(environment, PRELOAD) == NULL ? preload_of("", true, preload) : NULL;
    const bool is_cleared = with_us && value_in(environment, kept.mark) == NULL;
    for (; environment != NULL && *environment != NULL; environment++) {
        const bool is_preload = strncmp(*environment, PRELOAD, strlen(PRELOAD)) == 0;
        char *entry = is_preload ? preload_of(*environment + strlen(PRELOAD), with_us, preload)
                                 : *environment;
        if (entry != NULL)
            *ret_entries++ = entry;
    }
    for (size_t at = 0; is_cleared && at < kept.used; at += strlen(kept.variables + at) + 1)
        *ret_entries++ = kept.variables + at;
    if (added != NULL)
        *ret_entries++ = added;
    *ret_entries = NULL;
}

/* ---- the calls ------------------------------------------------------------------------------------------ */

/* Look at the program, where there is something to look at in this environment. */
static enum company company_of(bool searched, const char *name, char *const *environment, bool of_child)
{
    resolve();
    if (likely(confine_is_on() || !(note_wanted() || look_at_preload(environment).us)))
        return AS_IT_IS;
    return searched ? look_for(name, environment, of_child) : look(name, environment, of_child);
}

struct start {
    const char *name;
    bool searched; /* in PATH */
    char *const *arguments, *const *environment;
    pid_t *ret_pid; /* of a spawn, as the rest */
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    bool spawns;
};

static int begin(const struct start *start, char *const *environment)
{
    if (start->spawns)
        return (start->searched ? next.posix_spawnp : next.posix_spawn)(
            start->ret_pid, start->name, start->actions, start->attributes, start->arguments, environment);
    usage_note(SEG_USAGE_EXEC);
    const int failed = (start->searched ? next.execvpe : next.execve)(start->name, start->arguments,
                                                                      environment);
    usage_note(SEG_USAGE_NONE);
    return failed;
}

static int run(const struct start *start)
{
    const enum company company = company_of(start->searched, start->name, start->environment, start->spawns);
    size_t entries = kept.count + 2, preload_bytes = sizeof PRELOAD + strlen(kept.library);
    if (company == AS_IT_IS)
        return begin(start, start->environment);
    for (char *const *entry = start->environment; entry != NULL && *entry != NULL; entry++, entries++)
        if (strncmp(*entry, PRELOAD, strlen(PRELOAD)) == 0)
            preload_bytes += strlen(*entry);
    char **environment = __builtin_alloca(entries * sizeof *environment);
    fill(company, start->environment, environment, __builtin_alloca(preload_bytes));
    return begin(start, environment);
}

SHIM_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    return run(&(const struct start){.name = path, .arguments = arguments, .environment = environment});
}

SHIM_EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, text_environment());
}

SHIM_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return run(&(const struct start){
        .searched = true, .name = file, .arguments = arguments, .environment = environment});
}

SHIM_EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, text_environment());
}

#define SPAWN(name, is_searched)                                                                             \
    SHIM_EXPORT int name(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,     \
                         const posix_spawnattr_t *attributes, char *const arguments[],                       \
                         char *const environment[])                                                          \
    {                                                                                                        \
        return run(&(const struct start){program, is_searched, arguments, environment, ret_pid, actions,     \
                                         attributes, true});                                                 \
    }
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

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

#define LISTED(name, call)                                                                                   \
    SHIM_EXPORT int name(const char *program, const char *word, ...)                                         \
    {                                                                                                        \
        char **words;                                                                                        \
        GATHER(word, words);                                                                                 \
        return call(program, words);                                                                         \
    }
LISTED(execl, execv)
LISTED(execlp, execvp)

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

/* ---- libraries that look past us ------------------------------------------------------------------------ */

static cold_path void tell_passing(const char *path, const char *why)
{
    static _Atomic uint32_t told;
    if (note_wanted() && add_relaxed(&told, 1) < 64) /* a full queue is waited for */
        tell(text_base_name(path), why, false);
}

/* The most rests while another thread has the lock; if it had it when this process was forked, we wait in vain. */
#define RESTS 10000u
static _Atomic uint32_t defined;
enum { DEFINED_NOT_YET, DEFINED_UNDER_WAY, DEFINED_OURS, DEFINED_THEIRS };

/* A library that is opened so finds libc's definitions before ours: those lead to us from now on, as dlsym(3) says it, too. Where another
 * allocator stands behind us, its calls are not that one's: they go on past us both. */
static cold_path void define_ours(const char *path)
{
    const int saved = errno;
    uint32_t seen = DEFINED_NOT_YET;
    if (swap_acq_rel(&defined, &seen, DEFINED_UNDER_WAY)) {
        const bool may = boot_resolve() && shim_next.is_libc && confine_may_call();
        seen = may && slots_define() ? DEFINED_OURS : DEFINED_THEIRS;
        if (may)
            confine_called();
        put_release(&defined, seen);
    }
    for (unsigned rests = 0; rests < RESTS && seen == DEFINED_UNDER_WAY; rests++) {
        confine_rest();
        seen = get_acquire(&defined);
    }
    runs_on_deepbind();
    if (seen != DEFINED_OURS)
        tell_passing(path,
                     "was opened with RTLD_DEEPBIND: calls of it and of what it brings pass the recorder by");
    errno = saved;
}

/* A library that brings an allocator of its own has found that one. */
__attribute__((destructor)) static void tell_other_allocator(void)
{
    const char *other = get_acquire(&defined) == DEFINED_OURS ? slots_other_malloc() : NULL;
    if (other != NULL)
        tell_passing(other, "is the allocator of libraries that were opened with RTLD_DEEPBIND: calls of it "
                            "pass the recorder by");
}

/* Both look at who calls them, so they are left by a jump. */
SHIM_EXPORT void *dlopen(const char *path, int flags)
{
    resolve();
    if (unlikely((flags & (RTLD_DEEPBIND | RTLD_NOLOAD)) == RTLD_DEEPBIND && path != NULL))
        define_ours(path);
    return next.dlopen(path, flags);
}

SHIM_EXPORT void *dlmopen(Lmid_t space, const char *path, int flags)
{
    resolve();
    if (unlikely(space != LM_ID_BASE && path != NULL))
        tell_passing(path,
                     "was opened by dlmopen, with a C library of its own: calls there pass the recorder by");
    return next.dlmopen(space, path, flags);
}
