/* replay.c - one run: `mallab-replay-NAME [options] WORKLOAD`.
 *
 * From its first line to the last op, main calls nothing that would call malloc: the allocator that is
 * linked here is the one under test. */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/ending.h"
#include "replay/limit.h"
#include "replay/outcome.h"
#include "replay/settings.h"
#include "replay/storage.h"
#include "replay/waste.h"

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
    bool json, serial, check, waste, report_failure;
    uint64_t limit_bytes; /* 0: none */
    struct rep_settings *settings;
};

/* What the callbacks need; one run a process. */
struct context {
    struct wl_reader *reader;
    struct rep_meters meters;
    struct rep_proof proof;
    struct rep_settings settings;
    struct rep_loop loop;
    struct rep_clock clock;
    struct rep_check check;
    struct rep_waste waste;
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
    "  --setting VARIABLE    the candidate sets this variable: fail unless the\n"
    "                        allocator confirms what it says; may be repeated\n"
    "  --expect NAME=VALUE   fail unless the allocator says so of its setting NAME\n"
    "  --unproven            let settings pass of which the allocator tells nothing\n"
    "  --limit BYTES         let the allocator map no more than this (RLIMIT_DATA)\n"
    "  --check               look whether the allocator keeps its promises instead of\n"
    "                        measuring\n"
    "  --waste               split what is resident as far as the allocator tells,\n"
    "                        when live bytes are highest and at the end\n"
    "  --report-failure      print a run that failed as JSON too\n"
    "  --candidate NAME      the name to print [" REP_ALLOCATOR "]\n"
    "  --idle-ms N           rest for N milliseconds after the last op, then look\n"
    "                        at memory again [0]\n"
    "  --timeout S           give up after S seconds [0: never]\n"
    "  -h, --help            print this help\n"
    "\n"
    "example: LD_PRELOAD=libtbbmalloc_proxy.so.2 mallab-replay-glibc --proof tbb \\\n"
    "             --expect-library libtbbmalloc_proxy.so.2 web.wl\n"
    "exit codes: 0 done, 1 failed (also: another allocator served the calls),\n"
    "2 misuse, 3 WORKLOAD unreadable, damaged or too new\n";

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

static bool parse_bytes(const char *text, uint64_t *ret_bytes)
{
    char *end;
    errno = 0;
    const unsigned long long bytes = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || bytes == 0)
        return false;
    *ret_bytes = bytes;
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
    case 's':
        return rep_settings_name(options->settings, value);
    case 'E':
        return rep_settings_expect(options->settings, value);
    case 'u':
        options->settings->unproven = true;
        return true;
    case 'L':
        return parse_bytes(value, &options->limit_bytes);
    case 'C':
        options->check = true;
        return true;
    case 'w':
        options->waste = true;
        return true;
    case 'r':
        options->report_failure = true;
        return true;
    case 'c':
        options->candidate = value;
        return true;
    case 'i':
        return parse_number(value, 3600000, &options->idle_ms);
    default:
        return parse_number(value, 1000000, &options->timeout_s);
    }
}

/* Fill options from the command line. Ends the program for --help and for misuse. */
static void parse_options(int argc, char **argv, struct rep_settings *settings, struct options *options)
{
    static const struct option LONG[] = {
        {"json", no_argument, NULL, 'j'},
        {"touch", required_argument, NULL, 't'},
        {"threads", required_argument, NULL, 'T'},
        {"expect-library", required_argument, NULL, 'e'},
        {"proof", required_argument, NULL, 'p'},
        {"candidate", required_argument, NULL, 'c'},
        {"idle-ms", required_argument, NULL, 'i'},
        {"timeout", required_argument, NULL, 'x'},
        {"setting", required_argument, NULL, 's'},
        {"expect", required_argument, NULL, 'E'},
        {"limit", required_argument, NULL, 'L'},
        {"check", no_argument, NULL, 'C'},
        {"waste", no_argument, NULL, 'w'},
        {"report-failure", no_argument, NULL, 'r'},
        {"unproven", no_argument, NULL, 'u'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter, index = 0;
    *options = (struct options){
        .candidate = REP_ALLOCATOR, .touch_name = "page", .touch = REP_TOUCH_PAGE, .settings = settings};
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "h", LONG, &index)) != -1) {
        if (letter == 'h') {
            (void)!write(STDOUT_FILENO, HELP, sizeof HELP - 1);
            exit(EXIT_DONE);
        }
        if (letter == '?') {
            rep_complain("unknown option or missing value at '%s'; see --help", argv[optind - 1]);
            exit(EXIT_MISUSE);
        }
        if (!take_option(letter, optarg, options)) {
            rep_complain("'%s' is no value for --%s; see --help", optarg, LONG[index].name);
            exit(EXIT_MISUSE);
        }
    }
    if (optind + 1 != argc) {
        rep_complain("%s; see --help", optind == argc ? "a workload is missing" : "one workload at a time");
        exit(EXIT_MISUSE);
    }
    if (options->check && strcmp(REP_ALLOCATOR, "none") == 0) {
        rep_complain("'none' has no objects that could be checked; see --help");
        exit(EXIT_MISUSE);
    }
    options->workload = argv[optind];
}

/* ---- callbacks of the run ------------------------------------------------------------------ */

static enum fp_status next_window(void *context, struct wl_window *ret_window)
{
    return wl_reader_next(((struct context *)context)->reader, ret_window);
}

/* What is not the run's: neither its time nor its page faults. */
static void sample_waste(struct context *context, const struct wl_window *window)
{
    struct rep_meters *meters = &context->meters;
    rep_meters_pause(meters);
    rep_waste_sample(&context->waste, &context->waste.peak, window->facts.first_op + window->op_count,
                     window->facts.end_ns, rep_meters_resident(meters));
    rep_meters_resume(meters);
}

static void window_done(void *user, const struct wl_window *window, const struct rep_window_times *times)
{
    struct context *context = user;
    if (times->timed)
        rep_meters_window(&context->meters, window, times->allocator_ticks);
    else
        rep_meters_begin(&context->meters);
    rep_ending_progress(window->facts.first_op + window->op_count);
    if (context->waste.reader != NULL && rep_waste_is_due(&context->waste, window))
        sample_waste(context, window);
}

/* ---- the run ------------------------------------------------------------------------------- */

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
        rep_complain("'%s' is no kind of proof; known: %s", context->proof.kind, rep_proof_kinds);
        exit(EXIT_MISUSE);
    }
    const char *missing = rep_calls_resolve(&context->loop.calls, ret_substituted);
    if (missing != NULL) {
        rep_complain("wrong allocator: the library that malloc comes from has no %s", missing);
        return false;
    }
    if (!rep_proof_check(&context->proof, &context->loop.calls)) {
        rep_complain("wrong allocator: %s", context->proof.why);
        return false;
    }
    context->settings.kind = context->proof.kind;
    if (!rep_settings_check(&context->settings)) {
        rep_complain("wrong settings: %s", context->settings.why);
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
    rep_complain("cannot read %s", fp_error_text(&error, path, text, sizeof text));
    return status == FP_ERR_MEMORY ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int explain_status(const struct context *context, enum fp_status status, const char *path)
{
    char text[PATH_MAX + 256];
    struct fp_error error = {.status = status, .what = "a window breaks the summary"};
    if (wl_reader_error(context->reader)->status == status)
        error = *wl_reader_error(context->reader);
    rep_complain("cannot read %s", fp_error_text(&error, path, text, sizeof text));
    return EXIT_BAD_INPUT;
}

static int too_large(const struct wl_summary *summary, const char *path)
{
    rep_complain("'%s' does not fit this machine's memory: %u object slots, %u threads at once, %llu windows",
                 path, summary->id_max, summary->threads_at_once_max, (unsigned long long)summary->windows);
    return EXIT_FAILED;
}

static bool print_outcome(const struct options *options, const struct rep_outcome *outcome)
{
    const bool printed = options->json ? rep_outcome_json(outcome) : rep_outcome_text(outcome);
    if (!printed)
        rep_complain("cannot write to standard output");
    return printed;
}

/* Objects that were there when the recording began: the program had them, and did not ask for them in it. */
static uint64_t inherited_ops(const struct context *context)
{
    const char *objects = wl_reader_meta(context->reader, "inherited_objects");
    return objects != NULL ? strtoull(objects, NULL, 10) : 0; /* any number will do: windows are whole */
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
        .next = next_window,
        .at_rest = window_done,
        .fail = rep_ending_failed,
        .check = options->check ? &context->check : NULL,
        .context = context,
    };
    struct rep_exec_totals totals;
    context->loop.touch = options->touch;
    context->loop.touch_step = rep_touch_step;
    context->loop.slots = rep_storage_map((size_t)summary->id_max + 1, sizeof *context->loop.slots);
    struct rep_exec *exec = rep_exec_init(&exec_options);
    if (context->loop.slots == NULL || exec == NULL || !rep_meters_init(&context->meters, summary))
        return too_large(summary, options->workload);
    if (options->check && !rep_check_init(&context->check, &context->loop, summary->id_max))
        return too_large(summary, options->workload);
    if (options->waste &&
        !rep_waste_init(&context->waste, options->workload, context->proof.kind, context->loop.slots))
        return too_large(summary, options->workload);
    uint64_t limit_base_bytes = 0, early_bytes = 0;
    if (options->limit_bytes != 0 && !rep_limit_set(options->limit_bytes, &limit_base_bytes, &early_bytes)) {
        rep_complain("cannot limit memory to %llu bytes: %s", (unsigned long long)options->limit_bytes,
                     strerror(errno));
        return EXIT_FAILED;
    }
    rep_ending_limit(options->limit_bytes);
    if (options->limit_bytes != 0 && early_bytes > options->limit_bytes)
        rep_ending_over_limit(early_bytes);
    rep_clock_init(&context->clock);
    rep_watch();
    rep_meters_start(&context->meters);

    const enum fp_status status = rep_exec_run(exec);
    if (status != FP_OK)
        return explain_status(context, status, options->workload);
    rep_meters_stop(&context->meters);
    if (options->waste)
        rep_waste_sample(&context->waste, &context->waste.end, summary->ops, summary->duration_ns,
                         context->meters.end_bytes);
    if (options->idle_ms > 0)
        rep_meters_idle(&context->meters, options->idle_ms);
    rep_exec_end(exec, &totals);
    rep_limit_lift();
    struct rep_check_problem problem;
    if (options->check && !rep_check_end(&context->check, &problem))
        rep_ending_check(problem.text);
    rep_clock_rate(&context->clock);
    if (!rep_proof_after(&context->proof, rep_watch_count())) {
        rep_complain("%s", context->proof.why);
        return EXIT_FAILED;
    }
    if (!rep_settings_after(&context->settings, &context->loop.calls)) {
        rep_complain("wrong settings: %s", context->settings.why);
        return EXIT_FAILED;
    }
    const struct rep_outcome outcome = {
        .candidate = options->candidate,
        .binary = REP_ALLOCATOR,
        .workload = options->workload,
        .workload_digest = wl_reader_digest(context->reader),
        .summary = summary,
        .proof = &context->proof,
        .settings = &context->settings,
        .check = options->check ? &context->check : NULL,
        .waste = options->waste ? &context->waste : NULL,
        .limit_bytes = options->limit_bytes,
        .limit_base_bytes = limit_base_bytes,
        .meters = &context->meters,
        .clock = &context->clock,
        .totals = &totals,
        .substituted = substituted,
        .touch = options->touch_name,
        .serial = exec_options.serial,
        .processors = exec_options.processors,
        .idle_ms = options->idle_ms,
    };
    return print_outcome(options, &outcome) ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static struct context context;
    struct options options;
    uint64_t substituted;
    parse_options(argc, argv, &context.settings, &options);
    rep_ending_init("mallab-replay-" REP_ALLOCATOR, options.workload, options.report_failure);
    (void)alarm(options.timeout_s); /* 0: none */
    if (!resolve_and_prove(&context, &options, &substituted))
        return EXIT_FAILED;
    rep_limit_begin();
    const int code = open_workload(&context, options.workload);
    if (code != EXIT_DONE)
        return code;
    return run(&context, &options, substituted);
}
