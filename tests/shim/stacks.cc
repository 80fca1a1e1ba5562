// stacks.cc - a program that does to its stacks what stack walkers fear. Each part by its name, or all of them: coroutines whose
// stacks are unmapped, stacks made by hand and mapped again smaller, a signal stack, jumps, exceptions, forks of threads, libraries that come and go, recursion, many threads.
// It prints "done" and nothing else.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdexcept>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES 65536

static void *volatile sink;

static __attribute__((noinline)) void allocate(size_t size)
{
    void *volatile own = malloc(size); // no other thread's
    free(own);
}

static __attribute__((noinline)) void descend(int depth, void (*at_the_end)(void))
{
    volatile char ballast[40];
    ballast[0] = (char)depth;
    if (depth > 0)
        descend(depth - 1, at_the_end);
    else
        at_the_end();
    ballast[1] = ballast[0];
}

static void allocate_some(void)
{
    for (int i = 0; i < 5; i++)
        allocate(100 + (size_t)i);
}

// ---- coroutines -----------------------------------------------------------------------------------

static ucontext_t outside, inside;

static void coroutine(void)
{
    descend(7, allocate_some);
    swapcontext(&inside, &outside);
    descend(3, allocate_some);
}

static void coroutines(void)
{
    for (volatile int i = 0; i < 50; i = i + 1) {
        void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = STACK_BYTES;
        inside.uc_link = &outside;
        makecontext(&inside, coroutine, 0);
        swapcontext(&outside, &inside);
        descend(5, allocate_some);
        if (i % 3 != 0)
            swapcontext(&outside, &inside);
        munmap(stack, STACK_BYTES); // a third of them in the midst of it
        descend(4, allocate_some);
    }
}

// ---- stacks that grow, shrink, and end in nothing ------------------------------------------------------

#define PAGE 4096u

// On a stack of its own, between pages that cannot be read; what it returns to is `end`, or what makecontext has there.
static void run_between(char *low, size_t bytes, void (*what)(void), const uint64_t *end)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = low;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, what, 0);
#ifdef __x86_64__
    if (end != NULL)
        *(uint64_t *)(uintptr_t)inside.uc_mcontext.gregs[REG_RSP] = *end;
#else
    (void)end;
#endif
    swapcontext(&outside, &inside);
}

// Its unwind table says that its frame reaches far beyond the stack.
static __attribute__((noinline)) void lie(void)
{
#ifdef __x86_64__
    __asm__ volatile(".cfi_remember_state\n\t.cfi_adjust_cfa_offset 36864");
#endif
    allocate_some();
#ifdef __x86_64__
    __asm__ volatile(".cfi_restore_state");
#endif
}

static void deep_coroutine(void)
{
    descend(150, allocate_some); // over pages
    descend(20, lie);
    swapcontext(&inside, &outside);
}

static void shallow_coroutine(void)
{
    descend(3, allocate_some);
    swapcontext(&inside, &outside);
}

// Stacks in the place of one another: whole, smaller below a page that cannot be read or that is not there, and at the very end of
// what can be read; with nothing or anything to return to.
static void handmade(void)
{
    static const uint64_t NOTHING = 0, ANYTHING = 0x123456789, IN_CODE = (uint64_t)(uintptr_t)allocate_some,
                          BETWEEN = (uint64_t)(uintptr_t)allocate_some + 5;
    static const uint64_t *const ENDS[] = {NULL, &NOTHING, &ANYTHING, &IN_CODE, &BETWEEN};
    const size_t whole = 16 * PAGE;
    char *area = (char *)mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile int i = 0; i < 40; i = i + 1) {
        const uint64_t *end = ENDS[i % 5];
        mprotect(area, whole, PROT_READ | PROT_WRITE);
        run_between(area, whole, deep_coroutine, end);
        run_between(area, whole, shallow_coroutine, end);
        if (i % 2 == 0)
            mprotect(area + 8 * PAGE, 8 * PAGE, PROT_NONE);
        else
            munmap(area + 8 * PAGE, 8 * PAGE);
        run_between(area, 8 * PAGE, shallow_coroutine, end);
        run_between(area, 8 * PAGE, deep_coroutine, end);
        area = (char *)mmap(area, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    munmap(area, whole);
}

// ---- signals, jumps ---------------------------------------------------------------------------------

static sigjmp_buf back;
static volatile int jumps;

static void on_signal(int)
{
    descend(3, allocate_some);
    if (jumps)
        siglongjmp(back, 1);
}

static void raise_deep(void)
{
    raise(SIGUSR1);
}

static void interrupted_coroutine(void)
{
    descend(5, raise_deep);
}

static void signals(void)
{
    struct sigaction action = {};
    stack_t other = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 20; i++)
        descend(i, raise_deep);
    action.sa_flags = SA_ONSTACK;
    other.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other.ss_size = STACK_BYTES;
    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 20; i++)
        descend(i, raise_deep);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_between((char *)stack, STACK_BYTES, interrupted_coroutine, NULL);
    munmap(stack, STACK_BYTES);
    jumps = 1;
    for (volatile int i = 0; i < 20; i = i + 1) {
        if (sigsetjmp(back, 1) == 0)
            descend(20, raise_deep);
        allocate_some();
    }
    jumps = 0;
    other.ss_flags = SS_DISABLE;
    sigaltstack(&other, NULL);
    munmap(other.ss_sp, STACK_BYTES);
    allocate_some();
}

// ---- exceptions -----------------------------------------------------------------------------------------

static void throw_it(void)
{
    delete[] new int[3];
    throw std::runtime_error("from far below");
}

static void exceptions(void)
{
    for (int i = 0; i < 50; i++) {
        try {
            descend(i, throw_it);
        } catch (const std::exception &) {
            allocate_some();
        }
    }
}

// ---- recursion, frames whose size changes ------------------------------------------------------------------

static __attribute__((noinline)) void change(size_t size)
{
    char *room = (char *)__builtin_alloca(size * 16);
    memset(room, (int)size, size * 16);
    allocate(size);
    alignas(64) volatile char aligned[64];
    aligned[0] = room[0];
    allocate(size + (size_t)aligned[0] % 2);
}

static void recursion(void)
{
    for (int i = 0; i < 300; i++) {
        change((size_t)(i * 7 % 50 + 1));
        descend(i % 9, allocate_some);
    }
    descend(10000, allocate_some);
    for (int i = 480; i < 540; i++)
        descend(i, allocate_some);
    allocate_some();
}

// ---- threads, forks ---------------------------------------------------------------------------------------

static void *in_thread(void *)
{
    descend(6, allocate_some);
    return NULL;
}

// It allocates, for the first time in this thread, while it holds a lock of the thread's: a recorder that asks it too waits for ever.
static void *asking_thread(void *)
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        abort();
    pthread_attr_destroy(&attributes);
    descend(6, allocate_some);
    return NULL;
}

static void *forking_thread(void *)
{
    descend(6, allocate_some);
    const pid_t child = fork();
    if (child == 0) {
        descend(8, allocate_some);
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
            pthread_join(thread, NULL);
        _exit(0);
    }
    descend(4, allocate_some);
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
    return NULL;
}

static void run_threads(void *(*what)(void *), int count, int rounds, void *stack)
{
    pthread_t threads[64];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
            if (stack != NULL)
                pthread_attr_setstack(&attributes, (char *)stack + i * 4 * STACK_BYTES, 4 * STACK_BYTES);
            if (pthread_create(&threads[i], &attributes, what, NULL) != 0)
                abort();
        }
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
    }
}

static void threads(void)
{
    const size_t bytes = 8 * 4 * STACK_BYTES;
    void *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_threads(in_thread, 64, getenv("MALLAB_TEST_LONG") != NULL ? 160 : 32, NULL); // 2,000, or more than 10,000
    run_threads(in_thread, 8, 5, stacks);  // on stacks of ours, which end then
    munmap(stacks, bytes);
    run_threads(asking_thread, 4, 2, NULL);
    run_threads(forking_thread, 10, 2, NULL);
}

// ---- libraries ----------------------------------------------------------------------------------------------

static void libraries(void)
{
    static const char *const NAMES[] = {"libxxhash.so.0", "libz.so.1", "libzstd.so.1", "liblzma.so.5"};
    for (int i = 0; i < 60; i++) {
        void *library = dlopen(NAMES[i % 4], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        void *(*create)(void);
        *(void **)&create = dlsym(library, i % 4 == 2 ? "ZSTD_createDCtx" : "XXH64_createState");
        if (create != NULL)
            sink = create();
        descend(i % 5, allocate_some);
        dlclose(library);
    }
}

static const struct part {
    const char *name;
    void (*run)(void);
} PARTS[] = {{"coroutines", coroutines}, {"handmade", handmade},   {"signals", signals},
             {"exceptions", exceptions}, {"recursion", recursion}, {"threads", threads},
             {"libraries", libraries}};

int main(int argc, char **argv)
{
    for (const struct part &part : PARTS)
        if (argc < 2 || strcmp(argv[1], part.name) == 0)
            part.run();
    puts("done");
    return 0;
}
