/* confined.c - a program that confines itself and then allocates.
 *
 *   confined HOW ACTION WHAT COUNT
 *     HOW     prctl, syscall, tsync: how the filter is put up; strict: strict mode; clock: prctl(PR_SET_TSC); none
 *     ACTION  what the filter does with other calls: kill, or trap with a handler that ends the program with status 3
 *     WHAT    tight: only write and exit_group are allowed; or system calls between commas that are refused, all others
 *             being allowed: then there may be threads and children
 *             alone | threads | early | fork | clone | exec: who calls then, behind a colon: tight:alone
 *
 * It makes COUNT calls of malloc(907), each with a free, in each of its threads or children, and says on stdout how many.
 * No call of its own after it is confined but write, exit and what its threads and children take. Exit status 77 where the kernel
 * refuses. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static const struct {
    const char *name;
    unsigned number;
} CALLS[] = {
    {"futex", SYS_futex},           {"clock_gettime", SYS_clock_gettime},
    {"openat", SYS_openat},         {"gettid", SYS_gettid},
    {"getpid", SYS_getpid},         {"getppid", SYS_getppid},
    {"tgkill", SYS_tgkill},         {"kill", SYS_kill},
    {"madvise", SYS_madvise},       {"mincore", SYS_mincore},
    {"readlinkat", SYS_readlinkat}, {"newfstatat", SYS_newfstatat},
    {"socket", SYS_socket},         {"read", SYS_read},
    {"close", SYS_close},           {"nanosleep", SYS_nanosleep},
};

static long count;
static atomic_long made;

static void trapped(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    syscall(SYS_exit_group, 3);
}

static void call(void)
{
    for (long i = 0; i < count; i++) {
        void *volatile object = malloc(907);
        if (object != NULL)
            made++;
        free(object);
    }
}

static unsigned action_of(const char *name)
{
    return strcmp(name, "trap") == 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
}

/* Fills code with what allows only write and exit_group, or refuses what the list names. Returns its length. */
static unsigned short make_filter(struct sock_filter *code, const char *what, unsigned action)
{
    const struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, action);
    const int tight = strncmp(what, "tight", 5) == 0;
    unsigned short used = 0;
    code[used++] = load;
    if (tight) {
        code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1);
        code[used++] = allow;
        code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1);
        code[used++] = allow;
    }
    for (size_t i = 0; !tight && i < sizeof CALLS / sizeof CALLS[0]; i++) {
        const char *at = strstr(what, CALLS[i].name);
        const size_t length = strlen(CALLS[i].name);
        if (at == NULL || (at != what && at[-1] != ',') || (at[length] != ',' && at[length] != ':'))
            continue;
        code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, 0, 1);
        code[used++] = refuse;
    }
    code[used++] = tight ? refuse : allow;
    return used;
}

static long put_up(const char *how, const char *action, const char *what)
{
    struct sock_filter code[2 * sizeof CALLS / sizeof CALLS[0] + 4];
    struct sock_fprog program = {make_filter(code, what, action_of(action)), code};
    if (strcmp(how, "none") == 0)
        return 0;
    if (strcmp(how, "strict") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(how, "clock") == 0)
        return prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    /* Refused ones confine nobody. */
    errno = 0;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT)
        return -1;
    if (strcmp(how, "prctl") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   strcmp(how, "tsync") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program);
}

static atomic_int go;

static void *thread(void *argument)
{
    if (argument != NULL) {
        free(malloc(906));
        atomic_fetch_add(&go, 1);
        while (atomic_load(&go) >= 0)
            ;
    }
    call();
    while (argument != NULL) /* its end takes system calls of libc's */
        ;
    return NULL;
}

static void start_threads(pthread_t *threads, void *argument)
{
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, thread, argument) != 0)
            syscall(SYS_exit_group, 4);
}

static void tell(const char *how)
{
    char line[64] = "made ";
    long number = made;
    size_t length = 5, digits = 1;
    for (long rest = number; rest >= 10; rest /= 10)
        digits++;
    for (size_t i = digits; i-- > 0; number /= 10)
        line[length + i] = (char)('0' + number % 10);
    length += digits;
    line[length++] = '\n';
    if (write(1, line, length) < 0)
        syscall(SYS_exit_group, 5);
    /* Strict mode knows no exit_group. */
    syscall(strcmp(how, "strict") == 0 ? SYS_exit : SYS_exit_group, 0);
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    pthread_t threads[THREADS];
    const char *who = argc == 5 ? strchr(argv[3], ':') : NULL;
    if (who == NULL)
        return 2;
    who++;
    count = atol(argv[4]);
    (void)sigaction(SIGSYS, &action, NULL);
    free(malloc(906)); /* what the allocator asks the kernel for */
    if (strcmp(who, "early") == 0) {
        start_threads(threads, &go);
        while (atomic_load(&go) < THREADS)
            ;
    }
    if (put_up(argv[1], argv[2], argv[3]) != 0)
        return 77;
    if (strcmp(who, "early") == 0) {
        atomic_store(&go, -1);
        while (atomic_load(&made) < THREADS * count)
            ;
    } else if (strcmp(who, "threads") == 0) {
        start_threads(threads, NULL);
        for (int i = 0; i < THREADS; i++)
            (void)pthread_join(threads[i], NULL);
    } else if (strcmp(who, "fork") == 0 || strcmp(who, "clone") == 0) {
        int status = 0;
        const pid_t child = who[0] == 'f' ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        call();
        if (child == 0)
            syscall(SYS_exit_group, 0);
        if (waitpid(child, &status, 0) != child || status != 0)
            syscall(SYS_exit_group, 6);
        made *= 2;
    } else if (strcmp(who, "exec") == 0) {
        (void)execl("/proc/self/exe", argv[0], "none", "kill", "tight:alone", argv[4], NULL);
        syscall(SYS_exit_group, 7);
    } else {
        call();
    }
    tell(argv[1]);
}
