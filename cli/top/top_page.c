/* top_page.c - lines and numbers of a frame, and its head: the state of the recording, what is live, whether the recorder keeps up. */
#include "cli/top/top_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/words.h"
#include "record/recording_words.h"

#define HEAD_COLUMNS 41 /* where the second fact of a line begins */
#define SIDE_COLUMNS 78 /* of two tables side by side */

/* ---- numbers -------------------------------------------------------------------------------- */

const char *top_number(double value, char ret_text[TOP_NUMBER_BYTES])
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    if (value < 999999.5)
        return fp_text_grouped((unsigned long long)(value + 0.5), ret_text);
    while (value >= 999.5 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    snprintf(ret_text, TOP_NUMBER_BYTES,
             value < 9.995   ? "%.2f %c"
             : value < 99.95 ? "%.1f %c"
                             : "%.0f %c",
             value, units[unit]);
    return ret_text;
}

const char *top_rate(const struct cli_top_moment *moment, uint64_t now, uint64_t before,
                     char ret_text[TOP_NUMBER_BYTES])
{
    if (moment->catching_up) {
        snprintf(ret_text, TOP_NUMBER_BYTES, "-");
        return ret_text;
    }
    return top_number(cli_top_per_second(moment, now, before), ret_text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

void top_page_put(struct top_page *page, const char *format, ...)
{
    char *line = NULL;
    va_list list;
    size_t end = 0;
    if (page->lines_left == 0)
        return;
    page->lines_left--;
    va_start(list, format);
    const int length = vasprintf(&line, format, list);
    va_end(list);
    if (length < 0)
        return;
    for (unsigned column = 0; line[end] != '\0'; end++) {
        if (((unsigned char)line[end] & 0xc0) == 0x80)
            continue;
        if (column++ == page->columns)
            break;
    }
    while (end > 0 && line[end - 1] == ' ')
        end--;
    line[end] = '\0';
    res_text_printf(page->out, "%s\n", line);
    free(line);
}

bool top_page_is_narrow(const struct top_page *page)
{
    return page->columns < SIDE_COLUMNS;
}

void top_page_facts(struct top_page *page, const char *left_name, const char *left, const char *right_name,
                    const char *right)
{
    if (top_page_is_narrow(page)) {
        top_page_put(page, "%-11s%s", left_name, left);
        top_page_put(page, "%-11s%s", right_name, right);
    } else {
        top_page_put(page, "%-11s%-*s%-9s%s", left_name, HEAD_COLUMNS - 12, left, right_name, right);
    }
}

/* ---- title ------------------------------------------------------------------------------------ */

static const char *state_words(const struct conv_view *view)
{
    switch (view->status.state) {
    case CONV_RECORDING_FINISHED:
        return "the recording has ended, after";
    case CONV_RECORDING_GOING_ON:
        return view->status.paused ? "paused, after" : "recording for";
    case CONV_RECORDING_ENDED_EARLY:
        return "the collector was killed, after";
    case CONV_RECORDING_COPIED:
        return "a copy, made after";
    case CONV_RECORDING_OUT_OF_SIGHT:
        return "out of sight, recording for";
    default:
        return "not known whether it goes on, after";
    }
}

static void put_title(struct top_page *page, const struct conv_view *view,
                      const struct cli_top_moment *moment)
{
    char duration[32], interval[32], right[64];
    char *program = res_text_plain(cli_top_program(view));
    const char *nobody = conv_view_goes_on(view) ? "nothing yet" : "nothing recorded";
    char *left = res_printf("%.30s: %s %s", *program != '\0' ? program : nobody, state_words(view),
                            res_text_duration((double)moment->duration_ns, duration));
    if (moment->catching_up)
        snprintf(right, sizeof right, "catching up %u %%", moment->percent);
    else if (moment->is_first)
        snprintf(right, sizeof right, "/s: since the start");
    else
        snprintf(right, sizeof right, "/s: of %s", res_text_duration((double)moment->interval_ns, interval));
    if (top_page_is_narrow(page)) {
        top_page_put(page, "%s", left);
        top_page_put(page, "%s", right);
    } else {
        top_page_put(page, "%-*s %s", 79 - (int)strlen(right), left, right);
    }
    free(left);
    free(program);
}

/* ---- what is not as it seems ------------------------------------------------------------------ */

/* A page has room for one; info has them all. */
static void put_unrecorded(struct top_page *page, const struct conv_view *view)
{
    json_t *unrecorded = rec_unrecorded_of(view->recording.json);
    const size_t count = json_array_size(unrecorded);
    if (count > 0) {
        char *words = rec_unrecorded_words(json_array_get(unrecorded, 0));
        top_page_put(page, "%-11snot recorded: %s", "note", words);
        if (count > 1)
            top_page_put(page, "%-11snot recorded: %zu more programs ('mallab info' names them)", "",
                         count - 1);
        free(words);
    }
    json_decref(unrecorded);
}

/* A recording that goes on is incomplete for that reason alone, which the title says. */
static void put_incomplete(struct top_page *page, const struct conv_view *view)
{
    const char *told = view->recording.incomplete_why;
    if (told == NULL || view->status.state != CONV_RECORDING_FINISHED ||
        json_array_size(json_object_get(view->recording.json, "not_recorded")) >
            0) /* which were told just now */
        return;
    char *why = res_text_plain(told);
    top_page_put(page, "%-11sthe recording is not whole: %s", "note", why);
    free(why);
}

static bool is_left(const struct conv_view *view)
{
    return view->status.state == CONV_RECORDING_ENDED_EARLY &&
           conv_unfinished_is_left(&view->recording, view->directory);
}

static void put_notes(struct top_page *page, const struct conv_view *view,
                      const struct cli_top_moment *moment)
{
    char *inexact = cli_top_inexact(view);
    if (view->status.why[0] != '\0' && view->status.state != CONV_RECORDING_GOING_ON) {
        char *why = res_text_plain(view->status.why);
        const bool left = is_left(view); /* said in a line of its own, which is not cut */
        top_page_put(page, "%-11s%.*s", "note", (int)(left ? strcspn(why, ";") : strlen(why)), why);
        if (left)
            top_page_put(page, "%-11s'mallab convert' and 'ab' write what it left in shared memory", "");
        free(why);
    }
    if (moment->is_silent && conv_view_goes_on(view))
        top_page_put(page, "%-11sthe collector (%u) does not answer: this is what it has written so far",
                     "note", view->status.collector_pid);
    if (view->status.stop_words != NULL)
        top_page_put(page, "%-11snot all is recorded any more: %s", "note", view->status.stop_words);
    put_unrecorded(page, view);
    put_incomplete(page, view);
    if (inexact != NULL)
        top_page_put(page, "%-11slive is inexact: %s", "note", inexact);
    if (view->foreign > 0)
        top_page_put(page, "%-11sleft out: %zu files *.fp that are no footprints", "note", view->foreign);
    free(inexact);
}

/* ---- facts ------------------------------------------------------------------------------------ */

/* Words for losses that nobody knows, beside a number or without one. */
static const char *unknown_words(const struct conv_view *view, const struct cli_top_moment *moment, bool any)
{
    if (!conv_view_knows_losses(view))
        return any ? ", and more that nobody counted" : "not known: what was not written was not counted";
    if (conv_view_goes_on(view) && (moment->is_silent || !view->status.told))
        return any ? ", and what is not told" : "not told";
    return any ? "" : "none";
}

static void put_lost(struct top_page *page, const struct conv_view *view, const struct cli_top_moment *moment)
{
    uint64_t lost[FP_LOSS_COUNT];
    struct res_text words = {0};
    char number[TOP_NUMBER_BYTES];
    if (conv_view_lost(view, lost) == 0) {
        top_page_put(page, "%-11s%s", "lost", unknown_words(view, moment, false));
        return;
    }
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        if (lost[cause] > 0)
            res_text_printf(&words, "%s%s %s", words.length > 0 ? ", " : "", fp_loss_name(cause),
                            top_number((double)lost[cause], number));
    top_page_put(page, "%-11s%s calls%s", "lost", words.text, unknown_words(view, moment, true));
    free(words.text);
}

static void put_ring(struct top_page *page, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_view_status *status = &view->status;
    const bool silent = moment->is_silent && conv_view_goes_on(view);
    char left[64] = "not told", right[64] = "not told", number[TOP_NUMBER_BYTES];
    if (status->ring_told && !silent)
        snprintf(left, sizeof left, "%llu of %llu chunks in use",
                 (unsigned long long)status->ring_chunks_used, (unsigned long long)status->ring_chunks_most);
    else if (!conv_view_goes_on(view))
        snprintf(left, sizeof left, "%s", is_left(view) ? "left in shared memory" : "given back");
    if (status->told && !silent && status->stalls == 0)
        snprintf(right, sizeof right, "none");
    else if (status->told && !silent) {
        char count[TOP_NUMBER_BYTES];
        snprintf(right, sizeof right, "%s, %s", top_number((double)status->stalls, count),
                 res_text_duration((double)status->stall_ns, number));
    }
    top_page_facts(page, "ring", left, "stalls", right);
}

/* Both peaks are maxima, each of its own moment. */
static void put_live(struct top_page *page, const struct conv_view *view)
{
    const struct conv_live_sum *live = &view->sum.live;
    char left[96], right[96], bytes[32], objects[TOP_NUMBER_BYTES];
    snprintf(left, sizeof left, "%s in %s objects", fp_text_bytes((double)live->bytes, bytes),
             top_number((double)live->objects, objects));
    snprintf(right, sizeof right, "%s; %s objects", fp_text_bytes((double)live->bytes_peak, bytes),
             top_number((double)live->objects_peak, objects));
    top_page_facts(page, "live", left, "peaks", right);
    if (view->left.objects > 0)
        top_page_put(page, "%-11s%s in %s objects, live when their processes ended", "left",
                     fp_text_bytes((double)view->left.bytes, bytes),
                     top_number((double)view->left.objects, objects));
}

/* A thread is known by its first call. */
static void put_numbers(struct top_page *page, const struct conv_view *view,
                        const struct cli_top_numbers *sums)
{
    const bool over = !conv_view_goes_on(view);
    char left[96], right[96], one[32], two[32];
    snprintf(left, sizeof left, "%s %s, %s in all",
             fp_text_grouped((unsigned long long)sums->processes_running, one), over ? "ran on" : "running",
             fp_text_grouped((unsigned long long)view->process_count, two));
    snprintf(right, sizeof right, "%s %s, %s have called",
             fp_text_grouped((unsigned long long)sums->threads_running, one), over ? "ran on" : "running",
             fp_text_grouped((unsigned long long)sums->threads, two));
    top_page_facts(page, "processes", left, "threads", right);
}

void top_head_put(struct top_page *page, const struct conv_view *view, const struct cli_top_moment *moment,
                  const struct cli_top_numbers *sums)
{
    char left[96], right[96], one[32], two[32];
    put_title(page, view, moment);
    put_notes(page, view, moment);
    put_numbers(page, view, sums);
    snprintf(left, sizeof left, "%s, %s/s", top_number((double)view->sum.events, one),
             top_rate(moment, view->sum.events, view->sum_before.events, two));
    if (view->sum.events > 0 && !moment->catching_up)
        snprintf(right, sizeof right, "%s, %.2f B an event", fp_text_bytes((double)view->bytes, one),
                 (double)view->bytes_written / (double)view->sum.events);
    else
        snprintf(right, sizeof right, "%s", fp_text_bytes((double)view->bytes, one));
    top_page_facts(page, "events", left, "on disk", right);
    put_live(page, view);
    put_ring(page, view, moment);
    put_lost(page, view, moment);
}
