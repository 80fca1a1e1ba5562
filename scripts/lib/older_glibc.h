/* older_glibc.h - declarations that headers of glibc 2.31 lack; scripts/package puts it before every source of the recorder that is
 * built for it. Values are the kernel's, the same on all machines. */
#ifndef MALLAB_SCRIPTS_LIB_OLDER_GLIBC_H
#define MALLAB_SCRIPTS_LIB_OLDER_GLIBC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
struct __ptrace_rseq_configuration {
    uint64_t rseq_abi_pointer;
    uint32_t rseq_abi_size, signature, flags, pad;
};

/* The recorder compiles replay/ for its description of the machine; nothing of the recorder calls this. */
struct mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct mallinfo2 mallinfo2(void);

#endif
