/* verb_top.c - `mallab top`: look at a recording again and again, until it has ended or Ctrl-C.
 *
 * Signals are blocked and asked for between two pieces of work, so that none comes in the middle of a frame and the
 * terminal is always left as it was. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/parse.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/options/select_options.h"
#include "cli/top/top_json.h"
#include "cli/top/top_text.h"
#include "cli/verbs/verbs.h"
#include "convert/recording/recording.h"
#include "footprint/base/signals.h"
#include "record/control.h"
#include "record/process_name.h"

#define INTERVAL_NS_DEFAULT UINT64_C(2000000000)
#define INTERVAL_NS_LEAST   UINT64_C(100000000)

#define CATCH_UP_FRAME_NS UINT64_C(250000000) /* often enough to see it move */
#define ANSWER_NS         UINT64_C(500000000) /* Ctrl-C is not heeded so long */
#define SLICE_MARKS       65536u /* some ms of reading between two looks at signals, and at the peak */

struct settings {
    struct cli_answer answer;
    uint64_t interval_ns, count, process_id, lines;
    bool once;
    const char *process; /* by name, of which process_id is not known yet; else NULL */
    const char *path;
};

/* ---- command line --------------------------------------------------------------------------- */

static int take_process(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct settings *settings = at;
    if (!cli_parse_count(value, 1, INT32_MAX, &settings->process_id))
        settings->process_id = 0;
    settings->process = settings->process_id == 0 ? value : NULL;
    if (settings->process != NULL && strspn(value, "0123456789") == strlen(value))
        return cli_misuse(verb, "'%s' is no process id", value);
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "interval", .argument = "T", .how = CLI_DURATION, .at = AT(interval_ns),
     .least = INTERVAL_NS_LEAST, .takes = "a time of 100ms at least",
     .help = "time between two frames, 100ms at least [2s]"},
    {.name = "count", .argument = "N", .how = CLI_COUNT, .at = AT(count), .least = 1,
     .help = "end after N frames"},
    {.name = "once", .how = CLI_FLAG, .at = AT(once), .help = "print one frame and end"},
    {.name = "process", .argument = "WHICH", .how = CLI_CALL, .take = take_process,
     .help = "only this process: its id, or its program's name, which takes the one with most calls so far "
             "[all]"},
    {.name = "lines", .argument = "N", .how = CLI_COUNT, .at = AT(lines), .least = 10, .most = 1000,
     .help = "lines of a frame [those of the terminal, else 24]"},
    {.group = cli_select_trust_owner},
    {.group = cli_answer_json, .at = AT(answer), .help = "an object a line for each frame"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults(), .interval_ns = INTERVAL_NS_DEFAULT};
    int code = cli_options_take(&CLI_TOP, argc, argv, ret_settings, &operands);
    if (code < 0)
        code = cli_operands_one(&CLI_TOP, &operands, "no recording", "one recording at a time");
    ret_settings->path = code < 0 ? operands.words[0] : NULL;
    if (ret_settings->once)
        ret_settings->count = 1;
    return code;
}

struct top {
    struct settings settings;
    struct conv_view *view;
    struct rec_control control;
    struct cli_progress progress;
    bool may_ask;  /* control is open */
    bool answered; /* the last time that it was asked */
    bool in_place; /* a terminal, on which frames are drawn over one another */
    bool drawn;    /* the cursor is hidden, and to be shown again */
    uint64_t
        seen_ns; /* CLOCK_MONOTONIC when the newest numbers were asked for; before_ns: likewise, a frame before */
    uint64_t before_ns, drawn_ns;
    uint64_t frames;
    int signal; /* that ends us; 0: none came */
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- terminal and signals ------------------------------------------------------------------- */

static void find_size(const struct top *top, unsigned *ret_lines, unsigned *ret_columns)
{
    struct winsize size = {0};
    *ret_lines = 24;
    *ret_columns = 80;
    if (top->in_place && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        if (size.ws_row >= 2)
            *ret_lines = size.ws_row;
        if (size.ws_col >= 2)
            *ret_columns = size.ws_col;
    }
    if (top->settings.lines != 0)
        *ret_lines = (unsigned)top->settings.lines;
}

/* Leave the terminal as it was, below the last frame. */
static void leave_terminal(struct top *top)
{
    cli_progress_end(&top->progress);
    if (!top->drawn)
        return;
    fputs("\n\033[?25h", stdout);
    fflush(stdout);
    top->drawn = false;
}

static const int NUMBERS[] = {FP_ENDING_SIGNALS, SIGTSTP};
#define NUMBER_COUNT (sizeof NUMBERS / sizeof NUMBERS[0])

/* Wait for a signal, at most so long. Returns whether one came that ends us. */
static bool wait_for_signal(struct top *top, uint64_t most_ns)
{
    const uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + most_ns;
    const sigset_t set = fp_signals_set(NUMBERS, NUMBER_COUNT);
    for (uint64_t now = until_ns - most_ns; top->signal == 0; now = now_ns(CLOCK_MONOTONIC)) {
        const uint64_t rest_ns = until_ns > now ? until_ns - now : 0;
        const struct timespec rest = {(time_t)(rest_ns / 1000000000u), (long)(rest_ns % 1000000000u)};
        const int came = sigtimedwait(&set, NULL, &rest);
        if (came < 0 && errno == EAGAIN)
            return false;
        if (came == SIGTSTP) {
            leave_terminal(top);
            (void)raise(SIGSTOP); /* until we are continued */
        } else if (came > 0) {
            top->signal = came;
        }
    }
    return true;
}

/* ---- frames --------------------------------------------------------------------------------- */

static uint64_t duration_ns(const struct conv_view *view)
{
    const struct conv_view_status *status = &view->status;
    const uint64_t now = now_ns(CLOCK_REALTIME);
    if (conv_view_goes_on(view) && status->start_unix_ns != 0 && now > status->start_unix_ns)
        return now - status->start_unix_ns;
    if (status->told && status->duration_ns > 0)
        return status->duration_ns;
    return view->sum.last_time_ns;
}

static struct cli_top_moment moment_of(const struct top *top, bool catching_up)
{
    const struct conv_view *view = top->view;
    uint64_t done, total;
    struct cli_top_moment moment = {
        .time_unix_ns = now_ns(CLOCK_REALTIME),
        .duration_ns = duration_ns(view),
        .is_first = top->frames == 0,
        .is_last = !conv_view_goes_on(view),
        .was_asked = top->may_ask,
        .is_silent = top->may_ask && !top->answered,
        .catching_up = catching_up,
    };
    conv_view_progress(view, &done, &total);
    if (total > 0)
        moment.percent = (unsigned)((double)done / (double)total * 100);
    moment.interval_ns = moment.is_first ? moment.duration_ns : top->seen_ns - top->before_ns;
    if (moment.interval_ns == 0)
        moment.interval_ns = 1;
    return moment;
}

/* Over the frame before: each line to its end, then what is left of the screen. */
static void draw_in_place(struct top *top, const struct res_text *frame)
{
    struct res_text out = {0};
    const char *line = frame->text;
    res_text_printf(&out, "%s\033[H", top->drawn ? "" : "\033[?25l");
    while (line != NULL && *line != '\0') {
        const char *end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
        if (line != frame->text)
            res_text_add(&out, "\n", 1); /* not behind the last one, which would scroll */
        res_text_add(&out, line, length);
        res_text_add(&out, "\033[K", 3);
        line = end != NULL ? end + 1 : NULL;
    }
    res_text_add(&out, "\033[J", 3);
    fwrite(out.text, 1, out.length, stdout);
    free(out.text);
    top->drawn = true;
}

static void show_text(struct top *top, const struct cli_top_moment *moment)
{
    struct res_text frame = {0};
    unsigned lines, columns;
    find_size(top, &lines, &columns);
    cli_top_text(top->view, moment, lines, columns, &frame);
    if (top->in_place)
        draw_in_place(top, &frame);
    else
        printf("%s%s", top->frames > 0 ? "\n" : "", frame.text);
    free(frame.text);
}

/* Returns false when nobody reads it any more. */
static bool show_frame(struct top *top)
{
    const struct cli_top_moment moment = moment_of(top, false);
    cli_progress_end(&top->progress);
    if (top->settings.answer.json) {
        json_t *object = cli_top_json(top->view, &moment);
        if (json_dumpf(object, stdout, JSON_COMPACT) == 0)
            putchar('\n');
        json_decref(object);
    } else {
        show_text(top, &moment);
    }
    top->frames++;
    return fflush(stdout) == 0 && !ferror(stdout);
}

static void show_catching_up(struct top *top)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    if (!top->in_place) {
        uint64_t done, total;
        conv_view_progress(top->view, &done, &total);
        cli_progress_show(&top->progress, "catching up", NULL, 0, done, total);
    } else if (now - top->drawn_ns >= CATCH_UP_FRAME_NS) {
        const struct cli_top_moment moment = moment_of(top, true);
        show_text(top, &moment);
        fflush(stdout);
        top->drawn_ns = now;
    }
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* Ask the collector to write all calls made so far into the footprints, and recording.json anew. Where it cannot be asked, or
 * has no time, the view shows what it has written before. */
static void ask_for_fresh_numbers(struct top *top)
{
    char *problem = NULL;
    if (top->frames == 0)
        top->may_ask = rec_control_open(top->view->directory, &top->control, &problem) == REC_CONTROL_OPEN;
    if (top->may_ask)
        top->answered = rec_control_ask(&top->control, REC_REQUEST_STATUS, ANSWER_NS, &problem);
    free(problem);
    top->seen_ns = now_ns(CLOCK_MONOTONIC);
}

static int fail(struct top *top, const struct conv_error *error)
{
    char text[CONV_PATH_BYTES + 512];
    leave_terminal(top);
    cli_say(&CLI_TOP, "%s", conv_error_text(error, text, sizeof text));
    return conv_error_exit_code(error);
}

/* Look once, and read everything that is there. Returns an exit code, or -1 to go on; top->signal may be set. */
static int look(struct top *top, struct conv_error *error)
{
    bool more = true;
    ask_for_fresh_numbers(top);
    top->drawn_ns = now_ns(CLOCK_MONOTONIC);
    if (conv_view_refresh(top->view, error) != FP_OK)
        return fail(top, error);
    while (more && !wait_for_signal(top, 0)) {
        if (conv_view_read(top->view, SLICE_MARKS, &more, error) != FP_OK)
            return fail(top, error);
        if (more)
            show_catching_up(top);
    }
    if (top->signal == 0 && top->frames == 0 && top->settings.process_id != 0 &&
        top->view->process_count == 0) {
        leave_terminal(top);
        cli_say(&CLI_TOP, "'%s' holds no process %u", top->settings.path, (unsigned)top->settings.process_id);
        return CLI_MISUSE;
    }
    return -1;
}

/* A file is no recording, but a part of one, or made of one: the user is told what reads it. */
static bool is_a_file(const struct top *top)
{
    struct stat facts;
    const char *slash = strrchr(top->settings.path, '/');
    if (stat(top->settings.path, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        strcmp(slash != NULL ? slash + 1 : top->settings.path, "recording.json") == 0)
        return false;
    cli_say(&CLI_TOP, "'%s' is a file, not a recording's directory: 'mallab info' says what it holds",
            top->settings.path);
    return true;
}

static int follow(struct top *top, struct conv_error *error)
{
    for (;;) {
        const int code = look(top, error);
        if (code >= 0)
            return code;
        if (top->signal != 0 || !show_frame(top))
            return CLI_DONE;
        if (!conv_view_goes_on(top->view) || top->frames == top->settings.count)
            return CLI_DONE;
        conv_view_mark(top->view);
        top->before_ns = top->seen_ns;
        const uint64_t next_ns = top->seen_ns + top->settings.interval_ns;
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        if (wait_for_signal(top, next_ns > now ? next_ns - now : 0))
            return CLI_DONE;
    }
}

/* A recording of many processes has as many files open while they run. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* then fewer processes can be looked at */
    }
}

/* Before signals are kept waiting, what will be looked at again and again is seen to be a recording's directory. */
static bool open_view(struct top *top, struct conv_error *error)
{
    if (conv_view_open(top->settings.path, (uint32_t)top->settings.process_id, &top->view, error) != FP_OK)
        return false;
    const int fd = conv_recording_open(top->view->directory, error);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int run(struct top *top)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    const char *terminal = getenv("TERM");
    const sigset_t set = fp_signals_set(NUMBERS, NUMBER_COUNT);
    sigset_t before;
    int code = CLI_FAILED;
    top->in_place = !top->settings.answer.json && top->settings.count != 1 && isatty(STDOUT_FILENO) == 1 &&
                    terminal != NULL && strcmp(terminal, "dumb") != 0;
    allow_many_files();
    cli_progress_begin(&top->progress, top->in_place ? CLI_PROGRESS_NEVER : top->settings.answer.progress);
    sigprocmask(SIG_BLOCK, NULL, &before);
    if (!open_view(top, error)) {
        code = fail(top, error);
    } else {
        sigprocmask(SIG_BLOCK, &set, NULL);
        code = follow(top, error);
    }
    leave_terminal(top);
    rec_control_release(&top->control);
    conv_view_free(top->view);
    free(error);
    if (top->signal != 0 && top->signal != SIGINT)
        (void)raise(top->signal); /* it takes its course below, as if we had not waited for it */
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

static int run_top(int argc, char **argv)
{
    struct top top = {.control.proof.pidfd = -1};
    const int misuse = take_options(argc, argv, &top.settings);
    if (misuse >= 0)
        return misuse;
    if (is_a_file(&top))
        return CLI_UNREADABLE;
    uint32_t process_id = 0;
    char *problem = NULL;
    const enum rec_named named = top.settings.process != NULL
                                     ? rec_process_named(top.settings.path, top.settings.process, &process_id,
                                                         NULL, &problem)
                                     : REC_NAMED;
    if (named != REC_NAMED) {
        cli_say(&CLI_TOP, "%s", problem);
        free(problem);
        return named == REC_NAMED_NONE ? CLI_FAILED : CLI_UNREADABLE;
    }
    if (process_id != 0)
        top.settings.process_id = process_id;
    return run(&top);
}

const struct cli_verb CLI_TOP = {
    .name = "top",
    .summary = "watch a recording while it is made",
    .usage = "[OPTION...] DIR",
    .purpose = "Show what a program does while it is recorded: its calls, live memory, sizes, threads and "
               "processes, and whether the recorder keeps up. Ends when the recording does; Ctrl-C ends it "
               "before.",
    .options = OPTIONS,
    .completes = ":directories",
    .examples = "mallab top mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 DIR unreadable, damaged or too new",
    .run = run_top,
};
