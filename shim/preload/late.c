/* late.c - the library loaded into a running program: begins to record there, ends, forgets.
 *
 * Whoever attaches (record/attach) makes a thread of the program call one of three exported functions, in a place where it is in
 * no lock of the loader and of the allocator, as a signal handler would be called. Each leaves errno as it was.
 *
 *   mallab_late_begin   join a recording, and turn the slots of all modules to our hooks (slots.c)
 *   mallab_late_end     turn them back. Threads may be in hooks for a while yet
 *   mallab_late_forget  when none is: let go of the shared memory. While one is the state stays LATE_LEAVING */
#include <errno.h>
#include <string.h>

#include "shim/preload/attach.h"
#include "shim/preload/boot.h"

#define LATE_EXPORT __attribute__((visibility("default")))

LATE_EXPORT void mallab_late_begin(const char *request, uint64_t ticket);
LATE_EXPORT void mallab_late_end(const char *request, uint64_t ticket);
LATE_EXPORT void mallab_late_forget(const char *request, uint64_t ticket);

extern LATE_EXPORT struct late_report mallab_late_report;
struct late_report mallab_late_report;

static char environment_text[LATE_REQUEST_MOST + 32];
static char *environment[2];

/* Runs before the other constructors of this library: nothing is recorded until somebody asks for it. */
__attribute__((constructor(101))) static void begin_idle(void)
{
    const int saved = errno;
    attach_forbid();
    (void)boot_resolve();
    mallab_late_report.magic = LATE_MAGIC;
    errno = saved;
}

void late_told(const char *reason)
{
    mallab_late_report.reason[0] = '\0';
    text_append(mallab_late_report.reason, sizeof mallab_late_report.reason, reason);
}

/* Returns false where another call is under way, or it is not the time for this one. */
static bool enter(uint32_t first, uint32_t second)
{
    _Atomic uint32_t *state = (_Atomic uint32_t *)&mallab_late_report.state;
    uint32_t seen = first;
    if (swap_acquire(state, &seen, LATE_BUSY))
        return true;
    seen = second;
    return swap_acquire(state, &seen, LATE_BUSY);
}

static void leave(uint32_t state, uint64_t ticket, int saved)
{
    put_release((_Atomic uint32_t *)&mallab_late_report.state, state);
    put_release((_Atomic uint64_t *)&mallab_late_report.done, ticket);
    errno = saved;
}

/* request: the path of the recording's shared memory, on a stack that is given back. */
void mallab_late_begin(const char *request, uint64_t ticket)
{
    const int saved = errno;
    struct late_report *report = &mallab_late_report;
    if (!enter(LATE_IDLE, LATE_IDLE))
        return;
    report->segment[0] = report->reason[0] = '\0';
    text_append(report->segment, sizeof report->segment, request);
    environment_text[0] = '\0';
    text_append(environment_text, sizeof environment_text, "MALLAB_SEGMENT=");
    text_append(environment_text, sizeof environment_text, request);
    environment[0] = environment_text;
    text_take_environment(environment);
    attach_allow();
    report->recorded = attach_process();
    uint32_t state = LATE_ON;
    report->slots = report->slots_left = report->modules = 0;
    if (report->recorded) {
        runs_on_ask();
        const struct slots_count count = slots_turn(false);
        report->slots = count.turned;
        report->slots_left = count.left;
        report->modules = count.modules;
        memcpy(report->left_in, count.left_in, sizeof report->left_in);
        slots_theirs(report->theirs, LATE_WORDS);
    } else {
        state = attach_forget() ? LATE_IDLE : LATE_LEAVING;
    }
    leave(state, ticket, saved);
}

void mallab_late_end(const char *request, uint64_t ticket)
{
    const int saved = errno;
    (void)request;
    if (!enter(LATE_ON, LATE_LEAVING))
        return;
    (void)slots_turn(true); /* all that hold ours */
    attach_forbid();
    leave(LATE_LEAVING, ticket, saved);
}

void mallab_late_forget(const char *request, uint64_t ticket)
{
    const int saved = errno;
    (void)request;
    if (!enter(LATE_LEAVING, LATE_LEAVING))
        return;
    leave(attach_forget() ? LATE_IDLE : LATE_LEAVING, ticket, saved);
}
