/* patience.c - silences of the collector, measured and given up on.
 *
 * Laws of this file: it runs only in slow paths, with all shared memory full. No lock; system calls through raw.h, and where
 * the process is confined none: then whoever waits measures the silence by its own turns (lane_chunk.c). */
#include "shim/preload/lane_chunk.h"

#include "shim/preload/confine.h"
#include "shim/preload/shim_text.h"
#include "shim/shared/raw.h"

#define LATE_NS     UINT64_C(100000000)  /* ten blocks' time: below it nobody wonders */
#define PATIENCE_NS UINT64_C(1000000000) /* shared memory held seconds of calls before it was full */

/* A dead process that its parent does not wait for answers kill(2) like a living one. False where /proc cannot tell. */
static bool is_zombie(uint32_t pid)
{
    char path[32] = "/proc/", stat[256];
    text_append_number(path, sizeof path, pid);
    text_append(path, sizeof path, "/stat");
    long fd = raw_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    long got = raw_read((int)fd, stat, sizeof stat - 1);
    raw_close((int)fd);
    /* "PID (NAME) STATE ...", and the name may hold anything: its end is the last parenthesis. */
    for (long at = got - 3; at > 0; at--)
        if (stat[at] == ')')
            return stat[at + 2] == 'Z' || stat[at + 2] == 'X';
    return false;
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

/* In another pid namespace the collector's number is nobody's, or somebody else's. */
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
