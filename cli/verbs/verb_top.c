/* verb_top.c - `mallab top`: look at a recording again and again, until it has ended or the user has seen enough.
 *
 * Signals are only noted, and looked at between two pieces of work: the terminal is left as it was. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/options/select_options.h"
#include "cli/top/top_frame.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/clock.h"
#include "footprint/base/support.h"
#include "record/attach/late_owner.h"
#include "record/control.h"

#define INTERVAL_NS_DEFAULT UINT64_C(2000000000)
#define INTERVAL_NS_LEAST   UINT64_C(100000000)

#define WAIT_NS     100000000
#define ANSWER_NS   UINT64_C(500000000) /* Ctrl-C is not heeded so long */
#define SLICE_MARKS 65536u              /* some ms of reading between two looks at signals, and at the peak */

struct settings {
    struct cli_answer answer;
    uint64_t interval_ns, count;
    enum cli_top_sort sort;
    bool once;
    uint64_t process_id; /* 0: all */
    const char *path;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "interval", .argument = "T", .how = CLI_DURATION, .at = AT(interval_ns),
     .least = INTERVAL_NS_LEAST, .takes = "a time of 100ms at least",
     .help = "time between two frames, 100ms at least [2s]"},
    {.name = "count", .argument = "N", .how = CLI_COUNT, .at = AT(count), .least = 1,
     .help = "end after N frames [on a terminal when the recording ends, else 1]"},
    {.name = "once", .how = CLI_FLAG, .at = AT(once), .help = "print one frame and end"},
    {.name = "sort", .argument = "BY", .how = CLI_CHOICE, .at = AT(sort), .words = CLI_TOP_SORT_WORDS,
     .help = "processes with most of it first: rate, calls or live; the key s takes the next [rate]"},
    {.name = "process", .argument = "PID", .how = CLI_COUNT, .at = AT(process_id), .least = 1, .most = INT32_MAX,
     .takes = "a process id",
     .help = "only this process [all]"},
    {.group = cli_select_trust_owner},
    {.group = cli_answer_json, .at = AT(answer), .help = "an object a line for each frame"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {0},
};
/* clang-format on */

struct top {
    struct settings settings;
    struct conv_view *view;
    struct rec_control control;
    struct cli_progress progress;
    struct termios before; /* the terminal, while takes_keys */
    bool takes_keys;
    bool may_ask;      /* control is open */
    bool answered;     /* the last time that it was asked */
    bool in_place;     /* a terminal, on which frames are drawn over one another */
    uint64_t seen_ns;  /* CLOCK_MONOTONIC when the newest numbers were asked for */
    uint64_t since_ns; /* likewise, a frame before */
    uint64_t frames;
};

/* ---- the user --------------------------------------------------------------------------------- */

enum wish { WISH_NONE, WISH_ANOTHER_SORT, WISH_END };

/* Wait for a key or a signal, at most so long. A signal may come just before a wait, which is short for that. */
static enum wish wait_for_user(struct top *top, uint64_t most_ns)
{
    const uint64_t until_ns = fp_now_ns() + most_ns;
    for (;;) {
        struct pollfd keys = {.fd = top->takes_keys ? STDIN_FILENO : -1, .events = POLLIN};
        const uint64_t now = fp_now_ns(), rest_ns = until_ns > now ? until_ns - now : 0;
        char key = '\0';
        if (poll(&keys, 1, rest_ns < WAIT_NS ? (int)(rest_ns / 1000000) : WAIT_NS / 1000000) > 0 &&
            read(STDIN_FILENO, &key, 1) != 1)
            top->takes_keys = false; /* the terminal has gone */
        if (cli_stopped_by != 0 || key == 'q')
            return WISH_END;
        if (key == 's') {
            top->settings.sort = (top->settings.sort + 1) % CLI_TOP_SORTS;
            return WISH_ANOTHER_SORT;
        }
        if (rest_ns == 0)
            return WISH_NONE;
    }
}

/* Keys come one by one and unseen. Anew for each frame: whoever was stopped meanwhile finds the shell's terminal. In the
 * background it is another's. */
static void take_keys(struct top *top)
{
    const pid_t front = tcgetpgrp(STDIN_FILENO);
    struct termios raw;
    if (!top->takes_keys && tcgetattr(STDIN_FILENO, &top->before) != 0)
        return;
    top->takes_keys = front < 0 || front == getpgrp();
    raw = top->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (top->takes_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw); /* then keys come with the next newline */
}

static void leave_terminal(struct top *top)
{
    cli_progress_end(&top->progress);
    if (top->in_place && top->frames > 0)
        printf("\n");
    if (top->takes_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &top->before); /* it has gone, or takes it as it took ours */
    top->in_place = top->takes_keys = false;
}

/* ---- frames --------------------------------------------------------------------------------- */

static struct cli_top_moment moment_of(const struct top *top)
{
    const struct conv_view_status *status = &top->view->status;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
    struct cli_top_moment moment = {
        .time_unix_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec,
        .is_first = top->frames == 1,
        .was_asked = top->may_ask,
        .is_silent = top->may_ask && !top->answered,
    };
    if (conv_view_goes_on(top->view) && status->start_unix_ns != 0 &&
        moment.time_unix_ns > status->start_unix_ns)
        moment.duration_ns = moment.time_unix_ns - status->start_unix_ns;
    else if (status->told && status->duration_ns > 0)
        moment.duration_ns = status->duration_ns;
    else
        moment.duration_ns = top->view->sum.last_time_ns;
    moment.interval_ns = moment.is_first ? moment.duration_ns : top->seen_ns - top->since_ns;
    moment.interval_ns += moment.interval_ns == 0;
    return moment;
}

/* Over the frame before: each line to its end and no further than the page, then what is left of the screen. */
static void draw_in_place(const char *text, const struct winsize *page)
{
    printf("\033[H");
    for (unsigned line = 0; *text != '\0' && line < page->ws_row; line++) {
        const size_t length = strcspn(text, "\n");
        size_t end = 0;
        for (unsigned column = 0; end < length; end++)
            if (((unsigned char)text[end] & 0xc0) != 0x80 && column++ == page->ws_col)
                break;
        printf("%s%.*s\033[K", line > 0 ? "\n" : "", (int)end, text);
        text += length + 1;
    }
    printf("\033[J");
}

/* Returns false when nobody reads it any more. */
static bool show_frame(struct top *top)
{
    const struct cli_top_moment moment = moment_of(top);
    struct winsize page = {.ws_row = 24, .ws_col = 80}, found;
    cli_progress_end(&top->progress);
    if (top->settings.answer.json) {
        json_t *object = cli_top_json(top->view, &moment, top->settings.sort);
        if (json_dumpf(object, stdout, JSON_COMPACT) == 0)
            putchar('\n');
        json_decref(object);
    } else {
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_row >= 2 && found.ws_col >= 2)
            page = found;
        char *text = cli_top_text(top->view, &moment, top->settings.sort);
        if (top->in_place)
            draw_in_place(text, &page);
        else
            printf("%s%s", top->frames > 1 ? "\n" : "", text);
        free(text);
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static int fail(struct top *top, const struct conv_error *error)
{
    leave_terminal(top);
    return cli_conv_failed(&CLI_TOP, error);
}

/* Ask the collector to write all calls made so far into the footprints, and recording.json anew, and read all that is there.
 * Where it cannot be asked, or has no time, that is what it has written before. Returns an exit code, or -1 to go on. */
static int look(struct top *top, struct conv_error *error)
{
    bool more = true;
    char *problem = NULL;
    uint64_t done, total;
    if (top->frames == 0)
        top->may_ask = rec_control_open(top->view->directory, &top->control, &problem) == REC_CONTROL_OPEN;
    if (top->may_ask)
        top->answered = rec_control_ask(&top->control, REC_REQUEST_STATUS, ANSWER_NS, &problem);
    free(problem);
    top->seen_ns = fp_now_ns();
    if (conv_view_refresh(top->view, error) != FP_OK)
        return fail(top, error);
    while (more) {
        if (wait_for_user(top, 0) == WISH_END)
            return CLI_DONE;
        if (conv_view_read(top->view, SLICE_MARKS, &more, error) != FP_OK)
            return fail(top, error);
        conv_view_progress(top->view, &done, &total);
        if (top->frames == 0)
            cli_progress_show(&top->progress, "catching up", NULL, 0, done, total);
    }
    if (top->frames > 0 || top->view->only == 0 || top->view->process_count > 0)
        return -1;
    cli_say(&CLI_TOP, "'%s' holds no process %u", top->settings.path, top->view->only);
    return CLI_MISUSE;
}

static int follow(struct top *top, struct conv_error *error)
{
    for (;; conv_view_mark(top->view)) {
        enum wish wish;
        const int code = look(top, error);
        if (code >= 0)
            return code;
        top->frames++;
        do {
            if (top->in_place)
                take_keys(top);
            if (!show_frame(top) || !conv_view_goes_on(top->view) || top->frames == top->settings.count)
                return CLI_DONE;
            const uint64_t next_ns = top->seen_ns + top->settings.interval_ns, now = fp_now_ns();
            wish = wait_for_user(top, next_ns > now ? next_ns - now : 0);
        } while (wish == WISH_ANOTHER_SORT);
        if (wish == WISH_END)
            return CLI_DONE;
        top->since_ns = top->seen_ns;
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

static int run(struct top *top)
{
    struct conv_error *error = res_calloc(1, sizeof *error);
    const char *terminal = getenv("TERM");
    int code;
    top->in_place = !top->settings.answer.json && top->settings.count != 1 && isatty(STDOUT_FILENO) == 1 &&
                    terminal != NULL && strcmp(terminal, "dumb") != 0;
    if (!top->in_place && top->settings.count == 0)
        top->settings.count = 1;
    allow_many_files();
    cli_progress_begin(&top->progress, top->settings.answer.progress);
    cli_stops_take();
    if (conv_view_open(top->settings.path, (uint32_t)top->settings.process_id, &top->view, error) != FP_OK)
        code = fail(top, error);
    else
        code = follow(top, error);
    leave_terminal(top);
    rec_control_release(&top->control);
    conv_view_free(top->view);
    free(error);
    if (cli_stopped_by != SIGINT)
        cli_stops_end();
    return code;
}

/* A file is no recording, but a part of one, or made of one: the user is told what reads it. */
static bool is_a_file(const struct top *top)
{
    struct stat facts;
    const char *path = top->settings.path;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        strcmp(conv_path_name(path), "recording.json") == 0)
        return false;
    cli_say(&CLI_TOP, "'%s' is a file, not a recording's directory: 'mallab info' says what it holds",
            top->settings.path);
    return true;
}

static int run_top(int argc, char **argv)
{
    struct top top = {.control.proof.pidfd = -1};
    struct cli_operands operands;
    top.settings = (struct settings){.answer = cli_answer_defaults(), .interval_ns = INTERVAL_NS_DEFAULT};
    int code = cli_options_take(&CLI_TOP, argc, argv, &top.settings, &operands);
    if (code < 0)
        code = cli_operands_one(&CLI_TOP, &operands, "no recording", "one recording at a time");
    if (code >= 0)
        return code;
    top.settings.path = rec_owner_enter(operands.words[0]);
    if (top.settings.once)
        top.settings.count = 1;
    if (is_a_file(&top))
        return CLI_UNREADABLE;
    return run(&top);
}

const struct cli_verb CLI_TOP = {
    .name = "top",
    .summary = "watch a recording while it is made",
    .usage = "[OPTION...] DIR",
    .purpose =
        "Show what a program does while it is recorded: its processes, calls, live memory, and whether "
        "the recorder keeps up. Ends when the recording does; q or Ctrl-C ends it before. Where the "
        "answer goes to no terminal, it is one frame.",
    .options = OPTIONS,
    .completes = ":directories",
    .examples = "mallab top mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 DIR unreadable, damaged or too new",
    .run = run_top,
};
