/* process_stacks.c - nodes and modules of several parts as one list. */
#include "convert/base/process_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/arrays.h"

static bool take_nodes(const struct fp_sites *from, struct conv_stacks *to)
{
    const uint32_t end = to->sites.node_end;
    if (from->node_end > end) {
        size_t capacity = end;
        if (!FP_GROW(to->nodes, capacity, from->node_end))
            return false;
        to->sites.nodes = to->nodes;
        to->sites.node_end = from->node_end;
    }
    if (from->nodes == NULL)
        return true;
    for (uint32_t i = FP_SITE_FIRST; i < from->node_end; i++)
        if (to->nodes[i].address == 0)
            to->nodes[i] = from->nodes[i];
    return true;
}

/* Parents come before their children. Returns false: no memory. */
static bool cut_deep(struct conv_stacks *stacks)
{
    const uint32_t end = stacks->sites.node_end;
    uint16_t *depths = end > FP_SITE_FIRST ? calloc(end, sizeof *depths) : NULL;
    if (depths == NULL)
        return end <= FP_SITE_FIRST;
    for (uint32_t i = FP_SITE_FIRST; i < end; i++) {
        struct fp_site_node *node = &stacks->nodes[i];
        if (depths[node->parent] == CONV_STACK_DEPTH_MAX)
            node->parent = FP_CUT_DEEP;
        depths[i] = (uint16_t)(depths[node->parent] + 1);
    }
    free(depths);
    return true;
}

static bool has_module(const struct conv_stacks *stacks, const struct fp_module *module, uint64_t hash)
{
    size_t step = 0;
    for (uint32_t i; (i = fp_index_next(&stacks->index, hash, &step)) != FP_INDEX_END;)
        if (stacks->modules[i].start == module->start && stacks->modules[i].epoch == module->epoch &&
            strcmp(stacks->modules[i].path, module->path) == 0)
            return true;
    return false;
}

/* Unless it is there. Returns false: no memory. */
static bool take_module(const struct fp_module *module, struct conv_stacks *to)
{
    const uint32_t number = to->sites.module_count;
    const uint64_t place[] = {module->start, module->epoch};
    const uint64_t hash = fp_index_hash(place, sizeof place,
                                        fp_index_hash(module->path, strlen(module->path), 0));
    if (has_module(to, module, hash))
        return true;
    to->paths[number] = strdup(module->path);
    if (to->paths[number] == NULL || !fp_index_add(&to->index, hash, number)) {
        free(to->paths[number]);
        return false;
    }
    to->modules[number] = *module;
    to->modules[number].path = to->paths[number];
    to->sites.module_count++;
    return true;
}

bool conv_stacks_add(struct conv_stacks *stacks, const struct fp_sites *from)
{
    const size_t most = (size_t)stacks->sites.module_count + from->module_count + 1;
    struct fp_module *modules = realloc(stacks->modules, most * sizeof *modules);
    char **paths = realloc(stacks->paths, most * sizeof *paths);
    stacks->modules = modules != NULL ? modules : stacks->modules;
    stacks->paths = paths != NULL ? paths : stacks->paths;
    stacks->sites.modules = stacks->modules;
    if (modules == NULL || paths == NULL || !take_nodes(from, stacks) || !cut_deep(stacks))
        return false;
    for (uint32_t i = 0; i < from->module_count; i++)
        if (!take_module(&from->modules[i], stacks))
            return false;
    return true;
}

void conv_stacks_release(struct conv_stacks *stacks)
{
    for (uint32_t i = 0; i < stacks->sites.module_count; i++)
        free(stacks->paths[i]);
    fp_index_release(&stacks->index);
    free(stacks->paths);
    free(stacks->modules);
    free(stacks->nodes);
    free(stacks->executable);
    *stacks = (struct conv_stacks){0};
}
