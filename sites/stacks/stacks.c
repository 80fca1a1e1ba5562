/* stacks.c - nodes to questions, answers to frames. */
#include "sites/stacks/stacks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "footprint/base/support.h"

#define NO_QUESTION      UINT32_MAX
#define PERF_MAP_LATE_NS UINT64_C(10000000000) /* that its end may be noticed late */

static void must(enum fp_status status)
{
    if (status != FP_OK)
        res_no_memory();
}

/* ---- questions ------------------------------------------------------------------------------- */

/* A file of the name that a process' perf map has may be of another process, which had the same number before or since: or in
 * another container, or on another machine. Then it was written before the recording began, or after the process had ended. */
static bool is_of_its_time(const struct stat *facts, const struct conv_sites *sites)
{
    const struct conv_survey *survey = &sites->survey;
    const uint64_t written_ns = (uint64_t)facts->st_mtim.tv_sec * UINT64_C(1000000000) +
                                (uint64_t)facts->st_mtim.tv_nsec;
    const uint64_t first_ns = survey->start_unix_ns - survey->selected.from_ns;
    return written_ns >= first_ns - survey->begin_ns &&
           (survey->ran_on || sites->whole_ns == 0 ||
            written_ns <= first_ns + sites->whole_ns + PERF_MAP_LATE_NS);
}

/* The process' code without a file is named by its perf map, if it wrote one: a copy in one of the directories, else the one in
 * /tmp. A workload knows no process, nor addresses. */
static uint32_t add_jit(struct names *names, const struct conv_sites *sites,
                        const struct names_options *options)
{
    const uint32_t process_id = sites->survey.process_id;
    char path[PATH_MAX];
    struct names_module module = {.kind = NAMES_JIT};
    struct stat facts;
    uint32_t number;
    for (size_t i = 0; process_id != 0 && i <= options->directory_count && module.path == NULL; i++) {
        const bool is_own = i == options->directory_count;
        const int length = snprintf(path, sizeof path, "%s/perf-%u.map",
                                    is_own ? "/tmp" : options->directories[i], process_id);
        if ((size_t)length < sizeof path && stat(path, &facts) == 0 &&
            (!is_own || is_of_its_time(&facts, sites)))
            module.path = path;
    }
    must(names_add_module(names, &module, &number));
    return number;
}

/* Returns their numbers among those of names, and room for one more. The caller's to free. */
static uint32_t *add_modules(const struct fp_sites *stacks, const char *executable, struct names *names)
{
    uint32_t *numbers = res_calloc(stacks->module_count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < stacks->module_count; i++) {
        const struct fp_module *from = &stacks->modules[i];
        const struct names_module module = {.kind = NAMES_FILE,
                                            .path = from->path[0] != '\0'   ? from->path
                                                    : executable[0] != '\0' ? executable
                                                                            : "[program]",
                                            .build_id = from->build_id,
                                            .build_id_bytes = from->build_id_bytes};
        must(names_add_module(names, &module, &numbers[i]));
    }
    return numbers;
}

/* The byte before a return address, as its module's file has it. */
static uint64_t address_of(const struct site_stacks *stacks, uint32_t node, uint32_t *ret_module)
{
    const struct fp_sites *all = &stacks->sites->stacks;
    const struct fp_site_node *at = &all->nodes[node];
    const struct fp_module *module = fp_module_map_find(&stacks->map, at);
    *ret_module = module != NULL ? (uint32_t)(module - all->modules) : all->module_count;
    return at->address - 1 - (module != NULL ? module->base : 0);
}

static void ask(struct site_stacks *stacks, uint32_t node, const uint32_t *numbers, bool with_lines)
{
    uint32_t module;
    const uint64_t address = address_of(stacks, node, &module);
    if (numbers != NULL)
        stacks->modules[node] = numbers[module];
    must(names_ask(stacks->names, stacks->modules[node], address, with_lines, &stacks->questions[node]));
}

struct site_stacks site_stacks_make(const struct conv_sites *sites, const struct names_options *options)
{
    const uint32_t end = sites->stacks.node_end;
    struct site_stacks stacks = {
        .sites = sites,
        .names = names_new(options),
        .questions = res_calloc(end + 1, sizeof *stacks.questions),
        .modules = res_calloc(end + 1, sizeof *stacks.modules),
    };
    if (stacks.names == NULL || !fp_module_map_make(&sites->stacks, &stacks.map))
        res_no_memory();
    uint32_t *numbers = add_modules(&sites->stacks, sites->executable, stacks.names);
    numbers[sites->stacks.module_count] = add_jit(stacks.names, sites, options);
    for (uint32_t i = 0; i <= sites->stacks.module_count; i++)
        stacks.module_count = numbers[i] >= stacks.module_count ? numbers[i] + 1 : stacks.module_count;
    for (uint32_t i = 0; i < end; i++)
        stacks.questions[i] = NO_QUESTION;
    for (size_t i = 0; i < sites->count; i++) {
        for (uint32_t node = sites->counts[i].site;
             node >= FP_SITE_FIRST && node < end && stacks.questions[node] == NO_QUESTION &&
             sites->stacks.nodes[node].address != 0;
             node = sites->stacks.nodes[node].parent)
            ask(&stacks, node, numbers, false);
    }
    free(numbers);
    must(names_resolve(stacks.names));
    stacks.wrappers = site_wrappers_find(&stacks);
    for (size_t i = 0; i < sites->count; i++) {
        const uint32_t node = site_stack_caller(&stacks, sites->counts[i].site);
        if (node != 0)
            ask(&stacks, node, NULL, true);
    }
    must(names_resolve(stacks.names));
    return stacks;
}

void site_stacks_release(struct site_stacks *stacks)
{
    names_free(stacks->names);
    fp_module_map_release(&stacks->map);
    free(stacks->questions);
    free(stacks->modules);
    free(stacks->wrappers);
    *stacks = (struct site_stacks){0};
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_asked(const struct site_stacks *stacks, uint32_t node)
{
    return node >= FP_SITE_FIRST && node < stacks->sites->stacks.node_end &&
           stacks->questions[node] != NO_QUESTION;
}

static uint32_t parent_of(const struct site_stacks *stacks, uint32_t node)
{
    return fp_site_node_at(&stacks->sites->stacks, node).parent;
}

void site_stacks_lines(struct site_stacks *stacks, uint32_t site)
{
    for (uint32_t node = site; is_asked(stacks, node); node = parent_of(stacks, node))
        ask(stacks, node, NULL, true);
}

void site_stacks_settle(struct site_stacks *stacks)
{
    must(names_resolve(stacks->names));
}

size_t site_stack_frames(const struct site_stacks *stacks, uint32_t site, struct site_stack_frame *ret_frames,
                         enum fp_cut *ret_cut)
{
    size_t count = 0;
    for (uint32_t node = site; is_asked(stacks, node); node = parent_of(stacks, node)) {
        size_t inlined;
        const struct names_frame *frames = names_frames(stacks->names, stacks->questions[node], &inlined);
        while (inlined-- > 0 && count < SITE_FRAMES_MAX)
            ret_frames[count++] = (struct site_stack_frame){
                &frames[inlined], names_module_name(stacks->names, stacks->modules[node]), node};
    }
    if (ret_cut != NULL)
        *ret_cut = fp_site_cut(&stacks->sites->stacks, site);
    return count;
}

const char *site_node_function(const struct site_stacks *stacks, uint32_t node)
{
    size_t count;
    return is_asked(stacks, node) ? names_frames(stacks->names, stacks->questions[node], &count)->function
                                  : "[unknown]";
}

const char *site_node_module(const struct site_stacks *stacks, uint32_t node)
{
    return is_asked(stacks, node) ? names_module_name(stacks->names, stacks->modules[node]) : "[unknown]";
}

/* Tells whether a node is passed over: a wrapper, or a function without a name that a wrapper calls for what it is asked for. */
static bool is_passed_over(const struct site_stacks *stacks, uint32_t node)
{
    const uint32_t parent = parent_of(stacks, node);
    return stacks->wrappers[node] || (is_asked(stacks, parent) && stacks->wrappers[parent] &&
                                      site_is_unnamed(site_node_function(stacks, node)));
}

uint32_t site_stack_caller(const struct site_stacks *stacks, uint32_t site)
{
    uint32_t node = site;
    while (is_asked(stacks, node) && is_passed_over(stacks, node) &&
           is_asked(stacks, parent_of(stacks, node)))
        node = parent_of(stacks, node);
    return is_asked(stacks, node) ? node : 0;
}
