/* sight.c - print everything in which a recorded program could notice its recorder: descriptors, threads, children,
 * signals, directory, mask, environment, dlerror. test_sight.py compares the text with and without recording. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t children_seen;

static void on_child(int number)
{
    children_seen++;
}

/* Before main, before most others' constructors: allocations of this kind are recorded too. */
static void *early;

__attribute__((constructor)) static void allocate_early(void)
{
    early = malloc(8001);
}

static void list(const char *folder, int links)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    while ((entry = readdir(directory)) != NULL) {
        char path[512], target[256] = "";
        if (entry->d_name[0] == '.' || (links && atoi(entry->d_name) == dirfd(directory)))
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (links && readlink(path, target, sizeof target - 1) > 0)
            printf("descriptor %s\n", entry->d_name);
    }
    printf("%s: %d\n", folder, count);
    closedir(directory);
}

int main(void)
{
    sigset_t mask;
    char cwd[4096];
    int blocked = 0;
    struct sigaction action;

    printf("dlerror %s\n", dlerror() == NULL ? "none" : "set");
    sigaction(SIGCHLD, NULL, &action);
    printf("SIGCHLD %s\n", action.sa_handler == SIG_DFL ? "default" : "changed");
    signal(SIGCHLD, on_child);
    for (int i = 0; i < 10000; i++)
        free(malloc(8002));
    list("/proc/self/fd", 1);
    list("/proc/self/task", 0);
    errno = 0;
    printf("wait %d %d\n", (int)waitpid(-1, NULL, __WALL | WNOHANG), errno);
    errno = 0;
    printf("wait clone %d %d\n", (int)waitpid(-1, NULL, __WCLONE | WNOHANG), errno);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number < 65; number++)
        blocked += sigismember(&mask, number) == 1;
    printf("blocked %d, SIGCHLD seen %d\n", blocked, (int)children_seen);
    printf("umask %o, cwd %s\n", umask(022), getcwd(cwd, sizeof cwd));
    printf("lowest free descriptor %d\n", open("/dev/null", O_RDONLY));
    for (char **entry = environ; *entry != NULL; entry++)
        if (strncmp(*entry, "MALLAB_", 7) != 0 && strncmp(*entry, "LD_PRELOAD=", 11) != 0)
            printf("%s\n", *entry);
    fprintf(stderr, "to stderr\n");
    free(early);
    return 3;
}
