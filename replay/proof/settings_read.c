/* settings_read.c - each kind of allocator asked in its own way what its settings are; the tables at the top and at the end say how.
 *
 *   glibc     No call tells what malloc runs with. The loader that started this process, run once more with --list-tunables in the
 *             same environment, lists what it accepted: a misspelt name is not on its list, a refused value is not shown. malloc has
 *             bounds of its own beyond the loader's. Source: the GNU C Library manual, "Memory Allocation Tunables"; malloc/malloc.c
 *             of 2.36 for the bounds
 *   jemalloc  mallctl tells. opt.* is what was asked for, once jemalloc has refused or cut what it cannot read. Where another name
 *             tells what came of it, that one counts: 100000 arenas are asked for and 4094 made. Source: jemalloc(3), "TUNING" and
 *             "MALLCTL NAMESPACE"
 *   mimalloc  mi_option_get takes a number. The numbers differ from version to version, so their names come from the library itself:
 *             with MIMALLOC_VERBOSE it lists its options at a process's start, in their order. That list's values must be what
 *             mi_option_get says here, or the order was not understood. Source: mimalloc's "Environment Options", mimalloc.h
 *   tcmalloc  gperftools has properties, else the flag that the variable sets, which its library exports by names that are meant to
 *             deter linking; reading is what we need. Source: tcmalloc.html, "Modifying Runtime Behavior", and malloc_extension.h */
#include "replay/proof/settings.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/base/own_process.h"

extern char **environ;

/* ---- what is known of settings beyond their names ------------------------------------------------ */

enum answer_type {
    BY_LENGTH, /* a truth value or a number, as the length of mallctl's answer says; a property of tcmalloc */
    TEXT,      /* mallctl tells a size, which texts share with numbers */
    WHOLE_FLAG,
    REAL_FLAG,
};

struct known {
    enum rep_allocator kind;
    const char *name;
    const char *variable; /* that sets this one alone; NULL: none */
    const char *ask;      /* jemalloc: what came of it, by another name; tcmalloc: its property or flag */
    enum answer_type type;
    long long ignored; /* glibc's malloc ignores this value, and greater ones, without a word; 0: none */
};

#define FLAG(bits, type, name)                                                                               \
    "_ZN" bits "FLAG__namespace_do_not_use_directly_use_DECLARE_" type "_instead" name "E"
#define OF_TCMALLOC(name, ask, type) REP_TCMALLOC, "TCMALLOC_" name, "TCMALLOC_" name, ask, type, 0

static const struct known KNOWN[] = {
    {REP_GLIBC, "glibc.malloc.arena_max", .variable = "MALLOC_ARENA_MAX"},
    {REP_GLIBC, "glibc.malloc.arena_test", .variable = "MALLOC_ARENA_TEST"},
    {REP_GLIBC, "glibc.malloc.check", .ignored = 1}, /* malloc has moved that to a library of its own */
    {REP_GLIBC, "glibc.malloc.mmap_max", .variable = "MALLOC_MMAP_MAX_"},
    {REP_GLIBC, "glibc.malloc.mmap_threshold", .variable = "MALLOC_MMAP_THRESHOLD_",
     .ignored = (32 << 20) + 1},
    {REP_GLIBC, "glibc.malloc.mxfast", .ignored = 161},
    {REP_GLIBC, "glibc.malloc.perturb", .variable = "MALLOC_PERTURB_"},
    {REP_GLIBC, "glibc.malloc.tcache_count", .ignored = 65536},
    {REP_GLIBC, "glibc.malloc.tcache_max", .ignored = 1033},
    {REP_GLIBC, "glibc.malloc.top_pad", .variable = "MALLOC_TOP_PAD_"},
    {REP_GLIBC, "glibc.malloc.trim_threshold", .variable = "MALLOC_TRIM_THRESHOLD_"},
    {REP_JEMALLOC, "opt.narenas", .ask = "arenas.narenas"},
    {REP_JEMALLOC, "opt.tcache", .ask = "thread.tcache.enabled"},
    {REP_JEMALLOC, "opt.tcache_max", .ask = "arenas.tcache_max"},
    {REP_JEMALLOC, "opt.dirty_decay_ms", .ask = "arena.0.dirty_decay_ms"},
    {REP_JEMALLOC, "opt.muzzy_decay_ms", .ask = "arena.0.muzzy_decay_ms"},
    {REP_JEMALLOC, "opt.background_thread", .ask = "background_thread"},
    {REP_JEMALLOC, "opt.max_background_threads", .ask = "max_background_threads"},
    {REP_JEMALLOC, "opt.prof_active", .ask = "prof.active"},
    {REP_JEMALLOC, "opt.dss", .ask = "arena.0.dss", .type = TEXT},
    {REP_JEMALLOC, "opt.junk", .type = TEXT},
    {REP_JEMALLOC, "opt.metadata_thp", .type = TEXT},
    {REP_JEMALLOC, "opt.percpu_arena", .type = TEXT},
    {REP_JEMALLOC, "opt.prof_prefix", .type = TEXT},
    {REP_JEMALLOC, "opt.stats_interval_opts", .type = TEXT},
    {REP_JEMALLOC, "opt.stats_print_opts", .type = TEXT},
    {REP_JEMALLOC, "opt.thp", .type = TEXT},
    {REP_JEMALLOC, "opt.zero_realloc", .type = TEXT},
    {OF_TCMALLOC("MAX_TOTAL_THREAD_CACHE_BYTES", "tcmalloc.max_total_thread_cache_bytes", BY_LENGTH)},
    {OF_TCMALLOC("AGGRESSIVE_DECOMMIT", "tcmalloc.aggressive_memory_decommit", BY_LENGTH)},
    {OF_TCMALLOC("HEAP_LIMIT_MB", "tcmalloc.heap_limit_mb", BY_LENGTH)},
    {OF_TCMALLOC("RELEASE_RATE", FLAG("62", "double", "27FLAGS_tcmalloc_release_rate"), REAL_FLAG)},
    {OF_TCMALLOC("LARGE_ALLOC_REPORT_THRESHOLD",
                 FLAG("61", "int64", "43FLAGS_tcmalloc_large_alloc_report_threshold"), WHOLE_FLAG)},
};

/* Looks up a setting; of most nothing is known but the name. */
static struct known known_of(enum rep_allocator kind, const char *name)
{
    for (size_t i = 0; i < REP_COUNT_OF(KNOWN); i++)
        if (KNOWN[i].kind == kind && strcmp(KNOWN[i].name, name) == 0)
            return KNOWN[i];
    return (struct known){.kind = kind, .name = name};
}

const char *rep_setting_set_by(enum rep_allocator kind, const char *variable)
{
    for (size_t i = 0; i < REP_COUNT_OF(KNOWN); i++)
        if (KNOWN[i].kind == kind && KNOWN[i].variable != NULL && strcmp(KNOWN[i].variable, variable) == 0)
            return KNOWN[i].name;
    return NULL;
}

/* ---- what another program of this environment prints, without malloc --------------------------- */

#define VARIABLES_MAX     4096u
#define LISTING_BYTES_MAX 32768u
#define LISTING_SECONDS   10u /* a program that takes longer to print its list is ended */

/* Runs in the child of vfork, which shares our memory: it writes to its variables and `variables` only. */
__attribute__((noreturn)) static void become(char **arguments, char *variable, int out)
{
    static char *variables[VARIABLES_MAX];
    size_t count = 0;
    for (; environ[count] != NULL && count + 2 < VARIABLES_MAX; count++)
        variables[count] = environ[count];
    variables[count] = variable; /* NULL ends the list one earlier */
    variables[count + 1] = NULL;
    const int null = open("/dev/null", O_RDONLY);
    (void)alarm(LISTING_SECONDS); /* exec keeps it */
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        execve(arguments[0], arguments, variables);
    _exit(127);
}

static pid_t start(char **arguments, char *variable, int out)
{
    const pid_t child = vfork(); /* no handlers of the allocator's run, as they would at fork */
    if (child == 0)
        become(arguments, variable, out);
    return child;
}

/* Runs a program with one argument, and a variable besides those of this process (NULL: none), and keeps what it prints, standard
 * output and error together. Returns the first 32 KiB of it, in static storage that the next call overwrites; "" when it could not
 * be started or printed nothing. */
static const char *listing_of(const char *path, const char *argument, const char *variable)
{
    static char text[LISTING_BYTES_MAX];
    char *arguments[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)argument, NULL};
    int ends[2];
    size_t length = 0;
    text[0] = '\0';
    if (path == NULL || pipe2(ends, O_CLOEXEC) != 0)
        return text;
    const pid_t child = start(arguments, (char *)(uintptr_t)variable, ends[1]);
    (void)close(ends[1]); /* nothing was written by us */
    while (child > 0 && length < sizeof text - 1) {
        const ssize_t count = read(ends[0], text + length, sizeof text - 1 - length);
        if (count == 0 || (count < 0 && errno != EINTR))
            break;
        length += count > 0 ? (size_t)count : 0;
    }
    (void)close(ends[0]); /* one that prints more is ended by SIGPIPE */
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    text[length] = '\0';
    return text;
}

/* ---- glibc ------------------------------------------------------------------------------------ */

static const char *loader_path(void)
{
    Dl_info info;
    const unsigned long base = getauxval(AT_BASE);
    void *address;
    memcpy(&address, &base, sizeof address);
    return base != 0 && dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* Objects on pages of a pool (2: of the default size; else of that many bytes) need some pages in it. */
static bool has_pool(long long asked)
{
    static const char *const COUNTS[] = {"nr_hugepages", "nr_overcommit_hugepages"};
    const uint64_t kib = asked == 2 ? rep_proc_number("/proc/meminfo", "Hugepagesize:", 0)
                                    : (uint64_t)asked / 1024;
    uint64_t pages = 0;
    for (size_t i = 0; i < REP_COUNT_OF(COUNTS); i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-%llukB/%s", (unsigned long long)kib,
                 COUNTS[i]);
        pages += rep_proc_number(path, "", 0); /* no such size: none */
    }
    return pages > 0;
}

static bool read_glibc(struct rep_settings *settings, struct rep_setting *setting)
{
    const char *loader = loader_path(), *list = listing_of(loader, "--list-tunables", NULL);
    const size_t length = strlen(setting->name);
    const long long ignored = known_of(REP_GLIBC, setting->name).ignored;
    long long asked;
    if (strstr(list, "glibc.malloc.") == NULL)
        return rep_settings_refuse(settings,
                                   "the setting %s cannot be proven: the loader '%s' lists no tunables",
                                   setting->name, loader != NULL ? loader : "?");
    if (!rep_settings_number(setting->asked, &asked))
        return rep_settings_refuse(settings, "the setting %s: '%s' is no whole number", setting->name,
                                   setting->asked);
    if (ignored > 0 && asked >= ignored)
        return rep_settings_refuse(settings, "the setting %s=%s has no effect: malloc takes at most %lld",
                                   setting->name, setting->asked, ignored - 1);
    if (strcmp(setting->name, "glibc.malloc.hugetlb") == 0 && asked >= 2 && !has_pool(asked))
        return rep_settings_refuse(
            settings,
            "the setting %s=%s has no effect: the kernel has no huge pages of that size in its pool "
            "(vm.nr_hugepages)",
            setting->name, setting->asked);
    for (const char *line = list; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, setting->name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 2;
        snprintf(setting->found, sizeof setting->found, "%.*s", (int)strcspn(value, " \n"), value);
        setting->from = "the loader";
        return true;
    }
    return rep_settings_refuse(
        settings,
        "the setting %s=%s cannot be proven: this C library has no tunable of that name; "
        "is it spelt right?",
        setting->name, setting->asked);
}

#define HEAP_BYTES                                                                                           \
    (UINT64_C(64) << 20) /* HEAP_MAX_SIZE: each arena but the first lies in heaps, at multiples of it */

/* A heap begins with the address of its arena, which of an arena's first heap lies right behind that (struct _heap_info). malloc_info would walk all free memory, tens of milliseconds behind a workload that freed much. */
static bool begins_arena(uintptr_t heap)
{
    uintptr_t arena;
    const void *at;
    memcpy(&at, &heap, sizeof at);
    memcpy(&arena, at, sizeof arena);
    return arena > heap && arena - heap < 256;
}

static struct rep_arenas arenas_of_glibc(void)
{
    char line[512];
    struct rep_arenas found = {.made = 1};
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *at;
        const unsigned long long begin = strtoull(line, &at, 16);
        const unsigned long long end = *at == '-' ? strtoull(at + 1, &at, 16) : begin;
        if (strncmp(at, " rw-p 00000000 00:00 0", 22) != 0)
            continue;
        for (uint64_t heap = (begin + HEAP_BYTES - 1) / HEAP_BYTES * HEAP_BYTES; heap < end;
             heap += HEAP_BYTES)
            found.made += begins_arena((uintptr_t)heap);
    }
    if (maps == NULL)
        return (struct rep_arenas){0};
    fclose(maps);
    return found;
}

/* ---- jemalloc --------------------------------------------------------------------------------- */

struct answer {
    size_t length; /* of the value: that tells its type */
    union {
        bool flag;
        unsigned number;
        ssize_t large; /* the unsigned ones that need the top bit do not occur */
        const char *text;
    } value;
};

typedef int mallctl_function(const char *, void *, size_t *, void *, size_t);

/* mallctl refuses with EINVAL a length that is not the value's own: that tells which type it has.
 * Returns 0 or what mallctl did. */
static int ask(mallctl_function *mallctl, const char *name, struct answer *ret_answer)
{
    static const size_t LENGTHS[] = {sizeof(bool), sizeof(unsigned), sizeof(size_t)};
    int error = EINVAL;
    for (size_t i = 0; i < REP_COUNT_OF(LENGTHS); i++) {
        struct answer answer = {.length = LENGTHS[i]};
        error = mallctl(name, &answer.value, &answer.length, NULL, 0);
        if (error == 0 && answer.length == LENGTHS[i]) {
            *ret_answer = answer;
            return 0;
        }
        if (error == ENOENT)
            break;
    }
    return error != 0 ? error : EINVAL;
}

/* The arena of large objects is one besides those that are asked for; older versions have none. */
static unsigned arenas_besides(mallctl_function *mallctl)
{
    struct answer threshold;
    return ask(mallctl, "opt.oversize_threshold", &threshold) == 0 && threshold.length == sizeof(size_t) &&
           threshold.value.large != 0;
}

static bool read_jemalloc(struct rep_settings *settings, struct rep_setting *setting)
{
    const struct known known = known_of(REP_JEMALLOC, setting->name);
    mallctl_function *mallctl;
    struct answer answer;
    if (!rep_symbol("mallctl", &mallctl))
        return false;
    const int error = ask(mallctl, setting->name, &answer);
    if (error == ENOENT)
        return rep_settings_refuse(
            settings, "the setting %s=%s cannot be proven: this jemalloc has no '%s'; is it spelt right?",
            setting->name, setting->asked, setting->name);
    if (error != 0)
        return false;
    if (known.ask != NULL && ask(mallctl, known.ask, &answer) == 0 /* older versions do not know each */
        && strcmp(known.ask, "arenas.narenas") == 0)
        answer.value.number -= arenas_besides(mallctl);
    if (answer.length == sizeof(bool))
        snprintf(setting->found, sizeof setting->found, "%s", answer.value.flag ? "true" : "false");
    else if (answer.length == sizeof(unsigned))
        snprintf(setting->found, sizeof setting->found, "%u", answer.value.number);
    else if (known.type == TEXT)
        snprintf(setting->found, sizeof setting->found, "%s",
                 answer.value.text != NULL ? answer.value.text : "");
    else
        snprintf(setting->found, sizeof setting->found, "%zd", answer.value.large);
    setting->from = "mallctl";
    return true;
}

static struct rep_arenas arenas_of_jemalloc(void)
{
    mallctl_function *mallctl;
    struct answer answer;
    struct rep_arenas found = {0};
    uint64_t epoch = 1; /* written, it brings what is told of arenas up to date */
    if (!rep_symbol("mallctl", &mallctl) || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0 ||
        ask(mallctl, "arenas.narenas", &answer) != 0)
        return found;
    found.most = answer.value.number - arenas_besides(mallctl);
    for (uint64_t i = 0; i < found.most; i++) {
        char name[48];
        snprintf(name, sizeof name, "arena.%llu.initialized", (unsigned long long)i);
        found.made += ask(mallctl, name, &answer) == 0 && answer.value.flag;
    }
    return found;
}

/* ---- mimalloc --------------------------------------------------------------------------------- */

/* Sizes are kept in KiB: "1G" reads 1048576. */
static void spell_size(struct rep_setting *setting)
{
    char *end;
    const unsigned long long number = strtoull(setting->asked, &end, 10);
    const int unit = toupper((unsigned char)*end);
    const unsigned shift = unit == 'M' ? 10 : unit == 'G' ? 20 : 0;
    if (end != setting->asked && (unit == 'K' || unit == 'M' || unit == 'G') && number < 1u << 30 &&
        (end[1] == '\0' || strcasecmp(end + 1, "iB") == 0 || strcasecmp(end + 1, "B") == 0))
        snprintf(setting->asked, sizeof setting->asked, "%llu", number << shift);
}

static bool read_mimalloc(struct rep_settings *settings, struct rep_setting *setting)
{
    static const char PREFIX[] = "MIMALLOC_", LINE[] = "mimalloc: option '";
    const bool is_variable = strncmp(setting->name, PREFIX, sizeof PREFIX - 1) == 0;
    const char *name = setting->name + (is_variable ? sizeof PREFIX - 1 : 0);
    const char *at = listing_of("/proc/self/exe", "--help", "MIMALLOC_VERBOSE=1");
    long (*option_get)(int);
    bool found = false;
    int number = 0;
    if (!rep_symbol("mi_option_get", &option_get))
        return false;
    for (; (at = strstr(at, LINE)) != NULL; number++) {
        at += sizeof LINE - 1;
        const size_t length = strcspn(at, "'\n");
        if (at[length] != '\'' || at[length + 1] != ':')
            return false;
        const long value = option_get(number);
        const bool is_verbose = length == 7 && strncmp(at, "verbose", 7) == 0; /* ours, there */
        if (!is_verbose && strtol(at + length + 2, NULL, 10) != value)
            return rep_settings_refuse(
                settings, "mimalloc's list of options says '%.*s' of '%.*s', mi_option_get %ld",
                (int)strcspn(at + length + 2, "\n"), at + length + 2, (int)length, at, value);
        if (length != strlen(name) || strncasecmp(at, name, length) != 0)
            continue;
        snprintf(setting->found, sizeof setting->found, "%ld", value);
        setting->from = "mi_option_get";
        found = true;
        if (strcasecmp(name, "reserve_os_memory") == 0)
            spell_size(setting);
    }
    if (!found && number > 0)
        return rep_settings_refuse(
            settings,
            "the setting %s=%s cannot be proven: this mimalloc has no option '%s'; is it "
            "spelt right?",
            setting->name, setting->asked, name);
    return found;
}

/* ---- tcmalloc --------------------------------------------------------------------------------- */

static bool read_tcmalloc(struct rep_settings *settings, struct rep_setting *setting)
{
    static const char PROPERTY[] = "MallocExtension_GetNumericProperty";
    const struct known known = known_of(REP_TCMALLOC, setting->name);
    const char *asked = known.ask != NULL ? known.ask : setting->name; /* any property may be expected */
    int (*numeric)(const char *, size_t *);
    const void *flag;
    size_t value;
    if (known.type == BY_LENGTH && (!rep_symbol(PROPERTY, &numeric) || !numeric(asked, &value)))
        return false;
    if (known.type != BY_LENGTH && !rep_symbol(asked, &flag))
        return false;
    if (known.type == BY_LENGTH)
        snprintf(setting->found, sizeof setting->found, "%zu", value);
    else if (known.type == REAL_FLAG)
        snprintf(setting->found, sizeof setting->found, "%g", *(const double *)flag);
    else
        snprintf(setting->found, sizeof setting->found, "%lld", (long long)*(const int64_t *)flag);
    setting->from = known.type == BY_LENGTH ? PROPERTY : "its flag";
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------- */

const struct rep_settings_kind rep_settings_kinds[REP_ALLOCATORS] = {
    [REP_GLIBC] = {"glibc", "gnu_get_libc_version", NULL, "GLIBC_TUNABLES", ':', '=', "", false, read_glibc,
                   arenas_of_glibc},
    [REP_JEMALLOC] = {"jemalloc", "mallctl", "MALLOC_CONF", "MALLOC_CONF", ',', ':', "opt.", false,
                      read_jemalloc, arenas_of_jemalloc},
    [REP_MIMALLOC] = {"mimalloc", "mi_option_get", "MIMALLOC_", .is_each = true, .read = read_mimalloc},
    [REP_TCMALLOC] = {"tcmalloc", "MallocExtension_GetNumericProperty", "TCMALLOC_", .read = read_tcmalloc},
};
