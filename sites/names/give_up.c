/* give_up.c - see give_up.h. */
#include "sites/names/give_up.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534u

#if defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined __riscv
#define MACHINE AUDIT_ARCH_RISCV64
#else
#define MACHINE 0 /* no filter then */
#endif

/* What libdw, zlib and the C library need to open and read files, and to write to a pipe. */
static const uint32_t CALLS[] = {
    SYS_openat,    SYS_mmap,          SYS_mprotect,  SYS_munmap,       SYS_mremap, SYS_madvise,
    SYS_brk,       SYS_read,          SYS_pread64,   SYS_write,        SYS_writev, SYS_lseek,
    SYS_fstat,     SYS_newfstatat,    SYS_close,     SYS_geteuid,      SYS_futex,  SYS_sysinfo,
    SYS_getrandom, SYS_clock_gettime, SYS_setitimer, SYS_rt_sigreturn, SYS_exit,   SYS_exit_group};

/* Bits that the third argument may not have: files are opened to be read, and no memory is for code. */
static uint32_t bits_refused(uint32_t call)
{
    return call == SYS_openat                         ? O_ACCMODE | O_CREAT | O_TRUNC
           : call == SYS_mmap || call == SYS_mprotect ? PROT_EXEC
                                                      : 0;
}

#define CALL_COUNT (sizeof CALLS / sizeof CALLS[0])
#define CALL_LINES 5

/* Whatever is not in the list fails with EPERM, which libraries know. Returns false where the kernel has no such filters. */
static bool filter_calls(void)
{
    const uint32_t no = SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter lines[5 + CALL_COUNT * CALL_LINES], *line = lines;
    *line++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    *line++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    *line++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, no);
    *line++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALL_COUNT; i++, line += CALL_LINES)
        memcpy(line,
               (struct sock_filter[CALL_LINES]){
                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i], 0, CALL_LINES - 1),
                   BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                            offsetof(struct seccomp_data, args[2])), /* the lower half */
                   BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits_refused(CALLS[i]), 1, 0),
                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, no)},
               CALL_LINES * sizeof *line);
    *line = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, no);
    const struct sock_fprog program = {sizeof lines / sizeof lines[0], lines};
    return MACHINE != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Root may lack the right to read all, as in containers: then it keeps none. */
static bool keep_rights(uint32_t rights)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct kept[2] = {{.permitted = rights, .effective = rights}};
    return syscall(SYS_capset, &head, kept) == 0 || (rights != 0 && keep_rights(0));
}

static bool give_up_user(uid_t owner)
{
    const uid_t user = owner != 0 ? owner : NOBODY;
    return prctl(PR_SET_KEEPCAPS, 1UL, 0, 0, 0) == 0 && setgroups(0, NULL) == 0 &&
           setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(user, user, user) == 0 &&
           keep_rights(owner == 0 ? 1u << CAP_DAC_READ_SEARCH : 0) && setuid(0) != 0;
}

bool names_give_up(uid_t owner, bool may_fetch)
{
    if (SANITIZED) /* such builds open and call what they like, at the end, too */
        return true;
    const bool as_asked = geteuid() != 0 || (may_fetch && owner == 0),
               gave = !as_asked && give_up_user(owner);
    return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0UL, 0, 0, 0) == 0 &&
           ((!may_fetch && filter_calls()) || gave || as_asked);
}
