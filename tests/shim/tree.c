/* tree.c - process trees and changes of surroundings; each process allocates objects of a size that tells who it was.
 * Checked by test_tree.py.
 *
 *   leaf SIZE COUNT     allocate and free COUNT objects
 *   many COUNT          COUNT short processes, up to 16 at a time: forks, every fourth also forks, every eighth execs
 *   crowd COUNT         COUNT processes, all at one time
 *   long COUNT          parent and child allocate at the same time, COUNT each, the child in a thread too
 *   daemon              double fork, setsid, every descriptor closed, in /
 *   reuse PID           two children one after the other, both with the process id PID
 *   chroot DIR | unshare FLAGS      then a fork; both allocate */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/modes.h"

#define COUNT   100
#define AT_ONCE 16

static char *self;

static int await(pid_t pid)
{
    int status = 1;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        abort();
    return 0;
}

/* ---- many ------------------------------------------------------------------------------------------- */

static void leaf_of_many(int number)
{
    use(4001, 10);
    if (number % 4 == 1) {
        const pid_t pid = fork();
        if (pid == 0) {
            use(4002, 10);
            _exit(0);
        }
        await(pid);
    }
    if (number % 8 == 2)
        execl(self, self, "leaf", "4003", "10", (char *)NULL);
    _exit(0);
}

static int many(int count)
{
    int running = 0;
    for (int i = 0; i < count; i++) {
        pid_t pid;
        if (running == AT_ONCE) {
            int status = 1;
            if (wait(&status) < 0 || status != 0)
                return 1;
            running--;
        }
        pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0)
            leaf_of_many(i);
        running++;
    }
    for (; running > 0; running--) {
        int status = 1;
        if (wait(&status) < 0 || status != 0)
            return 1;
    }
    return 0;
}

static int crowd(int count)
{
    int done[2], go[2];
    char byte = 0;
    if (pipe(done) != 0 || pipe(go) != 0)
        return 1;
    for (int i = 0; i < count; i++) {
        const pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            close(go[1]);
            use(4004, 10);
            _exit(write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0);
        }
    }
    for (int i = 0; i < count; i++)
        if (read(done[0], &byte, 1) != 1)
            return 1;
    close(go[1]); /* all have allocated, and none has ended */
    for (int i = 0; i < count; i++) {
        int status = 1;
        if (wait(&status) < 0 || status != 0)
            return 1;
    }
    return 0;
}

/* ---- long --------------------------------------------------------------------------------------------- */

static void *use_in_thread(void *count)
{
    use(4012, (int)(intptr_t)count);
    return NULL;
}

static int long_fork(int count)
{
    const pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, use_in_thread, (void *)(intptr_t)count) != 0)
            abort();
        use(4011, count);
        pthread_join(thread, NULL);
        exit(0);
    }
    use(4010, count);
    return await(pid);
}

/* ---- daemon --------------------------------------------------------------------------------------------- */

/* What daemons do, and then what broke recorders: the first descriptors that it opens are its own. */
static int daemonise(void)
{
    int ends[2], file;
    char text[16] = "";
    if (pipe(ends) != 0)
        return 1;
    use(4020, COUNT);
    if (fork() != 0)
        _exit(0);
    setsid();
    use(4021, COUNT);
    if (fork() != 0)
        _exit(0);
    closefrom(0);
    if (chdir("/") != 0)
        abort();
    use(4022, COUNT);
    file = open("/dev/shm", O_RDWR | O_TMPFILE, 0600);
    if (file != 0 || write(file, "mine", 4) != 4)
        abort();
    use(4023, 100 * COUNT);
    if (pread(file, text, sizeof text, 0) != 4 || strcmp(text, "mine") != 0)
        abort();
    use(4024, COUNT);
    _exit(0);
}

/* ---- surroundings ------------------------------------------------------------------------------------------ */

static int both(void)
{
    pid_t pid;
    use(4041, COUNT);
    pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0) {
        use(4042, COUNT);
        _exit(0);
    }
    return await(pid);
}

static int reuse(int wanted)
{
    for (size_t size = 4030; size < 4032; size++) {
        pid_t pid;
        int tries = 0;
        do {
            const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
            if (file < 0 || dprintf(file, "%d", wanted - 1) < 0)
                return 77;
            close(file);
            pid = fork();
            if (pid == 0) {
                if (getpid() == wanted)
                    use(size, COUNT);
                _exit(0);
            }
            await(pid);
        } while (pid != wanted && ++tries < 1000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *value = argc > 2 ? argv[2] : "";
    self = argv[0];
    if (strcmp(what, "leaf") == 0 && argc == 4) {
        use((size_t)atoi(value), atoi(argv[3]));
        return 0;
    }
    if (strcmp(what, "many") == 0)
        return many(atoi(value));
    if (strcmp(what, "crowd") == 0)
        return crowd(atoi(value));
    if (strcmp(what, "long") == 0)
        return long_fork(atoi(value));
    if (strcmp(what, "daemon") == 0)
        return daemonise();
    if (strcmp(what, "reuse") == 0)
        return reuse(atoi(value));
    use(4040, COUNT);
    if (strcmp(what, "chroot") == 0) {
        if (chroot(value) != 0 || chdir("/") != 0)
            return 77;
        return both();
    }
    if (strcmp(what, "unshare") == 0) {
        if (unshare(atoi(value)) != 0)
            return 77;
        return both();
    }
    return 2;
}
