/* forbid - run a program in a world that refuses: forbid NAME... -- PROGRAM ARGUMENT...
 *
 * NAME: seccomp, nice. Each of these system calls then fails with EPERM, as in a strict container. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} CALLS[] = {{"seccomp", SYS_seccomp}, {"nice", SYS_setpriority}};

static int forbid(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    /* By prctl, which is not one of the forbidden. */
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                                                       : -1;
}

int main(int argc, char **argv)
{
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
            if (strcmp(argv[at], CALLS[i].name) == 0 && forbid(CALLS[i].number) != 0) {
                perror("forbid");
                return 125;
            }
        }
    }
    if (at + 1 >= argc)
        return 125;
    execv(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 127;
}
