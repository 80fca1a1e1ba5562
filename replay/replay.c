/* replay.c - one run: `mallab-replay-NAME [options] WORKLOAD`.
 *
 * From its first line to the last op, main calls nothing that would call malloc: the allocator that is
 * linked here is the one under test. */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/idle.h"
#include "replay/outcome.h"
#include "replay/pace.h"
#include "replay/recorded.h"
#include "replay/storage.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_MISUSE = 2,
    EXIT_BAD_INPUT = 3,
};

struct options {
    const char *workload;
    const char *candidate;
    const char *expected_library;
    const char *proof_kind;
    const char *touch_name;
    enum rep_touch touch;
    unsigned idle_ms, timeout_s;
    const char *idle_with; /* NULL: by the clock */
    bool json, serial, expects_clock;
    struct rep_pace pace;
};

/* What the callbacks need; one run a process. */
struct context {
    struct wl_reader *reader;
    struct rep_meters meters;
    struct rep_proof proof;
    struct rep_loop loop;
    struct rep_clock clock;
    struct rep_pace pace;
    bool begun;
};

static const char HELP[] =
    "usage: mallab-replay-" REP_ALLOCATOR " [OPTION...] WORKLOAD\n"
    "\n"
    "Execute a workload's calls on one allocator and print what they cost. 'mallab\n"
    "replay' and 'mallab ab' run this program; it can be run by hand too.\n"
    "\n"
    "  --json                print one JSON object\n"
    "  --touch WHAT          what is written into new memory: none, page (a byte per\n"
    "                        page) or full [page]\n"
    "  --threads HOW         'recorded', or '1': all ops on one thread [recorded]\n"
    "  --expect-library LIB  fail unless malloc comes from this library: a path or\n"
    "                        a file name [what this program is linked against]\n"
    "  --proof KIND          which allocator must answer for itself: glibc, tbb,\n"
    "                        jemalloc, tcmalloc, mimalloc, scudo, none; or address:\n"
    "                        the library alone [by what is expected]\n"
    "  --candidate NAME      the name to print [" REP_ALLOCATOR "]\n"
    "  --clock CLOCK         what the allocator is told when it asks for the time:\n"
    "                        real, or recorded, which moves with the ops [real]\n"
    "  --pace SPEED          max, real (each op at its recorded time), or Nx: N times\n"
    "                        as fast [max]\n"
    "  --expect-clock        with --clock recorded, fail unless the allocator asked\n"
    "  --idle-ms N           rest for N milliseconds after the last op, then look\n"
    "                        at memory again [0]\n"
    "  --idle-with WHAT      nothing, or calls: some in each tenth of a second\n"
    "                        [calls on the recorded clock, else nothing]\n"
    "  --timeout S           give up after S seconds [0: never]\n"
    "  -h, --help            print this help\n"
    "\n"
    "example: LD_PRELOAD=libtbbmalloc_proxy.so.2 mallab-replay-glibc --proof tbb \\\n"
    "             --expect-library libtbbmalloc_proxy.so.2 web.wl\n"
    "exit codes: 0 done, 1 failed (also: another allocator served the calls),\n"
    "2 misuse, 3 WORKLOAD unreadable, damaged or too new\n";

/* One line on stderr by one write: no buffer, no malloc, no mixing with other threads' output. */
__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    char text[PATH_MAX * 2];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(text, sizeof text, "mallab-replay-" REP_ALLOCATOR ": ");
    length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length++] = '\n';
    (void)!write(STDERR_FILENO, text, (size_t)length); /* there is nowhere else to say so */
}

/* ---- command line -------------------------------------------------------------------------- */

static bool parse_number(const char *text, unsigned max, unsigned *ret_number)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || number > max)
        return false;
    *ret_number = (unsigned)number;
    return true;
}

static bool parse_touch(const char *text, struct options *options)
{
    static const char *const NAMES[] = {"none", "page", "full"}; /* in the order of enum rep_touch */
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text, NAMES[i]) == 0) {
            options->touch = (enum rep_touch)i;
            options->touch_name = NAMES[i];
            return true;
        }
    }
    return false;
}

static bool take_option(int letter, const char *value, struct options *options)
{
    switch (letter) {
    case 'j':
        options->json = true;
        return true;
    case 't':
        return parse_touch(value, options);
    case 'T':
        options->serial = strcmp(value, "1") == 0;
        return options->serial || strcmp(value, "recorded") == 0;
    case 'e':
        options->expected_library = value;
        return true;
    case 'p':
        options->proof_kind = value;
        return true;
    case 'c':
        options->candidate = value;
        return true;
    case 'i':
        return parse_number(value, 86400000, &options->idle_ms);
    case 'w':
        options->idle_with = value;
        return strcmp(value, "calls") == 0 || strcmp(value, "nothing") == 0;
    case 'k':
        return rep_pace_parse_clock(value, &options->pace);
    case 's':
        return rep_pace_parse_speed(value, &options->pace);
    case 'a':
        options->expects_clock = true;
        return true;
    default:
        return parse_number(value, 1000000, &options->timeout_s);
    }
}

/* Fill options from the command line. Ends the program for --help and for misuse. */
static void parse_options(int argc, char **argv, struct options *options)
{
    static const struct option LONG[] = {
        {"json", no_argument, NULL, 'j'},          {"touch", required_argument, NULL, 't'},
        {"threads", required_argument, NULL, 'T'}, {"expect-library", required_argument, NULL, 'e'},
        {"proof", required_argument, NULL, 'p'},   {"candidate", required_argument, NULL, 'c'},
        {"idle-ms", required_argument, NULL, 'i'}, {"timeout", required_argument, NULL, 'x'},
        {"clock", required_argument, NULL, 'k'},   {"pace", required_argument, NULL, 's'},
        {"expect-clock", no_argument, NULL, 'a'},  {"idle-with", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    int letter, index = 0;
    *options = (struct options){.candidate = REP_ALLOCATOR, .touch_name = "page", .touch = REP_TOUCH_PAGE};
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "h", LONG, &index)) != -1) {
        if (letter == 'h') {
            (void)!write(STDOUT_FILENO, HELP, sizeof HELP - 1);
            exit(EXIT_DONE);
        }
        if (letter == '?') {
            complain("unknown option or missing value at '%s'; see --help", argv[optind - 1]);
            exit(EXIT_MISUSE);
        }
        if (!take_option(letter, optarg, options)) {
            complain("'%s' is no value for --%s; see --help", optarg, LONG[index].name);
            exit(EXIT_MISUSE);
        }
    }
    if (optind + 1 != argc) {
        complain("%s; see --help", optind == argc ? "a workload is missing" : "one workload at a time");
        exit(EXIT_MISUSE);
    }
    options->workload = argv[optind];
}

/* ---- callbacks of the run ------------------------------------------------------------------ */

static enum fp_status next_window(void *context, struct wl_window *ret_window)
{
    struct context *run = context;
    const enum fp_status status = wl_reader_next(run->reader, ret_window);
    if (status == FP_OK && !run->begun) {
        rep_pace_begin(&run->pace, ret_window->facts.start_ns);
        run->begun = true;
    }
    return status;
}

static void window_done(void *context, const struct wl_window *window, const struct rep_window_times *times)
{
    struct rep_meters *meters = &((struct context *)context)->meters;
    if (times->timed)
        rep_meters_window(meters, window, times->allocator_ticks);
    else
        rep_meters_begin(meters);
}

/* Threads may fail at the same time: the first one tells and ends the process, the others stay here. */
static void take_the_last_word(void)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static _Thread_local bool mine;
    if (mine)
        _exit(EXIT_FAILED); /* a crash in the midst of telling */
    while (atomic_flag_test_and_set(&taken))
        (void)pause();
    mine = true;
}

__attribute__((noreturn)) static void run_failed(void *context, const struct rep_failure *failure)
{
    const struct wl_op *op = failure->call;
    take_the_last_word();
    if (op == NULL)
        complain("cannot start thread %u: %s", failure->thread, strerror(failure->sys_errno));
    else
        complain("the allocator returned NULL at op %llu: %s of %llu bytes%s by thread %u; %s",
                 (unsigned long long)failure->op, fp_call_name(op->call), (unsigned long long)op->size,
                 op->count > 1 ? " (of one element)" : "", failure->thread,
                 failure->sys_errno == EINVAL ? "it refuses this alignment or size"
                                              : "does the machine have enough memory?");
    _exit(EXIT_FAILED); /* other threads are in the midst of calls: nothing may run at exit */
}

/* The throwing operators report by exception, which this program could not catch: be told before. */
static void operator_new_failed(void)
{
    take_the_last_word();
    complain("operator new found no memory; does the machine have enough?");
    _exit(EXIT_FAILED);
}

/* An allocator that was given a wrong size or address, as the recorded program may do unnoticed, does this. */
static void crashed(int signal_number)
{
    static const char TEXT[] = "mallab-replay-" REP_ALLOCATOR
                               ": the allocator crashed in the midst of the replay: it does not bear a call "
                               "that the recorded one bore, or it is broken\n";
    take_the_last_word();
    (void)!write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
    _exit(EXIT_FAILED);
}

static void timed_out(int signal_number)
{
    static const char TEXT[] = "mallab-replay-" REP_ALLOCATOR ": gave up: --timeout is over\n";
    (void)!write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
    _exit(EXIT_FAILED);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void catch_operator_new(void)
{
    void *(*set_new_handler)(void (*)(void));
    void *found = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    memcpy(&set_new_handler, &found, sizeof set_new_handler);
    if (found != NULL)
        (void)set_new_handler(operator_new_failed);
}

/* Only where nobody else takes the signal: a sanitizer says more than we can. */
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

static unsigned processors_available(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1; /* more than 1024 processors; one baton is slow but right */
    return (unsigned)CPU_COUNT(&set);
}

static bool resolve_and_prove(struct context *context, const struct options *options,
                              uint64_t *ret_substituted)
{
    if (!rep_proof_init(&context->proof, REP_ALLOCATOR, options->expected_library, options->proof_kind)) {
        complain("'%s' is no kind of proof; known: %s", context->proof.kind, rep_proof_kinds);
        exit(EXIT_MISUSE);
    }
    const char *missing = rep_calls_resolve(&context->loop.calls, ret_substituted);
    if (missing != NULL) {
        complain("wrong allocator: the library that malloc comes from has no %s", missing);
        return false;
    }
    if (!rep_proof_check(&context->proof, &context->loop.calls)) {
        complain("wrong allocator: %s", context->proof.why);
        return false;
    }
    return true;
}

static int open_workload(struct context *context, const char *path)
{
    struct fp_error error;
    char text[PATH_MAX + 256];
    const enum fp_status status = wl_reader_open(path, &error, &context->reader);
    if (status == FP_OK)
        return EXIT_DONE;
    complain("cannot read %s", fp_error_text(&error, path, text, sizeof text));
    return status == FP_ERR_MEMORY ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int explain_status(const struct context *context, enum fp_status status, const char *path)
{
    char text[PATH_MAX + 256];
    struct fp_error error = {.status = status, .what = "a window breaks the summary"};
    if (wl_reader_error(context->reader)->status == status)
        error = *wl_reader_error(context->reader);
    complain("cannot read %s", fp_error_text(&error, path, text, sizeof text));
    return EXIT_BAD_INPUT;
}

static int too_large(const struct wl_summary *summary, const char *path)
{
    complain("'%s' does not fit this machine's memory: %u object slots, %u threads at once, %llu windows",
             path, summary->id_max, summary->threads_at_once_max, (unsigned long long)summary->windows);
    return EXIT_FAILED;
}

static bool print_outcome(const struct options *options, const struct rep_outcome *outcome)
{
    const bool printed = options->json ? rep_outcome_json(outcome) : rep_outcome_text(outcome);
    if (!printed)
        complain("cannot write to standard output");
    return printed;
}

/* Objects that were there when the recording began: the program had them, and did not ask for them in it. */
static uint64_t inherited_ops(const struct context *context)
{
    const char *objects = wl_reader_meta(context->reader, "inherited_objects");
    return objects != NULL ? strtoull(objects, NULL, 10) : 0; /* any number will do: windows are whole */
}

static bool idles_with_calls(const struct options *options)
{
    return options->idle_with != NULL ? strcmp(options->idle_with, "calls") == 0
                                      : options->pace.recorded_clock;
}

static bool clock_was_asked(const struct options *options, const struct rep_account *account)
{
    if (!options->expects_clock || !account->recorded || account->asks.asked > 0)
        return true;
    complain("the allocator is known to use the clock, and never asked the replay's: its memory cannot be "
             "predicted; "
             "replay it with --clock real, or mend 'clock' in its INI file");
    return false;
}

static int run(struct context *context, const struct options *options, uint64_t substituted)
{
    const struct wl_summary *summary = wl_reader_summary(context->reader);
    const struct rep_exec_options exec_options = {
        .loop = &context->loop,
        .clock = &context->clock,
        .summary = summary,
        .untimed_ops = inherited_ops(context),
        .serial = options->serial || summary->thread_count == 1,
        .processors = processors_available(),
        .pace = &context->pace,
        .next = next_window,
        .at_rest = window_done,
        .fail = run_failed,
        .context = context,
    };
    struct rep_exec_totals totals;
    struct rep_account account;
    context->pace = options->pace;
    if (rep_pace_follows(&context->pace) && summary->duration_ns == 0) {
        complain("'%s' has no recorded time: replay it with --clock real --pace max", options->workload);
        return EXIT_FAILED;
    }
    context->loop.touch = options->touch;
    context->loop.touch_step = rep_touch_step;
    context->loop.slots = rep_storage_map((size_t)summary->id_max + 1, sizeof *context->loop.slots);
    void **idle_slots = rep_storage_map(REP_IDLE_OBJECTS, sizeof *idle_slots);
    struct rep_exec *exec = rep_exec_init(&exec_options);
    if (idle_slots == NULL || context->loop.slots == NULL || exec == NULL ||
        !rep_meters_init(&context->meters, summary))
        return too_large(summary, options->workload);
    rep_clock_init(&context->clock);
    rep_watch();
    rep_meters_start(&context->meters);

    const enum fp_status status = rep_exec_run(exec);
    if (status != FP_OK)
        return explain_status(context, status, options->workload);
    rep_pace_reach(&context->pace, summary->duration_ns);
    rep_meters_stop(&context->meters);
    if (options->idle_ms > 0) {
        rep_idle(&context->pace, &context->loop.calls, idles_with_calls(options) ? idle_slots : NULL,
                 (uint64_t)options->idle_ms * 1000000);
        rep_meters_idle(&context->meters);
    }
    rep_exec_end(exec, &totals);
    rep_account_take(&account, &context->pace, summary->duration_ns > 0, rep_meters_threads());
    if (!clock_was_asked(options, &account))
        return EXIT_FAILED;
    rep_clock_rate(&context->clock);
    if (!rep_proof_after(&context->proof, rep_watch_count())) {
        complain("%s", context->proof.why);
        return EXIT_FAILED;
    }
    const struct rep_outcome outcome = {
        .candidate = options->candidate,
        .binary = REP_ALLOCATOR,
        .workload = options->workload,
        .workload_digest = wl_reader_digest(context->reader),
        .summary = summary,
        .proof = &context->proof,
        .meters = &context->meters,
        .clock = &context->clock,
        .totals = &totals,
        .substituted = substituted,
        .touch = options->touch_name,
        .serial = exec_options.serial,
        .processors = exec_options.processors,
        .idle_ms = options->idle_ms,
        .idle_with = idles_with_calls(options) ? "calls" : "nothing",
        .account = &account,
    };
    return print_outcome(options, &outcome) ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static struct context context;
    struct options options;
    uint64_t substituted;
    rep_recorded_worker();
    parse_options(argc, argv, &options);
    if (options.timeout_s > 0) {
        (void)signal(SIGALRM, timed_out); /* cannot fail for this signal */
        (void)alarm(options.timeout_s);
    }
    catch_operator_new();
    catch_crashes();
    if (!resolve_and_prove(&context, &options, &substituted))
        return EXIT_FAILED;
    const int code = open_workload(&context, options.workload);
    if (code != EXIT_DONE)
        return code;
    return run(&context, &options, substituted);
}
