/* smaps.c - a mapping's head line, then its "Rss:", then its "Anonymous:". */
#include "results/measure/validate/smaps.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "results/measure/validate/bss.h"

#define MEMORY_FILE    "/memfd:"
#define LINE_MAX_BYTES 512u /* a longer line is a long path: its beginning tells all that counts */

struct mapping {
    bool known; /* a head line was read */
    bool is_heap;
    uint64_t name; /* of itself, or of the file whose .bss it begins with; 0: none */
    uint64_t resident_bytes;
    uint64_t
        bss_bytes; /* so many of it, at most, are a file's .bss: the kernel joins what lies side by side */
    bool bss_is_heap;
};

/* Where the last writable mapping of a file ended: .bss goes on there. A memory file has none, and what an allocator
 * maps often lies right behind one of libmallab-apart.so's. */
struct state {
    const char *allocator;
    struct mapping mapping;
    unsigned long long file_end;
    uint64_t file_name, file_bss_bytes;
    bool file_is_allocator;
    struct res_smaps sums;
};

static void take_head(struct state *state, unsigned long long begin, unsigned long long end, char writable,
                      const char *name)
{
    const bool has_name = *name != '\0', is_brk = strcmp(name, "[heap]") == 0;
    const bool is_file = has_name && name[0] != '[';
    const bool is_allocator = is_file && state->allocator != NULL && strcmp(name, state->allocator) == 0;
    state->mapping = (struct mapping){
        .known = true,
        .is_heap = is_brk || is_allocator || !has_name,
        .name = has_name && !is_brk ? res_files_name(name) : 0,
    };
    if (!has_name && begin == state->file_end) {
        state->mapping.name = state->file_name;
        state->mapping.bss_bytes = state->file_bss_bytes;
        state->mapping.bss_is_heap = state->file_is_allocator;
    }
    if (is_file && writable == 'w' && strncmp(name, MEMORY_FILE, sizeof MEMORY_FILE - 1) != 0) {
        state->file_end = end;
        state->file_name = state->mapping.name;
        state->file_is_allocator = is_allocator;
        state->file_bss_bytes = res_bss_bytes(name);
    }
}

/* Which pages of .bss are written is not told: all of it at most, so that what is the heap's is at least that. */
static void add(struct state *state, uint64_t bytes)
{
    const struct mapping *mapping = &state->mapping;
    const uint64_t bss = bytes < mapping->bss_bytes ? bytes : mapping->bss_bytes;
    const uint64_t heap = (mapping->bss_is_heap ? bss : 0) + (mapping->is_heap ? bytes - bss : 0);
    state->sums.heap_bytes += heap;
    state->sums.apart_bytes += bytes - heap;
    if (mapping->name != 0 && mapping->resident_bytes > heap)
        res_files_add(&state->sums.files, mapping->name, mapping->resident_bytes - heap);
}

static void take_line(struct state *state, const char *line)
{
    unsigned long long begin, end, kilobytes;
    char access[5];
    int name_at = 0;
    if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end, access, &name_at) >= 3 && name_at > 0 &&
        strlen(access) == 4)
        take_head(state, begin, end, access[1], line + name_at);
    else if (state->mapping.known && sscanf(line, "Rss: %llu kB", &kilobytes) == 1)
        state->mapping.resident_bytes = kilobytes * 1024;
    else if (state->mapping.known && sscanf(line, "Anonymous: %llu kB", &kilobytes) == 1)
        add(state, kilobytes * 1024);
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
    return state.sums;
}
