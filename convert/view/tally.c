/* tally.c - count blocks, and keep what is live, without waiting for the order of threads. */
#include "convert/view/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/grow.h"
#include "convert/base/limits.h"
#include "convert/base/source.h"
#include "footprint/base/memory_bound.h"

/* ---- what is live ----------------------------------------------------------------------------- */

#define NO_NOTE     UINT32_MAX
#define VACANT_MOST 65536u /* 3 MiB of notes and table: below, nothing is looked for */

/* A note is about one address. */
struct conv_balance_note {
    uint64_t epoch;  /* the newest seen */
    uint32_t lane;   /* of the first event of that epoch */
    int16_t balance; /* of all events seen since the address was vacant and settled */
    int8_t newest;   /* the balance of the newest epoch alone */
    bool live : 1;
    bool mixed : 1; /* the newest epoch's events are of several lanes */
};

void conv_live_sum_peak(struct conv_live_sum *sum)
{
    if (sum->bytes > sum->bytes_peak)
        sum->bytes_peak = sum->bytes;
    if (sum->objects > sum->objects_peak)
        sum->objects_peak = sum->objects;
}

bool conv_balance_init(struct conv_balance *balance, struct conv_live_sum *sum)
{
    *balance = (struct conv_balance){.sum = sum, .note_spare = NO_NOTE, .vacant_most = VACANT_MOST};
    return conv_live_init(&balance->table);
}

/* ---- what is counted ------------------------------------------------------------------------ */

static void count_begin(struct conv_balance *balance, uint64_t bytes)
{
    struct conv_live_sum *sum = balance->sum;
    const unsigned size_class = conv_size_class(bytes);
    balance->bytes += bytes;
    balance->objects++;
    sum->bytes += bytes;
    sum->objects++;
    sum->class_bytes[size_class] += bytes;
    sum->class_objects[size_class]++;
}

static void uncount(struct conv_live_sum *sum, uint64_t bytes)
{
    const unsigned size_class = conv_size_class(bytes);
    sum->bytes -= bytes;
    sum->objects--;
    sum->class_bytes[size_class] -= bytes;
    sum->class_objects[size_class]--;
}

static void count_end(struct conv_balance *balance, uint64_t bytes)
{
    balance->bytes -= bytes;
    balance->objects--;
    uncount(balance->sum, bytes);
}

void conv_balance_release(struct conv_balance *balance)
{
    for (size_t i = 0; balance->table.entries != NULL && i <= balance->table.mask; i++) {
        const struct conv_live_entry *entry = &balance->table.entries[i];
        const struct conv_object object = conv_live_object(entry);
        if (!conv_live_is_empty(entry) && balance->notes[object.id].live)
            uncount(balance->sum, object.bytes);
    }
    conv_live_release(&balance->table);
    free(balance->notes);
    fp_memory_give(balance->note_capacity * sizeof *balance->notes);
    balance->notes = NULL;
    balance->note_count = balance->note_capacity = 0;
    balance->vacant = 0;
    balance->note_spare = NO_NOTE;
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* A spare note's `lane` is the number of the next spare one. */
static bool take_note(struct conv_balance *balance, uint32_t *ret_number)
{
    if (balance->note_spare != NO_NOTE) {
        *ret_number = balance->note_spare;
        balance->note_spare = balance->notes[*ret_number].lane;
    } else {
        if (balance->note_count == NO_NOTE ||
            !CONV_RESERVE_COUNTED(balance->notes, balance->note_capacity, (size_t)balance->note_count + 1))
            return false;
        *ret_number = balance->note_count++;
    }
    balance->notes[*ret_number] = (struct conv_balance_note){0};
    return true;
}

/* The note of address, made when there is none: then of balance 0. Its entry in *ret_entry. NULL: no memory. */
static struct conv_balance_note *note_at(struct conv_balance *balance, uint64_t address,
                                         struct conv_live_entry **ret_entry)
{
    struct conv_live_entry *entry = conv_live_place(&balance->table, address);
    if (conv_live_is_empty(entry)) {
        struct conv_object object = {0};
        if (!take_note(balance, &object.id))
            return NULL;
        if (!conv_live_insert_at(&balance->table, entry, address, object)) {
            balance->notes[object.id].lane = balance->note_spare;
            balance->note_spare = object.id;
            return NULL;
        }
        balance->vacant++;
        entry = conv_live_place(&balance->table, address); /* the table may have moved */
    }
    *ret_entry = entry;
    return &balance->notes[conv_live_object(entry).id];
}

static void drop_vacant(struct conv_balance *balance, struct conv_live_entry *entry)
{
    const uint32_t number = conv_live_object(entry).id;
    assert(!balance->notes[number].live);
    balance->notes[number].lane = balance->note_spare;
    balance->note_spare = number;
    balance->vacant--;
    conv_live_remove(&balance->table, entry);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Whether an object is at the address, now that an event was added to its note. */
static bool judge(struct conv_balance_note *note, int change, struct conv_moment moment)
{
    const int balance = note->balance + change;
    if (balance >= INT16_MIN && balance <= INT16_MAX)
        note->balance = (int16_t)balance;
    if (moment.epoch > note->epoch) {
        note->epoch = moment.epoch;
        note->lane = moment.lane;
        note->newest = 0;
        note->mixed = false;
    }
    if (moment.epoch == note->epoch) {
        const int newest = note->newest + change;
        if (newest >= INT8_MIN && newest <= INT8_MAX)
            note->newest = (int8_t)newest;
        note->mixed = note->mixed || moment.lane != note->lane;
        if (!note->mixed)
            return change > 0;
        if (note->newest != 0)
            return note->newest > 0;
    } else if (!note->mixed || note->newest != 0) {
        return note->live; /* whatever was before the newest */
    }
    return note->balance > 0;
}

static void apply(struct conv_balance *balance, struct conv_live_entry *entry, int change, uint64_t bytes,
                  struct conv_moment moment)
{
    struct conv_balance_note *note = &balance->notes[conv_live_object(entry).id];
    const bool was = note->live;
    if (was)
        count_end(balance, conv_live_object(entry).bytes);
    note->live = judge(note, change, moment);
    if (change > 0 && moment.epoch == note->epoch)
        entry->word1 = (entry->word1 & ~LIVE_LOW48) | bytes;
    if (note->live)
        count_begin(balance, conv_live_object(entry).bytes);
    balance->vacant += was;
    balance->vacant -= note->live;
    if (!note->live && balance->alone)
        drop_vacant(balance, entry);
}

/* A note that is new takes the event's moment: nothing newer was seen. */
static struct conv_balance_note *note_for(struct conv_balance *balance, uint64_t address,
                                          struct conv_moment moment, struct conv_live_entry **ret_entry)
{
    const size_t before = balance->table.count;
    struct conv_balance_note *note = note_at(balance, address, ret_entry);
    if (note != NULL && balance->table.count != before) {
        note->epoch = moment.epoch;
        note->lane = moment.lane;
    }
    return note;
}

bool conv_balance_add(struct conv_balance *balance, uint64_t address, uint64_t bytes,
                      struct conv_moment moment)
{
    struct conv_live_entry *entry;
    if (note_for(balance, address, moment, &entry) == NULL)
        return false;
    apply(balance, entry, 1, bytes, moment);
    return true;
}

bool conv_balance_remove(struct conv_balance *balance, uint64_t address, struct conv_moment moment,
                         bool *ret_known, uint64_t *ret_bytes)
{
    struct conv_live_entry *entry;
    const struct conv_balance_note *note = note_for(balance, address, moment, &entry);
    uint64_t objects = balance->objects;
    if (note == NULL)
        return false;
    *ret_bytes = conv_live_object(entry).bytes;
    apply(balance, entry, -1, 0, moment);
    *ret_known = balance->objects < objects;
    return true;
}

bool conv_balance_restore(struct conv_balance *balance, uint64_t address, bool known, uint64_t bytes,
                          struct conv_moment moment)
{
    const struct conv_live_entry *there = conv_live_find(&balance->table, address);
    struct conv_balance_note *note = there != NULL ? &balance->notes[conv_live_object(there).id] : NULL;
    if (known && (note == NULL || !note->live))
        return conv_balance_add(balance, address, bytes, moment);
    if (note != NULL && note->balance < INT16_MAX)
        note->balance++;
    return true;
}

/* ---- settling ------------------------------------------------------------------------------- */

void conv_balance_settle(struct conv_balance *balance, uint64_t horizon)
{
    struct conv_live_table *table = &balance->table;
    if (balance->vacant < balance->vacant_most)
        return;
    for (size_t i = 0; i <= table->mask;) {
        struct conv_live_entry *entry = &table->entries[i];
        struct conv_balance_note *note = conv_live_is_empty(entry)
                                             ? NULL
                                             : &balance->notes[conv_live_object(entry).id];
        if (note != NULL && note->epoch < horizon && !note->live) {
            drop_vacant(balance, entry);
            continue; /* another entry may stand here now */
        }
        if (note != NULL && note->epoch < horizon)
            note->balance = 1; /* also where releases were lost, or unknown */
        i++;
    }
    /* Not again before as many have come as it took to look at all. */
    balance->vacant_most = balance->vacant * 2 + balance->objects / 2 + VACANT_MOST;
}

bool conv_tally_init(struct conv_tally *tally, struct conv_tally_sum *sum)
{
    *tally = (struct conv_tally){.sum = sum};
    return conv_balance_init(&tally->balance, &sum->live);
}

void conv_tally_release(struct conv_tally *tally)
{
    for (uint32_t i = 0; i < tally->lane_count; i++)
        free(tally->lanes[i].pending);
    free(tally->lanes);
    tally->lanes = NULL;
    tally->lane_count = 0;
    conv_balance_release(&tally->balance);
}

static struct conv_tally_lane *lane_at(struct conv_tally *tally, uint32_t number)
{
    struct conv_tally_lane *lanes = conv_grown(tally->lanes, sizeof *lanes, &tally->lane_capacity, number);
    if (lanes == NULL)
        return NULL;
    tally->lanes = lanes;
    if (number >= tally->lane_count)
        tally->lane_count = number + 1;
    return &lanes[number];
}

/* ---- realloc, by the rules of convert/ops/pair.c ------------------------------------------------ */

static enum fp_status restore(struct conv_tally *tally, const struct conv_tally_pending *pending,
                              struct conv_moment moment)
{
    return conv_balance_restore(&tally->balance, pending->address, pending->known, pending->bytes, moment)
               ? FP_OK
               : FP_ERR_MEMORY;
}

/* Reallocs that will not return: their objects stand as before. */
static enum fp_status drop_pending(struct conv_tally *tally, struct conv_tally_lane *lane, uint32_t leave,
                                   struct conv_moment moment)
{
    const uint32_t drop = lane->pending_count > leave ? lane->pending_count - leave : 0;
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < drop && status == FP_OK; i++)
        status = restore(tally, &lane->pending[i], moment);
    lane->pending_count -= drop;
    if (lane->pending_count > 0)
        memmove(lane->pending, lane->pending + drop, lane->pending_count * sizeof *lane->pending);
    return status;
}

static enum fp_status resize_from(struct conv_tally *tally, struct conv_tally_lane *lane, uint64_t address,
                                  struct conv_moment moment)
{
    struct conv_tally_pending pending = {.address = address};
    enum fp_status status;
    if (lane->pending == NULL) {
        lane->pending = calloc(CONV_NEST_MAX, sizeof *lane->pending);
        if (lane->pending == NULL)
            return FP_ERR_MEMORY;
    }
    status = drop_pending(tally, lane, CONV_NEST_MAX - 1, moment);
    if (status != FP_OK)
        return status;
    if (!conv_balance_remove(&tally->balance, address, moment, &pending.known, &pending.bytes))
        return FP_ERR_MEMORY;
    lane->pending[lane->pending_count++] = pending;
    return FP_OK;
}

/* ---- marks ---------------------------------------------------------------------------------- */

static enum fp_status take_mark(struct conv_tally *tally, struct conv_tally_lane *lane,
                                const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    switch (shape->call) {
    case FP_MARK_RESIZE_FROM:
        return address != 0 ? resize_from(tally, lane, address, moment) : FP_OK;
    case FP_MARK_THREAD_EXIT:
        tally->threads_exited += !lane->exited;
        lane->exited = true;
        return FP_OK;
    case FP_MARK_GAP:
        if (shape->extra != FP_GAP_PAUSE) {
            tally->lost_calls = conv_add_saturating(tally->lost_calls, shape->size);
            tally->sum->lost_calls = conv_add_saturating(tally->sum->lost_calls, shape->size);
        }
        return drop_pending(tally, lane, 0, moment);
    default:
        return FP_OK;
    }
}

static enum fp_status allocate(struct conv_tally *tally, struct conv_tally_lane *lane,
                               const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    const bool is_resize = fp_call_kind_of(shape->call) == FP_KIND_RESIZE;
    const uint64_t bytes = fp_shape_bytes(shape);
    if (address != 0 && bytes >= CONV_ADDRESS_LIMIT)
        return FP_OK; /* no allocator could */
    if (is_resize && lane->pending_count > 0) {
        const struct conv_tally_pending pending = lane->pending[--lane->pending_count];
        if (address == 0 && bytes > 0)
            return restore(tally, &pending, moment);
    }
    if (address == 0)
        return FP_OK;
    tally->sum->class_allocations[conv_size_class(bytes)]++;
    return conv_balance_add(&tally->balance, address, bytes, moment) ? FP_OK : FP_ERR_MEMORY;
}

static enum fp_status take(struct conv_tally *tally, struct conv_tally_lane *lane,
                           const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    bool known;
    uint64_t bytes;
    tally->sum->events_by_call[shape->call % CONV_CALLS]++;
    if (address >= CONV_ADDRESS_LIMIT)
        return FP_OK;
    switch (fp_call_kind_of(shape->call)) {
    case FP_KIND_NONE:
        return take_mark(tally, lane, shape, address, moment);
    case FP_KIND_RELEASE:
        lane->events++;
        if (address == 0 || conv_balance_remove(&tally->balance, address, moment, &known, &bytes))
            return FP_OK;
        return FP_ERR_MEMORY;
    default:
        lane->events++;
        return allocate(tally, lane, shape, address, moment);
    }
}

enum fp_status conv_tally_block(struct conv_tally *tally, const struct fp_block *block)
{
    struct conv_tally_lane *lane = lane_at(tally, block->lane);
    enum fp_status status = FP_OK;
    uint64_t before;
    if (lane == NULL)
        return FP_ERR_MEMORY;
    tally->threads += !lane->seen;
    lane->seen = true;
    before = lane->events;
    if (block->sequence != lane->sequence) /* blocks between were lost */
        status = drop_pending(tally, lane, 0, (struct conv_moment){lane->epoch, block->lane});
    lane->sequence = block->sequence + 1;
    for (uint32_t i = 0; i < block->mark_count && status == FP_OK; i++) {
        const struct fp_mark *mark = &block->marks[i];
        const uint64_t epoch = block->base_epoch + mark->epoch;
        if (epoch > lane->epoch) /* a signal handler's mark may be ahead of the one it interrupted */
            lane->epoch = epoch;
        status = take(tally, lane, &block->shapes[mark->shape], mark->address,
                      (struct conv_moment){lane->epoch, block->lane});
        if (tally->balance.alone)
            conv_live_sum_peak(&tally->sum->live);
    }
    tally->events += lane->events - before;
    tally->sum->events += lane->events - before;
    if (block->stamp_count > 0 && block->stamps[block->stamp_count - 1].time_ns > tally->sum->last_time_ns)
        tally->sum->last_time_ns = block->stamps[block->stamp_count - 1].time_ns;
    return status;
}

enum fp_status conv_tally_end(struct conv_tally *tally)
{
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < tally->lane_count && status == FP_OK; i++)
        status = drop_pending(tally, &tally->lanes[i], 0, (struct conv_moment){tally->lanes[i].epoch, i});
    for (uint32_t i = 0; i < tally->lane_count; i++) {
        free(tally->lanes[i].pending);
        tally->lanes[i].pending = NULL;
    }
    conv_balance_release(&tally->balance);
    tally->ended = true;
    return status;
}

void conv_tally_mark(struct conv_tally *tally)
{
    tally->events_before = tally->events;
    for (uint32_t i = 0; i < tally->lane_count; i++)
        tally->lanes[i].events_before = tally->lanes[i].events;
}
