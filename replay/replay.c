/* replay.c - one run: `mallab-replay-NAME [options] WORKLOAD`.
 *
 * From its first line to the last op, main calls nothing that would call malloc: the allocator that is
 * linked here is the one under test. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "footprint/base/memory_bound.h"
#include "footprint/base/words.h"
#include "replay/base/storage.h"
#include "replay/base/watch.h"
#include "replay/clock/recorded.h"
#include "replay/exec/idle.h"
#include "replay/exec/latency_pass.h"
#include "replay/exec/pace.h"
#include "replay/exec/slices.h"
#include "replay/meters/counters.h"
#include "replay/meters/placement.h"
#include "replay/meters/waste.h"
#include "replay/outcome/ending.h"
#include "replay/outcome/outcome.h"
#include "replay/proof/settings.h"
#include "replay/replay_options.h"
#include "replay/system/binding.h"
#include "replay/system/run_limit.h"
#include "replay/system/syscalls.h"

/* The callbacks need all this. There is one run a process. */
struct context {
    struct wl_reader *reader;
    struct rep_meters meters;
    struct rep_proof proof;
    struct rep_settings settings;
    struct rep_calls calls; /* the allocator's own; a pass may put stand-ins into the loop */
    struct rep_loop loop;
    struct rep_clock clock;
    struct rep_check check;
    struct rep_waste waste;
    struct rep_latency latency;
    struct rep_syscalls syscalls;
    struct rep_placement placement;
    struct rep_counters counters;
    struct rep_binding binding;
    struct rep_pace pace;
    struct rep_limit limit;
    bool sliced;
    struct rep_slices slices; /* if so */
    bool begun;
};

/* ---- callbacks of the run ------------------------------------------------------------------ */

static enum fp_status next_of_workload(void *context, struct wl_window *ret_window)
{
    struct context *run = context;
    return wl_reader_next(run->reader, ret_window);
}

static enum fp_status next_window(void *context, struct wl_window *ret_window)
{
    struct context *run = context;
    const enum fp_status status = run->sliced
                                      ? rep_slices_next(&run->slices, next_of_workload, context, ret_window)
                                      : next_of_workload(context, ret_window);
    if (status == FP_OK && !run->begun) {
        rep_pace_begin(&run->pace, ret_window->facts.start_ns);
        run->begun = true;
    }
    return status;
}

/* Sampling is no part of the run: the meters leave out its time and its page faults. */
static void sample_waste(struct context *context, const struct wl_window *window)
{
    struct rep_meters *meters = &context->meters;
    rep_meters_pause(meters);
    rep_waste_sample(&context->waste, &context->waste.peak, window->facts.first_op + window->op_count,
                     window->facts.end_ns, rep_meters_resident(meters));
    rep_meters_resume(meters);
}

/* The meters leave this out, too. */
static void follow_placement(struct context *context, const struct wl_window *window)
{
    rep_meters_pause(&context->meters);
    rep_placement_window(&context->placement, window);
    rep_meters_resume(&context->meters);
}

static void window_done(void *user, const struct wl_window *window, const struct rep_window_times *times)
{
    struct context *context = user;
    if (times->timed)
        rep_meters_window(&context->meters, window, times->allocator_ticks);
    else
        rep_meters_begin(&context->meters);
    rep_ending_progress(window->facts.first_op + window->op_count);
    rep_limit_progress(window->facts.first_op + window->op_count, window->facts.live_bytes,
                       window->facts.live_objects);
    if (context->waste.reader != NULL && rep_waste_is_due(&context->waste, window))
        sample_waste(context, window);
    if (context->placement.slots != NULL)
        follow_placement(context, window);
}

/* ---- the run ------------------------------------------------------------------------------- */

static bool resolve_and_prove(struct context *context, const struct rep_options *options,
                              uint64_t *ret_substituted)
{
    if (!rep_proof_init(&context->proof, REP_ALLOCATOR, options->expected_library, options->proof_kind)) {
        rep_complain("'%s' is no kind of proof; known: %s", context->proof.kind, rep_proof_kinds);
        exit(EXIT_MISUSE);
    }
    const char *missing = rep_calls_resolve(&context->calls, ret_substituted);
    if (missing != NULL) {
        rep_complain(
            "the candidate '%s' lacks %s: the library that its malloc comes from does not have it, and "
            "another library's would hand out memory of another heap; what is to be replayed needs malloc, "
            "free, calloc, realloc and posix_memalign of its own",
            options->candidate, missing);
        return false;
    }
    if (!rep_proof_check(&context->proof, &context->calls)) {
        rep_complain("wrong allocator: %s", context->proof.why);
        return false;
    }
    context->loop.calls = context->calls;
    context->settings.kind = context->proof.kind;
    return true;
}

static bool check_settings(struct context *context)
{
    if (rep_settings_check(&context->settings))
        return true;
    rep_complain("wrong settings: %s", context->settings.why);
    return false;
}

static void print_name(const char *name, size_t length)
{
    printf("%.*s\n", (int)length, name);
}

/* Checked first, as in a run: before anything has used the allocator. */
static int tell_settings(struct context *context)
{
    const bool right = check_settings(context);
    rep_settings_names(&context->settings, print_name);
    if (fflush(stdout) != 0) {
        rep_complain("cannot write to standard output: %s", strerror(errno));
        return EXIT_FAILED;
    }
    return right ? EXIT_DONE : EXIT_MISUSE;
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

/* More threads than this at once cost their stacks (150 KiB each) and the kernel's patience: only who asks gets them. */
static bool starts_threads(const struct rep_options *options, const struct wl_summary *summary)
{
    if (options->serial || summary->threads_at_once_max <= REP_THREADS_AT_ONCE_MAX || fp_memory_is_asked())
        return true;
    rep_complain(
        "'%s' has %s threads at once, more than the %s that are started: --threads 1 replays it with "
        "one, --max-memory SIZE (" FP_MEMORY_VARIABLE ", in bytes) starts as many as fit in it",
        options->workload, FP_GROUPED(summary->threads_at_once_max), FP_GROUPED(REP_THREADS_AT_ONCE_MAX));
    return false;
}

static int too_large(const struct wl_summary *summary, const char *path)
{
    if (fp_memory_refused()) {
        rep_complain(
            "'%s' takes more memory than %s MiB, %s: %s object slots, %u threads at once, %s windows; "
            "--max-memory SIZE (" FP_MEMORY_VARIABLE ", in bytes) sets another bound",
            path, FP_GROUPED(fp_memory_bound() >> 20), fp_memory_reason(), FP_GROUPED(summary->id_max),
            summary->threads_at_once_max, FP_GROUPED(summary->windows));
        return EXIT_BAD_INPUT;
    }
    rep_complain("'%s' does not fit this machine's memory: %s object slots, %u threads at once, %s windows",
                 path, FP_GROUPED(summary->id_max), summary->threads_at_once_max,
                 FP_GROUPED(summary->windows));
    return EXIT_FAILED;
}

static bool print_outcome(const struct rep_options *options, const struct rep_outcome *outcome)
{
    errno = 0;
    const bool printed = options->json ? rep_outcome_json(outcome) : rep_outcome_text(outcome);
    if (!printed)
        rep_complain("cannot write to standard output: %s",
                     errno != 0 ? strerror(errno) : "an earlier write failed");
    return printed;
}

/* Ops that create the objects which the program had when the recording began. They are not measured. */
static uint64_t inherited_ops(const struct context *context)
{
    const char *objects = wl_reader_meta(context->reader, "inherited_objects");
    return objects != NULL ? strtoull(objects, NULL, 10) : 0; /* any number will do: windows are whole */
}

/* A run is sliced where memory is what it is for: passes that look at something else have the windows that they have on
 * every clock. */
static bool prepare_windows(struct context *context, const struct rep_options *options,
                            const struct wl_summary *summary)
{
    context->sliced = rep_pace_follows(&context->pace) && !options->latency && !options->syscalls &&
                      !options->placement && !options->check;
    if (!context->sliced)
        return rep_meters_init(&context->meters, summary->windows);
    return rep_meters_init(&context->meters, rep_slices_count_max(summary)) &&
           rep_slices_init(&context->slices, summary, inherited_ops(context));
}

static bool prepare_pass(struct context *context, const struct rep_options *options,
                         const struct wl_summary *summary)
{
    if (options->latency &&
        !rep_latency_init(&context->latency, summary, inherited_ops(context), &context->loop.calls))
        return false;
    if (options->placement &&
        !rep_placement_init(&context->placement, summary, inherited_ops(context), context->loop.slots))
        return false;
    rep_counters_init(&context->counters);
    return true;
}

/* Before any memory is touched, so that it lies near the processors that will use it. */
static bool bind(struct context *context, const struct rep_options *options, bool one_thread)
{
    context->binding = options->binding;
    const int error = rep_binding_apply(&context->binding, one_thread);
    if (error != 0)
        rep_complain("cannot keep to the processors '%s': %s; see lscpu for those that there are",
                     options->binding.how, strerror(error));
    if (context->binding.nice_refused != 0)
        rep_complain("priority stays as it is: nice %d is refused (%s); it takes CAP_SYS_NICE",
                     context->binding.nice, strerror(context->binding.nice_refused));
    return error == 0;
}

static bool idles_with_calls(const struct rep_options *options)
{
    return options->idle_with != NULL ? strcmp(options->idle_with, "calls") == 0
                                      : options->pace.recorded_clock;
}

/* Ids that only the rest of a run that checks uses. */
static uint32_t rest_ids(const struct rep_options *options)
{
    return options->check ? REP_IDLE_OBJECTS : 0;
}

/* A check ignores --idle-ms and always takes the longest rest: an allocator that fails there is broken. */
static void check_rest(struct context *context, const struct wl_summary *summary)
{
    struct rep_check_problem problem;
    context->check.rest_from = summary->ops;
    if (!rep_idle_check(&context->pace, &context->check, summary->id_max, &problem))
        rep_ending_check(problem.text);
}

static bool clock_was_asked(const struct rep_options *options, const struct rep_account *account)
{
    if (!options->expects_clock || !account->recorded || account->asks.asked > 0)
        return true;
    rep_complain(
        "the allocator is known to use the clock, and never asked the replay's: its memory cannot be "
        "predicted; replay it with --clock real, or mend 'clock' in its INI file");
    return false;
}

static bool limit_memory(struct context *context, const struct rep_options *options,
                         const struct wl_summary *summary)
{
    struct rep_limit *limit = &context->limit;
    rep_limit_workload(summary->ops, summary->window_ops_max);
    if (!rep_limit_set(limit)) {
        rep_complain("cannot limit memory to %s bytes: %s", FP_GROUPED(options->limit.bytes),
                     strerror(errno));
        return false;
    }
    rep_ending_limit(limit->bytes, options->limit.group == NULL);
    if (limit->early_bytes > limit->bytes)
        rep_ending_over_limit(limit->early_bytes, options->limit.group != NULL ? "in memory" : "mapped");
    return true;
}

static const char *incomplete_why(const struct wl_reader *reader)
{
    const char *complete = wl_reader_meta(reader, "complete"),
               *why = wl_reader_meta(reader, "incomplete_why");
    if (complete == NULL || strcmp(complete, "yes") == 0)
        return NULL;
    return why != NULL ? why : "it does not say why";
}

static int run(struct context *context, const struct rep_options *options, uint64_t substituted)
{
    const struct wl_summary *summary = wl_reader_summary(context->reader);
    const bool serial = options->serial || summary->thread_count == 1;
    if (!bind(context, options, serial))
        return EXIT_FAILED;
    const struct rep_exec_options exec_options = {
        .loop = &context->loop,
        .clock = &context->clock,
        .summary = summary,
        .untimed_ops = inherited_ops(context),
        .serial = serial,
        .processors = context->binding.count,
        .latency = options->latency ? &context->latency : NULL,
        .syscalls = options->syscalls ? &context->syscalls : NULL,
        .binding = &context->binding,
        .pace = &context->pace,
        .next = next_window,
        .at_rest = window_done,
        .fail = rep_ending_failed,
        .check = options->check ? &context->check : NULL,
        .context = context,
    };
    struct rep_exec_totals totals;
    struct rep_account account;
    if (!starts_threads(options, summary))
        return EXIT_BAD_INPUT;
    context->pace = options->pace;
    if (rep_pace_follows(&context->pace) && summary->duration_ns == 0) {
        rep_complain("'%s' has no recorded time: replay it with --clock real --pace max", options->workload);
        return EXIT_FAILED;
    }
    context->loop.touch = options->touch;
    context->loop.touch_step = rep_touch_step;
    context->loop.slots = rep_storage_map((size_t)summary->id_max + 1 + rest_ids(options),
                                          sizeof *context->loop.slots);
    void **idle_slots = rep_storage_map(REP_IDLE_OBJECTS, sizeof *idle_slots);
    struct rep_exec *exec = rep_exec_init(&exec_options);
    if (idle_slots == NULL || context->loop.slots == NULL || exec == NULL ||
        !prepare_windows(context, options, summary) || !prepare_pass(context, options, summary))
        return too_large(summary, options->workload);
    if (options->check &&
        (summary->id_max > UINT32_MAX - rest_ids(options) ||
         !rep_check_init(&context->check, &context->loop, summary->id_max + rest_ids(options))))
        return too_large(summary, options->workload);
    if (options->waste &&
        !rep_waste_init(&context->waste, options->workload, context->proof.kind, context->loop.slots))
        return too_large(summary, options->workload);
    if (!limit_memory(context, options, summary))
        return EXIT_FAILED;
    rep_clock_init(&context->clock);
    if (options->latency)
        rep_latency_calibrate(&context->latency, &context->clock);
    rep_watch();
    rep_meters_start(&context->meters);
    rep_counters_start(&context->counters);
    rep_syscalls_count(&context->syscalls, true);

    const enum fp_status status = rep_exec_run(exec);
    if (status != FP_OK)
        return explain_status(context, status, options->workload);
    rep_pace_reach(&context->pace, summary->duration_ns);
    rep_syscalls_count(&context->syscalls, false);
    rep_counters_stop(&context->counters);
    rep_meters_stop(&context->meters);
    if (options->waste)
        rep_waste_sample(&context->waste, &context->waste.end, summary->ops, summary->duration_ns,
                         context->meters.end_bytes);
    if (options->check) {
        check_rest(context, summary);
    } else if (options->idle_ms > 0) {
        rep_idle(&context->pace, &context->calls, idles_with_calls(options) ? idle_slots : NULL,
                 (uint64_t)options->idle_ms * 1000000);
    }
    if (options->idle_ms > 0)
        rep_meters_idle(&context->meters, idles_with_calls(options));
    rep_exec_end(exec, &totals);
    rep_limit_lift(&context->limit);
    rep_account_take(&account, &context->pace, summary->duration_ns > 0, rep_meters_threads());
    if (!clock_was_asked(options, &account))
        return EXIT_FAILED;
    struct rep_check_problem problem;
    if (options->check && !rep_check_end(&context->check, &problem))
        rep_ending_check(problem.text);
    rep_clock_rate(&context->clock);
    if (!rep_proof_after(&context->proof, rep_watch_count())) {
        rep_complain("%s", context->proof.why);
        return EXIT_FAILED;
    }
    if (!rep_settings_after(&context->settings, &context->calls)) {
        rep_complain("wrong settings: %s", context->settings.why);
        return EXIT_FAILED;
    }
    const struct rep_outcome outcome = {
        .candidate = options->candidate,
        .binary = REP_ALLOCATOR,
        .workload = options->workload,
        .incomplete_why = incomplete_why(context->reader),
        .workload_digest = wl_reader_digest(context->reader),
        .summary = summary,
        .proof = &context->proof,
        .settings = &context->settings,
        .check = options->check ? &context->check : NULL,
        .waste = options->waste ? &context->waste : NULL,
        .limit = &context->limit,
        .meters = &context->meters,
        .clock = &context->clock,
        .totals = &totals,
        .latency = exec_options.latency,
        .syscalls = exec_options.syscalls,
        .placement = options->placement ? &context->placement : NULL,
        .counters = &context->counters,
        .binding = &context->binding,
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
    struct rep_options options;
    uint64_t substituted;
    rep_recorded_worker();
    rep_options_parse(argc, argv, &context.settings, &options);
    /* First of all: it becomes two processes, and only the second is to catch crashes and the timeout. */
    const bool counted = !options.syscalls || rep_syscalls_init(&context.syscalls);
    rep_ending_init("mallab-replay-" REP_ALLOCATOR, options.workload, options.report_failure);
    if (!counted)
        rep_complain("system calls cannot be counted: %s", context.syscalls.why);
    (void)alarm(options.timeout_s); /* 0: none */
    if (!resolve_and_prove(&context, &options, &substituted))
        return EXIT_FAILED;
    if (options.settings_only)
        return tell_settings(&context);
    if (!check_settings(&context))
        return EXIT_FAILED;
    if (!rep_limit_begin(&options.limit)) {
        rep_complain("cannot join the control group '%s': %s", options.limit.group, strerror(errno));
        return EXIT_FAILED;
    }
    const int code = open_workload(&context, options.workload);
    if (code != EXIT_DONE)
        return code;
    return run(&context, &options, substituted);
}
