/* allocator_proof.c - addresses and version calls. */
#include "replay/proof/allocator_proof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "replay/base/own_process.h"

const char rep_proof_kinds[] = "glibc, jemalloc, tcmalloc, mimalloc, tbb, scudo, none, address";

static bool ask_glibc(struct rep_proof *proof, const struct rep_calls *calls)
{
    const char *(*version)(void);
    if (!rep_symbol("gnu_get_libc_version", &version))
        return false;
    snprintf(proof->version, sizeof proof->version, "%s", version());
    return true;
}

static bool ask_jemalloc(struct rep_proof *proof, const struct rep_calls *calls)
{
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    const char *version = NULL;
    size_t length = sizeof version;
    if (!rep_symbol("mallctl", &mallctl) || mallctl("version", &version, &length, NULL, 0) != 0)
        return false;
    snprintf(proof->version, sizeof proof->version, "%s", version);
    return true;
}

static bool ask_tcmalloc(struct rep_proof *proof, const struct rep_calls *calls)
{
    const char *(*version)(int *, int *, const char **);
    if (!rep_symbol("tc_version", &version))
        return false;
    snprintf(proof->version, sizeof proof->version, "%s", version(NULL, NULL, NULL));
    return true;
}

static bool ask_mimalloc(struct rep_proof *proof, const struct rep_calls *calls)
{
    int (*version)(void);
    bool (*in_heap)(const void *);
    if (!rep_symbol("mi_version", &version) || !rep_symbol("mi_is_in_heap_region", &in_heap))
        return false;
    void *object = calls->malloc(64);
    const bool is_its_own = object != NULL && in_heap(object);
    calls->free(object);
    const int number = version(); /* 209 is 2.0.9 */
    snprintf(proof->version, sizeof proof->version, "%d.%d.%d", number / 100, number / 10 % 10, number % 10);
    return is_its_own;
}

static bool ask_tbb(struct rep_proof *proof, const struct rep_calls *calls)
{
    size_t (*size_of)(void *);
    if (!rep_symbol("scalable_msize", &size_of))
        return false;
    void *object = calls->malloc(64);
    const bool is_its_own = object != NULL && size_of(object) >= 64;
    calls->free(object);
    return is_its_own;
}

static bool ask_scudo(struct rep_proof *proof, const struct rep_calls *calls)
{
    return dlsym(RTLD_DEFAULT, "__scudo_print_stats") != NULL;
}

static bool ask_nothing(struct rep_proof *proof, const struct rep_calls *calls)
{
    return true;
}

struct kind {
    const char *name;
    bool (*ask)(struct rep_proof *, const struct rep_calls *);
    const char *question; /* what a failure names */
};

static const struct kind KINDS[] = {
    {"glibc", ask_glibc, "gnu_get_libc_version"},
    {"jemalloc", ask_jemalloc, "mallctl(\"version\")"},
    {"tcmalloc", ask_tcmalloc, "tc_version"},
    {"mimalloc", ask_mimalloc, "mi_is_in_heap_region"},
    {"tbb", ask_tbb, "scalable_msize"},
    {"scudo", ask_scudo, "__scudo_print_stats"},
    {"none", ask_nothing, ""},
    {"address", ask_nothing, ""},
};

/* Names ending in ".so" stand for any version of the library: binaries are linked against the machine's. */
static const struct {
    const char *allocator, *expected;
} LINKED[] = {
    {"glibc", "libc.so.6"},
    {"jemalloc", "libjemalloc.so"},
    {"tcmalloc", "libtcmalloc.so"},
    {"mimalloc", "libmimalloc.so"},
    {"none", NULL},
};

static const struct kind *kind_from_name(const char *name)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    }
    return NULL;
}

bool rep_proof_init(struct rep_proof *proof, const char *allocator, const char *expected, const char *kind)
{
    memset(proof, 0, sizeof *proof);
    proof->expected = expected;
    proof->kind = kind;
    if (kind == NULL)
        proof->kind = expected != NULL ? "address" : allocator;
    for (size_t i = 0; expected == NULL && i < sizeof LINKED / sizeof LINKED[0]; i++) {
        if (strcmp(LINKED[i].allocator, allocator) == 0)
            proof->expected = LINKED[i].expected;
    }
    return kind_from_name(proof->kind) != NULL;
}

static bool names_match(const char *expected, const char *name)
{
    const size_t length = strlen(expected);
    if (strcmp(expected, name) == 0)
        return true;
    return length > 3 && strcmp(expected + length - 3, ".so") == 0 && strncmp(expected, name, length) == 0 &&
           name[length] == '.';
}

/* The library that an address lies in. ret_loaded: as the loader named it; ret_path: links resolved. */
static void locate(const void *address, char *ret_path, const char **ret_loaded)
{
    Dl_info info;
    ret_path[0] = '\0';
    *ret_loaded = "";
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return;
    *ret_loaded = info.dli_fname;
    if (realpath(info.dli_fname, ret_path) == NULL)
        snprintf(ret_path, PATH_MAX, "%s", info.dli_fname); /* a relative argv[0] after a chdir, say */
}

static bool is_expected(const struct rep_proof *proof, const char *path, const char *loaded)
{
    char resolved[PATH_MAX];
    if (proof->expected == NULL)
        return true;
    if (strchr(proof->expected, '/') == NULL)
        return names_match(proof->expected, basename(loaded)) || names_match(proof->expected, basename(path));
    return realpath(proof->expected, resolved) != NULL && strcmp(resolved, path) == 0;
}

static const void *address_of(const void *function_pointer)
{
    const void *address;
    memcpy(&address, function_pointer, sizeof address);
    return address;
}

static bool check_addresses(struct rep_proof *proof, const struct rep_calls *calls)
{
    const char *loaded;
    locate(address_of(&calls->malloc), proof->malloc_library, &loaded);
    if (!is_expected(proof, proof->malloc_library, loaded)) {
        snprintf(proof->why, sizeof proof->why, "malloc comes from '%s', not from '%s'",
                 proof->malloc_library, proof->expected);
        return false;
    }
    locate(address_of(&calls->free), proof->free_library, &loaded);
    if (strcmp(proof->free_library, proof->malloc_library) != 0) {
        snprintf(proof->why, sizeof proof->why, "free comes from '%s', malloc does not", proof->free_library);
        return false;
    }
    locate(address_of(&calls->new_plain[0]), proof->new_library, &loaded);
    const char *name = basename(proof->new_library);
    /* The C++ libraries' operators call malloc and free; substitutes are in this program and do too. */
    const bool passes_on = strncmp(name, "libstdc++", 9) == 0 || strncmp(name, "libc++", 6) == 0 ||
                           strncmp(name, "mallab-replay-", 14) == 0;
    if (!passes_on && strcmp(proof->new_library, proof->malloc_library) != 0) {
        snprintf(proof->why, sizeof proof->why, "operator new comes from '%s', malloc does not",
                 proof->new_library);
        return false;
    }
    return true;
}

bool rep_proof_check(struct rep_proof *proof, const struct rep_calls *calls)
{
    const struct kind *kind = kind_from_name(proof->kind);
    proof->ok = check_addresses(proof, calls);
    if (proof->ok && !kind->ask(proof, calls)) {
        snprintf(proof->why, sizeof proof->why,
                 "malloc comes from '%s', but %s does not confirm that it is %s", proof->malloc_library,
                 kind->question, kind->name);
        proof->ok = false;
    }
    return proof->ok;
}

bool rep_proof_after(struct rep_proof *proof, uint64_t harness_calls)
{
    proof->harness_calls = harness_calls;
    if (harness_calls > 0) {
        snprintf(proof->why, sizeof proof->why,
                 "the harness itself called malloc or free %s times in the run", FP_GROUPED(harness_calls));
        proof->ok = false;
    }
    return proof->ok;
}
