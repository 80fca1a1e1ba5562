/* site_model.c - guesses which site comes next. */
#include "footprint/fp/site_model.h"

#include <string.h>

#include "footprint/fp/fp_sites.h"
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
    const int64_t step = (int64_t)told - model->last;
    const uint64_t zigzag = range_number(coder, reads, &model->distance,
                                         (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
    const int64_t found = (int64_t)(zigzag >> 1 ^ -(zigzag & 1)) + model->last;
    return zigzag >> 32 == 0 && found > 0 ? (uint32_t)found : UINT32_MAX;
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
