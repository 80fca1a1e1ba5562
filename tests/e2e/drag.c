/* drag - preloaded into a recorder: its collector takes half a second for the later part of each round, the one that
 * begins with poll(2), so that a test can do things in the middle of one. Elsewhere it does nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define DRAG_NS 500000000

int poll(struct pollfd *watched, nfds_t count, int timeout_ms)
{
    static int (*next)(struct pollfd *, nfds_t, int);
    struct timespec rest = {0, DRAG_NS};
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "poll");
    if (strcmp(program_invocation_short_name, "mallab-collect") == 0 && count > 0)
        while (nanosleep(&rest, &rest) != 0 && errno == EINTR) /* signals are what is tested */
            continue;
    return next(watched, count, timeout_ms);
}
