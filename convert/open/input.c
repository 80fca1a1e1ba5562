/* input.c - open whatever a path leads to. */
#include "convert/open/input.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/import/formats.h"
#include "convert/import/import.h"
#include "convert/open/pass.h"
#include "convert/order/footprint_input.h"
#include "convert/recording/choose.h"
#include "convert/recording/parts.h"
#include "convert/recording/recording.h"
#include "convert/recording/recording_json.h"
#include "convert/select/selection_plan.h"
#include "convert/text/text_input.h"
#include "convert/text/workload_text.h"

/* ---- what it is ------------------------------------------------------------------------------- */

#define HEAD_BYTES 65536u

/* JSON is told by its schema, which our writers put near the front. */
static enum conv_kind kind_of_json(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\"mallab-recording/", 18) != NULL ? CONV_KIND_RECORDING : CONV_KIND_RESULT;
}

/* POSIX.1-1988, "Extended tar format": the word stands behind the fields of the first file. Packed or not. */
static bool is_tar(const char *path)
{
    static const size_t PLACE = 257;
    struct conv_error error;
    struct conv_text *text = NULL;
    const char *bytes;
    size_t size;
    bool whole, found = false;
    if (conv_text_open(path, &error, &text) == FP_OK &&
        conv_text_peek(text, &error, &bytes, &size, &whole) == FP_OK)
        found = size >= PLACE + 5 && memcmp(bytes + PLACE, "ustar", 5) == 0;
    conv_text_close(text);
    return found;
}

static enum conv_kind kind_of_trace(const char *path)
{
    static const struct conv_options options = {0};
    struct conv_survey survey = {0};
    struct conv_error error;
    struct conv_input input;
    if (conv_workload_text_detect(path))
        return CONV_KIND_TEXT;
    if (is_tar(path))
        return CONV_KIND_TAR;
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
    if (options->from == NULL && strcmp(path, "-") == 0 && conv_workload_text_detect(path))
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
        (void)conv_fail(ret_error, path, FP_ERR_FOREIGN, 0, 0, "is a workload already");
        return conv_no_remedy(ret_error);
    case CONV_KIND_TAR:
        (void)conv_fail(
            ret_error, path, FP_ERR_FOREIGN, 0, 0,
            "is a tar archive: 'tar -xf' extracts it, then name what was in it, as a recording's directory");
        return conv_no_remedy(ret_error);
    case CONV_KIND_RESULT:
        (void)conv_fail(ret_error, path, FP_ERR_FOREIGN, 0, 0, "is JSON, not something recorded");
        return conv_no_remedy(ret_error);
    default:
        return conv_import_open(survey->input, kind, options, survey, ret_error, ret_input);
    }
}

/* How long the whole input lasts, by reading it. */
static enum fp_status measure(const char *path, const struct conv_options *options, uint64_t *ret_ns,
                              struct conv_error *error)
{
    struct conv_options whole = *options;
    struct conv_input input = {0};
    struct conv_survey *survey;
    enum fp_status status;
    if (strcmp(path, "-") == 0)
        return conv_fail(error, path, FP_ERR_ARGUMENT, 0, 0,
                         "a share of its time cannot be told from a pipe: give times, or a file");
    survey = calloc(1, sizeof *survey);
    if (survey == NULL)
        return conv_fail_memory(error, path, "reading");
    whole.select = (struct conv_selection){0};
    whole.progress = NULL;
    status = conv_input_open(path, &whole, survey, error, &input);
    if (status == FP_OK) {
        status = conv_pass_run(&input, &whole, NULL, survey, error);
        *ret_ns = survey->duration_ns;
        input.close(input.data);
    }
    conv_survey_release(survey);
    free(survey);
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
