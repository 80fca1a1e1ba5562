/* names_fetched.c - stands in for debuginfod's library: says that it was asked, and hands out a file. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void *debuginfod_begin(void);
int debuginfod_find_debuginfo(void *client, const unsigned char *id, int bytes, char **path);
int debuginfod_find_executable(void *client, const unsigned char *id, int bytes, char **path);

void *debuginfod_begin(void)
{
    const int fd = open(getenv("NAMES_ASKED"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    (void)close(fd);
    return getenv("NAMES_FETCHED");
}

int debuginfod_find_debuginfo(void *client, const unsigned char *id, int bytes, char **path)
{
    return open(client, O_RDONLY | O_CLOEXEC);
}

int debuginfod_find_executable(void *client, const unsigned char *id, int bytes, char **path)
{
    return open(client, O_RDONLY | O_CLOEXEC);
}
