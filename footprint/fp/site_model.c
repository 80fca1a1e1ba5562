/* site_model.c - guesses which site comes next, and which node. */
#include "footprint/fp/site_model.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/arrays.h"
#include "footprint/fp/record.h"

#define SURE_BITS        3u
#define GENERATION_SHIFT 26u
#define GENERATIONS      63u
#define TOLD_MASK        ((1u << (GENERATION_SHIFT - SURE_BITS)) - 1)

void site_model_begin(struct site_model *model)
{
    /* Blocks of a thread that lives for a moment are small: tables are wiped once in so many. */
    if (model->generation == GENERATIONS) {
        memset(model->slots, 0, sizeof model->slots);
        model->generation = 0;
    }
    model->generation++;
    model->last = model->before = model->others = model->highest = 0;
    range_begin(model->hits[0][0], sizeof model->hits / sizeof(uint16_t));
    range_begin(&model->is_higher, 1);
    range_begin((uint16_t *)&model->higher, sizeof model->higher / sizeof(uint16_t));
    range_begin((uint16_t *)&model->distance, sizeof model->distance / sizeof(uint16_t));
}

/* The slot of a table where all is as it is now. */
RANGE_INLINE uint32_t *slot_of(struct site_model *model, unsigned table, uint64_t shape_hash)
{
    const uint64_t shape = table <= 2 ? shape_hash : UINT64_C(0xa0761d6478bd642f);
    const uint64_t last = table != 2 ? model->last * UINT64_C(0xc2b2ae3d27d4eb4f) : 0;
    const uint64_t before = table == 0 || table == 3
                                ? (model->before << 2 | model->others) * UINT64_C(0x165667b19e3779f9)
                                : 0;
    uint64_t mixed = shape ^ last ^ before;
    mixed = (mixed ^ mixed >> 31) * UINT64_C(0xd6e8feb86659fd93);
    return table == 0 ? &model->slots[mixed >> (64 - SITE_FIRST_BITS)]
                      : &model->slots[(1u << SITE_FIRST_BITS) + (table - 1) * (1u << SITE_LATER_BITS) +
                                      (mixed >> (64 - SITE_LATER_BITS))];
}

/* None of the guesses was right. */
static uint32_t told_site(struct site_model *model, struct range_coder *coder, bool reads, uint32_t told)
{
    if (range_bit(coder, reads, &model->is_higher, told > model->highest)) {
        const uint64_t above = range_number(coder, reads, &model->higher, told - model->highest - 1);
        return above < FP_SITES_MAX ? model->highest + 1 + (uint32_t)above : UINT32_MAX;
    }
    const uint64_t step = range_number(coder, reads, &model->distance, zigzag((int64_t)told - model->last));
    const int64_t found = (int64_t)((uint64_t)unzigzag(step) + model->last);
    return step >> 32 == 0 && found > 0 ? (uint32_t)found : UINT32_MAX;
}

RANGE_INLINE uint32_t code_site(struct site_model *model, struct range_coder *coder, bool reads,
                                uint64_t shape_hash, uint32_t told)
{
    uint32_t *wrong[SITE_GUESSES], tried[SITE_GUESSES] = {0}, tried_count = 0;
    unsigned table = 0;
    for (; table < SITE_GUESSES; table++) {
        uint32_t *slot = slot_of(model, table, shape_hash);
        const bool is_set = *slot >> GENERATION_SHIFT == model->generation;
        const uint32_t guess = is_set ? *slot >> SURE_BITS & TOLD_MASK : 0, sure = *slot & SITE_SURE;
        bool is_known = guess == 0;
        wrong[table] = slot;
        for (uint32_t i = 0; i < tried_count; i++)
            is_known |= tried[i] == guess;
        if (is_known)
            continue;
        if (range_bit(coder, reads, &model->hits[table][sure][tried_count], guess == told)) {
            told = guess;
            *slot += sure < SITE_SURE;
            break;
        }
        tried[tried_count++] = guess;
    }
    if (table == SITE_GUESSES) {
        told = told_site(model, coder, reads, told);
        if (told > FP_SITES_MAX)
            return UINT32_MAX;
    }
    while (table-- > 0)
        *wrong[table] = model->generation << GENERATION_SHIFT | told << SURE_BITS;
    if (told > model->highest)
        model->highest = told;
    model->before = model->last;
    model->last = told;
    model->others = 0;
    return told;
}

static inline const struct fp_shape *shape_of(const struct site_calls *calls, uint32_t call)
{
    return &calls->shapes[calls->low[call] | (calls->high != NULL ? (uint32_t)calls->high[call] << 8 : 0)];
}

/* The hash that tells shapes apart for guesses. A workload's dictionary has a bit above the call. */
static inline uint64_t hash_of(const struct fp_shape *shape)
{
    return (shape->size * 64 + (shape->call & 0x7f) + shape->extra * UINT64_C(0x632be59bd9b4e019)) *
           UINT64_C(0x9e3779b97f4a7c15);
}

/* A function of its own for each way: within the loops over calls the compiler would run out of registers. */
static __attribute__((noinline)) void put_site(struct site_model *model, struct range_coder *coder,
                                               uint64_t shape_hash, uint32_t site)
{
    (void)code_site(model, coder, false, shape_hash, site + 1);
}

static __attribute__((noinline)) uint32_t get_site(struct site_model *model, struct range_coder *coder,
                                                   uint64_t shape_hash)
{
    return code_site(model, coder, true, shape_hash, 0);
}

static inline void note_other(struct site_model *model)
{
    model->others += model->others < SITE_OTHERS_MOST;
}

uint8_t *site_column_put(struct site_model *model, const struct site_calls calls, const uint32_t *sites,
                         uint8_t *at)
{
    struct range_coder coder = range_write(at);
    for (uint32_t i = 0; i < calls.count; i++) {
        const struct fp_shape *shape = shape_of(&calls, i);
        if (fp_call_has_site(shape->call & 0x7f))
            put_site(model, &coder, hash_of(shape), sites[i]);
        else
            note_other(model);
    }
    return range_end(&coder);
}

bool site_column_get(struct site_model *model, const struct site_calls calls, const struct column *column,
                     uint32_t end, uint32_t *ret_sites)
{
    struct range_coder coder = range_read(column->bytes, column->size);
    for (uint32_t i = 0; i < calls.count; i++) {
        const struct fp_shape *shape = shape_of(&calls, i);
        ret_sites[i] = 0;
        if (!fp_call_has_site(shape->call & 0x7f)) {
            if (model != NULL)
                note_other(model);
            continue;
        }
        ret_sites[i] = model != NULL ? get_site(model, &coder, hash_of(shape)) - 1 : FP_CUT_LOST;
        if (ret_sites[i] >= end) /* what can be none is above all */
            return false;
    }
    return model == NULL || range_done(&coder);
}

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

static uint32_t key_hash(uint64_t key)
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

/* An address that is told by its distance to another. Returns 0 for none. */
static uint64_t code_distance(struct node_model *model, struct range_coder *coder, bool reads,
                              struct range_number *distance, uint64_t from, uint64_t key)
{
    const uint64_t address = from & ADDRESS_MASK;
    uint64_t epoch = from >> FP_ADDRESS_BITS;
    if (!range_bit(coder, reads, &model->is_same_epoch, key >> FP_ADDRESS_BITS == epoch))
        epoch = range_number(coder, reads, &model->epoch, key >> FP_ADDRESS_BITS);
    const uint64_t step = range_number(coder, reads, distance,
                                       zigzag((int64_t)((key & ADDRESS_MASK) - address)));
    const uint64_t found = (uint64_t)unzigzag(step) + address;
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
    model->told[site] = (struct node_told){parent, key_hash(key)};
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
