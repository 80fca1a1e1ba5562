/* recordings.h - directories of footprints, made up. */
#ifndef MALLAB_TESTS_RECORDINGS_H
#define MALLAB_TESTS_RECORDINGS_H

#include "convert/convert.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/readers.h"
#include "unit/scratch.h"

static struct conv_error error;

static inline const char *in(const char *directory, const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline void add_footprint(const char *directory, const char *name, uint32_t process_id,
                                 uint32_t events, bool trailer)
{
    const struct history_options options = {
        .threads = 1, .events = events, .objects = 100, .bump_every = 16, .bump_ns = 1000};
    struct history history;
    history_init(&history, 1, process_id);
    history_simulate(&history, &options);
    history_cut(&history, 400);
    CHECK_U64(history_write(&history, in(directory, name), process_id, trailer), FP_OK);
    history_release(&history);
}

/* One of a single lane, with its end and what the process used (NULL: not known) as they are told. */
static inline void add_ended(const char *directory, const char *name, uint32_t process_id,
                             struct fp_trailer trailer, const struct fp_usage *usage)
{
    static const struct fp_writer_options options = {0};
    const struct fp_lane lane = {.thread_id = process_id, .is_main = true};
    struct fp_writer *writer = NULL;
    uint64_t whole_bytes = 0;
    add_footprint(directory, name, process_id, 1000, false);
    FP_READER *reader = fp_opened(in(directory, name));
    if (reader != NULL)
        whole_bytes = fp_reader_info(reader)->tail_error.offset;
    trailer.lane_count = 1;
    trailer.lanes = &lane;
    CHECK_U64(fp_writer_resume(AT_FDCWD, in(directory, name), &options, whole_bytes, NULL, &writer), FP_OK);
    if (writer == NULL)
        return;
    if (usage != NULL)
        CHECK_U64(fp_writer_usage(writer, usage), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
}

static inline const char *new_directory(void)
{
    static unsigned number;
    char name[32];
    snprintf(name, sizeof name, "recording.%u", number++);
    const char *directory = scratch_path(name);
    CHECK(mkdir(directory, 0700) == 0);
    return directory;
}

static inline void write_json(const char *directory, const char *text)
{
    scratch_write(in(directory, "recording.json"), text, strlen(text));
}

static inline struct conv_survey survey_of(const char *directory)
{
    struct conv_survey survey = {0};
    char text[CONV_PATH_BYTES + 512];
    CHECK_U64(conv_survey_file(directory, NULL, &survey, &error), FP_OK);
    if (error.cause.status != FP_OK)
        fprintf(stderr, "%s\n", conv_error_text(&error, text, sizeof text));
    return survey;
}

#endif
