/* measured.c - run a command and write what it took: measured RESULT [NAME=VALUE...] COMMAND ARGUMENT...
 *
 * RESULT receives {"ns": wall time, "cpu_ns": of the command and the children it waited for, "peak_kb": resident}.
 * The variables are set for the command only: a library named in LD_PRELOAD is not loaded here. Exits as the command.
 *
 * The kernel lets a process's peak begin with its parent's, across exec. This parent is about a megabyte small,
 * where one in Python would hide what is to be measured. It makes no call of malloc, so a recorder that follows
 * children through it records the command alone. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t time_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void become(char **arguments)
{
    for (; *arguments && strchr(*arguments, '='); arguments++)
        putenv(*arguments);
    if (*arguments)
        execvp(*arguments, arguments);
    _exit(127);
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 3)
        return 2;
    const int result = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const uint64_t start_ns = now_ns();
    const pid_t pid = fork();
    if (pid == 0)
        become(argv + 2);
    if (result < 0 || pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return 1;
    const uint64_t end_ns = now_ns();
    char text[128];
    const int length = snprintf(text, sizeof text, "{\"ns\": %llu, \"cpu_ns\": %llu, \"peak_kb\": %ld}\n",
                                (unsigned long long)(end_ns - start_ns),
                                (unsigned long long)(time_ns(usage.ru_utime) + time_ns(usage.ru_stime)),
                                usage.ru_maxrss);
    if (write(result, text, (size_t)length) != length)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
