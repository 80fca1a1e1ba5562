/* ending.c - the last words. */
#include "replay/outcome/ending.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/words.h"
#include "footprint/wl/workload.h"
#include "replay/base/objects.h"
#include "replay/base/own_process.h"
#include "replay/exec/idle.h"
#include "replay/system/run_limit.h"

#define EXIT_RUN_FAILED 1
#define ENOUGH_KB                                                                                            \
    262144u /* available beyond what was asked for; with less an arena may
                                 * not fit */

static const char *program = "mallab-replay", *workload = "";
static bool as_json;
static uint64_t limit_bytes;
static bool limit_refuses;
static _Atomic uint64_t ops_done;

void rep_complain(const char *format, ...)
{
    char words[PATH_MAX * 2],
        text[PATH_MAX * 2 + 256]; /* of stacks of threads: not room for all that plain may take */
    va_list arguments;
    va_start(arguments, format);
    const int length = snprintf(words, sizeof words, "%s: ", program);
    vsnprintf(words + length, sizeof words - (size_t)length, format, arguments);
    va_end(arguments);
    size_t plain = fp_text_plain(words, text, sizeof text - 1);
    text[plain++] = '\n';
    (void)!write(STDERR_FILENO, text, plain); /* there is nowhere else to say so */
}

void rep_ending_limit(uint64_t bytes, bool refuses)
{
    limit_bytes = bytes;
    limit_refuses = refuses;
}

void rep_ending_progress(uint64_t ops)
{
    atomic_store_explicit(&ops_done, ops, memory_order_relaxed);
}

/* ---- one failure ----------------------------------------------------------------------------- */

struct ending {
    const char *cause; /* "null", "limit", "crash", "check", "timeout", "thread" */
    bool has_op;
    uint64_t op, op_last;
    uint32_t thread;
    const char *call; /* NULL: not known */
    bool in_rest;     /* then call and size are of the harness' own, number rest_call */
    uint64_t rest_call;
    uint64_t size_bytes;
    bool has_live;
    uint64_t live_bytes, live_objects;
    int signal_number; /* 0: none */
};

/* words are ours or digits: nothing in them that JSON would have escaped but a quote, which is avoided. */
static void tell_program(const struct ending *ending, const char *words)
{
    char text[1024];
    size_t length = 0;
#define PUT(...) length += (size_t)snprintf(text + length, sizeof text - length, __VA_ARGS__)
    PUT("{\"schema\":\"mallab-run/1\",\"failed\":{\"cause\":\"%s\"", ending->cause);
    if (ending->has_op)
        PUT(",\"op\":%" PRIu64 ",\"op_last\":%" PRIu64 ",\"thread\":%" PRIu32, ending->op, ending->op_last,
            ending->thread);
    if (ending->call != NULL)
        PUT(",\"call\":\"%s\",\"size_bytes\":%" PRIu64, ending->call, ending->size_bytes);
    if (ending->in_rest)
        PUT(",\"rest_call\":%" PRIu64, ending->rest_call);
    if (ending->has_live)
        PUT(",\"live_bytes\":%" PRIu64 ",\"live_objects\":%" PRIu64, ending->live_bytes,
            ending->live_objects);
    if (limit_bytes != 0)
        PUT(",\"limit_bytes\":%" PRIu64, limit_bytes);
    if (ending->signal_number != 0)
        PUT(",\"signal\":%d", ending->signal_number);
    PUT(",\"text\":\"%s\"}}\n", words);
#undef PUT
    (void)!write(STDOUT_FILENO, text, length); /* the line on standard error stands */
}

__attribute__((noreturn)) __attribute__((format(printf, 2, 3))) static void end(const struct ending *ending,
                                                                                const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    rep_complain("%s", words);
    if (as_json)
        tell_program(ending, words);
    _exit(EXIT_RUN_FAILED); /* other threads are in the midst of calls: nothing may run at exit */
}

/* Threads may fail at the same time: the first one tells and ends the process, the others stay here. */
static void take_the_last_word(void)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static _Thread_local bool mine;
    if (mine)
        _exit(EXIT_RUN_FAILED); /* a crash in the midst of telling */
    while (atomic_flag_test_and_set(&taken))
        (void)pause();
    mine = true;
    rep_limit_lift(NULL);
}

/* Objects live before the op, in the recorded order. To keep that figure would take time in the
 * loop: so the workload is read once more, up to the op at fault. False where it cannot be, or
 * memory is short. */
static bool find_live(struct ending *ending)
{
    struct fp_error error;
    struct wl_reader *reader;
    struct wl_window window;
    struct rep_live live;
    if (wl_reader_open(workload, &error, &reader) != FP_OK)
        return false;
    if (!rep_live_init(&live, wl_reader_summary(reader)->id_max))
        return false; /* the process ends: nothing is given back */
    while (wl_reader_next(reader, &window) == FP_OK) {
        const bool here = ending->op < window.facts.first_op + window.op_count;
        rep_live_follow(&live, &window,
                        here ? (uint32_t)(ending->op - window.facts.first_op) : window.op_count);
        if (!here)
            continue;
        ending->live_bytes = live.bytes;
        ending->live_objects = live.objects;
        return true;
    }
    return false;
}

/* ", with 12 bytes in 3 objects live", or nothing where that cannot be found out. */
static const char *live_words(struct ending *ending, char *ret_words, size_t size)
{
    ret_words[0] = '\0';
    ending->has_live = find_live(ending);
    if (ending->has_live)
        snprintf(ret_words, size, ", with %s in %s objects live", FP_BYTES((double)ending->live_bytes),
                 FP_GROUPED(ending->live_objects));
    return ret_words;
}

/* Tells whether the machine can be the cause if there is no limit: not with several times what was asked for. */
static const char *memory_words(uint64_t size_bytes, char *ret_words, size_t size)
{
    const uint64_t available_kb = rep_proc_number("/proc/meminfo", "MemAvailable:", 0);
    if (limit_bytes != 0)
        snprintf(ret_words, size, "the limit is %s", FP_BYTES((double)limit_bytes));
    else if (available_kb / 4 < size_bytes / 1024 + ENOUGH_KB)
        return "does the machine have enough memory?";
    else
        snprintf(ret_words, size,
                 "the machine has %s MB available: the allocator is broken, or a limit other than "
                 "--limit stops it (ulimit -v, a container's)",
                 FP_GROUPED(available_kb / 1000));
    return ret_words;
}

/* A thread that could not be created. */
__attribute__((noreturn)) static void no_thread(const struct rep_failure *failure)
{
    const struct ending ending = {.cause = "thread", .thread = failure->thread};
    end(&ending, "cannot start thread %u: %s", failure->thread, strerror(failure->sys_errno));
}

/* Only a call with an alignment says EINVAL of it; with others a system call left it long before. */
static bool is_refused(const struct rep_failure *failure, const struct wl_op *op)
{
    return failure->sys_errno == EINVAL && fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT;
}

static void failed_in_op(const struct rep_failure *failure, const struct wl_op *op)
{
    char live[96], memory[192];
    struct ending ending = {.cause = "null", .thread = failure->thread};
    const struct fp_shape shape = {.call = op->call, .size = op->size, .extra = op->count};
    ending.has_op = true;
    ending.op = ending.op_last = failure->op;
    ending.call = fp_call_name(op->call);
    ending.size_bytes = fp_shape_bytes(&shape);
    if (failure->problem != NULL) {
        ending.cause = "check";
        end(&ending, "the allocator is broken, seen at op %s (%s by thread %u): %s", FP_GROUPED(failure->op),
            ending.call, failure->thread, failure->problem);
    }
    ending.cause = "null";
    end(&ending, "the allocator returned NULL at op %s: %s of %s byte%s%s by thread %u%s; %s",
        FP_GROUPED(failure->op), ending.call, FP_GROUPED(op->size), op->size == 1 ? "" : "s",
        op->count > 1 ? " (of one element)" : "", failure->thread, live_words(&ending, live, sizeof live),
        is_refused(failure, op) ? "it refuses this alignment or size"
                                : memory_words(ending.size_bytes, memory, sizeof memory));
}

void rep_ending_failed(void *context, const struct rep_failure *failure)
{
    take_the_last_word();
    if (failure->call != NULL)
        failed_in_op(failure, failure->call);
    no_thread(failure); /* failed_in_op does not return */
}

void rep_ending_over_limit(uint64_t early_bytes, const char *what)
{
    const struct ending ending = {.cause = "limit"};
    take_the_last_word();
    end(&ending, "%s were %s before the first op; the limit is %s", FP_BYTES((double)early_bytes), what,
        FP_BYTES((double)limit_bytes));
}

/* " in the rest after the last op, at call 7 of it, malloc of 48 bytes", or nothing. */
static const char *rest_words(struct ending *ending, char *ret_words, size_t size)
{
    struct rep_idle_call call;
    ret_words[0] = '\0';
    ending->in_rest = rep_idle_where(&call);
    if (!ending->in_rest)
        return ret_words;
    ending->rest_call = call.number;
    ending->call = call.name;
    ending->size_bytes = call.size_bytes;
    int length = snprintf(ret_words, size, " in the rest after the last op, at its call %s, %s",
                          FP_GROUPED(call.number), call.name);
    if (call.size_bytes > 0)
        snprintf(ret_words + length, size - (size_t)length, " of %s byte%s", FP_GROUPED(call.size_bytes),
                 call.size_bytes == 1 ? "" : "s");
    return ret_words;
}

void rep_ending_check(const char *problem)
{
    char rest[128], memory[192];
    struct ending ending = {.cause = "check"};
    take_the_last_word();
    rest_words(&ending, rest, sizeof rest);
    if (problem[0] == '\0') {
        ending.cause = "null";
        end(&ending, "the allocator returned NULL%s; %s", rest,
            memory_words(ending.size_bytes, memory, sizeof memory));
    }
    end(&ending, "the allocator is broken, seen%s: %s", ending.in_rest ? rest : " after the last op",
        problem);
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* " in op 7 by thread 0", " in ops 7 to 99 by thread 0 (--promises names the one)" */
static const char *where_words(struct ending *ending, char *ret_words, size_t size)
{
    ret_words[0] = '\0';
    ending->has_op = rep_exec_where(&ending->op, &ending->op_last, &ending->thread);
    if (ending->has_op && ending->op == ending->op_last)
        snprintf(ret_words, size, " in op %s by thread %u", FP_GROUPED(ending->op), ending->thread);
    else if (ending->has_op)
        snprintf(ret_words, size, " in one of the ops %s to %s by thread %u (--promises names it)",
                 FP_GROUPED(ending->op), FP_GROUPED(ending->op_last), ending->thread);
    return ret_words;
}

/* The throwing operators report by exception, which this program could not catch: be told before. */
static void operator_new_failed(void)
{
    char where[128], live[96], memory[192];
    struct ending ending = {.cause = "null"};
    take_the_last_word();
    where_words(&ending, where, sizeof where);
    end(&ending, "the allocator returned NULL to an operator new%s%s; %s", where,
        ending.has_op ? live_words(&ending, live, sizeof live) : "",
        memory_words(ending.size_bytes, memory, sizeof memory));
}

/* "the limit is 25.0 MB, and it may not bear a mapping that is refused; else ", where a limit refuses any. */
static void refused_words(char *ret_words, size_t size)
{
    ret_words[0] = '\0';
    if (limit_bytes != 0 && limit_refuses)
        snprintf(ret_words, size, "the limit is %s, and it may not bear a mapping that is refused; else ",
                 FP_BYTES((double)limit_bytes));
}

/* A wrong size or address, which the recorded program may pass unnoticed, ends here. */
static void crashed(int signal_number)
{
    char where[128], refused[128];
    struct ending ending = {.cause = "crash", .signal_number = signal_number};
    take_the_last_word();
    refused_words(refused, sizeof refused);
    if (rest_words(&ending, where, sizeof where)[0] != '\0')
        end(&ending,
            "the allocator crashed by SIG%s%s: %sthat is a call of the harness and none of the recording, so "
            "the allocator is broken, there or in an op before (--promises looks at each)",
            sigabbrev_np(signal_number), where, refused);
    where_words(&ending, where, sizeof where);
    end(&ending,
        "the allocator crashed by SIG%s%s: %sit does not bear a call that the recorded one bore, or it "
        "is broken",
        sigabbrev_np(signal_number), where, refused);
}

static void timed_out(int signal_number)
{
    const struct ending ending = {.cause = "timeout"};
    take_the_last_word();
    end(&ending, "gave up: --timeout is over, with %s ops done at the last window's end",
        FP_GROUPED(atomic_load_explicit(&ops_done, memory_order_relaxed)));
}

static void catch_operator_new(void)
{
    void *(*set_new_handler)(void (*)(void));
    if (rep_symbol("_ZSt15set_new_handlerPFvvE", &set_new_handler))
        (void)set_new_handler(operator_new_failed);
}

/* A signal that somebody else handles stays theirs: a sanitizer says more than we can. */
static void catch_crashes(void)
{
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++) {
        struct sigaction action;
        if (sigaction(SIGNALS[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = crashed;
        (void)sigaction(SIGNALS[i], &action, NULL); /* cannot fail for these */
    }
}

void rep_ending_init(const char *name, const char *path, bool json)
{
    program = name;
    workload = path;
    as_json = json;
    (void)signal(SIGALRM, timed_out); /* cannot fail for this signal */
    catch_operator_new();
    catch_crashes();
}
