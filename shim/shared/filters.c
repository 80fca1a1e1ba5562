/* filters.c - the seccomp filters that stand when a process begins.
 *
 * Laws of this file: those of shim.h. */
#include "shim/shared/filters.h"

#include <stdatomic.h>
#include <string.h>

#include "shim/shared/raw.h"

#define STATUS_BYTES 4096u /* of /proc/self/status: 1.5 KiB, more with many groups, and then it is not told */

static bool number_of(const char *status, const char *key, uint32_t *ret_number)
{
    const char *at = strstr(status, key);
    if (at == NULL)
        return false;
    for (at += strlen(key); *at == ' ' || *at == '\t'; at++)
        ;
    for (*ret_number = 0; *at >= '0' && *at <= '9'; at++)
        *ret_number = *ret_number * 10 + (uint32_t)(*at - '0');
    return true;
}

enum found { FOUND_NOTHING_YET = 0, FOUND_FREE, FOUND_CONFINED, FOUND_NO_ANSWER };

static enum found look(uint32_t tried)
{
    static char status[STATUS_BYTES];
    uint32_t mode, filters;
    long got = 0, fd = raw_open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FOUND_NO_ANSWER;
    got = raw_read((int)fd, status, sizeof status - 1);
    raw_close((int)fd);
    status[got > 0 ? got : 0] = '\0';
    if (!number_of(status, "\nSeccomp:", &mode))
        return FOUND_NO_ANSWER;
    if (mode == 0 || (tried > 0 && number_of(status, "\nSeccomp_filters:", &filters) && filters == tried))
        return FOUND_FREE;
    return FOUND_CONFINED;
}

static enum found found(uint32_t tried)
{
    static _Atomic uint32_t known; /* of this image, its forked children included */
    uint32_t was = atomic_load_explicit(&known, memory_order_relaxed);
    if (was == FOUND_NOTHING_YET) {
        was = look(tried);
        atomic_store_explicit(&known, was, memory_order_relaxed);
    }
    return (enum found)was;
}

bool filters_let_pass(uint32_t tried)
{
    return found(tried) == FOUND_FREE;
}

bool filters_confine(uint32_t tried)
{
    return found(tried) == FOUND_CONFINED;
}
