/* runs_on.c - the allocator under the program: its library, name and version, and why it is the one.
 *
 * The loader searches the program first, then what is preloaded, in order. So a program that brings a malloc of its own, or a
 * library that stands in LD_PRELOAD before us, serves all calls, and we see those only that it passes on.
 *
 * Laws of this file: those of shim.h, although it runs in a constructor: what it allocated would be recorded as the program's. */

#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/turn.h"

#define PRELOAD_BYTES 4096u /* what is read of /etc/ld.so.preload */

/* Ordinary memory: forked children have it from their parent. `how` is FP_RUNS_ON_UNKNOWN until it is found. */
static struct seg_allocator found;
static _Atomic uint32_t is_passed_by; /* libraries were opened with RTLD_DEEPBIND */

/* ---- which object ------------------------------------------------------------------------------------ */

/* The program and libraries that the loader asks before us: the one that has a malloc, or NULL. */
static const struct link_map *in_front(const struct link_map *ours)
{
    const struct link_map *front = NULL;
    for (const struct link_map *at = ours != NULL ? ours->l_prev : NULL; at != NULL; at = at->l_prev)
        if (elf_symbol(at, "malloc") != NULL)
            front = at; /* the first of all serves */
    return front;
}

/* Tells whether libstdc++ is loaded; object: any that is. */
static bool has_cxx_library(const struct link_map *object)
{
    while (object->l_next != NULL)
        object = object->l_next;
    while (object != NULL && strncmp(text_base_name(object->l_name), "libstdc++.so", 12) != 0)
        object = object->l_prev;
    return object != NULL;
}

/* ---- what it is -------------------------------------------------------------------------------------- */

static void append_version(const char *version)
{
    text_append(found.version, sizeof found.version, version != NULL ? version : "");
}

static bool ask_jemalloc(const struct link_map *object)
{
    const char *version = NULL;
    size_t size = sizeof version;
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    *(void **)&mallctl = elf_symbol(object, "mallctl");
    if (mallctl == NULL)
        return false;
    text_append(found.name, sizeof found.name, "jemalloc");
    if (mallctl("version", &version, &size, NULL, 0) == 0)
        append_version(version);
    return true;
}

static bool ask_tcmalloc(const struct link_map *object)
{
    const char *(*version)(int *, int *, const char **);
    *(void **)&version = elf_symbol(object, "tc_version");
    if (version == NULL)
        return false;
    text_append(found.name, sizeof found.name,
                strstr(found.library, "tcmalloc_minimal") != NULL ? "tcmalloc-minimal" : "tcmalloc");
    append_version(version(NULL, NULL, NULL));
    return true;
}

/* 209 is 2.0.9, and 10203 is 1.2.3 in newer ones. */
static bool ask_mimalloc(const struct link_map *object)
{
    int (*version)(void);
    *(void **)&version = elf_symbol(object, "mi_version");
    if (version == NULL)
        return false;
    const int number = version(), step = number >= 10000 ? 100 : 10;
    text_append(found.name, sizeof found.name, "mimalloc");
    for (int part = step * step; number > 0 && part > 0; part /= step) {
        text_append_number(found.version, sizeof found.version, (uint64_t)(number / part % step));
        text_append(found.version, sizeof found.version, part > 1 ? "." : "");
    }
    return true;
}

/* Others by their file's name: "libfoo.so.2" is foo. */
static void name_by_file(void)
{
    const char *file = text_base_name(found.library);
    if (strncmp(file, "libtbbmalloc", 12) == 0)
        file = "tbb.so";
    else if (strncmp(file, "libclang_rt.scudo", 17) == 0)
        file = "scudo.so";
    const char *name = strncmp(file, "lib", 3) == 0 ? file + 3 : file;
    size_t length = strcspn(name, ".");
    if (length >= sizeof found.name)
        length = sizeof found.name - 1;
    memcpy(found.name, name, length);
    found.name[length] = '\0';
}

/* ---- why it is the one ------------------------------------------------------------------------------- */

static bool lists(const char *names, const char *library)
{
    const char *wanted = text_base_name(library), *base;
    size_t length;
    for (const char *name; names != NULL && (name = text_next_library(&names, &length, &base)) != NULL;)
        if ((size_t)(name + length - base) == strlen(wanted) && memcmp(base, wanted, strlen(wanted)) == 0)
            return true;
    return false;
}

static bool is_preloaded_everywhere(const char *library)
{
    char names[PRELOAD_BYTES];
    return raw_file_begin("/etc/ld.so.preload", names, sizeof names) > 0 && lists(names, library);
}

static enum fp_runs_on origin(void)
{
    if (found.library[0] == '\0')
        return FP_RUNS_ON_LINKED;
    return lists(text_getenv("LD_PRELOAD"), found.library) || is_preloaded_everywhere(found.library)
               ? FP_RUNS_ON_PRELOADED
               : FP_RUNS_ON_LINKED;
}

static void runs_on_find(void);

static enum fp_runs_on look(void)
{
    const struct link_map *object = SHIM_IS_LATE
                                        ? NULL
                                        : in_front(elf_object_of((const void *)(uintptr_t)runs_on_find));
    found.in_front = object != NULL;
    if (object == NULL)
        object = elf_object_of((const void *)(uintptr_t)shim_next.malloc);
    if (object == NULL)
        return FP_RUNS_ON_UNKNOWN;
    if (object->l_prev != NULL) /* the program is the first of all */
        text_append(found.library, sizeof found.library, object->l_name);
    if (!found.in_front && shim_next.is_libc) {
        found.cxx_library = !SHIM_IS_LATE && has_cxx_library(object);
        text_append(found.name, sizeof found.name, "glibc");
        append_version(gnu_get_libc_version());
        return FP_RUNS_ON_LIBC;
    }
    if (!ask_jemalloc(object) && !ask_tcmalloc(object) && !ask_mimalloc(object) && found.library[0] != '\0')
        name_by_file();
    return origin();
}

static uint32_t how_found(void)
{
    const uint32_t how = get_relaxed(&found.how);
    return how == FP_RUNS_ON_LIBC && get_relaxed(&is_passed_by) ? FP_RUNS_ON_DEEPBIND : how;
}

void runs_on_put(struct seg_slot *slot)
{
    const uint32_t how = how_found();
    put_relaxed(&slot->allocator.how, FP_RUNS_ON_UNKNOWN);
    memcpy(&slot->allocator.in_front, &found.in_front,
           sizeof found - offsetof(struct seg_allocator, in_front));
    put_release(&slot->allocator.how, how);
}

void runs_on_deepbind(void)
{
    put_relaxed(&is_passed_by, 1);
    if (shim_process != NULL && get_acquire(&shim_process->state) == PROCESS_ON)
        put_release(&shim_process->slot->allocator.how, how_found());
}

void runs_on_ask(void)
{
    const int saved = errno;
    if (shim_process == NULL || get_acquire(&shim_process->state) != PROCESS_ON || !confine_may_call())
        return;
    const uint32_t known = get_relaxed(&found.how); /* by a former recording of the same program */
    const uint32_t how = known != FP_RUNS_ON_UNKNOWN ? known : look();
    confine_called();
    put_relaxed(&found.how, how);
    runs_on_put(shim_process->slot);
    errno = saved;
}

/* Runs before main, and behind the attaching: a version may be asked for only where no call of the allocator is under way. */
__attribute__((constructor)) static void runs_on_find(void)
{
    struct lane *lane;
    if (SHIM_IS_LATE)
        return;
    if (shim_lane == NULL && turn_take(&lane, TURN_CALLER) == TURN_RECORD)
        turn_done(lane); /* it has attached, and nothing is recorded by that */
    runs_on_ask();
}
