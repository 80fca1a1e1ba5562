/* window_counts.c - count by window while a process is surveyed, and add up over processes. */
#include "convert/windows/window_counts.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/grow.h"
#include "convert/open/pass.h"

/* ---- one process ----------------------------------------------------------------------------- */

/* A block of a lane. */
struct stretch {
    uint32_t part, marks;
};

/* How far a lane has come. */
struct lane_place {
    size_t next, end; /* stretches that come */
    uint32_t part, marks_left;
};

/* Stands between an input and the pairing. */
struct counting {
    struct conv_sink next;
    const struct conv_input *input;
    const struct conv_parts *parts;
    struct conv_survey *survey;
    struct conv_window *windows; /* one a part; live figures: what it adds to those before */
    struct lane_place *lanes;
    struct stretch *stretches; /* lane after lane, in the order of the parts */
};

static uint64_t meta_number(const struct fp_reader *reader, const char *key)
{
    const char *value = fp_reader_meta(reader, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static void describe(const struct conv_part *part, struct conv_window *ret_window)
{
    const struct fp_trailer *trailer = &part->info->trailer;
    *ret_window = (struct conv_window){.number = part->window,
                                       .begin_ns = meta_number(part->reader, "window_begin_ns"),
                                       .end_ns = trailer->end_time_ns,
                                       .file_bytes = part->info->file_bytes,
                                       .processes = 1};
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        ret_window->lost = conv_add_saturating(ret_window->lost, trailer->lost[cause]);
}

static bool index_stretches(struct counting *counting)
{
    const struct conv_parts *parts = counting->parts;
    size_t first = 0;
    counting->lanes = calloc((size_t)parts->lane_count + 1, sizeof *counting->lanes);
    counting->stretches = calloc(parts->block_count + 1, sizeof *counting->stretches);
    if (counting->lanes == NULL || counting->stretches == NULL)
        return false;
    for (size_t part = 0; part < parts->count; part++)
        for (size_t i = 0; i < parts->parts[part].info->block_count; i++)
            counting->lanes[parts->parts[part].info->blocks[i].lane].end++;
    for (uint32_t lane = 0; lane < parts->lane_count; lane++) {
        const size_t count = counting->lanes[lane].end;
        counting->lanes[lane] = (struct lane_place){.next = first, .end = first};
        first += count;
    }
    for (size_t part = 0; part < parts->count; part++) {
        const struct fp_reader_info *info = parts->parts[part].info;
        for (size_t i = 0; i < info->block_count; i++)
            counting->stretches[counting->lanes[info->blocks[i].lane].end++] = (struct stretch){
                (uint32_t)part, info->blocks[i].mark_count};
    }
    return true;
}

/* Whether it stands in a footprint: a lane's end does not, nor does the gap where a block is missing. */
static bool is_mark(const struct conv_event *event)
{
    return event->call != CONV_MARK_LANE_END && !(event->call == FP_MARK_GAP && event->size == 0);
}

/* The part in which an event stands: that of its lane's next mark. */
static uint32_t part_of(struct counting *counting, const struct conv_event *event)
{
    struct lane_place *place = &counting->lanes[event->lane];
    while (place->marks_left == 0 && place->next < place->end) {
        place->part = counting->stretches[place->next].part;
        place->marks_left = counting->stretches[place->next++].marks;
    }
    if (is_mark(event) && place->marks_left > 0)
        place->marks_left--;
    return place->part;
}

/* Events of one part. */
static enum fp_status hand_over(struct counting *counting, uint32_t part, const struct conv_event *events,
                                size_t count)
{
    const struct conv_survey *survey = counting->survey;
    struct conv_window *window = &counting->windows[part];
    const uint64_t events_before = survey->events, bytes = survey->live_bytes_end,
                   objects = survey->live_objects_end;
    const enum fp_status status = counting->next.events(counting->next.data, events, count);
    window->events += survey->events - events_before;
    window->live_bytes_end += survey->live_bytes_end - bytes;
    window->live_objects_end += survey->live_objects_end - objects;
    return status;
}

static enum fp_status events(void *data, const struct conv_event *events, size_t count)
{
    struct counting *counting = data;
    enum fp_status status = FP_OK;
    size_t done = 0;
    uint32_t part = 0;
    for (size_t i = 0; i < count && status == FP_OK; i++) {
        const uint32_t next = part_of(counting, &events[i]);
        if (i > done && next != part) {
            status = hand_over(counting, part, events + done, i - done);
            done = i;
        }
        part = next;
    }
    return status == FP_OK && done < count ? hand_over(counting, part, events + done, count - done) : status;
}

/* A thread may be ahead of others by a window, and free what they allocate there. */
static uint64_t not_below_zero(uint64_t sum)
{
    return (int64_t)sum > 0 ? sum : 0;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct counting *counting = data;
    const struct conv_sink own = {
        .data = counting, .events = events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
    uint64_t bytes = 0, objects = 0;
    enum fp_status status;
    counting->next = *sink;
    counting->survey = survey;
    status = counting->input->run(counting->input->data, &own, survey, error);
    for (size_t i = 0; i < counting->parts->count; i++) {
        struct conv_window *window = &counting->windows[i];
        bytes += window->live_bytes_end;
        objects += window->live_objects_end;
        window->live_bytes_end = not_below_zero(bytes);
        window->live_objects_end = not_below_zero(objects);
    }
    return status;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct counting *counting = data;
    counting->input->conclude(counting->input->data, gap_calls, survey);
}

enum fp_status conv_shares_survey(struct conv_shares *shares, size_t process, bool ran_on,
                                  const struct conv_input *input, const struct conv_parts *parts,
                                  const struct conv_options *options, struct conv_survey *survey,
                                  struct conv_error *error)
{
    struct counting counting = {
        .input = input, .parts = parts, .windows = calloc(parts->count, sizeof *counting.windows)};
    struct conv_input own = *input;
    enum fp_status status = FP_ERR_MEMORY;
    if (counting.windows != NULL && index_stretches(&counting) &&
        CONV_RESERVE(shares->shares, shares->capacity, shares->count + parts->count)) {
        for (size_t i = 0; i < parts->count; i++)
            describe(&parts->parts[i], &counting.windows[i]);
        own.data = &counting;
        own.run = run;
        own.conclude = conclude;
        status = conv_pass_run(&own, options, NULL, survey, error);
    }
    for (size_t i = 0; i < parts->count && status == FP_OK; i++)
        shares->shares[shares->count++] = (struct conv_share){.window = counting.windows[i],
                                                              .process = process,
                                                              .last = i + 1 == parts->count &&
                                                                      !(ran_on || survey->ran_on)};
    shares->salvaged |= survey->lost_marks > 0;
    free(counting.windows);
    free(counting.lanes);
    free(counting.stretches);
    return status;
}

/* ---- all processes ---------------------------------------------------------------------------- */

static int by_window(const void *a, const void *b)
{
    const struct conv_share *one = a, *other = b;
    if (one->window.number != other->window.number)
        return one->window.number < other->window.number ? -1 : 1;
    return one->process < other->process ? -1 : one->process > other->process;
}

struct live {
    uint64_t bytes, objects;
};

/* The processes' live figures as of now, by process; those that end are taken off when their window is done. */
static void add_share(struct conv_window *window, const struct conv_share *share, struct live *of_process,
                      struct live *all)
{
    const struct conv_window *own = &share->window;
    all->bytes += own->live_bytes_end - of_process->bytes;
    all->objects += own->live_objects_end - of_process->objects;
    *of_process = (struct live){own->live_bytes_end, own->live_objects_end};
    window->number = own->number;
    window->begin_ns = own->begin_ns; /* the same for all */
    if (own->end_ns > window->end_ns)
        window->end_ns = own->end_ns;
    window->events += own->events;
    window->lost = conv_add_saturating(window->lost, own->lost);
    window->file_bytes += own->file_bytes;
    window->processes++;
}

static size_t process_limit(const struct conv_shares *shares)
{
    size_t limit = 0;
    for (size_t i = 0; i < shares->count; i++)
        if (shares->shares[i].process >= limit)
            limit = shares->shares[i].process + 1;
    return limit;
}

bool conv_shares_sum(struct conv_shares *shares, struct conv_survey *survey)
{
    struct conv_window *windows;
    struct live *processes, all = {0};
    size_t count = 0;
    if (shares->count == 0 || shares->salvaged)
        return true;
    windows = calloc(shares->count, sizeof *windows);
    processes = calloc(process_limit(shares), sizeof *processes);
    if (windows == NULL || processes == NULL) {
        free(windows);
        free(processes);
        return false;
    }
    qsort(shares->shares, shares->count, sizeof *shares->shares, by_window);
    for (size_t i = 0, next; i < shares->count; i = next) {
        struct conv_window *window = &windows[count++];
        const uint32_t number = shares->shares[i].window.number;
        for (next = i; next < shares->count && shares->shares[next].window.number == number; next++)
            add_share(window, &shares->shares[next], &processes[shares->shares[next].process], &all);
        window->live_bytes_end = all.bytes;
        window->live_objects_end = all.objects;
        for (size_t k = i; k < next; k++) {
            struct live *gone = &processes[shares->shares[k].process];
            if (!shares->shares[k].last)
                continue;
            all.bytes -= gone->bytes;
            all.objects -= gone->objects;
            *gone = (struct live){0};
        }
    }
    free(processes);
    survey->window_list = windows;
    survey->window_list_count = count;
    return true;
}

void conv_shares_release(struct conv_shares *shares)
{
    free(shares->shares);
    *shares = (struct conv_shares){0};
}
