/* attach_slot.c - a process's slot in the segment's table: claimed, waited for, filled.
 *
 * Laws of this file: attach.h has them. */
#include <string.h>
#include <sys/stat.h>

#include "shim/preload/attach.h"
#include "shim/preload/confine.h"
#include "shim/preload/large.h"
#include "shim/shared/filters.h"
#include "shim/shared/raw.h"

#define CLOSING_WAITS  100 /* of ATTACH_WAIT_NS: a collector that died while closing */
#define SLOT_WAIT_NS   2000000u
#define CROWDED_WAITS  50   /* of SLOT_WAIT_NS, in a row */
#define CONFINED_RESTS 400u /* of confine_rest, instead of SLOT_WAIT_NS */

/* Ordinary memory, so that a child knows who it comes from. */
static uint64_t my_serial;
static struct seg_slot *parent_slot; /* or ours */
static bool nameless;                /* a confined child that cannot tell who it is */
static bool foreign; /* what a parent found holds for its children, who may have no /proc to ask */

/* Likewise, and what a child goes by that cannot ask for itself. A namespace is 0 where it is not known. */
static struct identity {
    uint32_t pid, parent_pid;
    uint64_t namespace, of_children;
} self;

static uint64_t namespace_at(const char *path)
{
    struct stat status = {0};
#if defined(SYS_newfstatat)
    if (raw_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0) == 0)
        return status.st_ino;
#endif
    (void)path;
    return 0;
}

void attach_make_ready(void)
{
    if (!confine_may_call())
        return;
    self.of_children = namespace_at("/proc/self/ns/pid_for_children");
    confine_called();
}

/* A confined process's forked child. libc knows its id, but not that of one that was made by a raw clone. */
static bool identify_confined(void)
{
    const uint32_t id = confine_thread_id();
    if (id == 0 || id == lane_thread)
        return false;
    self.parent_pid = self.pid;
    self.pid = id;
    self.namespace = self.of_children;
    return true;
}

bool attach_count_for_parent(uint64_t calls)
{
    /* Where the parent has ended, its slot may be another's: a serial is never used twice. */
    if (!nameless || parent_slot == NULL || parent_slot->serial != my_serial)
        return false;
    atomic_fetch_add_explicit(&parent_slot->lost[FP_LOSS_CONFINED], calls, memory_order_relaxed);
    return true;
}

/* Who we are. Returns false where that cannot be told. */
static bool identify(void)
{
    if (!confine_may_call())
        return identify_confined();
    self.pid = raw_getpid();
    self.parent_pid = (uint32_t)raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    self.namespace = namespace_at("/proc/self/ns/pid");
    confine_called();
    return true;
}

/* pid: 0 in another namespace, where the collector's leader cannot be. */
static bool may_follow(uint32_t pid)
{
    uint32_t leader = 0;
    if (pid == 0)
        return !(shim_segment.fixed.flags & SEG_FLAG_NO_FOLLOW);
    if (atomic_compare_exchange_strong_explicit(&shim_segment.shared->leader_pid, &leader, pid,
                                                memory_order_relaxed, memory_order_relaxed))
        return true;
    return leader == pid || !(shim_segment.fixed.flags & SEG_FLAG_NO_FOLLOW);
}

static void fill_slot(struct seg_slot *slot, uint64_t serial, const char *executable)
{
    /* Made here: a string in shared memory may have no end at any moment. */
    char path[SEG_EXECUTABLE] = "", program[SEG_PROGRAM] = "";
    text_append(path, sizeof path, executable);
    text_append(program, sizeof program, attach_program);
    slot->serial = serial;
    slot->parent_serial = my_serial;
    slot->fork_number = fork_begin_process();
    slot->parent_pid = self.parent_pid;
    slot->inner_pid = self.pid;
    slot->pid_namespace = self.namespace;
    slot->map_address = (uint64_t)(uintptr_t)shim_segment.header;
    atomic_store_explicit(&slot->lane_count, 0, memory_order_relaxed);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        atomic_store_explicit(&slot->lost[cause], 0, memory_order_relaxed);
    atomic_store_explicit(&slot->stalls, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->stall_ns, 0, memory_order_relaxed);
    memcpy(slot->executable, path, sizeof slot->executable);
    memcpy(slot->program, program, sizeof slot->program);
    slot->first_cut = shim_process->first_cut;
    atomic_store_explicit(&slot->epoch, 1, memory_order_relaxed);
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

/* A parent outside its child's namespace has the id 0 there. */
static void find_namespace(void)
{
    if (self.namespace != 0 && shim_segment.fixed.pid_namespace != 0)
        foreign = self.namespace != shim_segment.fixed.pid_namespace;
    else if (self.parent_pid == 0)
        foreign = true;
}

/* Whether a claim stands, or the recording has ended meanwhile. */
static bool claim_stands(struct seg_header *segment, struct seg_slot *slot)
{
    /* Either we see `closing`, or the collector, which sets it before its last look, sees our claim. */
    if (atomic_load_explicit(&segment->closing, memory_order_seq_cst) == SEG_OPEN)
        return true;
    atomic_store_explicit(&slot->state, SEG_SLOT_FREE, memory_order_release);
    return false;
}

static struct seg_slot *claim_slot(uint32_t pid)
{
    struct seg_slot *slots = shim_segment.slots;
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        uint64_t word = atomic_load_explicit(&slots[index].state, memory_order_relaxed);
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
           !lane_collector_is_gone() &&
           atomic_load_explicit(&segment->closing, memory_order_relaxed) != SEG_CLOSED) {
        lane_wake(SEG_NAP);
        attach_wait(&segment->space, atomic_load_explicit(&segment->space, memory_order_relaxed),
                    SLOT_WAIT_NS);
        slot = claim_slot(pid);
        crowded = atomic_load_explicit(&segment->crowded, memory_order_relaxed) ? crowded + 1 : 0;
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

enum taking attach_take_slot(const char *executable)
{
    struct seg_header *segment = shim_segment.header;
    struct seg_slot *slot;
    uint64_t claim;
    uint32_t pid;

    if (atomic_load_explicit(&segment->stopped, memory_order_relaxed))
        return TAKING_LATE;
    nameless = !identify();
    if (nameless) {
        if (!attach_count_for_parent(0))
            atomic_fetch_add_explicit(&shim_segment.shared->unattached, 1, memory_order_relaxed);
        return TAKING_NONE;
    }
    find_namespace();
    shim_process->foreign = foreign;
    pid = foreign ? 0 : self.pid;
    claim = seg_slot_word(SEG_SLOT_ATTACHING, pid);
    if (!may_follow(pid))
        return TAKING_NONE;
    for (;;) {
        slot = wait_for_slot(pid);
        if (slot == NULL) {
            atomic_fetch_add_explicit(&shim_segment.shared->unattached, 1, memory_order_relaxed);
            return TAKING_NONE;
        }
        if (claim_stands(segment, slot))
            break;
        if (!stays_open(segment))
            return TAKING_LATE;
    }
    shim_process->serial = atomic_fetch_add_explicit(&shim_segment.shared->serials, 1, memory_order_relaxed) +
                           1;
    /* A pause that begins or ends from here on is announced to us when the collector has found us. */
    shim_process->first_cut = seg_cut(0, atomic_load_explicit(&segment->paused, memory_order_relaxed) != 0);
    fill_slot(slot, shim_process->serial, executable);
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
        atomic_fetch_add_explicit(&shim_segment.shared->unattached, 1, memory_order_relaxed);
        return TAKING_NONE;
    }
    lane_ring();
    return TAKING_DONE;
}
