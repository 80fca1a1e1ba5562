/* sites_block.c - nodes and modules to columns and back, everything checked that fp_sites.h promises. */
#include "footprint/fp/site_model.h"

#include <string.h>

/* ---- nodes ---------------------------------------------------------------------------------------- */

static bool entries_are_valid(const struct fp_site_entry *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].site < FP_SITE_FIRST || nodes[i].site >= FP_SITES_MAX ||
            (i > 0 && nodes[i].site <= nodes[i - 1].site) || nodes[i].node.parent >= nodes[i].site ||
            nodes[i].node.address == 0 || nodes[i].node.address >> FP_ADDRESS_BITS != 0)
            return false;
    return count > 0 && count <= FP_SITES_BLOCK_MAX;
}

size_t stacks_scratch_bytes(const struct block_header *header)
{
    const bool is_nodes = header->type == BLOCK_SITES;
    const size_t modules = (size_t)header->count * MODULE_BYTES_MAX + 1;
    if (header->count > (is_nodes ? FP_SITES_BLOCK_MAX : FP_MODULES_MAX))
        return 0;
    if (is_nodes)
        return (size_t)header->count * NODE_BYTES_MOST + RANGE_TAIL_BYTES;
    return modules < FP_MODULES_TEXT_MAX ? modules : FP_MODULES_TEXT_MAX;
}

enum fp_status sites_encode(struct node_model *model, bool anew, const struct fp_site_entry *nodes,
                            size_t count, struct bytes *memory, struct block_header *ret_header,
                            struct column *ret_column)
{
    if (!entries_are_valid(nodes, count))
        return FP_ERR_ARGUMENT;
    if (!bytes_reserve(memory, count * NODE_BYTES_MOST + RANGE_TAIL_BYTES))
        return FP_ERR_MEMORY;
    if (anew)
        node_model_begin(model);
    struct range_coder coder = range_write(memory->at);
    uint32_t before = FP_SITE_FIRST - 1;
    for (size_t i = 0; i < count; before = nodes[i++].site)
        if (!node_model_put(model, &coder, before, &nodes[i]))
            return FP_ERR_MEMORY;
    *ret_column = (struct column){memory->at, (size_t)(range_end(&coder) - memory->at)};
    *ret_header = (struct block_header){
        .type = BLOCK_SITES, .flags = anew ? 0 : SITES_FLAG_CONTINUES, .count = (uint32_t)count};
    return FP_OK;
}

static enum fp_status take_nodes(const struct block_header *header, const struct column *column,
                                 struct sites_store *store)
{
    if (store->model == NULL)
        store->model = node_model_make();
    else if ((header->flags & SITES_FLAG_CONTINUES) == 0)
        node_model_begin(store->model);
    if (store->model == NULL)
        return FP_ERR_MEMORY;
    struct range_coder coder = range_read(column->bytes, column->size);
    struct fp_site_entry entry = {.site = FP_SITE_FIRST - 1};
    for (uint32_t i = 0; i < header->count; i++) {
        const enum fp_status status = node_model_get(store->model, &coder, entry.site, &entry);
        if (status != FP_OK)
            return status;
        if (!fp_stacks_node(&store->stacks, entry.site, entry.node))
            return FP_ERR_MEMORY;
    }
    return range_done(&coder) ? FP_OK : FP_ERR_CORRUPT;
}

/* ---- modules --------------------------------------------------------------------------------------- */

static bool is_printable(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    return true;
}

static bool module_is_valid(const struct fp_module *module)
{
    return module->start < module->end && module->end >> FP_ADDRESS_BITS == 0 &&
           module->build_id_bytes <= FP_BUILD_ID_MAX;
}

enum fp_status modules_encode(const struct fp_module *modules, size_t count, struct bytes *memory,
                              struct block_header *ret_header, struct column *ret_column)
{
    if (count == 0 || count > FP_MODULES_MAX)
        return FP_ERR_ARGUMENT;
    if (!bytes_reserve(memory, count * MODULE_BYTES_MAX))
        return FP_ERR_MEMORY;
    uint8_t *at = memory->at;
    for (size_t i = 0; i < count; i++) {
        const struct fp_module *module = &modules[i];
        const size_t path = strlen(module->path);
        if (!module_is_valid(module) || path > FP_PATH_MAX || !is_printable(module->path, path))
            return FP_ERR_ARGUMENT;
        at = put_varint(at, module->start);
        at = put_varint(at, module->end - module->start);
        at = put_varint(at, zigzag((int64_t)(module->start - module->base)));
        at = put_varint(at, module->epoch);
        at = put_varint(at, module->build_id_bytes);
        memcpy(at, module->build_id, module->build_id_bytes);
        at = put_varint(at + module->build_id_bytes, path);
        memcpy(at, module->path, path);
        at += path;
    }
    *ret_column = (struct column){memory->at, (size_t)(at - memory->at)};
    *ret_header = (struct block_header){.type = BLOCK_MODULES, .count = (uint32_t)count};
    return ret_column->size <= FP_MODULES_TEXT_MAX ? FP_OK : FP_ERR_ARGUMENT;
}

static const uint8_t *get_bytes(struct cursor *cursor, uint64_t bytes)
{
    const uint8_t *at = cursor->at;
    if (bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        return NULL;
    }
    cursor->at += bytes;
    return at;
}

/* One module, whose path of so many bytes stays where it stands. */
static enum fp_status get_module(struct cursor *cursor, struct fp_module *ret_module, size_t *ret_path_bytes)
{
    struct fp_module module = {.start = get_varint(cursor)};
    const uint64_t bytes = get_varint(cursor);
    module.base = module.start - (uint64_t)unzigzag(get_varint(cursor));
    const uint64_t epoch = get_varint(cursor), build_id_bytes = get_varint(cursor);
    const uint8_t *build_id = get_bytes(cursor, build_id_bytes);
    *ret_path_bytes = get_varint(cursor);
    module.path = (const char *)get_bytes(cursor, *ret_path_bytes);
    if (cursor->bad || bytes > UINT64_MAX - module.start || epoch > UINT16_MAX ||
        build_id_bytes > FP_BUILD_ID_MAX || *ret_path_bytes > FP_PATH_MAX ||
        !is_printable(module.path, *ret_path_bytes))
        return FP_ERR_CORRUPT;
    module.end = module.start + bytes;
    module.epoch = (uint16_t)epoch;
    module.build_id_bytes = (uint8_t)build_id_bytes;
    memcpy(module.build_id, build_id, build_id_bytes);
    *ret_module = module;
    return module_is_valid(&module) ? FP_OK : FP_ERR_CORRUPT;
}

static enum fp_status add_module(struct sites_store *store, struct cursor *cursor)
{
    struct fp_module module;
    size_t path_bytes;
    if (store->stacks.sites.module_count == FP_MODULES_MAX ||
        get_module(cursor, &module, &path_bytes) != FP_OK)
        return FP_ERR_CORRUPT;
    return fp_stacks_module(&store->stacks, &module, path_bytes) ? FP_OK : FP_ERR_MEMORY;
}

static enum fp_status take_modules(const struct block_header *header, const struct column *column,
                                   struct sites_store *store)
{
    struct cursor cursor = column_cursor(column);
    enum fp_status status = FP_OK;
    if (column->size > FP_MODULES_TEXT_MAX - store->text_bytes)
        return FP_ERR_CORRUPT;
    store->text_bytes += column->size;
    for (uint32_t i = 0; i < header->count && status == FP_OK; i++)
        status = add_module(store, &cursor);
    return status == FP_OK && !cursor_done(&cursor) ? FP_ERR_CORRUPT : status;
}

enum fp_status stacks_decode(const struct block_header *header, const struct column *column,
                             struct sites_store *store, const char **ret_what)
{
    const bool is_nodes = header->type == BLOCK_SITES;
    enum fp_status status = FP_ERR_MEMORY;
    *ret_what = is_nodes ? "nodes of stacks are damaged" : "modules are damaged";
    if (header->count == 0 || stacks_scratch_bytes(header) == 0)
        return FP_ERR_CORRUPT;
    if (fp_stacks_reach(&store->stacks, FP_SITE_FIRST))
        status = is_nodes ? take_nodes(header, column, store) : take_modules(header, column, store);
    if (status == FP_ERR_MEMORY)
        *ret_what = "no memory for call stacks";
    return status;
}

void sites_release(struct sites_store *store)
{
    fp_stacks_release(&store->stacks);
    node_model_free(store->model);
    *store = (struct sites_store){0};
}
