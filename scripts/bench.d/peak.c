/* peak.c - run a command and print its peak resident memory in kB: peak COMMAND ARGUMENT...
 *
 * The kernel lets a process's peak begin with its parent's, across exec. This parent is about a megabyte small,
 * where one in Python would hide what is to be measured. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 2)
        return 2;
    const pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        return 1;
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
