/* jitted.c - allocates from code that it writes into memory, as a JIT does, tells of it in /tmp/perf-PID.map, and of that in its
 * output. With the argument `bare` the code keeps no frame pointer, as the trampolines of CPython's -X perf; with `strange` neither,
 * and its frame is one that nobody knows. A name may follow. Exits with 77 where it does not know the machine's code. */
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

/* Has a frame pointer, which is not that of the code it calls. */
__attribute__((noinline)) static void *calls(void *(*run)(void *(*)(void)))
{
    void *volatile own = __builtin_frame_address(0);
    void *object = run(allocates);
    (void)own;
    return object;
}

int main(int count, char **words)
{
#ifdef __x86_64__
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    /* endbr64; sub rsp, 8; call rdi; add rsp, 8; ret */
    static const unsigned char bare[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08,
                                         0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    /* sub rsp, 24; call rdi; nop; add rsp, 24; ret */
    static const unsigned char strange[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
                                            0x90, 0x48, 0x83, 0xc4, 0x18, 0xc3};
    const char *kind = count > 1 ? words[1] : "",
               *name = count > 2 ? words[2] : "LazyCompile:hot script.js:7";
    const unsigned char *code = strcmp(kind, "bare") == 0      ? bare
                                : strcmp(kind, "strange") == 0 ? strange
                                                               : framed;
    const size_t bytes = code == bare ? sizeof bare : code == strange ? sizeof strange : sizeof framed;
    char path[64];
    unsigned char *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return 1;
    memcpy(place + 256, code, bytes);
    if (mprotect(place, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || dprintf(fd, "%lx %zx %s\n", (unsigned long)(place + 256), bytes, name) < 0)
        return 1;
    close(fd);
    void *(*run)(void *(*)(void)) = (void *(*)(void *(*)(void)))(void *)(place + 256);
    for (int i = 0; i < 100; i++)
        kept = calls(run);
    puts(path);
    return 0;
#else
    (void)count;
    (void)words;
    return 77;
#endif
}
