/* filters.c - seccomp filters: those that stand, and those that the program is about to put up.
 *
 * Laws of this file: those of shim.h; prctl goes on exactly as it came in. */
#include "shim/filters.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "shim/large.h"
#include "shim/raw.h"
#include "shim/shim.h"

SHIM_EXPORT int prctl(int option, ...);

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

bool filters_let_pass(uint32_t tried)
{
    static char status[STATUS_BYTES];
    uint32_t mode, filters;
    long got = 0, fd = raw_open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = raw_read((int)fd, status, sizeof status - 1);
    raw_close((int)fd);
    status[got > 0 ? got : 0] = '\0';
    if (!number_of(status, "\nSeccomp:", &mode))
        return false;
    return mode == 0 || (tried > 0 && number_of(status, "\nSeccomp_filters:", &filters) && filters == tried);
}

int prctl(int option, ...)
{
    unsigned long words[4];
    va_list arguments;
    long result;
    va_start(arguments, option);
    for (unsigned i = 0; i < 4; i++)
        words[i] = va_arg(arguments, unsigned long); /* libc's reads as many, whatever was passed */
    va_end(arguments);
    if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
        large_stop();
    result = raw_call(SYS_prctl, option, (long)words[0], (long)words[1], (long)words[2], (long)words[3], 0);
    if (result < 0 && result >= -4095) {
        errno = (int)-result;
        return -1;
    }
    return (int)result;
}
