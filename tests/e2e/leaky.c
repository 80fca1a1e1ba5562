/* leaky.c - leaks what it is told to: lines "leaks 10", "starts 10", "churns 10", "forks 10", answered by a line when it is
 * done. Each is a function of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void leaks(int count)
{
    for (int i = 0; i < count; i++)
        kept = malloc(1000);
}

__attribute__((noinline)) static void starts(int count)
{
    for (int i = 0; i < count; i++)
        kept = malloc(500);
}

/* Frees all but the last. */
__attribute__((noinline)) static void churns(int count)
{
    for (int i = 0; i < count; i++) {
        kept = malloc(100);
        if (i + 1 < count)
            free(kept);
    }
}

/* A child that allocates nothing but these, and ends without leaving. */
__attribute__((noinline)) static void forks(int count)
{
    const pid_t child = fork();
    if (child == 0) {
        leaks(count);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

int main(void)
{
    static char in[4096], out[4096];
    char word[16];
    int count;
    setvbuf(stdin, in, _IOLBF, sizeof in);
    setvbuf(stdout, out, _IOLBF, sizeof out);
    for (int i = 0; i < 100; i++)
        free(malloc(2000));
    while (scanf("%15s %d", word, &count) == 2) {
        if (strcmp(word, "leaks") == 0)
            leaks(count);
        if (strcmp(word, "starts") == 0)
            starts(count);
        if (strcmp(word, "churns") == 0)
            churns(count);
        if (strcmp(word, "forks") == 0)
            forks(count);
        printf("done\n");
    }
    return 0;
}
