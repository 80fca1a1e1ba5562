/* smaps.c - the text of smaps, the names in it, and what ELF files say of their .bss. */
#include "results/measure/watch/smaps.h"

#include <elf.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/support.h"

#define MEMORY_FILE    "/memfd:"
#define OWN_FILE       MEMORY_FILE "mallab-apart" /* shim/preload/apart.c */
#define LINE_MAX_BYTES 512u /* a longer line is a long path: its beginning tells all that counts */
#define SEGMENTS_MAX   128u
#define KNOWN_MAX      64u /* files remembered: the same ones are asked for in every sample */
#define PATH_MAX_BYTES 256u
#define UNWINDER       "/libunwind" /* of a library that walks the stack */
#define TABLES_TIMES                                                                                         \
    7.0 /* .eh_frame_hdr has 8 bytes a function, and .eh_frame about six times as much: 4.6 to 8.3 in 14 files */

/* ---- names: a process has some ten, and rarely a hundred --------------------------------------- */

uint64_t res_files_name(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static struct res_file *find(struct res_files *files, uint64_t name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->all[i].name == name)
            return &files->all[i];
    if (files->count == RES_FILES_MAX)
        return NULL;
    files->all[files->count] = (struct res_file){.name = name};
    return &files->all[files->count++];
}

void res_files_add(struct res_files *files, uint64_t name, uint64_t bytes, uint64_t written_bytes)
{
    struct res_file *file = find(files, name);
    if (file == NULL)
        return;
    file->resident_bytes += bytes;
    file->written_bytes += written_bytes;
}

void res_files_keep_written(struct res_files *files)
{
    files->walk_stacks = false; /* what it reads of files is in memory once */
    for (size_t i = 0; i < files->count; i++)
        files->all[i].resident_bytes = files->all[i].written_bytes;
}

static void raise_bytes(uint64_t *bytes, uint64_t sample)
{
    *bytes = *bytes < sample ? sample : *bytes;
}

void res_files_raise(struct res_files *files, const struct res_files *sample)
{
    files->walk_stacks = files->walk_stacks || sample->walk_stacks;
    for (size_t i = 0; i < sample->count; i++) {
        struct res_file *file = find(files, sample->all[i].name);
        if (file == NULL)
            continue;
        file->tables_share = sample->all[i].tables_share;
        raise_bytes(&file->resident_bytes, sample->all[i].resident_bytes);
        raise_bytes(&file->written_bytes, sample->all[i].written_bytes);
    }
}

/* Of the code with most in memory, through which the calls come. */
static double tables_of(const struct res_files *program)
{
    const struct res_file *most = NULL;
    for (size_t i = 0; i < program->count; i++)
        if (program->all[i].tables_share > 0 &&
            (most == NULL || most->resident_bytes < program->all[i].resident_bytes))
            most = &program->all[i];
    return most != NULL ? (double)most->resident_bytes * most->tables_share : 0;
}

/* 0 of a name that is not there. */
static double resident(const struct res_files *files, uint64_t name)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->all[i].name == name)
            return (double)files->all[i].resident_bytes;
    return 0;
}

double res_files_brought(const struct res_files *startup, const struct res_files *base_startup,
                         const struct res_files *program)
{
    double brought = 0;
    for (size_t i = 0; i < startup->count; i++) {
        const uint64_t name = startup->all[i].name;
        const double there = fmax(resident(base_startup, name), resident(program, name));
        brought += fmax((double)startup->all[i].resident_bytes - there, 0);
    }
    for (size_t i = 0; i < base_startup->count; i++)
        if (resident(startup, base_startup->all[i].name) <= 0)
            brought -= (double)base_startup->all[i].resident_bytes;
    return brought + (startup->walk_stacks && !base_startup->walk_stacks ? tables_of(program) : 0);
}

/* ---- what the segments of an ELF file tell ----------------------------------------------------- */

struct elf {
    uint64_t bss_bytes;  /* UINT64_MAX: not known */
    double tables_share; /* unwinding tables, of the whole file */
};

static bool read_headers(FILE *file, Elf64_Phdr *ret_segments, size_t *ret_count)
{
    Elf64_Ehdr head;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof *ret_segments ||
        head.e_phnum > SEGMENTS_MAX || head.e_phoff > INT32_MAX)
        return false;
    *ret_count = head.e_phnum;
    return fseek(file, (long)head.e_phoff, SEEK_SET) == 0 &&
           fread(ret_segments, sizeof *ret_segments, *ret_count, file) == *ret_count;
}

static struct elf look(const char *path)
{
    Elf64_Phdr segments[SEGMENTS_MAX];
    size_t count = 0;
    uint64_t file_end = 0, memory_end = 0;
    struct elf elf = {.bss_bytes = UINT64_MAX};
    struct stat facts;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return elf;
    const bool known = fstat(fileno(file), &facts) == 0 && facts.st_size > 0 &&
                       read_headers(file, segments, &count);
    (void)fclose(file); /* it was only read */
    if (!known)
        return elf;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *one = &segments[i];
        if (one->p_type == PT_GNU_EH_FRAME)
            elf.tables_share = fmin(TABLES_TIMES * (double)one->p_memsz / (double)facts.st_size, 1);
        if (one->p_type != PT_LOAD || one->p_vaddr + one->p_memsz < memory_end)
            continue;
        file_end = (one->p_vaddr + one->p_filesz + page) & ~page;
        memory_end = (one->p_vaddr + one->p_memsz + page) & ~page;
    }
    elf.bss_bytes = memory_end > file_end ? memory_end - file_end : 0;
    return elf;
}

static struct elf elf_of(const char *path)
{
    static struct {
        char path[PATH_MAX_BYTES];
        struct elf elf;
    } known[KNOWN_MAX];
    static size_t count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i].path, path) == 0)
            return known[i].elf;
    }
    const struct elf elf = look(path);
    if (count < KNOWN_MAX && strlen(path) < PATH_MAX_BYTES) {
        strcpy(known[count].path, path);
        known[count++].elf = elf;
    }
    return elf;
}

/* ---- mappings: a head line, then its "Rss:", then its "Anonymous:" ----------------------------- */

struct mapping {
    unsigned long long end;
    bool is_heap, is_own;
    uint64_t name; /* of itself, or of the file whose .bss it begins with; 0: none */
    uint64_t resident_bytes, anonymous_bytes;
    uint64_t
        bss_bytes; /* so many of it, at most, are a file's .bss: the kernel joins what lies side by side */
    bool bss_is_heap;
    double tables_share;
};

/* Where the last writable mapping of a file ended: .bss goes on there. A memory file has none, and what an allocator
 * maps often lies right behind one of libmallab-apart.so's. */
struct state {
    const char *allocator;
    struct mapping *all; /* in the order of their addresses, none within another */
    size_t count, room;
    unsigned long long file_end;
    uint64_t file_name, file_bss_bytes;
    bool file_is_allocator, walk_stacks;
};

/* The kernel hands out the text in pieces, and the program goes on between two of them. A mapping that grew meanwhile,
 * or was joined with one beside it, is listed once more: what it was before is dropped. */
static struct mapping *place_for(struct state *state, unsigned long long begin)
{
    while (state->count > 0 && state->all[state->count - 1].end > begin)
        state->count--;
    if (state->count == state->room) {
        state->room = state->room * 2 + 64;
        state->all = res_realloc(state->all, state->room, sizeof *state->all);
    }
    return &state->all[state->count++];
}

static void take_head(struct state *state, unsigned long long begin, unsigned long long end, char writable,
                      const char *name)
{
    const bool has_name = *name != '\0', is_brk = strcmp(name, "[heap]") == 0;
    const bool is_file = has_name && name[0] != '[';
    const bool is_allocator = is_file && state->allocator != NULL && strcmp(name, state->allocator) == 0;
    struct mapping *mapping = place_for(state, begin);
    *mapping = (struct mapping){
        .end = end,
        .is_heap = is_brk || is_allocator || !has_name,
        .is_own = strncmp(name, OWN_FILE, sizeof OWN_FILE - 1) == 0,
        .name = has_name && !is_brk ? res_files_name(name) : 0,
    };
    if (!has_name && begin == state->file_end) {
        mapping->name = state->file_name;
        mapping->bss_bytes = state->file_bss_bytes;
        mapping->bss_is_heap = state->file_is_allocator;
    }
    if (is_file && writable == 'w' && strncmp(name, MEMORY_FILE, sizeof MEMORY_FILE - 1) != 0) {
        const struct elf elf = elf_of(name);
        state->file_end = end;
        state->file_name = mapping->name;
        state->file_is_allocator = is_allocator;
        state->file_bss_bytes = elf.bss_bytes;
        state->walk_stacks = state->walk_stacks || strstr(name, UNWINDER) != NULL;
        mapping->tables_share = elf.tables_share;
    }
}

/* Which pages of .bss are written is not told: all of it at most, so that what is the heap's is at least that. */
static void add(struct res_smaps *sums, const struct mapping *mapping)
{
    const uint64_t bytes = mapping->anonymous_bytes;
    const uint64_t bss = bytes < mapping->bss_bytes ? bytes : mapping->bss_bytes;
    const uint64_t heap = (mapping->bss_is_heap ? bss : 0) + (mapping->is_heap ? bytes - bss : 0);
    sums->heap_bytes += heap;
    sums->apart_bytes += bytes - heap;
    sums->own_bytes += mapping->is_own ? bytes : 0;
    if (mapping->name != 0 && mapping->resident_bytes > heap)
        res_files_add(&sums->files, mapping->name, mapping->resident_bytes - heap, bytes - heap);
    struct res_file *file = mapping->tables_share > 0 ? find(&sums->files, mapping->name) : NULL;
    if (file != NULL)
        file->tables_share = mapping->tables_share;
}

static void take_line(struct state *state, const char *line)
{
    unsigned long long begin, end, kilobytes;
    char access[5];
    int name_at = 0;
    struct mapping *last = state->count > 0 ? &state->all[state->count - 1] : NULL;
    if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end, access, &name_at) >= 3 && name_at > 0 &&
        strlen(access) == 4)
        take_head(state, begin, end, access[1], line + name_at);
    else if (last != NULL && sscanf(line, "Rss: %llu kB", &kilobytes) == 1)
        last->resident_bytes = kilobytes * 1024;
    else if (last != NULL && sscanf(line, "Anonymous: %llu kB", &kilobytes) == 1)
        last->anonymous_bytes = kilobytes * 1024;
}

static struct res_smaps sums_of(const struct state *state)
{
    struct res_smaps sums = {.files.walk_stacks = state->walk_stacks};
    for (size_t i = 0; i < state->count; i++)
        add(&sums, &state->all[i]);
    return sums;
}

struct res_smaps res_smaps_parse(const char *text, size_t length, const char *allocator)
{
    struct state state = {.allocator = allocator};
    while (length > 0) {
        char line[LINE_MAX_BYTES + 1];
        const char *newline = memchr(text, '\n', length);
        const size_t whole = newline != NULL ? (size_t)(newline - text) : length;
        const size_t kept = whole < LINE_MAX_BYTES ? whole : LINE_MAX_BYTES;
        memcpy(line, text, kept);
        line[kept] = '\0';
        take_line(&state, line);
        text += whole;
        length -= whole;
        if (newline != NULL) {
            text++;
            length--;
        }
    }
    const struct res_smaps sums = sums_of(&state);
    free(state.all);
    return sums;
}
