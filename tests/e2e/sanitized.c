/* sanitized.c - a program to be built with a sanitizer: it says that it ran, and how it was called. With an argument it first
 * executes its other arguments as a program of their own, by execl in a child. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++)
        free(malloc(100 + (size_t)i));
    if (argc > 1) {
        int status = 1;
        const pid_t child = fork();
        if (child == 0) {
            (void)execl(argv[1], argv[1], (char *)NULL);
            _exit(127);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    puts("ran");
    return 0;
}
