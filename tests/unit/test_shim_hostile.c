/* test_shim_hostile.c - a process that writes into shared memory what it should not, beside others that are recorded by the same
 * collector, the real one.
 *
 *   own    it writes over everything that a process of ours writes but what is another's: the shared part's first page, its own
 *          slot and slots that it has claimed, its own chunks with their states, states of free chunks. The others' footprints
 *          are whole, to the call. It may have footprints under their names, but not under their process ids
 *   all    it writes over every word that it has mapped for writing. Then theirs may be spoiled, which is counted; the collector
 *          lives, ends, and takes no more memory
 *
 * MALLAB_SCRIBBLES is how many words are written in each [20000], MALLAB_SEED where the random numbers begin [the time]. */
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "footprint/fp/footprint.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/scratch.h"
#include "unit/segment_user.h"

#define VICTIMS       2u
#define CALLS         1000u /* a chunk; less than fit, so that what stands behind them matters */
#define SHORT_CHUNKS  3u
#define ALARM_SECONDS 600u /* with a million under sanitizers; else it takes a second */
#define OWN_SLOTS     40u
#define OWN_CHUNKS    8u
#define OWN_WORDS     4u                    /* state, serial, parent_serial, map_address */
#define BYTES_MOST    (UINT64_C(320) << 20) /* of the collector, also with a sanitizer's shadow */

#define SPOILED_STATE 15u /* no process of ours writes it */
#define SEEN_ROUNDS   10u /* of the collector, for it to see one */
#define SHORTS_MOST   (1u << 16)
#define NO_PID        (1u << 30) /* above what Linux has */

static uint64_t random_state;
static uint64_t scribbles = 20000;

static uint64_t random_word(void)
{
    return test_random(&random_state);
}

/* Numbers that might be taken for something, as well as those that cannot. */
static uint64_t nasty_word(const struct seg_view *view, uint32_t slot)
{
    switch (random_word() % 9) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return random_word() % 64;
    case 3:
        return random_word() % view->fixed.chunk_count;
    case 4:
        return seg_chunk_word((enum seg_chunk_state)(random_word() % 6), slot, (uint32_t)random_word(), 0);
    case 5:
        return seg_slot_word((enum seg_slot_state)(random_word() % 6), (uint32_t)(random_word() % 100000));
    case 6:
        return (uint64_t)(uintptr_t)view->header + random_word() % view->bytes;
    default:
        return random_word();
    }
}

static void put(void *word, uint64_t value)
{
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELAXED);
}

/* ---- the others ------------------------------------------------------------------------------------- */

struct shared_facts {
    _Atomic uint32_t over;         /* the hostile one has done what it was to do */
    _Atomic uint64_t sent;         /* calls, of the victims that run all the time */
    uint32_t victim_slot[VICTIMS]; /* what there is to forge */
};

static struct shared_facts *facts;

static void victim(const char *path, uint32_t number)
{
    const struct seg_view view = user_map(path);
    const uint32_t slot = user_claim_slot(&view);
    const uint64_t serial = user_attach(&view, slot, "victim");
    facts->victim_slot[number] = slot + 1;
    for (uint64_t sequence = 0; !atomic_load(&facts->over) || sequence < 4; sequence++) {
        user_send(&view, slot, serial, sequence, CALLS);
        atomic_fetch_add(&facts->sent, CALLS);
        user_rest();
    }
    _exit(0);
}

static void short_victim(const char *path, uint32_t number)
{
    const struct seg_view view = user_map(path);
    const uint32_t slot = user_claim_slot(&view);
    const uint64_t serial = user_attach(&view, slot, "short");
    for (uint64_t sequence = 0; sequence < SHORT_CHUNKS; sequence++)
        user_send(&view, slot, serial, sequence, CALLS);
    _exit(0);
}

/* ---- the hostile one --------------------------------------------------------------------------------- */

/* A slot is claimed as any process does, and then says what it likes: of itself, or that it is another. */
static void forge_slot(const struct seg_view *view, uint32_t *slots, uint32_t own)
{
    uint32_t *held = &slots[random_word() % OWN_SLOTS];
    if (*held == 0) {
        for (uint32_t index = 0; index < SEG_SLOT_COUNT && *held == 0; index++) {
            uint64_t word = SEG_SLOT_FREE;
            if (atomic_compare_exchange_strong(&view->slots[index].state, &word,
                                               seg_slot_word(SEG_SLOT_ATTACHING, (uint32_t)getpid())))
                *held = index + 1;
        }
        return;
    }
    struct seg_slot *slot = &view->slots[*held - 1];
    if (atomic_load(&slot->state) != seg_slot_word(SEG_SLOT_ATTACHING, (uint32_t)getpid())) {
        *held = 0; /* we stood still for so long that it was taken back: it may be another's */
        return;
    }
    for (uint32_t i = 1; i < sizeof *slot / 8; i++)
        if (random_word() % 4 == 0)
            put((uint64_t *)slot + i, nasty_word(view, own));
    if (random_word() % 2 == 0) {
        const uint32_t other = facts->victim_slot[random_word() % VICTIMS];
        const struct seg_slot *victims = other != 0 ? &view->slots[other - 1] : slot;
        const uint32_t pid = (uint32_t)(atomic_load(&victims->state) >> 32);
        slot->serial = victims->serial;
        slot->map_address = victims->map_address;
        slot->inner_pid = pid;
        (void)snprintf(slot->program, sizeof slot->program, "../../outside%u", (unsigned)*held);
        atomic_store(&slot->state, seg_slot_word(SEG_SLOT_ATTACHED, pid));
    } else {
        const uint64_t state = nasty_word(view, own);
        /* One that stands for a claim from another pid namespace is given ten seconds. */
        atomic_store(&slot->state, state != SEG_SLOT_ATTACHING ? state : UINT64_MAX);
    }
    *held = 0;
}

/* A chunk of its own, or of a free one the state. */
static void forge_chunk(const struct seg_view *view, uint32_t slot, uint64_t serial)
{
    static uint32_t chunks[OWN_CHUNKS];
    uint32_t *held = &chunks[random_word() % OWN_CHUNKS];
    if (*held == 0) {
        const uint32_t ready = seg_held(view);
        const uint32_t index = ready > 0 ? (uint32_t)(random_word() % ready) : 0;
        uint64_t word = SEG_CHUNK_FREE;
        if (random_word() % 2 == 0) {
            /* Not open as its own or a victim's, which may be so for long: that is only to have many chunks. */
            const uint64_t forged = seg_chunk_word(
                (random_word() % 2 == 0 ? SEG_CHUNK_FULL : (enum seg_chunk_state)(4 + random_word() % 12)),
                (uint32_t)random_word(), (uint32_t)random_word(), 0);
            (void)atomic_compare_exchange_strong(&view->states[index], &word, forged);
            return;
        }
        if (atomic_compare_exchange_strong(&view->states[index], &word,
                                           seg_chunk_word(SEG_CHUNK_OPEN, slot, 0, (uint32_t)getpid())))
            *held = index + 1;
        return;
    }
    struct seg_chunk_header *chunk = seg_chunk(view, *held - 1);
    for (uint32_t i = 0; i < USER_CHUNK_WORDS; i += 1 + (uint32_t)(random_word() % 64))
        put((uint64_t *)chunk + i, nasty_word(view, slot));
    chunk->serial = random_word() % 4 != 0 ? serial : random_word();
    chunk->sequence = random_word() % 4 != 0 ? random_word() % 32 : random_word();
    atomic_store(&chunk->magic, random_word() % 8 != 0 ? SEG_CHUNK_MAGIC : random_word());
    /* From here on it is the collector's. */
    atomic_store(&view->states[*held - 1],
                 seg_chunk_word(SEG_CHUNK_FULL, slot, (uint32_t)(random_word() % (1 << 20)), 0));
    *held = 0;
}

/* A slot keeps the name of the process that had it before. Here it becomes that of another, which never was and lost calls. */
static void forge_kept_name(const struct seg_view *view)
{
    for (uint32_t index = 0;; index = (index + 1) % SEG_SLOT_COUNT) {
        struct seg_slot *slot = &view->slots[index];
        uint64_t word = SEG_SLOT_FREE;
        if (strncmp(slot->program, "short", sizeof slot->program) == 0 &&
            atomic_compare_exchange_strong(&slot->state, &word,
                                           seg_slot_word(SEG_SLOT_ATTACHING, (uint32_t)getpid()))) {
            atomic_store(&slot->lost[0], 26);
            atomic_store(&slot->state, seg_slot_word(SEG_SLOT_ATTACHED, NO_PID));
            return;
        }
        if (index == 0)
            user_rest(); /* there will be one: short ones come and go as long as we run */
    }
}

static void scribble_own(const struct seg_view *view)
{
    static uint32_t slots[OWN_SLOTS];
    const uint32_t slot = user_claim_slot(view);
    const uint64_t serial = user_attach(view, slot, "hostile");
    struct seg_slot *mine = &view->slots[slot];
    forge_kept_name(view); /* first: later there may be no free slot left */
    for (uint64_t i = 0; i < scribbles; i++) {
        switch (random_word() % 4) {
        case 0:
            put((uint64_t *)view->shared + random_word() % (sizeof *view->shared / 8),
                nasty_word(view, slot));
            break;
        case 1: /* but by what it is known: without it the slot would soon be another's */
            if (atomic_load(&mine->state) == seg_slot_word(SEG_SLOT_ATTACHED, (uint32_t)getpid()))
                put((uint64_t *)mine + OWN_WORDS + random_word() % (sizeof *mine / 8 - OWN_WORDS),
                    nasty_word(view, slot));
            break;
        case 2:
            forge_slot(view, slots, slot);
            break;
        default:
            forge_chunk(view, slot, serial);
            break;
        }
    }
    _exit(0);
}

/* Whether a free chunk could be marked as no process of ours does, and the collector freed it within some of its rounds, however long
 * they take beside other work. */
static bool mark_is_seen(const struct seg_view *view, uint32_t index)
{
    uint64_t word = SEG_CHUNK_FREE;
    if (!atomic_compare_exchange_strong(&view->states[index], &word, SPOILED_STATE))
        return false;
    for (unsigned rounds = 0; rounds < SEEN_ROUNDS; rounds++) {
        const uint64_t heartbeat = atomic_load(&view->header->heartbeat_ns);
        if (atomic_load(&view->states[index]) != SPOILED_STATE)
            return true;
        while (atomic_load(&view->header->heartbeat_ns) == heartbeat)
            user_rest();
    }
    return false;
}

static void scribble_all(const struct seg_view *view)
{
    const uint32_t slot = user_claim_slot(view);
    uint64_t *words = (uint64_t *)view->shared;
    const uint64_t all = (view->bytes - view->shared_offset) / 8;
    const uint64_t tables = (view->chunks_offset - view->shared_offset) / 8;
    (void)user_attach(view, slot, "hostile");
    for (uint64_t i = 0; i < scribbles; i++)
        put(words + random_word() % (random_word() % 2 == 0 ? all : tables), nasty_word(view, slot));
    /* So that all end: who waits for a chunk gets one. One is seen to be told as spoiled. */
    for (uint32_t index = 0; index < view->fixed.chunk_count; index++)
        atomic_store(&view->states[index], SEG_CHUNK_FREE);
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        uint64_t state = SEG_SLOT_ATTACHING; /* as above */
        (void)atomic_compare_exchange_strong(&view->slots[index].state, &state, UINT64_MAX);
    }
    /* Not of one chunk only: the collector may have it in a queue, behind one that was written over and never comes. And twice
     * of one: the first time the collector may have given back what it had in a queue, which is not told as spoiled. */
    for (uint32_t index = 0;; index = (index + 1) % view->fixed.chunk_count) {
        if (index == 0)
            user_rest();
        if (mark_is_seen(view, index) && mark_is_seen(view, index))
            _exit(0);
    }
}

/* ---- the recording -------------------------------------------------------------------------------------- */

static pid_t collector;
static int control_fd;

static void start_collector(const char *directory, char *ret_path, size_t size)
{
    int ready[2], control[2];
    char ready_text[16], control_text[16], line[600] = "";
    size_t used = 0;
    ssize_t got;
    if (pipe(ready) != 0 || pipe(control) != 0)
        abort();
    (void)snprintf(ready_text, sizeof ready_text, "%d", ready[1]);
    (void)snprintf(control_text, sizeof control_text, "%d", control[0]);
    collector = fork();
    if (collector == 0) {
        (void)close(ready[0]);
        (void)close(control[1]);
        (void)setenv("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1", 1);
        (void)setenv("ASAN_OPTIONS", "quarantine_size_mb=4:detect_leaks=0", 1);
        (void)execl(getenv("MALLAB_COLLECT"), "mallab-collect", "--out", directory, "--memory", "4000000",
                    "--clock", "monotonic", "--ready-fd", ready_text, "--control-fd", control_text,
                    (char *)NULL);
        _exit(127);
    }
    (void)close(ready[1]);
    (void)close(control[0]);
    (void)fcntl(control[1], F_SETFD, FD_CLOEXEC);
    control_fd = control[1];
    while (used + 1 < sizeof line && (got = read(ready[0], line + used, sizeof line - 1 - used)) > 0)
        used += (size_t)got;
    (void)close(ready[0]);
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "ok ", 3) != 0) {
        fprintf(stderr, "the collector says: %s\n", line);
        abort();
    }
    if (strlen(line + 3) >= size)
        abort();
    memcpy(ret_path, line + 3, strlen(line + 3) + 1);
}

/* Its most memory, in bytes. */
static uint64_t end_collector(void)
{
    struct rusage usage = {0};
    int status = -1;
    (void)close(control_fd);
    CHECK(wait4(collector, &status, 0, &usage) == collector);
    CHECK_U64(status, 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static pid_t start(void (*run)(const char *, uint32_t), const char *path, uint32_t number)
{
    const pid_t pid = fork();
    if (pid == 0)
        run(path, number);
    return pid;
}

static void hostile(const char *path, uint32_t everything)
{
    const struct seg_view view = user_map(path);
    if (mprotect(view.header, view.shared_offset, PROT_READ | PROT_WRITE) == 0)
        _exit(92); /* what is told can be written over */
    if (everything)
        scribble_all(&view);
    scribble_own(&view);
}

static void await(pid_t pid)
{
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_U64(status, 0);
}

static pid_t victims[VICTIMS], shorts[SHORTS_MOST];
static size_t short_count;

static void record(const char *directory, bool everything, uint64_t *ret_bytes)
{
    char path[512];
    int status;
    memset(facts, 0, sizeof *facts);
    short_count = 0;
    start_collector(directory, path, sizeof path);
    for (uint32_t i = 0; i < VICTIMS; i++)
        victims[i] = start(victim, path, i);
    pid_t bad = start(hostile, path, everything);
    while (waitpid(bad, &status, WNOHANG) == 0) {
        if (!everything && short_count < SHORTS_MOST) {
            shorts[short_count] = start(short_victim, path, 0);
            await(shorts[short_count++]);
        }
        user_rest();
    }
    CHECK_U64(status, 0);
    atomic_store(&facts->over, 1);
    for (uint32_t i = 0; i < VICTIMS; i++)
        await(victims[i]);
    *ret_bytes = end_collector();
    glob_t outside; /* of names that lead there: forge_slot() */
    (void)snprintf(path, sizeof path, "%s/../../outside*", directory);
    CHECK_U64(glob(path, 0, NULL, &outside), GLOB_NOMATCH);
    globfree(&outside);
}

static uint64_t events_of(struct fp_reader *reader)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    OWNED(fp_block_buffer) buffer = {0};
    uint64_t events = 0;
    for (size_t i = 0; i < info->block_count; i++) {
        struct fp_block block;
        CHECK_U64(fp_reader_block(reader, i, &buffer, &block), FP_OK);
        events += block.mark_count;
    }
    return events;
}

/* Of the processes of a name that we started; what else has their name is the hostile one's. */
static uint64_t count_whole(const char *directory, const char *name, const pid_t *pids, size_t count)
{
    uint64_t events = 0;
    for (size_t i = 0; i < count; i++) {
        char path[512];
        struct fp_reader *reader;
        struct fp_error error;
        (void)snprintf(path, sizeof path, "%s/%s.%d.fp", directory, name, (int)pids[i]);
        const enum fp_status opened = fp_reader_open(path, &error, &reader);
        CHECK_U64(opened, FP_OK);
        if (opened != FP_OK)
            continue;
        CHECK(fp_reader_info(reader)->has_trailer);
        CHECK_U64(fp_loss_sum(fp_reader_info(reader)->trailer.lost), 0);
        events += events_of(reader);
        fp_reader_close(reader);
    }
    return events;
}

static bool json_says(const char *directory, const char *text)
{
    char path[512];
    static char json[16 << 20];
    (void)snprintf(path, sizeof path, "%s/recording.json", directory);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    json[fread(json, 1, sizeof json - 1, file)] = '\0';
    (void)fclose(file); /* only read */
    return strstr(json, text) != NULL;
}

TEST(the_others_are_whole)
{
    const char *directory = scratch_path("own");
    uint64_t bytes;
    record(directory, false, &bytes);
    uint64_t short_calls = short_count * SHORT_CHUNKS * CALLS;
    CHECK_U64(count_whole(directory, "victim", victims, VICTIMS), facts->sent);
    CHECK_U64(count_whole(directory, "short", shorts, short_count), short_calls);
    CHECK(json_says(directory, "\"spoiled\""));
    CHECK(bytes < BYTES_MOST);
    printf("own: %" PRIu64 " scribbles, %" PRIu64 " calls of others, collector %" PRIu64 " MB\n", scribbles,
           facts->sent + short_calls, bytes >> 20);
}

TEST(the_collector_ends_well)
{
    const char *directory = scratch_path("all");
    uint64_t bytes;
    record(directory, true, &bytes);
    CHECK(json_says(directory, "\"spoiled\""));
    CHECK(bytes < BYTES_MOST);
    printf("all: %" PRIu64 " scribbles, collector %" PRIu64 " MB\n", scribbles, bytes >> 20);
}

PREPARE
{
    const char *count = getenv("MALLAB_SCRIBBLES"), *seed = getenv("MALLAB_SEED");
    if (getenv("MALLAB_COLLECT") == NULL)
        SKIP("MALLAB_COLLECT names no collector");
    if (count != NULL)
        scribbles = strtoull(count, NULL, 10);
    random_state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("MALLAB_SEED=%" PRIu64 "\n", random_state);
    (void)fflush(stdout);
    facts = mmap(NULL, sizeof *facts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (facts == MAP_FAILED)
        abort();
    (void)alarm(ALARM_SECONDS); /* a collector that hangs is a failure */
}
