/* watch.c - see watch.h. */
#include "replay/base/watch.h"

#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool watching;
static _Atomic uint64_t counted;
static _Thread_local bool paused;

void rep_watch(void)
{
    atomic_store(&watching, true);
}

uint64_t rep_watch_count(void)
{
    return atomic_load(&counted);
}

void rep_watch_note(void)
{
    if (atomic_load_explicit(&watching, memory_order_relaxed) && !paused)
        atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
}

void rep_watch_pause(void)
{
    paused = true;
}

void rep_watch_resume(void)
{
    paused = false;
}
