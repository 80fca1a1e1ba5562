/* attach.c - decide whether this process is recorded, and let it attach once, whoever comes first.
 *
 * Laws of this file: attach.h has them. A failure is told to the recording's collector; under a plain preload, which may have
 * none, by one line on stderr. */
#include "shim/preload/attach.h"

#include <string.h>
#include <sys/stat.h>

#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/large.h"

#define ATTACH_WAIT_NS 10000000u /* for another thread or the collector; then we look again */
#define GONE_TRIES     5   /* where the shared memory is not there: it may be of another root directory */
#define FIND_TRIES     20  /* recordings that end just when we join them */
#define CLOSING_WAITS  100 /* of ATTACH_WAIT_NS: a collector that died while closing */
#define SLOT_WAIT_NS   2000000u
#define CROWDED_WAITS  50   /* of SLOT_WAIT_NS, in a row */
#define CONFINED_RESTS 400u /* of confine_rest, instead of SLOT_WAIT_NS */

struct seg_view shim_segment;
struct shim_process *shim_process;

/* Ordinary memory, so that a child knows what was decided, what its parent was called, as argv[0] may have become another, and who
 * it is where it cannot ask. */
static bool never;
static char program[SEG_PROGRAM];
static char executable[SEG_EXECUTABLE];
static struct {
    uint32_t pid, parent_pid;
    uint64_t namespace, of_children; /* pid namespaces; 0: not known */
    bool foreign;                    /* in another one than the collector */
} self;

enum taking {
    TAKING_DONE, /* the process has a slot and is recorded */
    TAKING_NONE, /* it is not to be recorded, or has been counted as one that found no slot */
    TAKING_LATE, /* the recording has ended */
};

/* ---- who this process is ------------------------------------------------------------------------ */

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

/* A parent outside its child's namespace has the id 0 there. What a parent found holds for its children, who may have no
 * /proc to ask. */
static void find_namespace(void)
{
    if (self.namespace != 0 && shim_segment.fixed.pid_namespace != 0)
        self.foreign = self.namespace != shim_segment.fixed.pid_namespace;
    else if (self.parent_pid == 0)
        self.foreign = true;
}

/* Returns false where that cannot be told. */
static bool identify(void)
{
    if (!confine_may_call()) {
        if (!identify_confined())
            return false;
        find_namespace();
        return true;
    }
    self.pid = raw_getpid();
    self.parent_pid = (uint32_t)raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    self.namespace = namespace_at("/proc/self/ns/pid");
    confine_called();
    find_namespace();
    return true;
}

/* ---- the slot in the segment's table ------------------------------------------------------------ */

/* Ordinary memory, so that a child knows who it comes from. */
static uint64_t my_serial;
static struct seg_slot *parent_slot; /* or ours */
static bool nameless;                /* a confined child that cannot tell who it is */
static _Atomic uint32_t forks;
static __thread uint32_t fork_number
    __attribute__((tls_model("initial-exec"))); /* under way; the child's copy */

bool attach_count_for_parent(uint64_t calls)
{
    /* If the parent has ended, its slot may be another's: a serial is never used twice. */
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

static void fill_slot(struct seg_slot *slot, uint64_t serial)
{
    /* Made here: a string in shared memory may have no end at any moment. */
    char path[SEG_EXECUTABLE] = "", name[SEG_PROGRAM] = "";
    text_append(path, sizeof path, executable);
    text_append(name, sizeof name, program);
    slot->serial = serial;
    slot->parent_serial = my_serial;
    slot->fork_number = begin_forks();
    slot->parent_pid = self.parent_pid;
    slot->inner_pid = self.pid;
    slot->pid_namespace = self.namespace;
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

void attach_wait_on(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
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
        attach_wait_on(&segment->closing, SEG_CLOSING, ATTACH_WAIT_NS);
    }
    return atomic_load_explicit(&segment->closing, memory_order_seq_cst) == SEG_OPEN;
}

/* Tells whether a claim stands, or the recording has ended meanwhile. */
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
        attach_wait_on(&segment->space, get_relaxed(&segment->space), SLOT_WAIT_NS);
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

void attach_take_slot(uint32_t index)
{
    shim_process->slot = parent_slot = &shim_segment.slots[index];
    shim_process->slot_index = index;
    shim_process->note = &shim_segment.slot_notes[index];
    shim_process->slot->map_address = (uint64_t)(uintptr_t)shim_segment.header;
}

/* A slot of shim_segment for this process, in shim_process. */
static enum taking take_slot(void)
{
    struct seg_header *segment = shim_segment.header;
    struct seg_slot *slot;

    user_check(true);
    if (get_relaxed(&segment->stopped))
        return TAKING_LATE;
    nameless = !identify();
    if (nameless) {
        if (!attach_count_for_parent(0))
            add_relaxed(&shim_segment.shared->unattached, 1);
        return TAKING_NONE;
    }
    shim_process->foreign = self.foreign;
    shim_process->pid = self.pid;
    uint32_t pid = self.foreign ? 0 : self.pid;
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
    fill_slot(slot, shim_process->serial);
    my_serial = shim_process->serial;
    attach_take_slot((uint32_t)(slot - shim_segment.slots));
    shim_process->lost_contact = 0;
    lane_forget_inherited();
    heed_filters();
    usage_begin(slot);
    runs_on_put(slot);
    sites_begin();
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

/* Complains to the recording under `mallab record`: stderr is the program's. */
void attach_complain(const char *reason)
{
#if defined(MALLAB_SHIM_LATE)
    late_told(reason);
#endif
    if (note_wanted())
        (void)note_send(program, reason, false); /* nobody is there: the recording has ended */
    else if (!SHIM_IS_LATE)
        note_say("not recording: ", reason);
}

/* ---- whether ------------------------------------------------------------------------------------ */

static bool is_one_of_ours(const char *name)
{
    return strcmp(name, "mallab") == 0 || strcmp(name, "mallab-collect") == 0 ||
           strncmp(name, "mallab-replay-", 14) == 0;
}

/* A confined process's child keeps the one it inherited. */
static void read_executable(void)
{
    if (!confine_may_call())
        return;
    long length = raw_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)executable,
                           (long)sizeof executable - 1, 0, 0);
    executable[length > 0 ? length : 0] = '\0';
    confine_called();
}

/* argv[0] by way of /proc: libc may not have it yet, and a program writes titles into its own. */
static void find_program(void)
{
    char called[512] = "";
    if (program[0] != '\0')
        return;
    (void)raw_file_begin("/proc/self/cmdline", called, sizeof called); /* else its file has a name */
    if (strlen(called) == sizeof called - 1) /* cut: its last part is not the name */
        called[0] = '\0';
    if (SHIM_IS_LATE) { /* by now it may be a title, which begins with the name: `redis-server *:6379`, `nginx: worker process` */
        char *base = called + (text_base_name(called) - called);
        base[strcspn(base, " :")] = '\0';
    }
    text_called_name(program, sizeof program, called, executable);
}

/* Tells whether --only wants this program, by the name that it was called by or the file's. */
static bool is_asked_for(void)
{
    const char *only = text_given("MALLAB_ONLY");
    return only == NULL || text_matches(only, program) || text_matches(only, text_base_name(executable));
}

/* A recording that was found by its directory may end before we have joined it, as when a service is started anew; then
 * there is another one to begin. One that our starter named is the one that we belong to, or none.
 * Returns NULL with ret_taking set, else the reason why there is no recording. */
static const char *find_and_take(enum taking *ret_taking)
{
    int out_of_reach = 0;
    for (int tries = 0; tries < FIND_TRIES; tries++) {
        const char *reason = attach_find_segment(program);
        if (reason == ATTACH_OUT_OF_REACH && text_given("MALLAB_SEGMENT") == NULL &&
            ++out_of_reach < GONE_TRIES)
            continue; /* it was there when its directory was looked into */
        if (reason != NULL)
            return reason;
        *ret_taking = take_slot();
        if (*ret_taking != TAKING_LATE || text_given("MALLAB_SEGMENT") != NULL)
            return NULL;
        raw_munmap(shim_segment.header, shim_segment.bytes);
        shim_segment.header = NULL;
    }
    return "the recording in that directory ends, again and again, while it is joined";
}

/* ---- once per process image and per forked child ------------------------------------------------------ */

static bool attach_now(void)
{
    enum taking taking = TAKING_NONE;

    read_executable();
    if (is_one_of_ours(text_base_name(executable))) {
        never = true;
        return false;
    }
    find_program();
    if (shim_segment.header == NULL && !is_asked_for()) {
        attach_count_other(program);
        never = true; /* its forked children go by the same name */
        return false;
    }
    if (shim_segment.header != NULL)
        return take_slot() == TAKING_DONE; /* what found no slot is counted, and told at the end */
    const char *reason = find_and_take(&taking);
    if (reason == NULL)
        return taking == TAKING_DONE;
    attach_complain(reason);
    if (shim_segment.header == NULL)
        never = true; /* children would fail the same way, and say so again */
    return false;
}

static struct shim_process *process_block(void)
{
    struct shim_process *block = __atomic_load_n(&shim_process, __ATOMIC_ACQUIRE), *expected = NULL;
    if (likely(block != NULL))
        return block;
    block = raw_map_wiped(sizeof *block);
    if (block == NULL)
        return NULL;
    if (!__atomic_compare_exchange_n(&shim_process, &expected, block, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        raw_munmap(block, sizeof *block);
        block = expected;
    }
    return block;
}

bool attach_process(void)
{
    uint32_t state = PROCESS_NEW;
    if (!boot_resolve() || never)
        return false;
    if (!text_environment_counts()) {
        never = true;
        return false;
    }
    struct shim_process *process = process_block();
    if (process == NULL) {
        never = true;
        attach_complain("no memory that a fork wipes (Linux 4.14 or later is needed)");
        return false;
    }
    if (atomic_compare_exchange_strong_explicit(&process->state, &state, PROCESS_ATTACHING,
                                                memory_order_acquire, memory_order_acquire)) {
        state = attach_now() ? PROCESS_ON : PROCESS_OFF;
        put_release(&process->state, state);
        if (confine_may_call()) {
            raw_futex_wake(&process->state, 1 << 30);
            confine_called();
        }
    }
    while ((state = get_acquire(&process->state)) == PROCESS_ATTACHING)
        attach_wait_on(&process->state, PROCESS_ATTACHING, ATTACH_WAIT_NS);
    return state == PROCESS_ON;
}

/* ---- a library that is loaded late ------------------------------------------------------------------ */

void attach_forbid(void)
{
    never = true;
    if (shim_process != NULL)
        put_release(&shim_process->state, PROCESS_OFF);
}

bool attach_forget(void)
{
    attach_forbid();
    atomic_thread_fence(memory_order_seq_cst); /* whoever we do not see about to have a lane sees that */
    if (get_relaxed(&lane_starts) > 0 ||
        (shim_process != NULL && shim_process->slot != NULL && !user_leave()))
        return false;
    lane_wipe_all();
    if (shim_segment.header != NULL)
        raw_munmap(shim_segment.header, shim_segment.bytes);
    shim_segment = (struct seg_view){0};
    if (shim_process != NULL) {
        sites_forget();
        memset(shim_process, 0, sizeof *shim_process);
    }
    large_forget();
    my_serial = 0;
    parent_slot = NULL;
    note_forget_name();
    return true;
}

void attach_allow(void)
{
    never = false;
}
