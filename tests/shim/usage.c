/* usage.c - a program of known use: it touches some memory, burns processor time until it has had so much, and ends in a way.
 *
 *   usage WAY MIB MS [WAY MIB MS ...]   exit: with 3; leave: _exit(4); kill, abort; exec: the rest, as another image;
 *                                       away: likewise, without a preload; fail: the rest, after an exec that failed;
 *                                       fork: the rest in a child; stay: until it is killed */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void touch(size_t bytes)
{
    char *memory = malloc(bytes + 1);
    if (memory == NULL)
        abort();
    memset(memory, 1, bytes);
    free(memory); /* large ones go back to the system: the peak stays */
}

static void burn(long milliseconds)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < milliseconds);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *way = argv[1];
    touch((size_t)atoi(argv[2]) << 20);
    burn(atoi(argv[3]));
    argv[3] = argv[0];
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "leave") == 0)
        _exit(4);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "exec") == 0)
        execv(argv[0], argv + 3);
    if (strcmp(way, "away") == 0) {
        unsetenv("LD_PRELOAD");
        execv(argv[0], argv + 3);
    }
    if (strcmp(way, "fail") == 0) {
        execv("/nothing/here", argv + 3);
        return main(argc - 3, argv + 3);
    }
    if (strcmp(way, "fork") == 0) {
        int status = 0;
        if (fork() == 0)
            return main(argc - 3, argv + 3);
        (void)wait(&status);
        return 0;
    }
    for (;;)
        pause();
}
