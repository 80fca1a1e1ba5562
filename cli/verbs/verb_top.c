/* verb_top.c - `mallab top`: what a recording's collector knows of it, again and again until it has ended.
 *
 * The collector is asked for fresh figures and writes them to recording.json: no footprint is read. Rates are by the
 * collector's clock, of the time since the frame before, in the first frame since recording began. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/describe/describe.h"
#include "cli/verbs/verbs.h"
#include "convert/recording/recording.h"
#include "footprint/base/words.h"
#include "record/attach/late_record.h"

#define INTERVAL_NS_DEFAULT UINT64_C(2000000000)
#define INTERVAL_NS_LEAST   UINT64_C(100000000)
#define ANSWER_NS           UINT64_C(500000000)
#define RATE_MOST           1e18 /* which counts of a hostile file may be beyond, and a uint64_t holds */
#define LISTED_MOST         100  /* processes: a line of JSON stays readable by simple means */

struct settings {
    struct cli_answer answer;
    uint64_t interval_ns, count;
    bool once;
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
    {.row = &cli_select_trust_owner},
    {.row = &cli_answer_json, .at = AT(answer), .help = "an object a line for each frame"},
    {0},
};
/* clang-format on */

struct top {
    char directory[CONV_PATH_BYTES];
    struct conv_recording now, before; /* before the first frame there was nothing */
    struct conv_survey collector;      /* what became of it: state, pid, why */
    bool asked, answered;
};

/* ---- figures ---------------------------------------------------------------------------------- */

static bool goes_on(const struct top *top)
{
    return top->collector.recording_state == CONV_RECORDING_GOING_ON ||
           top->collector.recording_state == CONV_RECORDING_OUT_OF_SIGHT;
}

static uint64_t interval_ns(const struct top *top)
{
    const uint64_t now = top->now.duration_ns, before = top->before.duration_ns;
    return now > before ? now - before : 0;
}

static double per_second(const struct top *top, uint64_t now, uint64_t before)
{
    const uint64_t span_ns = interval_ns(top);
    return now > before && span_ns > 0 ? fmin((double)(now - before) * 1e9 / (double)span_ns, RATE_MOST) : 0;
}

/* Calls in windows that are gone are calls, too. */
static double calls_per_second(const struct top *top)
{
    return per_second(top, conv_add_saturating(top->now.events, top->now.events_removed),
                      conv_add_saturating(top->before.events, top->before.events_removed));
}

/* The collector's share of one CPU. */
static double collector_share(const struct top *top)
{
    return per_second(top, top->now.collector_cpu_ns, top->before.collector_cpu_ns) / 1e9;
}

/* ---- processes -------------------------------------------------------------------------------- */

struct row {
    const struct conv_recorded_process *process;
    uint64_t calls;
    double rate;
    bool runs; /* or did when recording ended */
    uint64_t rss_bytes;
};

static struct row row_of(const struct top *top, const struct conv_recorded_process *process,
                         const struct conv_recorded_process *before)
{
    struct fp_usage usage;
    struct row row = {.process = process,
                      .calls = conv_add_saturating(process->events, process->events_removed),
                      .runs = process->ended != NULL && strcmp(process->ended, "running") == 0,
                      .rss_bytes = FP_USAGE_UNKNOWN};
    row.rate = per_second(top, row.calls,
                          before != NULL ? conv_add_saturating(before->events, before->events_removed) : 0);
    if (row.runs && conv_recording_usage(process, &usage))
        row.rss_bytes = usage.rss_end_bytes;
    return row;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->runs != b->runs)
        return a->runs ? -1 : 1;
    if (a->rate != b->rate)
        return a->rate < b->rate ? 1 : -1;
    return (a->calls < b->calls) - (a->calls > b->calls);
}

/* The busiest, the caller's to free. The collector lists processes as it found them: those of the frame before, without some
 * that are gone, then new ones. */
static struct row *rank(const struct top *top, size_t *ret_count)
{
    const struct conv_recording *now = &top->now, *before = &top->before;
    struct row *rows = res_calloc(now->process_count + 1, sizeof *rows);
    size_t old = 0;
    for (size_t i = 0; i < now->process_count; i++, old++) {
        while (old < before->process_count &&
               before->processes[old].process_id != now->processes[i].process_id)
            old++;
        rows[i] = row_of(top, &now->processes[i],
                         old < before->process_count ? &before->processes[old] : NULL);
    }
    qsort(rows, now->process_count, sizeof *rows, compare_rows);
    *ret_count = now->process_count < LISTED_MOST ? now->process_count : LISTED_MOST;
    return rows;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static json_t *processes_json(const struct top *top)
{
    size_t count;
    struct row *rows = rank(top, &count);
    json_t *array = json_array();
    for (const struct row *row = rows; row < rows + count; row++) {
        json_t *object = json_object();
        cli_json_set(object, "pid", row->process->process_id);
        cli_json_set(object, "parent_pid", row->process->parent_process_id);
        cli_json_set(object, "name", row->process->name);
        cli_json_set(object, "running", row->runs);
        cli_json_set(object, "threads", row->process->threads);
        cli_json_set(object, "events", row->calls);
        cli_json_set(object, "events_per_s", row->rate);
        cli_json_set(object, "bytes", row->process->bytes);
        cli_json_set(object, "rss_bytes",
                     row->rss_bytes != FP_USAGE_UNKNOWN ? cli_json_number(row->rss_bytes) : json_null());
        json_array_append_new(array, object);
    }
    free(rows);
    return array;
}

static json_t *frame_json(const struct top *top)
{
    const struct conv_recording *now = &top->now;
    const enum conv_recording_state state = top->collector.recording_state;
    json_t *object = rec_status_json(now, goes_on(top));
    cli_json_set(object, "schema", "mallab-top/1");
    if (!now->finished && state != CONV_RECORDING_GOING_ON)
        cli_json_set(object, "state", conv_recording_state_name(state));
    cli_json_set(object, "unfinished_why",
                 now->finished ? NULL : (const char *)top->collector.unfinished_why);
    cli_json_set(object, "ended", (bool)!goes_on(top));
    cli_json_set(object, "collector_pid", cli_json_known(top->collector.collector_pid));
    cli_json_set(object, "answered", goes_on(top) && top->asked ? json_boolean(top->answered) : json_null());
    if (goes_on(top) && !top->answered)
        cli_json_set(object, "lost_known", (bool)false);
    cli_json_set(object, "interval_ns", interval_ns(top));
    cli_json_set(object, "events_per_s", calls_per_second(top));
    cli_json_set(object, "events_removed", now->events_removed);
    cli_json_set(object, "windows_removed", now->windows_removed);
    cli_json_set(object, "max_size_bytes", cli_json_known(now->max_size_bytes));
    cli_json_set(object, "collector_cpu_share", collector_share(top));
    cli_json_set(object, "segment_bytes", now->segment_bytes);
    cli_json_set(object, "processes", (uint64_t)now->process_count);
    cli_json_set(object, "process_list", processes_json(top));
    return object;
}

/* ---- text ------------------------------------------------------------------------------------- */

/* The status that `mallab record --control` tells, and what is known beyond it. */
static char *frame_text(const struct top *top)
{
    static const struct cli_column COLUMNS[] = {{"process", "name", CLI_SHOWN_TEXT},
                                                {"pid", "pid", CLI_SHOWN_ID},
                                                {"calls/s", "events_per_s", CLI_SHOWN_COUNT},
                                                {"calls", "events", CLI_SHOWN_COUNT},
                                                {"memory", "rss_bytes", CLI_SHOWN_BYTES},
                                                {"on disk", "bytes", CLI_SHOWN_BYTES},
                                                {"threads", "threads", CLI_SHOWN_COUNT},
                                                {"ended", "running", CLI_SHOWN_WHERE_NOT},
                                                {0}};
    const struct conv_recording *now = &top->now;
    struct res_text out = {0};
    char span[32], forecast[REC_FORECAST_BYTES] = "", *status = rec_status_text(now, goes_on(top));
    res_text_add(&out, status, strlen(status));
    if (top->collector.recording_state != CONV_RECORDING_GOING_ON && !now->finished)
        res_text_printf(&out, "%s\n", top->collector.unfinished_why);
    if (goes_on(top) && !top->answered)
        res_text_printf(&out, "the collector (%u) %s: this is what it wrote last\n",
                        top->collector.collector_pid, top->asked ? "does not answer" : "cannot be asked");
    res_text_printf(&out, "%s calls/s %s%s", FP_GROUPED((uint64_t)calls_per_second(top)),
                    top->before.json == NULL ? "since the start" : "in the last ",
                    top->before.json == NULL ? "" : res_text_duration((double)interval_ns(top), span));
    if (now->events > 0)
        res_text_printf(&out, ", %.2f B a call", (double)now->bytes / (double)now->events);
    if (now->windows_removed == 0) /* else the disk holds what --keep-windows says */
        (void)rec_forecast(now->bytes, now->duration_ns, forecast);
    res_text_printf(&out, "%s\nrecording takes %.1f %% of a CPU beside the program, %s of shared memory",
                    forecast, collector_share(top) * 100, FP_BYTES((double)now->segment_bytes));
    if (now->max_size_bytes > 0)
        res_text_printf(&out, ", at most %s on disk", FP_BYTES((double)now->max_size_bytes));
    if (now->stalls > 0)
        res_text_printf(&out, "\nthe program waited for it %s times, %s in all", FP_GROUPED(now->stalls),
                        res_text_duration((double)now->stall_ns, span));
    res_text_add(&out, "\n", 1);
    json_t *processes = processes_json(top);
    cli_table_add(&out, COLUMNS, processes, LISTED_MOST);
    json_decref(processes);
    free(status);
    return out.text;
}

/* ---- frames ----------------------------------------------------------------------------------- */

/* Draws over the frame before, as many lines as the screen has room for. The cursor stays below, where the shell goes on after Ctrl-C. */
static void draw_in_place(char *text)
{
    struct winsize page = {.ws_row = 24, .ws_col = 80}, found;
    unsigned rows = 1;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_row >= 2 && found.ws_col >= 2)
        page = found;
    printf("\033[H\033[J");
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        rows += 1 + (unsigned)res_text_columns(line) / page.ws_col;
        if (rows > page.ws_row)
            break;
        printf("%s\n", line);
    }
}

/* Returns false when nobody reads it any more. */
static bool show(const struct top *top, bool json, bool in_place)
{
    if (json) {
        json_t *object = frame_json(top);
        (void)json_dumpf(object, stdout, JSON_COMPACT); /* the stream remembers what failed */
        putchar('\n');
        json_decref(object);
    } else {
        char *text = frame_text(top);
        if (in_place)
            draw_in_place(text);
        else
            printf("%s%s", top->before.json != NULL ? "\n" : "", text);
        free(text);
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* ---- looks -------------------------------------------------------------------------------------- */

static enum fp_status read_recording(struct top *top, struct conv_error *error)
{
    conv_recording_release(&top->now);
    const enum fp_status status = conv_recording_read(top->directory, &top->now, error);
    top->collector.recording_state = CONV_RECORDING_FINISHED;
    if (status == FP_ERR_OPEN && error->cause.sys_errno == ENOTDIR)
        return conv_fail(error, top->directory, FP_ERR_READ, 0, 0,
                         "is a file, no recording's directory: 'mallab info' says what it holds");
    if (status == FP_OK && top->now.json == NULL)
        return conv_fail(error, top->directory, FP_ERR_READ, 0, 0,
                         "has no recording.json: name the directory that 'mallab record' wrote");
    if (status == FP_OK && !top->now.finished)
        conv_unfinished_judge(&top->now, top->directory, &top->collector);
    return status;
}

/* If the collector cannot be asked, or has no time, its last words stand in the file. */
static enum fp_status look(struct top *top, struct conv_error *error)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct rec_control control;
    char *problem = NULL;
    top->asked = rec_control_open(top->directory, &control, &problem) == REC_CONTROL_OPEN;
    top->answered = top->asked && rec_control_ask(&control, REC_REQUEST_STATUS, ANSWER_NS, &problem);
    rec_control_release(&control);
    free(problem);
    conv_recording_release(&top->before);
    top->before = top->now;
    top->now = (struct conv_recording){0};
    const enum fp_status status = read_recording(top, error);
    /* It may have ended between our look at its file and our look for its process; and on a full disk the collector writes over
     * the old text (collect/json.c). */
    if (status != FP_ERR_CORRUPT && top->collector.recording_state != CONV_RECORDING_ENDED_EARLY)
        return status;
    (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    return read_recording(top, error);
}

/* Returns an exit code. */
static int follow(struct top *top, const struct settings *settings)
{
    const struct timespec pause = {.tv_sec = (time_t)(settings->interval_ns / 1000000000),
                                   .tv_nsec = (long)(settings->interval_ns % 1000000000)};
    const char *terminal = getenv("TERM");
    const bool in_place = !cli_is_json(&settings->answer) && !settings->once && settings->count != 1 &&
                          isatty(STDOUT_FILENO) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
    const uint64_t most = settings->once ? 1 : settings->count > 0 ? settings->count : !in_place;
    struct conv_error *error = res_calloc(1, sizeof *error);
    int code = CLI_DONE;
    for (uint64_t frame = 1;; frame++) {
        if (look(top, error) != FP_OK)
            code = cli_conv_failed(&CLI_TOP, error);
        if (code != CLI_DONE || !show(top, cli_is_json(&settings->answer), in_place) || !goes_on(top) ||
            frame == most)
            break;
        (void)nanosleep(&pause, NULL); /* a signal only shortens it */
    }
    free(error);
    return code;
}

static int run_top(int argc, char **argv)
{
    struct settings settings = {.interval_ns = INTERVAL_NS_DEFAULT};
    struct cli_operands operands;
    int code = cli_options_take(&CLI_TOP, argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    struct top *top = res_calloc(1, sizeof *top);
    conv_recording_directory(late_user_enter(operands.words[0]), top->directory);
    code = follow(top, &settings);
    conv_recording_release(&top->before);
    conv_recording_release(&top->now);
    free(top);
    return code;
}

const struct cli_verb CLI_TOP = {
    .name = "top",
    .summary = "watch a recording while it is made",
    .usage = "[OPTION...] DIR",
    .purpose =
        "Show what the recorder knows of a program: its processes, their calls and memory, what is on disk, "
        "what is lost, and what recording costs. Ends when the recording does; Ctrl-C ends it before. Where "
        "the answer goes to no terminal, it is one frame.",
    .options = OPTIONS,
    .completes = ":directories",
    .examples = "mallab top mallab-web.4242",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 DIR unreadable, damaged or too new",
    .operand = "recording",
    .run = run_top,
};
