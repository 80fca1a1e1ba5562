/* limit.c - RLIMIT_DATA above what is mapped. */
#include "replay/limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit former;
static bool limited;
static uint64_t early_bytes;

/* VmData of /proc/self/status, which is what the kernel compares; 0 when it cannot be read. */
static uint64_t data_bytes(void)
{
    static const char KEY[] = "VmData:";
    char text[4096];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd); /* it was only read */
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, KEY);
    return at != NULL ? strtoull(at + sizeof KEY - 1, NULL, 10) * 1024 : 0;
}

void rep_limit_begin(void)
{
    early_bytes = data_bytes();
}

bool rep_limit_set(uint64_t bytes, uint64_t *ret_base_bytes, uint64_t *ret_early_bytes)
{
    const uint64_t now = data_bytes();
    const uint64_t base = now > early_bytes ? now - early_bytes : 0;
    uint64_t sum;
    if (early_bytes == 0 || now == 0 || __builtin_add_overflow(base, bytes, &sum) ||
        getrlimit(RLIMIT_DATA, &former) != 0)
        return false;
    const struct rlimit wanted = {.rlim_cur = sum, .rlim_max = former.rlim_max};
    limited = setrlimit(RLIMIT_DATA, &wanted) == 0;
    *ret_base_bytes = base;
    *ret_early_bytes = early_bytes;
    return limited;
}

void rep_limit_lift(void)
{
    if (limited)
        (void)setrlimit(RLIMIT_DATA, &former); /* a soft limit may be raised to where it was */
    limited = false;
}
