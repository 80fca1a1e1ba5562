/* jitted.c - allocates from code that it writes into memory, as a JIT does, tells of it in /tmp/perf-PID.map, and of that in its
 * output. With an argument the code keeps no frame pointer, as the trampolines of CPython's -X perf. Exits with 77 where it does not know the machine's code. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void *allocates(void)
{
    void *object = malloc(1234);
    asm volatile("");
    return object;
}

int main(int count, char **words)
{
    (void)words;
#ifdef __x86_64__
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    /* sub rsp, 8; call rdi; add rsp, 8; ret */
    static const unsigned char bare[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    const unsigned char *code = count > 1 ? bare : framed;
    const size_t bytes = count > 1 ? sizeof bare : sizeof framed;
    char path[64];
    unsigned char *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return 1;
    memcpy(place + 256, code, bytes);
    if (mprotect(place, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 ||
        dprintf(fd, "%lx %zx LazyCompile:hot script.js:7\n", (unsigned long)(place + 256), bytes) < 0)
        return 1;
    close(fd);
    void *(*run)(void *(*)(void)) = (void *(*)(void *(*)(void)))(void *)(place + 256);
    for (int i = 0; i < 100; i++)
        kept = run(allocates);
    puts(path);
    return 0;
#else
    (void)count;
    return 77;
#endif
}
