/* program_output.c - start, read, wait. */
#include "replay/system/program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLES_MAX 4096u

extern char **environ;

/* In the child of vfork, which shares our memory: it writes to its own variables and to `variables` only. */
__attribute__((noreturn)) static void become(char **arguments, char *variable, int out)
{
    static char *variables[VARIABLES_MAX];
    size_t count = 0;
    for (; environ[count] != NULL && count + 2 < VARIABLES_MAX; count++)
        variables[count] = environ[count];
    variables[count] = variable; /* NULL ends the list one earlier */
    variables[count + 1] = NULL;
    const int null = open("/dev/null", O_RDONLY);
    (void)alarm(REP_LISTING_SECONDS); /* exec keeps it */
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        execve(arguments[0], arguments, variables);
    _exit(127);
}

static pid_t start(char **arguments, char *variable, int out)
{
    const pid_t child = vfork(); /* no handlers of the allocator's run, as they would at fork */
    if (child == 0)
        become(arguments, variable, out);
    return child;
}

/* All that comes until the end; what has no room is read too, or the child would wait for ever. */
static size_t read_all(int fd, char *text, size_t size)
{
    char rest[4096];
    size_t length = 0;
    for (;;) {
        const bool full = length == size;
        const ssize_t count = full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return length;
        length += full ? 0 : (size_t)count;
    }
}

const char *rep_listing_read(const char *path, const char *argument, const char *variable)
{
    static char text[REP_LISTING_BYTES_MAX], words[3][PATH_MAX];
    char *arguments[] = {words[0], words[1], NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    snprintf(words[0], sizeof words[0], "%s", path);
    snprintf(words[1], sizeof words[1], "%s", argument);
    snprintf(words[2], sizeof words[2], "%s", variable != NULL ? variable : "");
    const pid_t child = start(arguments, variable != NULL ? words[2] : NULL, ends[1]);
    (void)close(ends[1]); /* nothing was written by us */
    const size_t length = child > 0 ? read_all(ends[0], text, sizeof text - 1) : 0;
    (void)close(ends[0]); /* it was only read */
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    text[length] = '\0';
    return length > 0 ? text : NULL;
}
