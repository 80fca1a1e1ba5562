/* wrappers.c - functions that only hand on what they are asked for.
 *
 * A function with a name is one by its name: rows in wrappers.c. So is all that a Python function calls, where a perf map names
 * those: the interpreter allocates for them. One without (stripped code) is one where it stands next to the
 * allocation, after other wrappers, and is called from many places: sqlite3's and python's own malloc are so. A guess, which
 * moves only under what heading an allocation stands; `--by stack` shows all frames. */
#include "sites/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

#define LEVELS 4 /* unnamed wrappers one above the other */

/* ---- by name --------------------------------------------------------------------------------- */

/* The beginnings of wrappers' names. */
static const char BEGINNINGS[] =
    "operator new|std::|__gnu_cxx::|g_malloc|g_realloc|g_strdup|g_slice_|PyMem_|PyObject_Malloc|_PyMem_|"
    "_PyObject_Malloc|sqlite3Malloc|sqlite3Realloc|sqlite3DbMalloc|sqlite3DbRealloc|sqlite3MemMalloc|"
    "Perl_safesys|ruby_xmalloc|ruby_xcalloc|ruby_xrealloc|rb_xmalloc|objspace_x|xmalloc|xcalloc|xrealloc|"
    "xstrdup|x2realloc|xz_malloc|__rust_|__rdl_|alloc::|<alloc::|core::|<core::|<std::|hashbrown::|"
    "<hashbrown::|av_malloc|OPENSSL_malloc|CRYPTO_malloc|CRYPTO_zalloc|CRYPTO_realloc|BUF_MEM_grow|"
    "talloc_|_talloc_|apr_palloc|ngx_alloc|ngx_palloc|zmalloc|zcalloc|llvm::allocate_buffer|"
    "llvm::safe_malloc|ggc_internal_alloc|mem_malloc|strdup|strndup|__strdup|__strndup|asprintf|"
    "vasprintf|__vasprintf|getline|__GI_|_IO_|__libc_alloc_buffer|reallocarray";

/* Whole names, but for leading underscores. */
static const char *const WHOLE[] = {"malloc",        "calloc",         "realloc", "memalign",
                                    "aligned_alloc", "posix_memalign", "valloc",  "pvalloc"};

/* The beginnings of a script's functions in a perf map: those of CPython, then those of V8. */
static const char PYTHON[] = "py::", SCRIPTS[] = "py::|JS:|LazyCompile:|Function:|Script:";

bool site_begins(const char *name, const char *beginnings)
{
    for (const char *at = beginnings; *at != '\0'; at += *at == '|') {
        const size_t length = strcspn(at, "|");
        if (strncmp(name, at, length) == 0)
            return true;
        at += length;
    }
    return false;
}

/* A blank that parts a return type from the name; not those of operators ("operator new") and anonymous namespaces. */
static bool parts_type(const char *short_name, size_t length)
{
    static const char word[] = "operator";
    return length < sizeof word - 1 ||
           strncmp(short_name + length - (sizeof word - 1), word, sizeof word - 1) != 0;
}

void site_short_name(const char *function, char *ret_name, size_t size)
{
    const bool is_operator = strstr(function, "operator<") != NULL || strstr(function, "operator>") != NULL ||
                             strstr(function, "operator(") != NULL || function[0] == '<' ||
                             function[0] == '(' || site_begins(function, SCRIPTS);
    size_t length = 0;
    int depth = 0;
    for (const char *at = function; *at != '\0' && length + 1 < size; at++) {
        if (is_operator) {
            ret_name[length++] = *at;
            continue;
        }
        if (*at == '(' && depth == 0 && strncmp(at, "(anonymous", 10) != 0)
            break;
        depth -= *at == '>' || *at == ')';
        if (depth <= 0 && *at == ' ' && parts_type(ret_name, length))
            length = 0;
        else if (depth <= 0)
            ret_name[length++] = *at;
        depth += *at == '<' || *at == '(';
    }
    ret_name[length] = '\0';
}

bool site_wrapper_by_name(const char *function)
{
    char name[SITE_SHORT_NAME];
    site_short_name(function, name, sizeof name);
    function = name;
    const char *bare = function + strspn(function, "_");
    if (site_begins(function, BEGINNINGS))
        return true;
    for (size_t i = 0; i < sizeof WHOLE / sizeof WHOLE[0]; i++)
        if (strcmp(bare, WHOLE[i]) == 0)
            return true;
    /* Rust's libraries bring functions for its own types: "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem". */
    return function[0] == '<' &&
           site_begins(function + strcspn(function, " :"), " as alloc::| as core::| as std::");
}

bool site_is_unnamed(const char *function)
{
    return strstr(function, "+0x") != NULL;
}

/* ---- by callers ------------------------------------------------------------------------------ */

/* A call of a function without a name: the function, and who calls it there. */
struct call {
    const char *function; /* one pointer for one function: nodes of one question share it */
    uint64_t caller;
    uint32_t node;
};

static int by_function(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    const int order = strcmp(a->function, b->function);
    return order != 0 ? order : (a->caller > b->caller) - (a->caller < b->caller);
}

static size_t callers_of(const struct call *calls, size_t first, size_t end)
{
    size_t callers = 1;
    for (size_t i = first + 1; i < end; i++)
        callers += calls[i].caller != calls[i - 1].caller;
    return callers;
}

/* Nodes that stand next to the allocation and have no name; those called from many places become wrappers. Returns whether any did. */
static bool find_level(const struct site_stacks *stacks, struct call *calls, bool *wrappers)
{
    const struct conv_sites *sites = stacks->sites;
    size_t count = 0;
    bool found = false;
    for (size_t i = 0; i < sites->count; i++) {
        const uint32_t node = site_stack_caller(stacks, sites->counts[i].site);
        const uint32_t parent = fp_site_node_at(&sites->stacks, node).parent;
        const char *function = site_node_function(stacks, node);
        if (node != 0 && site_is_unnamed(function))
            calls[count++] = (struct call){function, fp_site_node_at(&sites->stacks, parent).address, node};
    }
    qsort(calls, count, sizeof *calls, by_function);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && strcmp(calls[end].function, calls[first].function) == 0)
            end++;
        if (callers_of(calls, first, end) < SITE_WRAPPER_CALLERS)
            continue;
        for (size_t i = first; i < end; i++)
            wrappers[calls[i].node] = found = true;
    }
    return found;
}

bool *site_wrappers_find(const struct site_stacks *stacks)
{
    const uint32_t end = stacks->sites->stacks.node_end;
    bool *wrappers = res_calloc(end + 1, sizeof *wrappers);
    struct call *calls = res_calloc(stacks->sites->count + 1, sizeof *calls);
    struct site_stacks own = *stacks;
    own.wrappers = wrappers;
    bool *in_python = res_calloc(end + 1, sizeof *in_python);
    for (uint32_t node = FP_SITE_FIRST; node < end; node++) {
        const char *function = site_node_function(&own, node);
        const uint32_t parent = fp_site_node_at(&stacks->sites->stacks, node).parent; /* a lower number */
        in_python[node] = in_python[parent] || site_begins(function, PYTHON);
        wrappers[node] = (in_python[node] && !site_begins(function, PYTHON)) ||
                         site_wrapper_by_name(function);
    }
    free(in_python);
    for (int level = 0; level < LEVELS && find_level(&own, calls, wrappers); level++)
        ;
    free(calls);
    return wrappers;
}
