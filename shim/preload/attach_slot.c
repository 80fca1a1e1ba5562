/* attach_slot.c - a process's slot in the segment's table: claimed, waited for, filled.
 *
 * Laws of this file: attach.h has them. */
#include "shim/preload/attach_slot.h"

#include <string.h>

#include "shim/preload/attach_self.h"
#include "shim/preload/confine.h"
#include "shim/preload/confine_calls.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/lane_pool.h"
#include "shim/preload/large.h"
#include "shim/preload/patience.h"
#include "shim/preload/shim_text.h"
#include "shim/shared/raw.h"

#define CLOSING_WAITS  100 /* of ATTACH_WAIT_NS: a collector that died while closing */
#define SLOT_WAIT_NS   2000000u
#define CROWDED_WAITS  50   /* of SLOT_WAIT_NS, in a row */
#define CONFINED_RESTS 400u /* of confine_rest, instead of SLOT_WAIT_NS */

/* Ordinary memory, so that a child knows who it comes from. */
static uint64_t my_serial;
static struct seg_slot *parent_slot; /* or ours */
static bool nameless;                /* a confined child that cannot tell who it is */
static _Atomic uint32_t forks;
static __thread uint32_t fork_number
    __attribute__((tls_model("initial-exec"))); /* under way; the child's copy */

bool attach_count_for_parent(uint64_t calls)
{
    /* Where the parent has ended, its slot may be another's: a serial is never used twice. */
    if (!nameless || parent_slot == NULL || parent_slot->serial != my_serial)
        return false;
    add_relaxed(&parent_slot->lost[FP_LOSS_CONFINED], calls);
    return true;
}

/* pid: 0 in another namespace, where the collector's leader cannot be. */
static bool may_follow(uint32_t pid)
{
    uint32_t leader = 0;
    if (pid == 0)
        return !(shim_segment.fixed.flags & SEG_FLAG_NO_FOLLOW);
    if (swap_relaxed(&shim_segment.shared->leader_pid, &leader, pid))
        return true;
    return leader == pid || !(shim_segment.fixed.flags & SEG_FLAG_NO_FOLLOW);
}

uint32_t attach_fork_begins(void)
{
    return fork_number = add_relaxed(&forks, 1) + 1;
}

void attach_fork_is_over(void)
{
    fork_number = 0;
}

/* A process image begins: count its forks anew. Returns the number of the fork that made it, 0 when there was none, or none
 * that we saw (a raw clone). */
static uint32_t begin_forks(void)
{
    const uint32_t number = fork_number;
    fork_number = 0;
    put_relaxed(&forks, 0);
    return number;
}

static void fill_slot(struct seg_slot *slot, uint64_t serial, const char *program, const char *executable)
{
    /* Made here: a string in shared memory may have no end at any moment. */
    char path[SEG_EXECUTABLE] = "", name[SEG_PROGRAM] = "";
    text_append(path, sizeof path, executable);
    text_append(name, sizeof name, program);
    slot->serial = serial;
    slot->parent_serial = my_serial;
    slot->fork_number = begin_forks();
    slot->parent_pid = attach_self.parent_pid;
    slot->inner_pid = attach_self.pid;
    slot->pid_namespace = attach_self.namespace;
    slot->map_address = (uint64_t)(uintptr_t)shim_segment.header;
    put_relaxed(&slot->lane_count, 0);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        put_relaxed(&slot->lost[cause], 0);
    put_relaxed(&slot->stalls, 0);
    put_relaxed(&slot->stall_ns, 0);
    memcpy(slot->executable, path, sizeof slot->executable);
    memcpy(slot->program, name, sizeof slot->program);
    slot->first_cut = shim_process->first_cut;
    put_relaxed(&slot->epoch, 1);
}

void attach_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    if (!confine_may_call()) {
        for (unsigned rest = 0; rest < CONFINED_RESTS; rest++)
            confine_rest();
        return;
    }
    (void)raw_futex_wait(word, value, timeout_ns); /* whatever woke us, the caller looks again */
    confine_called();
}

static bool stays_open(struct seg_header *segment)
{
    for (int waits = 0; waits < CLOSING_WAITS; waits++) {
        if (atomic_load_explicit(&segment->closing, memory_order_seq_cst) != SEG_CLOSING)
            break;
        attach_wait(&segment->closing, SEG_CLOSING, ATTACH_WAIT_NS);
    }
    return atomic_load_explicit(&segment->closing, memory_order_seq_cst) == SEG_OPEN;
}

/* Whether a claim stands, or the recording has ended meanwhile. */
static bool claim_stands(struct seg_header *segment, struct seg_slot *slot)
{
    /* Either we see `closing`, or the collector, which sets it before its last look, sees our claim. */
    if (atomic_load_explicit(&segment->closing, memory_order_seq_cst) == SEG_OPEN)
        return true;
    put_release(&slot->state, SEG_SLOT_FREE);
    return false;
}

static struct seg_slot *claim_slot(uint32_t pid)
{
    struct seg_slot *slots = shim_segment.slots;
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        uint64_t word = get_relaxed(&slots[index].state);
        if (word != SEG_SLOT_FREE)
            continue;
        /* acquire: pairs with the collector's release of the slot's former use */
        if (atomic_compare_exchange_strong_explicit(&slots[index].state, &word,
                                                    seg_slot_word(SEG_SLOT_ATTACHING, pid),
                                                    memory_order_seq_cst, memory_order_relaxed))
            return &slots[index];
    }
    return NULL;
}

/* Processes may end faster than the collector finishes their footprints; then new ones wait, unless every slot is a
 * live process's. */
static struct seg_slot *wait_for_slot(uint32_t pid)
{
    struct seg_header *segment = shim_segment.header;
    struct seg_slot *slot = claim_slot(pid);
    int crowded = 0;
    while (slot == NULL && crowded < CROWDED_WAITS && !(shim_segment.fixed.flags & SEG_FLAG_DROP) &&
           !patience_collector_is_gone() && get_relaxed(&segment->closing) != SEG_CLOSED) {
        lane_wake(SEG_NAP);
        attach_wait(&segment->space, get_relaxed(&segment->space), SLOT_WAIT_NS);
        slot = claim_slot(pid);
        crowded = get_relaxed(&segment->crowded) ? crowded + 1 : 0;
    }
    return slot;
}

/* Filters that the image began behind, and the collector is not behind, were put up by whoever started it: what they forbid
 * is not known. */
static void heed_filters(void)
{
    if (!confine_is_on() && filters_confine(shim_segment.fixed.filters))
        confine_begin(CONFINE_CALLS);
}

enum taking attach_take_slot(const char *program, const char *executable)
{
    struct seg_header *segment = shim_segment.header;
    struct seg_slot *slot;

    if (get_relaxed(&segment->stopped))
        return TAKING_LATE;
    nameless = !attach_identify();
    if (nameless) {
        if (!attach_count_for_parent(0))
            add_relaxed(&shim_segment.shared->unattached, 1);
        return TAKING_NONE;
    }
    shim_process->foreign = attach_self.foreign;
    uint32_t pid = attach_self.foreign ? 0 : attach_self.pid;
    uint64_t claim = seg_slot_word(SEG_SLOT_ATTACHING, pid);
    if (!may_follow(pid))
        return TAKING_NONE;
    for (;;) {
        slot = wait_for_slot(pid);
        if (slot == NULL) {
            add_relaxed(&shim_segment.shared->unattached, 1);
            return TAKING_NONE;
        }
        if (claim_stands(segment, slot))
            break;
        if (!stays_open(segment))
            return TAKING_LATE;
    }
    shim_process->serial = add_relaxed(&shim_segment.shared->serials, 1) + 1;
    /* A pause that begins or ends from here on is announced to us when the collector has found us. */
    shim_process->first_cut = seg_cut(0, get_relaxed(&segment->paused) != 0);
    fill_slot(slot, shim_process->serial, program, executable);
    my_serial = shim_process->serial;
    shim_process->slot = parent_slot = slot;
    shim_process->slot_index = (uint32_t)(slot - shim_segment.slots);
    shim_process->note = &shim_segment.slot_notes[shim_process->slot_index];
    shim_process->lost_contact = 0;
    lane_forget_inherited();
    heed_filters();
    large_begin((shim_segment.fixed.flags & SEG_FLAG_RESIDENT) != 0, shim_segment.fixed.filters);
    /* A claim that stood for very long was taken back: whoever was stopped for so long is not recorded. */
    if (!atomic_compare_exchange_strong_explicit(&slot->state, &claim, seg_slot_word(SEG_SLOT_ATTACHED, pid),
                                                 memory_order_release, memory_order_relaxed)) {
        add_relaxed(&shim_segment.shared->unattached, 1);
        return TAKING_NONE;
    }
    lane_ring();
    return TAKING_DONE;
}
