/* syscalls.c - the filter, the watcher, and what they share. */
#include "replay/system/syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/clock/real.h"

#define POLL_NS     UINT64_C(100000)
#define BLIND_MS    100     /* between two looks whether it has ended, where no descriptor tells */
#define THREADS_MAX 4194304 /* Linux's limit of thread ids, PID_MAX_LIMIT */

const char *const rep_syscall_names[REP_SYSCALL_KINDS] = {
    [REP_SYSCALL_MMAP] = "mmap",       [REP_SYSCALL_MUNMAP] = "munmap",     [REP_SYSCALL_MREMAP] = "mremap",
    [REP_SYSCALL_MADVISE] = "madvise", [REP_SYSCALL_MPROTECT] = "mprotect", [REP_SYSCALL_BRK] = "brk",
    [REP_SYSCALL_FUTEX] = "futex",     [REP_SYSCALL_OTHER] = "other",
};

enum where {
    WHERE_UNKNOWN = 0, /* not a thread of the harness, or one that has not begun */
    WHERE_OUTSIDE = 1,
    WHERE_INSIDE = 2,
};

enum {
    LISTENER_NONE = -1, /* not yet */
    LISTENER_REFUSED = -2,
};

/* Both processes map this. Only touched pages become resident, and count as shared memory. */
struct rep_syscalls_shared {
    _Atomic int listener; /* a descriptor, valid in both: they share the table */
    _Atomic bool counting;
    _Atomic uint64_t counts[REP_SYSCALL_KINDS];
    _Atomic uint8_t where[THREADS_MAX + 1]; /* by thread id; each written by its thread */
};

static _Thread_local _Atomic uint8_t *own_place;

/* ---- the watcher ---------------------------------------------------------------------------- */

static enum rep_syscall_kind kind_of(int number)
{
    static const int NUMBERS[REP_SYSCALL_OTHER] = {
        [REP_SYSCALL_MMAP] = SYS_mmap,         [REP_SYSCALL_MUNMAP] = SYS_munmap,
        [REP_SYSCALL_MREMAP] = SYS_mremap,     [REP_SYSCALL_MADVISE] = SYS_madvise,
        [REP_SYSCALL_MPROTECT] = SYS_mprotect, [REP_SYSCALL_BRK] = SYS_brk,
        [REP_SYSCALL_FUTEX] = SYS_futex,
    };
    unsigned kind = 0;
    while (kind < REP_SYSCALL_OTHER && NUMBERS[kind] != number)
        kind++;
    return (enum rep_syscall_kind)kind;
}

/* The thread stands still at its call, so what it wrote about itself before is seen. */
static void count(struct rep_syscalls_shared *shared, const struct seccomp_notif *call)
{
    const enum rep_syscall_kind kind = kind_of(call->data.nr);
    if (!atomic_load(&shared->counting))
        return;
    if (kind >= REP_SYSCALL_FUTEX && call->pid <= THREADS_MAX &&
        atomic_load(&shared->where[call->pid]) == WHERE_OUTSIDE)
        return;
    atomic_fetch_add(&shared->counts[kind], 1);
}

/* Whether it has not ended yet; leaves its status to be waited for. */
static bool is_alive(pid_t watched)
{
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)watched, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

/* End as the watched process did, so that whoever started us sees its end. */
__attribute__((noreturn)) static void end_like(pid_t watched)
{
    int status = 0;
    while (waitpid(watched, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) {
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* The rest of the first process's life. */
__attribute__((noreturn)) static void watch(struct rep_syscalls_shared *shared, pid_t watched)
{
    /* The kernel's structures may be larger than the ones that this was compiled with. */
    union {
        struct seccomp_notif call;
        char room[512];
    } asked;
    union {
        struct seccomp_notif_resp resp;
        char room[512];
    } answer;
    while (atomic_load(&shared->listener) == LISTENER_NONE && is_alive(watched))
        rep_real_sleep_until(rep_real_ns(CLOCK_MONOTONIC) + POLL_NS);
    const int listener = atomic_load(&shared->listener);
    /* The listener tells of the end too late: Linux 6.1 lets go of a filter when its last
     * process was waited for (6.18: when it ends), and children of the watched would keep it. */
    const int ended = (int)syscall(SYS_pidfd_open, watched, 0);
    while (listener >= 0) {
        struct pollfd ready[] = {{.fd = listener, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
        if (poll(ready, 2, ended >= 0 ? -1 : BLIND_MS) < 0) {
            if (errno != EINTR)
                break;
            continue; /* what is in ready was not written */
        }
        if (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL))
            break; /* nobody is left whom the filter concerns */
        if (!(ready[0].revents & POLLIN)) {
            if (!is_alive(watched))
                break;
            continue;
        }
        memset(&asked, 0, sizeof asked);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
            continue; /* killed meanwhile */
        count(shared, &asked.call);
        memset(&answer, 0, sizeof answer);
        answer.resp.id = asked.call.id;
        answer.resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* fails for the killed only */
    }
    end_like(watched);
}

/* ---- the filter ----------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LET_PASS(number)                                                                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Returns the listener, or -1 with errno set. */
static int install_filter(void)
{
    static struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(nr),
        LET_PASS(SYS_gettid), /* our own, of a thread that is not known yet */
        LET_PASS(SYS_exit),
        LET_PASS(SYS_exit_group),
        LET_PASS(SYS_clone),
        LET_PASS(SYS_clone3),
        LET_PASS(SYS_rseq),
        LET_PASS(SYS_set_robust_list),
        LET_PASS(SYS_rt_sigprocmask),
        LET_PASS(SYS_rt_sigreturn),
        LET_PASS(SYS_clock_gettime), /* kernels see clocks on some machines only */
        LET_PASS(SYS_gettimeofday),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                                SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static bool refuse(struct rep_syscalls *syscalls, const char *what, int error)
{
    snprintf(syscalls->why, sizeof syscalls->why, "%s: %s", what, strerror(error));
    return false;
}

bool rep_syscalls_init(struct rep_syscalls *syscalls)
{
    *syscalls = (struct rep_syscalls){0};
    if (ARCHITECTURE == 0)
        return refuse(syscalls, "seccomp user notification", ENOSYS);
    struct rep_syscalls_shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return refuse(syscalls, "mmap", errno);
    atomic_store(&shared->listener, LISTENER_NONE);
    /* fork() would run the allocator's handlers; the system call does not. The table of
     * descriptors is shared, because the listener's comes to exist only when no more may be
     * handed over. */
    const pid_t first = getpid();
    const long watched = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, 0L);
    if (watched < 0)
        return refuse(syscalls, "clone", errno);
    if (watched > 0)
        watch(shared, (pid_t)watched);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would answer our system calls then */
    if (getppid() != first)
        _exit(1);
    const int listener = install_filter();
    const int error = errno;
    atomic_store(&shared->listener, listener >= 0 ? listener : LISTENER_REFUSED);
    if (listener < 0)
        return refuse(syscalls, "seccomp user notification", error);
    syscalls->shared = shared;
    syscalls->active = true;
    rep_syscalls_inside(syscalls, false);
    return true;
}

void rep_syscalls_count(struct rep_syscalls *syscalls, bool on)
{
    if (syscalls->active)
        atomic_store(&syscalls->shared->counting, on);
}

void rep_syscalls_inside(struct rep_syscalls *syscalls, bool inside)
{
    if (!syscalls->active)
        return;
    if (own_place == NULL)
        own_place = &syscalls->shared->where[gettid()];
    atomic_store(own_place, inside ? WHERE_INSIDE : WHERE_OUTSIDE);
}

uint64_t rep_syscalls_of(const struct rep_syscalls *syscalls, enum rep_syscall_kind kind)
{
    return syscalls->active ? atomic_load(&syscalls->shared->counts[kind]) : 0;
}
