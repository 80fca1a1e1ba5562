/* symbols.c - see names_child.h. */
#include "sites/names/names_child.h"

#include <ctype.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/arrays.h"

/* ---- intervals ------------------------------------------------------------------------------- */

bool intervals_add(struct intervals *intervals, uint64_t start, uint64_t bytes, uint32_t rank,
                   const void *what)
{
    if (intervals->count >= UINT32_MAX / 2 ||
        !FP_GROW(intervals->list, intervals->capacity, intervals->count + 1))
        return false;
    intervals->list[intervals->count] = (struct interval){.start = start,
                                                          .end = bytes <= UINT64_MAX - start ? start + bytes
                                                                                             : UINT64_MAX,
                                                          .what = what,
                                                          .rank = rank,
                                                          .order = (uint32_t)intervals->count};
    intervals->count++;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? 1 : -1; /* of equals the first one is found */
}

void intervals_sort(struct intervals *intervals)
{
    uint64_t reach = 0;
    if (intervals->count > 0)
        qsort(intervals->list, intervals->count, sizeof *intervals->list, compare);
    for (size_t i = 0; i < intervals->count; i++) {
        if (intervals->list[i].end > reach)
            reach = intervals->list[i].end;
        intervals->list[i].reach = reach;
    }
}

/* The number of those that begin at the address or before it. */
static size_t count_before(const struct intervals *intervals, uint64_t address)
{
    size_t low = 0, high = intervals->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (intervals->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct interval *intervals_cover(const struct intervals *intervals, uint64_t address, bool latest)
{
    const struct interval *found = NULL;
    for (size_t i = count_before(intervals, address); i > 0 && intervals->list[i - 1].reach > address; i--) {
        const struct interval *one = &intervals->list[i - 1];
        if (one->end <= address || (found != NULL && found->order > one->order))
            continue;
        found = one;
        if (!latest)
            break;
    }
    return found;
}

void intervals_release(struct intervals *intervals)
{
    free(intervals->list);
    *intervals = (struct intervals){0};
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* Ranks symbols at one address, the one that people know first: `malloc` before `__libc_malloc` before a local label. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
    const unsigned binding = GELF_ST_BIND(symbol->st_info);
    const size_t underscores = strspn(name, "_"), length = strlen(name);
    uint32_t rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
    if (symbol->st_size > 0)
        rank += 4;
    rank = rank << 4 | (uint32_t)(15 - (underscores < 15 ? underscores : 15));
    return rank << 12 | (uint32_t)(4095 - (length < 4095 ? length : 4095));
}

static bool is_function(const GElf_Sym *symbol)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static bool add_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct intervals *symbols)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        const char *name = is_function(&symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name == NULL || name[0] == '\0' || name[0] == '$') /* $x: marks of ARM for what is code */
            continue;
        if (!intervals_add(symbols, symbol.st_value, symbol.st_size, rank_of(&symbol, name), name))
            return false;
    }
    return true;
}

bool symbols_of_elf(Elf *elf, unsigned type, struct intervals *symbols)
{
    GElf_Shdr header;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL; section = elf_nextscn(elf, section))
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type &&
            !add_table(elf, section, &header, symbols))
            return false;
    intervals_sort(symbols);
    return symbols->count > 0;
}

bool symbols_of_perf_map(char *text, size_t size, struct intervals *symbols)
{
    char *const last = text + size - 1;
    for (char *line = text, *next; line < last; line = next) {
        char *end = memchr(line, '\n', (size_t)(last - line)), *behind, *name;
        next = end != NULL ? end + 1 : last;
        *(end != NULL ? end : last) = '\0';
        const uint64_t start = strtoull(line, &behind, 16);
        if (!isxdigit((unsigned char)line[0]) || behind[0] != ' ' || !isxdigit((unsigned char)behind[1]))
            continue;
        const uint64_t bytes = strtoull(behind + 1, &name, 16);
        if (name[0] != ' ' || name[1] == '\0' || bytes == 0 || bytes > UINT64_MAX - start)
            continue;
        if (!intervals_add(symbols, start, bytes, 0, name + 1))
            return false;
    }
    intervals_sort(symbols);
    return true;
}

const struct interval *symbols_name(const struct intervals *symbols, uint64_t address, uint64_t start,
                                    bool latest)
{
    const struct interval *found = intervals_cover(symbols, address, latest);
    const size_t before = count_before(symbols, start);
    if (found != NULL || start == 0 || before == 0)
        return found;
    return symbols->list[before - 1].start == start ? &symbols->list[before - 1] : NULL;
}

/* ---- names as people write them --------------------------------------------------------------- */

#define DEMANGLE_BYTES_MAX                                                                                   \
    8192u /* of a mangled name; longer ones stay as they are, for they can become huge */

/* The strings of C++ by the name that everybody gives them. */
static void shorten_strings(char *name)
{
    static const char LONG[] =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    static const char SHORT[] = "std::string";
    char *to = name;
    for (const char *from = name, *next; *from != '\0'; from = next) {
        const bool is_string = strncmp(from, LONG, sizeof LONG - 1) == 0 &&
                               strncmp(from + sizeof LONG - 1, "::", 2) != 0;
        next = from + (is_string ? sizeof LONG - 1 : 1);
        if (is_string)
            to = (char *)memcpy(to, SHORT, sizeof SHORT - 1) + sizeof SHORT - 1;
        else
            *to++ = *from;
    }
    *to = '\0';
}

/* Cuts what compilers add for a part or a copy of a function: these have one name, for a reader. */
static void cut_clones(char *name)
{
    static const char *const endings[] = {".cold",      ".part.", ".isra.",   ".constprop.",
                                          ".lto_priv.", ".llvm.", " [clone ", "@"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *found = strstr(name, endings[i]);
        if (found != NULL && found > name)
            *found = '\0';
    }
}

char *demangle(const char *symbol)
{
    const bool is_short = strlen(symbol) <= DEMANGLE_BYTES_MAX;
    char *name = is_short ? cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
    if (name != NULL && name[0] == '\0') { /* a name of Rust's that is empty, as _RC0's */
        free(name);
        name = NULL;
    }
    if (name != NULL)
        shorten_strings(name);
    else
        name = strdup(symbol);
    if (name != NULL)
        cut_clones(name);
    return name;
}
