/* killer.c - stands behind the recorder as the next definition, and ends the process within a call of size 5099: the
 * recorder has been entered and not yet left. */
#include <signal.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size);

void *malloc(size_t size)
{
    if (size == 5099)
        raise(SIGKILL);
    return __libc_malloc(size);
}
