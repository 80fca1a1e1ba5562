/* sites_block.c - nodes and modules to columns and back, everything checked that fp_sites.h promises. */
#include "footprint/fp/sites_block.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/arrays.h"

/* ---- the model of nodes ---------------------------------------------------------------------------- */

#define ADDRESS_MASK ((UINT64_C(1) << FP_ADDRESS_BITS) - 1)

void node_model_begin(struct node_model *model)
{
    model->last = 0;
    model->last_key = 0;
    if (model->capacity > 0)
        memset(model->told, 0, model->capacity * sizeof *model->told);
    memset(model->called, 0, sizeof model->called);
    range_begin(&model->is_next, 1);
    range_begin(&model->is_below, 1);
    range_begin(&model->is_same_epoch, 1);
    range_begin(model->is_known, NODE_CALLED + 1);
    range_begin(model->is_nth, NODE_CALLED);
    struct range_number *const numbers[] = {&model->step,  &model->up,   &model->away,
                                            &model->epoch, &model->near, &model->far};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        range_begin((uint16_t *)numbers[i], sizeof *numbers[i] / sizeof(uint16_t));
}

struct node_model *node_model_make(void)
{
    struct node_model *model = calloc(1, sizeof *model);
    if (model != NULL)
        node_model_begin(model);
    return model;
}

void node_model_free(struct node_model *model)
{
    if (model != NULL)
        free(model->told);
    free(model);
}

static bool reserve(struct node_model *model, uint32_t site)
{
    return FP_GROW(model->told, model->capacity, (size_t)site + 1);
}

static struct node_told told_at(const struct node_model *model, uint32_t site)
{
    return site < model->capacity ? model->told[site] : (struct node_told){0};
}

static uint32_t hash_of(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
}

/* The place of the node that was last called from a parent, or is at a stack's end. */
static uint64_t *called_from(struct node_model *model, uint32_t parent)
{
    const uint32_t hash = parent < FP_SITE_FIRST ? parent : told_at(model, parent).hash;
    return model->called[hash * UINT32_C(0x9e3779b1) >> (32 - NODE_PLACE_BITS)];
}

/* The node so many callers above the one before; UINT32_MAX: it has not so many. */
static uint32_t above(const struct node_model *model, uint64_t up)
{
    uint32_t at = model->last;
    for (; up > 0 && at >= FP_SITE_FIRST; up--)
        at = told_at(model, at).hash != 0 ? told_at(model, at).parent : UINT32_MAX;
    return up == 0 ? at : UINT32_MAX;
}

/* The steps from the node before up to a node; NODE_UP_MOST: it is not above, or farther. */
static uint32_t up_to(const struct node_model *model, uint32_t node)
{
    uint32_t at = model->last;
    for (uint32_t up = 0; up < NODE_UP_MOST; up++) {
        if (at == node)
            return up;
        if (at < FP_SITE_FIRST || told_at(model, at).hash == 0)
            break;
        at = told_at(model, at).parent;
    }
    return NODE_UP_MOST;
}

RANGE_INLINE uint64_t code_parent(struct node_model *model, struct range_coder *coder, bool reads,
                                  uint64_t site, uint32_t parent)
{
    const uint32_t up = reads ? 0 : up_to(model, parent);
    if (range_bit(coder, reads, &model->is_below, up < NODE_UP_MOST)) {
        const uint64_t found = range_number(coder, reads, &model->up, up);
        return found < NODE_UP_MOST ? above(model, found) : UINT32_MAX;
    }
    const uint64_t away = range_number(coder, reads, &model->away, site - 1 - parent);
    return away < site ? site - 1 - away : UINT32_MAX;
}

static uint64_t to_zigzag(uint64_t step)
{
    return step << 1 ^ (uint64_t)((int64_t)step >> 63);
}

/* An address that is told by its distance to another. Returns 0 for none. */
static uint64_t code_distance(struct node_model *model, struct range_coder *coder, bool reads,
                              struct range_number *distance, uint64_t from, uint64_t key)
{
    const uint64_t address = from & ADDRESS_MASK;
    uint64_t epoch = from >> FP_ADDRESS_BITS;
    if (!range_bit(coder, reads, &model->is_same_epoch, key >> FP_ADDRESS_BITS == epoch))
        epoch = range_number(coder, reads, &model->epoch, key >> FP_ADDRESS_BITS);
    const uint64_t zigzag = range_number(coder, reads, distance, to_zigzag((key & ADDRESS_MASK) - address));
    const uint64_t found = (zigzag >> 1 ^ -(zigzag & 1)) + address;
    return epoch <= UINT16_MAX && found <= ADDRESS_MASK && found != 0 ? found | epoch << FP_ADDRESS_BITS : 0;
}

/* Returns 0 for none. */
RANGE_INLINE uint64_t code_key(struct node_model *model, struct range_coder *coder, bool reads,
                               uint64_t called[NODE_CALLED], uint64_t key)
{
    unsigned count = 0, nth = 0;
    while (count < NODE_CALLED && called[count] != 0)
        count++;
    while (!reads && nth < count && called[nth] != key)
        nth++;
    if (count > 0 && range_bit(coder, reads, &model->is_known[count], nth < count)) {
        unsigned at = 0;
        while (at + 1 < count && !range_bit(coder, reads, &model->is_nth[at], nth == at))
            at++;
        nth = at;
        key = called[nth];
    } else {
        key = code_distance(model, coder, reads, count > 0 ? &model->near : &model->far,
                            count > 0 ? called[0] : model->last_key, key);
        nth = count < NODE_CALLED ? count : NODE_CALLED - 1;
    }
    memmove(called + 1, called, nth * sizeof *called);
    called[0] = key;
    return key;
}

static void note(struct node_model *model, uint32_t site, uint32_t parent, uint64_t key)
{
    model->told[site] = (struct node_told){parent, hash_of(key)};
    model->last = site;
    model->last_key = key;
}

RANGE_INLINE uint64_t code_number(struct node_model *model, struct range_coder *coder, bool reads,
                                  uint32_t before, uint32_t site)
{
    if (range_bit(coder, reads, &model->is_next, site == before + 1))
        return (uint64_t)before + 1;
    const uint64_t step = range_number(coder, reads, &model->step, site - before - 1);
    return step < FP_SITES_MAX ? before + 1 + step : FP_SITES_MAX;
}

bool node_model_put(struct node_model *model, struct range_coder *coder, uint32_t before,
                    const struct fp_site_entry *node)
{
    const uint64_t key = node->node.address | (uint64_t)node->node.epoch << FP_ADDRESS_BITS;
    if (!reserve(model, node->site))
        return false;
    (void)code_number(model, coder, false, before, node->site);
    (void)code_parent(model, coder, false, node->site, node->node.parent);
    (void)code_key(model, coder, false, called_from(model, node->node.parent), key);
    note(model, node->site, node->node.parent, key);
    return true;
}

enum fp_status node_model_get(struct node_model *model, struct range_coder *coder, uint32_t before,
                              struct fp_site_entry *ret_node)
{
    const uint64_t site = code_number(model, coder, true, before, 0);
    if (site >= FP_SITES_MAX || coder->bad)
        return FP_ERR_CORRUPT;
    if (!reserve(model, (uint32_t)site))
        return FP_ERR_MEMORY;
    const uint64_t parent = code_parent(model, coder, true, site, 0);
    if (parent >= site)
        return FP_ERR_CORRUPT;
    const uint64_t key = code_key(model, coder, true, called_from(model, (uint32_t)parent), 0);
    if (key == 0)
        return FP_ERR_CORRUPT;
    note(model, (uint32_t)site, (uint32_t)parent, key);
    *ret_node = (struct fp_site_entry){.site = (uint32_t)site,
                                       .node = {.address = key & ADDRESS_MASK,
                                                .parent = (uint32_t)parent,
                                                .epoch = (uint16_t)(key >> FP_ADDRESS_BITS)}};
    return FP_OK;
}

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

size_t sites_scratch_bytes(uint32_t count)
{
    return (size_t)count * NODE_BYTES_MOST + RANGE_TAIL_BYTES;
}

enum fp_status sites_encode(struct node_model *model, bool anew, const struct fp_site_entry *nodes,
                            size_t count, struct bytes *memory, struct block_header *ret_header,
                            struct column *ret_column)
{
    if (!entries_are_valid(nodes, count))
        return FP_ERR_ARGUMENT;
    if (!bytes_reserve(memory, sites_scratch_bytes((uint32_t)count)))
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

/* Room for numbers below `end`, what is new empty. */
static bool grow_nodes(struct sites_store *store, uint32_t end)
{
    if (!FP_GROW(store->nodes, store->node_capacity, end))
        return false;
    if (end > store->sites.node_end)
        store->sites.node_end = end;
    store->sites.nodes = store->nodes;
    return true;
}

/* The first record of a node that is told twice holds. */
static bool add_node(struct sites_store *store, uint32_t site, struct fp_site_node node)
{
    if (!grow_nodes(store, site + 1))
        return false;
    if (store->nodes[site].address == 0)
        store->nodes[site] = node;
    return true;
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
        if (!add_node(store, entry.site, entry.node))
            return FP_ERR_MEMORY;
    }
    return range_done(&coder) ? FP_OK : FP_ERR_CORRUPT;
}

enum fp_status sites_decode(const struct block_header *header, const struct column *column,
                            struct sites_store *store, const char **ret_what)
{
    *ret_what = "nodes of stacks are damaged";
    if (header->count == 0 || header->count > FP_SITES_BLOCK_MAX)
        return FP_ERR_CORRUPT;
    enum fp_status status = grow_nodes(store, FP_SITE_FIRST) ? FP_OK : FP_ERR_MEMORY;
    if (status == FP_OK)
        status = take_nodes(header, column, store);
    if (status == FP_ERR_MEMORY)
        *ret_what = "no memory for stacks";
    return status;
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

size_t modules_scratch_bytes(uint32_t count)
{
    const size_t bytes = (size_t)count * MODULE_BYTES_MAX;
    return bytes < FP_MODULES_TEXT_MAX ? bytes : FP_MODULES_TEXT_MAX;
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

/* One module, with a path of its own. */
static enum fp_status get_module(struct cursor *cursor, struct fp_module *ret_module)
{
    struct fp_module module = {.start = get_varint(cursor)};
    const uint64_t bytes = get_varint(cursor);
    module.base = module.start - (uint64_t)unzigzag(get_varint(cursor));
    const uint64_t epoch = get_varint(cursor), build_id_bytes = get_varint(cursor);
    const uint8_t *build_id = get_bytes(cursor, build_id_bytes);
    const uint64_t path_bytes = get_varint(cursor);
    const char *path = (const char *)get_bytes(cursor, path_bytes);
    if (cursor->bad || bytes > UINT64_MAX - module.start || epoch > UINT16_MAX ||
        build_id_bytes > FP_BUILD_ID_MAX || path_bytes > FP_PATH_MAX || !is_printable(path, path_bytes))
        return FP_ERR_CORRUPT;
    module.end = module.start + bytes;
    module.epoch = (uint16_t)epoch;
    module.build_id_bytes = (uint8_t)build_id_bytes;
    memcpy(module.build_id, build_id, build_id_bytes);
    if (!module_is_valid(&module))
        return FP_ERR_CORRUPT;
    char *copy = malloc(path_bytes + 1);
    if (copy == NULL)
        return FP_ERR_MEMORY;
    memcpy(copy, path, path_bytes);
    copy[path_bytes] = '\0';
    module.path = copy;
    *ret_module = module;
    return FP_OK;
}

/* Tells whether the module was told before: a collector that takes over from one that was killed may tell it again. */
static bool is_known(const struct sites_store *store, const struct fp_module *module, uint64_t hash)
{
    size_t step = 0;
    for (uint32_t i; (i = fp_index_next(&store->index, hash, &step)) != FP_INDEX_END;)
        if (store->modules[i].start == module->start && store->modules[i].end == module->end &&
            store->modules[i].epoch == module->epoch)
            return true;
    return false;
}

static enum fp_status add_module(struct sites_store *store, struct cursor *cursor)
{
    struct fp_module module;
    enum fp_status status = store->sites.module_count < FP_MODULES_MAX ? get_module(cursor, &module)
                                                                       : FP_ERR_CORRUPT;
    if (status != FP_OK)
        return status;
    if (!FP_GROW(store->modules, store->module_capacity, (size_t)store->sites.module_count + 1)) {
        free((char *)(uintptr_t)module.path);
        return FP_ERR_MEMORY;
    }
    store->sites.modules = store->modules;
    const uint64_t place[] = {module.start, module.end, module.epoch},
                   hash = fp_index_hash(place, sizeof place, 0);
    const bool known = is_known(store, &module, hash);
    if (known || !fp_index_add(&store->index, hash, store->sites.module_count)) {
        free((char *)(uintptr_t)module.path);
        return known ? FP_OK : FP_ERR_MEMORY;
    }
    store->modules[store->sites.module_count++] = module;
    return FP_OK;
}

enum fp_status modules_decode(const struct block_header *header, const struct column *column,
                              struct sites_store *store, const char **ret_what)
{
    struct cursor cursor = column_cursor(column);
    enum fp_status status = FP_OK;
    *ret_what = "modules are damaged";
    if (header->count == 0 || header->count > FP_MODULES_MAX ||
        column->size > FP_MODULES_TEXT_MAX - store->text_bytes)
        return FP_ERR_CORRUPT;
    store->text_bytes += column->size;
    if (!grow_nodes(store, FP_SITE_FIRST))
        status = FP_ERR_MEMORY;
    for (uint32_t i = 0; i < header->count && status == FP_OK; i++)
        status = add_module(store, &cursor);
    if (status == FP_OK && !cursor_done(&cursor))
        status = FP_ERR_CORRUPT;
    if (status == FP_ERR_MEMORY)
        *ret_what = "no memory for modules";
    return status;
}

void sites_release(struct sites_store *store)
{
    for (uint32_t i = 0; i < store->sites.module_count; i++)
        free((char *)(uintptr_t)store->modules[i].path);
    fp_index_release(&store->index);
    node_model_free(store->model);
    free(store->modules);
    free(store->nodes);
    *store = (struct sites_store){0};
}
