/* attach.c - decide whether this process is recorded, and let it attach once, whoever comes first.
 *
 * Laws of this file: attach.h has them. A failure is told to the recording's collector; under a plain preload, which may have
 * none, by one line on stderr. */
#include "shim/preload/attach.h"

#include <string.h>

#include "shim/preload/attach_segment.h"
#include "shim/preload/attach_slot.h"
#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/note.h"
#include "shim/preload/shim_text.h"
#include "shim/shared/raw.h"

#define GONE_TRIES 5  /* where the shared memory is not there: it may be of another root directory */
#define FIND_TRIES 20 /* recordings that end just when we join them */

struct seg_view shim_segment;
struct shim_process *shim_process;

/* Ordinary memory, so that a child knows what was decided, and what its parent was called: argv[0] may have become another. */
static bool never;
static char program[SEG_PROGRAM];
static char executable[SEG_EXECUTABLE];

/* Under `mallab record` to the recording: stderr is the program's. */
static void complain(const char *reason)
{
    if (note_wanted())
        (void)note_send(program, reason, false); /* nobody is there: the recording has ended */
    else
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
    long fd = raw_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const long got = raw_read((int)fd, called, sizeof called - 1);
        called[got > 0 ? got : 0] = '\0';
        raw_close((int)fd);
    }
    if (strlen(called) == sizeof called - 1) /* cut: its last part is not the name */
        called[0] = '\0';
    text_called_name(program, sizeof program, called, executable);
}

/* Whether --only wants this program, by the name that it was called by or the file's. */
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
        *ret_taking = attach_take_slot(program, executable);
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
        return attach_take_slot(program, executable) ==
               TAKING_DONE; /* what found no slot is counted, and told at the end */
    const char *reason = find_and_take(&taking);
    if (reason == NULL)
        return taking == TAKING_DONE;
    complain(reason);
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
        complain("no memory that a fork wipes (Linux 4.14 or later is needed)");
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
        attach_wait(&process->state, PROCESS_ATTACHING, ATTACH_WAIT_NS);
    return state == PROCESS_ON;
}
