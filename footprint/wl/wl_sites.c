/* wl_sites.c - numbers of sites while a workload is written; stacks and modules as blocks, and back. */
#include "footprint/wl/wl_writer.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/site_model.h"
#include "footprint/wl/wl_reader.h"

#define ADDRESSES_END (UINT64_C(1) << FP_ADDRESS_BITS)

/* ---- numbers --------------------------------------------------------------------------------- */

bool wl_sites_begin(struct wl_site_numbers *numbers, const struct fp_sites *stacks, const char *program)
{
    *numbers = (struct wl_site_numbers){0};
    if (stacks == NULL)
        return true;
    numbers->program = strdup(program != NULL ? program : "");
    numbers->own = calloc(stacks->node_end, sizeof *numbers->own);
    numbers->given = calloc(stacks->node_end, sizeof *numbers->given);
    numbers->stacks = stacks;
    return numbers->program != NULL && numbers->own != NULL && numbers->given != NULL;
}

void wl_sites_end(struct wl_site_numbers *numbers)
{
    free(numbers->program);
    free(numbers->own);
    free(numbers->given);
    *numbers = (struct wl_site_numbers){0};
}

/* Tells whether the number is a node's of which more is known than that it was lost. */
static bool is_node(const struct wl_site_numbers *numbers, uint32_t site)
{
    return site >= FP_SITE_FIRST && fp_site_node_at(numbers->stacks, site).address != 0;
}

/* A number of the caller's that is settled: what stands for no node is a cut. */
static uint32_t settled(const struct wl_site_numbers *numbers, uint32_t site)
{
    if (is_node(numbers, site))
        return numbers->own[site];
    return site < FP_CUT_COUNT ? site : FP_CUT_LOST;
}

uint32_t wl_sites_number(struct wl_site_numbers *numbers, uint32_t site)
{
    uint32_t count = 0;
    if (numbers->stacks == NULL)
        return 0;
    for (uint32_t at = site; is_node(numbers, at) && numbers->own[at] == 0;
         at = numbers->stacks->nodes[at].parent)
        count++;
    numbers->count += count;
    for (uint32_t at = site, number = numbers->count; count > 0;
         count--, at = numbers->stacks->nodes[at].parent) {
        numbers->given[--number] = at;
        numbers->own[at] = FP_SITE_FIRST + number;
    }
    return settled(numbers, site);
}

/* ---- modules, as they are written ----------------------------------------------------------------- */

/* Modules that nodes lie in. */
struct module_list {
    struct fp_module *modules;
    uint32_t *of_source; /* by number of the source's: 1 + the number here, or WL_MODULE_NONE; 0: none yet */
    struct fp_index index; /* of the modules */
    bool failed;           /* no memory for that */
    uint32_t count;
    size_t text_bytes;
    struct fp_module_map map; /* of the source's */
    uint64_t *places;         /* addresses in no module, ascending */
    size_t place_count;
};

static const char *name_of(const struct wl_site_numbers *numbers, const struct fp_module *module)
{
    return module->path[0] == '\0' ? numbers->program : basename(module->path);
}

static bool is_same_file(const struct fp_module *one, const struct fp_module *other)
{
    return one->start == other->start && one->end == other->end &&
           one->build_id_bytes == other->build_id_bytes &&
           memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0 &&
           strcmp(one->path, other->path) == 0;
}

/* The number of a module of the source's: without directory and load address. WL_MODULE_NONE: the format cannot hold it. */
static uint16_t module_number(struct module_list *list, const struct wl_site_numbers *numbers,
                              const struct fp_module *from)
{
    uint32_t *known = &list->of_source[from - numbers->stacks->modules];
    struct fp_module module = *from;
    uint32_t number;
    size_t step = 0, bytes;
    if (*known != 0)
        return (uint16_t)(*known - 1);
    module.path = name_of(numbers, from);
    module.start -= from->base;
    module.end -= from->base;
    module.base = 0;
    bytes = MODULE_BYTES_MAX - FP_PATH_MAX + strlen(module.path);
    const uint64_t hash = fp_index_hash(
        module.path, strlen(module.path),
        fp_index_hash(module.build_id, module.build_id_bytes, module.start ^ module.end << 16));
    while ((number = fp_index_next(&list->index, hash, &step)) != FP_INDEX_END)
        if (is_same_file(&list->modules[number], &module))
            break;
    if (number == FP_INDEX_END) {
        number = list->count;
        if (module.start >= module.end || module.end >= ADDRESSES_END || number == FP_MODULES_MAX ||
            bytes > FP_MODULES_TEXT_MAX - list->text_bytes) {
            *known = 1 + WL_MODULE_NONE;
            return WL_MODULE_NONE;
        }
        list->failed |= !fp_index_add(&list->index, hash, number);
        module.epoch = (uint16_t)number;
        list->modules[list->count++] = module;
        list->text_bytes += bytes;
    }
    *known = number + 1;
    return (uint16_t)number;
}

static int compare_places(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* Code in no file (a JIT's) lies where it lay in that one run: only which places are different is kept, by their order. */
static uint64_t place_number(const struct module_list *list, uint64_t address)
{
    const uint64_t *place = bsearch(&address, list->places, list->place_count, sizeof address,
                                    compare_places);
    return (uint64_t)(place - list->places) + 1;
}

static void sort_places(struct module_list *list)
{
    size_t distinct = 0;
    if (list->place_count > 0)
        qsort(list->places, list->place_count, sizeof *list->places, compare_places);
    for (size_t i = 0; i < list->place_count; i++)
        if (distinct == 0 || list->places[i] != list->places[distinct - 1])
            list->places[distinct++] = list->places[i];
    list->place_count = distinct;
}

/* Nodes by number with the source's addresses become nodes with offsets. */
static void place_nodes(struct module_list *list, const struct wl_site_numbers *numbers,
                        struct fp_site_entry *entries)
{
    for (uint32_t i = 0; i < numbers->count; i++) {
        const struct fp_site_node node = numbers->stacks->nodes[numbers->given[i]];
        const struct fp_module *module = fp_module_map_find(&list->map, &node);
        const uint16_t number = module != NULL ? module_number(list, numbers, module) : WL_MODULE_NONE;
        const uint64_t offset = number != WL_MODULE_NONE ? node.address - module->base : node.address;
        entries[i] = (struct fp_site_entry){
            .site = FP_SITE_FIRST + i,
            .node = {.address = offset, .parent = settled(numbers, node.parent), .epoch = number}};
        if (number == WL_MODULE_NONE)
            list->places[list->place_count++] = offset;
    }
    sort_places(list);
    for (uint32_t i = 0; i < numbers->count; i++)
        if (entries[i].node.epoch == WL_MODULE_NONE)
            entries[i].node.address = place_number(list, entries[i].node.address);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static enum fp_status put_nodes(struct wl_writer *writer, const struct fp_site_entry *entries, size_t count,
                                struct bytes *memory)
{
    struct node_model *model = node_model_make();
    enum fp_status status = model != NULL
                                ? FP_OK
                                : wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for call stacks");
    for (size_t at = 0; at < count && status == FP_OK; at += FP_SITES_BLOCK_MAX) {
        const size_t most = count - at < FP_SITES_BLOCK_MAX ? count - at : FP_SITES_BLOCK_MAX;
        struct column column;
        struct block_header header;
        status = sites_encode(model, at == 0, entries + at, most, memory, &header, &column);
        header.base = entries[at].site;
        status = status == FP_OK ? wl_put_block(writer, &header, &column, 1, "cannot pack call stacks")
                                 : wl_writer_fail(writer, status, "cannot store call stacks");
    }
    node_model_free(model);
    return status;
}

static enum fp_status put_modules(struct wl_writer *writer, const struct module_list *list,
                                  struct bytes *memory)
{
    struct block_header header;
    struct column column;
    enum fp_status status = modules_encode(list->modules, list->count, memory, &header, &column);
    if (status != FP_OK)
        return wl_writer_fail(writer, status, "cannot store the modules of call stacks");
    return wl_put_block(writer, &header, &column, 1, "cannot pack call stacks");
}

enum fp_status wl_sites_put(struct wl_writer *writer)
{
    const struct wl_site_numbers *numbers = &writer->sites;
    struct module_list list = {0};
    struct fp_site_entry *entries;
    struct bytes memory = {0};
    enum fp_status status = FP_OK;
    if (numbers->count == 0)
        return FP_OK;
    entries = malloc(numbers->count * sizeof *entries);
    list.places = malloc(numbers->count * sizeof *list.places);
    list.modules = calloc((size_t)numbers->stacks->module_count + 1, sizeof *list.modules);
    list.of_source = calloc((size_t)numbers->stacks->module_count + 1, sizeof *list.of_source);
    const bool has_map = fp_module_map_make(numbers->stacks, &list.map);
    if (!has_map || entries == NULL || list.places == NULL || list.modules == NULL ||
        list.of_source == NULL) {
        status = wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for call stacks");
    } else {
        place_nodes(&list, numbers, entries);
        status = list.failed ? wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for modules of call stacks")
                             : put_nodes(writer, entries, numbers->count, &memory);
        if (status == FP_OK && list.count > 0)
            status = put_modules(writer, &list, &memory);
    }
    bytes_release(&memory);
    fp_module_map_release(&list.map);
    fp_index_release(&list.index);
    free(list.of_source);
    free(list.modules);
    free(list.places);
    free(entries);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* One block's, added to the store. */
static enum fp_status read_block(struct wl_reader *reader, size_t at, const struct block_header *header,
                                 struct sites_store *store)
{
    const size_t scratch_bytes = stacks_scratch_bytes(header);
    struct column column;
    const char *what = "no memory for call stacks";
    size_t within = 0;
    uint8_t *scratch = malloc(scratch_bytes + 1);
    enum fp_status status = FP_ERR_MEMORY;
    if (scratch != NULL)
        status = block_unpack(header, reader->frame.file + at + BLOCK_HEADER_BYTES, 1, reader->context,
                              scratch, scratch_bytes, &column, &within, &what);
    if (status == FP_OK) {
        within = 0;
        status = stacks_decode(header, &column, store, &what);
    }
    free(scratch);
    return status == FP_OK ? FP_OK : wl_fail(&reader->error, status, at + BLOCK_HEADER_BYTES + within, what);
}

/* Sees that the sites keep what only workloads promise: numbers without gaps, nodes in modules that there are, names without a directory. */
static bool is_whole(const struct sites_store *store, uint32_t site_end)
{
    const struct fp_sites *sites = &store->stacks.sites;
    if (sites->node_end != site_end)
        return false;
    for (uint32_t i = FP_SITE_FIRST; i < site_end; i++)
        if (sites->nodes[i].address == 0 ||
            (sites->nodes[i].epoch >= sites->module_count && sites->nodes[i].epoch != WL_MODULE_NONE))
            return false;
    for (uint32_t i = 0; i < sites->module_count; i++)
        if (sites->modules[i].epoch != i || sites->modules[i].base != 0 ||
            strchr(sites->modules[i].path, '/') != NULL)
            return false;
    return true;
}

enum fp_status wl_reader_stacks(struct wl_reader *reader, struct fp_stacks *ret_stacks)
{
    struct sites_store store = {0};
    enum fp_status status = FP_OK;
    for (size_t at = reader->frame.sites_at; at < reader->frame.summary_at && status == FP_OK;) {
        struct block_header header;
        status = wl_scan_block(reader->frame.file, at, reader->frame.summary_at, &header, &reader->error);
        if (status == FP_OK)
            status = read_block(reader, at, &header, &store);
        at += BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    if (status == FP_OK && reader->frame.sites_at < reader->frame.summary_at &&
        !is_whole(&store, reader->decoder.site_end))
        status = wl_fail(&reader->error, FP_ERR_CORRUPT, reader->frame.sites_at, "call stacks are damaged");
    if (status != FP_OK) {
        sites_release(&store);
        return status;
    }
    if (store.stacks.sites.node_end == 0)
        store.stacks.sites.node_end = reader->decoder.site_end;
    node_model_free(store.model);
    *ret_stacks = store.stacks;
    return FP_OK;
}
