/* proc.c - see proc.h. */
#include "replay/base/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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
