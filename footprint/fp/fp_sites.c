/* fp_sites.c - stacks and modules looked up; samples of stacks. */
#include "footprint/fp/fp_sites.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const CUTS[FP_CUT_COUNT] = {
    [FP_CUT_LOST] = "lost",           [FP_CUT_FULL] = "full",
    [FP_CUT_STACK] = "stack",         [FP_CUT_CFI] = "cfi",
    [FP_CUT_RULE] = "rule",           [FP_CUT_DEEP] = "deep",
    [FP_CUT_BROKEN] = "broken",       [FP_CUT_MEMORY] = "memory",
    [FP_CUT_INHERITED] = "inherited", [FP_CUT_UNSAMPLED] = "unsampled",
};

const char *fp_cut_name(unsigned cut)
{
    return cut < FP_CUT_COUNT ? CUTS[cut] : NULL;
}

struct fp_site_node fp_site_node_at(const struct fp_sites *sites, uint32_t site)
{
    if (site < FP_SITE_FIRST || site >= sites->node_end || sites->nodes[site].address == 0)
        return (struct fp_site_node){.parent = FP_CUT_LOST};
    return sites->nodes[site];
}

enum fp_cut fp_site_cut(const struct fp_sites *sites, uint32_t site)
{
    while (site >= FP_SITE_FIRST)
        site = fp_site_node_at(sites, site).parent; /* lower: the reader has checked that */
    return site < FP_CUT_COUNT ? (enum fp_cut)site : FP_CUT_LOST;
}

/* ---- put together ------------------------------------------------------------------------------- */

bool fp_stacks_reach(struct fp_stacks *stacks, uint32_t end)
{
    if (!FP_GROW(stacks->nodes, stacks->node_capacity, end))
        return false;
    if (end > stacks->sites.node_end)
        stacks->sites.node_end = end;
    stacks->sites.nodes = stacks->nodes;
    return true;
}

bool fp_stacks_node(struct fp_stacks *stacks, uint32_t site, struct fp_site_node node)
{
    if (!fp_stacks_reach(stacks, site + 1))
        return false;
    if (stacks->nodes[site].address == 0)
        stacks->nodes[site] = node;
    return true;
}

/* Tells whether the module was told before: a collector that takes over from one that was killed may tell it again. */
static bool is_known(const struct fp_stacks *stacks, const struct fp_module *module, uint64_t hash)
{
    size_t step = 0;
    for (uint32_t i; (i = fp_index_next(&stacks->index, hash, &step)) != FP_INDEX_END;)
        if (stacks->modules[i].start == module->start && stacks->modules[i].end == module->end &&
            stacks->modules[i].epoch == module->epoch)
            return true;
    return false;
}

bool fp_stacks_module(struct fp_stacks *stacks, const struct fp_module *module, size_t path_bytes)
{
    const uint64_t place[] = {module->start, module->end, module->epoch},
                   hash = fp_index_hash(place, sizeof place, 0);
    const uint32_t number = stacks->sites.module_count;
    if (is_known(stacks, module, hash))
        return true;
    if (!FP_GROW(stacks->modules, stacks->module_capacity, (size_t)number + 1))
        return false;
    stacks->sites.modules = stacks->modules;
    stacks->modules[number] = *module;
    char *path = malloc(path_bytes + 1);
    if (path == NULL)
        return false;
    memcpy(path, module->path, path_bytes); /* which no zero byte needs to end */
    path[path_bytes] = '\0';
    stacks->modules[number].path = path;
    stacks->sites.module_count++;
    return fp_index_add(&stacks->index, hash, number);
}

/* Parents come before their children. Returns false: no memory. */
static bool cut_deep(struct fp_stacks *stacks)
{
    const uint32_t end = stacks->sites.node_end;
    uint16_t *depths = end > FP_SITE_FIRST ? calloc(end, sizeof *depths) : NULL;
    if (depths == NULL)
        return end <= FP_SITE_FIRST;
    for (uint32_t i = FP_SITE_FIRST; i < end; i++) {
        struct fp_site_node *node = &stacks->nodes[i];
        if (depths[node->parent] == FP_STACK_DEPTH_MAX)
            node->parent = FP_CUT_DEEP;
        depths[i] = (uint16_t)(depths[node->parent] + 1);
    }
    free(depths);
    return true;
}

bool fp_stacks_add(struct fp_stacks *stacks, const struct fp_sites *from)
{
    if (!fp_stacks_reach(stacks, from->node_end))
        return false;
    for (uint32_t i = FP_SITE_FIRST; i < from->node_end && from->nodes != NULL; i++)
        if (stacks->nodes[i].address == 0)
            stacks->nodes[i] = from->nodes[i];
    for (uint32_t i = 0; i < from->module_count; i++)
        if (!fp_stacks_module(stacks, &from->modules[i], strlen(from->modules[i].path)))
            return false;
    return cut_deep(stacks);
}

void fp_stacks_release(struct fp_stacks *stacks)
{
    for (uint32_t i = 0; i < stacks->sites.module_count; i++)
        free((char *)(uintptr_t)stacks->modules[i].path);
    fp_index_release(&stacks->index);
    free(stacks->modules);
    free(stacks->nodes);
    free(stacks->executable);
    *stacks = (struct fp_stacks){0};
}

/* ---- many nodes -------------------------------------------------------------------------------- */

/* The time from one begin or end of a module up to the next. */
struct fp_module_span {
    uint64_t begin;
    uint32_t epoch, next;           /* the first at or behind this one that has no module yet */
    const struct fp_module *module; /* NULL: none */
};

static int compare_spans(const void *left, const void *right)
{
    const struct fp_module_span *one = left, *other = right;
    if (one->epoch != other->epoch)
        return one->epoch < other->epoch ? -1 : 1;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* The number of spans that begin at the address or before it. */
static size_t spans_before(const struct fp_module_map *map, uint32_t epoch, uint64_t address)
{
    const struct fp_module_span aim = {.begin = address, .epoch = epoch};
    size_t low = 0, high = map->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_spans(&map->spans[middle], &aim) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first span from `at` on without a module; the way there is shorter the next time. */
static size_t first_free(struct fp_module_span *spans, size_t at)
{
    size_t found = at;
    while (spans[found].next != found)
        found = spans[found].next;
    for (size_t next; at != found; at = next) {
        next = spans[at].next;
        spans[at].next = (uint32_t)found;
    }
    return found;
}

bool fp_module_map_make(const struct fp_sites *sites, struct fp_module_map *ret_map)
{
    struct fp_module_map map = {.spans = calloc(2 * (size_t)sites->module_count + 1, sizeof *map.spans)};
    size_t ends = 0;
    *ret_map = map;
    if (map.spans == NULL)
        return false;
    for (uint32_t i = 0; i < sites->module_count; i++) {
        const struct fp_module *module = &sites->modules[i];
        map.spans[ends++] = (struct fp_module_span){.begin = module->start, .epoch = module->epoch};
        map.spans[ends++] = (struct fp_module_span){.begin = module->end, .epoch = module->epoch};
    }
    qsort(map.spans, ends, sizeof *map.spans, compare_spans);
    for (size_t i = 0; i < ends; i++)
        if (map.count == 0 || compare_spans(&map.spans[i], &map.spans[map.count - 1]) != 0)
            map.spans[map.count++] = map.spans[i];
    for (size_t i = 0; i <= map.count; i++)
        map.spans[i].next = (uint32_t)i;
    for (uint32_t i = sites->module_count; i-- > 0;) {
        const struct fp_module *module = &sites->modules[i];
        const size_t end = spans_before(&map, module->epoch, module->end) - 1;
        for (size_t at = spans_before(&map, module->epoch, module->start) - 1;
             (at = first_free(map.spans, at)) < end;) {
            map.spans[at].module = module;
            map.spans[at].next = (uint32_t)at + 1;
        }
    }
    *ret_map = map;
    return true;
}

const struct fp_module *fp_module_map_find(const struct fp_module_map *map, const struct fp_site_node *node)
{
    const size_t before = node->address > 0 ? spans_before(map, node->epoch, node->address - 1) : 0;
    return before > 0 && map->spans[before - 1].epoch == node->epoch ? map->spans[before - 1].module : NULL;
}

void fp_module_map_release(struct fp_module_map *map)
{
    free(map->spans);
    *map = (struct fp_module_map){0};
}

/* ---- samples ------------------------------------------------------------------------------------- */

bool fp_sample_parse(const char *text, uint64_t *ret_mean)
{
    static const char units[] = "KMG";
    char *rest;
    if (!isdigit((unsigned char)text[0]) || strcmp(text, "1") == 0) {
        *ret_mean = 0;
        return text[0] != '-' && text[0] != '+';
    }
    errno = 0;
    unsigned long long mean = strtoull(text, &rest, 10);
    const char *unit = *rest != '\0' ? strchr(units, toupper((unsigned char)*rest)) : NULL;
    if (errno != 0 || mean > FP_SAMPLE_MEAN_MOST || (*rest != '\0' && (unit == NULL || rest[1] != '\0')))
        return false;
    if (unit != NULL)
        mean <<= 10 * (unit - units + 1);
    if (mean < FP_SAMPLE_MEAN_LEAST || mean > FP_SAMPLE_MEAN_MOST)
        return false;
    *ret_mean = mean;
    return true;
}

uint64_t fp_sample_mean(const char *text)
{
    uint64_t mean;
    return text != NULL && fp_sample_parse(text, &mean) ? mean : 0;
}
