/* user.c - a process that becomes another user leaves the shared memory of the one that it was.
 *
 * It belongs to the user of that memory while one of its three user ids is that user's: it could have the others back. Else it goes on
 * in memory of its own user, which the collector gives (struct seg_ask), in the place of the former. That is noticed where libc's calls
 * return, and with the next chunk. Where no answer comes it is recorded no further, which is counted, and keeps nothing either.
 * Laws of this file: those of turn.c. Other threads meet no gap in the mapping; they are kept out of it by the epoch, which sends them
 * the slow way, and there by an odd generation. */
#include "shim/preload/attach.h"

#include <dlfcn.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/types.h>

#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"

#define REST_NS     1000000u
#define STORES_MOST 200u /* of REST_NS, for other threads' stores */
#define LEAVE_MOST  5u   /* likewise: who leaves is called again */

static uint32_t owner; /* of what is mapped; inherited by children, and so is the next */
bool user_by_calls_only;

void user_take_segment(uint32_t user)
{
    owner = user;
}

/* The same user has another number in a user namespace that was entered since. */
static bool is_another(void)
{
    uint32_t ids[3] = {owner, 0, 0};
    (void)raw_call(SYS_getresuid, (long)&ids[0], (long)&ids[1], (long)&ids[2], 0, 0, 0); /* cannot fail */
    if (likely(ids[0] == owner || ids[1] == owner || ids[2] == owner))
        return false;
    owner = attach_owner(owner);
    return ids[0] != owner && ids[1] != owner && ids[2] != owner;
}

/* Waits until no other thread has such a gate; one that is behind it by then goes the slow way. Returns false where that takes too long. */
static bool wait_for_gates(struct shim_process *process, uint32_t gates, unsigned rests_most)
{
    bool some = true;
    for (unsigned rests = 0; rests < rests_most && some; rests++) {
        (void)raw_futex_wait(&process->generation, get_relaxed(&process->generation), REST_NS);
        some = lane_keep_out(shim_lane, gates);
    }
    return !some;
}

/* Keeps others out: from here on other threads' records go the slow way; those whose stores are under way are waited for. A store of theirs that read the
 * former epoch is behind a gate that we see, behind the barrier. */
static void keep_others_out(struct shim_process *process)
{
    add_acq_rel(&process->slot->epoch, 1);
    if (!lane_keep_out(shim_lane, GATE_RECORD) && get_relaxed(&process->lane_count) < 2)
        return;
    (void)raw_call(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0, 0, 0, 0); /* else one rest is enough */
    (void)wait_for_gates(process, GATE_RECORD, STORES_MOST);              /* nobody stores for longer */
}

/* Missing calls are counted in the former memory: where nobody answers, no note arrives either. Of a recording that has ended nothing is.
 * Returns whether another memory is mapped: our user's, or one where nothing is recorded. */
static bool move(struct shim_process *process, bool has_slot)
{
    const bool ended = get_relaxed(&shim_segment.header->stopped);
    uint32_t slot = SEG_SLOT_COUNT;
    int fds[2] = {-1, -1};
    if (has_slot && !ended)
        keep_others_out(process);
    const bool answered = ended || note_ask(has_slot ? process->serial : SEG_NOBODY, &slot, fds);
    if (answered && fds[1] >= 0 && attach_replace_segment(fds) && has_slot == (slot < SEG_SLOT_COUNT)) {
        if (has_slot)
            attach_take_slot(slot);
        return true;
    }
    if (!answered)
        add_relaxed(has_slot ? &process->slot->lost[FP_LOSS_COLLECTOR] : &shim_segment.shared->unattached, 1);
    if (!attach_leave_segment())
        return false;
    if (!ended)
        attach_complain("became another user, and got no shared memory of that user's");
    return true;
}

/* No handler runs meanwhile: a jump out of one would leave other threads waiting. */
static void change(struct shim_process *process, bool has_slot)
{
    uint32_t before = get_relaxed(&process->generation) & ~1u;
    uint64_t all = UINT64_MAX, mask = 0;
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, sizeof mask, 0, 0);
    if (swap_acq_rel(&process->generation, &before, before + 1)) {
        const bool moved = move(process, has_slot);
        user_take_segment((uint32_t)raw_call(SYS_getuid, 0, 0, 0, 0, 0, 0)); /* or none, for good */
        put_release(&process->generation, moved ? before + 2 : before);
        raw_futex_wake(&process->generation, 1 << 30);
    }
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* Nothing changes in a child that shares its parent's memory, which has another process id. */
void user_check(bool attaches)
{
    struct shim_process *process = shim_process;
    if (shim_segment.header == NULL || process == NULL || !confine_may_call())
        return;
    const uint32_t state = get_acquire(&process->state);
    if ((attaches || (state != PROCESS_ATTACHING && (process->pid == 0 || process->pid == raw_getpid()))) &&
        is_another())
        change(process, state == PROCESS_ON);
    confine_called();
}

/* A barrier takes a grace period of the kernel, 15 ms, for which the program's thread would stand still: whoever calls makes it, between
 * the first call and the next. */
bool user_leave(void)
{
    static bool kept_out; /* by a call before this */
    struct shim_process *process = shim_process;
    uint32_t before = get_relaxed(&process->generation) & ~1u;
    if (!swap_acq_rel(&process->generation, &before, before + 1))
        return false;
    add_acq_rel(&process->slot->epoch, 1);
    bool left = !lane_keep_out(shim_lane, GATE_RECORD) && (kept_out || get_relaxed(&process->lane_count) < 2);
    if (left) {
        lane_retire_all();
        left = attach_leave_segment();
    }
    put_release(&process->generation, before + 2);
    raw_futex_wake(&process->generation, 1 << 30);
    left = left && wait_for_gates(process, GATE_BUSY, LEAVE_MOST);
    kept_out = !left;
    return left;
}

void user_follow(struct lane *lane)
{
    struct shim_process *process = shim_process;
    uint32_t now;
    lane_set_gate(lane, GATE_FORWARD); /* no store is under way */
    while ((now = get_acquire(&process->generation)) & 1)
        attach_wait_on(&process->generation, now, REST_NS);
    if (lane->generation != now) {
        lane->generation = now;
        lane->cursor = NULL; /* the collector has taken the chunk */
        lane->epoch_word = &process->slot->epoch;
        lane->epoch = 0; /* no word's value: the next record goes the slow way */
        put_relaxed(&process->slot->lane_count, get_relaxed(&process->lane_count));
    }
    lane_set_gate(lane, GATE_RECORD);
}

void user_looks(struct lane *lane)
{
    if (!user_by_calls_only)
        user_check(false);
    if (unlikely(lane->generation != get_acquire(&shim_process->generation)))
        user_follow(lane);
}

/* ---- the calls ------------------------------------------------------------------------------------------- */

/* A thread that stores just now, whose handler we are in, looks with its next chunk. */
void user_may_have_changed(void)
{
    if (shim_lane == NULL || lane_gate(shim_lane) == GATE_OPEN)
        user_check(false);
}
#define DEFINE_CALL(name, parameters, arguments)                                                             \
    static int(*next_##name) parameters;                                                                     \
    SHIM_EXPORT int name parameters;                                                                         \
    int name parameters                                                                                      \
    {                                                                                                        \
        resolve();                                                                                           \
        const int result = next_##name arguments;                                                            \
        user_may_have_changed();                                                                             \
        return result;                                                                                       \
    }

static void resolve(void);
DEFINE_CALL(setuid, (uid_t user), (user))
DEFINE_CALL(setreuid, (uid_t real, uid_t effective), (real, effective))
DEFINE_CALL(setresuid, (uid_t real, uid_t effective, uid_t kept), (real, effective, kept))

/* Runs before main: dlsym is nothing for a child of vfork, or of a process with threads. */
__attribute__((constructor)) static void resolve(void)
{
    if (next_setresuid != NULL)
        return;
    *(void **)&next_setuid = dlsym(RTLD_NEXT, "setuid");
    *(void **)&next_setreuid = dlsym(RTLD_NEXT, "setreuid");
    *(void **)&next_setresuid = dlsym(RTLD_NEXT, "setresuid");
}
