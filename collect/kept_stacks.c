/* kept_stacks.c - nodes and modules gathered from all streams of an image, and written in order of their numbers.
 *
 * A hostile process may tell what it likes: what is kept of one is bounded, and of all together; what is beyond is lost, and
 * reads as cut. */
#include "collect/steps.h"

#include <stdlib.h>
#include <string.h>

#define NODES_KEPT_MOST   (UINT64_C(1) << 20) /* of an image; 24 MiB */
#define NODES_MOST_OF_ALL (UINT64_C(1) << 22) /* of all images */
#define MODULES_KEPT_MOST 4096u

struct collect_sites {
    struct fp_site_entry *nodes;
    size_t node_count, node_capacity;
    size_t nodes_written; /* of them, in the present part */
    struct fp_module *modules;
    size_t module_count, module_capacity, modules_written;
    bool keeps; /* for the parts to come */
};

static uint64_t nodes_of_all;

static struct collect_sites *sites_of(struct collect_image *image)
{
    if (image->sites == NULL)
        image->sites = calloc(1, sizeof *image->sites);
    return image->sites;
}

static void take_node(void *context, const struct fp_site_entry *entry)
{
    struct collect_sites *sites = sites_of(context);
    if (sites == NULL || sites->node_count >= NODES_KEPT_MOST || nodes_of_all >= NODES_MOST_OF_ALL ||
        !FP_GROW(sites->nodes, sites->node_capacity, sites->node_count + 1))
        return;
    sites->nodes[sites->node_count++] = *entry;
    nodes_of_all++;
}

static void take_module(void *context, const struct fp_module *module)
{
    struct collect_sites *sites = sites_of(context);
    if (sites == NULL || sites->module_count >= MODULES_KEPT_MOST ||
        !FP_GROW(sites->modules, sites->module_capacity, sites->module_count + 1))
        return;
    char *path = strdup(module->path);
    if (path == NULL)
        return;
    sites->modules[sites->module_count] = *module;
    sites->modules[sites->module_count++].path = path;
}

struct fp_site_decoder *stacks_decoder(const struct collector *collector, struct collect_stream *stream)
{
    if (!collector->options.sites || stream->sites != NULL)
        return stream->sites;
    stream->sites = calloc(1, sizeof *stream->sites);
    if (stream->sites == NULL)
        return NULL;
    stream->sites->take_node = take_node;
    stream->sites->take_module = take_module;
    stream->sites->context = stream->image;
    return stream->sites;
}

void stacks_release_stream(struct collect_stream *stream)
{
    free(stream->sites);
    stream->sites = NULL;
}

static int by_number(const void *a, const void *b)
{
    const struct fp_site_entry *one = a, *other = b;
    return (one->site > other->site) - (one->site < other->site);
}

/* Writes nodes in order, each number once: of several, one. Nodes of a part before are told again where there are parts. */
static enum fp_status write_nodes(struct collect_sites *sites, struct fp_writer *writer)
{
    struct fp_site_entry *nodes = sites->nodes + sites->nodes_written;
    const size_t count = sites->node_count - sites->nodes_written;
    size_t distinct = 0;
    enum fp_status status = FP_OK;
    qsort(nodes, count, sizeof *nodes, by_number);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || nodes[i].site != nodes[distinct - 1].site)
            nodes[distinct++] = nodes[i];
    nodes_of_all -= count - distinct;
    sites->node_count -= count - distinct;
    for (size_t at = 0; at < distinct && status == FP_OK; at += FP_SITES_BLOCK_MAX)
        status = fp_writer_sites(writer, nodes + at,
                                 distinct - at < FP_SITES_BLOCK_MAX ? distinct - at : FP_SITES_BLOCK_MAX);
    return status;
}

static void forget_written(struct collect_sites *sites)
{
    nodes_of_all -= sites->node_count;
    sites->node_count = 0;
    for (size_t i = 0; i < sites->module_count; i++)
        free((char *)(uintptr_t)sites->modules[i].path);
    sites->module_count = 0;
}

enum fp_status stacks_write(const struct collector *collector, struct collect_image *image)
{
    struct collect_sites *sites = image->sites;
    enum fp_status status = FP_OK;
    if (sites == NULL)
        return FP_OK;
    sites->keeps = collector->windows.present != 0;
    if (sites->module_count > sites->modules_written)
        status = fp_writer_modules(image->writer, sites->modules + sites->modules_written,
                                   sites->module_count - sites->modules_written);
    if (status == FP_OK && sites->node_count > sites->nodes_written)
        status = write_nodes(sites, image->writer);
    if (status != FP_OK)
        return status;
    if (!sites->keeps)
        forget_written(sites);
    sites->nodes_written = sites->node_count;
    sites->modules_written = sites->module_count;
    return FP_OK;
}

void stacks_begin_part(struct collect_image *image)
{
    if (image->sites != NULL)
        image->sites->nodes_written = image->sites->modules_written = 0;
}

void stacks_release(struct collect_image *image)
{
    if (image->sites == NULL)
        return;
    forget_written(image->sites);
    free(image->sites->nodes);
    free(image->sites->modules);
    free(image->sites);
    image->sites = NULL;
}
