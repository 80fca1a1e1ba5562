/* test_convert_view.c - a recording is followed while it grows: footprints that appear, grow by whole and by half blocks,
 * go on in further windows, vanish; processes that end; what recording.json tells at the moment; damage. At the end the
 * figures are those of convert. */
#include "convert/view/view.h"

#include "unit/append_block.h"
#include "unit/growing.h"
#include "unit/recordings.h"

/* A footprint of `events` calls by each of some threads; the caller frees it. */
static char *make_footprint(uint32_t process_id, uint32_t threads, uint32_t events, size_t *ret_size)
{
    const char *path = scratch_path("made.fp");
    const struct history_options options = {.threads = threads,
                                            .events = events,
                                            .objects = 100,
                                            .bump_every = 16,
                                            .bump_ns = 1000,
                                            .resize_share = 10};
    struct history history;
    (void)unlink(path);
    history_init(&history, threads, process_id);
    history_simulate(&history, &options);
    history_cut(&history, 300);
    CHECK_U64(history_write(&history, path, process_id, true), FP_OK);
    history_release(&history);
    return scratch_read(path, ret_size);
}

/* As a collector writes it that is at work: this process, as far as anybody can tell. */
static void write_going_on(const char *directory, const char *more)
{
    char text[2048], boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    CHECK(file != NULL && fscanf(file, "%63s", boot) == 1);
    if (file != NULL)
        (void)fclose(file);
    snprintf(
        text, sizeof text,
        "{\"schema\": \"mallab-recording/1\", \"started_unix_ns\": 5, \"segment_path\": \"/dev/shm/none\","
        " \"collector\": {\"pid\": %ld, \"boot_id\": \"%s\"}%s}",
        (long)getpid(), boot, more);
    write_json(directory, text);
}

static void write_finished(const char *directory)
{
    write_json(directory,
               "{\"schema\": \"mallab-recording/1\", \"complete\": true, \"duration_ns\": 77,"
               " \"lost\": {\"ring_full\": 4}, \"stalls\": 2, \"stall_ns\": 9, \"processes\": []}");
}

static struct conv_view *open_view(const char *directory, uint32_t process_id)
{
    struct conv_view *view = NULL;
    CHECK_U64(conv_view_open(directory, process_id, &view, &error), FP_OK);
    return view;
}

/* Refresh and read everything, a few blocks at a time. */
static void look_at_what_is_there(struct conv_view *view)
{
    char text[CONV_PATH_BYTES + 512];
    bool more = true;
    enum fp_status status = conv_view_refresh(view, &error);
    while (more && status == FP_OK)
        status = conv_view_read(view, 500, &more, &error);
    CHECK_U64(status, FP_OK);
    if (status != FP_OK)
        fprintf(stderr, "%s\n", conv_error_text(&error, text, sizeof text));
}

static void look(struct conv_view *view)
{
    uint64_t done, total;
    look_at_what_is_there(view);
    conv_view_progress(view, &done, &total);
    CHECK_U64(done, total);
}

static void append(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

TEST(a_recording_is_followed_to_its_end)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(directory, 0);
    struct conv_survey survey;
    uint64_t events = 0;
    size_t sizes[2], at = 0;
    char *files[2] = {make_footprint(1, 1, 20000, &sizes[0]), make_footprint(2, 3, 5000, &sizes[1])};
    write_going_on(directory, "");
    look(view); /* nothing there yet */
    CHECK_U64(view->process_count, 0);
    CHECK(conv_view_goes_on(view));
    scratch_write(in(directory, "b.2.fp"), "", 0);
    look(view);
    CHECK_U64(view->process_count, 0);
    for (at = 0; at < sizes[0]; at += 777) {
        const size_t rest = sizes[0] - at;
        append(in(directory, "a.1.fp"), files[0] + at, rest < 777 ? rest : 777);
        look(view);
        CHECK(view->sum.events >= events);
        events = view->sum.events;
        CHECK_U64(view->bytes, at + (rest < 777 ? rest : 777));
    }
    CHECK(view->processes[0]->tally.ended); /* it has its trailer */
    CHECK(!conv_view_is_running(view, view->processes[0]));
    CHECK_U64(view->sum.live.objects, 0);
    CHECK(view->left.objects > 50);
    append(in(directory, "b.2.fp"), files[1], sizes[1] / 2);
    look(view);
    CHECK_U64(view->process_count, 2);
    CHECK(conv_view_is_running(view, view->processes[1]));
    CHECK(view->sum.live.objects > 0);
    append(in(directory, "b.2.fp"), files[1] + sizes[1] / 2, sizes[1] - sizes[1] / 2);
    write_finished(directory);
    look(view);
    CHECK(!conv_view_goes_on(view));
    survey = survey_of(in(directory, "a.1.fp"));
    CHECK_U64(view->processes[0]->tally.events, survey.events);
    CHECK_U64(view->processes[0]->tally.balance.objects, survey.live_objects_end);
    CHECK_U64(view->processes[0]->tally.balance.bytes, survey.live_bytes_end);
    CHECK_U64(view->sum.live.objects_peak >= survey.live_objects_peak, 1);
    conv_survey_release(&survey);
    survey = survey_of(in(directory, "b.2.fp"));
    CHECK_U64(view->processes[1]->tally.threads, 3);
    CHECK_U64(view->processes[1]->tally.lanes[2].thread_id, 4);
    CHECK_U64(view->processes[1]->tally.balance.objects, survey.live_objects_end);
    conv_survey_release(&survey);
    (void)unlink(in(directory, "recording.json"));
    survey = survey_of(directory);
    CHECK_U64(view->sum.events, survey.events);
    CHECK_U64(view->left.objects, survey.live_objects_end);
    for (unsigned call = 1; call < FP_CALL_COUNT; call++)
        CHECK_U64(view->sum.events_by_call[call], survey.events_by_call[call]);
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++)
        CHECK_U64(view->sum.class_allocations[i], survey.class_count[i]);
    conv_survey_release(&survey);
    conv_view_free(view);
    free(files[0]);
    free(files[1]);
}

TEST(one_process_may_be_chosen)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(directory, 2);
    uint64_t lost[FP_LOSS_COUNT];
    size_t size;
    for (uint32_t process_id = 1; process_id <= 3; process_id++) {
        char *file = make_footprint(process_id, 1, 1000 * process_id, &size), name[32];
        snprintf(name, sizeof name, "a.%u.fp", process_id);
        scratch_write(in(directory, name), file, size);
        free(file);
    }
    write_going_on(directory, ", \"status_number\": 1, \"events\": 5000, \"processes\": ["
                              "{\"file\": \"a.1.fp\", \"pid\": 1, \"lost\": {\"ring_full\": 1}},"
                              "{\"file\": \"a.2.fp\", \"pid\": 2, \"lost\": {\"ring_full\": 20}}]");
    look(view);
    CHECK_U64(view->process_count, 1);
    CHECK_U64(view->processes[0]->process_id, 2);
    CHECK_STR(view->processes[0]->name, "made-up");
    CHECK(view->sum.events > 1500 && view->sum.events < 2500);
    CHECK_U64(conv_view_lost(view, lost), 20);
    conv_view_free(view);
}

TEST(the_collector_tells_the_rest)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(in(directory, "recording.json"), 0);
    uint64_t lost[FP_LOSS_COUNT];
    write_going_on(directory, ", \"status_number\": 0, \"state\": \"paused\", \"stalls\": 9");
    look(view);
    CHECK(view->status.paused);
    CHECK(!view->status.told); /* that is from the begin */
    CHECK_U64(view->status.stalls, 0);
    write_going_on(
        directory,
        ", \"status_number\": 3, \"state\": \"recording\", \"duration_ns\": 70, \"stalls\": 9,"
        " \"stall_ns\": 11, \"lost\": {\"disk_full\": 6, \"nonsense\": 8},"
        " \"ring\": {\"chunks\": 8, \"chunks_used\": 2, \"chunks_most\": 64, \"chunk_bytes\": 32768}");
    look(view);
    CHECK(!view->status.paused && view->status.told && view->status.ring_told);
    CHECK_U64(view->status.number, 3);
    CHECK_U64(view->status.stalls, 9);
    CHECK_U64(view->status.stall_ns, 11);
    CHECK_U64(view->status.ring_chunks_most, 64);
    CHECK_U64(view->status.ring_chunks_used, 2);
    CHECK_U64(conv_view_lost(view, lost), 6);
    CHECK_U64(lost[FP_LOSS_DISK_FULL], 6);
    write_finished(directory);
    look(view);
    CHECK_U64(view->status.state, CONV_RECORDING_FINISHED);
    CHECK(!view->status.ring_told);
    CHECK_U64(view->status.duration_ns, 77);
    CHECK_U64(conv_view_lost(view, lost), 4);
    conv_view_free(view);
}

/* A process whose footprint is cut into windows: lanes go on from one to the next. */
static void write_window(const char *directory, const char *name, const struct fp_mark *marks, uint32_t count,
                         uint64_t sequence, bool trailer)
{
    static const struct fp_shape shapes[] = {{FP_CALL_MALLOC, 100, 0}, {FP_CALL_FREE, 0, 0}};
    const struct fp_writer_options options = {.process_id = 9};
    const struct fp_lane lane = {9, true, count};
    const struct fp_trailer end = {.lane_count = 1, .lanes = &lane, .lost = {[FP_LOSS_RING_FULL] = 1}};
    const struct fp_block block = {.sequence = sequence,
                                   .base_epoch = 1,
                                   .mark_count = count,
                                   .shape_count = 2,
                                   .marks = marks,
                                   .shapes = shapes};
    struct fp_writer *writer = NULL;
    CHECK_U64(fp_writer_create(AT_FDCWD, in(directory, name), &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(append_block(writer, &block), FP_OK);
    if (trailer)
        CHECK_U64(fp_writer_finish(writer, &end, NULL), FP_OK);
    else
        fp_writer_abandon(writer);
}

TEST(windows_are_one_process)
{
    static const struct fp_mark first[] = {
        {.address = 16}, {.address = 32}, {.address = 48}, {.address = 32, .shape = 1}};
    static const struct fp_mark second[] = {{.address = 16, .shape = 1}, {.address = 64}, {.address = 80}};
    const char *directory = new_directory();
    struct conv_view *view = open_view(directory, 0);
    uint64_t lost[FP_LOSS_COUNT], bytes;
    write_going_on(directory, "");
    write_window(directory, "w.9.w0009.fp", first, 4, 0, true);
    look(view);
    CHECK(conv_view_is_running(view, view->processes[0])); /* for all its trailer */
    CHECK_U64(view->sum.live.objects, 2);
    bytes = view->bytes;
    write_window(directory, "w.9.w0010.fp", second, 3, 1, false);
    CHECK(unlink(in(directory, "w.9.w0009.fp")) == 0); /* --keep */
    look(view);
    CHECK_U64(view->process_count, 1);
    CHECK_U64(view->sum.live.objects, 3);
    CHECK_U64(view->sum.live.bytes, 300);
    CHECK_U64(view->bytes_written, view->bytes + bytes);
    look(view);
    CHECK_U64(view->bytes_written, view->bytes + bytes);
    CHECK_U64(conv_view_lost(view, lost), 1);
    CHECK_U64(view->sum.events, 7);
    write_going_on(directory,
                   ", \"status_number\": 1, \"processes\": [{\"file\": \"w.9.w0010.fp\", \"pid\": 9,"
                   " \"ended\": \"exit\"}]");
    look(view);
    CHECK(!conv_view_is_running(view, view->processes[0]));
    write_finished(directory);
    look(view);
    CHECK_U64(view->left.objects, 3);
    CHECK_U64(view->left.class_objects[7], 3); /* 64-127 */
    CHECK_U64(view->left.class_bytes[7], 300);
    CHECK_U64(view->sum.live.objects, 0);
    conv_view_free(view);
}

/* Who went on when recording ended, or broke off, has left nothing: what was live in it is live. */
TEST(a_process_that_ran_on_keeps_what_is_live)
{
    static const char list[] = "{\"schema\": \"mallab-recording/1\", \"complete\": false, %s \"processes\": ["
                               "{\"file\": \"a.1.fp\", \"ended\": \"running\"},"
                               "{\"file\": \"b.2.fp\", \"ended\": \"exit\"}]}";
    const char *directory = new_directory();
    char text[512];
    size_t size;
    for (uint32_t process_id = 1; process_id <= 2; process_id++) {
        char *file = make_footprint(process_id, 1, 3000, &size);
        scratch_write(in(directory, process_id == 1 ? "a.1.fp" : "b.2.fp"), file,
                      process_id == 1 ? size - 20 : size); /* a trailer found no room */
        free(file);
    }
    for (unsigned pass = 0; pass < 3; pass++) {
        struct conv_view *view = open_view(directory, 0);
        snprintf(text, sizeof text, list, pass == 1 ? "\"recovered\": true," : "");
        if (pass < 2)
            write_json(directory, text);
        else
            CHECK(unlink(in(directory, "recording.json")) == 0); /* nobody knows */
        look(view);
        CHECK(!conv_view_goes_on(view));
        CHECK(conv_view_is_running(view, view->processes[0]));
        CHECK(!conv_view_is_running(view, view->processes[1]));
        CHECK_U64(view->sum.live.objects, view->processes[0]->tally.balance.objects);
        CHECK_U64(view->left.objects, view->processes[1]->tally.balance.objects);
        CHECK(view->left.objects > 0 && view->sum.live.objects > 0);
        CHECK(conv_view_knows_losses(view) == (pass == 0));
        conv_view_free(view);
    }
}

TEST(an_interval_begins_where_it_is_told)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(directory, 0);
    const struct conv_tally *tally;
    size_t size;
    char *file = make_footprint(1, 2, 5000, &size);
    uint64_t events;
    write_going_on(directory, "");
    scratch_write(in(directory, "a.1.fp"), file, size / 2);
    look(view);
    tally = &view->processes[0]->tally;
    CHECK_U64(view->sum_before.events + tally->events_before + tally->lanes[0].events_before, 0);
    events = view->sum.events;
    conv_view_mark(view);
    append(in(directory, "a.1.fp"), file + size / 2, size - size / 2);
    look(view);
    CHECK_U64(view->sum_before.events, events);
    CHECK_U64(tally->events_before, events);
    CHECK_U64(tally->lanes[0].events_before + tally->lanes[1].events_before, events);
    CHECK(tally->events > events);
    conv_view_free(view);
    free(file);
}

/* ---- what is not as it should be ------------------------------------------------------------- */

static void check_refused(const char *directory, enum fp_status expected, uint64_t offset, const char *name)
{
    struct conv_view *view = open_view(directory, 0);
    bool more = true;
    enum fp_status status = conv_view_refresh(view, &error);
    while (status == FP_OK && more)
        status = conv_view_read(view, 100, &more, &error);
    CHECK_U64(status, expected);
    CHECK_U64(error.cause.offset, offset);
    CHECK_U64(conv_error_exit_code(&error), 3);
    if (strstr(error.path, name) == NULL)
        CHECK_STR(error.path, name);
    conv_view_free(view);
}

TEST(damage_is_told_with_file_and_offset)
{
    const char *directory = new_directory();
    struct fp_reader *reader = NULL;
    size_t size;
    uint64_t third;
    char *file = make_footprint(1, 1, 3000, &size);
    write_going_on(directory, "");
    scratch_write(in(directory, "a.1.fp"), file, size);
    CHECK_U64(fp_reader_open(in(directory, "a.1.fp"), NULL, &reader), FP_OK);
    third = fp_reader_info(reader)->blocks[2].offset;
    fp_reader_close(reader);
    file[third] ^= 1; /* of a block's header */
    scratch_write(in(directory, "a.1.fp"), file, size);
    check_refused(directory, FP_ERR_CORRUPT, third, "a.1.fp");
    file[third] ^= 1;
    file[third + 100] ^= 1; /* of its payload */
    scratch_write(in(directory, "a.1.fp"), file, size);
    check_refused(directory, FP_ERR_CHECKSUM, third + 64, "a.1.fp");
    file[third + 100] ^= 1;
    file[8] = 99; /* of a later version */
    scratch_write(in(directory, "a.1.fp"), file, size);
    check_refused(directory, FP_ERR_VERSION, 8, "a.1.fp");
    free(file);
}

/* The header comes directly after we found that there is none: the footprint is looked at again. */
TEST(a_header_may_come_right_after_it_was_looked_for)
{
    const char *directory = new_directory();
    size_t size;
    char *file = make_footprint(1, 1, 1000, &size);
    write_going_on(directory, "");
    for (size_t begun = 0; begun < 64; begun++) {
        struct conv_view *view = open_view(directory, 0);
        growing_begin(in(directory, "a.1.fp"), file, size, begun);
        look_at_what_is_there(view);
        CHECK(!growing.waits);
        CHECK_U64(view->process_count, 0);
        look(view);
        CHECK_U64(view->process_count, 1);
        CHECK_U64(view->foreign, 0);
        CHECK(view->sum.events > 500);
        conv_view_free(view);
    }
    free(file);
}

TEST(what_is_no_recording_is_refused)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(scratch_path("nowhere"), 0);
    CHECK_U64(conv_view_refresh(view, &error), FP_ERR_OPEN);
    conv_view_free(view);
    check_refused(directory, FP_ERR_READ, 0, directory);
    write_json(directory, "{\"schema\": \"mallab-recording/2\"}");
    check_refused(directory, FP_ERR_VERSION, 0, "recording.json");
    write_json(directory, "{\"schema\": \"else\"}");
    check_refused(directory, FP_ERR_FOREIGN, 0, "recording.json");
}

TEST(what_is_no_footprint_is_left_out)
{
    const char *directory = new_directory();
    struct conv_view *view = open_view(directory, 0);
    char foreign[100];
    size_t size;
    char *file = make_footprint(1, 1, 1000, &size);
    memset(foreign, 'x', sizeof foreign);
    scratch_write(in(directory, "a.1.fp"), file, size);
    scratch_write(in(directory, "foreign.fp"), foreign, sizeof foreign);
    CHECK(mkdir(in(directory, "directory.fp"), 0700) == 0);
    CHECK(mkfifo(in(directory, "fifo.fp"), 0600) == 0);
    CHECK(symlink("nowhere", in(directory, "broken.fp")) == 0);
    write_json(directory, "{\"schema\": \"mallab-recording/1\", ");
    look(view);
    look(view);
    CHECK_U64(view->process_count, 1);
    CHECK_U64(view->foreign, 4);
    CHECK_U64(view->status.state, CONV_RECORDING_UNKNOWN);
    CHECK(strstr(view->status.why, "its recording.json is damaged") != NULL);
    CHECK(!conv_view_goes_on(view));
    conv_view_free(view);
    free(file);
}

RUN_TESTS(T(a_recording_is_followed_to_its_end), T(one_process_may_be_chosen),
          T(the_collector_tells_the_rest), T(windows_are_one_process),
          T(a_process_that_ran_on_keeps_what_is_live), T(an_interval_begins_where_it_is_told),
          T(damage_is_told_with_file_and_offset), T(a_header_may_come_right_after_it_was_looked_for),
          T(what_is_no_recording_is_refused), T(what_is_no_footprint_is_left_out))
