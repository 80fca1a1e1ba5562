/* own_process.c - see own_process.h. */
#include "replay/base/own_process.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t rep_proc_number(const char *path, const char *key, uint64_t otherwise)
{
    char text[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return otherwise;
    const ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd); /* it was only read */
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : otherwise;
}

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

unsigned rep_processors(void)
{
    cpu_set_t set = {0};
    if (syscall(SYS_sched_getaffinity, 0, sizeof set, &set) <
        0) /* more than 1024: one baton is slow but right */
        return 1;
    return (unsigned)CPU_COUNT(&set);
}
