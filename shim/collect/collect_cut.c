/* collect_cut.c - cuts announced. */
#include "shim/collect/collect_cut.h"

#define CUT_TRIES 100u

/* Announce a cut, then let the epoch word jump over it. Whoever reads the word from there on reads from our second
 * step or from one after it, all of which follow our first in the word's order: so it sees the announcement. */
static void cut_epochs(struct seg_slot *slot, struct seg_slot_note *note, bool paused)
{
    uint64_t epoch;
    unsigned tries = 0;
    do {
        epoch = get_relaxed(&slot->epoch) + SEG_CUT_DISTANCE;
        put_release(&note->cut, seg_cut(epoch, paused));
    } while (add_acq_rel(&slot->epoch, 1) >= epoch &&
             ++tries < CUT_TRIES); /* a second went by, or the process writes there what it should not */
    add_acq_rel(&slot->epoch, SEG_CUT_DISTANCE);
}

/* With --order stamps every record reads the clock: the cut is where that will be when it has been seen by all. */
static void cut_clock(const struct collector *collector, struct seg_slot_note *note, bool paused)
{
    const uint64_t ticks = (uint64_t)(CUT_HEED_NS / 2 / collector->clock.ns_per_tick);
    put_release(&note->cut, seg_cut(collector->clock.last_ticks + ticks, paused));
}

void cut_slot(const struct collector *collector, uint32_t slot)
{
    struct seg_slot_note *note = &collector->segment.view.slot_notes[slot];
    const uint64_t before = get_relaxed(&note->cut);
    put_relaxed(&note->cut_before, before);
    if (collector->options.stamps)
        cut_clock(collector, note, collector->paused);
    else
        cut_epochs(&collector->segment.view.slots[slot], note, collector->paused);
}

void cut_adopt(const struct collector *collector, uint32_t slot)
{
    const uint64_t cut = collector->segment.view.slots[slot].first_cut;
    if (((cut & SEG_CUT_PAUSED) != 0) != collector->paused)
        cut_slot(collector, slot);
}
