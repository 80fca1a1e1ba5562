/* library.c - load a library in a child and ask it who it is. */
#include "results/measure/candidate/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/measure/base/support.h"

#define ANSWER_BYTES_MAX 8192u
#define PROBE_SECONDS    10u /* a constructor that takes longer is not coming back */

/* ---- asking: in the child ------------------------------------------------------------------- */

/* A symbol of this very library: dlsym also searches what the library depends on, so that every library would
 * have gnu_get_libc_version. */
static void *own_symbol(void *handle, const char *name)
{
    struct link_map *map = NULL;
    Dl_info info;
    void *symbol = dlsym(handle, name);
    if (symbol == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || dladdr(symbol, &info) == 0)
        return NULL;
    return info.dli_fbase == (void *)map->l_addr ? symbol : NULL;
}

static void answer_jemalloc(void *symbol, char *ret_text, size_t size)
{
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    const char *version = NULL;
    size_t length = sizeof version;
    memcpy(&mallctl, &symbol, sizeof mallctl); /* ISO C has no cast from data to function pointer */
    if (mallctl("version", (void *)&version, &length, NULL, 0) == 0 && version != NULL)
        snprintf(ret_text, size, "%.*s", (int)strcspn(version, "-"), version);
}

static void answer_tcmalloc(void *symbol, char *ret_text, size_t size)
{
    const char *(*tc_version)(int *, int *, const char **);
    int major = 0, minor = 0;
    const char *patch = "";
    memcpy(&tc_version, &symbol, sizeof tc_version);
    (void)tc_version(&major, &minor, &patch); /* returns the same as one string, with the product's name */
    snprintf(ret_text, size, "%d.%d%s", major, minor, patch != NULL ? patch : "");
}

static void answer_mimalloc(void *symbol, char *ret_text, size_t size)
{
    int (*mi_version)(void);
    memcpy(&mi_version, &symbol, sizeof mi_version);
    const int version = mi_version(); /* 209 is 2.0.9 */
    snprintf(ret_text, size, "%d.%d.%d", version / 100, version / 10 % 10, version % 10);
}

static void answer_glibc(void *symbol, char *ret_text, size_t size)
{
    const char *(*gnu_get_libc_version)(void);
    memcpy(&gnu_get_libc_version, &symbol, sizeof gnu_get_libc_version);
    snprintf(ret_text, size, "%s", gnu_get_libc_version());
}

static void answer_version(void *handle, char *ret_text, size_t size)
{
    static const struct {
        const char *symbol;
        void (*answer)(void *symbol, char *ret_text, size_t size);
    } kinds[] = {
        {"mi_version", answer_mimalloc},
        {"tc_version", answer_tcmalloc},
        {"mallctl", answer_jemalloc},
        {"gnu_get_libc_version", answer_glibc},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        void *symbol = own_symbol(handle, kinds[i].symbol);
        if (symbol != NULL) {
            kinds[i].answer(symbol, ret_text, size);
            return;
        }
    }
}

/* Writes "+PATH\0VERSION\0". Returns false, having written nothing, when the library cannot be loaded so. */
static bool answer(const char *name, int flags, FILE *out)
{
    char version[64] = "";
    struct link_map *map = NULL;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    char *path = realpath(map->l_name, NULL);
    if (path == NULL)
        return false;
    answer_version(handle, version, sizeof version);
    fprintf(out, "+%s%c%s%c", path, '\0', version, '\0');
    free(path);
    return fflush(out) == 0;
}

int res_library_answer(const char *name)
{
    (void)alarm(PROBE_SECONDS); /* returns the former alarm: exec kept none */
    if (answer(name, RTLD_NOLOAD, stdout))
        return 0;
    const char *words = dlopen(name, RTLD_LAZY | RTLD_LOCAL) == NULL ? dlerror() : NULL;
    printf("-%s%c", words != NULL ? words : "it cannot be preloaded", '\0');
    return 1;
}

/* Loads it here; where that fails, starts this program again with the library preloaded: one with much
 * thread-local storage (jemalloc) can only be loaded at a program's start. */
static void probe_and_answer(const char *name, int answer_fd)
{
    char word[] = RES_LIBRARY_PROBE;
    char program[] = "mallab";
    char *copy = res_strdup(name);
    char *arguments[] = {program, word, copy, NULL};
    FILE *out = fdopen(answer_fd, "w");
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (out == NULL || null < 0)
        _exit(1);
    (void)alarm(PROBE_SECONDS); /* likewise */
    dup2(null, STDERR_FILENO);  /* where the loader would say that it cannot preload */
    if (answer(name, 0, out))
        _exit(0); /* no destructor of the allocator, nothing of our parent's twice */
    dup2(answer_fd, STDOUT_FILENO);
    setenv("LD_PRELOAD", name, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    execv("/proc/self/exe", arguments);
    _exit(1);
}

/* ---- listening: in the parent --------------------------------------------------------------- */

static size_t read_all(int fd, char *bytes, size_t size)
{
    size_t length = 0;
    while (length < size) {
        const ssize_t count = read(fd, bytes + length, size - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    return length;
}

static char *version_of_file(const char *path)
{
    const char *suffix = strstr(path, ".so.");
    return suffix != NULL && suffix[4] != '\0' ? res_strdup(suffix + 4) : NULL;
}

bool res_library_probe(const char *name, struct res_library *ret_library)
{
    int ends[2];
    char said[ANSWER_BYTES_MAX + 2] = "";
    *ret_library = (struct res_library){0};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ret_library->problem = res_printf("no pipe: %s", strerror(errno));
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        probe_and_answer(name, ends[1]);
    }
    close(ends[1]);
    size_t length = child > 0 ? read_all(ends[0], said, ANSWER_BYTES_MAX) : 0;
    close(ends[0]);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    said[length] = '\0'; /* and the byte behind it is 0 too, so that both strings end */
    if (said[0] == '+') {
        const char *version = said + strlen(said) + 1;
        ret_library->path = res_strdup(said + 1);
        ret_library->version = *version != '\0' ? res_text_plain(version) : version_of_file(said + 1);
        return true;
    }
    ret_library->problem = said[0] == '-' ? res_text_plain(said + 1)
                           : child < 0    ? res_strdup("no process to try it in")
                           : WIFSIGNALED(status)
                               ? res_printf("loading it ended in signal %d", WTERMSIG(status))
                               : res_strdup("loading it ended without an answer");
    return false;
}
