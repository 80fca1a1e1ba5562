/* node_model.c - nodes by what is known of their parents. */
#include "footprint/fp/node_model.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_MASK ((UINT64_C(1) << FP_ADDRESS_BITS) - 1)

void node_model_begin(struct node_model *model)
{
    model->last = 0;
    model->last_key = 0;
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
    if (model == NULL)
        return NULL;
    model->capacity = 256;
    model->told = calloc(model->capacity, sizeof *model->told);
    if (model->told == NULL) {
        free(model);
        return NULL;
    }
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
    size_t capacity = model->capacity;
    while (capacity <= site)
        capacity *= 2;
    if (capacity == model->capacity)
        return true;
    struct node_told *told = realloc(model->told, capacity * sizeof *told);
    if (told == NULL)
        return false;
    memset(told + model->capacity, 0, (capacity - model->capacity) * sizeof *told);
    model->told = told;
    model->capacity = capacity;
    return true;
}

static struct node_told told_at(const struct node_model *model, uint32_t site)
{
    return site < model->capacity ? model->told[site] : (struct node_told){0};
}

static uint32_t hash_of(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) | 1;
}

/* What was called from where a parent calls, or is at a stack's end. */
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

/* How far above the one before a node is; NODE_UP_MOST: it is not, or farther. */
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
