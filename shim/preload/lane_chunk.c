/* lane_chunk.c - chunks claimed, waited for, left, inherited, closed and repaired.
 *
 * Laws of this file: those of turn.c. */
#include "shim/preload/lane_chunk.h"

#include <string.h>

#include "shim/preload/confine.h"

#define WAIT_NS    2000000u /* one futex wait for room; short, so that a dead collector is noticed */
#define WAITS_MOST 25u      /* of WAIT_NS, in one wait of many threads */
#define TURN_NS    5000u    /* about, of one turn of a confined process */
#define LOOK_GROUPS                                                                                          \
    8u /* of seldom_ticks, which are 250 us: between two looks of a lane that found no chunk */
#define LATE_NS     UINT64_C(100000000)  /* ten blocks' time: below it nobody wonders */
#define PATIENCE_NS UINT64_C(1000000000) /* shared memory held seconds of calls before it was full */

void lane_ring(void)
{
    struct seg_shared *shared = shim_segment.shared;
    atomic_fetch_add_explicit(&shared->doorbell, 1, memory_order_release);
    if (!confine_may_call())
        return;
    raw_futex_wake(&shared->doorbell, 1);
    confine_called();
}

/* A confined process leaves the word as it is, so that others still ring. */
void lane_wake(enum seg_sleep least)
{
    _Atomic uint32_t *asleep = &shim_segment.shared->asleep;
    if (!confine_is_on() && get_relaxed(asleep) >= least &&
        atomic_exchange_explicit(asleep, SEG_AWAKE, memory_order_relaxed) >= least)
        lane_ring();
}

static uint64_t word_of(const struct lane *lane, enum seg_chunk_state state)
{
    return seg_chunk_word(state, shim_process->slot_index, lane->stream,
                          state == SEG_CHUNK_FULL ? 0 : lane->thread_id);
}

void lane_close_chunk(struct lane *lane)
{
    if (lane->cursor == NULL)
        return;
    const uint64_t words = (uint64_t)(lane->cursor - (uint64_t *)seg_chunk(&shim_segment, lane->chunk));
    lane->cursor = NULL;
    /* release: the records are in place before the collector may look; pairs with its acquire load */
    put_release(&shim_segment.states[lane->chunk], word_of(lane, SEG_CHUNK_FULL) | words << SEG_THREAD_SHIFT);
    /* A missed ring costs the collector's time-out, no record. */
    lane_wake(SEG_SLEEP);
}

void lane_leave_chunk(struct lane *lane)
{
    if (lane->cursor != NULL)
        put_release(&shim_segment.states[lane->chunk], word_of(lane, SEG_CHUNK_LEFT)); /* as above */
}

bool lane_inherit_chunk(struct lane *lane, uint32_t former)
{
    /* A chunk is not gone on in where a handler's jump out of a store may have left words behind
     * the cursor that are no record. */
    const bool fits = lane_gate(lane) == GATE_OPEN && lane->number < FP_LANES_MAX;
    uint64_t left = seg_chunk_word(SEG_CHUNK_LEFT, shim_process->slot_index, lane->stream, former);
    /* The collector may have taken it before us: then it is somebody else's by now, and has another word. */
    if (lane->cursor != NULL &&
        swap_acq_rel(&shim_segment.states[lane->chunk], &left,
                     word_of(lane, fits ? SEG_CHUNK_OPEN : SEG_CHUNK_FULL)) &&
        fits)
        return true;
    lane->cursor = NULL;
    return false;
}

void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause)
{
    lane->gap_pending = true;
    lane->gap_lost = true;
    if (call >= FP_CALL_COUNT)
        return; /* half a realloc, whose other half is the call, or no call at all */
    lane->lost_pending++;
    if (unlikely(shim_process->slot == NULL))
        return; /* a forked child that has not attached yet, interrupted in its first call */
    add_relaxed(&shim_process->slot->lost[cause], 1);
}

enum claim {
    CLAIM_NONE,
    CLAIM_LATER, /* the collector has a chunk of those that are kept for us, and will free it */
    CLAIM_DONE,
};

/* The lowest free chunk, before those that are kept for our slot: low indexes are in use first, so an index tells how short the
 * pool is. */
static enum claim claim_chunk(const struct lane *lane, uint32_t *ret_index)
{
    _Atomic uint64_t *states = shim_segment.states;
    enum claim answer = CLAIM_NONE;
    const bool ends = get_relaxed(&lane->state) != LANE_LIVE;
    const uint64_t mine = word_of(lane, ends ? SEG_CHUNK_LEFT : SEG_CHUNK_OPEN);
    const uint32_t held = seg_held(&shim_segment), slot = shim_process->slot_index;
    for (uint32_t turn = 0; turn < 2 * held; turn++) {
        const uint32_t index = turn < held ? turn : turn - held;
        uint64_t word = get_relaxed(&states[index]);
        if (seg_is_kept(index) != (turn >= held) || !seg_may_have(index, slot))
            continue;
        const bool foreign = word != SEG_CHUNK_FREE && !seg_may_have(index, seg_chunk_slot_of(word));
        if (turn >= held && !foreign && seg_chunk_state_of(word) == SEG_CHUNK_FULL)
            answer = CLAIM_LATER;
        /* acquire: pairs with the collector's release of FREE after zeroing */
        if ((word != SEG_CHUNK_FREE && !foreign) || !swap_acquire(&states[index], &word, mine))
            continue;
        if (foreign)
            memset(seg_chunk(&shim_segment, index), 0, SEG_CHUNK_BYTES);
        if (index >= held / 2)
            lane_wake(SEG_NAP);
        *ret_index = index;
        return CLAIM_DONE;
    }
    return answer;
}

/* ---- silences of the collector, measured and given up on. A confined process measures them by its own turns ---- */

/* A dead process that its parent does not wait for answers kill(2) like a living one. False where /proc cannot tell. */
static bool is_zombie(uint32_t pid)
{
    char path[32] = "/proc/", stat[256];
    text_append_number(path, sizeof path, pid);
    text_append(path, sizeof path, "/stat");
    (void)raw_file_begin(path, stat, sizeof stat);
    /* "PID (NAME) STATE ...", and the name may hold anything: its end is the last parenthesis. */
    const char *end = strrchr(stat, ')');
    return end != NULL && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X');
}

static bool is_dead(uint32_t pid)
{
    return raw_call(SYS_kill, (long)pid, 0, 0, 0, 0, 0) == -ESRCH || is_zombie(pid);
}

uint64_t patience_ns(void)
{
    const uint32_t silences = get_relaxed(&shim_process->silences);
    const uint64_t patience = silences < 32 ? PATIENCE_NS >> silences : 0;
    return patience > LATE_NS ? patience : LATE_NS;
}

static uint64_t heartbeat_now(void)
{
    return get_relaxed(&shim_segment.header->heartbeat_ns);
}

bool patience_is_given_up(void)
{
    return heartbeat_now() == get_relaxed(&shim_process->given_up);
}

void patience_give_up(uint64_t heartbeat)
{
    uint64_t given_up = get_relaxed(&shim_process->given_up);
    /* If several threads give up at one time, one counts. */
    if (given_up != heartbeat && swap_relaxed(&shim_process->given_up, &given_up, heartbeat))
        add_relaxed(&shim_process->silences, 1);
}

/* The collector's number is nobody's, or somebody else's, in another pid namespace. */
static bool is_silent_for_too_long(uint64_t heartbeat)
{
    const uint64_t now = raw_now_ns();
    return now >= heartbeat + LATE_NS &&
           ((!shim_process->foreign && is_dead(shim_segment.fixed.collector_pid)) ||
            now >= heartbeat + patience_ns());
}

bool patience_collector_is_gone(void)
{
    const uint64_t heartbeat = heartbeat_now();
    if (patience_is_given_up())
        return true;
    if (!confine_may_call())
        return false;
    bool gone = is_silent_for_too_long(heartbeat);
    confine_called();
    if (gone)
        patience_give_up(heartbeat);
    return gone;
}

/* ---- waiting ---------------------------------------------------------------------------------------- */

/* Wait for a free chunk without a system call, as long as the collector's heartbeat steps. A silence is measured in turns. */
static bool wait_in_turns(struct lane *lane, uint32_t *ret_index)
{
    const struct seg_header *segment = shim_segment.header;
    const uint64_t patience = patience_ns() / TURN_NS;
    uint64_t heartbeat = 0, silent = 0;
    enum claim claim;
    while ((claim = claim_chunk(lane, ret_index)) != CLAIM_DONE) {
        const uint64_t seen = get_relaxed(&segment->heartbeat_ns);
        if ((claim == CLAIM_NONE && get_relaxed(&segment->starved)) || patience_is_given_up() ||
            get_relaxed(&segment->stopped))
            return false;
        silent = seen == heartbeat ? silent + 1 : 0;
        heartbeat = seen;
        if (silent >= patience) {
            patience_give_up(heartbeat);
            return false;
        }
        confine_rest();
    }
    return true;
}

/* The time now. A confined process knows only the collector's last heartbeat. */
static uint64_t about_now_ns(void)
{
    if (!confine_may_call())
        return get_relaxed(&shim_segment.header->heartbeat_ns);
    uint64_t now = raw_now_ns();
    confine_called();
    return now;
}

/* Wait until a chunk is free. Only here does a hook sleep, and it is counted. */
static bool wait_for_chunk(struct lane *lane, uint32_t *ret_index)
{
    const struct seg_header *segment = shim_segment.header;
    struct seg_shared *shared = shim_segment.shared;
    struct seg_slot *slot = shim_process->slot;
    const uint64_t start = about_now_ns();
    bool found = false;
    uint32_t waits;
    add_relaxed(&slot->stalls, 1);
    lane->waiting = true;
    add_relaxed(&shared->space_waiters, 1);
    while (!found && !patience_collector_is_gone() && !get_relaxed(&segment->stopped) &&
           lane->generation == get_acquire(&shim_process->generation)) {
        const uint32_t space = get_acquire(&segment->space);
        const enum claim claim = claim_chunk(lane, ret_index);
        found = claim == CLAIM_DONE;
        if (found || (claim == CLAIM_NONE && get_relaxed(&segment->starved)))
            break;
        lane_wake(SEG_NAP);
        if (!confine_may_call()) {
            found = wait_in_turns(lane, ret_index);
            break;
        }
        /* A thousand that look every 2 ms would leave the collector no processor; it wakes them when there is room. */
        waits = get_relaxed(&shared->space_waiters);
        waits = waits == 0 ? 1 : waits < WAITS_MOST ? waits : WAITS_MOST; /* whatever stands there */
        (void)raw_futex_wait(&segment->space, space, waits * WAIT_NS);    /* whatever woke us, look again */
        confine_called();
    }
    lane->gave_up = found ? 0 : lane_clock();
    sub_relaxed(&shared->space_waiters, 1);
    lane->waiting = false;
    uint64_t end = about_now_ns();
    add_relaxed(&slot->stall_ns, end > start ? end - start : 0);
    return found;
}

/* The chunk that the lane took or gave away last: whether it still has it, and it is not the one of its cursor. */
static bool is_still_open(const struct lane *lane)
{
    const uint64_t word = get_relaxed(&shim_segment.states[lane->chunk]);
    return word == word_of(lane, SEG_CHUNK_OPEN) || word == word_of(lane, SEG_CHUNK_LEFT);
}

/* A chunk that was claimed, and not yet noted in the lane, stays as it is: empty, until the process has ended. */
void lane_repair(struct lane *lane)
{
    struct seg_chunk_header *chunk = seg_chunk(&shim_segment, lane->chunk);
    if (lane->waiting)
        sub_relaxed(&shim_segment.shared->space_waiters, 1);
    lane->waiting = false;
    if (lane->cursor != NULL) {
        /* Words of a record that the cursor does not stand behind yet; the first one makes it a record. */
        uint64_t *word = lane->cursor;
        for (unsigned i = 0; i < RECORD_WORDS_MOST && ((uintptr_t)word & (SEG_CHUNK_BYTES - 1)) != 0; i++)
            __atomic_store_n(word++, 0, __ATOMIC_RELEASE);
        if (lane->sites != NULL)
            lane_close_chunk(lane); /* its predictor may know of an allocation that is not in it */
    } else if (is_still_open(lane) && get_relaxed(&chunk->magic) == 0) {
        memset(chunk, 0, sizeof *chunk);
        put_release(&shim_segment.states[lane->chunk], SEG_CHUNK_FREE);
    } else if (is_still_open(lane)) {
        /* On its way into use, and empty, or out of it. */
        lane->sequence = chunk->sequence + 1;
        lane->cursor = (uint64_t *)(chunk + 1);
        lane_close_chunk(lane);
    }
}

bool lane_open_chunk(struct lane *lane, unsigned call)
{
    const struct seg_header *segment = shim_segment.header;
    uint32_t index;
    user_looks(lane);
    if (get_relaxed(&segment->stopped)) {
        lane->gap_pending = true; /* not lost: what came after --duration was not asked for */
        return false;
    }
    if (lane->number >= FP_LANES_MAX) {
        lane_lose(lane, call, FP_LOSS_RING_FULL);
        return false;
    }
    if (shim_process->lost_contact) {
        /* Only look, never wait, for a collector that was found dead. */
        if (patience_collector_is_gone()) {
            lane_lose(lane, call, FP_LOSS_COLLECTOR);
            return false;
        }
        shim_process->lost_contact = false;
    }
    const bool drops = shim_segment.fixed.flags & SEG_FLAG_DROP;
    const bool hopeless = lane->gave_up != 0 && (drops || get_relaxed(&segment->starved));
    /* A look passes over all chunks, which a thread that finds none does not do at each call. */
    const bool looks = !hopeless ||
                       lane_clock() - lane->gave_up >= LOOK_GROUPS * shim_segment.fixed.seldom_ticks;
    if (!looks || claim_chunk(lane, &index) != CLAIM_DONE) {
        lane->gave_up = (hopeless || drops) && looks ? lane_clock() : lane->gave_up;
        if (hopeless || drops) {
            lane_lose(lane, call, FP_LOSS_RING_FULL);
            return false;
        }
        const bool found = wait_for_chunk(lane, &index);
        if (!found && lane->generation != get_acquire(&shim_process->generation))
            return lane_open_chunk(lane, call); /* there is another memory */
        if (!found) {
            shim_process->lost_contact = patience_collector_is_gone();
            lane_lose(lane, call, shim_process->lost_contact ? FP_LOSS_COLLECTOR : FP_LOSS_RING_FULL);
            return false;
        }
    }
    lane->gave_up = 0;
    lane->chunk = index; /* before it says whose it is: lane_repair goes by it */
    atomic_signal_fence(memory_order_seq_cst);
    struct seg_chunk_header *chunk = seg_chunk(&shim_segment, index);
    /* Read before the first store: a fault for reading maps what lies around too, to be written as well, one for storing a page. */
    (void)get_relaxed(&chunk->magic);
    chunk->sequence = lane->sequence++;
    chunk->serial = shim_process->serial;
    chunk->lane = lane->number;
    chunk->thread_id = lane->thread_id;
    chunk->cut = lane->cut;
    put_release(&chunk->magic, SEG_CHUNK_MAGIC);
    lane->cursor = (uint64_t *)(chunk + 1);
    if (lane->sites != NULL) {
        fp_site_begin(&lane->sites->predictor);
        sites_check(false);
    }
    return true;
}
