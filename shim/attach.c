/* attach.c - decide whether this process is recorded, map the segment, take a slot in it.
 *
 * Laws of this file: the first call may come from the loader, before libc's constructors; a forked child comes here
 * with only ordinary memory to remember its parent by; several threads may come at once. Whatever fails, the
 * program goes on, unrecorded, after one line on stderr. */
#include "shim/shim.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shim/large.h"
#include "shim/raw.h"

#define ATTACH_WAIT_NS 10000000u
#define CLOSING_WAITS  100 /* of ATTACH_WAIT_NS: a collector that died while closing */
#define SLOT_WAIT_NS   2000000u
#define CROWDED_WAITS  50 /* of SLOT_WAIT_NS, in a row */
#define GONE_TRIES     5 /* of those, where the shared memory is not there: it may be of another root directory */
#define FIND_TRIES     20 /* recordings that end just when we join them */

struct seg_header *shim_segment;
struct shim_process *shim_process;

/* Ordinary memory, so that a child knows who it comes from and what was decided. */
static uint64_t my_serial;
static char my_program[SEG_PROGRAM]; /* of this image: its children go by it, whatever argv[0] became */
static bool never;
static bool foreign; /* what a parent found holds for its children, who may have no /proc to ask */

void *attach_wipe_mapping(size_t size)
{
    long area = raw_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return NULL;
    if (raw_call(SYS_madvise, area, (long)size, MADV_WIPEONFORK, 0, 0, 0) != 0) {
        raw_munmap((void *)area, size);
        return NULL;
    }
    return (void *)area;
}

static void say(const char *what, const char *more)
{
    char line[1536] = "mallab: ";
    if (text_getenv("MALLAB_QUIET") != NULL)
        return;
    text_append(line, sizeof line - 1, what);
    text_append(line, sizeof line - 1, more);
    text_append(line, sizeof line, "\n");
    (void)raw_write(2, line, strlen(line)); /* a closed stderr is the program's choice */
}

static void complain(const char *reason)
{
    if (text_getenv("MALLAB_QUIET") == NULL && !note_send(my_program, reason, false))
        say("not recording: ", reason);
}

/* ---- whether ------------------------------------------------------------------------------------ */

static bool is_one_of_ours(const char *name)
{
    return strcmp(name, "mallab") == 0 || strcmp(name, "mallab-collect") == 0 ||
           strncmp(name, "mallab-replay-", 14) == 0;
}

static void read_executable(char *ret_path, size_t size)
{
    long length = raw_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)ret_path, (long)size - 1,
                           0, 0);
    ret_path[length > 0 ? length : 0] = '\0';
}

/* argv[0] by way of /proc: libc may not have it yet, and a program writes titles into its own. */
static void find_program(const char *executable)
{
    char called[512] = "";
    long fd;
    if (my_program[0] != '\0')
        return;
    fd = raw_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const long got = raw_read((int)fd, called, sizeof called - 1);
        called[got > 0 ? got : 0] = '\0';
        raw_close((int)fd);
    }
    if (strlen(called) == sizeof called - 1) /* cut: its last part is not the name */
        called[0] = '\0';
    text_called_name(my_program, sizeof my_program, called, executable);
}

static uint64_t pid_namespace(void)
{
    struct stat status = {0};
#if defined(SYS_newfstatat)
    if (raw_call(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)&status, 0, 0, 0) == 0)
        return status.st_ino;
#endif
    return 0;
}

/* Whether --only wants this program, by the name that it was called by or the file's. */
static bool is_asked_for(const char *executable)
{
    const char *only = text_getenv("MALLAB_ONLY");
    return only == NULL || only[0] == '\0' || text_matches(only, my_program) ||
           text_matches(only, text_base_name(executable));
}

/* ---- the segment ---------------------------------------------------------------------------------- */

static const char *check_header(const struct seg_header *header, uint64_t file_bytes)
{
    struct seg_header expected;
    if (atomic_load_explicit(&header->magic, memory_order_acquire) != SEG_MAGIC)
        return "the segment is not one of mallab's";
    if (header->version != SEG_VERSION)
        return "the segment is of another version of mallab";
    if (header->chunk_count < SEG_CHUNKS_LEAST || header->chunk_count > SEG_CHUNKS_MOST)
        return "the segment's header is damaged";
    seg_layout(&expected, header->chunk_count);
    if (header->slot_count != expected.slot_count || header->slots_offset != expected.slots_offset ||
        header->states_offset != expected.states_offset || header->chunks_offset != expected.chunks_offset ||
        header->segment_bytes != expected.segment_bytes || file_bytes != expected.segment_bytes)
        return "the segment's header is damaged";
    return NULL;
}

/* At a multiple of the chunk size, so that cursors carry their place in the chunk. */
static void *map_aligned(int fd, size_t size)
{
    const size_t mask = SEG_CHUNK_BYTES - 1;
    const long area = raw_mmap(NULL, size + SEG_CHUNK_BYTES, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    uintptr_t start, end, wanted;
    if (area < 0)
        return NULL;
    start = (uintptr_t)area;
    end = start + size + SEG_CHUNK_BYTES;
    wanted = (start + mask) & ~mask;
    if (raw_mmap((void *)wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd) < 0) {
        raw_munmap((void *)start, size + SEG_CHUNK_BYTES);
        return NULL;
    }
    if (wanted > start)
        raw_munmap((void *)start, wanted - start);
    if (end > wanted + size)
        raw_munmap((void *)(wanted + size), end - wanted - size);
    /* Core dumps of the program are not the place for records. */
    (void)raw_call(SYS_madvise, (long)wanted, (long)size, MADV_DONTDUMP, 0, 0, 0);
    return (void *)wanted;
}

static const char OUT_OF_REACH[] =
    "cannot open the recording's shared memory: another root directory or /dev/shm, "
    "no descriptor free, or the recording has ended";

/* Returns NULL on success, else the reason. No descriptor stays open. */
static const char *map_segment(const char *path)
{
    struct stat status = {0};
    struct seg_header *segment;
    const char *reason;
    const long fd = raw_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd == -EACCES)
        return "cannot open the recording's shared memory, which is another user's: put 'mallab record' "
               "behind what "
               "changes the user";
    if (fd < 0)
        return OUT_OF_REACH;
    if (raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) != 0 || !S_ISREG(status.st_mode)) {
        raw_close((int)fd);
        return "the segment is not a regular file";
    }
    if (status.st_size < (off_t)sizeof *segment) {
        raw_close((int)fd);
        return "the segment is too small";
    }
    segment = map_aligned((int)fd, (size_t)status.st_size);
    raw_close((int)fd);
    if (segment == NULL)
        return "cannot map the segment (is there a limit on address space?)";
    reason = check_header(segment, (uint64_t)status.st_size);
    /* In a user namespace below the collector's, its user has another number: ours. */
    if (reason == NULL && segment->owner_uid != status.st_uid &&
        status.st_uid != (uid_t)raw_call(SYS_geteuid, 0, 0, 0, 0, 0, 0))
        reason = "the recording's shared memory belongs to another user";
    if (reason != NULL) {
        raw_munmap(segment, (size_t)status.st_size);
        return reason;
    }
    shim_segment = segment;
    return NULL;
}

/* A process that is not asked for is counted, with some names for whoever mistyped one; and keeps nothing mapped, so
 * that its recording does not wait for it. */
static void count_other(void)
{
    const char *given = text_getenv("MALLAB_SEGMENT");
    const long fd = given != NULL && given[0] != '\0' ? raw_open(given, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat status = {0};
    struct seg_header *segment;
    uint64_t number;
    long area;
    if (fd < 0)
        return;
    if (raw_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)sizeof *segment) {
        area = raw_mmap(NULL, sizeof *segment, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd);
        segment = (struct seg_header *)area;
        if (area > 0 && check_header(segment, (uint64_t)status.st_size) == NULL &&
            segment->owner_uid == status.st_uid) {
            number = atomic_fetch_add_explicit(&segment->others, 1, memory_order_relaxed);
            if (number < SEG_OTHERS)
                text_append(segment->other_names[number], SEG_PROGRAM, my_program);
        }
        if (area > 0)
            raw_munmap(segment, sizeof *segment);
    }
    raw_close((int)fd);
}

static bool is_named_by_parent(void)
{
    const char *given = text_getenv("MALLAB_SEGMENT");
    return given != NULL && given[0] != '\0';
}

static const char *find_segment(const char *name)
{
    static char message[1280];
    char path[512];
    if (is_named_by_parent())
        return map_segment(text_getenv("MALLAB_SEGMENT"));
    if (!spawn_collector(name, path, sizeof path, message, sizeof message))
        return message;
    if (message[0] != '\0') /* whoever looks into $MALLAB_OUT finds an older recording there */
        say("$MALLAB_OUT holds something already; recording into ", message);
    return map_segment(path);
}

/* ---- the slot --------------------------------------------------------------------------------------- */

/* pid: 0 in another namespace, where the collector's leader cannot be. */
static bool may_follow(struct seg_header *segment, uint32_t pid)
{
    uint32_t leader = 0;
    if (pid == 0)
        return !(segment->flags & SEG_FLAG_NO_FOLLOW);
    if (atomic_compare_exchange_strong_explicit(&segment->leader_pid, &leader, pid, memory_order_relaxed,
                                                memory_order_relaxed))
        return true;
    return leader == pid || !(segment->flags & SEG_FLAG_NO_FOLLOW);
}

static void fill_slot(struct seg_slot *slot, const char *executable)
{
    slot->serial = atomic_fetch_add_explicit(&shim_segment->serials, 1, memory_order_relaxed) + 1;
    slot->parent_serial = my_serial;
    slot->fork_number = fork_begin_process();
    slot->parent_pid = (uint32_t)raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    slot->inner_pid = raw_getpid();
    slot->pid_namespace = pid_namespace();
    slot->map_address = (uint64_t)(uintptr_t)shim_segment;
    atomic_store_explicit(&slot->lane_count, 0, memory_order_relaxed);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        atomic_store_explicit(&slot->lost[cause], 0, memory_order_relaxed);
    atomic_store_explicit(&slot->stalls, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->stall_ns, 0, memory_order_relaxed);
    memset(slot->executable, 0, sizeof slot->executable);
    text_append(slot->executable, sizeof slot->executable, executable);
    memset(slot->program, 0, sizeof slot->program);
    text_append(slot->program, sizeof slot->program, my_program);
    atomic_store_explicit(&slot->epoch, 1, memory_order_relaxed);
    /* One that changes meanwhile is stored here by the collector when it finds us. */
    atomic_store_explicit(&slot->cut,
                          seg_cut(0, atomic_load_explicit(&shim_segment->paused, memory_order_relaxed) != 0),
                          memory_order_relaxed);
    atomic_store_explicit(&slot->cut_before, 0, memory_order_relaxed);
}

static bool stays_open(struct seg_header *segment)
{
    for (int waits = 0; waits < CLOSING_WAITS; waits++) {
        if (atomic_load_explicit(&segment->closing, memory_order_seq_cst) != SEG_CLOSING)
            break;
        (void)raw_futex_wait(&segment->closing, SEG_CLOSING,
                             ATTACH_WAIT_NS); /* whatever woke us, look again */
    }
    return atomic_load_explicit(&segment->closing, memory_order_seq_cst) == SEG_OPEN;
}

/* A parent outside its child's namespace has the id 0 there. */
static void find_namespace(const struct seg_header *segment)
{
    const uint64_t namespace = pid_namespace();
    if (namespace != 0 && segment->pid_namespace != 0)
        foreign = namespace != segment->pid_namespace;
    else if (raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0) == 0)
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

static struct seg_slot *claim_slot(struct seg_header *segment, uint32_t pid)
{
    struct seg_slot *slots = seg_slots(segment);
    for (uint32_t index = 0; index < segment->slot_count; index++) {
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
static struct seg_slot *wait_for_slot(struct seg_header *segment, uint32_t pid)
{
    struct seg_slot *slot = claim_slot(segment, pid);
    int crowded = 0;
    while (slot == NULL && crowded < CROWDED_WAITS && !(segment->flags & SEG_FLAG_DROP) &&
           !lane_collector_is_gone() &&
           atomic_load_explicit(&segment->closing, memory_order_relaxed) != SEG_CLOSED) {
        if (atomic_exchange_explicit(&segment->asleep, SEG_AWAKE, memory_order_relaxed) != SEG_AWAKE)
            lane_ring(segment);
        (void)raw_futex_wait(&segment->space, atomic_load_explicit(&segment->space, memory_order_relaxed),
                             SLOT_WAIT_NS); /* whatever woke us, look again */
        slot = claim_slot(segment, pid);
        crowded = atomic_load_explicit(&segment->crowded, memory_order_relaxed) ? crowded + 1 : 0;
    }
    return slot;
}

enum taking {
    TAKING_DONE, /* the process has a slot and is recorded */
    TAKING_NONE, /* it is not to be recorded, or has been counted as one that found no slot */
    TAKING_LATE, /* the recording has ended */
};

static enum taking take_slot(const char *executable)
{
    struct seg_header *segment = shim_segment;
    struct seg_slot *slot;
    uint32_t pid;

    find_namespace(segment);
    shim_process->foreign = foreign;
    pid = foreign ? 0 : raw_getpid();
    if (atomic_load_explicit(&segment->stopped, memory_order_relaxed))
        return TAKING_LATE;
    if (!may_follow(segment, pid))
        return TAKING_NONE;
    for (;;) {
        slot = wait_for_slot(segment, pid);
        if (slot == NULL) {
            atomic_fetch_add_explicit(&segment->unattached, 1, memory_order_relaxed);
            return TAKING_NONE;
        }
        if (claim_stands(segment, slot))
            break;
        if (!stays_open(segment))
            return TAKING_LATE;
    }
    fill_slot(slot, executable);
    my_serial = slot->serial;
    shim_process->slot = slot;
    shim_process->slot_index = (uint32_t)(slot - seg_slots(segment));
    shim_process->lost_contact = 0;
    lane_forget_inherited();
    large_begin((segment->flags & SEG_FLAG_RESIDENT) != 0, segment->filters);
    atomic_store_explicit(&slot->state, seg_slot_word(SEG_SLOT_ATTACHED, pid), memory_order_release);
    lane_ring(segment);
    return TAKING_DONE;
}

/* A recording that was found by its directory may end before we have joined it, as when a service is started anew; then
 * there is another one to begin. One that our starter named is the one that we belong to, or none.
 * Returns NULL with ret_taking set, else the reason why there is no recording. */
static const char *find_and_take(const char *executable, enum taking *ret_taking)
{
    int out_of_reach = 0;
    for (int tries = 0; tries < FIND_TRIES; tries++) {
        const char *reason = find_segment(my_program);
        if (reason == OUT_OF_REACH && !is_named_by_parent() && ++out_of_reach < GONE_TRIES)
            continue; /* it was there when its directory was looked into */
        if (reason != NULL)
            return reason;
        *ret_taking = take_slot(executable);
        if (*ret_taking != TAKING_LATE || is_named_by_parent())
            return NULL;
        raw_munmap(shim_segment, shim_segment->segment_bytes);
        shim_segment = NULL;
    }
    return "the recording in that directory ends, again and again, while it is joined";
}

/* ---- once per process image and per forked child ------------------------------------------------------ */

static bool attach_now(void)
{
    char executable[SEG_EXECUTABLE];
    enum taking taking = TAKING_NONE;
    const char *reason;

    read_executable(executable, sizeof executable);
    if (is_one_of_ours(text_base_name(executable))) {
        never = true;
        return false;
    }
    find_program(executable);
    if (shim_segment == NULL && !is_asked_for(executable)) {
        count_other();
        never = true; /* its forked children go by the same name */
        return false;
    }
    if (shim_segment != NULL)
        return take_slot(executable) == TAKING_DONE; /* what found no slot is counted, and told at the end */
    reason = find_and_take(executable, &taking);
    if (reason == NULL)
        return taking == TAKING_DONE;
    complain(reason);
    if (shim_segment == NULL)
        never = true; /* children would fail the same way, and say so again */
    return false;
}

static struct shim_process *process_block(void)
{
    struct shim_process *block = __atomic_load_n(&shim_process, __ATOMIC_ACQUIRE), *expected = NULL;
    if (likely(block != NULL))
        return block;
    block = attach_wipe_mapping(sizeof *block);
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
    struct shim_process *process;
    uint32_t state = PROCESS_NEW;
    if (!boot_resolve() || never)
        return false;
    process = process_block();
    if (process == NULL) {
        never = true;
        complain("no memory that a fork wipes (Linux 4.14 or later is needed)");
        return false;
    }
    if (atomic_compare_exchange_strong_explicit(&process->state, &state, PROCESS_ATTACHING,
                                                memory_order_acquire, memory_order_acquire)) {
        state = attach_now() ? PROCESS_ON : PROCESS_OFF;
        atomic_store_explicit(&process->state, state, memory_order_release);
        raw_futex_wake(&process->state, 1 << 30);
    }
    while ((state = atomic_load_explicit(&process->state, memory_order_acquire)) == PROCESS_ATTACHING)
        (void)raw_futex_wait(&process->state, PROCESS_ATTACHING, ATTACH_WAIT_NS);
    return state == PROCESS_ON;
}

/* A program that never allocates is listed all the same. Most have allocated long before this runs. */
__attribute__((constructor)) static void attach_at_start(void)
{
    if (shim_lane == NULL)
        (void)lane_attach(); /* off is fine: said once already */
}
