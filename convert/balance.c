/* balance.c - live objects by address, with debts. */
#include "convert/balance.h"

#include <assert.h>
#include <stdlib.h>

#include "convert/stats.h"

#define NO_NOTE       UINT32_MAX
#define SEVERAL_LANES UINT32_MAX /* no lane has this number: footprint.h, FP_LANES_MAX */
#define DEBTS_FEW     65536u     /* 3 MiB of notes and table */
#define DEBT_ROUNDS   4u         /* refreshes, seconds each: a lane's last events are written by then */

/* Of an address at which an object is live or something is owed or expected. */
struct conv_balance_note {
    uint64_t epoch;      /* of the live object's allocation */
    uint64_t owed_epoch; /* the highest of what is owed */
    uint32_t lane;       /* of the live object's allocation */
    uint32_t owed_lane;  /* of what is owed; SEVERAL_LANES */
    uint16_t owed, expected;
    uint16_t round; /* in which the debts changed last */
    bool live;
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
    *balance = (struct conv_balance){.sum = sum, .note_spare = NO_NOTE};
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
    balance->notes = NULL;
    balance->note_count = balance->note_capacity = balance->indebted = 0;
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
        if (balance->note_count == balance->note_capacity) {
            const uint32_t capacity = balance->note_capacity + balance->note_capacity / 2 + 1024;
            struct conv_balance_note *notes;
            if (capacity < balance->note_capacity)
                return false;
            notes = realloc(balance->notes, capacity * sizeof *notes);
            if (notes == NULL)
                return false;
            balance->notes = notes;
            balance->note_capacity = capacity;
        }
        *ret_number = balance->note_count++;
    }
    balance->notes[*ret_number] = (struct conv_balance_note){0};
    return true;
}

/* The note of address, made when there is none; its entry in *ret_entry. NULL: no memory. */
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
        entry = conv_live_place(&balance->table, address); /* the table may have moved */
    }
    *ret_entry = entry;
    return &balance->notes[conv_live_object(entry).id];
}

static bool is_indebted(const struct conv_balance_note *note)
{
    return note->owed > 0 || note->expected > 0;
}

/* Drop the note of an address at which there is nothing any more. */
static void drop_idle(struct conv_balance *balance, struct conv_live_entry *entry)
{
    const uint32_t number = conv_live_object(entry).id;
    struct conv_balance_note *note = &balance->notes[number];
    if (note->live || is_indebted(note))
        return;
    note->lane = balance->note_spare;
    balance->note_spare = number;
    conv_live_remove(&balance->table, entry);
}

/* Change one kind of debt of a note by one; beyond what it can hold it stays. */
static void change_debt(struct conv_balance *balance, struct conv_balance_note *note, uint16_t *debt,
                        bool more)
{
    const bool before = is_indebted(note);
    if (more ? *debt < UINT16_MAX : *debt > 0)
        *debt = (uint16_t)(more ? *debt + 1 : *debt - 1);
    note->round = (uint16_t)balance->round;
    balance->indebted += is_indebted(note);
    balance->indebted -= before;
}

static void set_live(struct conv_balance *balance, struct conv_balance_note *note,
                     struct conv_live_entry *entry, uint64_t bytes, struct conv_moment moment)
{
    note->live = true;
    note->epoch = moment.epoch;
    note->lane = moment.lane;
    entry->word1 = (entry->word1 & ~LIVE_LOW48) | bytes;
    count_begin(balance, bytes);
}

static void set_dead(struct conv_balance *balance, struct conv_balance_note *note,
                     const struct conv_live_entry *entry)
{
    note->live = false;
    count_end(balance, conv_live_object(entry).bytes);
}

/* ---- events --------------------------------------------------------------------------------- */

bool conv_balance_add(struct conv_balance *balance, uint64_t address, uint64_t bytes,
                      struct conv_moment moment)
{
    struct conv_live_entry *entry;
    struct conv_balance_note *note = note_at(balance, address, &entry);
    if (note == NULL)
        return false;
    if (note->owed > 0 && moment.lane != note->owed_lane && moment.epoch <= note->owed_epoch) {
        change_debt(balance, note, &note->owed, false);
        drop_idle(balance, entry);
        return true;
    }
    if (note->live) {
        change_debt(balance, note, &note->expected, true);
        if (moment.lane != note->lane && moment.epoch < note->epoch)
            return true; /* it was released before what stands here was allocated */
        set_dead(balance, note, entry);
    }
    set_live(balance, note, entry, bytes, moment);
    return true;
}

static void owe(struct conv_balance *balance, struct conv_balance_note *note, struct conv_moment moment)
{
    if (note->owed == 0) {
        note->owed_epoch = moment.epoch;
        note->owed_lane = moment.lane;
    } else {
        if (moment.epoch > note->owed_epoch)
            note->owed_epoch = moment.epoch;
        if (moment.lane != note->owed_lane)
            note->owed_lane = SEVERAL_LANES;
    }
    change_debt(balance, note, &note->owed, true);
}

/* Whether a release is of an object that stood here before the live one. */
static bool is_older(const struct conv_balance_note *note, struct conv_moment moment)
{
    return moment.lane != note->lane &&
           (moment.epoch < note->epoch || (moment.epoch == note->epoch && note->expected > 0));
}

bool conv_balance_remove(struct conv_balance *balance, uint64_t address, struct conv_moment moment,
                         bool *ret_known, uint64_t *ret_bytes)
{
    struct conv_live_entry *entry;
    struct conv_balance_note *note = note_at(balance, address, &entry);
    if (note == NULL)
        return false;
    *ret_known = note->live && !is_older(note, moment);
    if (*ret_known) {
        *ret_bytes = conv_live_object(entry).bytes;
        set_dead(balance, note, entry);
    } else if (note->expected > 0) {
        change_debt(balance, note, &note->expected, false);
    } else {
        owe(balance, note, moment);
    }
    drop_idle(balance, entry);
    return true;
}

bool conv_balance_restore(struct conv_balance *balance, uint64_t address, bool known, uint64_t bytes,
                          struct conv_moment moment)
{
    struct conv_live_entry *entry;
    struct conv_balance_note *note = note_at(balance, address, &entry);
    if (note == NULL)
        return false;
    if (known && !note->live)
        set_live(balance, note, entry, bytes, moment);
    else if (!known && note->owed > 0)
        change_debt(balance, note, &note->owed, false);
    drop_idle(balance, entry);
    return true;
}

void conv_balance_forget(struct conv_balance *balance)
{
    struct conv_live *table = &balance->table;
    balance->round++;
    if (balance->indebted < DEBTS_FEW || balance->indebted < balance->objects / 2)
        return;
    for (size_t i = 0; i <= table->mask;) {
        struct conv_live_entry *entry = &table->entries[i];
        const size_t before = table->count;
        if (!conv_live_is_empty(entry)) {
            struct conv_balance_note *note = &balance->notes[conv_live_object(entry).id];
            if (is_indebted(note) && (uint16_t)((uint16_t)balance->round - note->round) > DEBT_ROUNDS) {
                note->owed = note->expected = 0;
                balance->indebted--;
                drop_idle(balance, entry);
            }
        }
        i += table->count == before; /* a removal moves another entry here */
    }
}
