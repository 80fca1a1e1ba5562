/* late_call.c - ptrace(2): stop, look, lay the frame, let go.
 *
 * Laws of this file: a thread that was stopped goes on, on every way out. Registers are set once, when the frame stands. */
#include "record/attach/late_call.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/clock.h"
#include "footprint/base/support.h"
#include "record/attach/late_stack.h"
#include "record/attach/late_wait.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <elf.h>

#define STOP_MOST_NS  UINT64_C(1000000000) /* for a thread to stop: some system calls cannot be interrupted */
#define ROUND_REST_NS 5000000
#define THREADS_MOST  8192u
#define XSTATE_MOST   16384u
#define RED_ZONE      128u
#define TRACE_BITS    0x10500u /* RF, DF, TF: of the flags */
#define TILES         0x60000u /* of XCR0: the kernel has their room only for who asked for it */

/* ---- what the kernel lays down for a handler (its struct rt_sigframe) ---------------- */

struct kernel_context {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct kernel_frame {
    uint64_t returns;
    uint64_t flags, link;
    struct {
        uint64_t sp;
        uint32_t flags, unused;
        uint64_t size;
    } stack;
    struct kernel_context context;
    uint64_t mask;
    unsigned char info[128];
};

_Static_assert(sizeof(struct kernel_context) == 256 && sizeof(struct kernel_frame) == 440, "as the kernel's");

enum {
    HAS_XSTATE = 1,
    HAS_SS = 2,
    STRICT_SS = 4,
    NO_STACK = 0x5a
}; /* of uc_flags; the last: no valid flags of a stack */

#define XSTATE_WORDS_AT 464u /* of the XSAVE area: what the kernel says of it */
#define XSTATE_BV_AT    512u
#define XSTATE_FIRST    UINT32_C(0x46505853)
#define XSTATE_LAST     UINT32_C(0x46505845)

struct xstate_words {
    uint32_t first, extended_size;
    uint64_t features;
    uint32_t size, unused[7];
};

/* The bytes of the standard format with these features. */
static uint32_t xstate_bytes(uint64_t features)
{
    uint32_t bytes = 576;
    for (unsigned bit = 2; bit < 63; bit++) {
        uint32_t size, offset, c, d;
        if (!(features >> bit & 1) || !__get_cpuid_count(0xd, bit, &size, &offset, &c, &d))
            continue;
        bytes = offset + size > bytes ? offset + size : bytes;
    }
    return bytes;
}

/* ---- one thread -------------------------------------------------------------------------------- */

static void rest(long ns)
{
    const struct timespec time = {0, ns};
    (void)nanosleep(&time, NULL); /* shorter is no harm */
}

struct thread {
    pid_t id;
    bool seized, stopped;
    bool known; /* its registers */
    int signal; /* that was on its way to it; 0: none */
    struct user_regs_struct registers;
};

static bool seize(struct thread *thread)
{
    thread->seized = ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) == 0;
    return thread->seized && ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL) == 0;
}

enum stop { STOP_DONE, STOP_GONE, STOP_BY_SIGNAL, STOP_LATE };

static bool get_registers(struct thread *thread)
{
    thread->known = ptrace(PTRACE_GETREGS, thread->id, NULL, &thread->registers) == 0;
    return thread->known;
}

/* Wait until our own stop is there; a signal that comes first is given to it. */
static enum stop wait_stop(struct thread *thread)
{
    const uint64_t begin = fp_now_ns();
    for (unsigned looks = 0;; looks++) {
        int status;
        const pid_t got = waitpid(thread->id, &status, __WALL | WNOHANG);
        if (got < 0 && errno != EINTR) {
            thread->seized = false;
            return STOP_GONE;
        }
        if (got == thread->id) {
            if (!WIFSTOPPED(status)) {
                thread->seized = false;
                return STOP_GONE;
            }
            const int event = status >> 16, number = WSTOPSIG(status);
            thread->stopped = true;
            if (event == PTRACE_EVENT_STOP && number == SIGTRAP)
                return get_registers(thread) ? STOP_DONE : STOP_GONE;
            if (event == PTRACE_EVENT_STOP)
                return STOP_BY_SIGNAL; /* of the whole process, by SIGSTOP and its like */
            (void)ptrace(PTRACE_CONT, thread->id, NULL, (void *)(intptr_t)(event == 0 ? number : 0));
            thread->stopped = false;
            continue;
        }
        if (fp_now_ns() - begin > STOP_MOST_NS)
            return STOP_LATE;
        rest(looks < 50 ? 10000 : 200000);
    }
}

/* One that has not stopped yet will do so, and would stay stopped: that is waited for, however long it takes. */
static void let_go(struct thread *thread)
{
    while (thread->seized && !thread->stopped && wait_stop(thread) == STOP_LATE)
        ;
    if (thread->seized && thread->stopped)
        (void)ptrace(PTRACE_DETACH, thread->id, NULL, (void *)(intptr_t)thread->signal);
    thread->seized = thread->stopped = false;
}

/* Between the begin and the end of a restartable sequence (rseq(2)) nothing may come. */
static bool is_in_sequence(const struct late_process *process, pid_t thread)
{
    enum { CS_AT = 8 };
    struct __ptrace_rseq_configuration rseq = {0};
    uint64_t sequence = 0;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread, (void *)sizeof rseq, &rseq) <= 0 ||
        rseq.rseq_abi_pointer == 0)
        return false;
    return !late_process_read(process, rseq.rseq_abi_pointer + CS_AT, &sequence, sizeof sequence) ||
           sequence != 0;
}

/* ---- the frame ------------------------------------------------------------------------------------ */

static void fill_context(struct kernel_context *to, const struct user_regs_struct *from, uint64_t fpstate)
{
    *to = (struct kernel_context){.r8 = from->r8,
                                  .r9 = from->r9,
                                  .r10 = from->r10,
                                  .r11 = from->r11,
                                  .r12 = from->r12,
                                  .r13 = from->r13,
                                  .r14 = from->r14,
                                  .r15 = from->r15,
                                  .rdi = from->rdi,
                                  .rsi = from->rsi,
                                  .rbp = from->rbp,
                                  .rbx = from->rbx,
                                  .rdx = from->rdx,
                                  .rax = from->rax,
                                  .rcx = from->rcx,
                                  .rsp = from->rsp,
                                  .rip = from->rip,
                                  .eflags = from->eflags,
                                  .cs = (uint16_t)from->cs,
                                  .ss = (uint16_t)from->ss,
                                  .fpstate = fpstate};
}

/* The state of SSE, AVX and what else there is, with the words that sigreturn(2) looks for. Returns its size; 0: it cannot be
 * kept. */
static uint32_t take_xstate(pid_t thread, unsigned char *ret, size_t room)
{
    struct iovec state = {ret, room - 64}; /* in whole words; behind it stands one of ours */
    uint64_t features, used;
    const uint32_t last = XSTATE_LAST;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &state) != 0 || state.iov_len < 576)
        return 0;
    memcpy(&features, ret + XSTATE_WORDS_AT, sizeof features);
    memcpy(&used, ret + XSTATE_BV_AT, sizeof used);
    features &= ~(uint64_t)TILES;
    const uint32_t size = xstate_bytes(features);
    if ((used & ~features) != 0 || (features & 3) != 3 || size > state.iov_len)
        return 0;
    const struct xstate_words words = {.first = XSTATE_FIRST,
                                       .extended_size = size + (uint32_t)sizeof last,
                                       .features = features,
                                       .size = size};
    memcpy(ret + XSTATE_WORDS_AT, &words, sizeof words);
    memcpy(ret + size, &last, sizeof last);
    return size + (uint32_t)sizeof last;
}

/* Lay the frame and the text below what the thread may use. ret_sp: where the function finds its return address. */
static bool lay_frame(const struct late_process *process, const struct thread *thread,
                      const struct late_call *call, uint64_t restorer, uint64_t *ret_sp, uint64_t *ret_text)
{
    _Alignas(64) unsigned char state[XSTATE_MOST];
    char text[LATE_TEXT_MOST] = "";
    struct kernel_frame frame = {.returns = restorer, .flags = HAS_XSTATE | HAS_SS | STRICT_SS};
    struct user_regs_struct registers = thread->registers;
    const uint32_t size = take_xstate(thread->id, state, sizeof state);
    if (size == 0 || ptrace(PTRACE_GETSIGMASK, thread->id, (void *)sizeof frame.mask, &frame.mask) != 0)
        return false;
    frame.stack.flags = NO_STACK; /* it keeps the one that it has for handlers */
    (void)late_wait_renew(process, thread->id, &registers);
    snprintf(text, sizeof text, "%s", call->text);
    const uint64_t text_at = (registers.rsp - RED_ZONE - sizeof text) & ~UINT64_C(15);
    const uint64_t state_at = (text_at - size) & ~UINT64_C(63);
    const uint64_t frame_at = ((state_at - sizeof frame) & ~UINT64_C(15)) - 8;
    fill_context(&frame.context, &registers, state_at);
    *ret_sp = frame_at;
    *ret_text = text_at;
    return late_process_write(process, text_at, text, sizeof text) &&
           late_process_write(process, state_at, state, size) &&
           late_process_write(process, frame_at, &frame, sizeof frame);
}

/* From the last line on the thread makes the call, whatever becomes of us. */
static bool begin_call(const struct late_process *process, struct thread *thread,
                       const struct late_call *call, uint64_t restorer)
{
    uint64_t sp, text;
    const uint64_t all = ~UINT64_C(0);
    if (late_wait_is_lost(process, &thread->registers) || is_in_sequence(process, thread->id) ||
        !lay_frame(process, thread, call, restorer, &sp, &text))
        return false;
    struct user_regs_struct registers = thread->registers;
    registers.rip = call->function;
    registers.rdi = text;
    registers.rsi = call->number;
    registers.rsp = sp;
    registers.rax = 0;
    registers.orig_rax = (unsigned long)-1;
    registers.eflags &= ~(unsigned long)TRACE_BITS;
    if (ptrace(PTRACE_SETREGS, thread->id, NULL, &registers) != 0)
        return false;
    (void)ptrace(PTRACE_SETSIGMASK, thread->id, (void *)sizeof all,
                 &all); /* else handlers may run in the call */
    return true;
}

uint64_t late_call_restorer(const struct late_process *process)
{
    static const unsigned char CODE[] = {0x48, 0xc7, 0xc0, 15,  0,
                                         0,    0,    0x0f, 0x05}; /* mov $15, %rax; syscall */
    const struct late_module *libc = late_module_of_kind(process, LATE_LIBC);
    return libc != NULL ? late_code_bytes(process, libc, CODE, sizeof CODE) : 0;
}

/* ---- threads --------------------------------------------------------------------------------------- */

/* How good the prospects are, from /proc, before a thread is stopped for a look. */
enum prospect { GOOD, FAIR, BAD };

static enum prospect prospect_of(const struct late_process *process, pid_t thread)
{
    char path[64], text[256];
    struct user_regs_struct registers = {0};
    unsigned long long words[8];
    unsigned frames;
    long number;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)process->pid, (int)thread);
    FILE *file = fopen(path, "re");
    const bool got = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (!got || sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &words[0], &words[1],
                       &words[2], &words[3], &words[4], &words[5], &words[6], &words[7]) != 9)
        return FAIR; /* it runs */
    registers.orig_rax = (unsigned long)number;
    registers.rip = words[7];
    registers.rsi = words[1];
    registers.r10 = words[3];
    registers.r8 = words[4];
    registers.r9 = words[5];
    return late_wait_may_call(process, &registers, &frames) ? GOOD : BAD;
}

static size_t list_threads(const struct late_process *process, pid_t *ret, size_t most)
{
    char path[64];
    size_t count = 0;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && count < most && (entry = readdir(tasks)) != NULL) {
        const pid_t id = (pid_t)atoi(entry->d_name);
        if (id > 0)
            ret[count++] = id;
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

struct attempt {
    struct late_process *process;
    const struct late_call *call;
    uint64_t restorer;
    struct late_cost *cost;
    enum late_place place; /* of the last thread */
    bool refused;          /* by the kernel, with this errno */
    bool is_stopped;       /* all of it, by a signal */
    int error;
};

/* It may have executed another program, or mapped other things, since we looked; from here on it does neither, or the
 * thread is gone. */
static bool is_still_so(struct attempt *attempt, const struct thread *thread)
{
    struct late_process *process = attempt->process;
    if (late_process_ended(process) || !late_process_refresh(process))
        return false;
    const struct late_mapping *function = late_mapping_of(process, attempt->call->function);
    const struct late_mapping *restorer = late_mapping_of(process, attempt->restorer);
    const enum late_kind kind = function != NULL && function->executable && function->module >= 0
                                    ? process->modules[function->module].kind
                                    : LATE_NEVER;
    return (kind == LATE_LIBC || kind == LATE_RECORDER) && restorer != NULL && restorer->executable &&
           late_stack_place(process, &thread->registers) == LATE_PLACE_SAFE;
}

/* Returns whether the thread makes the call. */
static bool try_thread(struct attempt *attempt, pid_t id)
{
    struct thread thread = {.id = id};
    const uint64_t begin = fp_now_ns();
    bool called = false;
    if (!seize(&thread)) {
        attempt->refused = errno != ESRCH;
        attempt->error = errno;
        return false;
    }
    const enum stop stop = wait_stop(&thread);
    attempt->is_stopped = stop == STOP_BY_SIGNAL;
    if (stop == STOP_DONE) {
        attempt->place = late_stack_place(attempt->process, &thread.registers);
        called = attempt->place == LATE_PLACE_SAFE && is_still_so(attempt, &thread) &&
                 begin_call(attempt->process, &thread, attempt->call, attempt->restorer);
        if (!called)
            late_wait_mend(attempt->process, thread.id, &thread.registers);
    }
    let_go(&thread);
    const uint64_t ns = fp_now_ns() - begin;
    attempt->cost->looks++;
    if (called || ns > attempt->cost->stopped_ns)
        attempt->cost->stopped_ns = ns;
    return called;
}

static bool try_all(struct attempt *attempt, unsigned round)
{
    static pid_t threads[THREADS_MOST];
    const size_t count = list_threads(attempt->process, threads, THREADS_MOST);
    for (enum prospect wanted = GOOD; wanted <= FAIR; wanted++) {
        unsigned looks = 0;
        for (size_t i = 0; i < count && looks < 16; i++) {
            const pid_t id = threads[(i + round) % count];
            if (prospect_of(attempt->process, id) != wanted)
                continue;
            looks++;
            if (try_thread(attempt, id))
                return true;
            if (attempt->refused || attempt->is_stopped)
                return false;
        }
    }
    return false;
}

static char *why_not(const struct attempt *attempt, uint64_t within_ns)
{
    char time[32];
    const int pid = (int)attempt->process->pid;
    if (late_process_ended(attempt->process))
        return res_printf("process %d has ended", pid);
    if (attempt->refused)
        return res_printf(
            "process %d may not be traced: %s%s", pid, strerror(attempt->error),
            attempt->error == EPERM
                ? " (kernel.yama.ptrace_scope, a container without SYS_PTRACE, or another tracer)"
                : "");
    if (attempt->is_stopped)
        return res_printf("process %d is stopped (SIGSTOP): let it go on first", pid);
    res_text_duration((double)within_ns, time);
    if (attempt->cost->looks == 0)
        return res_printf(
            "nothing could be called in process %d for %s: its threads all waited for locks, or in system "
            "calls that are not begun anew",
            pid, time);
    return res_printf("nothing could be called in process %d for %s: the threads that were looked at %s", pid,
                      time, late_place_words(attempt->place));
}

bool late_call_safely(struct late_process *process, const struct late_call *call, uint64_t within_ns,
                      struct late_cost *ret_cost, char **ret_problem)
{
    const uint64_t begin = fp_now_ns();
    struct attempt attempt = {
        .process = process, .call = call, .cost = ret_cost, .restorer = late_call_restorer(process)};
    *ret_cost = (struct late_cost){0};
    *ret_problem = NULL;
    if (attempt.restorer == 0) {
        *ret_problem = res_strdup("the C library's return from signals was not found");
        return false;
    }
    for (unsigned round = 0;; round++) {
        if (late_process_ended(process) || !late_process_refresh(process))
            break;
        attempt.is_stopped = late_process_is_stopped(process);
        if (!attempt.is_stopped && try_all(&attempt, round))
            return true;
        if (attempt.refused || attempt.is_stopped || fp_now_ns() - begin > within_ns)
            break;
        rest(ROUND_REST_NS);
    }
    *ret_problem = why_not(&attempt, within_ns);
    return false;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

struct all {
    struct thread *threads;
    size_t count;
};

static struct thread *find(struct all *all, pid_t id)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->threads[i].id == id)
            return &all->threads[i];
    return NULL;
}

/* Until no thread is there that was not stopped: one that runs may make others. */
static bool stop_all(const struct late_process *process, struct all *all)
{
    static pid_t ids[THREADS_MOST];
    for (bool more = true; more;) {
        const size_t count = list_threads(process, ids, THREADS_MOST), before = all->count;
        more = false;
        if (count == THREADS_MOST)
            return false;
        for (size_t i = 0; i < count && all->count < THREADS_MOST; i++) {
            if (find(all, ids[i]) != NULL)
                continue;
            struct thread *thread = &all->threads[all->count];
            *thread = (struct thread){.id = ids[i]};
            if (!seize(thread)) {
                if (errno != ESRCH)
                    return false;
                continue;
            }
            all->count++;
            more = true;
        }
        for (size_t i = before; i < all->count; i++) {
            const enum stop stop = wait_stop(&all->threads[i]);
            if (stop == STOP_BY_SIGNAL || stop == STOP_LATE || (stop == STOP_GONE && all->threads[i].seized))
                return false;
        }
    }
    return true;
}

/* First those that stand still. */
static void let_all_go(const struct late_process *process, struct all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!all->threads[i].stopped)
            continue;
        if (all->threads[i].known)
            late_wait_mend(process, all->threads[i].id, &all->threads[i].registers);
        let_go(&all->threads[i]);
    }
    for (size_t i = 0; i < all->count; i++)
        let_go(&all->threads[i]);
    all->count = 0;
}

/* One whose call begins anew without loss, if there is one: in a sleep it would sleep longer. */
static struct thread *choose(const struct late_process *process, struct all *all)
{
    struct thread *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct thread *thread = &all->threads[i];
        if (!thread->stopped || late_wait_is_lost(process, &thread->registers))
            continue;
        const bool sleeps = (long)thread->registers.orig_rax >= 0 && (long)thread->registers.rax == -516;
        if (best == NULL || !sleeps)
            best = thread;
        if (!sleeps)
            break;
    }
    return best;
}

static bool are_clean(struct late_process *process, const struct all *all, uint64_t restorer)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->threads[i].stopped && !late_stack_is_clean(process, &all->threads[i].registers, restorer))
            return false;
    return true;
}

/* Returns whether the call was made to its end. */
static bool call_one(const struct late_process *process, struct all *all, const struct late_call *call,
                     uint64_t restorer, bool (*is_done)(void *data), void *data)
{
    struct thread *thread = choose(process, all);
    const uint64_t begin = fp_now_ns();
    if (thread == NULL || !begin_call(process, thread, call, restorer))
        return false;
    let_go(thread);
    while (!is_done(data)) {
        if (fp_now_ns() - begin > STOP_MOST_NS)
            return false; /* the others go on, and then so does it */
        rest(20000);
    }
    return true;
}

/* One after the other, so that all are stopped at once seldom more than one time: those that are found outside of our library
 * are not looked at again, as nobody enters it by a slot any more. */
static bool glance_at_all(struct late_process *process, struct all *seen, uint64_t restorer,
                          struct late_cost *cost)
{
    static pid_t ids[THREADS_MOST];
    const size_t count = list_threads(process, ids, THREADS_MOST);
    bool clean = count > 0 && count < THREADS_MOST;
    for (size_t i = 0; i < count && seen->count < THREADS_MOST; i++) {
        struct thread thread = {.id = ids[i]};
        if (find(seen, ids[i]) != NULL)
            continue;
        const uint64_t begin = fp_now_ns();
        if (!seize(&thread))
            continue; /* it has ended, or is another tracer's: that is seen below */
        const enum stop stop = wait_stop(&thread);
        const bool is_clean = stop == STOP_DONE && late_stack_is_clean(process, &thread.registers, restorer);
        if (thread.stopped && stop == STOP_DONE)
            late_wait_mend(process, thread.id, &thread.registers);
        let_go(&thread);
        cost->stopped_ns = fp_now_ns() - begin > cost->stopped_ns ? fp_now_ns() - begin : cost->stopped_ns;
        if (is_clean)
            seen->threads[seen->count++] = thread;
        clean = clean && is_clean;
    }
    return clean;
}

bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem)
{
    const uint64_t begin = fp_now_ns(), restorer = late_call_restorer(process);
    struct all all = {.threads = res_calloc(THREADS_MOST, sizeof *all.threads)};
    struct all seen = {.threads = res_calloc(THREADS_MOST, sizeof *seen.threads)};
    bool done = false;
    *ret_cost = (struct late_cost){0};
    *ret_problem = NULL;
    do {
        if (late_process_ended(process) || !late_process_refresh(process))
            break;
        if (!glance_at_all(process, &seen, restorer, ret_cost)) {
            rest(ROUND_REST_NS);
            continue;
        }
        const uint64_t stopped_at = fp_now_ns();
        if (stop_all(process, &all) && late_process_refresh(process) && are_clean(process, &all, restorer))
            done = call_one(process, &all, call, restorer, is_done, data);
        let_all_go(process, &all);
        const uint64_t ns = fp_now_ns() - stopped_at;
        ret_cost->stopped_ns = ns > ret_cost->stopped_ns ? ns : ret_cost->stopped_ns;
        ret_cost->looks++;
        if (!done)
            rest(ROUND_REST_NS);
    } while (!done && fp_now_ns() - begin < within_ns);
    free(all.threads);
    free(seen.threads);
    if (!done)
        *ret_problem = res_printf(
            late_process_ended(process)
                ? "process %d has ended"
                : "threads of process %d stayed within the recorder, or could not be stopped",
            (int)process->pid);
    return done;
}

#else

uint64_t late_call_restorer(const struct late_process *process)
{
    return 0;
}

bool late_call_safely(struct late_process *process, const struct late_call *call, uint64_t within_ns,
                      struct late_cost *ret_cost, char **ret_problem)
{
    *ret_problem = res_strdup("calls into running programs are made on x86-64 only");
    return false;
}

bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem)
{
    *ret_problem = res_strdup("calls into running programs are made on x86-64 only");
    return false;
}

#endif
