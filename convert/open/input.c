/* input.c - open whatever a path leads to, and pass over it. */
#include "convert/open/input.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/import/formats.h"
#include "convert/import/import.h"
#include "convert/ops/pair.h"
#include "convert/order/process_image.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "convert/text/text_input.h"
#include "footprint/base/arrays.h"

/* ---- what it is ------------------------------------------------------------------------------- */

#define HEAD_BYTES 65536u

/* JSON is told by its schema, which our writers put near the front. */
static enum conv_kind kind_of_json(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\"mallab-recording/", 18) != NULL ? CONV_KIND_RECORDING : CONV_KIND_RESULT;
}

/* Tells a workload's text, packed or not, from a tar archive (POSIX.1-1988, "Extended tar format": the word stands behind the fields of
 * the first file), and both from others. "-" is looked at without taking anything from it. */
static enum conv_kind kind_of_text(const char *path)
{
    static const size_t TAR_PLACE = 257;
    enum conv_kind kind = CONV_KIND_UNKNOWN;
    struct conv_error error;
    struct conv_text *text = NULL;
    const char *bytes;
    size_t size;
    bool whole;
    if (conv_text_open(path, &error, &text) == FP_OK &&
        conv_text_peek(text, &error, &bytes, &size, &whole) == FP_OK) {
        if (size >= strlen(CONV_TEXT_NAME) && memcmp(bytes, CONV_TEXT_NAME, strlen(CONV_TEXT_NAME)) == 0)
            kind = CONV_KIND_TEXT;
        else if (size >= TAR_PLACE + 5 && memcmp(bytes + TAR_PLACE, "ustar", 5) == 0)
            kind = CONV_KIND_TAR;
    }
    conv_text_close(text);
    return kind;
}

static enum conv_kind kind_of_trace(const char *path)
{
    static const struct conv_options options = {0};
    struct conv_survey survey = {0};
    struct conv_error error;
    struct conv_input input;
    const enum conv_kind kind = kind_of_text(path);
    if (kind != CONV_KIND_UNKNOWN)
        return kind;
    if (conv_import_open(path, CONV_KIND_UNKNOWN, &options, &survey, &error, &input) != FP_OK)
        return CONV_KIND_UNKNOWN;
    input.close(input.data);
    return survey.kind;
}

static enum conv_kind kind_of_file(const char *path)
{
    static const char blanks[] = " \t\r\n";
    char bytes[HEAD_BYTES];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a pipe by now, maybe */
    ssize_t size;
    size_t at = 0;
    if (fd < 0)
        return CONV_KIND_UNKNOWN;
    size = pread(fd, bytes, sizeof bytes, 0);
    (void)close(fd); /* only read from */
    if (size <= 0)
        return CONV_KIND_UNKNOWN;
    if (size >= 8 && memcmp(bytes, "MALLABFP", 8) == 0)
        return CONV_KIND_FOOTPRINT;
    if (size >= 8 && memcmp(bytes, "MALLABWL", 8) == 0)
        return CONV_KIND_WORKLOAD;
    while (at < (size_t)size && memchr(blanks, bytes[at], sizeof blanks - 1) != NULL)
        at++;
    if (at < (size_t)size && bytes[at] == '{')
        return kind_of_json(bytes, (size_t)size);
    return kind_of_trace(path);
}

enum conv_kind conv_detect(const char *path)
{
    struct stat stat_;
    if (strcmp(path, "-") == 0 || stat(path, &stat_) != 0)
        return CONV_KIND_UNKNOWN;
    if (S_ISDIR(stat_.st_mode))
        return conv_recording_is_there(path) ? CONV_KIND_RECORDING : CONV_KIND_UNKNOWN;
    return S_ISREG(stat_.st_mode) ? kind_of_file(path) : CONV_KIND_UNKNOWN;
}

enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error)
{
    char names[256];
    *ret_kind = options->from == NULL ? conv_detect(path) : conv_from_kind(options->from);
    if (options->from == NULL && strcmp(path, "-") == 0 && kind_of_text(path) == CONV_KIND_TEXT)
        *ret_kind = CONV_KIND_TEXT;
    if (options->from == NULL || *ret_kind != CONV_KIND_UNKNOWN)
        return FP_OK;
    return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0, "unknown format '%.60s'; known are %s",
                     options->from, conv_from_names(names, sizeof names));
}

static enum fp_status open_recording(const char *path, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_error *error,
                                     struct conv_input *ret_input)
{
    struct conv_choice choice;
    char directory[CONV_PATH_BYTES];
    enum fp_status status = conv_recording_list(path, survey, error);
    if (status != FP_OK)
        return status;
    snprintf(directory, sizeof directory, "%s", survey->input);
    status = conv_recording_choose(directory, options, survey, &choice, error);
    if (status != FP_OK)
        return status;
    struct conv_process *const process = choice.lead; /* of a group each member is opened by itself */
    process->chosen = true;
    if (process->events == 0 && survey->recording_state == CONV_RECORDING_GOING_ON)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0,
                         "nothing is written yet%s: it is still being recorded (collector %u)",
                         conv_process_asked(options) ? " of this process" : "", survey->collector_pid);
    if ((size_t)snprintf(survey->input, sizeof survey->input, "%s/%s", directory, process->file) >=
        sizeof survey->input)
        return conv_fail(error, directory, FP_ERR_LIMIT, 0, 0, "the path is too long");
    status = conv_footprint_open(survey->input, CONV_EXTENT_ALL, process, options, survey, error, ret_input);
    if (status == FP_OK)
        conv_footprint_refuse_empty(ret_input);
    return status;
}

/* One process, which must be the one asked for. */
static enum fp_status open_footprint(const struct conv_options *options, struct conv_survey *survey,
                                     struct conv_error *error, struct conv_input *ret_input)
{
    const enum fp_status status = conv_footprint_open(survey->input, CONV_EXTENT_ONE, NULL, options, survey,
                                                      error, ret_input);
    char *name = survey->input + (conv_path_name(survey->input) - survey->input);
    if (status == FP_OK)
        conv_footprint_refuse_empty(ret_input);
    if (status != FP_OK || !conv_process_asked(options))
        return status;
    if (options->process_file != NULL
            ? conv_process_is_file(&(struct conv_process){.file = name}, options->process_file) ||
                  strcmp(survey->program, options->process_file) == 0
            : options->process_id == survey->process_id)
        return FP_OK;
    ret_input->close(ret_input->data);
    if (options->process_file != NULL)
        return conv_fail(error, survey->input, FP_ERR_ARGUMENT, 0, 0, "is not '%.60s': leave out --process",
                         options->process_file);
    return conv_fail(error, survey->input, FP_ERR_ARGUMENT, 0, 0, "is of process %u, not of %u",
                     survey->process_id, options->process_id);
}

enum fp_status conv_input_open(const char *path, const struct conv_options *options,
                               struct conv_survey *survey, struct conv_error *ret_error,
                               struct conv_input *ret_input)
{
    enum conv_kind kind;
    struct stat stat_;
    enum fp_status status = conv_resolve(path, options, &kind, ret_error);
    if (status != FP_OK)
        return status;
    if (kind == CONV_KIND_UNKNOWN && stat(path, &stat_) == 0 && S_ISDIR(stat_.st_mode))
        kind = CONV_KIND_RECORDING; /* its error says what is missing in the directory */
    snprintf(survey->input, sizeof survey->input, "%s", path);
    if (options->process_file != NULL && kind != CONV_KIND_RECORDING && kind != CONV_KIND_FOOTPRINT &&
        kind != CONV_KIND_WORKLOAD && kind != CONV_KIND_RESULT)
        return conv_fail(ret_error, path, FP_ERR_ARGUMENT, 0, 0,
                         "holds no footprints: --process takes a process id here, not '%.60s'",
                         options->process_file);
    switch (kind) {
    case CONV_KIND_RECORDING:
        return open_recording(path, options, survey, ret_error, ret_input);
    case CONV_KIND_FOOTPRINT:
        return open_footprint(options, survey, ret_error, ret_input);
    case CONV_KIND_WORKLOAD:
        return CONV_FOREIGN(ret_error, path, "is a workload already");
    case CONV_KIND_TAR:
        return CONV_FOREIGN(
            ret_error, path,
            "is a tar archive: 'tar -xf' extracts it, then name what was in it, as a recording's directory");
    case CONV_KIND_RESULT:
        return CONV_FOREIGN(ret_error, path, "is JSON, not something recorded");
    default:
        return conv_import_open(survey->input, kind, options, survey, ret_error, ret_input);
    }
}

/* Measures the time of the whole input, by reading it. */
static enum fp_status measure(const char *path, const struct conv_options *options, uint64_t *ret_ns,
                              struct conv_error *error)
{
    struct conv_options whole = *options;
    struct conv_input input = {0};
    struct conv_survey survey = {0};
    enum fp_status status;
    if (strcmp(path, "-") == 0)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "a share of its time cannot be told from a pipe: give times, or a file");
    whole.select = (struct conv_selection){0};
    whole.progress = NULL;
    status = conv_input_open(path, &whole, &survey, error, &input);
    if (status == FP_OK) {
        status = conv_pass_run(&input, &whole, NULL, &survey, error);
        *ret_ns = survey.duration_ns;
        input.close(input.data);
    }
    conv_survey_release(&survey);
    return status;
}

enum fp_status conv_input_settle(const char *path, const struct conv_input *input,
                                 struct conv_options *options, struct conv_survey *survey,
                                 struct conv_error *error)
{
    uint64_t duration_ns = input->end_ns;
    if (duration_ns == 0 && conv_plan_wants_duration(&options->select)) {
        const enum fp_status status = measure(path, options, &duration_ns, error);
        if (status != FP_OK)
            return status;
    }
    return conv_plan_settle(path, duration_ns, options, survey, error);
}

/* ---- passes ------------------------------------------------------------------------------------------ */

#define PROGRESS_EVENTS (UINT64_C(1) << 20)

struct pass {
    struct conv_sink next; /* the selection's filters, or the pairing */
    const struct conv_input *input;
    const struct conv_options *options;
    uint64_t events, next_progress;
};

static void count(struct pass *pass, size_t events)
{
    pass->events += events;
    if (pass->events >= pass->next_progress && pass->options->progress != NULL) {
        const struct conv_input *input = pass->input;
        const uint64_t done = input->position != NULL ? input->position(input->data) : pass->events;
        pass->next_progress = pass->events + PROGRESS_EVENTS;
        pass->options->progress(pass->options->progress_data, pass->events, done, input->progress_total);
    }
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t event_count)
{
    struct pass *pass = data;
    count(pass, event_count);
    return pass->next.events(pass->next.data, events, event_count);
}

static enum fp_status take_marks(void *data, const struct conv_slice *slice, uint32_t *ret_taken)
{
    struct pass *pass = data;
    const enum fp_status status = pass->next.marks(pass->next.data, slice, ret_taken);
    count(pass, *ret_taken);
    return status;
}

/* The calls of each thread: a sink that counts and hands on. */
struct census {
    struct conv_sink next;
    uint64_t *events; /* by lane */
    uint32_t *order;  /* lanes in the order of their first call */
    size_t capacity, order_capacity, count;
};

static void census_release(struct census *census)
{
    free(census->events);
    free(census->order);
    *census = (struct census){0};
}

static bool reserve(struct census *census, uint32_t lane)
{
    return FP_GROW(census->events, census->capacity, (size_t)lane + 1) &&
           FP_GROW(census->order, census->order_capacity, census->count + 1);
}

static enum fp_status census_events(void *data, const struct conv_event *events, size_t count)
{
    struct census *census = data;
    for (size_t i = 0; i < count; i++) {
        const uint32_t lane = events[i].lane;
        if (events[i].call >= FP_CALL_COUNT)
            continue; /* a mark */
        if ((lane >= census->capacity || census->events[lane] == 0) && !reserve(census, lane))
            return FP_ERR_MEMORY;
        if (census->events[lane]++ == 0)
            census->order[census->count++] = lane;
    }
    return census->next.events(census->next.data, events, count);
}

static struct conv_sink census_sink(struct census *census, struct conv_sink next)
{
    census->next = next;
    return (struct conv_sink){
        .data = census, .events = census_events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
}

/* The threads that made a call, as survey's thread_list. False: no memory, nothing changed. */
static bool census_list(const struct census *census, struct conv_namer namer, struct conv_survey *survey)
{
    struct conv_thread *list = calloc(census->count + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (size_t i = 0; i < census->count; i++) {
        const uint32_t lane = census->order[i];
        namer.name(namer.data, lane, &list[i].thread_id, &list[i].is_main);
        list[i].events = census->events[lane];
    }
    free(survey->thread_list);
    survey->thread_list = list;
    survey->thread_count = census->count;
    return true;
}

static void conclude(const struct conv_input *input, const struct conv_options *options,
                     const struct conv_pair *pair, struct conv_survey *survey)
{
    survey->duration_ns = pair->last_time_ns;
    input->conclude(input->data, pair->gap_calls, survey);
    if (survey->events > 0 && !conv_plan_any(&options->select))
        survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
}

enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error)
{
    struct pass pass = {.input = input, .options = options, .next_progress = PROGRESS_EVENTS};
    struct conv_sink sink = {
        .data = &pass, .events = take_events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
    struct conv_chain *chain = calloc(1, sizeof *chain);
    struct census census = {0};
    struct conv_pair pair;
    bool stopped = false;
    enum fp_status status = FP_ERR_MEMORY;
    error->cause.status = FP_OK;
    if (chain == NULL)
        return status;
    if (conv_pair_init(&pair, writer, input->namer, survey)) {
        struct conv_sink last = conv_pair_sink(&pair);
        if (writer == NULL) /* whoever only looks wants to see the threads */
            last = census_sink(&census, last);
        if (options->watch != NULL)
            last = options->watch(options->watch_data, last);
        if (conv_chain_init(chain, &options->select, input, survey, last)) {
            pass.next = chain->sink;
            if (pass.next.marks != NULL && !options->by_event)
                sink.marks = take_marks;
            status = input->run(input->data, &sink, survey, error);
        }
        conv_pair_fast_end(&pair);
    }
    if (status == FP_END) { /* the selection has all it wants */
        stopped = true;
        status = FP_OK;
    }
    if (status == FP_OK) {
        conclude(input, options, &pair, survey);
        status = conv_chain_conclude(chain, &options->select, stopped, pair.last_time_ns, survey, error);
    }
    if (status == FP_OK && writer == NULL && !census_list(&census, input->namer, survey))
        status = FP_ERR_MEMORY;
    census_release(&census);
    conv_chain_release(chain);
    free(chain);
    conv_pair_release(&pair);
    return status;
}
