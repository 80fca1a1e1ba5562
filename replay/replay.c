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
#include "replay/base/own_process.h"
#include "replay/clock/recorded.h"
#include "replay/exec/idle.h"
#include "replay/exec/latency_pass.h"
#include "replay/exec/slices.h"
#include "replay/meters/meters.h"
#include "replay/outcome/ending.h"
#include "replay/outcome/outcome.h"
#include "replay/proof/settings.h"
#include "replay/replay_options.h"
#include "replay/system/processors.h"
#include "replay/system/run_limit.h"

/* All of a run; there is one a process. */
struct run {
    struct rep_options options;
    struct wl_reader *reader;
    const struct wl_summary *summary;
    uint64_t inherited_ops; /* create what the program had when the recording began, and are not measured */
    struct rep_proof proof;
    struct rep_settings settings;
    struct rep_calls calls; /* the allocator's own; a pass may put stand-ins into the loop */
    uint64_t substituted;
    struct rep_loop loop;
    struct rep_clock clock;
    struct rep_meters meters;
    struct rep_check check;
    struct rep_waste waste;
    struct rep_latency latency;
    struct rep_limit limit;
    bool sliced;
    struct rep_slices slices; /* if so */
    bool begun;
    struct rep_exec_options exec_options;
    struct rep_exec *exec;
    void **idle_slots;
    struct rep_exec_totals totals;
    struct rep_account account;
};

/* ---- callbacks of the run ------------------------------------------------------------------ */

static enum fp_status next_of_workload(void *context, struct wl_window *ret_window)
{
    struct run *run = context;
    return wl_reader_next(run->reader, ret_window);
}

static enum fp_status next_window(void *context, struct wl_window *ret_window)
{
    struct run *run = context;
    const enum fp_status status = run->sliced
                                      ? rep_slices_next(&run->slices, next_of_workload, context, ret_window)
                                      : next_of_workload(context, ret_window);
    if (status == FP_OK && !run->begun) {
        if (run->options.recorded_clock)
            rep_recorded_begin(ret_window->facts.start_ns);
        else
            rep_recorded_decline();
        run->begun = true;
    }
    return status;
}

/* Looking at memory is no part of the run: the meters leave out its time and its page faults. */
static void look_at_memory(struct run *run, const struct wl_window *window)
{
    if (!run->options.waste)
        return;
    rep_meters_pause(&run->meters);
    if (rep_waste_follow(&run->waste, window))
        rep_waste_sample(&run->waste, &run->waste.peak, window->facts.first_op + window->op_count,
                         window->facts.end_ns, rep_meters_resident(&run->meters));
    rep_meters_resume(&run->meters);
}

static void window_done(void *context, const struct wl_window *window, const struct rep_window_times *times)
{
    struct run *run = context;
    const uint64_t ops = window->facts.first_op + window->op_count;
    if (times->timed)
        rep_meters_window(&run->meters, window, times->allocator_ticks, times->preempted_ns,
                          times->blocked_ns);
    else
        rep_meters_begin(&run->meters);
    rep_ending_progress(ops);
    rep_limit_progress(ops, window->facts.live_bytes, window->facts.live_objects);
    look_at_memory(run, window);
}

/* ---- the allocator and its settings ------------------------------------------------------------ */

static bool resolve_and_prove(struct run *run)
{
    const struct rep_options *options = &run->options;
    if (!rep_proof_init(&run->proof, REP_ALLOCATOR, options->expected_library, options->proof_kind)) {
        rep_complain("'%s' is no kind of proof; known: %s", run->proof.kind, rep_proof_kinds);
        exit(EXIT_MISUSE);
    }
    const char *missing = rep_calls_resolve(&run->calls, &run->substituted);
    if (missing != NULL) {
        rep_complain(
            "the candidate '%s' lacks %s: the library that its malloc comes from does not have it, and "
            "another library's would hand out memory of another heap; what is to be replayed needs malloc, "
            "free, calloc, realloc and posix_memalign of its own",
            options->candidate, missing);
        return false;
    }
    if (!rep_proof_check(&run->proof, &run->calls)) {
        rep_complain("wrong allocator: %s", run->proof.why);
        return false;
    }
    run->loop.calls = run->calls;
    run->settings.kind = run->proof.kind;
    return true;
}

static bool settings_are_right(const struct run *run, bool right)
{
    if (!right)
        rep_complain("wrong settings: %s", run->settings.why);
    return right;
}

/* ---- the workload ------------------------------------------------------------------------------- */

static int complain_of_workload(const struct run *run, const struct fp_error *error)
{
    char text[PATH_MAX + 256];
    rep_complain("cannot read %s", fp_error_text(error, run->options.workload, text, sizeof text));
    return EXIT_BAD_INPUT;
}

static int open_workload(struct run *run)
{
    struct fp_error error;
    const enum fp_status status = run->reader != NULL
                                      ? FP_OK
                                      : wl_reader_open(run->options.workload, &error, &run->reader);
    if (status != FP_OK) {
        const int code = complain_of_workload(run, &error);
        return status == FP_ERR_MEMORY ? EXIT_FAILED : code;
    }
    run->summary = wl_reader_summary(run->reader);
    run->inherited_ops = wl_reader_meta_number(run->reader, "inherited_objects"); /* windows are whole */
    return EXIT_DONE;
}

static int explain_status(const struct run *run, enum fp_status status)
{
    struct fp_error error = {.status = status, .what = "a window breaks the summary"};
    if (wl_reader_error(run->reader)->status == status)
        error = *wl_reader_error(run->reader);
    return complain_of_workload(run, &error);
}

static const char *incomplete_why(const struct wl_reader *reader)
{
    const char *complete = wl_reader_meta(reader, "complete");
    const char *why = wl_reader_meta(reader, "incomplete_why");
    if (complete == NULL || strcmp(complete, "yes") == 0)
        return NULL;
    return why != NULL ? why : "it does not say why";
}

/* More threads cost their stacks (150 KiB each) and the kernel's patience: only who asks gets them. */
static bool starts_threads(const struct run *run)
{
    const uint32_t threads = run->summary->threads_at_once_max;
    if (run->exec_options.serial || threads <= REP_THREADS_AT_ONCE_MAX || fp_memory_is_asked())
        return true;
    rep_complain("'%s' has %s threads at once, more than the %s that are started: --one-thread replays it "
                 "with one, --max-memory SIZE (" FP_MEMORY_VARIABLE ", in bytes) starts as many as fit in it",
                 run->options.workload, FP_GROUPED(threads), FP_GROUPED(REP_THREADS_AT_ONCE_MAX));
    return false;
}

static int too_large(const struct run *run)
{
    const struct wl_summary *summary = run->summary;
    char needs[160];
    snprintf(needs, sizeof needs, "%s object slots, %u threads at once, %s windows",
             FP_GROUPED(summary->id_max), summary->threads_at_once_max, FP_GROUPED(summary->windows));
    if (fp_memory_refused()) {
        rep_complain("'%s' takes more memory than %s MiB, %s: %s; --max-memory SIZE (" FP_MEMORY_VARIABLE
                     ", in bytes) sets another bound",
                     run->options.workload, FP_GROUPED(fp_memory_bound() >> 20), fp_memory_reason(), needs);
        return EXIT_BAD_INPUT;
    }
    rep_complain("'%s' does not fit this machine's memory: %s", run->options.workload, needs);
    return EXIT_FAILED;
}

/* The reader stays the run's, but where memory is limited: there what is held before the limit begins is counted. A workload that
 * cannot be opened is told of later. */
static struct rep_told recorded_processors(struct run *run)
{
    const struct rep_options *options = &run->options;
    struct wl_reader *reader;
    struct rep_told told = {0};
    if (options->serial || options->workload == NULL ||
        wl_reader_open(options->workload, NULL, &reader) != FP_OK)
        return told;
    const uint64_t usable = wl_reader_meta_number(reader, "usage_affinity"),
                   online = wl_reader_meta_number(reader, "usage_processors");
    if (wl_reader_summary(reader)->thread_count > 1 && usable > 0 && usable <= online &&
        online <= FP_PROCESSORS_MAX)
        told = (struct rep_told){(unsigned)usable, (unsigned)online};
    if (options->limit.bytes > 0)
        wl_reader_close(reader);
    else
        run->reader = reader;
    return told;
}

static bool tell_processors(struct run *run, char **arguments)
{
    struct rep_told told = {run->options.processors, run->options.processors};
    if (told.usable == 0)
        told = recorded_processors(run);
    if (rep_tell(told, arguments))
        return true;
    rep_complain("cannot begin anew to tell the allocator of %u processors: %s", told.usable,
                 strerror(errno));
    return false;
}

/* ---- before the first op ------------------------------------------------------------------------- */

static void set_exec_options(struct run *run, bool serial)
{
    const struct rep_options *options = &run->options;
    run->exec_options = (struct rep_exec_options){
        .loop = &run->loop,
        .clock = &run->clock,
        .summary = run->summary,
        .untimed_ops = run->inherited_ops,
        .serial = serial,
        .processors = rep_processors(),
        .latency = options->latency ? &run->latency : NULL,
        .recorded_clock = run->options.recorded_clock,
        .next = next_window,
        .at_rest = window_done,
        .fail = rep_ending_failed,
        .check = options->check ? &run->check : NULL,
        .context = run,
    };
}

/* Ids that only the rest of a run that checks uses. */
static uint32_t rest_ids(const struct run *run)
{
    return run->options.check ? REP_IDLE_OBJECTS : 0;
}

/* A run that is for memory is sliced. Passes that look at something else have the same windows on every clock. */
static bool prepare_windows(struct run *run)
{
    const struct rep_options *options = &run->options;
    run->sliced = options->recorded_clock && !options->latency && !options->check;
    if (!run->sliced)
        return rep_meters_init(&run->meters, run->summary->windows);
    return rep_meters_init(&run->meters, rep_slices_count_max(run->summary)) &&
           rep_slices_init(&run->slices, run->summary, run->inherited_ops);
}

static bool prepare_pass(struct run *run)
{
    const struct rep_options *options = &run->options;
    const uint32_t id_max = run->summary->id_max;
    if (options->latency &&
        !rep_latency_init(&run->latency, run->summary, run->inherited_ops, &run->loop.calls))
        return false;
    if (options->check && (id_max > UINT32_MAX - rest_ids(run) ||
                           !rep_check_init(&run->check, &run->loop, id_max + rest_ids(run))))
        return false;
    return !options->waste || rep_waste_init(&run->waste, run->reader, run->proof.kind, run->loop.slots);
}

/* Map all that the run will need. */
static bool map_all(struct run *run)
{
    run->loop.touch = REP_TOUCH_PAGE;
    run->loop.touch_step = rep_touch_step;
    run->loop.far = run->summary->id_max >= REP_SLOTS_NEAR;
    run->loop.slots = rep_storage_map((size_t)run->summary->id_max + 1 + rest_ids(run),
                                      sizeof *run->loop.slots);
    run->idle_slots = rep_storage_map(REP_IDLE_OBJECTS, sizeof *run->idle_slots);
    run->exec = rep_exec_init(&run->exec_options);
    return run->idle_slots != NULL && run->loop.slots != NULL && run->exec != NULL && prepare_windows(run) &&
           prepare_pass(run);
}

static bool limit_memory(struct run *run)
{
    struct rep_limit *limit = &run->limit;
    const struct rep_limit_options *options = &run->options.limit;
    rep_limit_workload(run->summary->ops, run->summary->window_ops_max);
    if (!rep_limit_set(limit)) {
        rep_complain("cannot limit memory to %s bytes: %s", FP_GROUPED(options->bytes), strerror(errno));
        return false;
    }
    rep_ending_limit(limit->bytes, options->group == NULL);
    if (limit->early_bytes > limit->bytes)
        rep_ending_over_limit(limit->early_bytes, options->group != NULL ? "in memory" : "mapped");
    return true;
}

static int prepare(struct run *run)
{
    const bool serial = run->options.serial || run->summary->thread_count == 1;
    set_exec_options(run, serial);
    if (!starts_threads(run))
        return EXIT_BAD_INPUT;
    if (run->options.recorded_clock && run->summary->duration_ns == 0) {
        rep_complain("'%s' has no recorded time: replay it with --clock real", run->options.workload);
        return EXIT_FAILED;
    }
    if (!map_all(run))
        return too_large(run);
    return limit_memory(run) ? EXIT_DONE : EXIT_FAILED;
}

/* ---- from the first op to the last ------------------------------------------------------------- */

static enum fp_status measure(struct run *run)
{
    rep_clock_init(&run->clock);
    if (run->options.latency)
        rep_latency_calibrate(&run->latency, &run->clock);
    rep_watch();
    rep_meters_start(&run->meters);
    const enum fp_status status = rep_exec_run(run->exec);
    if (status != FP_OK)
        return status;
    rep_recorded_advance(run->summary->duration_ns);
    rep_meters_stop(&run->meters);
    return FP_OK;
}

/* A check ignores --idle-ms and always takes the longest rest: an allocator that fails there is broken. */
static void check_rest(struct run *run)
{
    struct rep_check_problem problem;
    run->check.rest_from = run->summary->ops;
    if (!rep_idle_check(run->options.recorded_clock, &run->check, run->summary->id_max, &problem))
        rep_ending_check(problem.text);
}

static void rest(struct run *run)
{
    const struct rep_options *options = &run->options;
    const bool calls = options->recorded_clock; /* idle.h: on the machine's clock nothing is called */
    if (options->waste)
        rep_waste_sample(&run->waste, &run->waste.end, run->summary->ops, run->summary->duration_ns,
                         run->meters.end_bytes);
    if (options->check)
        check_rest(run);
    else if (options->idle_ms > 0)
        rep_idle(calls, &run->calls, calls ? run->idle_slots : NULL, (uint64_t)options->idle_ms * 1000000);
    if (options->idle_ms > 0)
        rep_meters_idle(&run->meters, calls);
}

/* ---- after it ---------------------------------------------------------------------------------- */

static bool clock_was_asked(const struct run *run)
{
    if (!run->options.expects_clock || !run->account.recorded || run->account.asks.asked > 0)
        return true;
    rep_complain(
        "the allocator is known to use the clock, and never asked the replay's: its memory cannot be "
        "predicted; replay it with --clock real, or mend 'clock' in its INI file");
    return false;
}

static bool is_proven(struct run *run)
{
    struct rep_check_problem problem;
    if (!clock_was_asked(run))
        return false;
    if (run->options.check && !rep_check_end(&run->check, &problem))
        rep_ending_check(problem.text);
    rep_clock_rate(&run->clock);
    if (!rep_proof_after(&run->proof, rep_watch_count())) {
        rep_complain("%s", run->proof.why);
        return false;
    }
    return settings_are_right(run, rep_settings_after(&run->settings));
}

static int print_outcome(const struct run *run)
{
    const struct rep_options *options = &run->options;
    const struct rep_outcome outcome = {
        .candidate = options->candidate,
        .binary = REP_ALLOCATOR,
        .workload = options->workload,
        .incomplete_why = incomplete_why(run->reader),
        .workload_digest = wl_reader_info(run->reader)->digest,
        .exec = &run->exec_options,
        .proof = &run->proof,
        .settings = &run->settings,
        .waste = options->waste ? &run->waste : NULL,
        .limit = &run->limit,
        .meters = &run->meters,
        .totals = &run->totals,
        .told = rep_told().usable,
        .substituted = run->substituted,
        .idle_ms = options->idle_ms,
        .account = &run->account,
    };
    errno = 0;
    if (options->json ? rep_outcome_json(&outcome) : rep_outcome_text(&outcome))
        return EXIT_DONE;
    rep_complain("cannot write to standard output: %s",
                 errno != 0 ? strerror(errno) : "an earlier write failed");
    return EXIT_FAILED;
}

static int replay(struct run *run)
{
    const int code = prepare(run);
    if (code != EXIT_DONE)
        return code;
    const enum fp_status status = measure(run);
    if (status != FP_OK)
        return explain_status(run, status);
    rest(run);
    rep_exec_end(run->exec, &run->totals);
    rep_limit_lift(&run->limit);
    rep_account_take(&run->account, run->options.recorded_clock, run->summary->duration_ns > 0,
                     rep_meters_threads());
    return is_proven(run) ? print_outcome(run) : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static struct run run;
    const struct rep_options *options = &run.options;
    rep_recorded_worker();
    rep_options_parse(argc, argv, &run.settings, &run.options);
    rep_ending_init("mallab-replay-" REP_ALLOCATOR, options->workload, options->report_failure);
    if (!tell_processors(&run, argv))
        return EXIT_FAILED;
    (void)alarm(options->timeout_s); /* 0: none */
    if (!resolve_and_prove(&run))
        return EXIT_FAILED;
    if (!settings_are_right(&run, rep_settings_check(&run.settings)))
        return options->settings_only ? EXIT_MISUSE : EXIT_FAILED;
    if (options->settings_only)
        return EXIT_DONE;
    if (!rep_limit_begin(&options->limit)) {
        rep_complain("cannot join the control group '%s': %s", options->limit.group, strerror(errno));
        return EXIT_FAILED;
    }
    const int code = open_workload(&run);
    return code == EXIT_DONE ? replay(&run) : code;
}
