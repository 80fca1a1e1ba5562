/* left_out.c - rows of names, and a walk over each stack from the allocation up. */
#include "sites/stacks/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

/* The beginnings of their files' names. */
static const char C_MODULES[] =
    "libc.so|libc-|ld-linux|ld-2|ld.so|ld64.so|libpthread|libresolv.so|libnss_|libdl.|librt.|libm.so";
static const char CXX_MODULES[] = "libstdc++.so|libc++.so|libc++abi.so|libgcc_s.so";

/* The beginnings of the names, without the C library's prefixes, of its functions that hand what they allocate to their caller. */
static const char HAND_OUT[] =
    "malloc|calloc|realloc|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|strdup|strndup|wcsdup|"
    "asprintf|vasprintf|obstack_|getdelim|getline|getcwd|get_current_dir_name|realpath|"
    "canonicalize_file_name|fopen|fdopen|popen|proc_open|tmpfile|fmemopen|open_memstream|open_wmemstream|"
    "opendir|fdopendir|alloc_dir|scandir|glob|wordexp|regcomp|re_compile|getaddrinfo|getifaddrs|"
    "if_nameindex|iconv_open|newlocale|duplocale|hcreate|tsearch|argz_|envz_|tempnam|backtrace_symbols|"
    "posix_spawn|sem_open|mq_open|timer_create|fts_|setmntent|catopen|res_ninit|pthread_attr_";

/* The begin of a language's run-time: what is called from there is its own, as far as it does not come to the program's code. */
static const char PYTHON_BEGINS[] =
    "Py_InitializeFromConfig|Py_InitializeEx|_Py_PreInitialize|Py_PreInitialize";

/* "__GI___strdup", "_IO_new_fopen" and "__isoc99_sscanf" are what their last parts say. */
static bool hands_out(const char *function)
{
    static const char *const BEFORE[] = {"_", "GI_", "IO_", "libc_", "new_"};
    const char *bare = function;
    for (size_t i = 0; i < sizeof BEFORE / sizeof BEFORE[0];) {
        const bool is_there = strncmp(bare, BEFORE[i], strlen(BEFORE[i])) == 0;
        bare += is_there ? strlen(BEFORE[i]) : 0;
        i = is_there ? 0 : i + 1;
    }
    return site_begins(bare, HAND_OUT) || strstr(bare, "scanf") != NULL;
}

static uint32_t parent_of(const struct site_stacks *stacks, uint32_t node)
{
    return fp_site_node_at(&stacks->sites->stacks, node).parent;
}

/* The first node from there up that is in none of these modules; less than FP_SITE_FIRST: all are. ret_last: the function before it. */
static uint32_t leave(const struct site_stacks *stacks, uint32_t node, bool also_cxx, const char **ret_last)
{
    *ret_last = NULL;
    for (; node >= FP_SITE_FIRST; node = parent_of(stacks, node)) {
        const char *module = site_node_module(stacks, node);
        if (!site_begins(module, C_MODULES) && !(also_cxx && site_begins(module, CXX_MODULES)))
            break;
        *ret_last = site_node_function(stacks, node);
    }
    return node;
}

/* A function without a name may be the end of one that hands out: a jump to it leaves no frame. */
static bool is_libraries(const struct site_stacks *stacks, uint32_t site)
{
    const char *called;
    const bool is_whole = fp_site_cut(&stacks->sites->stacks, site) == FP_CUT_NONE;
    const uint32_t caller = leave(stacks, site, false, &called);
    if (called != NULL && caller >= FP_SITE_FIRST)
        return !site_is_unnamed(called) && !hands_out(called);
    return is_whole && leave(stacks, site, true, &called) < FP_SITE_FIRST && called != NULL;
}

/* A stack of functions of Rust's libraries alone leads to the one that calls main. */
static bool is_runtimes(const struct site_stacks *stacks, uint32_t site)
{
    bool is_rust = true;
    for (uint32_t node = site; node >= FP_SITE_FIRST; node = parent_of(stacks, node)) {
        const char *function = site_node_function(stacks, node);
        if (site_begins(function, PYTHON_BEGINS) ||
            strcmp(function, "global constructors keyed to __gnu_cxx::__freeres()") == 0 ||
            (is_rust && strncmp(function, "std::rt::lang_start", 19) == 0))
            return true;
        is_rust = is_rust && site_wrapper_by_name(function);
    }
    return false;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *name)
{
    const bool is_at_begin = *pattern == '^';
    const char *at = name;
    for (pattern += is_at_begin; *pattern != '\0';) {
        const size_t length = strcspn(pattern, "*");
        const bool is_at_end = length > 0 && pattern[length] == '\0' && pattern[length - 1] == '$';
        char *part = res_strndup(pattern, length - is_at_end);
        const size_t bytes = strlen(part), rest = strlen(at);
        const char *found = !is_at_end                                              ? strstr(at, part)
                            : rest >= bytes && strcmp(at + rest - bytes, part) == 0 ? at + rest - bytes
                                                                                    : NULL;
        free(part);
        if (found == NULL || (is_at_begin && at == name && found != name && length > 0))
            return false;
        at = found + bytes;
        pattern += length + (pattern[length] == '*');
    }
    return true;
}

bool site_patterns_read(const char *path, struct res_texts *ret_patterns)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    *ret_patterns = (struct res_texts){0};
    while (file != NULL && getline(&line, &room, file) >= 0) {
        char *text = line + strspn(line, " \t");
        text += strncmp(text, "leak:", 5) == 0 ? 5 : 0;
        text[strcspn(text, "\r\n")] = '\0';
        if (text[0] == '\0' || text[0] == '#')
            continue;
        res_texts_add(ret_patterns, text);
    }
    const bool is_read = file != NULL && !ferror(file);
    const int error = errno;
    if (file != NULL)
        fclose(file); /* only read from */
    free(line);
    errno = error;
    return is_read;
}

static bool is_ignored(const struct res_texts *patterns, const struct site_stack_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < patterns->count; k++)
            if (matches(patterns->items[k], frames[i].words->function) ||
                matches(patterns->items[k], frames[i].module))
                return true;
    return false;
}

unsigned char *site_parts_find(const struct site_stacks *stacks, const struct res_texts *patterns,
                               struct site_sum ret_sums[SITE_PARTS])
{
    const struct conv_sites *sites = stacks->sites;
    struct site_stack_frame *frames = res_calloc(SITE_FRAMES_MAX, sizeof *frames);
    unsigned char *parts = res_calloc(sites->count + 1, sizeof *parts);
    memset(ret_sums, 0, SITE_PARTS * sizeof *ret_sums);
    for (size_t i = 0; i < sites->count; i++) {
        const struct conv_site_counts *counts = &sites->counts[i];
        enum site_part part = SITE_SHOWN;
        if (counts->live_objects > 0 &&
            (is_libraries(stacks, counts->site) || is_runtimes(stacks, counts->site)))
            part = SITE_KEPT;
        else if (counts->live_objects > 0 && patterns->count > 0 &&
                 is_ignored(patterns, frames, site_stack_frames(stacks, counts->site, frames, NULL)))
            part = SITE_IGNORED;
        parts[i] = (unsigned char)part;
        ret_sums[part].bytes += counts->live_bytes;
        ret_sums[part].objects += counts->live_objects;
    }
    free(frames);
    return parts;
}
