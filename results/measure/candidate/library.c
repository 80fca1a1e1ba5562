/* library.c - load a library in a child and ask it who it is. */
#include "results/measure/candidate/candidates.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"

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

/* Writes "+PATH\0VERSION\0", or "-" and why it is no allocator. Returns false, having written nothing, when the library cannot be
 * loaded so. */
static bool answer(const char *name, int flags, FILE *out)
{
    char version[64] = "";
    struct link_map *map = NULL;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    if (own_symbol(handle, "malloc") == NULL) {
        fprintf(out, "-it has no malloc of its own%c", '\0');
        return fflush(out) == 0;
    }
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
 * thread-local storage (jemalloc) can only be loaded at a program's start. stdout is the pipe to our parent, which what the
 * library prints must not reach; stderr is /dev/null, as the loader may say there that it cannot preload. */
static int probe_and_answer(void *name)
{
    char word[] = RES_LIBRARY_PROBE;
    char program[] = "mallab";
    char *arguments[] = {program, word, name, NULL};
    const int answer_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = fdopen(answer_fd, "w");
    if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    (void)alarm(PROBE_SECONDS); /* likewise */
    if (answer(name, 0, out))
        return 0; /* no destructor of the allocator runs */
    dup2(answer_fd, STDOUT_FILENO);
    setenv("LD_PRELOAD", name, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    execv("/proc/self/exe", arguments);
    return 1;
}

/* ---- listening: in the parent --------------------------------------------------------------- */

struct said {
    char text[ANSWER_BYTES_MAX + 2]; /* two strings, which both end in it */
    size_t length;
};

static bool take(void *data, int stream, const char *bytes, size_t count)
{
    struct said *said = data;
    const size_t room = ANSWER_BYTES_MAX - said->length;
    memcpy(said->text + said->length, bytes, count < room ? count : room);
    said->length += count < room ? count : room;
    return said->length < ANSWER_BYTES_MAX;
}

static char *version_of_file(const char *path)
{
    const char *suffix = strstr(path, ".so.");
    return suffix != NULL && suffix[4] != '\0' ? res_strdup(suffix + 4) : NULL;
}

bool res_is_c_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libc.so", 7) == 0;
}

bool res_library_probe(const char *name, struct res_library *ret_library)
{
    char *copy = res_strdup(name), words[FP_STATUS_WORDS];
    const struct fp_process_plan plan = {
        .body = probe_and_answer,
        .data = copy,
        .streams = {FP_STREAM_OURS, FP_STREAM_PIPE, FP_STREAM_NULL},
        .dies_with_us = true,
    };
    struct said said = {.length = 0};
    const struct fp_process_bounds bounds = {.take = take, .data = &said};
    struct fp_process process;
    const int error = fp_process_start(&plan, &process);
    (void)fp_process_wait(&process, &bounds); /* what it said tells how that went */
    *ret_library = (struct res_library){0};
    if (said.text[0] == '+') {
        const char *version = said.text + strlen(said.text) + 1;
        ret_library->path = res_strdup(said.text + 1);
        ret_library->version = *version != '\0' ? res_text_plain(version) : version_of_file(said.text + 1);
    } else if (said.text[0] == '-') {
        ret_library->problem = res_text_plain(said.text + 1);
    } else if (error != 0) {
        ret_library->problem = res_strdup("no process to try it in");
    } else {
        ret_library->problem = WIFSIGNALED(process.status)
                                   ? res_printf("loading it ended in %s",
                                                fp_status_words(process.status, words))
                                   : res_strdup("loading it ended without an answer");
    }
    fp_process_release(&process);
    free(copy);
    return ret_library->path != NULL;
}

/* ---- library build ---- */

#define FILE_BYTES_MAX                                                                                       \
    (UINT64_C(256) << 20) /* the largest allocator known, with debug information, takes a tenth */
#define DIGITS_SHOWN 12   /* of a digest in a message */

/* All of a file of at most FILE_BYTES_MAX; NULL: it cannot be read, or is larger. */
static unsigned char *bytes_of(const char *path, size_t *ret_length)
{
    struct stat facts;
    unsigned char *bytes = NULL;
    size_t length = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
        (uint64_t)facts.st_size <= FILE_BYTES_MAX) {
        ssize_t got = 1;
        bytes = res_calloc((size_t)facts.st_size, 1);
        while (length < (size_t)facts.st_size &&
               (got = read(fd, bytes + length, (size_t)facts.st_size - length)) > 0)
            length += (size_t)got;
        if (got <= 0) { /* it shrank, or cannot be read */
            free(bytes);
            bytes = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    *ret_length = length;
    return bytes;
}

struct res_build res_build_of(const char *path)
{
    struct res_build build = {0};
    size_t length;
    RES_FREED unsigned char *bytes = bytes_of(path, &length);
    if (bytes != NULL) {
        const XXH128_hash_t hash = XXH3_128bits(bytes, length);
        build.digest = res_printf("%016llx%016llx", (unsigned long long)hash.high64,
                                  (unsigned long long)hash.low64);
    }
    return build;
}

bool res_builds_differ(const struct res_build *one, const struct res_build *other)
{
    return one->digest != NULL && other->digest != NULL && strcmp(one->digest, other->digest) != 0;
}

char *res_build_change(const char *library, const char *version, const struct res_build *then,
                       const struct res_build *now)
{
    const char *slash = strrchr(library, '/');
    if (!res_builds_differ(then, now))
        return NULL;
    return res_printf("%s%s%s: another build (digest %.*s -> %.*s)", slash != NULL ? slash + 1 : library,
                      version != NULL ? " " : "", version != NULL ? version : "", DIGITS_SHOWN, then->digest,
                      DIGITS_SHOWN, now->digest);
}
