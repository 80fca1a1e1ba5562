/* processes.c - programs that fork, exec and end in every way, and trees of them; each allocates objects of a size that tells who it
 * was. Checked by test_processes.py and test_tree.py.
 *
 *   WORD...            one after the other, up to a `]`:
 *     SIZE               allocate and free 1000 objects; behind xN so many
 *     fork|clone|vfork|spawn [ WORD... ]   a child does so, and is waited for; clone without libc's fork, whose handlers do not see it
 *     exec               the rest, in a new image
 *     chroot DIR | unshare FLAGS
 *     kill | abort | exit
 *   forkthreads | killthreads
 *   many COUNT          COUNT short processes, up to 16 at a time: forks, every fourth also forks, every eighth execs
 *   crowd COUNT         COUNT processes, all at one time
 *   daemon              double fork, setsid, every descriptor closed, in /
 *   reuse PID           two children one after the other, both with the process id PID */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/modes.h"

#define COUNT   1000
#define FEW     100 /* where there are many */
#define THREADS 4
#define FORKS   5
#define AT_ONCE 16

static char *self;

static void await(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

static void run(char **word);

/* Where the child's words begin, behind their `[`. */
static void in_child(const char *how, char **words)
{
    extern char **environ;
    pid_t pid;
    if (strcmp(how, "spawn") == 0) {
        words[-1] = self;
        if (posix_spawn(&pid, self, NULL, NULL, words - 1, environ) != 0)
            abort();
    } else {
        pid = strcmp(how, "clone") == 0   ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
              : strcmp(how, "vfork") == 0 ? vfork()
                                          : fork();
        if (pid < 0)
            abort();
        if (pid == 0) {
            run(words); /* behind vfork it allocates in its parent's memory: POSIX forbids it, programs do it */
            _exit(0);
        }
    }
    await(pid);
}

/* The `]` of the `[` before these words. */
static char **closing(char **word)
{
    for (int depth = 1;; word++) {
        depth += (strcmp(*word, "[") == 0) - (strcmp(*word, "]") == 0);
        if (depth == 0)
            return word;
    }
}

static void run(char **word)
{
    int count = COUNT;
    for (; *word != NULL && strcmp(*word, "]") != 0; word++) {
        if (isdigit((unsigned char)**word)) {
            use((size_t)atoi(*word), count);
        } else if (**word == 'x') {
            count = atoi(*word + 1);
        } else if (strcmp(*word, "exec") == 0) {
            *word = self;
            execv(self, word);
            abort();
        } else if (strcmp(*word, "kill") == 0) {
            raise(SIGKILL);
        } else if (strcmp(*word, "abort") == 0) {
            abort();
        } else if (strcmp(*word, "exit") == 0) {
            _exit(7);
        } else if (strcmp(*word, "chroot") == 0) {
            if (chroot(*++word) != 0 || chdir("/") != 0)
                _exit(77);
        } else if (strcmp(*word, "unshare") == 0) {
            if (unshare(atoi(*++word)) != 0)
                _exit(77);
        } else {
            char **words = word + 2, **end = closing(words);
            in_child(*word, words);
            word = end;
        }
    }
}

static void *use_in_thread(void *size)
{
    use((size_t)(uintptr_t)size, 100);
    return NULL;
}

static void *fork_in_thread(void *unused)
{
    for (int i = 0; i < FORKS; i++) {
        pid_t pid;
        use(6010, 100);
        pid = fork();
        if (pid == 0) {
            pthread_t thread;
            use(6011, 100);
            if (pthread_create(&thread, NULL, use_in_thread, (void *)6012) != 0)
                abort();
            pthread_join(thread, NULL);
            _exit(0);
        }
        await(pid);
    }
    return NULL;
}

static int do_forkthreads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, fork_in_thread, NULL) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static pthread_barrier_t started;

static void *use_for_ever(void *size)
{
    use((size_t)(uintptr_t)size, 10);
    pthread_barrier_wait(&started);
    for (;;)
        use((size_t)(uintptr_t)size, 10);
    return NULL;
}

/* Killed while its threads are in the middle of calls. */
static int do_killthreads(void)
{
    pthread_barrier_init(&started, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, use_for_ever, (void *)6070) != 0)
            abort();
    }
    pthread_barrier_wait(&started);
    use(6071, 20000);
    raise(SIGKILL);
    return 1;
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
        execl(self, self, "x10", "4003", (char *)NULL);
    _exit(0);
}

/* So many children; whether all have done what they should. */
static int reap(int count)
{
    for (int status = 1; count > 0; count--)
        if (wait(&status) < 0 || status != 0)
            return 1;
    return 0;
}

static int many(int count)
{
    int running = 0;
    for (int i = 0; i < count; i++) {
        pid_t pid;
        if (running == AT_ONCE) {
            if (reap(1) != 0)
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
    return reap(running);
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
    return reap(count);
}

/* ---- daemon --------------------------------------------------------------------------------------------- */

/* What daemons do, and then what broke recorders: the first descriptors that it opens are its own. */
static int daemonise(void)
{
    int ends[2], file;
    char text[16] = "";
    if (pipe(ends) != 0)
        return 1;
    use(4020, FEW);
    if (fork() != 0)
        _exit(0);
    setsid();
    use(4021, FEW);
    if (fork() != 0)
        _exit(0);
    closefrom(0);
    if (chdir("/") != 0)
        abort();
    use(4022, FEW);
    file = open("/dev/shm", O_RDWR | O_TMPFILE, 0600);
    if (file != 0 || write(file, "mine", 4) != 4)
        abort();
    use(4023, 100 * FEW);
    if (pread(file, text, sizeof text, 0) != 4 || strcmp(text, "mine") != 0)
        abort();
    use(4024, FEW);
    _exit(0);
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
                    use(size, FEW);
                _exit(0);
            }
            await(pid);
        } while (pid != wanted && ++tries < 1000);
    }
    return 0;
}

static const struct mode MODES[] = {
    {"forkthreads", do_forkthreads}, {"killthreads", do_killthreads}, {"daemon", daemonise}, {0}};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *value = argc > 2 ? argv[2] : "";
    self = argv[0];
    if (strcmp(what, "many") == 0)
        return many(atoi(value));
    if (strcmp(what, "crowd") == 0)
        return crowd(atoi(value));
    if (strcmp(what, "reuse") == 0)
        return reuse(atoi(value));
    const int code = run_mode(MODES, what);
    if (code < 0)
        run(argv + 1);
    return code < 0 ? 0 : code;
}
